"""Records counted by group and secret: in a table where that is small, else by sorting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.attacks.released_classes import Ints
from shoal.table.classes import Counts, Mask
from shoal.table.encoded import combine_codes, numbered

_DENSE = 12  # cells per record up to which a table is small


@dataclass(frozen=True, eq=False)
class ColumnGroups:
    """Records that agree in their class and in something else."""

    of_record: Ints
    class_of: Ints  # the class of each group
    sizes: Counts

    @staticmethod
    def of(owner: Ints, n_classes: int, codes: Ints, width: int, weights: Counts | None = None) -> ColumnGroups:
        """The groups of records by class and code; ``weights`` says how many records each one stands for."""
        keys, space = combine_codes([owner, codes], [n_classes, width])
        distinct, of_record = numbered(keys, space)
        class_of = np.zeros(len(distinct), dtype=np.int64)
        class_of[of_record] = owner
        sizes = np.bincount(of_record, weights, minlength=len(distinct)).astype(np.int64)
        return ColumnGroups(of_record, class_of, sizes)


def cells(groups: Ints, n_groups: int, secrets: Ints, width: int, weights: Counts | None = None) -> tuple[Ints, Counts]:
    """For each group and secret that occur together the group, ascending, and how many records have both."""
    keys, space = groups * width + secrets, n_groups * width
    if space <= _DENSE * len(keys) + 1000:
        counts = np.bincount(keys, weights, minlength=space)
        found = np.flatnonzero(counts)
        return found // width, counts[found].astype(np.int64)
    if weights is not None:
        distinct, cell = np.unique(keys, return_inverse=True)
        return distinct // width, np.bincount(cell, weights, minlength=len(distinct)).astype(np.int64)
    keys.sort()
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.zeros(0, np.int64)
    return keys[first] // width, np.diff(first, append=len(keys))


def mixed_classes(owner: Ints, n_classes: int, codes: Ints) -> Mask:
    """Which classes have several values."""
    some = np.zeros(n_classes, dtype=np.int64)
    some[owner] = codes
    mixed = np.zeros(n_classes, dtype=np.bool_)
    mixed[owner[some[owner] != codes]] = True
    return mixed
