"""Numbers for the distinct texts of a column, batch after batch, in the order of first appearance.

A Python text takes about a hundred bytes with its place in a dictionary. From some number on, texts lie side by side in
one array of bytes, beside a table of slots, and compiled code finds them there: the same numbers.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.search.kernels import plain
from shoal.search.kernels.load import load_kernels
from shoal.table.encoded import Codes

_TEXTS_BEFORE_LOADING = 50_000  # distinct texts in a dictionary before compiled kernels are loaded
_FIRST = 1 << 12


class TextNumbers:
    """The distinct texts so far and the number of each."""

    def __init__(self, most_in_dictionary: int | None = None) -> None:
        self._most = _TEXTS_BEFORE_LOADING if most_in_dictionary is None else most_in_dictionary
        self._dictionary: dict[str, int] | None = {}
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def add(self, texts: pa.Array) -> Codes:
        """The number of each text, none of which is missing; new ones get the next numbers."""
        if self._dictionary is None:
            return self._find(texts)
        number = self._dictionary
        found = np.array([number.setdefault(text, len(number)) for text in texts.to_pylist()], dtype=np.int32)
        self._used = len(number)
        if self._used > self._most:
            self._leave_dictionary()
        return found

    def texts(self) -> pa.Array:
        """The texts in the order of their numbers."""
        if self._dictionary is not None:
            return pa.array(list(self._dictionary), pa.string())
        ends = self._ends[: self._used + 1]
        buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(self._store[: ends[-1]].copy())]
        return pa.Array.from_buffers(pa.string(), self._used, buffers)

    def _leave_dictionary(self) -> None:
        self._kernels = load_kernels()
        if self._kernels is plain:
            self._most = 2**31
            return
        texts = self.texts()
        self._dictionary, self._used = None, 0
        self._store = np.zeros(_FIRST, dtype=np.uint8)  # the bytes of all texts
        self._ends = np.zeros(_FIRST + 1, dtype=np.int64)  # where each text ends, after a zero
        self._slots = np.full(2 * _FIRST, -1, dtype=np.int32)
        self._find(texts)

    def _find(self, texts: pa.Array) -> Codes:
        offsets, data = _parts(texts)
        codes, start = np.empty(len(texts), dtype=np.int32), 0
        while start < len(texts):
            known = self._store, self._ends, self._used, self._slots
            start, self._used = self._kernels.number_texts(data, offsets, start, *known, codes)
            if start < len(texts):
                self._grow(int(offsets[start + 1] - offsets[start]))
        return codes

    def _grow(self, length: int) -> None:
        """Make room for at least one more text of a length."""
        if self._ends[self._used] + length > len(self._store):
            self._store = np.concatenate([self._store, np.zeros(max(len(self._store), length), dtype=np.uint8)])
        if self._used == len(self._ends) - 1:
            self._ends = np.concatenate([self._ends, np.zeros(len(self._ends) - 1, dtype=np.int64)])
            self._slots = np.full(2 * (len(self._ends) - 1), -1, dtype=np.int32)
            self._kernels.fill_text_slots(self._store, self._ends, self._used, self._slots)


def _parts(texts: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Where each text begins, and the bytes of all."""
    _, offsets, data = texts.buffers()
    begins = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return begins, np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
