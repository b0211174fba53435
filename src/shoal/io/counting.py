"""Counts the distinct rows of a table batch by batch: memory follows the distinct rows, not the records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.io.columns import differing_types
from shoal.search.kernels.row_counter import RowCounter
from shoal.table.canonical_text import texts_and_codes
from shoal.table.distinct_rows import DistinctColumn, DistinctRows

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
_HELD = 8
"""How often a distinct text is held at most: counted, as a label, sorted, in the release, written, verified;
measured, and above what it took."""
_SHORT = 16  # bytes of a text that the memory counted for a code already covers
_MOST_TEXT = 2**31 - 1  # bytes of text that one array can hold


class DistinctRowCounter:
    """Counts the distinct rows of the batches that it is given."""

    def __init__(self, names: Sequence[str]) -> None:
        self._dictionaries = {name: _Dictionary(name) for name in names}
        self._left_out: dict[str, _Dictionary] = {}
        self._rows = RowCounter(len(self._dictionaries))
        self.n_rows = 0  # records counted so far

    @property
    def n_distinct(self) -> int:
        """Distinct rows so far."""
        return self._rows.used

    @property
    def names(self) -> list[str]:
        """The columns that are counted."""
        return list(self._dictionaries)

    @property
    def n_columns(self) -> int:
        """Columns that are counted."""
        return len(self._dictionaries)

    @property
    def dictionary_bytes(self) -> int:
        """Bytes that a run is going to hold for the values of the columns at its peak, about: long texts count."""
        long = sum(max(each.mean_text - _SHORT, 0.0) for each in self._dictionaries.values())
        return sum(each.nbytes for each in self._dictionaries.values()) + int(long * self.n_distinct)

    @property
    def nbytes(self) -> int:
        """Bytes held, about."""
        return self._rows.nbytes + self.dictionary_bytes

    def add(self, batch: pa.RecordBatch | pa.Table, weights: Counts | None = None) -> None:
        """Count the rows of a batch, each as often as its weight says (once, where there are none)."""
        coded = np.empty((batch.num_rows, len(self._dictionaries)), dtype=np.int32)
        for place, (name, dictionary) in enumerate(self._dictionaries.items()):
            coded[:, place] = dictionary.codes(batch.column(name))
        for name, dictionary in self._left_out.items():
            dictionary.check_type(batch.schema.field(name).type)
        ones = np.ones(batch.num_rows, dtype=np.int64) if weights is None else weights.astype(np.int64)
        self._rows.add(coded, ones)
        self.n_rows += int(ones.sum())

    def leave_out(self, names: Sequence[str]) -> None:
        """Count some columns no longer: rows that differ in nothing else are one from now on.

        Their types are still checked.
        """
        kept = [place for place, name in enumerate(self._dictionaries) if name not in names]
        before = self._rows
        for name in names:
            if name in self._dictionaries:
                self._left_out[name] = self._dictionaries[name].emptied()
        self._dictionaries = {name: each for name, each in self._dictionaries.items() if name not in names}
        self._rows = RowCounter(len(kept))
        self._rows.add(np.ascontiguousarray(before.keys[:, kept]), before.counts.copy())

    def finish(self) -> DistinctRows:
        """The distinct rows in the order of their content; the counter is of no use afterwards."""
        names = list(self._dictionaries)
        finished, codes = {}, {}
        for place, name in enumerate(names):
            numbers = self._rows.keys[:, place]
            finished[name] = self._dictionaries[name].finish(numbers)
            codes[name] = finished[name].codes[numbers]
        counts = self._rows.counts.copy()
        self._rows = RowCounter(len(names))
        columns = {name: DistinctColumn(finished[name].labels, finished[name].values, codes[name]) for name in names}
        return DistinctRows(columns, counts).in_order()


def count_rows(batches: Iterable[pa.RecordBatch | pa.Table], names: Sequence[str]) -> DistinctRows:
    """The distinct rows of some batches."""
    counter = DistinctRowCounter(names)
    for batch in batches:
        counter.add(batch)
    return counter.finish()


class _Dictionary:
    """The distinct canonical texts of a column, numbered as they come, and a value of its type for each."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._number: dict[str | None, int] = {}
        self._values: list[pa.Array] = []
        self._type: pa.DataType | None = None
        self._text = 0
        self.nbytes = 0

    def codes(self, column: pa.Array | pa.ChunkedArray) -> Codes:
        """The number of each row's text; new texts get the next numbers."""
        values, texts, rows = texts_and_codes(column, dictionary=True)
        self.check_type(values.type)
        before, number = len(self._number), self._number
        of_text = [number.setdefault(text, len(number)) for text in texts.to_pylist()]
        new = [place for place, code in enumerate(of_text) if code >= before]
        if len(number) > before:
            kept = [new[first] for first in np.unique([of_text[place] for place in new], return_index=True)[1]]
            self._remember(values.take(pa.array(kept, pa.int64())))
        if len(rows) and rows.min() < 0:
            if None not in number:
                number[None] = len(number)
                self._remember(pa.nulls(1, values.type))
            of_text.append(number[None])  # the place -1
        return np.array(of_text, dtype=np.int32)[rows] if len(rows) else np.zeros(0, dtype=np.int32)

    def _remember(self, values: pa.Array) -> None:
        self._values.append(values)
        self.nbytes += _HELD * values.nbytes + 150 * len(values)
        self._text += values.nbytes
        if pa.types.is_string(values.type) and self._text > _MOST_TEXT:
            raise DataError(
                f"column {self._name!r} has more than 2 GiB of distinct text, which cannot be counted. Leave it out of "
                "the policy, or shorten its texts.",
                code="too-much-text",
            )

    @property
    def mean_text(self) -> float:
        """Bytes of a value, on average over the distinct ones."""
        return self._text / max(len(self._number), 1)

    def emptied(self) -> _Dictionary:
        """Nothing but the type: for a column whose values are counted no longer."""
        empty = _Dictionary(self._name)
        empty._type = self._type
        return empty

    def check_type(self, kind: pa.DataType) -> None:
        """Raise `DataError` for another type than the column had before; one of no values fits any."""
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if self._type is None or pa.types.is_null(self._type):
            self._values = [pa.nulls(len(each), kind) for each in self._values]
            self._type = kind
        elif kind != self._type and not pa.types.is_null(kind):
            raise differing_types(self._name, self._type, kind)

    def finish(self, numbers: Codes) -> DistinctColumn:
        """The texts that occur among the numbers, in order; ``codes`` has the place of each number among them."""
        texts = list(self._number)
        occurring = np.flatnonzero(np.bincount(numbers, minlength=len(texts))).tolist()
        order = sorted(occurring, key=lambda place: (texts[place] is None, texts[place] or ""))
        rank = np.full(len(texts), -1, dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        kind = self._type or pa.null()
        parts = [each.cast(kind) for each in self._values] or [pa.nulls(0, kind)]
        values = pa.concat_arrays(parts).take(pa.array(order, pa.int64()))
        return DistinctColumn(tuple(texts[place] for place in order), values, rank)
