"""Count queries: how many records have certain values, told by the original and estimated from the release.

A query asks for some values in some columns. The release answers with the sum over its records of the chance that each
is asked for: in every column the share of the values under its label that are, and over several columns the product
(uniform spread within a class: Xiao & Tao 2006, 6.1; LeFevre et al. 2006). The error is relative to the true count, or
to a sanity bound of 0.1% of the records where the count is below it, so that errors on next to nothing do not
outweigh all others (Vitter & Wang 1999).

Random queries follow Xiao & Tao: one to three columns, at least one of them a quasi-identifier, and in each as many
values as needed to ask for about 5% of all combinations: neighbours in a column with an order, any values in others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.utility.columns import Domain, Floats, ValueColumn

Mask = NDArray[np.bool_]

SELECTIVITY = 0.05
MOST_COLUMNS = 3
_BINS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Where the bins of relative errors end; the last one is open."""
SANITY = 0.001
"""Share of the records below which a true count is taken to be that."""


@dataclass(frozen=True, eq=False)
class Query:
    """The values that are asked for, in some columns."""

    wanted: Mapping[str, Mask]
    """For each column of the query, which of its values are asked for."""


def draw_queries(
    domains: Mapping[str, Domain], quasi: Sequence[str], others: Sequence[str], count: int, rng: np.random.Generator
) -> list[Query]:
    """Random queries over quasi-identifiers and other columns."""
    queries = []
    for _ in range(count):
        n_columns = int(rng.integers(1, min(MOST_COLUMNS, len(quasi) + len(others)) + 1))
        first = quasi[int(rng.integers(len(quasi)))]
        rest = [name for name in (*quasi, *others) if name != first]
        chosen = [first, *(rest[place] for place in rng.permutation(len(rest))[: n_columns - 1].tolist())]
        share = SELECTIVITY ** (1 / n_columns)
        queries.append(Query({name: _some_values(domains[name], share, rng) for name in chosen}))
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
    for name, wanted in query.wanted.items():
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
