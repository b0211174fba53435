"""`estimate_time`: how long a run will take, from its table, its lattice and a moment's measuring on this machine."""

import math
import os
import time
from dataclasses import dataclass

from shoal.io.source import TableSource
from shoal.pipeline.prepare import Prepared, prepare
from shoal.policy import Policy
from shoal.present.forecast import estimate_text
from shoal.search.cost import GROUPING_SECONDS, SearchTime, Speed, items_of_check, search_time
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import Evaluator
from shoal.search.kernels.load import is_compiled
from shoal.search.prices.work import WORK, is_small, price_work
from shoal.search.problem import Problem

_COMPILING = (2.0, 15.0)  # seconds to compile the kernels, once on a machine
_SMALL_BOUND, _BOUND = (0.0, 1.0), (0.5, 5.0)  # seconds of the lower bound without refining, on small tables and others
_START = (0.35, 1.3)  # seconds to start a process with its imports
_REPEAT = 3


@dataclass(frozen=True)
class TimeEstimate:
    """Seconds that a run takes, from ``low`` to ``high``, and what that rests on."""

    low: float
    high: float
    algorithm: str
    search: SearchTime  # the part of the algorithm itself
    records: int
    distinct_rows: int
    check: float  # seconds that a check of one node took just now
    compiling: bool  # whether compiled kernels have to be compiled first, which happens once on a machine
    utility: bool  # whether the policy measures a task, which is not counted
    busy: float  # how many times longer other work on the machine may make it

    @property
    def typical(self) -> float:
        """The seconds in the middle."""
        return math.sqrt(self.low * self.high)

    def __str__(self) -> str:
        return estimate_text(self)


def estimate_time(
    table: Prepared | TableSource, policy: Policy, *, new_process: bool = True, busy: float | None = None
) -> TimeEstimate:
    """How long `anonymize` takes under this policy; ``new_process`` counts the start of one, as the command line does.

    ``busy`` is how many times longer other work on the machine may make it; when left out, that is looked at.
    What the policy's ``utility`` and a registry add is not counted.
    """
    problem = prepare(table, policy).resolved.problem
    speed = measure(problem)
    search = search_time(policy.search_algorithm, problem, speed)
    compiling = search.kernels is not None and not is_compiled(*search.kernels)
    # reading, encoding, the lower bound, recoding, verifying and attacking: at least and at most
    bound = _SMALL_BOUND if is_small(problem) else _BOUND
    granted = max(price_work(problem) - WORK, 0) / WORK * _BOUND[1]
    records = 2.5e-7 * (len(problem.shape) + 1) * problem.table.n_rows
    stages = (0.1 + bound[0] + records, 0.25 + bound[1] + granted + 3.5 * records)
    fixed = [stages, *([_START] if new_process else []), *([_COMPILING] if compiling else [])]
    low = search.low + speed.slowness * sum(least for least, _ in fixed)
    high = search.high + speed.slowness * sum(most for _, most in fixed)
    busy = load_factor() if busy is None else busy
    return TimeEstimate(
        low=low,
        high=high * busy,
        algorithm=policy.algorithm.name,
        search=search,
        records=problem.table.n_rows,
        distinct_rows=problem.table.n_tuples,
        check=speed.check,
        compiling=compiling,
        utility=policy.utility is not None,
        busy=busy,
    )


def load_factor() -> float:
    """How much longer a run takes that shares the processors with all that wants them now; 1 where there is room."""
    try:
        waiting = os.getloadavg()[0]
    except (AttributeError, OSError):  # a system that does not say
        return 1.0
    return max(1.0, (waiting + 1) / (os.cpu_count() or 1))


def measure(problem: Problem) -> Speed:
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
    fixed, each = GROUPING_SECONDS  # the ratio of what it takes here to that is the speed of this machine
    usual = fixed + each * problem.table.n_tuples
    return Speed(min(max(grouping / usual, 0.25), 20.0), check, items_of_check(problem))
