"""How long the search of an algorithm takes, as measured, in seconds of the machine it was measured on.

Measured on Adult (1,000, 10,000 and 30,162 records) and on 300,000 generated records, with four and eight
quasi-identifiers, for k-anonymity, with distinct l-diversity and with t-closeness (`python benchmarks/forecast.py`
measures again). A search over the lattice is a number of checks of a node, and a check is timed on the table itself;
local recodings grow with the distinct rows n and the records r. Checked on other settings than those (six
quasi-identifiers, k = 10, p = 3, t = 0.35): 81 of 84 runs took a time inside the range estimated for them
(`python benchmarks/forecast.py --columns 6`).
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

from shoal.search.algorithm import Algorithm, Growth, Sees
from shoal.search.engine import ITEMS_BEFORE_LOADING
from shoal.search.evaluation import prunable_models
from shoal.search.kernels.load import GROUPING, GUIDING, covering_kernels, refining_kernels
from shoal.search.prices.work import has_few_tuples, prices_may_guide
from shoal.search.problem import Problem

LOADING = 0.6  # loading compiled kernels
GROUPING_SECONDS = (1.0e-4, 4.5e-8)
"""Seconds that grouping took on the machine of the measurements, fixed and per distinct row."""
_COMPILED_SPEEDUP = 4.0  # how much faster compiled kernels group

Basis = Literal["checks", "growth", "faithful-growth", "one-pass"]


@dataclass(frozen=True)
class Speed:
    """What a moment's measuring on the table says."""

    slowness: float  # how much slower than the machine of the measurements this one is
    check: float  # seconds to group the table at a node and evaluate the models there, with NumPy
    items: int  # items that such a check counts as, towards loading compiled kernels


@dataclass(frozen=True)
class SearchTime:
    """Seconds of a search, from ``low`` to ``high``, and what that rests on."""

    low: float
    high: float
    basis: Basis
    kernels: tuple[str, ...] | None = None  # the compiled kernels that it loads
    checks: tuple[int, int] | None = None  # the fewest and the most nodes that are checked
    nodes: int | None = None  # nodes of the lattice
    refine: float = 0.0  # seconds of refining that the policy allows, counted in ``high``


def search_time(algorithm: Algorithm, problem: Problem, speed: Speed) -> SearchTime:
    """How long the search of a problem takes on a machine: that of all algorithms that it runs."""
    first, *others = (_time_of(each, problem, speed) for each in algorithm.planned(problem))
    for each in others:
        kernels = dict.fromkeys([*(first.kernels or ()), *(each.kernels or ())])
        low, high = first.low + each.low, first.high + each.high
        first = replace(first, low=low, high=high, kernels=tuple(kernels) or None)
    return first


def seconds_expected(algorithm: Algorithm, problem: Problem) -> float:
    """What a search is expected to take on the machine that was measured: the same number on every machine.

    0 for an algorithm of another package that does not say how its time grows.
    """
    if algorithm.chooses:
        return sum(seconds_expected(each, problem) for each in algorithm.planned(problem))
    if algorithm.search in {"classes", "one-result"} and not algorithm.growth:
        return 0.0
    if algorithm.growth:
        return _growth_seconds(algorithm, problem)
    items = items_of_check(problem)
    fixed, each = GROUPING_SECONDS
    time = _time_of(algorithm, problem, Speed(1.0, fixed + each * items, items))
    return math.sqrt(time.low * time.high)


def items_of_check(problem: Problem) -> int:
    """Items that a check of one node counts as."""
    pairs = sum(len(problem.table.pairs[name].tuples) for name in problem.sensitive_columns)
    return problem.table.n_tuples + 4 * pairs


def _time_of(algorithm: Algorithm, problem: Problem, speed: Speed) -> SearchTime:
    """The same for one algorithm.

    Over the lattice it is a number of checks, the first with NumPy, the rest with compiled kernels.
    """
    if algorithm.growth:
        return _growth_time(algorithm, problem, speed)
    prunes = len(prunable_models(problem, problem.models)) == len(problem.models)
    fewest, most = algorithm.checks(problem.shape, prunes=prunes)
    low = _seconds_of_checks(fewest, speed.check / 2, speed.items)
    high = _seconds_of_checks(most, 1.5 * speed.check, speed.items)
    kernels = GROUPING if most * speed.items > ITEMS_BEFORE_LOADING else None
    shown = max(1, round(fewest)), max(1, round(most))
    return SearchTime(low, high, "checks", kernels, shown, math.prod(problem.shape))


def _seconds_of_checks(checks: float, check: float, items: int) -> float:
    total = checks * max(items, 1)
    if total <= ITEMS_BEFORE_LOADING:
        return checks * check
    slow = ITEMS_BEFORE_LOADING / total
    return checks * check * (slow + (1 - slow) / _COMPILED_SPEEDUP) + LOADING


def _growth_time(algorithm: Algorithm, problem: Problem, speed: Speed) -> SearchTime:
    """A search whose time grows with the table, by what the models look at; refining loads compiled kernels."""
    growth, options = _growth(algorithm, problem), problem.options
    seconds = _growth_seconds(algorithm, problem) * speed.slowness
    low, high = growth.fewest * seconds, growth.most * seconds
    refine = float(options.get("refine") or 0)
    kernels = _kernels_of(problem) if algorithm.loads_kernels(options) else ()
    if kernels:
        low, high = low + LOADING / 3 * speed.slowness, high + LOADING * 1.2 * speed.slowness
    basis: Basis = "faithful-growth" if options.get("faithful") else "growth"
    if algorithm.search == "one-result":
        basis = "one-pass"
    return SearchTime(low, high + refine, basis, kernels or None, refine=refine)


def _growth_seconds(algorithm: Algorithm, problem: Problem) -> float:
    """What that is on the machine that was measured."""
    tuples, records = problem.table.n_tuples, problem.table.n_rows
    columns, guided = len(problem.hierarchies), prices_may_guide(problem)
    return _growth(algorithm, problem).seconds(tuples, records, columns=columns, guided=guided)


def _growth(algorithm: Algorithm, problem: Problem) -> Growth:
    """How its time grows, by what the models look at."""
    sees: Sees = "shares" if not problem.closed else "values" if problem.sensitive_columns else "sizes"
    return algorithm.growth_of(sees, problem.options)


def _kernels_of(problem: Problem) -> tuple[str, ...]:
    """The compiled kernels that clustering and refining call."""
    finding = covering_kernels(problem.table.n_tuples, math.prod(problem.shape), repeated=problem.repeated)
    if prices_may_guide(problem):
        finding = () if has_few_tuples(problem) else GUIDING
    refining = refining_kernels(problem.table.n_rows, problem.options.get("refine"), repeated=problem.repeated)
    return (*finding, *refining)
