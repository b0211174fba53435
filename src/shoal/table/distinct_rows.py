"""Distinct rows: the distinct combinations of some columns, each with how many records have it.

A release shows nothing of a record but its distinct row, so everything after reading works on distinct rows with
counts, and ten million records are often a few hundred thousand of them. Values are distinguished by their canonical
text, whatever type the column has. The rows and their codes do not depend on the order of the records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.table.canonical_text import encode_values
from shoal.table.encoded import combine_codes

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


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

    def take(self, rows: NDArray[np.integer]) -> DistinctColumn:
        """The column of some rows."""
        return DistinctColumn(self.labels, self.values, self.codes[rows])


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct combinations of the columns, each with how many records have it.

    Rows are in the order of their content: by the last column in the order of names, then the one before, and so on,
    as `shoal.io.order_of_content` puts records.
    """

    columns: Mapping[str, DistinctColumn]
    counts: Counts  # records of each row
    of_record: NDArray[np.int64] | None = None
    """The row of each record, in the order of the data; None where the records were not held."""

    @staticmethod
    def of(table: pa.Table) -> DistinctRows:
        """The distinct rows of a table in memory."""
        columns = {name: DistinctColumn.of(table.column(name)) for name in table.column_names}
        return DistinctRows.of_columns(columns, table.num_rows)

    @staticmethod
    def of_columns(columns: Mapping[str, DistinctColumn], records: int) -> DistinctRows:
        """The distinct rows of columns that have a row per record."""
        keys = _keys(columns, records)
        _, first, row, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        distinct = {name: column.take(first) for name, column in columns.items()}
        return DistinctRows(distinct, counts.astype(np.int64), row.astype(np.int64))

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
        return DistinctRows({name: column.take(rows) for name, column in self.columns.items()}, counts, of_record)

    def in_order(self) -> DistinctRows:
        """The same rows in the order of their content."""
        order = np.argsort(_keys(self.columns, self.n_rows), kind="stable")
        return self.take(order, self.counts[order])

    def to_table(self) -> pa.Table:
        """The distinct rows as a table with text as codes and a dictionary, which takes a few bytes per row."""
        return pa.table(
            {
                name: pa.DictionaryArray.from_arrays(pa.array(column.codes), column.values)
                if pa.types.is_string(column.values.type)
                else column.of_type()
                for name, column in self.columns.items()
            }
        )


def _keys(columns: Mapping[str, DistinctColumn], rows: int) -> NDArray[np.int64]:
    """A number for each row that ascends with its content."""
    by = sorted(columns, reverse=True)
    keys, _ = combine_codes([columns[name].codes for name in by], [max(len(columns[name].labels), 1) for name in by])
    return keys if by else np.zeros(rows, dtype=np.int64)
