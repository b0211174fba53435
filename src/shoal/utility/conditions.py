"""The queries that a policy lists, against the values that there are: which values does each condition ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.errors import PolicyProblem, did_you_mean
from shoal.hierarchies import Label
from shoal.hierarchies.decimals import parse_decimal
from shoal.utility.columns import Domain
from shoal.utility.queries import Mask, Query

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
    return PolicyProblem(where, f"no value and no label of {domain.name!r} is {shown}.", did_you_mean(label, known))


def _between(ends: Sequence[Label], domain: Domain, where: str) -> tuple[Mask, list[PolicyProblem]]:
    """The values from a low to a high one, both included."""
    nothing = np.zeros(domain.size, dtype=bool)
    what = "number" if domain.kind == "numbers" else "date"
    if len(ends) != 2 or None in ends:
        message = f"{domain.name!r} has {what}s, of which a query asks for a {what} or for [low, high]."
        return nothing, [PolicyProblem(where, message, f"Give two {what}s.")]
    low, high = str(ends[0]), str(ends[1])
    if domain.kind == "dates":
        if low > high:
            return nothing, [_turned(low, high, where)]
        return np.fromiter(_dates_between(low, high, domain.labels), dtype=bool, count=domain.size), []
    least, most = parse_decimal(low), parse_decimal(high)
    if least is None or most is None:
        message = f"[{low}, {high}] are not two numbers."
        return nothing, [PolicyProblem(where, message, "Write them plainly, such as [30, 39].")]
    if least > most:
        return nothing, [_turned(low, high, where)]
    values = [None if label is None else parse_decimal(label) for label in domain.labels]
    return np.array([value is not None and least <= value <= most for value in values]), []


def _turned(low: str, high: str, where: str) -> PolicyProblem:
    return PolicyProblem(where, f"[{low}, {high}] begins above its end.", f"Write [{high}, {low}].")


def _dates_between(low: str, high: str, labels: Sequence[Label]) -> Iterator[bool]:
    """Dates compare as far as the ends are written: 2024-03-14 lies between 2024-01 and 2024-03."""
    for label in labels:
        yield label is not None and label[: len(low)] >= low and label[: len(high)] <= high
