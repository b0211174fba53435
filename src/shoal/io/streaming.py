"""Records that are never all in memory: counted in batches, and written from counts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc

from shoal.encode.recoder import Recoder
from shoal.encode.relative_dates import rows_as_read
from shoal.encode.resolve import used_columns
from shoal.encode.result import Result, as_written
from shoal.encode.spellings import merged_spellings
from shoal.encode.survey import SurveyCheck, survey_columns
from shoal.errors import DataError, InputError
from shoal.formatting import listing, number
from shoal.io.counting import DistinctRowCounter
from shoal.io.external_sort import SortedRuns
from shoal.io.memory import Budget
from shoal.io.multiple_files import Fingerprint, parts_of
from shoal.io.postgres.tables import snapshot_of
from shoal.io.read import column_names, read_batches, readable, separator_hint
from shoal.io.source import CountedTable, Reading, check_columns
from shoal.io.survey import StreamSurvey
from shoal.io.write import write_tables
from shoal.policy import Policy
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind, sniff_kind
from shoal.search.problem import Progress
from shoal.table.distinct_rows import DistinctRows

LOOKED_AT = 1_000_000  # records of which identifiers that repeat are looked for


@dataclass(eq=False)
class StreamSource:
    """Files, or a table of a database, that are read in batches."""

    source: DataSource
    limit: int | None = None  # bytes of memory that the run may take; None: as many as it needs
    _pinned: DataSource | None = field(default=None, init=False)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """A table of a database stays as it is now, however often it is read."""
        with snapshot_of(self.source) as pinned:
            self._pinned = pinned
            yield

    def read(self, policy: Policy, progress: Progress) -> Reading:
        """Count the distinct rows; `InputError` where they would not fit the memory allowed.

        Insensitive columns are no longer counted as soon as the rows would not fit with them.
        """
        source, budget = self._pinned or self.source, Budget(self.limit)
        before, names = Fingerprint.of(source), column_names(source)
        wanted = [name for name in names if name in used_columns(policy)]
        survey = {key: name for key, name in survey_columns(policy).items() if name in names}
        if survey and policy.relative_columns:  # batches that are read again have dates, and the rows have days
            message = f"{listing(list(survey))} cannot be measured in a stream whose dates are relative to others."
            raise InputError(f"{message} Leave it out, or let the table be held in memory.", code="survey-of-days")
        found = SurveyCheck(survey)
        insensitive = [name for name in wanted if name in policy.names("insensitive")]
        counter, seen, records, blank = DistinctRowCounter(wanted, policy.person_columns), 0.0, 0, 0

        def done(share: float) -> None:
            nonlocal seen
            seen = share
            progress("reading", share)

        for batch in read_batches(source, list(dict.fromkeys([*wanted, *survey.values()])), done):
            if not batch.num_rows:
                continue
            counter.add(batch)
            found.add(batch)
            records += batch.num_rows
            missing = [pc.is_null(batch.column(name), nan_is_null=True) for name in insensitive]
            blank += pc.sum(reduce(pc.and_, missing)).as_py() if missing else batch.num_rows
            if budget.leaves_out(counter, policy):
                counter.leave_out(policy.names("insensitive"))
            budget.check(counter, policy, seen)
        budget.check(counter, policy, 1.0)
        demands, rows = budget.demands(counter, policy), counter.finish()
        check_columns(policy, names, separator_hint(source, names), lambda: rows)
        stated = _stated_records(source)
        records = records if stated is None else stated
        before.check(source)
        uncounted = tuple(name for name in policy.names("insensitive") if name not in rows.columns)
        lacking = {"utility-streamed": policy.utility is not None, "insensitive-streamed": bool(uncounted)}
        counted = rows_as_read(rows, policy)
        return StreamReading(
            counted,
            names,
            lambda: CountedTable(rows.to_table(), rows.counts, records, blank),
            uncounted=uncounted,
            demands=demands,
            merged_spellings=merged_spellings(rows, policy.columns),
            not_done=tuple(code for code, is_so in lacking.items() if is_so),
            survey=StreamSurvey(survey, found, counted, source, before, policy.source) if survey else None,
            source=source,
            before=before,
            records=records,
        )

    def identifiers(self, policy: Policy, columns: Sequence[str]) -> DistinctRows | None:  # noqa: ARG002 - not needed
        """These columns of the first records: enough to see that values repeat, and never all in memory."""
        source, records = self._pinned or self.source, 0
        wanted = [name for name in column_names(source) if name in columns]
        counter = DistinctRowCounter(wanted)
        for batch in read_batches(source, wanted):
            counter.add(batch)
            records += batch.num_rows
            if records >= LOOKED_AT:
                break
        return counter.finish()


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamReading(Reading):
    """The counts of a stream; where columns have too many values to be counted, it is read a second time."""

    source: DataSource
    before: Fingerprint  # the files as they were when they were counted
    records: int

    def write_records(self, result: Result, path: Path, progress: Progress) -> None:
        """Read the data again, recode every batch, sort on disk what does not fit in memory, and write."""
        columns = [name for name in result.names if name in used_columns(result.policy)]
        recoder = Recoder.of(result, columns)
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.stem}.runs-") as folder:
            runs, records = SortedRuns(Path(folder)), 0
            for batch in read_batches(self.source, columns, lambda share: progress("recoding", share)):
                runs.add(as_written(recoder.recode(batch), path))
                records += batch.num_rows
            self.before.check(self.source)
            if records != self.records:
                message = f"{self.source.path} had {number(self.records)} records when it was counted and has"
                fix = "Start again when nobody writes to the data."
                raise DataError(f"{message} {number(records)} now. {fix}", code="data-changed")
            schema, suppressed = runs.schema, result.recoding.suppressed
            if result.policy.suppressed == "star" and suppressed:
                runs.add(recoder.stars(suppressed, schema))
            write_tables(runs.tables(lambda share: progress("writing", share)), path, schema)


def _stated_records(source: DataSource) -> int | None:
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
                message = f"{part.path} has changed while it was read. Start again when nobody writes to it."
                raise DataError(message, code="data-changed") from None
    return stated
