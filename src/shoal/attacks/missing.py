"""The smallest crowd when a missing cell matches anything.

By default a missing quasi-identifier is a value of its own, and a class is what shares it. An attacker may as well
think that a record whose age is missing could be anybody's of any age. Then a record hides among all released
records that agree with it wherever both have a value. The report shows both figures.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.table.classes import Mask
from shoal.table.encoded import combine_codes
from shoal.table.recoding import Recoding

Ints = NDArray[np.int64]
Cells = NDArray[np.int32]


def smallest_if_missing_matches(recoding: Recoding) -> int:
    """The fewest released records that any released record could be, when missing cells match anything."""
    if not recoding.n_classes:
        return 0
    unlabelled = [np.array([label is None for label in hierarchy.labels]) for hierarchy in recoding.hierarchies]
    missing = np.stack([each[recoding.nodes[:, j]] for j, each in enumerate(unlabelled)])
    return int(company_if_missing_matches(recoding.nodes.T, missing, recoding.sizes).min())


def company_if_missing_matches(cells: Cells, missing: Mask, sizes: Ints) -> Ints:
    """For each class, the records that agree with it in every column where neither lacks the value.

    ``cells[j, c]`` is what class ``c`` has in column ``j`` and ``missing[j, c]`` whether that is the missing value; no
    two classes are equal. Classes are taken together by which of their cells are missing. Classes of two such patterns
    match where the columns agree that neither lacks: one join for each pair of patterns, never class against class.
    """
    keys, _ = combine_codes(list(missing.astype(np.int32)), [2] * len(missing))
    _, first, pattern_of = np.unique(keys, return_index=True, return_inverse=True)
    patterns = missing[:, first]
    members = [np.flatnonzero(pattern_of == place) for place in range(len(first))]
    company = np.array(sizes, dtype=np.int64)  # of its own pattern a class matches itself alone
    for place, one in enumerate(members):
        for beside, other in enumerate(members):
            if place != beside:
                shared = np.flatnonzero(~(patterns[:, place] | patterns[:, beside]))
                company[one] += _matching(cells[shared], sizes, one, other)
    return company


def _matching(cells: Cells, sizes: Ints, one: NDArray[np.intp], other: NDArray[np.intp]) -> Ints:
    """For each class of one pattern, the records of the other pattern's classes that agree in all these columns."""
    if not len(cells):
        return np.full(len(one), sizes[other].sum())
    both = cells[:, np.concatenate([one, other])]
    keys, _ = combine_codes(list(both), [int(column.max()) + 1 for column in both])
    _, group = np.unique(keys, return_inverse=True)
    records = np.bincount(group[len(one) :], weights=sizes[other], minlength=int(group.max()) + 1)
    return records[group[: len(one)]].astype(np.int64)
