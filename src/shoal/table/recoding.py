"""The one contract of every result: a class for each row, and the released node of each class and quasi-identifier.

Measures, verification, attacks and writing know nothing else of how a release came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    row_class: NDArray[np.int32]
    """Class of each row, or `SUPPRESSED`. Two classes never release the same tuple."""
    nodes: NDArray[np.int32]
    """``nodes[c, j]``: the hierarchy node that class ``c`` releases for quasi-identifier ``j``."""
    levels: Mapping[str, int] | None = None
    """For full-domain recodings, the level of each quasi-identifier."""

    @property
    def n_rows(self) -> int:
        """Number of records, suppressed ones included."""
        return len(self.row_class)

    @property
    def n_classes(self) -> int:
        """Number of classes released."""
        return len(self.nodes)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records in each class."""
        return np.bincount(self.row_class[self.row_class >= 0], minlength=self.n_classes).astype(np.int64)

    @property
    def suppressed(self) -> int:
        """Records left out."""
        return int(np.count_nonzero(self.row_class == SUPPRESSED))
