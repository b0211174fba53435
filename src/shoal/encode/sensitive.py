"""A sensitive column against the data: its published values in order, their categories and their hierarchy.

Unknown values (a missing one, and those that the policy lists) are published as they are. They come after all values
that are known, and need neither a category nor a place in a hierarchy.
"""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyProblem
from shoal.formatting import listing
from shoal.hierarchies import HierarchyError, Label, Tree
from shoal.hierarchies.bins import bin_labels, in_order
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.hierarchies.problems import quoted, values_problem
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import ColumnSpec
from shoal.table.classes import SensitiveDomain
from shoal.table.encoded import Codes

_LISTED = 10
_ORDERED_KINDS = {"intervals", "dates", "order"}  # hierarchies whose leaves are in an order that means something
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column, the code of each row, and how many records have each value."""

    labels: tuple[Label, ...]
    codes: Codes
    counts: NDArray[np.int64]

    def among(self, chosen: NDArray[np.bool_]) -> Values:
        """Some of the values; the rows are left out."""
        labels = tuple(label for label, wanted in zip(self.labels, chosen, strict=True) if wanted)
        return Values(labels, self.codes[:0], self.counts[chosen])


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column as it will be published."""

    domain: SensitiveDomain
    codes: Codes  # published-value code of each row
    category_codes: Codes | None = None
    """Category of each row where categories are published beside the values; one more than there are if unknown."""


def encode_sensitive(
    name: str, spec: ColumnSpec, values: Values, publish: str, folder: Path
) -> tuple[SensitiveColumn | None, list[PolicyProblem]]:
    """The column as its policy publishes it, or every reason why it cannot be."""
    known = np.array([label not in spec.unknown_values for label in values.labels], dtype=np.bool_)
    found, problems = _encode_known(name, spec, values.among(known), publish, folder)
    if found is None:
        return None, problems
    domain, of_known = with_unknown(found[0], values.among(~known).labels), found[1]
    code_of = {value: code for code, value in enumerate(domain.values)}
    of_label = np.array([code_of.get(label, -1) for label in values.labels], dtype=np.int32)
    of_label[known] = of_known
    codes = of_label[values.codes]
    if publish != "both":
        return SensitiveColumn(domain, codes), []
    categories = domain.category_of[codes]
    return SensitiveColumn(domain, codes, np.where(categories < 0, len(domain.categories), categories)), []


def _encode_known(
    name: str, spec: ColumnSpec, values: Values, publish: str, folder: Path
) -> tuple[tuple[SensitiveDomain, Codes] | None, list[PolicyProblem]]:
    """The domain of the known values and the code of each, or every reason why there is none."""
    where, declared = f"columns.{name}", spec.category_values
    if spec.bins is not None:
        try:
            shown = bin_labels(spec.bins, values.labels, values.counts.tolist(), f"{where}.bins")
        except HierarchyError as error:
            return None, list(error.problems)
        return in_bins(name, shown), []
    category_of = {value: code for code, group in enumerate(declared.values()) for value in group}
    problems = _uncategorized(values, category_of, f"{where}.categories") if declared else []
    categories = tuple(declared)
    if publish == "categories":
        for mark in [name for name in declared if name in spec.unknown_values]:
            message = (
                f"{mark!r} is an unknown value and the name of a category: a release of categories could mean either."
            )
            problems.append(PolicyProblem(f"{where}.unknown", message, "Rename the category.", code="unknown-category"))
        if problems:
            return None, problems
        every = np.arange(len(categories), dtype=np.int32)
        domain = SensitiveDomain(name, categories, ordered=True, categories=categories, category_of=every)
        return (domain, np.array([category_of[label] for label in values.labels], dtype=np.int32)), []
    try:
        domain, of_label = _domain(name, spec, values, bool(problems), folder)
    except HierarchyError as error:
        return None, [*problems, *error.problems]
    if declared and not problems:
        of_category, problems = _categories_of(domain, of_label, values, category_of, where)
        domain = replace(domain, categories=categories, category_of=of_category)
    return (None, problems) if problems else ((domain, of_label), [])


