"""Writing CSV: UTF-8 with commas and line feeds. A missing value is an empty cell, an empty text is ``""``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.io.formats.file_format import Progress
from shoal.io.pieces import pieces, repeated_rows, text_sizes
from shoal.table.canonical_text import canonical_text

_ROWS_AT_A_TIME: Final = 1 << 16
_BYTES_AT_A_TIME: Final = 1 << 23
_NEEDS_QUOTES: Final = '[",\r\n]|^\ufeff|^$'


class CsvWriter:
    """Writes CSV files; a large table is never held twice."""

    def write(
        self, table: pa.Table, counts: NDArray[np.int64] | None, path: Path, progress: Progress | None, /
    ) -> None:
        """Write a table of which each row stands for as many equal ones as its count."""
        with path.open("wb") as file:
            file.write(_header(table.column_names))
            for start, lines in _blocks(table):
                if counts is None:
                    file.write(_bytes(lines))
                else:
                    some = counts[start : start + len(lines)]
                    sizes = text_sizes(pa.table({"line": lines}))
                    for _, rows in repeated_rows(some, _in_memory(sizes, some)):
                        file.write(_bytes(lines.take(pa.array(rows))))
                if progress is not None:
                    progress(min((start + len(lines)) / max(table.num_rows, 1), 1.0))

    def write_all(self, tables: Iterable[pa.Table], path: Path, schema: pa.Schema, /) -> None:
        """Write tables one after the other."""
        with path.open("wb") as file:
            file.write(_header(schema.names))
            for table in tables:
                for _, lines in _blocks(table):
                    file.write(_bytes(lines))


def _header(names: list[str]) -> bytes | memoryview:
    return _bytes(_lines([pa.array([name]) for name in names])) if names else b"\n"


def _in_memory(sizes: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> Iterator[tuple[int, int]]:
    """First and end of rows that are made into text at once: they leave no trace in a file."""
    return pieces(sizes, rows=_ROWS_AT_A_TIME, nbytes=_BYTES_AT_A_TIME, counts=counts)


def _blocks(table: pa.Table) -> Iterator[tuple[int, pa.Array]]:
    """Some rows at a time as lines of text, and the index of the first of them."""
    for start, end in _in_memory(text_sizes(table)) if table.num_columns else ():
        rows = table.slice(start, end - start)
        yield start, _lines([canonical_text(column) for column in rows.columns])


def _lines(columns: list[pa.Array]) -> pa.Array:
    """The columns side by side, one line per row."""
    cells = [_quoted(column.cast(pa.large_string())) for column in columns]
    lines = pc.binary_join_element_wise(*cells, _large(","), null_handling="replace", null_replacement="")
    return pc.binary_join_element_wise(lines, _large(""), _large("\n"))


def _bytes(lines: pa.Array) -> memoryview:
    """The text of lines that lie one after the other."""
    _, _, text = lines.buffers()
    return memoryview(text)[: pc.sum(pc.binary_length(lines)).as_py()]


def _quoted(texts: pa.Array) -> pa.Array:
    """Quotes only where a cell would be misread without them."""
    needs = pc.match_substring_regex(texts, _NEEDS_QUOTES)
    if not pc.any(needs).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    around = pc.binary_join_element_wise(_large('"'), doubled, _large('"'), _large(""))
    return pc.if_else(needs, around, texts)


def _large(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())
