"""Counting distinct rows of codes, batch after batch: memory follows the distinct rows, not those that come.

The keys counted so far lie in one growing array beside a table of slots. Short inputs are counted by sorting, longer
ones by the compiled kernel: the same keys in the same order, with the same counts.
"""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from shoal.search.kernels import plain
from shoal.search.kernels.load import load_kernels

_ROWS_BEFORE_LOADING = 100_000
"""Rows counted with NumPy before compiled kernels are loaded, which takes half a second and 100 MB."""
_FIRST = 1 << 12


class RowCounter:
    """Distinct rows of int32 codes and how often each came, in the order of first appearance."""

    def __init__(self, width: int, *, kernels: ModuleType | None = None) -> None:
        self._kernels = kernels if kernels is not None else plain
        self._left = _ROWS_BEFORE_LOADING if kernels is None else None
        self._keys = np.zeros((_FIRST, width), dtype=np.int32)
        self._counts = np.zeros(_FIRST, dtype=np.int64)
        self._slots = np.full(2 * _FIRST, -1, dtype=np.int32)
        self.used = 0  # distinct rows so far

    @property
    def keys(self) -> NDArray[np.int32]:
        """The distinct rows: ``keys[i, c]`` is the code of row ``i`` in column ``c``."""
        return self._keys[: self.used]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each distinct row came."""
        return self._counts[: self.used]

    def add(self, rows: NDArray[np.int32], weights: NDArray[np.int64]) -> NDArray[np.int32]:
        """Count some rows, each as often as its weight says; the distinct row that each is."""
        if self._left is not None:
            self._left -= len(rows)
            if self._left < 0:
                self._left, self._kernels = None, load_kernels()
                self._fill_slots()
        start, ids = 0, np.empty(len(rows), dtype=np.int32)
        while start < len(rows):
            known = self._keys, self._counts, self.used, self._slots
            start, self.used = self._kernels.count_rows(rows, weights, start, *known, ids)
            if start < len(rows):
                self._keys = np.concatenate([self._keys, np.zeros_like(self._keys)])
                self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
                self._fill_slots()
        return ids

    def _fill_slots(self) -> None:
        self._slots = np.full(2 * len(self._keys), -1, dtype=np.int32)
        self._kernels.fill_slots(self._keys, self.used, self._slots)
