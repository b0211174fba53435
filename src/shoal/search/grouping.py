"""A lattice node's classes, as every engine gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(eq=False)
class Grouping:
    """The classes of distinct tuples at one node; class ``g`` is represented by tuple ``representatives[g]``."""

    representatives: NDArray[np.int32]
    sizes: NDArray[np.int64]
    _make_tuple_class: Callable[[], NDArray[np.int32]]
    _tuple_class: NDArray[np.int32] | None = field(default=None, repr=False)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @property
    def tuple_class(self) -> NDArray[np.int32]:
        """Class of each tuple; worked out when first asked for, since most checks need sizes only."""
        if self._tuple_class is None:
            self._tuple_class = self._make_tuple_class()
        return self._tuple_class
