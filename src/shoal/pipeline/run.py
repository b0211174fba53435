"""`anonymize`: the one place where the stages meet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import ValidationError

from shoal.attacks.battery import AttackReport, attack_tables
from shoal.attacks.registry.people import NewRelease
from shoal.encode.released_table import build_table
from shoal.encode.resolve import Resolved, data_problems, resolve, unknown_columns, used_columns
from shoal.errors import DataError, PolicyError, PolicyProblem, ShoalError
from shoal.io import (
    DatabaseTable,
    Kind,
    Place,
    column_names,
    frame_names,
    is_frame,
    order_of_content,
    place,
    read_table,
    separator_hint,
    to_arrow,
)
from shoal.io.spark.cluster import is_spark_frame
from shoal.pipeline.make_evidence import make_evidence
from shoal.pipeline.registry_options import Keeping, with_composition
from shoal.pipeline.release import Origin, Release
from shoal.policy import Policy
from shoal.policy.data_source import DataSource
from shoal.policy.spark_location import Place as SparkPlace
from shoal.policy.spec import DataSpec
from shoal.search import ALGORITHMS
from shoal.search.bounds.lower_bound import LowerBound
from shoal.search.engine import LocalEngine
from shoal.search.problem import Progress, no_progress
from shoal.table.recoding import Recoding
from shoal.utility import Part, check_task, measure_task
from shoal.verification import verify


@dataclass
class Clock:
    """Seconds by stage."""

    stages: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - start


def data_source(policy: Policy, path: str | Place | None = None) -> DataSource:
    """What a policy reads, or another file or table read in the same manner."""
    spec = policy.data if policy.data is not None else DataSpec(path="")
    if path is None and not spec.path:
        raise DataError("the policy names no data and none was given. Set data: in the policy or pass --data.")
    if SparkPlace.of(str(path if path is not None else spec.path)) is not None:
        raise DataError("a table of Spark's is only read by shoal anonymize with engine: spark in the policy.")
    return source_of(spec, place(path) if path is not None else policy.place(spec.path))


def source_of(spec: DataSpec, path: Place) -> DataSource:
    """A table to be read as the policy's ``data`` says."""
    return spec.source(path)


@dataclass(frozen=True, eq=False)
class Loaded:
    """The columns of the input that the policy names, and the names of all of them."""

    table: pa.Table
    names: list[str]
    kind: Kind
    order: NDArray[np.int64] | None = None
    """Which row of the input each row is, where they have been put into another order."""


def load_data(data: Any, policy: Policy) -> Loaded:
    """Read the input. Columns that the policy names and the data lacks are a `PolicyError` with every other problem."""
    loaded, hint = read_columns(data, policy, used_columns(policy))
    lacking = unknown_columns(policy.columns, loaded.names, hint)
    if lacking:
        models = policy.placed_models()
        others = data_problems(policy.columns, models, loaded.table, policy.path(".")) if loaded.table.num_rows else []
        raise PolicyError([*lacking, *others], policy.source)
    return loaded


def read_columns(data: Any, policy: Policy, wanted: Sequence[str]) -> tuple[Loaded, str]:
    """Those of some columns that the input has, and what to add where it lacks some: a guess at the separator."""
    if data is None or isinstance(data, (str, Path, DatabaseTable)):
        source = data_source(policy, data)
        names = column_names(source)
        hint = separator_hint(source, names) if any(name not in names for name in policy.columns) else ""
        return Loaded(read_table(source, [name for name in names if name in wanted]), names, Kind.ARROW), hint
    if is_frame(data):
        missing = tuple(policy.data.missing) if policy.data is not None else ("",)
        names = frame_names(data)
        table, kind = to_arrow(data, [name for name in names if name in wanted], missing=missing)
        return Loaded(table, names, kind), ""
    raise DataError(f"cannot read a table from {type(data).__name__}: pass a path, a DataFrame or an Arrow table.")


def as_policy(policy: Policy | str | Path | Mapping[str, Any]) -> Policy:
    """A policy, from a policy, a path or a mapping."""
    if isinstance(policy, Policy):
        return policy
    return Policy.load(policy) if isinstance(policy, (str, Path)) else Policy.model_validate(policy)


def complete_problems(error: PolicyError, path: Path, data: str | Place | None = None) -> PolicyError:
    """The problems of a policy file, and those that its right parts have with the data where that can be read."""
    draft = error.draft
    if draft is None or not draft.columns:
        return error
    try:
        given = DataSpec.model_validate(draft.data)
        if data is None and not given.path:
            return error
        found = place(data if data is not None else given.path)
        target = path.parent / found if data is None and isinstance(found, Path) else found
        source = source_of(given, target)
        names = column_names(source)
        named = [name for name, column in draft.columns.items() if column.role != "identifier"]
        table = read_table(source, [name for name in names if name in named])
    except (ShoalError, ValidationError):
        return error
    lacking = unknown_columns(draft.columns, names, separator_hint(source, names))
    others = data_problems(draft.columns, draft.models, table, path.parent) if table.num_rows else []
    return PolicyError([*error.problems, *lacking, *others], error.source)


