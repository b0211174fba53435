"""A policy against a table: columns found, hierarchies built, values encoded - or every problem, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.encode.conceal_key import conceal_veto
from shoal.encode.person import person_problems
from shoal.encode.sensitive import SensitiveColumn, Values, encode_sensitive
from shoal.encode.spellings import Spellings, blank_problems, merge_rows
from shoal.errors import DataError, PolicyError, PolicyProblem, did_you_mean
from shoal.formatting import pluralize
from shoal.hierarchies import Hierarchy, HierarchyError, boundary_caps, capped_levels
from shoal.hierarchies.leaf_order import in_listed_order
from shoal.metrics import METRICS
from shoal.models import Model
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.model_specs import build_models
from shoal.policy.policy import Policy, published
from shoal.policy.spec import ColumnSpec
from shoal.policy.tables_spec import TABLE
from shoal.search.problem import Problem
from shoal.table.classes import SensitiveDomain
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import Codes, EncodedTable, encode_table
from shoal.table.people import person_codes


@dataclass(frozen=True, eq=False)
class QuasiColumn:
    """A quasi-identifier, encoded."""

    hierarchy: Hierarchy
    leaves: Codes  # leaf code of each value
    values: Codes  # the value of each row
    caps: Codes  # the node that each leaf may be generalized to at most

    @property
    def codes(self) -> Codes:
        """Leaf code of each row."""
        return self.leaves[self.values]


@dataclass(frozen=True, eq=False)
class Resolved:
    """A policy and a table, ready for an algorithm."""

    problem: Problem
    quasi: Mapping[str, QuasiColumn]
    sensitive: Mapping[str, SensitiveColumn]

    @staticmethod
    def of(
        policy: Policy,
        rows: DistinctRows,
        quasi: Mapping[str, QuasiColumn],
        sensitive: Mapping[str, SensitiveColumn],
    ) -> Resolved:
        """Encoded columns as the problem that the policy poses."""
        table = encode_table(
            {name: (column.codes, column.hierarchy.n_leaves) for name, column in quasi.items()},
            {name: _codes_in_tables(policy, rows, name, column.codes) for name, column in sensitive.items()},
            rows.n_rows,
            rows.counts if rows.n_rows < rows.n_records else None,
            person_codes(rows, policy.person_columns),
            linked=policy.pseudonym is not None,
        )
        return Resolved(_problem(policy, table, quasi, sensitive), quasi, sensitive)

    def take(self, rows: NDArray[np.int64], counts: NDArray[np.int64] | None) -> Resolved:
        """The same with other rows: some of these, each standing for a number of records (one if None)."""
        quasi = {name: replace(column, values=column.values[rows]) for name, column in self.quasi.items()}
        sensitive = {}
        for name, column in self.sensitive.items():
            categories = None if column.category_codes is None else column.category_codes[rows]
            sensitive[name] = replace(column, codes=column.codes[rows], category_codes=categories)
        problem = replace(self.problem, table=replace(self.problem.table.parted(rows, counts), entry=None))
        return Resolved(problem, quasi, sensitive)

    def of_records(self, rows: DistinctRows) -> Resolved:
        """The same with a row per record, in the order of the data."""
        assert rows.of_record is not None, "the records are held"
        return self.take(rows.of_record, None)


def _codes_in_tables(policy: Policy, rows: DistinctRows, name: str, codes: Codes) -> Codes:
    """The codes of a sensitive column; -1 for records of a table that does not have it."""
    lacking = [table for table, spec in (policy.tables or {}).items() if name not in spec.columns]
    if not lacking:
        return codes
    column = rows.columns[TABLE]
    absent = np.array([label in lacking for label in column.labels], dtype=np.bool_)[column.codes]
    return np.where(absent, -1, codes).astype(np.int32)


def used_columns(policy: Policy) -> list[str]:
    """The columns that are read: all but identifiers, who a record is about, and dates that others are relative to."""
    also = {*policy.person_columns, *policy.relative_columns.values()}
    return [name for name, column in policy.columns.items() if column.role != "identifier" or name in also]


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
    plain = {name: column for name, column in columns.items() if column.relative is None}
    return _encode(plain, models, merge_rows(rows, plain), folder)[2]


def _encode(
    columns: Mapping[str, ColumnSpec],
    models: Sequence[tuple[str, Model]],
    rows: DistinctRows,
    folder: Path,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> tuple[dict[str, QuasiColumn], dict[str, SensitiveColumn], list[PolicyProblem]]:
    """The quasi-identifiers and sensitive columns, encoded, and every problem on the way."""
    quasi: dict[str, QuasiColumn] = {}
    sensitive: dict[str, SensitiveColumn] = {}
    problems: list[PolicyProblem] = []
    for name, spec in columns.items():
        if spec.role not in {"quasi", "sensitive"} or name not in rows.columns:
            continue
        where, column = f"columns.{name}", rows.columns[name]
        counts = np.bincount(column.codes, weights=rows.counts, minlength=len(column.labels)).astype(np.int64)
        if set(column.labels) <= {None, *(spec.unknown_values if spec.role == "sensitive" else ())}:
            message = f"has no value in any of the {pluralize(rows.n_records, 'record')}."
            fix = "Check the missing marks under data (for a sensitive column, also unknown), or leave the column out."
            problems.append(PolicyProblem(where, message, fix, code="no-values"))
        elif spec.role == "quasi":
            try:
                source = hierarchy_source(spec.hierarchy, folder, f"{where}.hierarchy")
                built = source.build(column.labels, counts.tolist(), f"{where}.hierarchy")
                if name in (orders or {}):
                    order, listed_at = (orders or {})[name], f"algorithm.ranges.{name}"
                    built = in_listed_order(built, order, column.labels, counts.tolist(), listed_at)
                caps = boundary_caps(built.hierarchy, spec.boundary, f"{where}.boundary")
            except HierarchyError as error:
                problems += error.problems
            else:
                quasi[name] = QuasiColumn(built.hierarchy, built.codes.astype(np.int32), column.codes, caps)
        else:
            labelled = list(zip(column.labels, counts.tolist(), strict=True))
            problems += [*Spellings.of(name, spec, labelled).problems(), *blank_problems(name, spec, labelled)]
            publish = published(name, spec, [model for _, model in models])
            values = Values(column.labels, column.codes, counts)
            secret, found = encode_sensitive(name, spec, values, publish, folder)
            problems += found
            if secret is not None:
                sensitive[name] = secret
    domains = {name: column.domain for name, column in sensitive.items()}
    return quasi, sensitive, [*problems, *_model_problems(models, domains)]


def _model_problems(
    models: Sequence[tuple[str, Model]], domains: Mapping[str, SensitiveDomain]
) -> Iterator[PolicyProblem]:
    """What the models find wrong with the values; what is wrong with categories needs no data and is known."""
    for where, model in models:
        if model.column is not None and model.column in domains and not model.needs_categories:
            for problem in model.domain_problems(domains[model.column]):
                yield replace(problem, where=f"{where}.{problem.where}" if problem.where else where)


def resolve(policy: Policy, rows: DistinctRows, others: Sequence[PolicyProblem] = ()) -> Resolved:
    """Encode distinct rows as their policy says. Raises `PolicyError` with every problem found, and the ``others``."""
    if not rows.n_rows:
        raise DataError("the data has a header and no records: there is nothing to release.", code="no-records")
    used = {name: policy.columns[name] for name in used_columns(policy)}
    person = policy.person_columns
    needed = {name: column for name, column in used.items() if column.role in {"quasi", "sensitive"} or name in person}
    lacking = unknown_columns(needed, list(rows.columns), "")
    quasi, sensitive, problems = _encode(used, policy.models_with_paths(), rows, policy.path("."), policy.listed_orders)
    problems += [*person_problems(policy.person_columns, rows), *others]
    if lacking or problems:
        raise PolicyError([*lacking, *problems], policy.source)
    return Resolved.of(policy, rows, quasi, sensitive)


def resolve_again(policy: Policy, before: Resolved) -> Resolved:
    """The same table under a policy that differs in its models' numbers, its algorithm or its suppression only."""
    domains = {name: column.domain for name, column in before.sensitive.items()}
    problems = list(_model_problems(policy.models_with_paths(), domains))
    if problems:
        raise PolicyError(problems, policy.source)
    problem = _problem(policy, before.problem.table, before.quasi, before.sensitive)
    return Resolved(problem, before.quasi, before.sensitive)


