"""Prices by primal-dual steps on the boxes that are nearly tight, and the bound that they prove.

Local recoding is a set-partitioning problem. The dual of its linear relaxation has a price for each record: in every
box, no class that the models allow may have prices that sum to more than it costs. The sum of such prices is a lower
bound on the cost of any release. Steps on prices and multipliers (`steps`) approach the best prices. Whatever they are
when all boxes are looked at, lowering those of the boxes that they violate makes them feasible
(`kernels.prices.repair`), so every look proves a bound, and the best one counts.

All work is counted in members touched, never in seconds: the same budget gives the same prices on any machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.search.prices.lattice import Items, Lattice
from shoal.search.prices.steps import PriceSteps
from shoal.search.problem import Problem
from shoal.table.classes import Floats

ROUNDING = 1e-11  # prices are told lower by so much, so that sums that are rounded otherwise do not exceed a cost
_STALLED, _SMALLEST = 5e-4, 100.0  # a gain of the bound so small makes steps smaller, down to this part


@dataclass(frozen=True, eq=False)
class PriceBound:
    """Prices that prove a lower bound: in no box may a class have prices that exceed its cost."""

    items: Items
    prices: Floats  # of a record of each item
    suppression_price: float  # what one more record of the suppression budget would save at most
    bound: float  # mean cost of a record that no release falls below
    work: int  # members touched
    complete: bool  # whether all boxes were looked at; otherwise these are the nearest-neighbour prices, or 0


class PriceSolver:
    """Looks for the prices that prove the best bound."""

    def __init__(
        self,
        problem: Problem,
        *,
        costs: Sequence[Floats] | None = None,
        columns: int | None = None,
        compiled: bool = True,
    ) -> None:
        self.lattice = Lattice.of(problem, costs=costs, columns=columns, compiled=compiled)
        self.budget, self.complete = problem.budget, False
        n = len(self.lattice.items.weights)
        self.feasible = np.zeros(n)  # the best feasible prices so far: nothing costs less than 0
        self.impossible = np.zeros(n, dtype=np.bool_)  # items that can be in no class: their records are suppressed
        self.steps = PriceSteps(self.lattice, np.zeros(n), self.impossible, budget=self.budget)

    def run(self, *, work: int) -> PriceBound:
        """What is proven after so much more work; a later call goes on from there."""
        limit = self.work + work
        if self.complete or self._begin(limit):
            while not self.settled and self._look(limit) and self.steps.step(limit):
                pass
        return self.proof

    @property
    def work(self) -> int:
        """Members touched."""
        return self.steps.work

    @property
    def settled(self) -> bool:
        """Whether steps have become so small that more of them gain nothing, or nothing has to be lost at all."""
        return self.complete and (self.steps.damping >= _SMALLEST or self._scale <= 0.0)

    @property
    def proof(self) -> PriceBound:
        """What is proven so far."""
        return PriceBound(self.lattice.items, *self._proven(self.feasible), self.work, self.complete)

    def _begin(self, limit: int) -> bool:
        """Begin with the nearest-neighbour prices, which are feasible; whether the work allowed it."""
        least, work, self.complete = self.lattice.nearest(limit - self.work)
        spent = self.work + work
        if self.complete:
            self.impossible = ~np.isfinite(least)
            self.feasible = np.where(self.impossible, 0.0, least)
            self.steps = PriceSteps(self.lattice, self.feasible.copy(), self.impossible, budget=self.budget)
        self.steps.work = spent
        return self.complete

    def _look(self, limit: int) -> bool:
        """Look at all boxes, prove a bound, and choose the boxes for the next steps; whether the work allowed it."""
        steps = self.steps
        if steps.looked:
            return True
        first = not steps.last_look
        if not steps.look(self._scale, limit):
            return False
        boxes, repaired, items = steps.boxes, steps.point.copy(), self.lattice.items
        above = steps.point[boxes.members[boxes.starts[:-1]]] - boxes.costs
        violated = np.flatnonzero(above > 0)
        violated = violated[np.lexsort((boxes.keys[violated], -above[violated]))]
        steps.work += int(
            self.lattice.kernels.repair(
                (boxes.costs, boxes.starts, boxes.members.copy()), boxes.rest, violated, (items.weights, items.values),
                self.lattice.need, self.lattice.n_values, repaired,
            )
        )  # fmt: skip
        bound, before = self._proven(repaired)[2], self._proven(self.feasible)[2]
        if not first and bound < before + _STALLED * abs(before):  # prices swing around the best: smaller steps now on
            steps.damping = min(_SMALLEST, 1.25 * steps.damping)
        if bound > before:
            self.feasible = repaired
        return True

    @property
    def _scale(self) -> float:
        """The size of a price: the mean that is proven so far, or of nearest neighbours."""
        weights = self.lattice.items.weights
        return float((self.feasible * weights).sum() / weights.sum())

    def _proven(self, prices: Floats) -> tuple[Floats, float, float]:
        """Feasible prices once those of suppression are added, the price of the budget, and the bound they prove.

        A suppressed record costs 1, so no price may exceed 1 + m, where m is the price of one more record of the
        budget. The bound is the sum of the prices, each at most 1 + m, less m for each record of the budget. It is
        largest where no more records than the budget allows have prices above 1 + m. Records that can be in no class
        have to be suppressed, whatever their price.
        """
        weights, possible = self.lattice.items.weights, ~self.impossible
        certain = int(weights[self.impossible].sum())
        order = np.argsort(-prices[possible], kind="stable")
        below = np.cumsum(weights[possible][order])
        at = int(np.searchsorted(below, max(self.budget - certain, 0), side="right"))
        extra = max(0.0, float(prices[possible][order][at]) - 1.0) if at < len(order) else 0.0
        prices = np.where(possible, np.minimum(prices, 1.0 + extra), 1.0 + extra) - ROUNDING
        total = float((prices * weights).sum()) - max(self.budget, certain) * extra
        return prices, extra, total / max(int(weights.sum()), 1)
