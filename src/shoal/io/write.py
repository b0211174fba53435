"""Write a table as a file that carries the table and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import OutputError
from shoal.io.columns import check_names, plain
from shoal.io.pieces import pieces, text_sizes
from shoal.io.staging import writing
from shoal.table.canonical_text import canonical_text

_CSV: Final = (".csv",)
_PARQUET: Final = (".parquet", ".pq")
_ROWS_AT_A_TIME: Final = 1 << 16
_BYTES_AT_A_TIME: Final = 1 << 23
_ROW_GROUP: Final = 1 << 20
"""Rows of a row group at most."""
_BYTES_OF_A_GROUP: Final = 1 << 24
"""Bytes of text in a row group at most, unless one row has more."""
_NEEDS_QUOTES: Final = '[",\r\n]|^\ufeff|^$'


def check_table_suffix(path: Path) -> None:
    """Raise `OutputError` unless the suffix names a format that `write_table` writes."""
    if path.suffix.lower() not in _CSV + _PARQUET:
        raise OutputError(
            f"{path} has the suffix {path.suffix!r}; a table is written as one of {', '.join(_CSV + _PARQUET)}. "
            "Rename the output.",
            code="unknown-format",
        )


def write_table(table: pa.Table, path: Path) -> None:
    """Write CSV or Parquet, by the suffix; the same table always gives the same bytes.

    CSV is UTF-8 with commas and line feeds. A missing value is an empty cell and an empty text is ``""``, so the two
    stay apart. Parquet gets no metadata of the input's and no dictionary that lists values which no row holds.
    """
    write_counted(table, None, path)


def write_counted(
    table: pa.Table, counts: NDArray[np.int64] | None, path: Path, done: Callable[[float], None] | None = None
) -> None:
    """Write a table of which each row stands for a number of equal ones, as if all of them were in it.

    ``done`` is called with the share of the rows that has been written.
    """
    check_table_suffix(path)
    check_names(table.column_names, str(path))
    table = plain(table, str(path))
    with writing(path):
        if path.suffix.lower() in _CSV:
            _write_csv(table, counts, path, done)
        else:
            _write_parquet(table, counts, path, done)


def write_sorted(tables: Iterable[pa.Table], path: Path, schema: pa.Schema) -> None:
    """Write tables one after the other: the bytes are those of one table with all their rows."""
    check_table_suffix(path)
    check_names(schema.names, str(path))
    with writing(path):
        if path.suffix.lower() in _CSV:
            with path.open("wb") as file:
                file.write(_bytes(_lines([pa.array([name]) for name in schema.names])))
                for table in tables:
                    for _, columns in _blocks(plain(table, str(path))):
                        file.write(_bytes(_lines(columns)))
        else:
            _write_row_groups((plain(table, str(path)) for table in tables), path, schema)


def _write_row_groups(tables: Iterable[pa.Table], path: Path, schema: pa.Schema) -> None:
    """Tables of any length as row groups with the borders that one table of all their rows has."""
    from pyarrow import parquet  # noqa: PLC0415  start-up is quicker without it

    waiting, sizes = schema.empty_table(), np.zeros(0, dtype=np.int64)
    with path.open("wb") as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for table in tables:
            waiting = pa.concat_tables([waiting, table])
            sizes = np.append(sizes, text_sizes(table))
            *full, (last, _) = list(_groups(sizes)) or [(0, 0)]
            for start, end in full:  # the last may go on in the next table
                writer.write_table(waiting.slice(start, end - start).combine_chunks(), row_group_size=_ROW_GROUP)
            waiting, sizes = waiting.slice(last), sizes[last:]
        if waiting.num_rows:
            writer.write_table(waiting.combine_chunks(), row_group_size=_ROW_GROUP)


def _groups(sizes: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> Iterator[tuple[int, int]]:
    """The borders of row groups."""
    return pieces(sizes, rows=_ROW_GROUP, nbytes=_BYTES_OF_A_GROUP, counts=counts)


def _write_csv(
    table: pa.Table, counts: NDArray[np.int64] | None, path: Path, done: Callable[[float], None] | None
) -> None:
    with path.open("wb") as file:
        names = [pa.array([name]) for name in table.column_names]
        file.write(_bytes(_lines(names)) if names else b"\n")
        for start, columns in _blocks(table):
            lines = _lines(columns)
            if counts is None:
                file.write(_bytes(lines))
            else:
                some = counts[start : start + len(lines)]
                for _, places in _places(some, _in_memory(text_sizes(pa.table({"line": lines})), some)):
                    file.write(_bytes(lines.take(pa.array(places))))
            if done is not None:
                done(min((start + len(lines)) / max(table.num_rows, 1), 1.0))


def _places(counts: NDArray[np.int64], borders: Iterable[tuple[int, int]]) -> Iterator[tuple[float, NDArray[np.int64]]]:
    """Which row stands in each place when each is repeated, from border to border, and the share done by then."""
    ends = np.cumsum(counts)
    for start, stop in borders:
        first, last = np.searchsorted(ends, start, side="right"), np.searchsorted(ends, stop)
        some = np.arange(first, last + 1)
        repeats = np.minimum(ends[some], stop) - np.maximum(ends[some] - counts[some], start)
        yield stop / int(ends[-1]), np.repeat(some, repeats)


def _in_memory(sizes: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> Iterator[tuple[int, int]]:
    """Borders between rows that are made into text at once: they leave no trace in a file."""
    return pieces(sizes, rows=_ROWS_AT_A_TIME, nbytes=_BYTES_AT_A_TIME, counts=counts)


def _blocks(table: pa.Table) -> Iterator[tuple[int, list[pa.Array]]]:
    """Some rows at a time, as text, and the first of them: a large table is never held twice."""
    for start, end in _in_memory(text_sizes(table)) if table.num_columns else ():
        rows = table.slice(start, end - start)
        yield start, [canonical_text(column) for column in rows.columns]


def _lines(columns: list[pa.Array]) -> pa.Array:
    """The columns side by side, a line a row."""
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


def _write_parquet(
    table: pa.Table, counts: NDArray[np.int64] | None, path: Path, done: Callable[[float], None] | None
) -> None:
    """Row groups by what is in the rows, each from columns in one piece: how the table came about leaves no trace."""
    from pyarrow import parquet  # noqa: PLC0415  start-up is quicker without it

    repeats = np.ones(table.num_rows, dtype=np.int64) if counts is None else counts
    with path.open("wb") as file, parquet.ParquetWriter(file, table.schema, compression="zstd") as writer:
        for share, places in _places(repeats, _groups(text_sizes(table), repeats)):
            first = int(places[0])
            some = table.slice(first, int(places[-1]) - first + 1).take(pa.array(places - first))
            writer.write_table(some.combine_chunks(), row_group_size=_ROW_GROUP)
            if done is not None:
                done(share)