def _problem(
    policy: Policy, encoded: EncodedTable, quasi: Mapping[str, QuasiColumn], sensitive: Mapping[str, SensitiveColumn]
) -> Problem:
    """What an algorithm is asked: the models, and what may be given up for them."""
    models = policy.models()
    entries = [entry for entry, spec in enumerate(policy.privacy) for _ in build_models(spec, policy.columns)]
    if len(models) > len(entries):  # known events, with the k of the entry that has the largest
        sizes = [model.least_records if model.column is None else 0 for model in models[: len(entries)]]
        entries.append(entries[int(np.argmax(sizes))])
    return Problem(
        table=encoded,
        hierarchies=tuple(column.hierarchy for column in quasi.values()),
        caps=tuple(column.caps for column in quasi.values()),
        ladders=tuple(capped_levels(column.hierarchy, column.caps) for column in quasi.values()),
        models=models,
        domains={name: column.domain for name, column in sensitive.items()},
        budget=int(Fraction(str(policy.suppression)) * encoded.n_rows),
        metric=METRICS[policy.algorithm.metric],
        weights=policy.algorithm.weights,
        options=policy.algorithm.model_dump(exclude={"name", "metric", "weights"}),
        demands=policy.demands,
        entries=tuple(entries),
        veto=conceal_veto(policy),
    )
