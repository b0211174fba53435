"""Counting distinct rows of codes, batch after batch: memory follows the distinct rows, not those that come.

The keys counted so far lie in one growing array beside a table of slots. Short inputs are counted by sorting, longer
ones by the compiled kernel: the same keys in the same order, with the same counts.
"""

from __future__ import annotations

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
    def nbytes(self) -> int:
        """Bytes held."""
        return self._keys.nbytes + self._counts.nbytes + self._slots.nbytes

    @property
    def keys(self) -> NDArray[np.int32]:
        """The distinct rows: ``keys[i, c]`` is the code of row ``i`` in column ``c``."""
        return self._keys[: self.used]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each distinct row came."""
        return self._counts[: self.used]

    def add(self, rows: NDArray[np.int32], weights: NDArray[np.int64]) -> None:
        """Count some rows, each as often as its weight says."""
        self._load_when_it_pays(len(rows))
        start = 0
        while start < len(rows):
            start, self.used = self._kernels.count_rows(
                rows, weights, start, self._keys, self._counts, self.used, self._slots
            )
            if start < len(rows):
                self._grow()

    def _load_when_it_pays(self, rows: int) -> None:
        if self._left is None:
            return
        self._left -= rows
        if self._left < 0:
            self._left = None
            self._kernels = load_kernels()
            self._place()

    def _grow(self) -> None:
        capacity = 2 * len(self._keys)
        keys = np.empty((capacity, self._keys.shape[1]), dtype=np.int32)
        keys[: self.used] = self.keys
        counts = np.empty(capacity, dtype=np.int64)
        counts[: self.used] = self.counts
        self._keys, self._counts = keys, counts
        self._place()

    def _place(self) -> None:
        self._slots = np.full(2 * len(self._keys), -1, dtype=np.int32)
        self._kernels.place_rows(self._keys, self.used, self._slots)
