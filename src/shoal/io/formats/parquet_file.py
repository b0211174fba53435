"""Parquet files. Row groups of a written file follow from the rows alone: how a table came about leaves no trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError
from shoal.io.bounded_slices import repeated_rows, slice_bounds, text_sizes
from shoal.io.columns import check_names, chosen, plain, without_unnamed_index
from shoal.io.formats.file_format import ROWS_AT_A_TIME, FileFormat
from shoal.io.formats.unpacked_size import COLUMNS, unpacked_limit, unpacks_too_large
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind
from shoal.table.encoded import Counts

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_BYTES: Final = 1 << 25  # bytes of text that a batch has at most, unless one record has more
_BYTES_OF_A_CELL: Final = 8  # in memory at least, however little a column takes on disk
_BUFFER: Final = 1 << 20  # bytes of a column that are read at once, where a page is not longer
_ROW_GROUP: Final = 1 << 20  # rows of a row group at most
_BYTES_OF_A_GROUP: Final = 1 << 24  # bytes of text in a row group at most, unless one row has more


@contextmanager
def _opened(source: DataSource, columns: Sequence[str] | None = None) -> Iterator[tuple[ParquetFile, list[str]]]:
    """The file and the names of the columns asked for, or of all."""
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415  start-up is quicker without it

    try:
        with ParquetFile(source.path) as file:
            names = without_unnamed_index(check_names(file.schema_arrow.names, str(source.path)))
            yield file, chosen(names, columns, str(source.path))
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # what the operating system says
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"{source.path} is not a readable Parquet file: {reason}.", code="not-parquet") from None


def parquet_names(source: DataSource) -> list[str]:
    """The names of the columns, from the footer."""
    with _opened(source) as (_, names):
        return names


def read_parquet(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    """The columns asked for."""
    with _opened(source, columns) as (file, wanted):
        limit = unpacked_limit(source, COLUMNS)
        if file.metadata.num_rows * max(len(wanted), 1) * _BYTES_OF_A_CELL > limit:
            raise unpacks_too_large(source, limit)
        table = file.read(columns=wanted).select(wanted)
        return plain(table, str(source.path), source.marks)


def parquet_batches(source: DataSource, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
    """The records some rows at a time; text may come with a dictionary."""
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415  start-up is quicker without it

    group = 0
    try:
        with ParquetFile(source.path) as file:
            groups = [_sizes(file.metadata.row_group(each), columns) for each in range(file.num_row_groups)]
            text = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
        # of a column that is not small the reader would hold a dictionary of all values of a row group
        coded = [name for name in text if name in columns and all(each.get(name, 0) <= _BYTES for each in groups)]
        with ParquetFile(source.path, read_dictionary=coded, buffer_size=_BUFFER) as file:
            given, total = 0, max(file.metadata.num_rows, 1)
            for group, sizes in enumerate(groups):
                fitting = _BYTES * file.metadata.row_group(group).num_rows // max(sum(sizes.values()), 1)
                rows = max(min(ROWS_AT_A_TIME, fitting), 1)
                for batch in file.iter_batches(batch_size=rows, row_groups=[group], columns=list(columns)):
                    read = _plain_batch(batch.select(list(columns)), source)
                    for start, end in slice_bounds(text_sizes(read), rows=ROWS_AT_A_TIME, nbytes=_BYTES):
                        given += end - start
                        yield read.slice(start, end - start), given / total
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        message = f"{source.path} cannot be read as Parquet, from row group {group + 1} on: {reason}."
        raise DataError(message, code="not-parquet") from None


def _sizes(group: Any, columns: Sequence[str]) -> dict[str, int]:
    """Bytes of some columns of a row group before they were compressed."""
    chunks = (group.column(index) for index in range(group.num_columns))
    return {each.path_in_schema: each.total_uncompressed_size for each in chunks if each.path_in_schema in columns}


def _plain_batch(batch: pa.RecordBatch, source: DataSource) -> pa.RecordBatch:
    """Plain columns, as in `shoal.io.columns.plain`, but text with its dictionary."""
    arrays = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
            arrays.append(_without_marks(column, source.marks))
        else:
            table = plain(pa.table({name: column}), str(source.path), source.marks)
            arrays.append(pa.concat_arrays(table.column(0).chunks) if table.num_rows else table.column(0).chunk(0))
    return pa.RecordBatch.from_arrays(arrays, batch.schema.names)


def _without_marks(column: pa.DictionaryArray, missing: Sequence[str]) -> pa.DictionaryArray:
    """The column with null instead of texts that mark a missing value."""
    marks = pc.is_in(column.dictionary, value_set=pa.array(missing, column.dictionary.type))
    if not len(marks) or not pc.any(marks).as_py():
        return column
    indices = column.indices.fill_null(0).to_numpy()
    gone = marks.to_numpy(zero_copy_only=False)[indices] | column.is_null().to_numpy(zero_copy_only=False)
    return pa.DictionaryArray.from_arrays(pa.array(np.asarray(indices), mask=gone), column.dictionary)


def write_parquet(parts: Iterable[tuple[pa.Table, Counts]], path: Path, schema: pa.Schema) -> None:
    """Write tables one after the other, each row as often as its count says, with the row groups of all their rows.

    The file has no metadata of the input's and no dictionary that lists values which no row holds.
    """
    from pyarrow import parquet  # noqa: PLC0415  start-up is quicker without it

    waiting, sizes, counts = schema.empty_table(), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    with path.open("wb") as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:

        def write(bounds: Iterable[tuple[int, int]]) -> None:
            for rows in repeated_rows(counts, bounds):
                first = int(rows[0])
                some = waiting.slice(first, int(rows[-1]) - first + 1).combine_chunks().take(pa.array(rows - first))
                writer.write_table(some, row_group_size=_ROW_GROUP)

        for table, repeats in parts:
            waiting, counts = pa.concat_tables([waiting, table]), np.append(counts, repeats)
            sizes = np.append(sizes, text_sizes(table))
            bounds = list(slice_bounds(sizes, rows=_ROW_GROUP, nbytes=_BYTES_OF_A_GROUP, counts=counts))
            write(bounds[:-1])  # the last may go on in the next table
            ends, start = np.cumsum(counts), bounds[-1][0]
            first = int(np.searchsorted(ends, start, side="right"))
            waiting, sizes, counts = waiting.slice(first), sizes[first:], counts[first:]
            counts[0] = ends[first] - start
        write([(0, int(counts.sum()))] if len(counts) else [])


PARQUET = FileFormat(
    (FileKind.PARQUET,), parquet_names, read_parquet, parquet_batches, write_parquet, (".parquet", ".pq")
)
