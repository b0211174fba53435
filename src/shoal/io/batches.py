"""Read a table in batches of records, so that memory does not follow its length.

The batches hold what `shoal.io.read_table` would give, some rows at a time; text may come with a dictionary, which the
cell counter takes as it is. Text files are parsed in blocks. Kinds of files that can only be read whole come as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError
from shoal.io.columns import chosen, plain
from shoal.io.formats.csv_file import BLOCKS, END, explained, never_closed, open_batches, read_header, records_seen
from shoal.io.multiple_files import Fingerprint, check_same_columns, parts_of
from shoal.io.pieces import pieces, text_sizes
from shoal.io.postgres.tables import database_batches
from shoal.io.read import column_names, read_table, readable
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind, sniff_kind

Done = Callable[[float], None]
"""Called with the share of the bytes that has been read, from 0 to 1."""
_ROWS: Final = 1 << 17
_BLOCK: Final = 1 << 22
"""Bytes of text that are parsed at once, at first."""
_BYTES: Final = 1 << 25
"""Bytes of text that a batch of a Parquet file has at most, unless one record has more."""
_BUFFER: Final = 1 << 20
"""Bytes of a column that are read from a Parquet file at once, where a page is not longer."""
_NEARLY: Final = 0.999
"""The share that is reported before the last batch has been used: text is read ahead of it."""
_DICTIONARY: Final = pa.dictionary(pa.int32(), pa.string())


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
        for batch, share in _of_file(part, columns):
            yield batch
            if done is not None:
                done(min((behind + share * seen.size) / total, _NEARLY))
        behind += seen.size
    before.check(source)
    if done is not None:
        done(1.0)


def _of_file(source: DataSource, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
    """The batches of one file, each with the share of it that has been read."""
    with readable(source):
        kind = sniff_kind(source.path)
        if kind is FileKind.TEXT:
            yield from _of_text(source, columns)
        elif kind is FileKind.PARQUET:
            yield from _of_parquet(source, columns)
        else:
            whole = read_table(source, columns)
            yield from ((batch, 1.0) for batch in whole.to_batches(max_chunksize=_ROWS))


def _of_text(source: DataSource, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Blocks of a text file; where a record is longer than a block, on with larger blocks from there."""
    header = read_header(source)
    wanted = chosen(header.names, columns, str(source.path))
    given = 0
    for block in (_BLOCK, *(each for each in BLOCKS if each > _BLOCK)):
        skipped = 0
        try:
            for batch, share in _blocks(source, wanted or header.names[:1], block):
                left = max(given - skipped, 0)  # what was given before a record was found too long
                skipped += batch.num_rows
                if batch.num_rows > left:
                    given += batch.num_rows - left
                    yield batch.select(wanted).slice(left), share
        except pa.ArrowInvalid as error:
            if "straddling" in str(error):
                continue
            raise explained(source, header, block, error) from None
        return
    raise DataError(
        f"{source.path} has a record of more than 2 GiB. Is a quote {source.quote} never closed?",
        code="record-too-long",
    )


def _blocks(source: DataSource, wanted: Sequence[str], block: int) -> Iterator[tuple[pa.RecordBatch, float]]:
    """The blocks without the record appended at the end; where that is swallowed, a quote was never closed."""
    header = read_header(source)
    kind = _DICTIONARY if source.separator.isascii() else pa.string()
    last: pa.RecordBatch | None = None
    with open_batches(source, header, wanted, block, kind) as (batches, share):
        for batch in batches:
            if not batch.num_rows:  # a block may hold no more than a part of a record
                continue
            if last is not None:
                yield last, share()
            last = batch
    end = last.num_rows - 1 if last is not None else -1
    if last is None or any(column[end].as_py() != END for column in last.columns):
        raise never_closed(source, records_seen(source, header, block))
    if end:
        yield last.slice(0, end), 1.0


def _of_parquet(source: DataSource, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415  start-up is quicker without it

    missing = source.missing if source.quoted_missing else ()
    group = 0
    try:
        with ParquetFile(source.path) as file:
            text = _with_dictionary(file, columns)
        with ParquetFile(source.path, read_dictionary=text, buffer_size=_BUFFER) as file:
            given, total = 0, max(file.metadata.num_rows, 1)
            for group in range(file.num_row_groups):
                rows = _rows_at_once(file.metadata.row_group(group), columns)
                for batch in file.iter_batches(batch_size=rows, row_groups=[group], columns=list(columns)):
                    read = _plain_batch(batch.select(list(columns)), source, missing)
                    for start, end in pieces(text_sizes(read), rows=_ROWS, nbytes=_BYTES):
                        given += end - start
                        yield read.slice(start, end - start), given / total
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{source.path} cannot be read as Parquet, from row group {group + 1} on: {str(error).splitlines()[0]}.",
            code="not-readable",
        ) from None


def _with_dictionary(file: Any, columns: Sequence[str]) -> list[str]:
    """The columns of text that are read with a dictionary: those that are small in every row group.

    Of others the reader would hold all values of a row group, which is more than the batches that it gives.
    """
    groups = [_sizes(file.metadata.row_group(group)) for group in range(file.num_row_groups)]
    text = [field.name for field in file.schema_arrow if pa.types.is_string(field.type) and field.name in columns]
    return [name for name in text if all(sizes.get(name, 0) <= _BYTES for sizes in groups)]


def _rows_at_once(group: Any, columns: Sequence[str]) -> int:
    """Rows of a row group that take no more than a batch may, by what its footer says of the columns."""
    size = sum(size for name, size in _sizes(group).items() if name in columns)
    return int(max(min(_ROWS, _BYTES * group.num_rows // max(size, 1)), 1))


def _sizes(group: Any) -> dict[str, int]:
    """Bytes of each column of a row group before they were compressed."""
    chunks = (group.column(place) for place in range(group.num_columns))
    return {chunk.path_in_schema: chunk.total_uncompressed_size for chunk in chunks}


def _plain_batch(batch: pa.RecordBatch, source: DataSource, missing: Sequence[str]) -> pa.RecordBatch:
    """Plain columns, as in `shoal.io.columns.plain`, but text with its dictionary."""
    arrays = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
            arrays.append(_without_marks(column, missing))
        else:
            table = plain(pa.table({name: column}), str(source.path), missing)
            arrays.append(pa.concat_arrays(table.column(0).chunks) if table.num_rows else table.column(0).chunk(0))
    return pa.RecordBatch.from_arrays(arrays, batch.schema.names)


def _without_marks(column: pa.DictionaryArray, missing: Sequence[str]) -> pa.DictionaryArray:
    """Texts that stand for a missing value become null."""
    marks = pc.is_in(column.dictionary, value_set=pa.array(missing, column.dictionary.type))
    if not len(marks) or not pc.any(marks).as_py():
        return column
    indices = column.indices.fill_null(0).to_numpy()
    gone = marks.to_numpy(zero_copy_only=False)[indices] | column.is_null().to_numpy(zero_copy_only=False)
    return pa.DictionaryArray.from_arrays(pa.array(np.asarray(indices), mask=gone), column.dictionary)