def with_unknown(domain: SensitiveDomain, labels: Sequence[Label]) -> SensitiveDomain:
    """The domain with unknown values after all others, the missing one last; a hierarchy may have some already."""
    if not labels:
        return domain
    added = sorted((label for label in labels if label not in domain.values), key=lambda label: (label is None, label))
    category_of, lacking = domain.category_of, np.full(len(added), -1, dtype=np.int32)
    if domain.categories:
        category_of = np.concatenate([category_of, lacking])
        category_of[[value in labels for value in domain.values] + [True] * len(added)] = -1
    values = (*domain.values, *added)
    return replace(domain, values=values, category_of=category_of, unknown=frozenset(labels))


def in_bins(name: str, shown: Sequence[Label], others: Sequence[Label] = ()) -> tuple[SensitiveDomain, Codes]:
    """The domain of a column of numbers in bins, of which it may have others too, and the code of each value's bin."""
    domain = SensitiveDomain(name, in_order([*shown, *others]), ordered=True)
    code_of = {label: code for code, label in enumerate(domain.values)}
    return domain, np.array([code_of[label] for label in shown], dtype=np.int32)


def _uncategorized(values: Values, category_of: Mapping[Label, int], where: str) -> list[PolicyProblem]:
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
    what = "of the data are in no category"
    return [values_problem(where, what, lacking, code="values-without-category", fix=fix, hint=near)]


def _domain(
    name: str, spec: ColumnSpec, values: Values, uncategorized: bool, folder: Path
) -> tuple[SensitiveDomain, Codes]:
    """The published values, ordered by hierarchy, categories or nature, and which of them each value of the data is."""
    counts, built, ordered, where = values.counts.tolist(), None, False, f"columns.{name}.hierarchy"
    if spec.hierarchy is not None:
        built = hierarchy_source(spec.hierarchy, folder, where).build(values.labels, counts, where)
        ordered = spec.hierarchy.kinds[0] in _ORDERED_KINDS
    elif spec.category_values and not uncategorized:
        with suppress(HierarchyError):  # no tree can have a category that bears the name of a value
            built = Tree(spec.category_values).build(values.labels, counts, where)
    if built is None:
        texts, ordered = _in_order(values.labels)
        code_of = {value: code for code, value in enumerate(texts)}
        return SensitiveDomain(name, texts, ordered), np.array(
            [code_of[each] for each in values.labels], dtype=np.int32
        )
    hierarchy = built.hierarchy
    by_groups = spec.hierarchy is None or spec.hierarchy.mask is None  # how a code is masked depends on the longest one
    in_order = hierarchy.labels[: hierarchy.n_leaves]
    domain = SensitiveDomain(name, in_order, ordered, hierarchy=hierarchy if by_groups else None)
    return domain, built.codes.astype(np.int32)


def _categories_of(
    domain: SensitiveDomain, of_label: Codes, values: Values, category_of: Mapping[Label, int], where: str
) -> tuple[Codes, list[PolicyProblem]]:
    """The category of each published value: that of the values of the data that it stands for, else its own."""
    category_codes = {code: category_of[value] for code, value in enumerate(domain.values) if value in category_of}
    problems = []
    for label, code in zip(values.labels, of_label.tolist(), strict=True):
        if category_codes.setdefault(code, category_of[label]) != category_of[label]:
            message = f"{quoted(label)} and {quoted(domain.values[code])} are one value and stand in two categories."
            fix, at = "Put both into one category.", f"{where}.categories"
            problems.append(PolicyProblem(at, message, fix, code="value-in-two-categories"))
    unknown = [quoted(value) for code, value in enumerate(domain.values) if code not in category_codes]
    if unknown:
        message = f"lists values that no category has: {listing(unknown, most=_LISTED)}."
        fix = "Put each into one category, or leave it out of the hierarchy."
        problems.append(PolicyProblem(f"{where}.hierarchy", message, fix, code="uncategorized-values"))
    return np.array([category_codes.get(code, -1) for code in range(len(domain.values))], dtype=np.int32), problems


def _in_order(labels: Sequence[Label]) -> tuple[tuple[Label, ...], bool]:
    """Values in their natural order, the missing one last, and whether that order means something."""
    present = [label for label in labels if label is not None]
    tail: list[Label] = [None] if len(present) < len(labels) else []
    for read in (parse_decimal, _moment):
        keys = [read(label) for label in present]
        if None not in keys:
            return (*(label for _, label in sorted(zip(keys, present, strict=True))), *tail), True
    return (*sorted(present), *tail), False


def _moment(text: str) -> datetime.datetime | None:
    """An ISO date or time as a moment; None for everything else."""
    try:
        return datetime.datetime.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None
