"""Read a table: whole, or in batches of records so that memory does not follow its length."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from shoal.errors import DataError
from shoal.formatting import listing
from shoal.io.formats import FORMATS
from shoal.io.formats.file_format import Done, FileFormat
from shoal.io.multiple_files import Fingerprint, data_files, is_many, parts_of
from shoal.io.postgres.tables import database_batches, database_columns
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind, sniff_kind

_SEPARATORS: Final = (",", ";", "\t", "|", ":")
_NEARLY: Final = 0.999  # the share that is reported before the last batch has been used: text is read ahead of it


def read_table(source: DataSource, columns: Sequence[str] | None = None) -> pa.Table:
    """The table in a file, or those of its columns that are asked for, in the order asked for."""
    if source.database is not None:
        return pa.Table.from_batches(list(database_batches(source, columns)))
    if not is_many(source.path):
        with readable(source) as form:
            return form.read(source, columns)
    wanted = column_names(source) if columns is None else columns
    tables = [read_table(part, wanted) for part in _alike_parts(source)]
    try:
        return pa.concat_tables(tables)
    except pa.ArrowInvalid as error:
        message = f"The files of {source.path} differ in the types of their columns: {error}."
        raise DataError(message, code="types-differ") from None


def _alike_parts(source: DataSource) -> Iterator[DataSource]:
    """The source of each file; `DataError` at one that has other columns than the first."""
    parts = parts_of(source)
    names = set(column_names(parts[0]))
    for part in parts:
        others = set(column_names(part))
        found = [(verb, which) for verb, which in (("lacks", names - others), ("adds", others - names)) if which]
        if found:
            how = " and ".join(f"{verb} {listing([repr(name) for name in sorted(which)])}" for verb, which in found)
            first = parts[0].path
            message = f"{part.path} {how} compared with {first}: all files of a table need the same columns."
            raise DataError(message, code="columns-differ")
        yield part


def column_names(source: DataSource) -> list[str]:
    """The names of a file's columns; of most kinds no more is read than the header or footer."""
    if source.database is not None:
        return [column.name for column in database_columns(source)]
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


@contextmanager
def readable(source: DataSource) -> Iterator[FileFormat]:
    """The format of the file; what the operating system says about it becomes a `DataError`."""
    try:
        if source.path.is_dir():
            raise DataError(f"{source.path} is a folder, not a file. Name the file inside it.", code="is-a-folder")
        if not source.path.exists():
            raise DataError(f"There is no file {source.path}. Check the path.", code="no-such-file")
        yield FORMATS[sniff_kind(source.path)]
    except PermissionError:
        message = f"This user may not read {source.path}. Change its permissions."
        raise DataError(message, code="no-permission") from None
    except OSError as error:
        raise DataError(f"{source.path} cannot be read: {error}.", code="not-readable") from None


def read_batches(source: DataSource, columns: Sequence[str], done: Done | None = None) -> Iterator[pa.RecordBatch]:
    """The columns asked for, a batch at a time; `DataError` where a file is wrong or changes meanwhile."""
    if source.database is not None:
        yield from database_batches(source, columns)
        return
    before = Fingerprint.of(source)
    total, behind = max(sum(each.size for each in before.files), 1), 0
    for part, seen in zip(_alike_parts(source), before.files, strict=True):
        with readable(part) as form:
            for batch, share in form.batches(part, columns):
                yield batch
                if done is not None:
                    done(min((behind + share * seen.size) / total, _NEARLY))
        behind += seen.size
    before.check(source)
    if done is not None:
        done(1.0)
