"""A policy against a table: columns found, hierarchies built, values encoded - or every problem, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.encode.sensitive import SensitiveColumn, Values, encode_sensitive
from shoal.errors import DataError, PolicyError, PolicyProblem, did_you_mean
from shoal.formatting import pluralize
from shoal.hierarchies import Hierarchy, HierarchyError, boundary_caps, capped_levels
from shoal.metrics import METRICS
from shoal.models import Model
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.model_specs import build_models
from shoal.policy.policy import Policy, published
from shoal.policy.spec import ColumnSpec
from shoal.search.problem import Problem
from shoal.table.classes import SensitiveDomain
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import EncodedTable, encode_table

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class QuasiColumn:
    """A quasi-identifier, encoded."""

    hierarchy: Hierarchy
    codes: Codes  # leaf code of each row
    caps: Codes  # the node that each leaf may be generalized to at most


@dataclass(frozen=True, eq=False)
class Resolved:
    """A policy and a table, ready for an algorithm."""

    problem: Problem
    quasi: Mapping[str, QuasiColumn]
    sensitive: Mapping[str, SensitiveColumn]

    def take(self, rows: NDArray[np.int64], counts: NDArray[np.int64] | None) -> Resolved:
        """The same with other rows: some of these, each standing for a number of records (one if None)."""
        quasi = {name: replace(column, codes=column.codes[rows]) for name, column in self.quasi.items()}
        sensitive = {
            name: replace(
                column,
                codes=column.codes[rows],
                category_codes=None if column.category_codes is None else column.category_codes[rows],
            )
            for name, column in self.sensitive.items()
        }
        problem = replace(self.problem, table=replace(self.problem.table.parted(rows, counts), entry=None))
        return Resolved(problem, quasi, sensitive)

    def of_records(self, rows: DistinctRows) -> Resolved:
        """The same with a row per record, in the order of the data."""
        assert rows.of_record is not None, "the records are held"
        return self.take(rows.of_record, None)


@dataclass
class _Resolver:
    rows: DistinctRows
    folder: Path
    problems: list[PolicyProblem] = field(default_factory=list)

    def values(self, name: str) -> Values | None:
        """The values of a column; None where there is nothing to encode."""
        column = self.rows.columns[name]
        counts = np.bincount(column.codes, weights=self.rows.counts, minlength=len(column.labels)).astype(np.int64)
        if column.labels == (None,):
            message = f"has no value in any of the {pluralize(self.rows.n_records, 'record')}."
            fix = "Check the missing marks under data, or leave the column out."
            self.problems.append(PolicyProblem(f"columns.{name}", message, fix, code="no-values"))
            return None
        return Values(column.labels, column.codes, counts)

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
            found.append(PolicyProblem(f"columns.{name}", "the data has no such column.", fix, code="unknown-column"))
    for name, column in columns.items():
        if column.publish == "both" and (added := f"{name}_category") in {*names, *columns}:
            message = f"both adds a column {added}, and the data has one already."
            fix = "Rename that of the data, or publish values or categories alone."
            found.append(PolicyProblem(f"columns.{name}.publish", message, fix, code="column-twice"))
    return found


def data_problems(
    columns: Mapping[str, ColumnSpec], models: Sequence[tuple[str, Model]], rows: DistinctRows, folder: Path
) -> list[PolicyProblem]:
    """Every problem of these columns and models with the data; columns that the rows lack are passed over."""
    return _encode(columns, models, rows, folder)[2]


def _encode(
    columns: Mapping[str, ColumnSpec], models: Sequence[tuple[str, Model]], rows: DistinctRows, folder: Path
) -> tuple[dict[str, QuasiColumn], dict[str, SensitiveColumn], list[PolicyProblem]]:
    resolver = _Resolver(rows, folder)
    asked = [model for _, model in models]
    quasi, sensitive = {}, {}
    for name, spec in columns.items():
        if name not in rows.columns:
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


def resolve(policy: Policy, rows: DistinctRows) -> Resolved:
    """Encode distinct rows as their policy says. Raises `PolicyError` with every problem found.

    Insensitive columns may be missing from the rows: they have no part in a search.
    """
    if not rows.n_rows:
        raise DataError("the data has a header and no records: there is nothing to release.", code="no-records")
    used = {name: policy.columns[name] for name in used_columns(policy)}
    needed = {name: column for name, column in used.items() if column.role != "insensitive"}
    lacking = unknown_columns(needed, list(rows.columns), "")
    quasi, sensitive, problems = _encode(used, policy.placed_models(), rows, policy.path("."))
    if lacking or problems:
        raise PolicyError([*lacking, *problems], policy.source)
    return Resolved(problem_of(policy, encode_rows(rows, quasi, sensitive), quasi, sensitive), quasi, sensitive)


def encode_rows(
    rows: DistinctRows, quasi: Mapping[str, QuasiColumn], sensitive: Mapping[str, SensitiveColumn]
) -> EncodedTable:
    """The table of codes over encoded columns."""
    return encode_table(
        {name: (column.codes, column.hierarchy.n_leaves) for name, column in quasi.items()},
        {name: (column.codes, len(column.domain.values)) for name, column in sensitive.items()},
        rows.n_rows,
        rows.counts if rows.n_rows < rows.n_records else None,
    )


def resolve_again(policy: Policy, before: Resolved) -> Resolved:
    """The same table under a policy that differs in its models' numbers, its algorithm or its suppression only.

    Nothing is read or encoded a second time. Raises `PolicyError` like `resolve`.
    """
    domains = {name: column.domain for name, column in before.sensitive.items()}
    problems = list(_model_problems(policy.placed_models(), domains))
    if problems:
        raise PolicyError(problems, policy.source)
    problem = problem_of(policy, before.problem.table, before.quasi, before.sensitive)
    return Resolved(problem, before.quasi, before.sensitive)


def problem_of(
    policy: Policy, encoded: EncodedTable, quasi: Mapping[str, QuasiColumn], sensitive: Mapping[str, SensitiveColumn]
) -> Problem:
    """What an algorithm is asked: the models, and what may be given up for them."""
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
        options=policy.algorithm.model_dump(exclude={"name", "metric", "weights"}),
        entries=tuple(entry for entry, spec in enumerate(policy.privacy) for _ in build_models(spec, policy.columns)),
    )
