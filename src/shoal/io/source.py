"""Sources: where a table comes from. Each hands out distinct rows with counts, and the original for the verifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.resolve import Resolved, data_problems, unknown_columns, used_columns
from shoal.encode.result import Result
from shoal.errors import DataError, PolicyError
from shoal.io.counting import count_rows
from shoal.io.frames import FrameKind, frame_names, is_frame, to_arrow
from shoal.io.memory import streams
from shoal.io.read import column_names, read_batches, read_table, separator_hint
from shoal.policy import Policy
from shoal.policy.data_source import DataSource
from shoal.policy.location import DatabaseTable, Place, place
from shoal.policy.spark_location import Place as SparkPlace
from shoal.policy.spec import DataSpec
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
    blank: int | None = None
    """Of an original: how many records have no value in any of the columns that were not counted."""


@dataclass(frozen=True, eq=False)
class Reading:
    """What reading a source gave. A release is verified against this: nothing of the search has a part in it."""

    rows: DistinctRows
    names: list[str]  # all columns of the data
    original: Callable[[], pa.Table | CountedTable | None]  # what the verifier compares a release with
    table: pa.Table | None = None  # every record, where they are held
    kind: FrameKind = FrameKind.ARROW
    resolved: Resolved | None = None  # the rows as they were encoded before, for a policy with the same columns
    coarse_policy: Policy | None = None
    """The policy to search with, where columns were made coarser while they were counted."""
    uncounted: tuple[str, ...] = ()
    """Insensitive columns that are not among the rows, since they tell too many records apart."""
    not_done: Mapping[str, str] = field(default_factory=dict)  # what the evidence has to do without, and why
    workers: RemoteWorkers | None = None  # where the search may have blocks worked on elsewhere

    def write_records(self, result: Result, path: Path, progress: Progress) -> None:
        """Write the release record by record, where some columns are not among the rows."""
        raise NotImplementedError

    def engine_facts(self, result: Result) -> Mapping[str, Any]:  # noqa: ARG002 - a cluster has some
        """How an engine went about it, for the evidence; nothing where there is none."""
        return {}

    def in_full(self, recoding: Recoding) -> Recoding | None:  # noqa: ARG002 - a cluster may have made columns coarser
        """The recoding in the hierarchies as declared, where the rows were made coarser; else None."""
        return None


@runtime_checkable
class Source(Protocol):
    """Where a table comes from."""

    def snapshot(self) -> AbstractContextManager[object]:
        """Keep the data as it is while it is read, possibly twice."""
        ...

    def read(self, policy: Policy, progress: Progress) -> Reading:
        """The distinct rows of the columns that the policy releases; `PolicyError` where it names others."""
        ...


@dataclass(frozen=True, eq=False)
class TableSource:
    """A table in memory."""

    table: pa.Table  # all columns, or those that a policy names
    names: list[str]  # all columns of the data
    kind: FrameKind = FrameKind.ARROW

    @cached_property
    def _columns(self) -> dict[str, DistinctColumn]:
        return {}

    def snapshot(self) -> AbstractContextManager[object]:
        """Nothing is open."""
        return nullcontext()

    def read(self, policy: Policy, progress: Progress = no_progress) -> Reading:  # noqa: ARG002 - it is read already
        """The distinct rows of the columns that the policy names; those of the last policy are not encoded again."""
        used = [name for name in self.table.column_names if name in used_columns(policy)]
        for name in used:
            if name not in self._columns:
                self._columns[name] = DistinctColumn.of(self.table.column(name))
        rows = DistinctRows.of_columns({name: self._columns[name] for name in used}, self.table.num_rows)
        table = self.table.select(used)
        return Reading(rows, self.names, lambda: table, table, self.kind)


@dataclass(frozen=True, eq=False)
class HeldSource:
    """A file, a table of a database or a DataFrame that is read into memory at once."""

    data: Any

    def snapshot(self) -> AbstractContextManager[object]:
        """Nothing stays open: it is read once."""
        return nullcontext()

    def read(self, policy: Policy, progress: Progress) -> Reading:
        """Read all records; `PolicyError` with every problem where the policy names columns that the data lacks."""
        return load_table(self.data, policy).read(policy, progress)


def load_table(data: Any, policy: Policy) -> TableSource:
    """Read the input. Columns that the policy names and the data lacks are a `PolicyError` with every other problem."""
    loaded, hint = read_columns(data, policy, used_columns(policy))
    check_columns(policy, loaded.names, hint, lambda: DistinctRows.of(loaded.table))
    return loaded


def check_columns(policy: Policy, names: Sequence[str], hint: str, rows: Callable[[], DistinctRows]) -> None:
    """Raise `PolicyError` with every problem where the policy names columns that the data lacks."""
    lacking = unknown_columns(policy.columns, names, hint)
    if lacking:
        found = rows()
        models = policy.placed_models()
        others = data_problems(policy.columns, models, found, policy.path(".")) if found.n_rows else []
        raise PolicyError([*lacking, *others], policy.source)


def data_source(policy: Policy, path: str | Place | None = None) -> DataSource:
    """What a policy reads, or another file or table read in the same manner."""
    spec = policy.data if policy.data is not None else DataSpec(path="")
    if path is None and not spec.path:
        raise DataError(
            "the policy names no data and none was given. Set data: in the policy or pass --data.", code="no-data"
        )
    if SparkPlace.of(str(path if path is not None else spec.path)) is not None:
        raise DataError(
            "Spark tables can only be read by shoal anonymize with engine: spark in the policy.", code="spark-only"
        )
    return spec.source(place(path) if path is not None else policy.place(spec.path))


def read_columns(data: Any, policy: Policy, wanted: Sequence[str] | None) -> tuple[TableSource, str]:
    """Those of some columns that the input has (all if None), and what to add where it lacks some: a guess at the
    separator.
    """
    if data is None or isinstance(data, (str, Path, DatabaseTable)):
        source = data_source(policy, data)
        names = column_names(source)
        hint = separator_hint(source, names) if any(name not in names for name in policy.columns) else ""
        chosen = [name for name in names if wanted is None or name in wanted]
        return TableSource(read_table(source, chosen), names), hint
    if is_frame(data):
        missing = tuple(policy.data.missing) if policy.data is not None else ("",)
        names = frame_names(data)
        chosen = [name for name in names if wanted is None or name in wanted]
        table, kind = to_arrow(data, chosen, missing=missing)
        return TableSource(table, names, kind), ""
    raise DataError(
        f"cannot read a table from {type(data).__name__}: pass a path, a DataFrame or an Arrow table.",
        code="not-a-table",
    )


def read_distinct(data: Any, policy: Policy, wanted: Sequence[str]) -> tuple[DistinctRows, list[str], str]:
    """The distinct rows of some columns, of large files without holding them; all names, and a hint at lacking ones."""
    if data is None or isinstance(data, (str, Path)):
        source = data_source(policy, data)
        if streams(policy, source, None):
            names = column_names(source)
            some = [name for name in names if name in wanted]
            hint = separator_hint(source, names) if any(name not in names for name in policy.columns) else ""
            return count_rows(read_batches(source, some), some), names, hint
    loaded, hint = read_columns(data, policy, wanted)
    return DistinctRows.of(loaded.table), loaded.names, hint
