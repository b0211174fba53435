"""A policy against a table: columns found, hierarchies built, values encoded - or every problem, all at once."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.algorithms import Problem
from shoal.errors import DataError, PolicyError, PolicyProblem, did_you_mean
from shoal.hierarchies import Hierarchy, HierarchyError, Label, Tree, boundary_caps, capped_levels
from shoal.io import encode
from shoal.metrics import METRICS
from shoal.models import Model
from shoal.policy.policy import Policy
from shoal.policy.sources import hierarchy_source
from shoal.policy.spec import ColumnSpec
from shoal.table.classes import SensitiveDomain
from shoal.table.encoded import encode_table

Codes = NDArray[np.int32]
_LISTED = 10


@dataclass(frozen=True, eq=False)
class QuasiColumn:
    """A quasi-identifier, encoded."""

    hierarchy: Hierarchy
    codes: Codes
    """Leaf code of each row."""
    caps: Codes


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column as it will be published."""

    domain: SensitiveDomain
    codes: Codes
    """Published-value code of each row."""
    category_codes: Codes | None = None
    """Category of each row where categories are published beside the values."""


@dataclass(frozen=True, eq=False)
class Resolved:
    """A policy and a table, ready for an algorithm."""

    problem: Problem
    quasi: Mapping[str, QuasiColumn]
    sensitive: Mapping[str, SensitiveColumn]


@dataclass
class _Resolver:
    table: pa.Table
    folder: Path
    published: Mapping[str, str]
    problems: list[PolicyProblem] = field(default_factory=list)

    def add(self, where: str, message: str, fix: str = "", **facts: Any) -> None:
        self.problems.append(PolicyProblem(where, message, fix, facts))

    def values(self, name: str) -> tuple[list[Label], Codes, NDArray[np.int64]] | None:
        """Distinct values, code of each row, and records of each value; None where there is nothing to encode."""
        try:
            labels, codes = encode(self.table.column(name))
        except DataError as error:
            self.add(f"columns.{name}", str(error))
            return None
        counts = np.bincount(codes, minlength=len(labels))
        if labels == [None]:
            self.add(f"columns.{name}", f"has no value in any of the {len(codes)} records.",
                     "Check the missing marks under data, or leave the column out.")  # fmt: skip
            return None
        return labels, codes, counts

    def quasi(self, name: str, spec: ColumnSpec) -> QuasiColumn | None:
        where = f"columns.{name}.hierarchy"
        encoded = self.values(name)
        if encoded is None:
            return None
        labels, codes, counts = encoded
        try:
            built = hierarchy_source(spec.hierarchy, self.folder, where).build(labels, counts.tolist(), where)
            caps = boundary_caps(built.hierarchy, spec.boundary_labels, f"columns.{name}.boundary")
        except HierarchyError as error:
            self.problems.extend(error.problems)
            return None
        return QuasiColumn(built.hierarchy, built.codes[codes].astype(np.int32), caps)

    def sensitive(self, name: str, spec: ColumnSpec) -> SensitiveColumn | None:
        encoded = self.values(name)
        if encoded is None:
            return None
        labels, codes, counts = encoded
        declared = spec.category_values
        category_of = {value: place for place, values in enumerate(declared.values()) for value in values}
        if declared:
            self._uncategorized(name, labels, counts, category_of)
            if any(label not in category_of for label in labels):
                return None
        names = tuple(declared)
        if self.published[name] == "categories":
            domain = SensitiveDomain(
                name, names, ordered=True, categories=names, category_of=np.arange(len(names), dtype=np.int32)
            )
            of_value = np.array([category_of[label] for label in labels], dtype=np.int32)
            return SensitiveColumn(domain, of_value[codes])
        ordered = self._domain(name, spec, labels, counts, category_of, names)
        if ordered is None:
            return None
        domain, of_value = ordered
        row_codes = of_value[codes]
        both = domain.category_of[row_codes] if self.published[name] == "both" else None
        return SensitiveColumn(domain, row_codes, both)

    def _uncategorized(
        self, name: str, labels: Sequence[Label], counts: NDArray[np.int64], category_of: Mapping[Label, int]
    ) -> None:
        lacking = [(label, int(count)) for label, count in zip(labels, counts, strict=True) if label not in category_of]
        if lacking:
            lacking.sort(key=lambda each: (-each[1], str(each[0])))
            shown = ", ".join(
                f"{'the missing value' if label is None else repr(label)} ({count} records)"
                for label, count in lacking[:_LISTED]
            )
            more = f" and {len(lacking) - _LISTED} more" if len(lacking) > _LISTED else ""
            near = did_you_mean(lacking[0][0], [value for value in category_of if value is not None])
            fix = "List null in one of the categories." if lacking[0][0] is None else near
            self.add(f"columns.{name}.categories", f"values of the data that no category has: {shown}{more}.", fix,
                     values=[label for label, _ in lacking])  # fmt: skip

    def _domain(
        self,
        name: str,
        spec: ColumnSpec,
        labels: Sequence[Label],
        counts: NDArray[np.int64],
        category_of: Mapping[Label, int],
        names: tuple[str, ...],
    ) -> tuple[SensitiveDomain, Codes] | None:
        """The domain of published values and the code in it of each distinct value of the data."""
        hierarchy: Hierarchy | None = None
        where = f"columns.{name}.hierarchy"
        try:
            if spec.hierarchy is not None:
                built = hierarchy_source(spec.hierarchy, self.folder, where).build(labels, counts.tolist(), where)
                hierarchy, of_value = built.hierarchy, built.codes.astype(np.int32)
            elif category_of:
                built = Tree(spec.category_values).build(labels, counts.tolist(), where)
                hierarchy, of_value = built.hierarchy, built.codes.astype(np.int32)
        except HierarchyError as error:
            self.problems.extend(error.problems)
            return None
        if hierarchy is not None:
            values = hierarchy.labels[: hierarchy.n_leaves]
            ordered = spec.hierarchy is not None and spec.hierarchy.kinds[0] in {"intervals", "dates", "order"}
        else:
            values, ordered = _in_order(labels)
            place = {value: code for code, value in enumerate(values)}
            of_value = np.array([place[label] for label in labels], dtype=np.int32)
        unknown = [value for value in values if category_of and value not in category_of]
        if unknown:
            self.add(where, f"has values that no category has: {', '.join(map(str, unknown[:_LISTED]))}.")
            return None
        of_category = np.array([category_of[value] for value in values] if category_of else [], dtype=np.int32)
        return SensitiveDomain(name, values, ordered, names, of_category, hierarchy), of_value

    def model_problems(self, models: Sequence[tuple[str, Model]], domains: Mapping[str, SensitiveDomain]) -> None:
        for where, model in models:
            if model.column is not None and model.column in domains:
                for problem in model.domain_problems(domains[model.column]):
                    self.add(f"{where}.{problem.where}" if problem.where else where, problem.message, problem.fix)


