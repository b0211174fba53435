"""Sorting more rows than fit in memory, in the order of a release: sorted runs on disk, merged bit by bit."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.io.bounded_slices import slices
from shoal.io.columns import common_type
from shoal.io.staging import writing
from shoal.table.canonical_text import in_order_of_cells, order_of_cells

_ROWS_OF_A_RUN = 150_000  # rows that are sorted at once
_BYTES_OF_A_RUN = 1 << 24  # bytes that are sorted at once, unless one row has more
_ROWS_OF_A_HEAD = 1 << 12  # rows of a run that are read at once, at least
_BYTES_OF_A_HEAD = 1 << 17  # bytes of text of a run that are read at once, at least
_ROWS_OF_ALL_HEADS = 150_000  # rows of all runs together that are merged at once
_BYTES_OF_ALL_HEADS = 1 << 24  # bytes of all runs together that are merged at once
_RUNS_AT_ONCE = 128  # runs that are merged at once: each is an open file, and has a head in memory


class SortedRuns:
    """Takes tables in any order and gives all their rows back sorted."""

    def __init__(self, folder: Path, *, run: int = _ROWS_OF_A_RUN, head: int = _ROWS_OF_A_HEAD) -> None:
        self._folder = folder
        self._run, self._head = run, head
        self._waiting: list[pa.Table] = []
        self._files: list[Path] = []
        self._written = 0
        self.n_rows = 0
        self.schema = pa.schema([])  # a column that has no value in some tables has the type of the others

    def add(self, table: pa.Table) -> None:
        """Take some rows; `DataError` where a column has another type than before."""
        if not self.n_rows:
            self.schema = table.schema
        elif table.num_rows:
            now = table.schema
            types = [(each.name, common_type(each.name, each.type, now.field(each.name).type)) for each in self.schema]
            self.schema = pa.schema(types)
        self.n_rows += table.num_rows
        for piece in slices(table, rows=self._run, nbytes=_BYTES_OF_A_RUN):
            self._waiting.append(piece)
            rows = sum(each.num_rows for each in self._waiting)
            if rows >= self._run or sum(each.nbytes for each in self._waiting) >= _BYTES_OF_A_RUN:
                self._spill()

    def _spill(self) -> None:
        joined = pa.concat_tables([each.cast(self.schema) for each in self._waiting])
        self._waiting = []
        self._files.append(self._write([in_order_of_cells(joined.combine_chunks())]))

    def _write(self, tables: Iterable[pa.Table]) -> Path:
        """A run of sorted tables, in a file that only its owner may read."""
        path = self._folder / f"run{self._written}.arrow"
        self._written += 1
        with writing(path):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, self.schema) as writer:
                for table in tables:
                    for head in slices(table, rows=self._head, nbytes=_BYTES_OF_A_HEAD):
                        writer.write_table(head.combine_chunks())
        return path

    def tables(self, done: Callable[[float], None] = lambda _: None) -> Iterator[pa.Table]:
        """All rows in order, some at a time; ``done`` is called with the share of them that was used."""
        if self._waiting:
            self._spill()
        while len(self._files) > _RUNS_AT_ONCE:
            some, self._files = self._files[:_RUNS_AT_ONCE], self._files[_RUNS_AT_ONCE:]
            self._files.append(self._write(_merged(some, self.schema)))
            for path in some:
                path.unlink()
        used = 0
        for table in _merged(self._files, self.schema):
            yield table
            used += table.num_rows
            done(used / max(self.n_rows, 1))


def _merged(files: Sequence[Path], schema: pa.Schema) -> Iterator[pa.Table]:
    runs = [_Run(path, schema) for path in files]
    while runs := [run for run in runs if run.fill(_ROWS_OF_ALL_HEADS // len(runs), _BYTES_OF_ALL_HEADS // len(runs))]:
        joined = pa.concat_tables([run.rows for run in runs]).combine_chunks()
        of_run = np.repeat(np.arange(len(runs)), [run.rows.num_rows for run in runs])
        order = order_of_cells(joined)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        ends = np.cumsum([run.rows.num_rows for run in runs]) - 1
        # what comes after the last row at hand of a run that goes on may have to wait for that run
        going = [rank[end] for run, end in zip(runs, ends, strict=True) if run.left]
        sure = order[: min(going) + 1] if going else order
        for run, taken in zip(runs, np.bincount(of_run[sure], minlength=len(runs)).tolist(), strict=True):
            run.rows = run.rows.slice(taken)
        yield joined.take(pa.array(sure))


class _Run:
    """One sorted run, read some rows at a time."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._file = pa.ipc.open_file(pa.OSFile(str(path)))
        self.left: int = self._file.num_record_batches  # what is not at hand yet
        self.rows: pa.Table = schema.empty_table()

    def fill(self, rows: int, nbytes: int) -> bool:
        """Have that many rows or bytes at hand, or all that are left; False at the end."""
        schema = self.rows.schema
        parts, count, held = [self.rows], self.rows.num_rows, self.rows.nbytes
        while (not count or (count < rows and held < nbytes)) and self.left:
            part = pa.Table.from_batches([self._file.get_batch(self._file.num_record_batches - self.left)]).cast(schema)
            parts.append(part)
            count, held = count + part.num_rows, held + part.nbytes
            self.left -= 1
        self.rows = pa.concat_tables(parts)
        return bool(count)
