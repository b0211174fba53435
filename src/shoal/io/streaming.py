"""Records that are never all in memory: counted in batches, and written from counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encode.recoder import Recoder
from shoal.encode.resolve import used_columns
from shoal.encode.result import Result, as_written
from shoal.errors import DataError
from shoal.formatting import listing, number
from shoal.io.counting import DistinctRowCounter
from shoal.io.external_sort import SortedRuns
from shoal.io.memory import Budget
from shoal.io.multiple_files import Fingerprint, parts_of
from shoal.io.postgres.tables import held_still
from shoal.io.read import column_names, read_batches, readable, separator_hint
from shoal.io.source import CountedTable, Reading, check_columns
from shoal.io.write import write_sorted
from shoal.policy import Policy
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind, sniff_kind
from shoal.search.problem import Progress


@dataclass(eq=False)
class StreamSource:
    """Files, or a table of a database, that are read in batches."""

    source: DataSource
    limit: int | None = None  # bytes of memory that the run may take; None: as many as it needs
    _pinned: DataSource | None = field(default=None, init=False)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """A table of a database stays as it is now, however often it is read."""
        with held_still(self.source) as pinned:
            self._pinned = pinned
            yield

    def read(self, policy: Policy, progress: Progress) -> Reading:
        """Count the distinct rows; `InputError` where they would not fit the memory allowed."""
        source = self._pinned or self.source
        before = Fingerprint.of(source)
        reading = _count(source, policy, Budget(self.limit), before, progress)
        before.check(source)
        return reading


@dataclass(frozen=True, eq=False)
class StreamReading(Reading):
    """The counts of a stream, and how to read it again."""

    uncounted_columns: UncountedColumns | None = None

    def write_records(self, result: Result, path: Path, progress: Progress) -> None:
        """Read the data again and write the release record by record."""
        assert self.uncounted_columns is not None, "every column is counted"
        self.uncounted_columns.write(result, path, progress)


@dataclass(frozen=True, eq=False)
class UncountedColumns:
    """Insensitive columns with too many values to be counted: they are read a second time, and written by record."""

    source: DataSource
    before: Fingerprint  # the files as they were when they were counted
    records: int

    def write(self, result: Result, path: Path, progress: Progress) -> None:
        """Recode every batch, sort on disk what does not fit in memory, and write."""
        columns = [name for name in result.names if name in used_columns(result.policy)]
        recoder = Recoder.of(result, columns)
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.stem}.runs-") as folder:
            runs = SortedRuns(Path(folder))
            records = 0
            for batch in read_batches(self.source, columns, lambda share: progress("recoding", share)):
                runs.add(as_written(recoder.recode(batch), path))
                records += batch.num_rows
            self.before.check(self.source)
            if records != self.records:
                raise DataError(
                    f"{self.source.path} had {number(self.records)} records when it was counted and has "
                    f"{number(records)} now. Start again when nobody writes to the data.",
                    code="data-changed",
                )
            schema, suppressed = runs.schema, result.recoding.suppressed
            if result.policy.suppressed == "star" and suppressed:
                runs.add(recoder.stars(suppressed, schema))
            write_sorted(_with_progress(runs, progress), path, schema)


def _with_progress(runs: SortedRuns, progress: Progress) -> Iterator[pa.Table]:
    """The sorted rows."""
    done = 0
    for table in runs.tables():
        yield table
        done += table.num_rows
        progress("writing", done / max(runs.n_rows, 1))


def _count(source: DataSource, policy: Policy, budget: Budget, before: Fingerprint, progress: Progress) -> Reading:
    """The distinct rows of the data, without insensitive columns where they would not fit the budget with these."""
    names = column_names(source)
    wanted = [name for name in names if name in used_columns(policy)]
    insensitive = [name for name in wanted if name in policy.names("insensitive")]
    counter, seen, records, blank = DistinctRowCounter(wanted), [0.0], 0, 0

    def done(share: float) -> None:
        seen[0] = share
        progress("reading", share)

    for batch in read_batches(source, wanted, done):
        if not batch.num_rows:
            continue
        counter.add(batch)
        records += batch.num_rows
        blank += _blank(batch, insensitive)
        if budget.leaves_out(counter, policy):
            counter.leave_out(policy.names("insensitive"))
        budget.check(counter, policy, seen[0])
    budget.check(counter, policy, 1.0)
    rows = counter.finish()
    check_columns(policy, names, separator_hint(source, names), lambda: rows)
    stated = _stated(source)
    records = records if stated is None else stated
    uncounted = tuple(name for name in policy.names("insensitive") if name not in rows.columns)
    return StreamReading(
        rows,
        names,
        original=lambda: CountedTable(rows.to_table(), rows.counts, records, blank),
        uncounted=uncounted,
        not_done=_not_done(policy, uncounted),
        uncounted_columns=UncountedColumns(source, before, records) if uncounted else None,
    )


def _not_done(policy: Policy, uncounted: Sequence[str]) -> dict[str, str]:
    found = {}
    if policy.utility is not None:
        found["utility"] = "models are trained on records, and these were streamed: run without --memory."
    if uncounted:
        found["insensitive columns"] = (
            f"{listing(uncounted)} tell too many records apart to be counted: that each record has its own values "
            "there was not checked against the original, and nobody was linked by them."
        )
    return found


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
                    f"{part.path} has changed while it was read. Start again when nobody writes to it.",
                    code="data-changed",
                ) from None
    return stated
