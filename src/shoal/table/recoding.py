"""The one contract of every result: a class for each row, and the released node of each class and quasi-identifier.

Measures, verification, attacks and writing know nothing else of how a release came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Recoding:
    """What becomes of each row."""

    quasi: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    row_class: NDArray[np.int32]  # class of each row, or `SUPPRESSED`. Two classes never release the same tuple.
    nodes: NDArray[np.int32]  # ``nodes[c, j]``: the hierarchy node that class ``c`` releases for quasi-identifier ``j``
    levels: Mapping[str, int] | None = None  # for full-domain recodings, the level of each quasi-identifier
    weights: NDArray[np.int64] | None = None  # records of each row; None: one each
    entry: NDArray[np.int64] | None = None  # where rows of the table were parted or unfolded: the row of each

    @property
    def n_rows(self) -> int:
        """Number of records, suppressed ones included."""
        return len(self.row_class) if self.weights is None else int(self.weights.sum())

    @property
    def n_classes(self) -> int:
        """Number of classes released."""
        return len(self.nodes)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records in each class."""
        kept = self.row_class >= 0
        weights = None if self.weights is None else self.weights[kept]
        return np.bincount(self.row_class[kept], weights=weights, minlength=self.n_classes).astype(np.int64)

    @property
    def suppressed(self) -> int:
        """Records left out."""
        return self.n_rows - int(self.sizes.sum())

    def with_rows_at(self, places: NDArray[np.int64], entry: NDArray[np.int64] | None) -> Recoding:
        """The same with each row at its place, where rows were taken in another order: ``entry`` is as it was there."""
        row_class = np.empty_like(self.row_class)
        row_class[places] = self.row_class
        return replace(self, row_class=row_class, entry=entry)

    def folded(self) -> tuple[Recoding, NDArray[np.int64]]:
        """Unfolded records as a row for each row of the table and class that it went to, and the row of each record."""
        assert self.entry is not None, "a row per record"
        keys = self.entry * (self.n_classes + 1) + self.row_class + 1
        distinct, row, counts = np.unique(keys, return_inverse=True, return_counts=True)
        entry, row_class = np.divmod(distinct, self.n_classes + 1)
        folded = replace(self, row_class=(row_class - 1).astype(np.int32), weights=counts.astype(np.int64), entry=entry)
        return folded, row.astype(np.int64)
