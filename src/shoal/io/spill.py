"""Sorting more rows than fit in memory: sorted runs on disk, merged some rows of each at a time.

Rows come out in the order of a release (`shoal.io.order_of_cells`), so that a release which is written so has the bytes
of one that was sorted in memory. The runs lie in a folder that its owner makes and removes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.errors import OutputError
from shoal.io.order import in_order_of_cells, order_of_cells

_ROWS_OF_A_RUN = 150_000
"""Rows that are sorted at once."""
_ROWS_OF_A_HEAD = 1 << 12
"""Rows of a run that are read at once, at least."""
_ROWS_OF_ALL_HEADS = 150_000
"""Rows of all runs together that are merged at once, unless there are very many runs."""


class SortedRuns:
    """Takes tables in any order and gives all their rows back sorted."""

    def __init__(self, folder: Path, *, run: int = _ROWS_OF_A_RUN, head: int = _ROWS_OF_A_HEAD) -> None:
        self._folder = folder
        self._run, self._head = run, head
        self._waiting: list[pa.Table] = []
        self._files: list[Path] = []
        self.n_rows = 0
        self.schema = pa.schema([])
        """Of the tables taken."""

    def add(self, table: pa.Table) -> None:
        """Take some rows."""
        self.schema = table.schema
        self._waiting.append(table)
        self.n_rows += table.num_rows
        if sum(each.num_rows for each in self._waiting) >= self._run:
            self._spill()

    def _spill(self) -> None:
        """Sort what is waiting and write it as one run."""
        table = in_order_of_cells(pa.concat_tables(self._waiting).combine_chunks())
        path = self._folder / f"run{len(self._files)}.arrow"
        try:
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=self._head)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error}.") from None
        self._files.append(path)
        self._waiting = []

    def tables(self) -> Iterator[pa.Table]:
        """All rows in order, some at a time."""
        if self._waiting:
            self._spill()
        runs = [_Run(path) for path in self._files]
        while runs := [run for run in runs if run.fill(_ROWS_OF_ALL_HEADS // len(runs))]:
            joined = pa.concat_tables([run.rows for run in runs]).combine_chunks()
            of_run = np.repeat(np.arange(len(runs)), [run.rows.num_rows for run in runs])
            order = order_of_cells(joined)
            rank = np.empty(len(order), dtype=np.int64)
            rank[order] = np.arange(len(order))
            ends = np.cumsum([run.rows.num_rows for run in runs]) - 1
            # what comes after the last row at hand of a run that goes on may have to wait for that run
            going = [rank[end] for run, end in zip(runs, ends, strict=True) if run.goes_on]
            sure = order[: min(going) + 1] if going else order
            for run, taken in zip(runs, np.bincount(of_run[sure], minlength=len(runs)).tolist(), strict=True):
                run.rows = run.rows.slice(taken)
            yield joined.take(pa.array(sure))


class _Run:
    """One sorted run, read some rows at a time."""

    def __init__(self, path: Path) -> None:
        self._file = pa.ipc.open_file(pa.OSFile(str(path)))
        self._next = 0
        self.rows: pa.Table = self._file.schema.empty_table()

    @property
    def goes_on(self) -> bool:
        """Whether there is more than what is at hand."""
        return bool(self._next < self._file.num_record_batches)

    def fill(self, rows: int) -> bool:
        """Have so many rows at hand, or all that are left; False at the end."""
        parts, count = [self.rows], self.rows.num_rows
        while count < max(rows, 1) and self.goes_on:
            parts.append(pa.Table.from_batches([self._file.get_batch(self._next)]))
            count += parts[-1].num_rows
            self._next += 1
        self.rows = pa.concat_tables(parts)
        return bool(count)