@dataclass(frozen=True, eq=False)
class Unverified:
    """A release that nobody has checked yet."""

    policy: Policy
    loaded: Loaded
    resolved: Resolved
    recoding: Recoding
    table: pa.Table
    search: Mapping[str, Any]
    bound: LowerBound | None
    """How little any release could lose."""

    @property
    def names(self) -> list[str]:
        """All columns of the data."""
        return self.loaded.names

    def as_new(self) -> NewRelease:
        """The release as earlier ones are held against it."""
        return NewRelease(self.policy, self.loaded.table, self.resolved.problem, self.recoding)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table read and encoded as a policy says."""

    loaded: Loaded
    resolved: Resolved
    policy: Policy


def prepare(data: Any, policy: Policy, clock: Clock, progress: Progress = no_progress) -> Prepared:
    """Read (unless it is loaded already) and encode."""
    progress("reading", 0.0)
    with clock.stage("read"):
        loaded = data if isinstance(data, Loaded) else load_data(data, policy)
    with clock.stage("encode"):
        if needs_order(policy):
            order = order_of_content(loaded.table)
            loaded = replace(loaded, table=loaded.table.take(pa.array(order)), order=order)
        resolved = resolve(policy, loaded.table)
        check_task(policy, loaded.table, resolved)
    return Prepared(loaded, resolved, policy)


def needs_order(policy: Policy) -> bool:
    """Whether records with equal quasi-identifiers may part, so that they must stand in an order of their content."""
    return ALGORITHMS[policy.algorithm.name].parts_equals or policy.algorithm.refine is not None


def make_release(data: Any, policy: Policy, clock: Clock, progress: Progress) -> Unverified:
    """Read and encode (unless it is prepared already), search and recode."""
    ready = data if isinstance(data, Prepared) else prepare(data, policy, clock, progress)
    problem = replace(ready.resolved.problem, progress=progress)
    with clock.stage("search"):
        engine = LocalEngine(problem.table, problem.ladders, problem.domains)
        outcome = ALGORITHMS[policy.algorithm.name].run(problem, engine)
    with clock.stage("bound"):
        bound = LowerBound.of(problem, engine, outcome.search)
    with clock.stage("recode"):
        table = build_table(policy, ready.loaded.table, ready.resolved, outcome.recoding)
    return Unverified(policy, ready.loaded, ready.resolved, outcome.recoding, table, outcome.search, bound)


def attack_made(made: Unverified, clock: Clock, progress: Progress) -> AttackReport:
    """What attackers get out of a release, for its evidence; nothing is encoded a second time."""
    with clock.stage("attack"):
        return attack_tables(
            made.policy,
            made.table,
            made.loaded.table,
            resolved=made.resolved,
            recoding=made.recoding,
            seed=abs(made.policy.algorithm.seed),
            progress=progress,
        )


def measure_utility(made: Unverified, clock: Clock, progress: Progress) -> dict[str, Any] | None:
    """What the release is worth for the task that its policy names; None where it names none."""
    if made.policy.utility is None:
        return None

    def anonymized(table: pa.Table) -> Part:
        """Some of the records, anonymized under the same policy."""
        policy = made.policy.changed(utility=None)
        part = make_release(replace(made.loaded, table=table), policy, Clock(), no_progress)
        return Part(part.loaded.table, part.resolved, part.recoding)

    with clock.stage("utility"):
        whole = Part(made.loaded.table, made.resolved, made.recoding)
        return measure_task(made.policy, whole, anonymized, progress)


def composed_with(keeping: Keeping, new: Callable[[], NewRelease], clock: Clock, progress: Progress) -> dict[str, Any]:
    """What a release tells beside the earlier ones of a registry, for its evidence; nothing without a registry, for
    which the ``new`` one is not even put together.
    """
    if keeping.registry is None:
        return {}
    progress("comparing with earlier releases", 0.0)
    with clock.stage("compose"):
        return keeping.composition(new())


def anonymize(
    data: Any = None,
    policy: Policy | str | Path | Mapping[str, Any] | None = None,
    *,
    registry: str | Path | None = None,
    progress: Progress = no_progress,
) -> Release:
    """Turn a table into one that may be published.

    ``data`` is a path (CSV, Parquet, Excel, SPSS, SAS, Stata), ``postgresql://host/database#table``, a pandas or polars
    DataFrame, or an Arrow table; None takes the policy's own ``data``. The release is checked by the independent
    verifier before it is returned. With a ``registry`` (or that of the policy) it is held against the releases in it,
    and `Release.write` adds it to them.

    Raises `PolicyError` or `DataError` for input that is wrong, `InfeasibleError` when no release satisfies the policy.
    """
    if policy is None:
        raise PolicyError([PolicyProblem("", "none was given to anonymize().", "Pass a Policy or the path of one.")])
    asked, clock = as_policy(policy), Clock()
    if asked.engine.name == "spark" or is_spark_frame(data):
        from shoal.pipeline.spark.release import anonymize_spark  # noqa: PLC0415 - it builds on this file

        return anonymize_spark(data, asked, registry=registry, progress=progress)
    keeping = Keeping.of(asked, registry=registry)
    made = make_release(data, asked, clock, progress)
    progress("verifying", 0.0)
    with clock.stage("verify"):
        verification = verify(made.table, asked, original=made.loaded.table)
        verification.raise_if_failed()
    attacks = attack_made(made, clock, progress)
    utility = measure_utility(made, clock, progress)
    composed = composed_with(keeping, made.as_new, clock, progress)
    evidence = with_composition(make_evidence(made, verification, clock, utility=utility, attacks=attacks), composed)
    origin = Origin(made.resolved.problem, made.loaded.order)
    folder = None if keeping.registry is None else keeping.registry.path
    return Release(asked, made.table, made.recoding, evidence, made.loaded.kind, made.search, origin, folder)
