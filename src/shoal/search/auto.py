"""`auto`: several algorithms within a time, of whose results the best is released.

The time is turned into work by what each algorithm is expected to take on the machine that was measured, never by the
clock: so the same policy and table give the same release on every machine, in more or less time. The quickest comes
first and is always tried. Of the others, those that take longest have the first claim to the time, since they lose
least as a rule. Each is tried as a policy could name it itself:
`chosen` among the facts is what to write in a policy to get the same release, `tried` what each result costs, and
`left_out` why others were not tried.

What a run demands of its recoding (`Demand`) only algorithms are tried for that declare to meet it. With one level per
column it is the best node of the lattice, or a path through one that would take too long.

Local recodings start from the most general release. Where that fails, a finer node may still hold with other records
left out, so the search over all nodes is the last resort.

A search that conceals runs a single algorithm: which of several was the best would tell something about secrets.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.errors import InfeasibleError, InputError
from shoal.metrics import CellMetric
from shoal.search import ALGORITHMS, algorithms_by, shared_options
from shoal.search.algorithm import Algorithm, Demand
from shoal.search.algorithms.auto import SECONDS, one_level
from shoal.search.cost import seconds_expected
from shoal.search.diagnosis.diagnosis import EXHAUSTIVE, Diagnosis
from shoal.search.engine import LocalEngine
from shoal.search.lattice.nodes import MOST_NODES
from shoal.search.local.finish import cost_of
from shoal.search.prices.solver import PriceSolver
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult
from shoal.table.recoding import Recoding

_TIE_DIGITS = 12  # results that cost the same but for rounding are equal: the first is taken
_ONE_PATH = "greedy-lattice"
Fact = dict[str, Any]


@dataclass(frozen=True)
class SearchPlan:
    """What is tried on a problem, in this order, and why others are not."""

    fitting: tuple[Algorithm, ...]
    left_out: tuple[Fact, ...]
    last_resort: Algorithm | None = None  # where none of these finds a release


def plan(problem: Problem) -> SearchPlan:
    """The algorithms that meet the demands of the run and fit into the time, the quickest first."""
    seconds = float(problem.options.get("seconds", SECONDS))
    candidates = [ALGORITHMS[name] for name in algorithms_by("classes") if not ALGORITHMS[name].chooses]
    if one_level(problem.options, problem.demands):
        left_out = [_left_out(each, Demand.ONE_LEVEL.value) for each in candidates]
        best, one_path = ALGORITHMS[EXHAUSTIVE], ALGORITHMS[_ONE_PATH]
        reason = _too_long(best, problem, seconds)
        return SearchPlan((best,), tuple(left_out)) if reason is None else SearchPlan((one_path,), (*left_out, reason))
    demands = sorted(problem.demands - {Demand.ONE_LEVEL})
    unmeasured = [each for each in candidates if not each.growth]
    candidates = [each for each in candidates if each.growth]
    unmet = {each.name: next((demand for demand in demands if not each.meets(demand)), None) for each in candidates}
    left_out = [_left_out(each, "not-measured") for each in unmeasured]
    left_out += [_left_out(each, demand.value) for each in candidates if (demand := unmet[each.name]) is not None]
    able = [(seconds_expected(each, problem), each) for each in candidates if unmet[each.name] is None]
    able.sort(key=lambda found: (found[0], found[1].position, found[1].name))
    fitting, left = [each for _, each in able[:1]], seconds
    for expected, each in reversed(able[1:]):
        if problem.concealing is not None:
            left_out.append(_left_out(each, "conceals"))
        elif expected > left:
            left_out.append(_left_out(each, "time", seconds=expected))
        else:
            fitting.insert(1, each)
            left -= expected
    searched = ALGORITHMS[EXHAUSTIVE]
    resort = searched if problem.concealing is None and _too_long(searched, problem, left) is None else None
    return SearchPlan(tuple(fitting), tuple(left_out), resort)


def _left_out(algorithm: Algorithm, reason: str, **facts: Any) -> Fact:
    return {"algorithm": algorithm.name, "reason": reason, **facts}


def _too_long(algorithm: Algorithm, problem: Problem, seconds: float) -> Fact | None:
    """Why the search over all nodes is left out; None where it is not."""
    nodes, expected = math.prod(problem.shape), seconds_expected(algorithm, problem)
    if nodes > MOST_NODES:
        return _left_out(algorithm, "nodes", nodes=nodes)
    return _left_out(algorithm, "time", seconds=expected) if expected > seconds else None


@dataclass
class _Attempts:
    """What has been tried so far, and the best of it."""

    problem: Problem
    engine: LocalEngine
    tried: list[Fact] = field(default_factory=list)
    best: tuple[float, Algorithm, SearchResult] | None = None
    infeasible: InfeasibleError | None = None
    refused: InputError | None = None
    left_out: list[Fact] = field(default_factory=list)
    solver: PriceSolver | None = None  # the prices that guided one of them

    def run(self, algorithm: Algorithm) -> None:
        """Try one, on single records where it moves these."""
        problem, engine = self.problem, self.engine
        if algorithm.works_on_records and problem.table.weights is not None:
            problem = replace(problem, table=problem.table.unfolded())
            engine = LocalEngine(problem.table, problem.ladders, problem.domains, remote=engine.remote)
        try:
            result = algorithm.run(problem, engine)
        except InfeasibleError as error:
            self.infeasible = error
            self.tried.append({"algorithm": algorithm.name, "cost": None})
            return
        except InputError as error:  # such as a table that is too large for it
            self.refused = self.refused or error
            self.left_out.append(_left_out(algorithm, error.code))
            return
        cost, self.solver = cost_of(problem, result.recoding), self.solver or result.solver
        self.tried.append({"algorithm": algorithm.name, "cost": cost})
        if self.best is None or round(cost, _TIE_DIGITS) < round(self.best[0], _TIE_DIGITS):
            self.best = cost, algorithm, result

    @property
    def settled(self) -> str | None:
        """Why no other algorithm can do better: nothing is lost, or there is no release at all; None if one may."""
        if self.best is not None:
            return "nothing-lost" if _loses_nothing(self.problem, self.best[2].recoding) else None
        found = self.infeasible.diagnosis if self.infeasible is not None else None
        return "no-release" if isinstance(found, Diagnosis) and found.code == "no-release" else None


def auto(problem: Problem, engine: LocalEngine) -> SearchResult:
    """The best of what fits; raises the last `InfeasibleError` where nothing is found, or why none could run."""
    planned, attempts = plan(problem), _Attempts(problem, engine)
    attempts.left_out.extend(planned.left_out)
    for algorithm in planned.fitting:
        if (reason := attempts.settled) is not None:
            attempts.left_out.append(_left_out(algorithm, reason))
        else:
            attempts.run(algorithm)
    if attempts.best is None and attempts.settled is None and planned.last_resort is not None:
        attempts.run(planned.last_resort)
    if attempts.best is None:
        reason_for_none = attempts.infeasible or attempts.refused
        assert reason_for_none is not None, "at least one algorithm was tried"
        raise reason_for_none
    _, algorithm, result = attempts.best
    choice = {"chosen": _as_written(problem, algorithm), "tried": attempts.tried, "left_out": attempts.left_out}
    return replace(result, search={**result.search, **choice}, solver=attempts.solver)


def _loses_nothing(problem: Problem, recoding: Recoding) -> bool:
    """Whether every record is released as it is, which no other recoding can better by a measure of cells."""
    leaves = (
        hierarchy.loss[nodes] == 0 for hierarchy, nodes in zip(recoding.hierarchies, recoding.nodes.T, strict=True)
    )
    return isinstance(problem.metric, CellMetric) and not recoding.suppressed and all(each.all() for each in leaves)


def _as_written(problem: Problem, algorithm: Algorithm) -> Mapping[str, Any]:
    """The algorithm as a policy names it."""
    return dict(_options(problem, algorithm))


def _options(problem: Problem, algorithm: Algorithm) -> Iterator[tuple[str, Any]]:
    yield "name", algorithm.name
    if "metric" in algorithm.option_names:
        yield "metric", problem.metric.name
    for name in sorted(shared_options(algorithm.name) & problem.options.keys()):
        if problem.options[name]:
            yield name, problem.options[name]
