"""Write a table as a file that carries the table and nothing else, in the format that its suffix names."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from shoal.errors import OutputError
from shoal.formatting import listing
from shoal.io.bounded_slices import slice_bounds, text_sizes
from shoal.io.columns import check_names, plain
from shoal.io.formats import FORMATS
from shoal.io.formats.file_format import Done, Writer
from shoal.io.staging import writing
from shoal.table.encoded import Counts

_ROWS_AT_A_TIME: Final = 1 << 16  # of what is made ready for the file at once, which leaves no trace in it
_BYTES_AT_A_TIME: Final = 1 << 23


def written_suffixes() -> dict[str, Writer]:
    """The suffixes of files that a release can be written to, with their writers."""
    return {
        suffix: each.write for each in FORMATS.values() if each.write is not None for suffix in each.written_suffixes
    }


def writer_of(path: Path) -> Writer:
    """The writer of a release by the suffix of its path; `OutputError` where no format that is written has it."""
    writers = written_suffixes()
    writer = writers.get(path.suffix.lower())
    if writer is None:
        known = listing(list(writers))
        message = f"A release is written as {known}, but {path} ends in {path.suffix!r}. Rename the output."
        raise OutputError(message, code="unknown-output-suffix")
    return writer


def write_table(table: pa.Table, path: Path, counts: Counts | None = None, done: Done | None = None) -> None:
    """Write a table, each row as often as its count says, if it has one: the same rows always give the same bytes."""
    write = writer_of(path)
    check_names(table.column_names, str(path))
    table = plain(table, str(path))
    with writing(path):
        write(_bounded(table, counts, done), path, table.schema)


def write_tables(tables: Iterable[pa.Table], path: Path, schema: pa.Schema) -> None:
    """Write tables one after the other: the bytes are those of one table with all their rows."""
    write = writer_of(path)
    check_names(schema.names, str(path))
    with writing(path):
        write((part for table in tables for part in _bounded(plain(table, str(path)))), path, schema)


def _bounded(
    table: pa.Table, counts: Counts | None = None, done: Done | None = None
) -> Iterator[tuple[pa.Table, Counts]]:
    """Some rows at a time, each with its counts; the share that is written is reported after each part."""
    repeats = np.ones(table.num_rows, dtype=np.int64) if counts is None else counts
    for start, end in slice_bounds(text_sizes(table), rows=_ROWS_AT_A_TIME, nbytes=_BYTES_AT_A_TIME):
        yield table.slice(start, end - start), repeats[start:end]
        if done is not None:
            done(end / table.num_rows)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, without holding it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
