"""How long the search of an algorithm takes, as measured, in seconds of the machine it was measured on.

Measured on Adult (1,000, 10,000 and 30,162 records) and on 300,000 generated records, with four and eight
quasi-identifiers, for k-anonymity, with distinct l-diversity and with t-closeness (`python benchmarks/forecast.py`
measures again). A search over the lattice is a number of checks of a node, and a check is timed on the table itself;
local recodings grow with the distinct rows n and the records r.

Checked on other settings than those (six quasi-identifiers, k = 10, p = 3, t = 0.35): 81 of 84 runs took a time inside
the range estimated for them (`python benchmarks/forecast.py --columns 6`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from shoal.search.evaluation import prunable_models
from shoal.search.kernels.compile_cache import CLUSTERING, GROUPING
from shoal.search.problem import Problem

LOADING = 0.6
"""Loading compiled kernels."""
_LOADED_AFTER = 8_000_000
"""Items grouped before a search over the lattice loads compiled kernels, which then are this much faster:"""
_COMPILED_SPEEDUP = 4.0
_FEWEST, _MOST = 0.55, 1.8
"""The range around what a growth says."""


@dataclass(frozen=True)
class Speed:
    """What a moment's measuring on the table says."""

    slowness: float
    """How much slower than the machine of the measurements this one is."""
    check: float
    """Seconds to group the table at a node and evaluate the models there, with NumPy."""
    items: int
    """Items that such a check counts as, towards loading compiled kernels."""


@dataclass(frozen=True)
class SearchTime:
    """Seconds of a search, from ``low`` to ``high``, and what that rests on."""

    low: float
    high: float
    basis: Literal["checks", "growth", "faithful-growth", "one-pass"]
    kernels: str | None = None
    """The compiled kernels that it loads."""
    checks: tuple[int, int] | None = None
    """The fewest and the most nodes that are checked."""
    nodes: int | None = None
    """Nodes of the lattice."""
    refine: float = 0.0
    """Seconds of refining that the policy allows, counted in ``high``."""


SearchCost = Callable[[Problem, Speed], SearchTime]
"""How long the search of a problem takes on a machine."""
Checks = Callable[[Sequence[int], bool], tuple[float, float]]
"""Nodes that a search checks, fewest and most, by the shape of the lattice and whether failures prune."""


def lattice_cost(checks: Checks) -> SearchCost:
    """A search over the lattice: a number of checks, the first with NumPy, the rest with compiled kernels."""

    def cost(problem: Problem, speed: Speed) -> SearchTime:
        prunes = len(prunable_models(problem.models, problem.budget)) == len(problem.models)
        fewest, most = checks(problem.shape, prunes)
        low = _seconds_of_checks(fewest, speed.check / 2, speed.items)
        high = _seconds_of_checks(most, 1.5 * speed.check, speed.items)
        kernels = GROUPING if most * speed.items > _LOADED_AFTER else None
        shown = max(1, round(fewest)), max(1, round(most))
        return SearchTime(low, high, "checks", kernels, shown, math.prod(problem.shape))

    return cost


def _seconds_of_checks(checks: float, check: float, items: int) -> float:
    total = checks * max(items, 1)
    if total <= _LOADED_AFTER:
        return checks * check
    slow = _LOADED_AFTER / total
    return checks * check * (slow + (1 - slow) / _COMPILED_SPEEDUP) + LOADING


def best_node_checks(shape: Sequence[int], prunes: bool) -> tuple[float, float]:
    """Nodes that the search for the best one looks at; all of them may be needed where the models do not prune."""
    nodes = math.prod(shape)
    root = math.sqrt(nodes)
    return (min(nodes, 0.4 * root + 1), min(nodes, 4 * root)) if prunes else (root, float(nodes))


def minimal_node_checks(shape: Sequence[int], prunes: bool) -> tuple[float, float]:
    """Nodes of all subsets of the quasi-identifiers that a search for every minimal node looks at."""
    checks = math.prod(levels + 1 for levels in shape) ** 0.75
    return 0.15 * checks, 1.8 * checks + (0 if prunes else math.prod(shape))


def one_path_checks(shape: Sequence[int], _: bool) -> tuple[float, float]:
    """Nodes of a single path up the lattice, walked twice where models look at the whole release."""
    return 1.0, 2.0 * (sum(shape) - len(shape) + 1)


@dataclass(frozen=True)
class Growth:
    """Seconds of a local recoding: fixed + a·n + b·n² + c·r."""

    fixed: float
    distinct_row: float
    distinct_row_squared: float
    record: float

    def seconds(self, problem: Problem) -> float:
        """What that is for a table."""
        n, r = problem.table.n_tuples, problem.table.n_rows
        return self.fixed + self.distinct_row * n + self.distinct_row_squared * n**2 + self.record * r


def local_cost(sizes: Growth, classes: Growth, table: Growth, *, compiled: bool = False) -> SearchCost:
    """A local recoding, by what the models look at: sizes of classes, their sensitive values, or the whole release.

    ``compiled`` where it loads compiled kernels in any case; refining always does.
    """

    def cost(problem: Problem, speed: Speed) -> SearchTime:
        whole = any(model.whole_table for model in problem.models)
        faithful, refine = bool(problem.options.get("faithful")), float(problem.options.get("refine") or 0)
        growth = table if whole else classes if problem.sensitive_columns else sizes
        seconds = _faithful_seconds(problem, whole_table=whole) if faithful else growth.seconds(problem)
        low, high = _FEWEST * seconds * speed.slowness, _MOST * seconds * speed.slowness
        kernels = CLUSTERING if (compiled and not faithful) or refine else None
        if kernels:
            low, high = low + LOADING / 3 * speed.slowness, high + LOADING * 1.2 * speed.slowness
        return SearchTime(low, high + refine, "faithful-growth" if faithful else "growth", kernels, refine=refine)

    return cost


def _faithful_seconds(problem: Problem, *, whole_table: bool) -> float:
    """Campan's algorithm to the letter: every class looks at the records, and at their combinations, that are left.

    Read off runs over 1,000 to 100,000 records with four and eight quasi-identifiers.
    """
    n, r = problem.table.n_tuples, problem.table.n_rows
    seconds = 0.02 + 1.0e-5 * r + 3.1e-10 * r**2 + 7.0e-9 * n * r
    return 3.5 * seconds if whole_table else seconds


def one_pass_cost(problem: Problem, speed: Speed) -> SearchTime:
    """One pass over the groups."""
    seconds = (0.002 + 6e-7 * problem.table.n_tuples) * speed.slowness
    return SearchTime(_FEWEST * seconds, 4 * seconds, "one-pass")