def _in_order(labels: Sequence[Label]) -> tuple[tuple[Label, ...], bool]:
    """Values in their natural order, the missing one last, and whether that order means something."""
    present = [label for label in labels if label is not None]
    tail: list[Label] = [None] if len(present) < len(labels) else []
    try:
        return (*sorted(present, key=lambda label: (Decimal(label), label)), *tail), True
    except InvalidOperation:
        pass
    try:
        return (*sorted(present, key=lambda label: (datetime.date.fromisoformat(label), label)), *tail), True
    except ValueError:
        return (*sorted(present), *tail), False


def used_columns(policy: Policy) -> list[str]:
    """The columns that are read: all that the policy names but identifiers."""
    return [name for name, column in policy.columns.items() if column.role != "identifier"]


def unknown_columns(columns: Mapping[str, ColumnSpec], names: Sequence[str], hint: str) -> list[PolicyProblem]:
    """A problem for each column of the policy that the data lacks."""
    found = []
    for name in columns:
        if name not in names:
            fix = did_you_mean(name, names) + (f" {hint[0].upper()}{hint[1:]}" if hint else "")
            found.append(PolicyProblem(f"columns.{name}", "the data has no such column.", fix))
    both = [
        name
        for name, column in columns.items()
        if column.publish == "both" and f"{name}_category" in {*names, *columns}
    ]
    found += [
        PolicyProblem(f"columns.{name}.publish", f"the data has a column {name}_category already.", "Rename it.")
        for name in both
    ]
    return found


def data_problems(
    columns: Mapping[str, ColumnSpec],
    models: Sequence[tuple[str, Model]],
    table: pa.Table,
    folder: Path,
) -> list[PolicyProblem]:
    """Every problem of these columns and models with the data; columns that the table lacks are passed over."""
    published = {name: column.publish or "values" for name, column in columns.items()}
    return _encode(columns, models, table, folder, published)[2]


def _encode(
    columns: Mapping[str, ColumnSpec],
    models: Sequence[tuple[str, Model]],
    table: pa.Table,
    folder: Path,
    published: Mapping[str, str],
) -> tuple[dict[str, QuasiColumn], dict[str, SensitiveColumn], list[PolicyProblem]]:
    resolver = _Resolver(table, folder, published)
    quasi, sensitive = {}, {}
    for name, spec in columns.items():
        if name not in table.column_names:
            continue
        if spec.role == "quasi" and (found := resolver.quasi(name, spec)) is not None:
            quasi[name] = found
        elif spec.role == "sensitive" and (secret := resolver.sensitive(name, spec)) is not None:
            sensitive[name] = secret
    resolver.model_problems(models, {name: column.domain for name, column in sensitive.items()})
    return quasi, sensitive, resolver.problems


def resolve(policy: Policy, table: pa.Table) -> Resolved:
    """Encode a table as its policy says. Raises `PolicyError` with every problem found."""
    if not table.num_rows:
        raise DataError("the data has a header and no records: there is nothing to release.")
    published = {name: policy.published(name) for name in policy.names("sensitive")}
    placed = list(zip((f"privacy ({model.name})" for model in policy.models()), policy.models(), strict=True))
    quasi, sensitive, problems = _encode(policy.columns, placed, table, policy.path("."), published)
    if problems:
        raise PolicyError(problems, policy.source)
    encoded = encode_table(
        {name: (column.codes, column.hierarchy.n_leaves) for name, column in quasi.items()},
        {name: (column.codes, len(column.domain.values)) for name, column in sensitive.items()},
        table.num_rows,
    )
    problem = Problem(
        table=encoded,
        hierarchies=tuple(column.hierarchy for column in quasi.values()),
        caps=tuple(column.caps for column in quasi.values()),
        ladders=tuple(capped_levels(column.hierarchy, column.caps) for column in quasi.values()),
        models=policy.models(),
        domains={name: column.domain for name, column in sensitive.items()},
        budget=int(Fraction(str(policy.suppression)) * table.num_rows),
        metric=METRICS[policy.algorithm.metric],
        weights=policy.algorithm.weights,
        options={"node": policy.algorithm.node, "seed": policy.algorithm.seed},
    )
    return Resolved(problem, quasi, sensitive)
