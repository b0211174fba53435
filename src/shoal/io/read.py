"""Read a table from a file, by the file's suffix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import pyarrow as pa

from shoal.errors import DataError
from shoal.io.columns import check_names, chosen, plain, without_unnamed_index
from shoal.io.csvfile import read_csv, read_header
from shoal.io.source import DataSource
from shoal.io.textstream import COMPRESSIONS

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

TEXT_SUFFIXES: Final = (".csv", ".tsv", ".txt")
PARQUET_SUFFIXES: Final = (".parquet", ".pq")
_SEPARATORS: Final = (",", ";", "\t", "|", ":")
Result = TypeVar("Result")


def read_table(source: DataSource, columns: Sequence[str] | None = None) -> pa.Table:
    """The table in a file, or those of its columns that are asked for, in the order asked for.

    Cells of a text file stay text. Parquet columns keep their types, without dictionaries and NaN. A file that has a
    header and no record gives a table of no rows.
    """
    with _readable(source):
        if _is_parquet(source.path):
            return _read_parquet(source, columns)
        return read_csv(source, columns)


def column_names(source: DataSource) -> list[str]:
    """The names of a file's columns, reading no more than its header or footer."""
    with _readable(source):
        if _is_parquet(source.path):
            return _with_parquet(source, lambda file: _parquet_names(file, source))
        return read_header(source).names


def separator_hint(source: DataSource, names: Sequence[str]) -> str:
    """A question to add to "unknown column": whether the file's only column is many, apart by another separator."""
    if len(names) != 1 or _is_parquet(source.path):
        return ""
    others = [each for each in _SEPARATORS if each != source.separator and each in names[0]]
    if not others:
        return ""
    likely = max(others, key=names[0].count)
    shown = names[0] if len(names[0]) <= 60 else names[0][:60] + "…"
    return f"the file's only column is {shown!r}: is the separator {likely!r}?"


def _is_parquet(path: Path) -> bool:
    """Whether the suffix says Parquet; a `DataError` when it says nothing that is known."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in PARQUET_SUFFIXES:
        return True
    kind = suffixes[0] if suffixes and suffixes[-1] in COMPRESSIONS else path.suffix.lower()
    if kind in TEXT_SUFFIXES:
        return False
    raise DataError(
        f"{path} has the suffix {path.suffix!r}, which is not known. Known: {', '.join(TEXT_SUFFIXES)} "
        f"(also followed by {', '.join(COMPRESSIONS)}), {', '.join(PARQUET_SUFFIXES)}."
    )


@contextmanager
def _readable(source: DataSource) -> Iterator[None]:
    """Turn what the operating system says about the file into a `DataError`."""
    try:
        if source.path.is_dir():
            raise DataError(f"{source.path} is a folder, not a file. Name the file inside it.")
        if not source.path.exists():
            raise DataError(f"There is no file {source.path}. Check the path.")
        yield
    except PermissionError:
        raise DataError(f"{source.path} may not be read by this user. Change its permissions.") from None
    except OSError as error:
        raise DataError(f"{source.path} cannot be read: {error}.") from None


def _with_parquet(source: DataSource, use: Callable[[ParquetFile], Result]) -> Result:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415  start-up is quicker without it

    try:
        with ParquetFile(source.path) as file:
            return use(file)
    except pa.ArrowException as error:
        raise DataError(f"{source.path} is not a Parquet file that can be read: {error}.") from None


def _parquet_names(file: ParquetFile, source: DataSource) -> list[str]:
    return without_unnamed_index(check_names(file.schema_arrow.names, str(source.path)))


def _read_parquet(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    def read(file: ParquetFile) -> pa.Table:
        wanted = chosen(_parquet_names(file, source), columns, str(source.path))
        table = file.read(columns=wanted).select(wanted)
        return plain(table, str(source.path), source.missing if source.quoted_missing else ())

    return _with_parquet(source, read)
