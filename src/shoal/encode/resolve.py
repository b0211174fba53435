"""A policy against a table: columns found, hierarchies built, values encoded - or every problem, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.sensitive import SensitiveColumn, Values, encode_sensitive
from shoal.errors import DataError, PolicyError, PolicyProblem, did_you_mean
from shoal.hierarchies import Hierarchy, HierarchyError, boundary_caps, capped_levels
from shoal.metrics import METRICS
from shoal.models import Model
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.policy import Policy, published
from shoal.policy.spec import ColumnSpec
from shoal.search import Problem
from shoal.table.canonical_text import encode
from shoal.table.classes import SensitiveDomain
from shoal.table.distinct_rows import Cells
from shoal.table.encoded import EncodedTable, encode_table

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class QuasiColumn:
    """A quasi-identifier, encoded."""

    hierarchy: Hierarchy
    codes: Codes
    """Leaf code of each row."""
    caps: Codes
    """The node that each leaf may be generalized to at most."""


@dataclass(frozen=True, eq=False)
class Resolved:
    """A policy and a table, ready for an algorithm."""

    problem: Problem
    quasi: Mapping[str, QuasiColumn]
    sensitive: Mapping[str, SensitiveColumn]

    def taken(self, entry: NDArray[np.int64], weights: NDArray[np.int64]) -> Resolved:
        """The same with other rows: each is of the row ``entry`` and stands for so many records."""
        quasi = {name: replace(column, codes=column.codes[entry]) for name, column in self.quasi.items()}
        sensitive = {
            name: replace(
                column,
                codes=column.codes[entry],
                category_codes=None if column.category_codes is None else column.category_codes[entry],
            )
            for name, column in self.sensitive.items()
        }
        problem = replace(self.problem, table=replace(self.problem.table.parted(entry, weights), entry=None))
        return Resolved(problem, quasi, sensitive)


@dataclass
class _Resolver:
    table: pa.Table | Cells
    folder: Path
    problems: list[PolicyProblem] = field(default_factory=list)

    def add(self, where: str, message: str, fix: str = "", **facts: Any) -> None:
        self.problems.append(PolicyProblem(where, message, fix, facts))

    def values(self, name: str) -> Values | None:
        """The values of a column; None where there is nothing to encode."""
        labels: Sequence[str | None]
        try:
            if isinstance(self.table, Cells):
                column = self.table.columns[name]
                labels, codes, weights = column.labels, column.codes, self.table.weights
            else:
                (labels, codes), weights = encode(self.table.column(name)), None
        except DataError as error:
            self.add(f"columns.{name}", str(error))
            return None
        counts = np.bincount(codes, weights=weights, minlength=len(labels)).astype(np.int64)
        if list(labels) == [None]:
            self.add(f"columns.{name}", f"has no value in any of the {counts.sum()} records.",
                     "Check the missing marks under data, or leave the column out.")  # fmt: skip
            return None
        return Values(tuple(labels), codes, counts)

    def quasi(self, name: str, spec: ColumnSpec) -> QuasiColumn | None:
        where, values = f"columns.{name}.hierarchy", self.values(name)
        if values is None:
            return None
        try:
            source = hierarchy_source(spec.hierarchy, self.folder, where)
            built = source.build(values.labels, values.counts.tolist(), where)
            caps = boundary_caps(built.hierarchy, spec.boundary_labels, f"columns.{name}.boundary")
        except HierarchyError as error:
            self.problems.extend(error.problems)
            return None
        return QuasiColumn(built.hierarchy, built.codes[values.codes].astype(np.int32), caps)

    def sensitive(self, name: str, spec: ColumnSpec, publish: str) -> SensitiveColumn | None:
        values = self.values(name)
        if values is None:
            return None
        column, problems = encode_sensitive(name, spec, values, publish, self.folder)
        self.problems.extend(problems)
        return column


def used_columns(policy: Policy) -> list[str]:
    """The columns that are read: all that the policy names but identifiers."""
    return [name for name, column in policy.columns.items() if column.role != "identifier"]


def unknown_columns(columns: Mapping[str, ColumnSpec], names: Sequence[str], hint: str) -> list[PolicyProblem]:
    """A problem for each column of the policy that the data lacks, and for each that the release would have twice."""
    found = []
    for name in columns:
        if name not in names:
            fix = did_you_mean(name, names) + (f" {hint[0].upper()}{hint[1:]}" if hint else "")
            found.append(PolicyProblem(f"columns.{name}", "the data has no such column.", fix))
    for name, column in columns.items():
        if column.publish == "both" and (added := f"{name}_category") in {*names, *columns}:
            message = f"both adds a column {added}, and the data has one already."
            fix = "Rename that of the data, or publish values or categories alone."
            found.append(PolicyProblem(f"columns.{name}.publish", message, fix))
    return found


def data_problems(
    columns: Mapping[str, ColumnSpec],
    models: Sequence[tuple[str, Model]],
    table: pa.Table | Cells,
    folder: Path,
) -> list[PolicyProblem]:
    """Every problem of these columns and models with the data; columns that the table lacks are passed over."""
    return _encode(columns, models, table, folder)[2]


def _encode(
    columns: Mapping[str, ColumnSpec], models: Sequence[tuple[str, Model]], table: pa.Table | Cells, folder: Path
) -> tuple[dict[str, QuasiColumn], dict[str, SensitiveColumn], list[PolicyProblem]]:
    resolver = _Resolver(table, folder)
    asked = [model for _, model in models]
    quasi, sensitive = {}, {}
    for name, spec in columns.items():
        if name not in _names(table):
            continue
        if spec.role == "quasi" and (found := resolver.quasi(name, spec)) is not None:
            quasi[name] = found
        elif spec.role == "sensitive":
            secret = resolver.sensitive(name, spec, published(name, spec, asked))
            if secret is not None:
                sensitive[name] = secret
    domains = {name: column.domain for name, column in sensitive.items()}
    return quasi, sensitive, [*resolver.problems, *_model_problems(models, domains)]


def _model_problems(
    models: Sequence[tuple[str, Model]], domains: Mapping[str, SensitiveDomain]
) -> Iterator[PolicyProblem]:
    """What the models find wrong with the values; what is wrong with categories needs no data and is known."""
    for where, model in models:
        if model.column is not None and model.column in domains and not model.needs_categories:
            for problem in model.domain_problems(domains[model.column]):
                yield replace(problem, where=f"{where}.{problem.where}" if problem.where else where)


def _names(table: pa.Table | Cells) -> list[str]:
    return list(table.columns) if isinstance(table, Cells) else table.column_names


def resolve(policy: Policy, table: pa.Table | Cells) -> Resolved:
    """Encode a table, or its cells, as its policy says. Raises `PolicyError` with every problem found.

    Insensitive columns need not be among the cells: they are released as they are.
    """
    weights = table.weights if isinstance(table, Cells) else None
    rows = table.n_cells if isinstance(table, Cells) else table.num_rows
    if not rows:
        raise DataError("the data has a header and no records: there is nothing to release.")
    used = {name: policy.columns[name] for name in used_columns(policy)}
    needed = {name: column for name, column in used.items() if weights is None or column.role != "insensitive"}
    lacking = unknown_columns(needed, _names(table), "")
    quasi, sensitive, problems = _encode(used, policy.placed_models(), table, policy.path("."))
    if lacking or problems:
        raise PolicyError([*lacking, *problems], policy.source)
    encoded = encode_table(
        {name: (column.codes, column.hierarchy.n_leaves) for name, column in quasi.items()},
        {name: (column.codes, len(column.domain.values)) for name, column in sensitive.items()},
        rows,
        weights,
    )
    return Resolved(_problem(policy, encoded, quasi, sensitive), quasi, sensitive)


def resolve_again(policy: Policy, before: Resolved) -> Resolved:
    """The same table under a policy that differs in its models' numbers, its algorithm or its suppression only.

    Nothing is read or encoded a second time. Raises `PolicyError` like `resolve`.
    """
    domains = {name: column.domain for name, column in before.sensitive.items()}
    problems = list(_model_problems(policy.placed_models(), domains))
    if problems:
        raise PolicyError(problems, policy.source)
    problem = _problem(policy, before.problem.table, before.quasi, before.sensitive)
    return Resolved(problem, before.quasi, before.sensitive)


def _problem(
    policy: Policy,
    encoded: EncodedTable,
    quasi: Mapping[str, QuasiColumn],
    sensitive: Mapping[str, SensitiveColumn],
) -> Problem:
    return Problem(
        table=encoded,
        hierarchies=tuple(column.hierarchy for column in quasi.values()),
        caps=tuple(column.caps for column in quasi.values()),
        ladders=tuple(capped_levels(column.hierarchy, column.caps) for column in quasi.values()),
        models=policy.models(),
        domains={name: column.domain for name, column in sensitive.items()},
        budget=int(Fraction(str(policy.suppression)) * encoded.n_rows),
        metric=METRICS[policy.algorithm.metric],
        weights=policy.algorithm.weights,
        options=policy.algorithm.model_dump(include={"node", "seed", "faithful", "refine", "group", "ranges", "safe"}),
        policy_paths=tuple(place for place, _ in policy.placed_models()),
    )
