"""How much work prices are worth: the same for the same table and policy, on any machine.

Work is counted in members of boxes that are touched, never in seconds.
"""

import math

from shoal.models import least_size
from shoal.search.problem import Problem

WORK = 300_000_000
"""Members of boxes that are touched for a table of some size: seconds, about as long as a search takes."""
SMALL, SMALL_WORK = 2000, 3_000_000
"""Distinct tuples up to which NumPy does the work, and how much that is: about 0.2 seconds."""
_OF_LATTICE, _MOST_OF_LATTICE = 4, 2_500_000
"""More for small tables of many nodes: this part of tuples times nodes, where a look at all boxes takes longer."""
WORK_PER_SECOND = 40_000_000  # more for each second that the policy grants to refine
_USUAL, _MOST = 10, 3  # records of a class up to which that is enough; more for larger ones, whose boxes hold more
_TUPLES, _NODES = 20_000, 100_000  # distinct tuples, and nodes of the lattice, up to which it is enough
GUIDED_TUPLES, GUIDED_NODES = 70_000, 2_000_000
"""Distinct tuples, and nodes of the lattice, up to which prices are found in time to guide a search."""
_GUIDING = 2 / 3  # of that, what the search spends on prices that guide it
_GUIDING_SMALL = 800_000, 5_000  # the same where NumPy does it: fixed, and for each tuple


def prices_may_guide(problem: Problem) -> bool:
    """Whether a search for classes is guided by prices, if they settle within the work that they are worth.

    They guide models that a class keeps satisfying whatever joins it, since the records that are left join classes.
    """
    return problem.closed and problem.table.n_tuples <= GUIDED_TUPLES and math.prod(problem.shape) <= GUIDED_NODES


def price_work(problem: Problem) -> int:
    """How much work the bound of a problem is worth."""
    if is_small(problem):
        return _small_work(problem)
    return int(_large_work(problem) + _seconds(problem) * WORK_PER_SECOND)


def _small_work(problem: Problem) -> int:
    boxes = problem.table.n_tuples * math.prod(problem.shape)
    return SMALL_WORK + min(boxes // _OF_LATTICE, _MOST_OF_LATTICE)


def _large_work(problem: Problem) -> float:
    larger = (
        least_size(problem.models) / _USUAL,
        problem.table.n_tuples / _TUPLES,
        math.prod(problem.shape) / _NODES,
    )
    return WORK * min(max(*larger, 1.0), _MOST)


def is_small(problem: Problem) -> bool:
    """Whether NumPy does the work, and no kernel has to be compiled: for few tuples, where no time is asked for."""
    return has_few_tuples(problem) and not _seconds(problem)


def has_few_tuples(problem: Problem) -> bool:
    """Whether NumPy finds the prices that guide the search, however much time is asked for."""
    return problem.table.n_tuples <= SMALL


def _seconds(problem: Problem) -> float:
    """What the policy grants to refine."""
    refine = problem.options.get("refine")
    return float(refine) if isinstance(refine, int | float) and not isinstance(refine, bool) else 0.0


def guiding_work(problem: Problem) -> int:
    """How much of it comes before the search, to guide it: the same however much time is asked for."""
    if not has_few_tuples(problem):
        return int(_GUIDING * _large_work(problem))
    fixed, per_tuple = _GUIDING_SMALL
    return min(fixed + per_tuple * problem.table.n_tuples, _small_work(problem))
