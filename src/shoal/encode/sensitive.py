"""A sensitive column against the data: its published values in order, their categories and their hierarchy."""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyProblem
from shoal.formatting import listing
from shoal.hierarchies import BuiltHierarchy, Hierarchy, HierarchyError, Label, Tree
from shoal.hierarchies.labels import parse_decimal
from shoal.hierarchies.problems import quoted, values_problem
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import ColumnSpec
from shoal.table.classes import SensitiveDomain

Codes = NDArray[np.int32]
_LISTED = 10
_ORDERED_KINDS = {"intervals", "dates", "order"}  # hierarchies whose leaves are in an order that means something
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column, the code of each row, and how many records have each value."""

    labels: tuple[Label, ...]
    codes: Codes
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column as it will be published."""

    domain: SensitiveDomain
    codes: Codes  # published-value code of each row
    category_codes: Codes | None = None  # category of each row where categories are published beside the values


@dataclass(frozen=True, eq=False)
class _Domain:
    """Published values in order, the place of each value of the data among them, and what orders them."""

    values: tuple[Label, ...]
    of_label: Codes
    ordered: bool
    hierarchy: Hierarchy | None = None


def encode_sensitive(
    name: str, spec: ColumnSpec, values: Values, publish: str, folder: Path
) -> tuple[SensitiveColumn | None, list[PolicyProblem]]:
    """The column as its policy publishes it, or every reason why it cannot be."""
    where = f"columns.{name}"
    declared = spec.category_values
    category_of = {value: place for place, group in enumerate(declared.values()) for value in group}
    problems = _uncategorized(values, category_of, f"{where}.categories") if declared else []
    categories = tuple(declared)
    if publish == "categories":
        if problems:
            return None, problems
        every = np.arange(len(categories), dtype=np.int32)
        domain = SensitiveDomain(name, categories, ordered=True, categories=categories, category_of=every)
        of_label = np.array([category_of[label] for label in values.labels], dtype=np.int32)
        return SensitiveColumn(domain, of_label[values.codes]), []
    try:
        found = _domain(spec, values, bool(problems), folder, f"{where}.hierarchy")
    except HierarchyError as error:
        return None, [*problems, *error.problems]
    if problems:
        return None, problems
    of_category = np.zeros(0, dtype=np.int32)
    if declared:
        of_category, problems = _categories_of(found, values, category_of, where)
        if problems:
            return None, problems
    domain = SensitiveDomain(name, found.values, found.ordered, categories, of_category, found.hierarchy)
    codes = found.of_label[values.codes]
    return SensitiveColumn(domain, codes, of_category[codes] if publish == "both" else None), []


def _uncategorized(values: Values, category_of: Mapping[Label, int], where: str) -> list[PolicyProblem]:
    """The values of the data that stand in no category."""
    pairs = zip(values.labels, values.counts.tolist(), strict=True)
    lacking = [(label, count) for label, count in pairs if label not in category_of]
    if not lacking:
        return []
    known = [value for value in category_of if value is not None]

    def near(label: Label) -> str:
        found = difflib.get_close_matches(label or "", known, n=1, cutoff=0.6)
        return f"; nearest known: {found[0]!r}" if found else ""

    fix = "Put each into one category"
    fix += "; write null for the missing value." if any(label is None for label, _ in lacking) else "."
    return [
        values_problem(
            where, "of the data are in no category", lacking, code="values-without-category", fix=fix, hint=near
        )
    ]


def _domain(spec: ColumnSpec, values: Values, uncategorized: bool, folder: Path, where: str) -> _Domain:
    """The published values: in the order of the hierarchy, of the categories, or their natural one."""
    counts = values.counts.tolist()
    if spec.hierarchy is not None:
        built = hierarchy_source(spec.hierarchy, folder, where).build(values.labels, counts, where)
        ordered = spec.hierarchy.kinds[0] in _ORDERED_KINDS
    elif spec.category_values and not uncategorized and (of_categories := _category_tree(spec, values, where)):
        built, ordered = of_categories, False
    else:
        texts, ordered = _in_order(values.labels)
        place = {value: code for code, value in enumerate(texts)}
        return _Domain(texts, np.array([place[label] for label in values.labels], dtype=np.int32), ordered)
    hierarchy = built.hierarchy
    values_in_order = hierarchy.labels[: hierarchy.n_leaves]
    by_groups = spec.hierarchy is None or spec.hierarchy.mask is None  # how a code is masked depends on the longest one
    return _Domain(values_in_order, built.codes.astype(np.int32), ordered, hierarchy if by_groups else None)


def _category_tree(spec: ColumnSpec, values: Values, where: str) -> BuiltHierarchy | None:
    """The categories as a tree of two levels; None where a category bears the name of a value, which no tree can."""
    try:
        return Tree(spec.category_values).build(values.labels, values.counts.tolist(), where)
    except HierarchyError:
        return None


def _categories_of(
    found: _Domain, values: Values, category_of: Mapping[Label, int], where: str
) -> tuple[Codes, list[PolicyProblem]]:
    """The category of each published value: that of the values of the data that it stands for, else its own.

    A hierarchy writes values in its own way ("039" is its leaf "39"), so the category is looked up as the data has it.
    """
    places = {code: category_of[value] for code, value in enumerate(found.values) if value in category_of}
    problems = []
    for label, code in zip(values.labels, found.of_label.tolist(), strict=True):
        if places.setdefault(code, category_of[label]) != category_of[label]:
            message = f"{quoted(label)} and {quoted(found.values[code])} are one value and stand in two categories."
            problems.append(
                PolicyProblem(
                    f"{where}.categories", message, "Put both into one category.", code="value-in-two-categories"
                )
            )
    unknown = [quoted(value) for code, value in enumerate(found.values) if code not in places]
    if unknown:
        message = f"lists values that no category has: {listing(unknown, most=_LISTED)}."
        fix = "Put each into one category, or leave it out of the hierarchy."
        problems.append(PolicyProblem(f"{where}.hierarchy", message, fix, code="uncategorized-values"))
    return np.array([places.get(code, -1) for code in range(len(found.values))], dtype=np.int32), problems


def _in_order(labels: Sequence[Label]) -> tuple[tuple[Label, ...], bool]:
    """Values in their natural order, the missing one last, and whether that order means something."""
    present = [label for label in labels if label is not None]
    tail: list[Label] = [None] if len(present) < len(labels) else []
    numbers = [parse_decimal(label) for label in present]
    if None not in numbers:
        return (*(label for _, label in sorted(zip(numbers, present, strict=True))), *tail), True
    moments = [_moment(label) for label in present]
    if None not in moments:
        return (*(label for _, label in sorted(zip(moments, present, strict=True))), *tail), True
    return (*sorted(present), *tail), False


def _moment(text: str) -> datetime.datetime | None:
    """An ISO date or time as a moment; None for everything else."""
    try:
        return datetime.datetime.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None
