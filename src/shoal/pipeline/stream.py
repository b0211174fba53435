"""A release from records that are never all in memory: counted in batches, searched as cells, written from counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attacks.battery import AttackReport, attack_tables
from shoal.encode.released_table import as_written, released_counts
from shoal.encode.resolve import data_problems, unknown_columns, used_columns
from shoal.errors import DataError, PolicyError
from shoal.io import (
    CellCounter,
    Cells,
    FileKind,
    SortedRuns,
    column_names,
    count_cells,
    read_batches,
    separator_hint,
    sniff_kind,
    write_counted,
    write_sorted,
)
from shoal.io.multiple_files import Fingerprint, parts_of
from shoal.io.read import readable
from shoal.pipeline.memory import Budget, streams
from shoal.pipeline.recoder import Recoder
from shoal.pipeline.run import Clock, data_source, read_columns
from shoal.pipeline.search import Searched, search_cells
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.policy.data_source import DataSource
from shoal.search.problem import Progress
from shoal.verification import CountedTable, Verification


@dataclass(frozen=True, eq=False)
class Read:
    """What reading the data gave. A release is verified against this: nothing of the search has a part in it."""

    cells: Cells
    names: list[str]
    """All columns of the data."""
    records: int
    """How many records there are, told by something else than the counts of the cells: see `_stated`."""
    blank: int
    """Records without a value in any insensitive column."""


@dataclass(frozen=True, eq=False)
class Streamed:
    """A release as counts, which nobody has checked yet."""

    read: Read
    searched: Searched
    table: pa.Table
    """The distinct rows of the release, in its order; without the columns that are kept apart."""
    counts: NDArray[np.int64]
    """How often each stands there."""
    apart: Apart | None = None
    """Where insensitive columns are not among the cells: what is read a second time for them."""

    def write(self, path: Path, progress: Progress) -> None:
        """Write the release: the bytes are those of the table with all its rows."""
        if self.apart is not None:
            self.apart.write(self.read, self.searched, path, progress)
            return
        write_counted(as_written(self.table, path), self.counts, path, lambda share: progress("writing", share))

    def verified(self, path: Path) -> Verification:
        """The independent check of the written file against the cells of the original, as they were counted."""
        cells = self.read.cells
        names = () if self.apart is None else self.apart.names
        original = CountedTable(cells.to_dictionaries(), cells.weights, self.read.records, self.read.blank)
        return verify(path, self.searched.policy, original=original, apart=names)

    def attacked(self, progress: Progress) -> AttackReport:
        """What attackers get out of it, from counts."""
        found = self.searched
        return attack_tables(
            found.policy,
            self.table,
            found.cells,
            resolved=found.resolved,
            recoding=found.recoding,
            seed=abs(found.policy.algorithm.seed),
            progress=progress,
        )

    def not_done(self) -> dict[str, str]:
        """What the evidence has to do without, and why."""
        lacking = {}
        if self.searched.policy.utility is not None:
            lacking["utility"] = "models are trained on records, and these were streamed: run without --memory."
        if self.apart is not None:
            lacking["insensitive columns"] = (
                f"{', '.join(self.apart.names)} tell too many records apart to be counted: that each record has its "
                "own there was not checked against the original, and nobody was linked by them."
            )
        return lacking


@dataclass(frozen=True, eq=False)
class Apart:
    """Insensitive columns with too many values to be counted: they are read a second time, and written by record."""

    source: DataSource
    names: tuple[str, ...]
    before: Fingerprint
    """The files as they were when they were counted."""

    def write(self, read: Read, found: Searched, path: Path, progress: Progress) -> None:
        """Recode every batch, sort on disk what does not fit in memory, and write."""
        columns = [name for name in found.names if name in used_columns(found.policy)]
        recoder = Recoder.of(found, columns)
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.stem}.runs-") as folder:
            runs = SortedRuns(Path(folder))
            records = 0
            for batch in read_batches(self.source, columns, lambda share: progress("recoding", share)):
                runs.add(as_written(recoder.recode(batch), path))
                records += batch.num_rows
            self.before.check(self.source)
            if records != read.records:
                raise DataError(
                    f"{self.source.path} had {read.records:,} records when it was counted and has {records:,} "
                    "now. Start again when nobody writes to the data."
                )
            schema = runs.schema
            if found.policy.suppressed == "star" and found.recoding.suppressed:
                runs.add(recoder.stars(found.recoding.suppressed, schema))
            write_sorted(_told(runs, progress), path, schema)


def _told(runs: SortedRuns, progress: Progress) -> Iterator[pa.Table]:
    """The sorted rows, with progress."""
    done = 0
    for table in runs.tables():
        yield table
        done += table.num_rows
        progress("writing", done / max(runs.n_rows, 1))


def count_source(source: DataSource, policy: Policy, budget: Budget, progress: Progress) -> Read:
    """The cells of the data; refused where they would not fit the budget.

    Where they would not fit, insensitive columns are left out of the cells first: see `Apart`.
    """
    names = column_names(source)
    wanted = [name for name in names if name in used_columns(policy)]
    insensitive = [name for name in wanted if name in policy.names("insensitive")]
    counter, seen, records, blank = CellCounter(wanted), [0.0], 0, 0

    def done(share: float) -> None:
        seen[0] = share
        progress("reading", share)

    for batch in _watched(read_batches(source, wanted, done)):
        counter.add(batch)
        records += batch.num_rows
        blank += _blank(batch, insensitive)
        if budget.sets_apart(counter, policy):
            counter.leave_out(policy.names("insensitive"))
        budget.check(counter, policy, seen[0])
    budget.check(counter, policy, 1.0)
    cells = counter.finish()
    lacking = unknown_columns(policy.columns, names, separator_hint(source, names))
    if lacking:
        others = data_problems(policy.columns, policy.placed_models(), cells, policy.path(".")) if cells.n_cells else []
        raise PolicyError([*lacking, *others], policy.source)
    stated = _stated(source)
    return Read(cells, names, records if stated is None else stated, blank)


def _blank(batch: pa.RecordBatch, names: Sequence[str]) -> int:
    """The records of a batch without a value in any of some columns."""
    missing = np.ones(batch.num_rows, dtype=np.bool_)
    for name in names:
        missing &= np.asarray(pc.is_null(batch.column(name), nan_is_null=True), dtype=np.bool_)
    return int(missing.sum())


def _stated(source: DataSource) -> int | None:
    """How many records Parquet files say they have; None where a file is of another kind, or there is none."""
    if source.database is not None or any(sniff_kind(part.path) is not FileKind.PARQUET for part in parts_of(source)):
        return None
    from pyarrow.parquet import read_metadata  # noqa: PLC0415  start-up is quicker without it

    stated = 0
    for part in parts_of(source):
        with readable(part):
            try:
                stated += read_metadata(part.path).num_rows
            except pa.ArrowException:  # its batches could be read
                raise DataError(
                    f"{part.path} has changed while it was read. Start again when it is left alone."
                ) from None
    return stated


def _watched(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches without the empty ones."""
    return (batch for batch in batches if batch.num_rows)


