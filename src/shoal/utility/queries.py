"""Count queries: how many records have certain values, told by the original and estimated from the release.

A query asks for some values in some columns. The release answers with the sum over its records of the chance that each
is asked for: in every column the share of the values under its label that are, and over several columns the product
(uniform spread within a class: Xiao & Tao 2006, 6.1; LeFevre et al. 2006). The error is relative to the true count, or
to a sanity bound of 0.1% of the records where the count is below it (Vitter & Wang 1999).

Random queries follow Xiao & Tao: one to three columns, at least one of them a quasi-identifier, and in each as many
values as needed to ask for about 5% of all combinations: neighbours in a column with an order, any values in others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyProblem, did_you_mean
from shoal.formatting import listing
from shoal.hierarchies import Label
from shoal.hierarchies.labels import parse_decimal
from shoal.utility.columns import Domain, Floats, ValueColumn

Mask = NDArray[np.bool_]
Query = Mapping[str, Mask]
"""For each column of a query, which of its values are asked for."""

SELECTIVITY = 0.05
MOST_COLUMNS = 3
_BINS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Where the bins of relative errors end; the last one is open."""
SANITY = 0.001
"""Share of the records below which a true count is taken to be that."""


def draw_queries(
    domains: Mapping[str, Domain], quasi: Sequence[str], others: Sequence[str], count: int, rng: np.random.Generator
) -> list[Query]:
    """Random queries over quasi-identifiers and other columns."""
    queries: list[Query] = []
    for _ in range(count):
        n_columns = int(rng.integers(1, min(MOST_COLUMNS, len(quasi) + len(others)) + 1))
        first = quasi[int(rng.integers(len(quasi)))]
        rest = [name for name in (*quasi, *others) if name != first]
        chosen = [first, *(rest[place] for place in rng.permutation(len(rest))[: n_columns - 1].tolist())]
        share = SELECTIVITY ** (1 / n_columns)
        queries.append({name: _some_values(domains[name], share, rng) for name in chosen})
    return queries


def _some_values(domain: Domain, share: float, rng: np.random.Generator) -> Mask:
    """A share of the values, rounded up: neighbours where they have an order, which the missing value has not."""
    wanted = np.zeros(domain.size, dtype=bool)
    if domain.numbers is None:
        asked = int(np.ceil(domain.size * share))
        wanted[rng.permutation(domain.size)[:asked]] = True
        return wanted
    in_order = np.argsort(domain.numbers, kind="stable")[: int(np.count_nonzero(~np.isnan(domain.numbers)))]
    asked = int(np.ceil(len(in_order) * share))
    start = int(rng.integers(len(in_order) - asked + 1))
    wanted[in_order[start : start + asked]] = True
    return wanted


def answer(query: Query, columns: Mapping[str, ValueColumn]) -> float:
    """The expected number of records that are asked for; exact where every cell is one value."""
    chance: Floats | None = None
    for name, wanted in query.items():
        column = columns[name]
        below = np.concatenate([[0], np.cumsum(wanted)])
        size = column.last - column.first + 1
        share = (below[column.last + 1] - below[column.first]) / size
        chance = share if chance is None else chance * share
    return 0.0 if chance is None else float(chance.sum())


@dataclass(frozen=True)
class QueryAnswer:
    """A query's true count, its estimate from the release, and its relative error."""

    records: int
    estimate: float
    error: float


def compare_answers(
    queries: Sequence[Query], originals: Mapping[str, ValueColumn], released: Mapping[str, ValueColumn], records: int
) -> list[QueryAnswer]:
    """Each query answered from the original and from the release."""
    answers = []
    for query in queries:
        true, estimate = answer(query, originals), answer(query, released)
        error = abs(estimate - true) / max(true, SANITY * records)
        answers.append(QueryAnswer(round(true), estimate, error))
    return answers


def all_generalized(columns: Mapping[str, ValueColumn], quasi: Sequence[str]) -> dict[str, ValueColumn]:
    """The columns if every quasi-identifier were released as its root: the least that a release can tell."""
    blurred = dict(columns)
    for name in quasi:
        column = columns[name]
        first, last = np.zeros_like(column.first), np.full_like(column.last, column.domain.size - 1)
        blurred[name] = ValueColumn(column.domain, first, last)
    return blurred


def error_spread(answers: Sequence[QueryAnswer]) -> dict[str, float]:
    """The relative errors in five figures."""
    errors = np.array([each.error for each in answers])
    low, median, high = np.percentile(errors, [25, 50, 75])
    named = {"mean": errors.mean(), "lower_quartile": low, "median": median, "upper_quartile": high}
    return {name: round(float(value), 6) for name, value in {**named, "largest": errors.max()}.items()}


def error_bins(answers: list[QueryAnswer]) -> list[dict[str, Any]]:
    """How many queries are off by how much."""
    errors = np.array([each.error for each in answers])
    counts = np.bincount(np.searchsorted(_BINS, errors), minlength=len(_BINS) + 1).tolist()
    ends = [f"{end:.0%}" for end in _BINS]
    names = [f"at most {ends[0]}", *(f"{low} to {high}" for low, high in pairwise(ends))]
    return [{"error": name, "queries": count} for name, count in zip([*names, f"over {ends[-1]}"], counts, strict=True)]


