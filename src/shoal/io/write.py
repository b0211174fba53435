"""Write a table as a file that carries the table and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import OutputError
from shoal.io.columns import check_names, plain
from shoal.io.text import canonical_text

_CSV: Final = (".csv",)
_PARQUET: Final = (".parquet", ".pq")
_ROWS_AT_A_TIME: Final = 1 << 16
_NEEDS_QUOTES: Final = '[",\r\n]|^\ufeff|^$'


def check_table_suffix(path: Path) -> None:
    """Raise `OutputError` unless the suffix names a format that `write_table` writes."""
    if path.suffix.lower() not in _CSV + _PARQUET:
        raise OutputError(
            f"{path} has the suffix {path.suffix!r}; a table is written as one of {', '.join(_CSV + _PARQUET)}. "
            "Rename the output."
        )


def write_table(table: pa.Table, path: Path) -> None:
    """Write CSV or Parquet, by the suffix; the same table always gives the same bytes.

    CSV is UTF-8 with commas and line feeds. A missing value is an empty cell and an empty text is ``""``, so the two
    stay apart. Parquet gets no metadata of the input's and no dictionary that lists values which no row holds.
    """
    check_table_suffix(path)
    check_names(table.column_names, str(path))
    table = plain(table, str(path))
    try:
        if path.suffix.lower() in _CSV:
            _write_csv(table, path)
        else:
            _write_parquet(table, path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error}.") from None


def _write_csv(table: pa.Table, path: Path) -> None:
    with path.open("wb") as file:
        names = [pa.array([name]) for name in table.column_names]
        file.write(_lines(names))
        for columns in _blocks(table):
            file.write(_lines(columns))


def _blocks(table: pa.Table) -> Iterator[list[pa.Array]]:
    """Some rows at a time, as text: a large table is never held twice."""
    for start in range(0, table.num_rows if table.num_columns else 0, _ROWS_AT_A_TIME):
        rows = table.slice(start, _ROWS_AT_A_TIME)
        yield [canonical_text(column) for column in rows.columns]


def _lines(columns: list[pa.Array]) -> memoryview:
    """The columns side by side, a line a row."""
    if not columns:
        return memoryview(b"\n")
    cells = [_quoted(column.cast(pa.large_string())) for column in columns]
    lines = pc.binary_join_element_wise(*cells, _large(","), null_handling="replace", null_replacement="")
    ended = pc.binary_join_element_wise(lines, _large(""), _large("\n"))
    _, _, text = ended.buffers()
    return memoryview(text)[: pc.sum(pc.binary_length(ended)).as_py()]


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


def _write_parquet(table: pa.Table, path: Path) -> None:
    from pyarrow import parquet  # noqa: PLC0415  start-up is quicker without it

    parquet.write_table(table, path, compression="zstd")
