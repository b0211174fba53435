"""Read a table from a file, by the file's suffix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

import pyarrow as pa

from shoal.errors import DataError
from shoal.io.columns import check_names, chosen, plain, without_unnamed_index
from shoal.io.formats.csv_file import read_csv, read_header
from shoal.io.formats.excel import excel_names, read_excel
from shoal.io.formats.statistics_file import read_stat, stat_names
from shoal.io.multiple_files import check_same_columns, data_files, is_many, parts_of
from shoal.io.postgres.tables import database_names, read_database
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import STATISTICAL, FileKind, sniff_kind

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_SEPARATORS: Final = (",", ";", "\t", "|", ":")
Result = TypeVar("Result")


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
    with readable(source) as kind:
        return _READERS[kind](source, columns)


def column_names(source: DataSource) -> list[str]:
    """The names of a file's columns; of most kinds no more is read than the header or footer."""
    if source.database is not None:
        return database_names(source)
    if is_many(source.path):
        return column_names(parts_of(source)[0])
    with readable(source) as kind:
        return _NAMES[kind](source)


def separator_hint(source: DataSource, names: Sequence[str]) -> str:
    """A question to add to "unknown column": whether the file's only column is many, apart by another separator."""
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
        raise DataError(
            f"the files of {source.path} differ in the types of their columns: {error}.", code="differing-types"
        ) from None


@contextmanager
def readable(source: DataSource) -> Iterator[FileKind]:
    """The kind of the file; what the operating system says about it becomes a `DataError`."""
    try:
        if source.path.is_dir():
            raise DataError(f"{source.path} is a folder, not a file. Name the file inside it.", code="folder-not-file")
        if not source.path.exists():
            raise DataError(f"There is no file {source.path}. Check the path.", code="no-such-file")
        yield sniff_kind(source.path)
    except PermissionError:
        raise DataError(
            f"{source.path} may not be read by this user. Change its permissions.", code="not-allowed"
        ) from None
    except OSError as error:
        raise DataError(f"{source.path} cannot be read: {error}.", code="not-readable") from None


def _with_parquet(source: DataSource, use: Callable[[ParquetFile], Result]) -> Result:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415  start-up is quicker without it

    try:
        with ParquetFile(source.path) as file:
            return use(file)
    except pa.ArrowException as error:
        raise DataError(
            f"{source.path} is not a Parquet file that can be read: {error}.", code="not-readable"
        ) from None


def _parquet_names(file: ParquetFile, source: DataSource) -> list[str]:
    return without_unnamed_index(check_names(file.schema_arrow.names, str(source.path)))


def _read_parquet(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    def read(file: ParquetFile) -> pa.Table:
        wanted = chosen(_parquet_names(file, source), columns, str(source.path))
        table = file.read(columns=wanted).select(wanted)
        return plain(table, str(source.path), source.missing if source.quoted_missing else ())

    return _with_parquet(source, read)


_READERS: Final[Mapping[FileKind, Callable[[DataSource, Sequence[str] | None], pa.Table]]] = {
    FileKind.TEXT: read_csv,
    FileKind.PARQUET: _read_parquet,
    FileKind.EXCEL: read_excel,
    **dict.fromkeys(STATISTICAL, read_stat),
}
_NAMES: Final[Mapping[FileKind, Callable[[DataSource], list[str]]]] = {
    FileKind.TEXT: lambda source: read_header(source).names,
    FileKind.PARQUET: lambda source: _with_parquet(source, lambda file: _parquet_names(file, source)),
    FileKind.EXCEL: excel_names,
    **dict.fromkeys(STATISTICAL, stat_names),
}
"""How each kind of file is read; one that is not listed is an error."""
