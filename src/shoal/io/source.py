"""Sources: where a table comes from. Each hands out distinct rows with counts, and the original for the verifier."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.relative_dates import rows_as_read
from shoal.encode.resolve import Resolved, data_problems, unknown_columns, used_columns
from shoal.encode.result import Result
from shoal.encode.spellings import MergedSpellings, merged_spellings
from shoal.encode.survey import HeldSurvey, Survey, survey_columns
from shoal.errors import DataError, PolicyError
from shoal.io.counting import count_rows
from shoal.io.frames import FrameKind, frame_names, is_frame, to_arrow
from shoal.io.memory import streams
from shoal.io.read import column_names, read_batches, read_table, separator_hint
from shoal.policy import Policy
from shoal.policy.data_source import DataSource
from shoal.policy.location import DatabaseTable, Location, parse_location
from shoal.policy.spark_location import SparkLocation
from shoal.policy.spec import DataSpec
from shoal.search.algorithm import Demand
from shoal.search.engine import RemoteWorkers
from shoal.search.problem import Progress, no_progress
from shoal.table.distinct_rows import DistinctColumn, DistinctRows
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class CountedTable:
    """A table of which each row stands for a number of equal ones: what the verifier gets of data that is not held."""

    table: pa.Table
    counts: NDArray[np.int64]
    records: int | None = None  # of an original: how many records were read, by another count than that of the rows
    blank: int | None = None  # of an original: records without a value in any of the columns that were not counted


@dataclass(frozen=True, eq=False)
class Reading:
    """What reading a source gave. A release is verified against this: nothing of the search has a part in it."""

    rows: DistinctRows  # other spellings of sensitive values replaced by their value
    names: list[str]  # all columns of the data
    original: Callable[[], pa.Table | CountedTable | None]  # what the verifier compares a release with, as it was read
    table: pa.Table | None = None  # every record as it was read, where they are held
    kind: FrameKind = FrameKind.ARROW
    merged_spellings: Mapping[str, MergedSpellings] = field(default_factory=dict)  # by sensitive column
    resolved: Resolved | None = None  # the rows as they were encoded before, for a policy with the same columns
    coarse_policy: Policy | None = None  # to search with, where columns were made coarser while they were counted
    demands: frozenset[Demand] = frozenset()  # what this way of reading demands of the recoding
    uncounted: tuple[str, ...] = ()  # insensitive columns that are not among the rows: they tell too many records apart
    not_done: tuple[str, ...] = ()  # codes of what the evidence has to do without; `present.not_done` says why
    survey: Survey | None = None  # households and weights where the policy names some
    engine: Mapping[str, Any] | None = None  # how an engine went about it, for the evidence
    workers: RemoteWorkers | None = None  # where the search may have blocks worked on elsewhere

    def write_records(self, result: Result, path: Path, progress: Progress) -> None:
        """Write the release record by record, where some columns are not among the rows."""
        raise NotImplementedError

    def in_full(self, recoding: Recoding) -> Recoding | None:  # noqa: ARG002 - a cluster may have made columns coarser
        """The recoding in the hierarchies as declared, where the rows were made coarser; else None."""
        return None


@runtime_checkable
class Source(Protocol):
    """Where a table comes from."""

    def snapshot(self) -> AbstractContextManager[object]:
        """Keep the data as it is while it is read, possibly twice; nothing is open where it is read at once."""
        return nullcontext()

    def read(self, policy: Policy, progress: Progress) -> Reading:
        """The distinct rows of the columns that the policy releases; `PolicyError` where it names others."""

    def identifiers(self, policy: Policy, columns: Sequence[str]) -> DistinctRows | None:  # noqa: ARG002 - clusters
        """The distinct rows of columns that are not released, of all records or the first ones; None where these
        cannot be looked at."""
        return None


@dataclass(frozen=True, eq=False)
class TableSource(Source):
    """A table in memory."""

    table: pa.Table  # all columns, or those that a policy names
    names: list[str]  # all columns of the data
    kind: FrameKind = FrameKind.ARROW
    _columns: dict[str, DistinctColumn] = field(default_factory=dict, init=False, repr=False)

    def read(self, policy: Policy, progress: Progress = no_progress) -> Reading:  # noqa: ARG002 - it is read already
        """The distinct rows of the columns that the policy names; those of the last policy are not encoded again."""
        used = [name for name in self.table.column_names if name in used_columns(policy)]
        for name in used:
            if name not in self._columns:
                self._columns[name] = DistinctColumn.of(self.table.column(name))
        columns = {name: self._columns[name] for name in used}
        rows = DistinctRows.of_columns(columns, self.table.num_rows, policy.person_columns)
        table, survey = self.table.select(used), survey_columns(policy)
        named = {key: name for key, name in survey.items() if name in self.table.column_names}
        merged = rows_as_read(rows, policy)
        return Reading(
            merged, self.names, lambda: table, table, self.kind,
            merged_spellings=merged_spellings(rows, policy.columns),
            survey=HeldSurvey(self.table, named, merged, policy.source) if named else None,
            not_done=("survey-absent",) if named != survey else (),
        )  # fmt: skip

    def identifiers(self, policy: Policy, columns: Sequence[str]) -> DistinctRows | None:  # noqa: ARG002 - as read
        """Those of these columns that were read."""
        return DistinctRows.of(self.table.select([name for name in columns if name in self.table.column_names]))


@dataclass(frozen=True, eq=False)
class HeldSource(Source):
    """A file, a table of a database or a DataFrame that is read into memory at once."""

    data: Any

    def read(self, policy: Policy, progress: Progress) -> Reading:
        """Read all records; `PolicyError` with every problem where the policy names columns that the data lacks."""
        return load_table(self.data, policy).read(policy, progress)

    def identifiers(self, policy: Policy, columns: Sequence[str]) -> DistinctRows | None:
        """These columns alone."""
        return DistinctRows.of(read_columns(self.data, policy, columns)[0].table)


def load_table(data: Any, policy: Policy) -> TableSource:
    """Read the input. Columns that the policy names and the data lacks are a `PolicyError` with every other problem."""
    loaded, hint = read_columns(data, policy, [*used_columns(policy), *survey_columns(policy).values()])
    check_columns(policy, loaded.names, hint, lambda: DistinctRows.of(loaded.table))
    return loaded


def check_columns(policy: Policy, names: Sequence[str], hint: str, rows: Callable[[], DistinctRows]) -> None:
    """Raise `PolicyError` with every problem where the policy names columns that the data lacks."""
    lacking = unknown_columns(policy.columns, names, hint)
    if lacking:
        found = rows()
        models = policy.models_with_paths()
        others = data_problems(policy.columns, models, found, policy.path(".")) if found.n_rows else []
        raise PolicyError([*lacking, *others], policy.source)


def data_spec(policy: Policy, data: object) -> DataSpec:
    """How a policy reads its data; `DataError` where it names none and none was given."""
    if policy.tables is not None and data is None:
        message = (
            "the policy has several tables, but this command takes one. Name it with --data, or use shoal anonymize."
        )
        raise DataError(message, code="linked-tables")
    spec = policy.data if policy.data is not None else DataSpec(path="")
    if data is None and not spec.path:
        message = "the policy names no data and none was given. Set data: in the policy or pass --data."
        raise DataError(message, code="no-data")
    return spec


def data_source(policy: Policy, path: str | Location | None = None) -> DataSource:
    """What a policy reads, or another file or table read in the same manner."""
    spec = data_spec(policy, path)
    if SparkLocation.of(str(path if path is not None else spec.path)) is not None:
        message = "Spark tables can only be read by shoal anonymize with engine: spark in the policy."
        raise DataError(message, code="spark-only")
    return spec.source(parse_location(path) if path is not None else policy.location(spec.path))


def read_columns(data: Any, policy: Policy, wanted: Sequence[str] | None) -> tuple[TableSource, str]:
    """Those of some columns that the input has (all if None), and a guess at the separator where it lacks some."""
    if data is None or isinstance(data, (str, Path, DatabaseTable)):
        source = data_source(policy, data)
        names, chosen, hint = _columns_of(source, policy, wanted)
        return TableSource(read_table(source, chosen), names), hint
    if is_frame(data):
        missing = tuple(policy.data.missing) if policy.data is not None else ("",)
        names = frame_names(data)
        table, kind = to_arrow(data, [name for name in names if wanted is None or name in wanted], missing=missing)
        return TableSource(table, names, kind), ""
    message = f"cannot read a table from {type(data).__name__}: pass a path, a DataFrame or an Arrow table."
    raise DataError(message, code="not-a-table")


def read_distinct(data: Any, policy: Policy, wanted: Sequence[str]) -> tuple[DistinctRows, list[str], str]:
    """The distinct rows of some columns, of large files without holding them; all names, and a hint at lacking ones."""
    if data is None or isinstance(data, (str, Path)):
        source = data_source(policy, data)
        if streams(policy, source, None):
            names, some, hint = _columns_of(source, policy, wanted)
            return rows_as_read(count_rows(read_batches(source, some), some), policy), names, hint
    loaded, hint = read_columns(data, policy, wanted)
    return rows_as_read(DistinctRows.of(loaded.table), policy), loaded.names, hint


def _columns_of(source: DataSource, policy: Policy, wanted: Sequence[str] | None) -> tuple[list[str], list[str], str]:
    """All columns of a source, those wanted, and a guess at the separator where the policy names others."""
    names = column_names(source)
    hint = separator_hint(source, names) if any(name not in names for name in policy.columns) else ""
    return names, [name for name in names if wanted is None or name in wanted], hint
