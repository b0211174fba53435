"""`estimate_time`: how long a run will take, from its table, its lattice and a moment's measuring on this machine."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass
from typing import Any

from shoal.io.source import TableSource
from shoal.pipeline.forecast import growth
from shoal.pipeline.prepare import Prepared, prepare_again
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.algorithm import Algorithm, Sees
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import Evaluator, prunable_models
from shoal.search.kernels.compile_cache import CLUSTERING, GROUPING, is_compiled
from shoal.search.problem import Problem

_REPEAT = 3


@dataclass(frozen=True)
class Estimate:
    """Seconds that a run takes, from ``low`` to ``high``."""

    low: float
    high: float
    search: tuple[float, float]
    """The part of the algorithm itself."""
    compiling: bool
    """Whether compiled kernels have to be compiled first, which happens once on a machine."""
    based_on: tuple[str, ...]

    @property
    def words(self) -> str:
        """``about 3 s``, ``about 2 minutes``."""
        return f"about {in_words(math.sqrt(self.low * self.high))}"

    @property
    def range_words(self) -> str:
        """``2 s to 6 s``."""
        low, high = in_words(self.low), in_words(self.high)
        return low if low == high else f"{low} to {high}"

    def __str__(self) -> str:
        return f"{self.words} ({self.range_words})"

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain data."""
        return {
            "low": round(self.low, 3),
            "high": round(self.high, 3),
            "search": [round(each, 3) for each in self.search],
            "compiling": self.compiling,
            "words": self.words,
            "range": self.range_words,
            "based_on": list(self.based_on),
        }


@dataclass(frozen=True)
class Measured:
    """What a moment's measuring on the table tells."""

    slowness: float
    """How much slower than the machine of the measurements this one is."""
    check: float
    """Seconds to group the table at a node and evaluate the models there, with NumPy."""
    items: int
    """Items that such a check counts as, towards loading compiled kernels."""


def estimate_time(
    table: Prepared | TableSource, policy: Policy, *, new_process: bool = True, busy: float | None = None
) -> Estimate:
    """How long `anonymize` takes under this policy; ``new_process`` counts the start of one, as the command line does.

    ``busy`` is how many times longer other work on the machine may make it; when left out, that is looked at.
    What the policy's ``utility`` and a registry add is not counted.
    """
    problem = prepare_again(table, policy).resolved.problem
    measured = measure(problem)
    name, rows = policy.algorithm.name, problem.table.n_rows
    search_low, search_high, needs_kernels, words = _search(problem, ALGORITHMS[name], measured)
    rest = growth.around(problem.table.n_tuples, rows, len(problem.shape), sensitive=bool(problem.sensitive_columns))
    low, high = search_low + rest[0] * measured.slowness, search_high + rest[1] * measured.slowness
    if new_process:
        low, high = low + growth.START[0] * measured.slowness, high + growth.START[1] * measured.slowness
    compiling = needs_kernels and not is_compiled(CLUSTERING if ALGORITHMS[name].growth else GROUPING)
    based_on = [
        f"{rows:,} records with {problem.table.n_tuples:,} different combinations of quasi-identifiers",
        f"{name}: {words}",
        f"a check of one node took {measured.check * 1000:.2f} ms here just now",
    ]
    if compiling:
        low, high = low + growth.COMPILING[0] * measured.slowness, high + growth.COMPILING[1] * measured.slowness
        based_on.append("the compiled kernels have not been compiled on this machine; that is done once and counted")
    if policy.utility is not None:
        based_on.append("not counted: the task under utility, which anonymizes and learns again")
    busy = busyness() if busy is None else busy
    if busy > 1:
        based_on.append(f"other work on this machine: up to {busy:.1f} times as long while it lasts")
    return Estimate(low, high * busy, (search_low, search_high * busy), compiling, tuple(based_on))


def busyness() -> float:
    """How much longer a run takes that shares the processors with all that wants them now; 1 where there is room."""
    try:
        waiting = os.getloadavg()[0]
    except (AttributeError, OSError):  # a system that does not tell
        return 1.0
    return max(1.0, (waiting + 1) / (os.cpu_count() or 1))


def measure(problem: Problem) -> Measured:
    """Group and evaluate at two nodes, three times each; the quickest counts, since anything else was in the way."""
    grouping, check = math.inf, math.inf
    middle = tuple(levels // 2 for levels in problem.shape)
    for _ in range(_REPEAT):
        engine = LocalEngine(problem.table, problem.ladders, problem.domains)
        evaluator = Evaluator(problem, engine)
        start = time.perf_counter()
        bottom = engine.classes((0,) * len(problem.shape))
        grouped = time.perf_counter()
        engine.stats(bottom, problem.sensitive_columns)
        first = time.perf_counter()
        evaluator.evaluate(evaluator.grouping(middle))
        end = time.perf_counter()
        grouping = min(grouping, grouped - start)
        check = min(check, max(end - first, (first - start) / 2))
    fixed, each = growth.GROUPING
    usual = fixed + each * problem.table.n_tuples
    pairs = sum(len(problem.table.pairs[name].tuples) for name in problem.sensitive_columns)
    return Measured(min(max(grouping / usual, 0.25), 20.0), check, problem.table.n_tuples + 4 * pairs)


def _search(problem: Problem, algorithm: Algorithm, measured: Measured) -> tuple[float, float, bool, str]:
    """Seconds of the algorithm at least and at most, whether it loads compiled kernels, and what that rests on."""
    if algorithm.growth:
        return _by_growth(problem, algorithm, measured)
    nodes = math.prod(problem.shape)
    prunes = len(prunable_models(problem.models, problem.budget)) == len(problem.models)
    fewest, most = algorithm.checks(problem.shape, prunes=prunes)
    low = growth.checked(fewest, measured.check / 2, measured.items)
    high = growth.checked(most, 1.5 * measured.check, measured.items)
    words = f"{max(1, round(fewest)):,} to {max(1, round(most)):,} checks of a lattice of {nodes:,} nodes"
    return low, high, most * measured.items > growth.LOADED_AFTER, words


def _by_growth(problem: Problem, algorithm: Algorithm, measured: Measured) -> tuple[float, float, bool, str]:
    whole = any(model.whole_table for model in problem.models)
    sees: Sees = "table" if whole else "classes" if problem.sensitive_columns else "sizes"
    grows = algorithm.growth_of(sees, problem.options)
    seconds = grows.seconds(problem.table.n_tuples, problem.table.n_rows) * measured.slowness
    low, high, words = grows.fewest * seconds, grows.most * seconds, algorithm.basis
    compiled = algorithm.loads_kernels(problem.options)
    if compiled:
        low, high = low + growth.LOADING / 3 * measured.slowness, high + growth.LOADING * 1.2 * measured.slowness
    refine = float(problem.options.get("refine") or 0)
    if refine:
        high += refine
        words += f", and up to {refine:g} s of refining"
    return low, high, compiled, words


def in_words(seconds: float) -> str:
    """A time as people say it: rounded to what an estimate can mean."""
    if seconds < 1:
        return f"{max(seconds, 0.1):.1f} s"
    if seconds < 90:
        return f"{_round(seconds)} s"
    if seconds < 90 * 60:
        return f"{_round(seconds / 60)} minutes"
    if seconds < 48 * 3600:
        return f"{_round(seconds / 3600)} hours"
    return f"{_round(seconds / 86400)} days"


def _round(value: float) -> str:
    if value < 10:
        return f"{value:.0f}"
    return f"{5 * round(value / 5)}"
