"""What a file format declares: how its column names, its table and batches of its records are read, and how written."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind
from shoal.table.encoded import Counts

Done = Callable[[float], None]  # called with the share that has been read or written, from 0 to 1
ROWS_AT_A_TIME = 1 << 17  # rows of a batch at most
Writer = Callable[[Iterable[tuple[pa.Table, Counts]], Path, pa.Schema], None]
"""Writes tables one after the other, each row as often as its count says, and nothing else: the bytes are those of one
table with all their rows."""


@dataclass(frozen=True)
class FileFormat:
    """One file format."""

    kinds: tuple[FileKind, ...]
    column_names: Callable[[DataSource], list[str]]  # reads no more than the names of the columns
    read: Callable[[DataSource, Sequence[str] | None], pa.Table]  # reads the columns asked for, or all
    read_batches: Callable[[DataSource, Sequence[str]], Iterator[tuple[pa.RecordBatch, float]]] | None = None
    """Reads batches of records, each with the share of the file read so far; None where a file is read as a whole."""
    write: Writer | None = None
    written_suffixes: tuple[str, ...] = ()

    def batches(self, source: DataSource, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
        """The records in batches, each with the share of the file read so far."""
        if self.read_batches is not None:
            return self.read_batches(source, columns)
        whole = self.read(source, columns)
        return ((batch, 1.0) for batch in whole.to_batches(max_chunksize=ROWS_AT_A_TIME))
