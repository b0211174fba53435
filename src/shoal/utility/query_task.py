"""How far off count queries are when the release answers them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from shoal.policy import Policy
from shoal.policy.utility_spec import UtilitySpec
from shoal.utility.columns import original_columns, released_columns
from shoal.utility.conditions import read_queries
from shoal.utility.part import Part
from shoal.utility.queries import SANITY, SELECTIVITY, Answered, all_generalized, compare_answers, draw_queries

_BINS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Where the bins of relative errors end; the last one is open."""


def measure_queries(policy: Policy, spec: UtilitySpec, release: Part) -> dict[str, Any]:
    """Answer the queries from the release, and compare with the original."""
    originals = original_columns(policy, release.table, release.resolved)
    released = released_columns(originals, release.table, release.resolved, release.recoding)
    domains = {name: column.domain for name, column in originals.items()}
    quasi, secrets = policy.names("quasi"), policy.names("sensitive")
    if isinstance(spec.queries, list):
        queries, _ = read_queries(spec.queries, domains)
        drawn: dict[str, Any] = {}
    else:
        queries = draw_queries(domains, quasi, secrets, int(spec.queries or 0), np.random.default_rng([spec.seed, 2]))
        drawn = {"seed": spec.seed, "selectivity": SELECTIVITY}
    records = release.recoding.n_rows
    answers = compare_answers(queries, originals, released, records)
    blurred = compare_answers(queries, originals, all_generalized(originals, quasi), records)
    return {
        "count": len(queries),
        **drawn,
        "sanity_bound": SANITY * records,
        "relative_error": _spread(answers),
        "all_generalized": _spread(blurred),
        "bins": _binned(answers),
        **({"listed": _listed(spec.queries, answers)} if isinstance(spec.queries, list) else {}),
    }


def _spread(answers: list[Answered]) -> dict[str, float]:
    errors = np.array([each.error for each in answers])
    low, median, high = np.percentile(errors, [25, 50, 75])
    named = {"mean": errors.mean(), "lower_quartile": low, "median": median, "upper_quartile": high}
    return {name: round(float(value), 6) for name, value in {**named, "largest": errors.max()}.items()}


def _binned(answers: list[Answered]) -> list[dict[str, Any]]:
    """How many queries are off by how much."""
    errors = np.array([each.error for each in answers])
    counts = np.bincount(np.searchsorted(_BINS, errors), minlength=len(_BINS) + 1).tolist()
    ends = [f"{end:.0%}" for end in _BINS]
    names = [f"at most {ends[0]}", *(f"{low} to {high}" for low, high in pairwise(ends))]
    return [{"error": name, "queries": count} for name, count in zip([*names, f"over {ends[-1]}"], counts, strict=True)]


def _listed(queries: list[dict[str, Any]], answers: list[Answered]) -> list[dict[str, Any]]:
    return [
        {
            "query": query,
            "records": each.records,
            "estimate": round(each.estimate, 6),
            "relative_error": round(each.error, 6),
        }
        for query, each in zip(queries, answers, strict=True)
    ]
