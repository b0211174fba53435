"""Read a table from a file, by the file's suffix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from shoal.errors import DataError
from shoal.io.formats import format_of
from shoal.io.formats.file_format import FileFormat
from shoal.io.multiple_files import Fingerprint, check_same_columns, data_files, is_many, parts_of
from shoal.io.postgres.tables import database_batches, database_names, read_database
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind, sniff_kind

_SEPARATORS: Final = (",", ";", "\t", "|", ":")


def read_table(source: DataSource, columns: Sequence[str] | None = None) -> pa.Table:
    """The table in a file, or those of its columns that are asked for, in the order asked for.

    Cells of a text file stay text. Parquet columns keep their types, without dictionaries and NaN; those of workbooks
    and statistics packages get the type that all their cells have. A file that has a header and no record gives a table
    of no rows. The files of a folder or a pattern are one table.
    """
    if source.database is not None:
        return read_database(source, columns)
    if is_many(source.path):
        return _read_parts(source, columns)
    with readable(source) as form:
        return form.read(source, columns)


def column_names(source: DataSource) -> list[str]:
    """The names of a file's columns; of most kinds no more is read than the header or footer."""
    if source.database is not None:
        return database_names(source)
    if is_many(source.path):
        return column_names(parts_of(source)[0])
    with readable(source) as form:
        return form.column_names(source)


def separator_hint(source: DataSource, names: Sequence[str]) -> str:
    """A question to add to "unknown column": whether the file's only column is several with another separator."""
    if len(names) != 1 or source.database is not None or sniff_kind(data_files(source.path)[0]) is not FileKind.TEXT:
        return ""
    others = [each for each in _SEPARATORS if each != source.separator and each in names[0]]
    if not others:
        return ""
    likely = max(others, key=names[0].count)
    shown = names[0] if len(names[0]) <= 60 else names[0][:60] + "…"
    return f"the file's only column is {shown!r}: is the separator {likely!r}?"


def _read_parts(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    """The tables of several files one after the other."""
    parts = parts_of(source)
    names, tables = column_names(parts[0]), []
    for part in parts:
        check_same_columns(parts[0].path, names, part.path, column_names(part))
        tables.append(read_table(part, names if columns is None else columns))
    try:
        return pa.concat_tables(tables)
    except pa.ArrowInvalid as error:
        message = f"The files of {source.path} differ in the types of their columns: {error}."
        raise DataError(message, code="types-differ") from None


@contextmanager
def readable(source: DataSource) -> Iterator[FileFormat]:
    """The format of the file; what the operating system says about it becomes a `DataError`."""
    try:
        if source.path.is_dir():
            raise DataError(f"{source.path} is a folder, not a file. Name the file inside it.", code="is-a-folder")
        if not source.path.exists():
            raise DataError(f"There is no file {source.path}. Check the path.", code="no-such-file")
        yield format_of(source.path)
    except PermissionError:
        message = f"This user may not read {source.path}. Change its permissions."
        raise DataError(message, code="no-permission") from None
    except OSError as error:
        raise DataError(f"{source.path} cannot be read: {error}.", code="not-readable") from None


Done = Callable[[float], None]  # called with the share of the bytes that has been read, from 0 to 1
_NEARLY: Final = 0.999  # the share that is reported before the last batch has been used: text is read ahead of it


def read_batches(source: DataSource, columns: Sequence[str], done: Done | None = None) -> Iterator[pa.RecordBatch]:
    """The columns asked for, a batch at a time; `DataError` where a file is wrong or changes meanwhile."""
    if source.database is not None:
        yield from database_batches(source, columns)
        return
    before = Fingerprint.of(source)
    total, behind = max(before.nbytes, 1), 0
    parts = parts_of(source)
    names = column_names(parts[0])
    for part, seen in zip(parts, before.files, strict=True):
        check_same_columns(parts[0].path, names, part.path, column_names(part))
        with readable(part) as form:
            for batch, share in form.batches(part, columns):
                yield batch
                if done is not None:
                    done(min((behind + share * seen.size) / total, _NEARLY))
        behind += seen.size
    before.check(source)
    if done is not None:
        done(1.0)
