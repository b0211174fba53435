"""`auto`: several algorithms within a time, of whose results the best is released.

The time is turned into work by what each algorithm is expected to take on the machine that was measured
(`Algorithm.growth_of`), never by the clock: so the same policy and table give the same release on every machine, in
more or less time. The quickest comes first and is always tried, others as long as time is left for them. Each is tried
as a policy could name it itself: `chosen` among the facts is what to write in a policy to get the same release.

With one level per column it is the best node of the lattice, or a path through one that is too large to search.

A search that conceals runs a single algorithm: which of several was the best would tell something about secrets.
"""

import math
from collections.abc import Iterator
from typing import Any

from shoal.errors import InfeasibleError
from shoal.search import ALGORITHMS, shared_options
from shoal.search.algorithm import Algorithm, Sees
from shoal.search.algorithms.auto import SECONDS, Auto
from shoal.search.diagnosis.diagnosis import EXHAUSTIVE
from shoal.search.engine import LocalEngine
from shoal.search.lattice.nodes import MOST_NODES
from shoal.search.local.finish import cost_of
from shoal.search.problem import Problem, SearchResult

_TIE_DIGITS = 12  # results that cost the same but for rounding are equal: the first is taken
_ONE_PATH = "greedy-lattice"


def auto(problem: Problem, engine: LocalEngine) -> SearchResult:
    """The best of what fits; raises the last `InfeasibleError` where nothing is found."""
    best: tuple[float, Algorithm, SearchResult] | None = None
    tried: list[dict[str, Any]] = []
    infeasible: InfeasibleError | None = None
    for algorithm in _fitting(problem):
        try:
            result = algorithm.run(problem, engine)
        except InfeasibleError as error:
            infeasible = error
            tried.append({"algorithm": algorithm.name, "cost": None})
            continue
        cost = cost_of(problem, result.recoding)
        tried.append({"algorithm": algorithm.name, "cost": cost})
        if best is None or round(cost, _TIE_DIGITS) < round(best[0], _TIE_DIGITS):
            best = cost, algorithm, result
    if best is None:
        assert infeasible is not None, "at least one algorithm was tried"
        raise infeasible
    _, algorithm, result = best
    facts = {**result.search, "chosen": _as_written(problem, algorithm), "tried": tried}
    return SearchResult(result.recoding, facts)


def _fitting(problem: Problem) -> Iterator[Algorithm]:
    """The algorithms to try: local recodings that fit into the time, the quickest first, or the one for the lattice."""
    if problem.options.get("scope") == "full-domain":
        yield ALGORITHMS[EXHAUSTIVE if math.prod(problem.shape) <= MOST_NODES else _ONE_PATH]
        return
    local = [each for each in ALGORITHMS.values() if each.search == "classes" and not isinstance(each, Auto)]
    by_time = sorted(((_seconds(each, problem), each) for each in local), key=lambda found: found[0])
    left = float(problem.options.get("seconds", SECONDS))
    for number, (seconds, algorithm) in enumerate(by_time):
        if number and (seconds > left or problem.concealing is not None):
            return
        left -= seconds
        yield algorithm


def _seconds(algorithm: Algorithm, problem: Problem) -> float:
    """What an algorithm is expected to take on the machine that was measured."""
    whole = any(model.whole_table for model in problem.models)
    sees: Sees = "table" if whole else "classes" if problem.sensitive_columns else "sizes"
    return algorithm.growth_of(sees, problem.options).seconds(problem.table.n_tuples, problem.table.n_rows)


def _as_written(problem: Problem, algorithm: Algorithm) -> dict[str, Any]:
    """The algorithm as a policy names it."""
    shared = sorted(shared_options(algorithm.name) & problem.options.keys())
    return {
        "name": algorithm.name,
        "metric": problem.metric.name,
        **{name: problem.options[name] for name in shared if problem.options[name]},
    }