def columns_or_cells(data: Any, policy: Policy, wanted: Sequence[str]) -> tuple[pa.Table | Cells, list[str], str]:
    """Some columns of the data as a table or, of data that is streamed, as cells; all its names, and a hint at them.

    The hint is what to add where columns are lacking: a guess at the separator.
    """
    if data is None or isinstance(data, (str, Path)):
        source = data_source(policy, data)
        if streams(policy, source, None):
            names = column_names(source)
            some = [name for name in names if name in wanted]
            hint = separator_hint(source, names) if any(name not in names for name in policy.columns) else ""
            return count_cells(read_batches(source, some), some), names, hint
    loaded, hint = read_columns(data, policy, wanted)
    return loaded.table, loaded.names, hint


def make_streamed(
    source: DataSource, policy: Policy, *, limit: int | None, clock: Clock, progress: Progress
) -> Streamed:
    """Count, search and recode."""
    progress("reading", 0.0)
    before = Fingerprint.of(source)
    with clock.stage("read"):
        read = count_source(source, policy, Budget(limit), progress)
        before.check(source)
    searched = search_cells(policy, read.cells, names=read.names, clock=clock, progress=progress)
    with clock.stage("recode"):
        table, counts = released_counts(policy, searched.cells, searched.resolved, searched.recoding)
    left = tuple(name for name in policy.names("insensitive") if name not in read.cells.columns)
    return Streamed(read, searched, table, counts, Apart(source, left, before) if left else None)