def listed_answers(queries: Sequence[Mapping[str, Any]], answers: Sequence[QueryAnswer]) -> list[dict[str, Any]]:
    """Each query of the policy with its answers."""
    return [
        {
            "query": query,
            "records": each.records,
            "estimate": round(each.estimate, 6),
            "relative_error": round(each.error, 6),
        }
        for query, each in zip(queries, answers, strict=True)
    ]


_FIRST_MOMENT = "0001-01-01T00:00:00"
"""What completes the beginning of a time."""
_ISO_BEGINNING = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d{1,6})?)?)?)?)?)?", re.ASCII)
Conditions = Mapping[str, Label | Sequence[Label]]


def read_queries(
    listed: Sequence[Conditions], domains: Mapping[str, Domain]
) -> tuple[list[Query], list[PolicyProblem]]:
    """The queries of a policy, and everything that is wrong with them."""
    queries: list[Query] = []
    problems: list[PolicyProblem] = []
    for place, conditions in enumerate(listed):
        wanted = {}
        for name, condition in conditions.items():
            where = f"utility.queries[{place}].{name}"
            mask, found = _wanted(condition, domains[name], where)
            wanted[name] = mask
            problems += found
        queries.append(wanted)
    return queries, problems


def _wanted(condition: Any, domain: Domain, where: str) -> tuple[Mask, list[PolicyProblem]]:
    """The values that one condition asks for."""
    if isinstance(condition, list) and domain.kind in {"numbers", "dates"}:
        return _between(condition, domain, where)
    mask = np.zeros(domain.size, dtype=bool)
    problems = []
    for label in condition if isinstance(condition, list) else [condition]:
        stretch = _stretch(label, domain)
        if stretch is not None:
            mask[stretch] = True
        elif domain.kind == "dates" and label is not None and _is_date(label):
            mask |= _dates_between(label, label, domain.labels)
        elif domain.kind != "numbers" or label is None or parse_decimal(label) is None:
            problems.append(_unknown(label, domain, where))
    return mask, problems


def _stretch(label: Label, domain: Domain) -> slice | None:
    """The values that a label names: one of them, or all under a node of the hierarchy."""
    if domain.hierarchy is not None and label in domain.hierarchy.by_label:
        node = domain.hierarchy.by_label[label]
        return slice(int(domain.hierarchy.first[node]), int(domain.hierarchy.last[node]) + 1)
    if label in domain.labels:
        place = domain.labels.index(label)
        return slice(place, place + 1)
    return None


def _unknown(label: Label, domain: Domain, where: str) -> PolicyProblem:
    known = [each for each in domain.labels if each is not None]
    shown = "null" if label is None else repr(label)
    message = f"{domain.name!r} has no value or label {shown}."
    return PolicyProblem(where, message, did_you_mean(label, known), code="unknown-value")


def _between(ends: Sequence[Label], domain: Domain, where: str) -> tuple[Mask, list[PolicyProblem]]:
    """The values from a low to a high one, both included."""
    nothing = np.zeros(domain.size, dtype=bool)
    what = "number" if domain.kind == "numbers" else "date"
    if len(ends) != 2 or None in ends:
        message = f"{domain.name!r} has {what}s: a query asks for one {what} or for [low, high]."
        return nothing, [PolicyProblem(where, message, f"Give two {what}s.", code="range-form")]
    low, high = str(ends[0]), str(ends[1])
    if domain.kind == "dates":
        if strays := [repr(end) for end in (low, high) if not _is_date(end)]:
            message = f"{listing(strays)} cannot be read as {'a date' if len(strays) == 1 else 'dates'}."
            fix = "Write dates as 2024-03-14, or only as far as it matters: 2024-03."
            return nothing, [PolicyProblem(where, message, fix, code="not-a-date")]
        if _written(low, high) > _written(high, low):
            return nothing, [_turned(low, high, where)]
        return _dates_between(low, high, domain.labels), []
    least, most = parse_decimal(low), parse_decimal(high)
    if least is None or most is None:
        message = f"[{low}, {high}] cannot be read as two numbers."
        return nothing, [PolicyProblem(where, message, "Write plain numbers, such as [30, 39].", code="not-numbers")]
    if least > most:
        return nothing, [_turned(low, high, where)]
    values = [None if label is None else parse_decimal(label) for label in domain.labels]
    return np.array([value is not None and least <= value <= most for value in values]), []


def _turned(low: str, high: str, where: str) -> PolicyProblem:
    message = f"[{low}, {high}] starts above its end."
    return PolicyProblem(where, message, f"Write [{high}, {low}].", code="range-reversed")


def _dates_between(low: str, high: str, labels: Sequence[Label]) -> Mask:
    """Dates compare as far as both are written: 2024-03-14 lies between 2024-01 and 2024-03."""
    inside = (
        label is not None
        and _written(label, low) >= _written(low, label)
        and _written(label, high) <= _written(high, label)
        for label in labels
    )
    return np.fromiter(inside, dtype=bool, count=len(labels))


def _written(date: str, beside: str) -> str:
    """A date as far as another one is written."""
    return date[: len(beside)]


def _is_date(text: str) -> bool:
    """Whether a text is an ISO date or time, or the beginning of one that ends after a whole part."""
    if not _ISO_BEGINNING.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text + _FIRST_MOMENT[len(text) :])
    except ValueError:
        return False
    return True
