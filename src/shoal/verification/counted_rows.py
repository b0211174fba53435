"""Distinct rows with how often each occurs: what a verification needs of a table, without all its rows.

A release is sorted, so equal rows stand together and are counted as runs while their order is looked at. An original
comes in any order, so its rows are grouped batch by batch, with Arrow's own group-by.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.verification.canonical_text import Codes, Mask, code

_GROUPED_AT_ONCE = 300_000


@dataclass(frozen=True, eq=False)
class CountedRows:
    """A table of which each row stands for so many equal ones."""

    table: pa.Table
    counts: Codes
    read: int | None = None  # of an original: how many records were read, by another count than that of the rows
    blank: int | None = None  # of an original: how many records have nothing in any of the columns that are apart


@dataclass
class RowOrder:
    """Whether rows that come in blocks stand in the order of their cells: by text, the missing cell last."""

    rows: int = 0
    wrong: int = 0  # rows that stand before one which sorts ahead of them
    first: int = 0  # the first of them, counted from 1
    _head: tuple[tuple[bool, str], ...] | None = None
    _last: tuple[tuple[bool, str], ...] | None = None

    def see(self, columns: Sequence[Any], counts: Codes | None = None) -> tuple[list[Any], Codes]:
        """Look at the next rows; gives them with neighbouring equal ones made one, and how many each stands for."""
        rows = len(columns[0]) if columns else 0
        counts = np.ones(rows, dtype=np.int64) if counts is None else counts
        if not rows:
            return list(columns), counts
        same, ahead = np.ones(rows - 1, dtype=np.bool_), np.zeros(rows - 1, dtype=np.bool_)
        for column in columns:
            codes = code(column).codes
            ahead |= same & (codes[1:] < codes[:-1])
            same &= codes[1:] == codes[:-1]
        self._begin(_row(columns, 0))
        if ahead.any():
            self.first = self.first or self.rows + int(counts[: np.argmax(ahead) + 1].sum())
            self.wrong += int(ahead.sum())
        self._last = _row(columns, rows - 1)
        self.rows += int(counts.sum())
        return _runs(columns, counts, same)

    def _begin(self, row: tuple[tuple[bool, str], ...]) -> None:
        """Compare the next row with the last one."""
        self._head = row if self._head is None else self._head
        if self._last is not None and row < self._last:
            self.first, self.wrong = self.first or self.rows, self.wrong + 1

    def follow(self, other: "RowOrder") -> None:
        """Look at rows that another has looked at, as the next ones."""
        if other._head is None or other._last is None:
            return
        self._begin(other._head)
        self.first = self.first or (self.rows + other.first if other.wrong else 0)
        self.rows, self.wrong, self._last = self.rows + other.rows, self.wrong + other.wrong, other._last


def _runs(columns: Sequence[Any], counts: Codes, same: Mask) -> tuple[list[Any], Codes]:
    """Rows with each that is the same as the one before it added to that one."""
    if not same.any():
        return list(columns), counts
    starts = np.flatnonzero(np.append(True, ~same))
    return [column.take(pa.array(starts)) for column in columns], np.add.reduceat(counts, starts)


def rows_in_order(columns: Sequence[Any], counts: Codes) -> tuple[list[Any], Codes]:
    """The distinct rows of columns of text, in the order of their cells, and how many each stands for."""
    codes = [code(column).codes for column in columns]
    order = np.lexsort(codes[::-1]) if codes else np.arange(0)
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for each in codes:
        same &= np.diff(each[order]) == 0
    return _runs([column.take(pa.array(order)) for column in columns], counts[order], same)


def _row(columns: Sequence[Any], row: int) -> tuple[tuple[bool, str], ...]:
    return tuple((not column[row].is_valid, column[row].as_py() or "") for column in columns)


def counted(columns: Sequence[Any], counts: Codes | None = None) -> pa.Table:
    """Columns of text by their indices, and in the last one how many rows each stands for; one by default."""
    counts = np.ones(len(columns[0]), dtype=np.int64) if counts is None else counts
    return pa.table([*columns, pa.array(counts)], names=[*(f"c{index}" for index in range(len(columns))), "n"])


def grouped(parts: Iterable[pa.Table], width: int) -> pa.Table:
    """The distinct rows of tables of counted rows with so many columns, as one such table."""
    held, waiting = [counted([pa.array([], pa.string())] * width)], 0
    for part in parts:
        held.append(_summed([part]))
        waiting += held[-1].num_rows
        if waiting > _GROUPED_AT_ONCE + 2 * held[0].num_rows:
            held, waiting = [_summed(held)], 0
    return _summed(held)


def _summed(parts: Sequence[pa.Table]) -> pa.Table:
    names = parts[0].column_names
    table = pa.concat_tables(parts).group_by(names[:-1], use_threads=False).aggregate([("n", "sum")])
    return table.select([*names[:-1], "n_sum"]).rename_columns(names)
