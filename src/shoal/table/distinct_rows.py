"""Distinct rows: the distinct combinations of some columns, each with how many records have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.table.canonical_text import encode_values
from shoal.table.encoded import Codes, Counts, combine_codes


@dataclass(frozen=True, eq=False)
class DistinctColumn:
    """One column of the distinct rows."""

    labels: tuple[str | None, ...]  # the canonical texts that occur, sorted by code point, ``None`` (missing) last
    values: pa.Array  # the value of each label, in the type of the data
    codes: Codes  # the index of each row's label

    @staticmethod
    def of(column: pa.Array | pa.ChunkedArray) -> DistinctColumn:
        """A column of a table, a row per record."""
        return DistinctColumn(*encode_values(column))

    def of_type(self, rows: NDArray[np.integer] | slice = slice(None)) -> pa.Array:
        """The values of some rows, in the type of the data."""
        return self.values.take(pa.array(self.codes[rows]))

    def merged(self, value_of: Mapping[str, str]) -> DistinctColumn:
        """The column with other values in the place of some; text where one of these has no value of its type."""
        if not value_of:
            return self
        become = [value_of.get(label, label) if label is not None else None for label in self.labels]
        if become == list(self.labels):
            return self
        labels = tuple(sorted(set(become), key=lambda label: (label is None, label or "")))
        old = {label: code for code, label in enumerate(self.labels)}
        if set(labels) <= set(old):
            values = self.values.take(pa.array([old[label] for label in labels]))
        else:
            values = pa.array(labels, pa.string())
        new = {label: code for code, label in enumerate(labels)}
        return DistinctColumn(labels, values, np.array([new[label] for label in become], dtype=np.int32)[self.codes])

    def take(self, rows: NDArray[np.integer]) -> DistinctColumn:
        """The column of some rows."""
        return DistinctColumn(self.labels, self.values, self.codes[rows])


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct combinations of the columns, each with how many records have it."""

    columns: Mapping[str, DistinctColumn]
    counts: Counts  # records of each row
    of_record: NDArray[np.int64] | None = None  # the row of each record; None where records were not held
    first: tuple[str, ...] = ()  # columns that come first in the order of the rows: the rows of a person lie together

    @staticmethod
    def of(table: pa.Table, first: tuple[str, ...] = ()) -> DistinctRows:
        """The distinct rows of a table in memory."""
        columns = {name: DistinctColumn.of(table.column(name)) for name in table.column_names}
        return DistinctRows.of_columns(columns, table.num_rows, first)

    @staticmethod
    def of_columns(columns: Mapping[str, DistinctColumn], records: int, first: tuple[str, ...] = ()) -> DistinctRows:
        """The distinct rows of columns that have a row per record."""
        keys = _keys(columns, records, first)
        _, begin, row, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        distinct = {name: column.take(begin) for name, column in columns.items()}
        return DistinctRows(distinct, counts.astype(np.int64), row.astype(np.int64), first)

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return len(self.counts)

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.counts.sum())

    def take(self, rows: NDArray[np.int64], counts: Counts, of_record: NDArray[np.int64] | None = None) -> DistinctRows:
        """Some rows, possibly divided: with other counts."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return DistinctRows(columns, counts, of_record, self.first)

    def merged(self, value_of: Mapping[str, Mapping[str, str]]) -> DistinctRows:
        """The rows with other values in the place of some, by column; rows that are equal then are one."""
        columns = {name: column.merged(value_of.get(name, {})) for name, column in self.columns.items()}
        if all(column is self.columns[name] for name, column in columns.items()):
            return self
        return self.with_columns(columns)

    def with_columns(self, columns: Mapping[str, DistinctColumn]) -> DistinctRows:
        """The rows with other columns; those that are equal then are one."""
        _, begin, row = np.unique(_keys(columns, self.n_rows, self.first), return_index=True, return_inverse=True)
        counts = np.bincount(row, weights=self.counts, minlength=len(begin)).astype(np.int64)
        of_record = None if self.of_record is None else row[self.of_record].astype(np.int64)
        return DistinctRows(
            {name: column.take(begin) for name, column in columns.items()}, counts, of_record, self.first
        )

    def in_order(self) -> DistinctRows:
        """The same rows in the order of their content."""
        order = np.argsort(_keys(self.columns, self.n_rows, self.first), kind="stable")
        return self.take(order, self.counts[order])

    def ranks(self) -> Codes:
        """The place of each row in the order of their content."""
        ranks = np.empty(self.n_rows, dtype=np.int32)
        ranks[np.argsort(_keys(self.columns, self.n_rows, self.first))] = np.arange(self.n_rows, dtype=np.int32)
        return ranks

    def to_table(self) -> pa.Table:
        """The distinct rows as a table with text as codes and a dictionary, which takes a few bytes per row."""
        found = {}
        for name, column in self.columns.items():
            coded, codes = pa.types.is_string(column.values.type), pa.array(column.codes)
            found[name] = pa.DictionaryArray.from_arrays(codes, column.values) if coded else column.of_type()
        return pa.table(found)


def _keys(columns: Mapping[str, DistinctColumn], rows: int, first: Sequence[str]) -> NDArray[np.int64]:
    """A number for each row that ascends with its content, some columns first."""
    by = [*(name for name in first if name in columns), *sorted(set(columns) - set(first), reverse=True)]
    keys, _ = combine_codes([columns[name].codes for name in by], [max(len(columns[name].labels), 1) for name in by])
    return keys if by else np.zeros(rows, dtype=np.int64)
