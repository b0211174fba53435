"""Parquet files. Columns keep their types, without dictionaries (they list values that no row holds) and without NaN.

Row groups of a written file follow from the rows alone, each from columns in one piece: how a table came about leaves
no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.io.columns import check_names, chosen, plain, without_unnamed_index
from shoal.io.formats.file_format import ROWS_AT_A_TIME, FileFormat, Progress
from shoal.io.pieces import pieces, repeated_rows, text_sizes
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_BYTES: Final = 1 << 25  # bytes of text that a batch has at most, unless one record has more
_BUFFER: Final = 1 << 20  # bytes of a column that are read at once, where a page is not longer
_ROW_GROUP: Final = 1 << 20  # rows of a row group at most
_BYTES_OF_A_GROUP: Final = 1 << 24  # bytes of text in a row group at most, unless one row has more
Result = TypeVar("Result")


def _with_file(source: DataSource, use: Callable[[ParquetFile], Result]) -> Result:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415  start-up is quicker without it

    try:
        with ParquetFile(source.path) as file:
            return use(file)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # what the operating system says
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"{source.path} is not a readable Parquet file: {reason}.", code="not-parquet") from None


def _names(file: ParquetFile, source: DataSource) -> list[str]:
    return without_unnamed_index(check_names(file.schema_arrow.names, str(source.path)))


def parquet_names(source: DataSource) -> list[str]:
    """The names of the columns, from the footer."""
    return _with_file(source, lambda file: _names(file, source))


def read_parquet(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    """The columns asked for."""

    def read(file: ParquetFile) -> pa.Table:
        wanted = chosen(_names(file, source), columns, str(source.path))
        table = file.read(columns=wanted).select(wanted)
        return plain(table, str(source.path), source.missing if source.quoted_missing else ())

    return _with_file(source, read)


def parquet_batches(source: DataSource, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
    """The records some rows at a time; text may come with a dictionary."""
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
                    for start, end in pieces(text_sizes(read), rows=ROWS_AT_A_TIME, nbytes=_BYTES):
                        given += end - start
                        yield read.slice(start, end - start), given / total
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{source.path} cannot be read as Parquet, from row group {group + 1} on: {reason}.", code="not-parquet"
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
    return int(max(min(ROWS_AT_A_TIME, _BYTES * group.num_rows // max(size, 1)), 1))


def _sizes(group: Any) -> dict[str, int]:
    """Bytes of each column of a row group before they were compressed."""
    chunks = (group.column(index) for index in range(group.num_columns))
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
    """The column with null instead of texts that mark a missing value."""
    marks = pc.is_in(column.dictionary, value_set=pa.array(missing, column.dictionary.type))
    if not len(marks) or not pc.any(marks).as_py():
        return column
    indices = column.indices.fill_null(0).to_numpy()
    gone = marks.to_numpy(zero_copy_only=False)[indices] | column.is_null().to_numpy(zero_copy_only=False)
    return pa.DictionaryArray.from_arrays(pa.array(np.asarray(indices), mask=gone), column.dictionary)


class ParquetWriter:
    """Writes Parquet files with no metadata of the input's and no dictionary that lists values which no row holds."""

    def write(
        self, table: pa.Table, counts: NDArray[np.int64] | None, path: Path, progress: Progress | None, /
    ) -> None:
        """Write a table of which each row stands for as many equal ones as its count."""
        from pyarrow import parquet  # noqa: PLC0415  start-up is quicker without it

        repeats = np.ones(table.num_rows, dtype=np.int64) if counts is None else counts
        with path.open("wb") as file, parquet.ParquetWriter(file, table.schema, compression="zstd") as writer:
            for share, rows in repeated_rows(repeats, _row_groups(text_sizes(table), repeats)):
                first = int(rows[0])
                some = table.slice(first, int(rows[-1]) - first + 1).take(pa.array(rows - first))
                writer.write_table(some.combine_chunks(), row_group_size=_ROW_GROUP)
                if progress is not None:
                    progress(share)

    def write_all(self, tables: Iterable[pa.Table], path: Path, schema: pa.Schema, /) -> None:
        """Write tables one after the other, with the row groups that one table of all their rows has."""
        from pyarrow import parquet  # noqa: PLC0415  start-up is quicker without it

        waiting, sizes = schema.empty_table(), np.zeros(0, dtype=np.int64)
        with path.open("wb") as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for table in tables:
                waiting = pa.concat_tables([waiting, table])
                sizes = np.append(sizes, text_sizes(table))
                *full, (last, _) = list(_row_groups(sizes)) or [(0, 0)]
                for start, end in full:  # the last may go on in the next table
                    writer.write_table(waiting.slice(start, end - start).combine_chunks(), row_group_size=_ROW_GROUP)
                waiting, sizes = waiting.slice(last), sizes[last:]
            if waiting.num_rows:
                writer.write_table(waiting.combine_chunks(), row_group_size=_ROW_GROUP)


def _row_groups(sizes: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> Iterator[tuple[int, int]]:
    """First and end of each row group."""
    return pieces(sizes, rows=_ROW_GROUP, nbytes=_BYTES_OF_A_GROUP, counts=counts)


PARQUET = FileFormat(
    kinds=(FileKind.PARQUET,),
    column_names=parquet_names,
    read=read_parquet,
    read_batches=parquet_batches,
    writer=ParquetWriter(),
    written_suffixes=(".parquet", ".pq"),
)
