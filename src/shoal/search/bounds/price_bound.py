"""The bound by prices on the NCP of any release, within a budget of work that the policy and the table decide.

What the prices prove for hierarchy labels holds for ranges, too, once a cell of a ranged column costs no more than the
least that a range of two values does. Where all columns together are too many for the budget, the dearest few are
looked at alone: the others then cost nothing, which lowers the bound and keeps it valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from shoal.search.prices.solver import PriceBound, PriceSolver
from shoal.search.problem import Problem
from shoal.table.classes import Floats

WORK = 300_000_000
"""Members of boxes that are touched for a table of some size: seconds, about as long as a search takes."""
SMALL, SMALL_WORK = 2000, 600_000
"""Distinct tuples up to which work is so little that uncompiled code does it in about a second, and how much."""
WORK_PER_SECOND = 40_000_000  # more for each second that the policy grants to refine
_COLUMNS = (None, 12, 8, 5, 3)  # how many of the dearest columns are tried one after the other
_SHARE = 2  # a try may take this part of the budget before it comes to its first prices

Method = Literal["prices", "prices-of-some-columns"]


def price_work(problem: Problem) -> int:
    """How much work the bound of a problem is worth: the same for the same table and policy, on any machine."""
    small = problem.table.n_tuples <= SMALL
    refine = problem.options.get("refine")
    seconds = float(refine) if isinstance(refine, int | float) and not isinstance(refine, bool) else 0.0
    return (SMALL_WORK if small else WORK) + int(seconds * WORK_PER_SECOND)


def price_bound(problem: Problem, *, work: int | None = None) -> tuple[PriceBound, Method] | None:
    """The bound that prices prove, and of which columns; None where the work allowed no prices at all."""
    work = price_work(problem) if work is None else work
    costs, compiled = ncp_costs(problem), work > SMALL_WORK
    for columns in _tries(len(problem.hierarchies)):
        solver = PriceSolver(problem, costs=costs, columns=columns, compiled=compiled)
        first = solver.run(work=work // _SHARE)
        work -= solver.work
        if first.proof.complete:
            found = solver.run(work=max(work, 0)).proof if work > 0 else first.proof
            return found, "prices" if columns is None else "prices-of-some-columns"
        if work <= 0:
            return None
    return None


def _tries(width: int) -> Iterator[int | None]:
    """How many columns are tried, all first."""
    for columns in _COLUMNS:
        if columns is None or columns < width:
            yield columns


def ncp_costs(problem: Problem) -> list[Floats]:
    """What a cell released as each node adds to the NCP of its record, or at least adds where it becomes a range."""
    ranged, width = set(problem.options.get("ranges") or ()), max(len(problem.hierarchies), 1)
    costs = []
    for name, hierarchy in zip(problem.table.quasi, problem.hierarchies, strict=True):
        own = hierarchy.loss / width
        if name in ranged:  # a range of two values or more covers at least two neighbours
            step = 1.0 / max(float(hierarchy.spans[hierarchy.root]) - 1.0, 1.0) / width
            own = np.where(np.arange(len(own)) < hierarchy.n_leaves, 0.0, np.minimum(own, step))
        costs.append(own)
    return costs
