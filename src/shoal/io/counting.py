"""Counts the distinct rows of a table batch by batch: memory follows the distinct rows, not the records."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.io.columns import common_type
from shoal.search.kernels.row_counter import RowCounter
from shoal.search.kernels.text_numbers import TextNumbers
from shoal.table.canonical_text import texts_and_codes
from shoal.table.distinct_rows import DistinctColumn, DistinctRows
from shoal.table.encoded import Codes, Counts, combine_codes

_HELD = 8
"""How often a distinct text is held at most: counted, as a label, sorted, in the release, written, verified;
measured, and above what it took."""
_SHORT = 16  # bytes of a text that the memory counted for a code already covers
_MOST_TEXT = 2**31 - 1  # bytes of text that one array can hold


class DistinctRowCounter:
    """Counts the distinct rows of the batches that it is given.

    Rows of people are counted in two steps: most people differ, and few rows do without their person. So each row holds
    who it is about and the number of what it says.
    """

    def __init__(self, names: Sequence[str], person: Sequence[str] = ()) -> None:
        self._dictionaries = {name: _Dictionary(name) for name in names}
        self._person = tuple(name for name in names if name in person)
        self._left_out: dict[str, _Dictionary] = {}
        self._kinds = RowCounter(len(self._columns))  # distinct rows without their person
        self._rows = RowCounter(1 + len(self._person)) if self._person else self._kinds
        self.n_rows = 0  # records counted so far

    @property
    def _columns(self) -> list[str]:
        """The columns of the kinds of rows, in order."""
        return [name for name in self._dictionaries if name not in self._person]

    @property
    def n_distinct(self) -> int:
        """Distinct rows so far."""
        return self._rows.used

    @property
    def n_kinds(self) -> int:
        """Distinct rows so far, whoever they are about."""
        return self._kinds.used

    @property
    def names(self) -> list[str]:
        """The columns that are counted."""
        return list(self._dictionaries)

    @property
    def dictionary_bytes(self) -> int:
        """Bytes that a run is going to hold for the values of the columns at its peak, about: long texts count."""
        texts = {name: max(each.text / max(len(each), 1) - _SHORT, 0.0) for name, each in self._dictionaries.items()}
        long = sum(texts[name] for name in self._columns)
        return sum(each.nbytes for each in self._dictionaries.values()) + int(long * self.n_kinds)

    def add(self, batch: pa.RecordBatch | pa.Table, weights: Counts | None = None) -> None:
        """Count the rows of a batch, each as often as its weight says (once, where there are none)."""
        codes = {name: dictionary.codes(batch.column(name)) for name, dictionary in self._dictionaries.items()}
        for name, dictionary in self._left_out.items():
            dictionary.check_type(batch.schema.field(name).type)
        ones = np.ones(batch.num_rows, dtype=np.int64) if weights is None else weights.astype(np.int64)
        kinds = self._kinds.add(_side_by_side([codes[name] for name in self._columns], batch.num_rows), ones)
        if self._person:
            people = [codes[name] for name in self._person]
            self._rows.add(_side_by_side([kinds, *people], batch.num_rows), ones)
        self.n_rows += int(ones.sum())

    def leave_out(self, names: Sequence[str]) -> None:
        """Count some columns no longer: rows that differ only there are one from now on. Types are still checked."""
        kept = [index for index, name in enumerate(self._columns) if name not in names]
        kinds, rows = self._kinds, self._rows
        for name in names:
            if name in self._dictionaries:
                self._left_out[name] = _Dictionary(name, self._dictionaries[name].type)
        self._dictionaries = {name: each for name, each in self._dictionaries.items() if name not in names}
        self._kinds = self._rows = RowCounter(len(kept))
        become = self._kinds.add(np.ascontiguousarray(kinds.keys[:, kept]), kinds.counts.copy())
        if self._person:
            self._rows = RowCounter(1 + len(self._person))
            keys = rows.keys.copy()
            keys[:, 0] = become[keys[:, 0]]
            self._rows.add(keys, rows.counts.copy())

    def finish(self) -> DistinctRows:
        """The distinct rows in the order of their content, people first; the counter is of no use afterwards."""
        kinds, names = self._kinds.keys, list(self._dictionaries)
        columns = {name: self._dictionaries.pop(name).finish(kinds[:, j]) for j, name in enumerate(self._columns)}
        if not self._person:
            counts = self._kinds.counts.copy()
            del self._kinds, self._rows
            return DistinctRows(columns, counts).in_order()
        rank = DistinctRows(columns, self._kinds.counts).ranks()
        people = [self._dictionaries.pop(name).finish(self._rows.keys[:, 1 + j]) for j, name in enumerate(self._person)]
        kind, counts = self._rows.keys[:, 0].copy(), self._rows.counts.copy()
        del self._kinds, self._rows
        radices = [*(len(each.labels) for each in people), max(len(rank), 1)]
        order = np.argsort(combine_codes([*(each.codes for each in people), rank[kind]], radices)[0])
        kind, counts = kind[order], counts[order]
        found = {name: column.take(kind) for name, column in columns.items()}
        found |= {name: column.take(order) for name, column in zip(self._person, people, strict=True)}
        return DistinctRows({name: found[name] for name in names}, counts, None, self._person)


def _side_by_side(columns: Sequence[Codes], rows: int) -> NDArray[np.int32]:
    """Columns of codes as rows."""
    found = np.empty((rows, len(columns)), dtype=np.int32)
    for index, column in enumerate(columns):
        found[:, index] = column
    return found


def count_rows(batches: Iterable[pa.RecordBatch | pa.Table], names: Sequence[str]) -> DistinctRows:
    """The distinct rows of some batches."""
    counter = DistinctRowCounter(names)
    for batch in batches:
        counter.add(batch)
    return counter.finish()


@dataclass(eq=False)
class _Dictionary:
    """The distinct canonical texts of a column, numbered as they come, and a value of its type for each.

    A row without a value has the code 0, and one with the first text the code 1.
    """

    name: str
    type: pa.DataType = field(default_factory=pa.null)  # null before there are values
    numbers: TextNumbers = field(default_factory=TextNumbers)
    values: list[pa.Array] = field(default_factory=list)
    text: int = 0  # bytes of the distinct values
    nbytes: int = 0  # bytes that a run is going to hold for them

    def __len__(self) -> int:
        return len(self.numbers)

    def codes(self, column: pa.Array | pa.ChunkedArray) -> Codes:
        """The code of each row's text; new texts get the next ones."""
        values, texts, rows = texts_and_codes(column, dictionary=True)
        self.check_type(values.type)
        there = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
        before, of_text = len(self.numbers), np.zeros(len(texts) + 1, dtype=np.int32)  # the last is for the index -1
        of_text[there] = 1 + self.numbers.add(texts.drop_null() if texts.null_count else texts)
        if len(self.numbers) > before:
            new = np.flatnonzero(of_text > before)
            kept = new[np.unique(of_text[new], return_index=True)[1]]
            self._remember(values.take(pa.array(kept)))
        return of_text[rows]

    def _remember(self, values: pa.Array) -> None:
        self.values.append(values)
        self.nbytes += _HELD * values.nbytes + 150 * len(values)
        self.text += values.nbytes
        if pa.types.is_string(values.type) and self.text > _MOST_TEXT:
            message = f"column {self.name!r} has more than 2 GiB of distinct text, which cannot be counted."
            raise DataError(f"{message} Leave it out of the policy, or shorten its texts.", code="too-much-text")

    def check_type(self, kind: pa.DataType) -> None:
        """Raise `DataError` for another type than the column had before; one of no values fits any."""
        self.type = common_type(self.name, self.type, kind.value_type if pa.types.is_dictionary(kind) else kind)

    def finish(self, codes: Codes) -> DistinctColumn:
        """The column of some rows, given the code of each row's text."""
        texts = self.numbers.texts()
        occurring = np.flatnonzero(np.bincount(codes, minlength=1 + len(texts)))
        missing = bool(len(occurring)) and occurring[0] == 0
        some = occurring[1:] if missing else occurring
        order = some[pc.array_sort_indices(texts.take(pa.array(some - 1))).to_numpy()]
        rank = np.full(1 + len(texts), len(order), dtype=np.int32)  # missing values last
        rank[order] = np.arange(len(order), dtype=np.int32)
        chosen, nulls = pa.array(order - 1), pa.nulls(int(missing), self.type)
        values = pa.concat_arrays(self.values or [pa.nulls(0, self.type)]).cast(self.type).take(chosen)
        labels: list[str | None] = texts.take(chosen).to_pylist()
        return DistinctColumn((*labels, *nulls.to_pylist()), pa.concat_arrays([values, nulls]), rank[codes])
