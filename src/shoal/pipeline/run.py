"""`anonymize`: the one place where the stages meet."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from shoal.algorithms import ALGORITHMS
from shoal.algorithms.problem import Progress, no_progress
from shoal.engines.local import LocalEngine
from shoal.errors import DataError, PolicyError, PolicyProblem, ShoalError
from shoal.evidence import (
    describe_columns,
    describe_exposure,
    describe_models,
    describe_policy,
    describe_sizes,
    measure,
    peak_memory_bytes,
    versions,
)
from shoal.io import Kind, column_names, frame_names, is_frame, read_table, separator_hint, to_arrow
from shoal.io.source import DataSource
from shoal.metrics import ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.pipeline.build import build_table, in_order_of_content, release_stats
from shoal.pipeline.release import Release
from shoal.policy import Policy
from shoal.policy.resolve import Resolved, data_problems, resolve, unknown_columns, used_columns
from shoal.policy.spec import DataSpec
from shoal.table.recoding import Recoding
from shoal.verification import Verification, verify


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


def data_source(policy: Policy, path: str | Path | None = None) -> DataSource:
    """The file that a policy reads, or another one read in the same manner."""
    spec = policy.data if policy.data is not None else DataSpec(path="")
    if path is None and not spec.path:
        raise DataError("the policy names no data and none was given. Set data: in the policy or pass --data.")
    return source_of(spec, Path(path) if path is not None else policy.path(spec.path))


def source_of(spec: DataSpec, path: Path) -> DataSource:
    """A file to be read as the policy's ``data`` says; without a separator, a comma, or a tab for .tsv."""
    tabs = ".tsv" in [suffix.lower() for suffix in path.suffixes]
    separator = spec.separator if spec.separator is not None else ("\t" if tabs else ",")
    return DataSource(path, separator, spec.encoding, spec.quote, tuple(spec.missing))


@dataclass(frozen=True, eq=False)
class Loaded:
    """The columns of the input that the policy names, and the names of all of them."""

    table: pa.Table
    names: list[str]
    kind: Kind


def load_data(data: Any, policy: Policy) -> Loaded:
    """Read the input. Columns that the policy names and the data lacks are a `PolicyError` with every other problem."""
    if data is None or isinstance(data, (str, Path)):
        source = data_source(policy, data)
        names, hint = column_names(source), ""
        if any(name not in names for name in policy.columns):
            hint = separator_hint(source, names)
        present = [name for name in names if name in used_columns(policy)]
        loaded = Loaded(read_table(source, present), names, Kind.ARROW)
    elif is_frame(data):
        missing = tuple(policy.data.missing) if policy.data is not None else ("",)
        names, hint = frame_names(data), ""
        table, kind = to_arrow(data, [name for name in names if name in used_columns(policy)], missing=missing)
        loaded = Loaded(table, names, kind)
    else:
        raise DataError(f"cannot read a table from {type(data).__name__}: pass a path, a DataFrame or an Arrow table.")
    lacking = unknown_columns(policy.columns, loaded.names, hint)
    if lacking:
        models = policy.placed_models()
        others = data_problems(policy.columns, models, loaded.table, policy.path(".")) if loaded.table.num_rows else []
        raise PolicyError([*lacking, *others], policy.source)
    return loaded


def as_policy(policy: Policy | str | Path | Mapping[str, Any]) -> Policy:
    """A policy, from a policy, a path or a mapping."""
    if isinstance(policy, Policy):
        return policy
    return Policy.load(policy) if isinstance(policy, (str, Path)) else Policy.model_validate(policy)


def complete_problems(error: PolicyError, path: Path, data: str | Path | None = None) -> PolicyError:
    """The problems of a policy file, and those that its right parts have with the data where that can be read."""
    draft = error.draft
    if draft is None or not draft.columns:
        return error
    try:
        given = DataSpec.model_validate(draft.data)
        target = Path(data) if data is not None else path.parent / given.path
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


def make_release(data: Any, policy: Policy, clock: Clock, progress: Progress) -> Unverified:
    """Read, encode, search and recode."""
    progress("reading", 0.0)
    with clock.stage("read"):
        loaded = load_data(data, policy)
    with clock.stage("encode"):
        if ALGORITHMS[policy.algorithm.name].parts_equals:
            loaded = replace(loaded, table=in_order_of_content(loaded.table))
        resolved = resolve(policy, loaded.table)
    problem = replace(resolved.problem, progress=progress)
    with clock.stage("search"):
        engine = LocalEngine(problem.table, problem.ladders, problem.domains)
        outcome = ALGORITHMS[policy.algorithm.name].run(problem, engine)
    with clock.stage("recode"):
        table = build_table(policy, loaded.table, resolved, outcome.recoding)
    return Unverified(policy, loaded, resolved, outcome.recoding, table, outcome.search)


def anonymize(
    data: Any = None, policy: Policy | str | Path | Mapping[str, Any] | None = None, *, progress: Progress = no_progress
) -> Release:
    """Turn a table into one that may be published.

    ``data`` is a path (CSV, Parquet), a pandas or polars DataFrame, or an Arrow table; None takes the policy's own
    ``data``. The release is checked by the independent verifier before it is returned.

    Raises `PolicyError` or `DataError` for input that is wrong, `InfeasibleError` when no release satisfies the policy.
    """
    if policy is None:
        raise PolicyError([PolicyProblem("", "none was given to anonymize().", "Pass a Policy or the path of one.")])
    asked, clock = as_policy(policy), Clock()
    made = make_release(data, asked, clock, progress)
    progress("verifying", 0.0)
    with clock.stage("verify"):
        verification = verify(made.table, asked, original=made.loaded.table)
        verification.raise_if_failed()
    evidence = make_evidence(made, verification, clock)
    return Release(asked, made.table, made.recoding, evidence, made.loaded.kind, made.search)


def make_evidence(
    made: Unverified, verification: Verification, clock: Clock, release_sha256: str | None = None
) -> dict[str, Any]:
    """The evidence of a release and its verification."""
    policy, recoding, resolved = made.policy, made.recoding, made.resolved
    stats = release_stats(resolved, recoding)
    codes = [column.codes for column in resolved.quasi.values()]
    summary = ReleaseSummary(
        hierarchies=recoding.hierarchies,
        nodes=recoding.nodes,
        sizes=recoding.sizes,
        records=recoding.n_rows,
        violations=count_violations(recoding, codes, resolved.problem.caps),
    )
    return {
        "verified": verification.passed,
        "records": recoding.n_rows,
        "released": recoding.n_rows - recoding.suppressed,
        "suppressed": recoding.suppressed,
        "classes": recoding.n_classes,
        "levels": dict(recoding.levels) if recoding.levels is not None else None,
        "measures": measure(summary),
        "models": describe_models(resolved.problem.models, stats),
        "algorithm": policy.algorithm.name,
        "seed": policy.algorithm.seed,
        "search": dict(made.search),
        "columns": describe_columns(policy, summary, recoding),
        "not_released": sorted(set(made.loaded.names) - set(used_columns(policy))),
        "not_named": sorted(set(made.loaded.names) - set(policy.columns)),
        "class_sizes": describe_sizes(recoding),
        "exposure": describe_exposure(stats),
        "checks": [check.to_dict() for check in verification.checks],
        "policy": describe_policy(policy),
        "policy_sha256": policy.sha256,
        "release_sha256": release_sha256,
        "versions": versions(),
        "seconds": round(sum(clock.stages.values()), 6),
        "seconds_by_stage": {name: round(seconds, 6) for name, seconds in clock.stages.items()},
        "peak_memory_bytes": peak_memory_bytes(),
    }
