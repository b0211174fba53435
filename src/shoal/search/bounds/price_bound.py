"""The bound by prices on the NCP of any release, within a budget of work that the policy and the table decide.

What the prices prove for hierarchy labels holds for ranges, too, once a cell of a ranged column costs no more than the
least that a range of two values does. Where all columns together are too many for the budget, the dearest few are
looked at alone: the others then cost nothing, which lowers the bound and keeps it valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.search.kernels.compiling import compile_ahead
from shoal.search.kernels.load import PRICES
from shoal.search.prices.solver import PriceBound, PriceSolver
from shoal.search.prices.work import has_few_tuples, is_small, price_work
from shoal.search.problem import Problem
from shoal.table.classes import Floats

Method = Literal["prices", "prices-of-some-columns"]
"""Whether prices are about all columns, or about the dearest few."""
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


def price_bound(problem: Problem, *, work: int | None = None, solver: PriceSolver | None = None) -> PriceProof | None:
    """The bound that prices prove, and of which columns; None where the work allowed no prices at all.

    It goes on from prices that have guided the search where these are prices of NCP.
    """
    work = price_work(problem) if work is None else work
    costs, compiled = ncp_costs(problem), not is_small(problem)
    same_kernels = solver is not None and compiled != has_few_tuples(problem)
    if solver is not None and same_kernels and all(map(np.array_equal, solver.lattice.node_costs, costs)):
        return _proof(solver, solver.run(work=max(work - solver.work, 0)), "prices")
    if compiled:
        compile_ahead(PRICES, problem.progress)
    for columns in _tries(len(problem.hierarchies)):
        solver = PriceSolver(problem, costs=costs, columns=columns, compiled=compiled)
        first = solver.run(work=work // _SHARE if compiled else work)
        work -= solver.work
        if first.complete:
            return _proof(solver, solver.run(work=work) if work > 0 else first, _METHODS[columns is None])
        if work <= 0:
            return None
    return None


def _proof(solver: PriceSolver, found: PriceBound, method: Method) -> PriceProof:
    return PriceProof(found, tuple(sorted(solver.lattice.columns)), method, *solver.lattice.need)


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
