"""Write a table as a file that carries the table and nothing else, in the format that its suffix names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import OutputError
from shoal.io.columns import check_names, plain
from shoal.io.formats import writer_of


def check_table_suffix(path: Path) -> None:
    """Raise `OutputError` unless the suffix names a format that `write_table` writes."""
    writer_of(path)


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table; the same table always gives the same bytes."""
    write_counted(table, None, path)


def write_counted(
    table: pa.Table, counts: NDArray[np.int64] | None, path: Path, done: Callable[[float], None] | None = None
) -> None:
    """Write a table of which each row stands for as many equal ones as its count: the bytes are those of all rows.

    ``done`` is called with the share of the rows that has been written.
    """
    writer = writer_of(path)
    check_names(table.column_names, str(path))
    try:
        writer.write(plain(table, str(path)), counts, path, done)
    except OSError as error:
        raise _unwritable(path, error) from None


def write_sorted(tables: Iterable[pa.Table], path: Path, schema: pa.Schema) -> None:
    """Write tables one after the other: the bytes are those of one table with all their rows."""
    writer = writer_of(path)
    check_names(schema.names, str(path))
    try:
        writer.write_all((plain(table, str(path)) for table in tables), path, schema)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(f"{path} cannot be written: {error}.", code="not-writable")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, without holding it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
