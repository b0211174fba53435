"""Count queries: how many records have certain values, told by the original and estimated from the release.

A query asks for some values in some columns. The release answers with the sum over its records of the chance that each
is asked for: in every column the share of the values under its label that are, and over several columns the product
(uniform spread within a class: Xiao & Tao 2006, 6.1; LeFevre et al. 2006). The error is relative to the true count, or
to a sanity bound of 0.1% of the records where the count is below it (Vitter & Wang 1999).

Random queries follow Xiao & Tao: one to three columns, at least one of them a quasi-identifier, and in each as many
values as needed to ask for about 5% of all combinations: neighbours in a column with an order, any values in others.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.encode.result import Result
from shoal.errors import PolicyProblem, did_you_mean
from shoal.formatting import listing
from shoal.hierarchies import Label
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.policy import Policy
from shoal.policy.utility_spec import UtilitySpec
from shoal.table.classes import Mask
from shoal.utility.columns import Domain, ValueColumn, original_columns, released_columns

Query = dict[str, Mask]  # for each column of a query, which of its values are asked for

SELECTIVITY = 0.05
MOST_COLUMNS = 3
_BINS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)  # where the bins of relative errors end; the last one is open
SANITY = 0.001  # share of the records below which a true count is taken to be that


def measure_queries(policy: Policy, spec: UtilitySpec, table: pa.Table, release: Result) -> dict[str, Any]:
    """Answer the queries from the release, and compare with the original."""
    originals = original_columns(policy, table, release.resolved.of_records(release.rows))
    released = released_columns(originals, table, release)
    domains = {name: column.domain for name, column in originals.items()}
    quasi, secrets = policy.names("quasi"), policy.names("sensitive")
    drawn: dict[str, Any] = {}
    if isinstance(spec.queries, list):
        queries, _ = read_queries(spec.queries, domains)
    else:
        queries = draw_queries(domains, quasi, secrets, int(spec.queries or 0), np.random.default_rng([spec.seed, 2]))
        drawn = {"seed": spec.seed, "selectivity": SELECTIVITY}
    records = table.num_rows
    answers = compare_answers(queries, originals, released, records)
    listed = [
        {"query": query, "records": each.records, "estimate": each.estimate, "relative_error": each.error}
        for query, each in zip(spec.queries if isinstance(spec.queries, list) else (), answers, strict=False)
    ]
    generalized = compare_answers(queries, originals, all_generalized(originals, quasi), records)
    return {
        "count": len(queries),
        **drawn,
        "sanity_bound": SANITY * records,
        "relative_error": error_spread(answers),
        "all_generalized": error_spread(generalized),
        "bins": _error_bins(answers),
        **({"listed": listed} if isinstance(spec.queries, list) else {}),
    }


def draw_queries(
    domains: Mapping[str, Domain], quasi: Sequence[str], others: Sequence[str], count: int, rng: np.random.Generator
) -> list[Query]:
    """Random queries over quasi-identifiers and other columns."""
    queries: list[Query] = []
    for _ in range(count):
        n_columns = int(rng.integers(1, min(MOST_COLUMNS, len(quasi) + len(others)) + 1))
        first = quasi[int(rng.integers(len(quasi)))]
        rest = [name for name in (*quasi, *others) if name != first]
        chosen = [first, *(rest[index] for index in rng.permutation(len(rest))[: n_columns - 1].tolist())]
        share = SELECTIVITY ** (1 / n_columns)
        queries.append({name: _some_values(domains[name], share, rng) for name in chosen})
    return queries


def _some_values(domain: Domain, share: float, rng: np.random.Generator) -> Mask:
    """A share of the values, rounded up: neighbours where they have an order, which the missing value has not."""
    wanted, start = np.zeros(domain.size, dtype=bool), 0
    if domain.numbers is None:
        candidates, asked = rng.permutation(domain.size), int(np.ceil(domain.size * share))
    else:
        candidates = np.argsort(domain.numbers, kind="stable")[: int(np.count_nonzero(~np.isnan(domain.numbers)))]
        asked = int(np.ceil(len(candidates) * share))
        start = int(rng.integers(len(candidates) - asked + 1))
    wanted[candidates[start : start + asked]] = True
    return wanted


def answer(query: Query, columns: Mapping[str, ValueColumn]) -> float:
    """The expected number of records that are asked for; exact where every cell is one value."""
    chance = np.ones(len(next(iter(columns.values())).first))
    for name, wanted in query.items():
        column = columns[name]
        below = np.concatenate([[0], np.cumsum(wanted)])
        chance *= (below[column.last + 1] - below[column.first]) / (column.last - column.first + 1)
    return float(chance.sum()) if query else 0.0


class QueryAnswer(NamedTuple):
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
    low, median, high = np.percentile(errors, [25, 50, 75]).tolist()
    spread = {"lower_quartile": low, "median": median, "upper_quartile": high}
    return {"mean": float(errors.mean()), **spread, "largest": float(errors.max())}


def _error_bins(answers: Sequence[QueryAnswer]) -> list[dict[str, Any]]:
    """How many queries are off by how much."""
    errors = np.array([each.error for each in answers])
    counts = np.bincount(np.searchsorted(_BINS, errors), minlength=len(_BINS) + 1).tolist()
    ends = [f"{end:.0%}" for end in _BINS]
    names = [f"at most {ends[0]}", *(f"{low} to {high}" for low, high in pairwise(ends))]
    return [{"error": name, "queries": count} for name, count in zip([*names, f"over {ends[-1]}"], counts, strict=True)]


_FIRST_MOMENT = "0001-01-01T00:00:00"  # what completes the beginning of a time
_ISO_BEGINNING = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d{1,6})?)?)?)?)?)?", re.ASCII)
Conditions = Mapping[str, Label | Sequence[Label]]


def read_queries(
    listed: Sequence[Conditions], domains: Mapping[str, Domain]
) -> tuple[list[Query], list[PolicyProblem]]:
    """The queries of a policy, and everything that is wrong with them."""
    queries: list[Query] = []
    problems: list[PolicyProblem] = []
    for index, conditions in enumerate(listed):
        queries.append({})
        for name, condition in conditions.items():
            queries[-1][name], found = _wanted(condition, domains[name], f"utility.queries[{index}].{name}")
            problems += found
    return queries, problems


def _wanted(condition: Any, domain: Domain, where: str) -> tuple[Mask, list[PolicyProblem]]:
    """The values that one condition asks for."""
    if isinstance(condition, list) and domain.kind in {"numbers", "dates"}:
        return _between(condition, domain, where)
    tree = domain.hierarchy
    mask, problems = np.zeros(domain.size, dtype=bool), []
    for label in condition if isinstance(condition, list) else [condition]:
        if tree is not None and label in tree.by_label:  # all values under a node of the hierarchy
            node = tree.by_label[label]
            mask[tree.first[node] : tree.last[node] + 1] = True
        elif label in domain.labels:
            mask[domain.labels.index(label)] = True
        elif domain.kind == "dates" and label is not None and _is_date(label):
            mask |= _dates_between(label, label, domain.labels)
        elif domain.kind != "numbers" or label is None or parse_decimal(label) is None:
            message = f"{domain.name!r} has no value or label {'null' if label is None else repr(label)}."
            known = [each for each in domain.labels if each is not None]
            problems.append(PolicyProblem(where, message, did_you_mean(label, known), code="unknown-value"))
    return mask, problems


def _between(ends: Sequence[Label], domain: Domain, where: str) -> tuple[Mask, list[PolicyProblem]]:
    """The values from a low to a high one, both included."""

    def refused(message: str, fix: str, *, code: str) -> tuple[Mask, list[PolicyProblem]]:
        return np.zeros(domain.size, dtype=bool), [PolicyProblem(where, message, fix, code=code)]

    what = "number" if domain.kind == "numbers" else "date"
    if len(ends) != 2 or None in ends:
        message = f"{domain.name!r} has {what}s: a query asks for one {what} or for [low, high]."
        return refused(message, f"Give two {what}s.", code="range-form")
    low, high = map(str, ends)
    if domain.kind == "dates":
        if strays := [repr(end) for end in (low, high) if not _is_date(end)]:
            message = f"{listing(strays)} cannot be read as {'a date' if len(strays) == 1 else 'dates'}."
            fix = "Write dates as 2024-03-14, or only as far as it matters: 2024-03."
            return refused(message, fix, code="not-a-date")
        in_order, inside = _not_after(low, high), _dates_between(low, high, domain.labels)
    else:
        least, most = parse_decimal(low), parse_decimal(high)
        if least is None or most is None:
            message = f"[{low}, {high}] cannot be read as two numbers."
            return refused(message, "Write plain numbers, such as [30, 39].", code="not-numbers")
        values = [None if label is None else parse_decimal(label) for label in domain.labels]
        in_order, inside = least <= most, np.array([each is not None and least <= each <= most for each in values])
    if not in_order:
        return refused(f"[{low}, {high}] starts above its end.", f"Write [{high}, {low}].", code="range-reversed")
    return inside, []


def _dates_between(low: str, high: str, labels: Sequence[Label]) -> Mask:
    return np.array([each is not None and _not_after(low, each) and _not_after(each, high) for each in labels])


def _not_after(date: str, other: str) -> bool:
    """Dates compare as far as both are written: 2024-03-14 lies between 2024-01 and 2024-03."""
    return date[: len(other)] <= other[: len(date)]


def _is_date(text: str) -> bool:
    """Whether a text is an ISO date or time, or the beginning of one that ends after a whole part."""
    if not _ISO_BEGINNING.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text + _FIRST_MOMENT[len(text) :])
    except ValueError:
        return False
    return True
