"""The queries that a policy lists, against the values that there are: which values does each condition ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from shoal.errors import PolicyProblem, did_you_mean
from shoal.formatting import listing
from shoal.hierarchies import Label
from shoal.hierarchies.labels import parse_decimal
from shoal.utility.columns import Domain
from shoal.utility.queries import Mask, Query

_FIRST_MOMENT = "0001-01-01T00:00:00"
"""What completes the beginning of a time."""
_ISO_BEGINNING = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d{1,6})?)?)?)?)?)?", re.ASCII)
Conditions = Mapping[str, Label | Sequence[Label]]


def read_queries(
    listed: Sequence[Conditions], domains: Mapping[str, Domain]
) -> tuple[list[Query], list[PolicyProblem]]:
    """The queries of a policy, and everything that is wrong with them."""
    queries, problems = [], []
    for place, conditions in enumerate(listed):
        wanted = {}
        for name, condition in conditions.items():
            where = f"utility.queries[{place}].{name}"
            mask, found = _wanted(condition, domains[name], where)
            wanted[name] = mask
            problems += found
        queries.append(Query(wanted))
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
