"""Distinct rows with how often each occurs: what a verification needs of a table, without all its rows.

A release is sorted, so equal rows stand together and are counted as runs: in a text file line by line, elsewhere cell
by cell. An original comes in any order, so its rows are grouped batch by batch, with Arrow's own group-by.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from shoal.errors import DataError
from shoal.verification.canonical_text import Codes, Mask, code, places, text_column

_BLOCK = 1 << 22
_GROUPED_AT_ONCE = 300_000
_LARGEST_BLOCK = (1 << 31) - 1
"""As much as Arrow reads at once: text up to that is one block, so that no cell lies on the edge of two."""
_LINE, _QUOTE, _RETURN = b"\n", b'"', b"\r"


@dataclass(frozen=True, eq=False)
class CountedRows:
    """A table of which each row stands for so many equal ones."""

    table: pa.Table
    counts: Codes
    read: int | None = None  # of an original: how many records were read, by another count than that of the rows
    blank: int | None = None  # of an original: how many records have nothing in any of the columns that are apart


def runs(columns: Sequence[Any], counts: Codes | None = None) -> tuple[list[Any], Codes]:
    """Columns with neighbouring equal rows made one, and how many rows each stands for."""
    rows = len(columns[0]) if columns else 0
    if counts is None:
        counts = np.ones(rows, dtype=np.int64)
    if rows < 2:
        return list(columns), counts
    new = np.zeros(rows, dtype=np.bool_)
    new[0] = True
    for column in columns:
        codes = places(column)[1]
        new[1:] |= codes[1:] != codes[:-1]
    starts = np.flatnonzero(new)
    if len(starts) == rows:
        return list(columns), counts
    chosen = pa.array(starts)
    return [column.take(chosen) for column in columns], np.add.reduceat(counts, starts)


def line_runs(file: BinaryIO, seen: Any = None) -> tuple[list[bytes], list[int]]:
    """The lines of a text file, neighbouring equal ones once with their number; a ``seen`` hash is fed every byte.

    A line here ends where a line feed stands outside quotes, so it is a whole record.
    """
    lines: list[bytes] = []
    counts: list[int] = []
    for line, same in groupby(_records(file, seen)):
        lines.append(line)
        counts.append(sum(1 for _ in same))
    return lines, counts


def _records(file: BinaryIO, seen: Any) -> Iterator[bytes]:
    return chain.from_iterable(record_blocks(file, seen))


def record_blocks(file: BinaryIO, seen: Any = None) -> Iterator[list[bytes]]:
    """The records of each block; one that goes on in the next block, or in quotes over a line feed, is kept back."""
    rest = b""
    while block := file.read(_BLOCK):
        if seen is not None:
            seen.update(block)
        joined = rest + block
        lines = joined.split(_LINE)
        rest = lines.pop()
        if _QUOTE in joined:
            lines, still = _joined(lines)
            rest = still + _LINE + rest if still is not None else rest
        yield lines
    if rest:
        yield [rest]


def _joined(lines: list[bytes]) -> tuple[list[bytes], bytes | None]:
    """Records whose quotes hold a line feed put together, and what is left open at the end."""
    whole: list[bytes] = []
    opened: bytes | None = None
    for line in lines:
        joined = line if opened is None else opened + _LINE + line
        opened = joined if joined.count(_QUOTE) % 2 else None
        if opened is None:
            whole.append(joined)
    return whole, opened


def distinct_rows(batches: Iterable[Any], names: Sequence[str]) -> tuple[dict[str, Any], Codes]:
    """The distinct rows of some batches as columns of text, and how often each occurs."""
    keys = [f"c{place}" for place in range(len(names))]
    parts: list[Any] = []
    waiting = 0
    for batch in batches:
        columns = [batch.column(name) for name in names]
        texts = [
            text_column(each if isinstance(each, pa.ChunkedArray) else pa.chunked_array([each]), name)
            for name, each in zip(names, columns, strict=True)
        ]
        part = pa.table(dict(zip(keys, texts, strict=True)))
        part = part.append_column("n", pa.array(np.ones(part.num_rows, dtype=np.int64)))
        parts.append(_grouped([part], keys))
        waiting += parts[-1].num_rows
        if waiting > _GROUPED_AT_ONCE + 2 * parts[0].num_rows:
            parts = [_grouped(parts, keys)]
            waiting = 0
    if not parts:
        return {name: pa.chunked_array([pa.array([], pa.string())]) for name in names}, np.zeros(0, dtype=np.int64)
    whole = _grouped(parts, keys)
    counts = np.asarray(whole.column("n"), dtype=np.int64)
    return {name: whole.column(key) for name, key in zip(names, keys, strict=True)}, counts


def _grouped(parts: Sequence[Any], keys: Sequence[str]) -> Any:
    grouped = pa.concat_tables(parts).group_by(list(keys), use_threads=False).aggregate([("n", "sum")])
    return grouped.select([*keys, "n_sum"]).rename_columns([*keys, "n"])


@dataclass
class RowOrder:
    """Whether rows that come in blocks stand in the order of their cells."""

    rows: int = 0
    wrong: int = 0  # rows that stand before one which sorts ahead of them
    first: int = 0  # the first of them, counted from 1
    _last: tuple[tuple[bool, str], ...] | None = None

    def see(self, columns: Sequence[Any]) -> None:
        """Look at the next rows."""
        count = len(columns[0])
        if not count:
            return
        later = out_of_order(columns, count)
        if self._last is not None and self._last > _row(columns, 0):
            self._note(self.rows, 1)
        if later.any():
            self._note(self.rows + int(np.argmax(later)) + 1, int(later.sum()))
        self._last = _row(columns, count - 1)
        self.rows += count

    def _note(self, row: int, count: int) -> None:
        self.first = self.first or row
        self.wrong += count


def out_of_order(columns: Iterable[Any], rows: int) -> Mask:
    """Which rows but the last stand before one that sorts ahead of them."""
    later = np.zeros(max(rows - 1, 0), dtype=np.bool_)
    tied = ~later
    for column in columns:
        codes = code(column).codes
        later |= tied & (codes[:-1] > codes[1:])
        tied &= codes[:-1] == codes[1:]
    return later


def _row(columns: Sequence[Any], place: int) -> tuple[tuple[bool, str], ...]:
    """A row as it sorts: by text, the missing cell last."""
    cells = [column[place].as_py() for column in columns]
    return tuple((cell is None, cell or "") for cell in cells)


def header(lines: list[bytes], path: Path) -> tuple[list[str], int]:
    """The names of the columns, and the place of the first line after them."""
    for place, line in enumerate(lines):
        text = line.decode("utf-8-sig" if not place else "utf-8").removesuffix("\r")
        for row in csv.reader(io.StringIO(text, newline=""), strict=True):
            if row:
                return row, place + 1
    raise DataError(f"The release {path} is empty: it has no header.", code="empty")


def parsed(lines: Sequence[bytes], width: int) -> list[Any]:
    """Lines as columns of text; names may repeat, so columns are known by their places."""
    raw = b"\n".join([*lines, b""])
    names = [f"c{place}" for place in range(width)]
    if not raw:
        return [pa.chunked_array([pa.array([], pa.string())]) for _ in names]
    table = arrow_csv.read_csv(
        pa.BufferReader(raw),
        read_options=arrow_csv.ReadOptions(column_names=names, block_size=min(len(raw), _LARGEST_BLOCK)),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=width > 1),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    return list(table.columns)


def csv_blocks(path: Path) -> tuple[list[str], Iterator[list[Any]]]:
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
                    yield parsed(some, len(names))

    return names, blocks()


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
