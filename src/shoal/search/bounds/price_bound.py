"""The bound by prices on the NCP of any release, within a budget of work that the policy and the table decide.

What the prices prove for hierarchy labels holds for ranges, too, once a cell of a ranged column costs no more than the
least that a range of two values does. Where all columns together are too many for the budget, the dearest few are
looked at alone: the others then cost nothing, which lowers the bound and keeps it valid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.search.kernels.compiling import compile_ahead
from shoal.search.kernels.load import PRICES
from shoal.search.prices.solver import PriceBound, PriceSolver
from shoal.search.problem import Problem
from shoal.table.classes import Floats

Method = Literal["prices", "prices-of-some-columns"]
"""Whether prices are about all columns, or about the dearest few."""
WORK = 300_000_000
"""Members of boxes that are touched for a table of some size: seconds, about as long as a search takes."""
SMALL, SMALL_WORK = 2000, 3_000_000
"""Distinct tuples up to which NumPy does the work, and how much that is: about 0.2 seconds."""
_OF_LATTICE, _MOST_OF_LATTICE = 4, 2_500_000
"""More for small tables of many nodes: this part of tuples times nodes, where a look at all boxes takes longer."""
WORK_PER_SECOND = 40_000_000  # more for each second that the policy grants to refine
_COLUMNS = (None, 12, 8, 5, 3)  # how many of the dearest columns are tried one after the other
_METHODS: dict[bool, Method] = {True: "prices", False: "prices-of-some-columns"}
_SHARE = 2  # a try may take this part of the budget before it comes to its first prices


@dataclass(frozen=True, eq=False)
class PriceProof:
    """Prices that prove a bound, and what they take into account."""

    proof: PriceBound
    columns: tuple[str, ...]  # the others are taken to cost nothing
    method: Method
    records: int  # that a class has at least
    values: int  # that a class has at least, in the column of the items

    @property
    def bound(self) -> float:
        """NCP that no release falls below."""
        return max(self.proof.bound, 0.0)


def price_work(problem: Problem) -> int:
    """How much work the bound of a problem is worth: the same for the same table and policy, on any machine."""
    if is_small(problem):
        boxes = problem.table.n_tuples * math.prod(problem.shape)
        return SMALL_WORK + min(boxes // _OF_LATTICE, _MOST_OF_LATTICE)
    return WORK + int(_seconds(problem) * WORK_PER_SECOND)


def is_small(problem: Problem) -> bool:
    """Whether NumPy does the work, and no kernel has to be compiled: for few tuples, where no time is asked for."""
    return problem.table.n_tuples <= SMALL and not _seconds(problem)


def _seconds(problem: Problem) -> float:
    """What the policy grants to refine."""
    refine = problem.options.get("refine")
    return float(refine) if isinstance(refine, int | float) and not isinstance(refine, bool) else 0.0


def price_bound(problem: Problem, *, work: int | None = None) -> PriceProof | None:
    """The bound that prices prove, and of which columns; None where the work allowed no prices at all."""
    work = price_work(problem) if work is None else work
    costs, compiled = ncp_costs(problem), not is_small(problem)
    if compiled:
        compile_ahead(PRICES, problem.progress)
    for columns in _tries(len(problem.hierarchies)):
        solver = PriceSolver(problem, costs=costs, columns=columns, compiled=compiled)
        first = solver.run(work=work // _SHARE if compiled else work)
        work -= solver.work
        if first.proof.complete:
            found = solver.run(work=max(work, 0)).proof if work > 0 else first.proof
            lattice, method = solver.lattice, _METHODS[columns is None]
            return PriceProof(found, tuple(sorted(lattice.columns)), method, *lattice.need)
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
