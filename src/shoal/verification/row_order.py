"""A release read block by block, for columns that tell nearly every record apart: only their order is looked at, and
which rows have nothing in any of them, as a suppressed record has.

What is left of the rows is grouped as it comes, so memory follows the distinct rows without those columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from shoal.errors import DataError
from shoal.verification.canonical_text import code, text_column
from shoal.verification.counted_rows import record_blocks


@dataclass
class RowOrder:
    """Whether rows that come in blocks stand in the order of their cells."""

    rows: int = 0
    wrong: int = 0
    """Rows that stand before one which sorts ahead of them."""
    first: int = 0
    """The first of them, counted from 1."""
    _last: tuple[tuple[bool, str], ...] | None = None

    def see(self, columns: Sequence[Any]) -> None:
        """Look at the next rows."""
        count = len(columns[0])
        if not count:
            return
        later, tied = np.zeros(count - 1, dtype=np.bool_), np.ones(count - 1, dtype=np.bool_)
        for column in columns:
            codes = code(column).codes
            later |= tied & (codes[:-1] > codes[1:])
            tied &= codes[:-1] == codes[1:]
        if self._last is not None and self._last > _row(columns, 0):
            self._note(self.rows, 1)
        if later.any():
            self._note(self.rows + int(np.argmax(later)) + 1, int(later.sum()))
        self._last = _row(columns, count - 1)
        self.rows += count

    def _note(self, row: int, count: int) -> None:
        self.first = self.first or row
        self.wrong += count


def _row(columns: Sequence[Any], place: int) -> tuple[tuple[bool, str], ...]:
    """A row as it sorts: by text, the missing cell last."""
    cells = [column[place].as_py() for column in columns]
    return tuple((cell is None, cell or "") for cell in cells)


def csv_blocks(path: Path, parse: Any, header: Any) -> tuple[list[str], Iterator[list[Any]]]:
    """The names of the columns of a text file, and its columns of text, block by block."""
    with path.open("rb") as file:
        first = next(iter(record_blocks(file)), [])
    names, after = header(first, path)

    def blocks() -> Iterator[list[Any]]:
        skipped = after
        with path.open("rb") as file:
            for lines in record_blocks(file):
                some, skipped = lines[skipped:], max(skipped - len(lines), 0)
                if len(names) > 1:
                    some = [line for line in some if line.strip(b"\r")]
                if some and some[-1].count(b'"') % 2:
                    raise DataError(f"The release {path} has a quote that is never closed.", code="unclosed-quote")
                if some:
                    yield parse(some, len(names))

    return names, blocks()


def parquet_blocks(file: parquet.ParquetFile, beside: Any, found: dict[str, None]) -> Iterator[list[Any]]:
    """The columns of a Parquet file as text, a row group at a time; ``found`` gets what dictionaries list besides."""
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        found |= dict.fromkeys(beside(table))
        yield [text_column(column, name) for name, column in zip(table.column_names, table.columns, strict=True)]


def watched(
    blocks: Iterator[list[Any]], names: Sequence[str], apart: Sequence[str], order: RowOrder, blank: str
) -> Iterator[pa.Table]:
    """The blocks without some columns, after their order has been looked at.

    The column ``blank`` stands for those left out: "true" where all their cells are missing.
    """
    kept = [place for place, name in enumerate(names) if name not in apart]
    others = [place for place, name in enumerate(names) if name in apart]
    for columns in blocks:
        order.see(columns)
        missing = np.ones(len(columns[0]), dtype=np.bool_)
        for place in others:
            missing &= np.asarray(pc.is_null(columns[place]), dtype=np.bool_)
        yield pa.table(
            [*(columns[place] for place in kept), pa.array(missing)], names=[*(names[place] for place in kept), blank]
        )
