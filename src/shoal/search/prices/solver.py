"""Prices by primal-dual steps on the boxes that are nearly tight, and the bound that they prove.

Local recoding is a set-partitioning problem. The dual of its linear relaxation has a price for each record: in every
box, no class that the models allow may have prices that sum to more than it costs. The sum of such prices is a lower
bound on the cost of any release. Steps on prices and multipliers (Chambolle & Pock 2011) approach the best prices;
boxes that are far from tight rest, and every so many steps all boxes are looked at again. Whatever the prices are then,
lowering those of the boxes that they violate makes them feasible (`kernels.prices.repair`), so every round proves a
bound, and the best one counts.

All work is counted in members touched, never in seconds: the same budget gives the same prices on any machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.search.local.blocks import Indices
from shoal.search.prices.lattice import Boxes, Items, Lattice, no_boxes
from shoal.search.problem import Problem
from shoal.table.classes import Counts, Floats, Mask

ROUNDING = 1e-11  # prices are told lower by so much, so that sums that are rounded otherwise do not exceed a cost
_SLACK = 0.3  # boxes that come within so much of tight are looked at in every step, in mean prices
_PRIMAL_WEIGHT = 3.0  # the size of prices over that of multipliers, in mean prices
_STALLED, _SMALLEST = 5e-4, 100.0  # a gain of the bound so small makes steps smaller, down to this part
_RISE = 2.0  # how far a price may rise before all boxes are looked at again, in mean prices
_DEGREE = 150.0  # tight boxes that an item may be in: steps are smaller for more


@dataclass(frozen=True, eq=False)
class PriceBound:
    """Prices that prove a lower bound: in no box may a class have prices that exceed its cost."""

    items: Items
    prices: Floats  # of a record of each item
    suppression_price: float  # what one more record of the suppression budget would save at most
    bound: float  # mean cost of a record that no release falls below
    work: int  # members touched
    complete: bool  # whether all boxes were looked at; otherwise these are the nearest-neighbour prices, or 0


@dataclass(frozen=True, eq=False)
class PriceSolution:
    """A state of the search for prices: the fractional release and the best proof so far."""

    proof: PriceBound
    prices: Floats  # the prices at which boxes were looked at last: nearly feasible
    boxes: Boxes  # nearly tight boxes
    multipliers: Floats  # how often each box's best class is taken in the fractional release
    impossible: Mask  # items that can be in no class at all

    @property
    def items(self) -> Items:
        """The records as items."""
        return self.proof.items

    @property
    def bound(self) -> float:
        """Mean cost of a record that no release falls below."""
        return self.proof.bound


class PriceSolver:
    """Looks for the prices that prove the best bound."""

    def __init__(
        self,
        problem: Problem,
        *,
        costs: Sequence[Floats] | None = None,
        records: Counts | None = None,
        budget: int | None = None,
        columns: int | None = None,
        compiled: bool = True,
    ) -> None:
        self.lattice = Lattice.of(problem, costs=costs, records=records, columns=columns, compiled=compiled)
        self.budget = problem.budget if budget is None else budget
        self.work, self.complete = 0, False
        n = len(self.lattice.items.weights)
        self.feasible = np.zeros(n)  # the best feasible prices so far: nothing costs less than 0
        self.impossible = np.zeros(n, dtype=np.bool_)  # items that can be in no class: their records are suppressed
        self.point = np.zeros(n)  # the prices at which all boxes are looked at
        self._boxes, self._multipliers, self._last_look = no_boxes(), np.zeros(0), 0
        self._looked, self._looked_scale, self._damping = False, 0.0, 1.0
        self._prices, self._leading, self._dropped = np.zeros(n), np.zeros(n), np.zeros(n)
        self._suppression_price = np.zeros(1)

    def run(self, *, work: int, start: Floats | None = None) -> PriceSolution:
        """Prices after so much more work; a later call goes on from there. ``start`` are prices to begin with."""
        limit = self.work + work
        if self.complete or self._begin(limit, start):
            while not self.settled and self._look(limit) and self._step(limit):
                pass
        return self.solution

    @property
    def settled(self) -> bool:
        """Whether steps have become so small that more of them gain nothing, or nothing has to be lost at all."""
        return self.complete and (self._damping >= _SMALLEST or self._scale <= 0.0)

    @property
    def solution(self) -> PriceSolution:
        """Where the search stands."""
        items = self.lattice.items
        prices, suppression_price, bound = self._proven(self.feasible)
        proof = PriceBound(items, prices, suppression_price, bound, self.work, self.complete)
        return PriceSolution(proof, self.point, self._boxes, self._multipliers, self.impossible)

    def _begin(self, limit: int, start: Floats | None) -> bool:
        """Begin with the nearest-neighbour prices, which are feasible; whether the work allowed it."""
        least, work, self.complete = self.lattice.nearest(limit - self.work)
        self.work += work
        if not self.complete:
            return False
        self.impossible = ~np.isfinite(least)
        self.feasible = np.where(self.impossible, 0.0, least)
        self.point = self.feasible.copy() if start is None else np.where(self.impossible, 0.0, start)
        self._prices, self._leading = self.point.copy(), self.point.copy()
        return True

    def _look(self, limit: int) -> bool:
        """Look at all boxes, prove a bound, and choose the boxes for the next steps; whether the work allowed it."""
        if self._looked:
            return True
        first = not self._last_look
        self._looked_scale = self._scale
        slack = _SLACK * self._looked_scale
        boxes, work, complete = self.lattice.near(self.point, slack=slack, spread=slack, limit=limit - self.work)
        self.work, self._last_look = self.work + work, work
        if not complete:
            return False
        repaired, items = self.point.copy(), self.lattice.items
        above = self.point[boxes.members[boxes.starts[:-1]]] - boxes.costs
        violated = np.flatnonzero(above > 0)
        violated = violated[np.lexsort((boxes.keys[violated], -above[violated]))]
        self.work += int(
            self.lattice.kernels.repair(
                (boxes.costs, boxes.starts, boxes.members.copy()), boxes.rest, violated, (items.weights, items.values),
                self.lattice.need, self.lattice.n_values, repaired,
            )
        )  # fmt: skip
        bound, before = self._proven(repaired)[2], self._proven(self.feasible)[2]
        if not first and bound < before + _STALLED * abs(before):  # prices swing around the best: smaller steps now on
            self._damping = min(_SMALLEST, 1.25 * self._damping)
        if bound > before:
            self.feasible = repaired
        self._multipliers = _carried_over(self._boxes.keys, self._multipliers, boxes.keys)
        self._boxes, self._looked = boxes, True
        return True

    def _step(self, limit: int) -> bool:
        """Take steps on the chosen boxes; whether the work allowed it, with another look at all boxes after it."""
        boxes, items = self._boxes, self.lattice.items
        n = len(items.weights)
        kernels, steps = self.lattice.kernels, self.lattice.kernels.STEPS
        needed = steps * (kernels.STEP + len(boxes.members) + n)
        if self.work + needed + self._last_look > limit:
            return False
        weight = _PRIMAL_WEIGHT * self._looked_scale
        sums = np.zeros(n), np.zeros(len(boxes.costs))
        state = self._multipliers, self._prices, self._leading, *sums, self._dropped
        budget = max(self.budget - int(items.weights[self.impossible].sum()), 0)
        suppression = 1.0, float(budget), self._suppression_price
        highest = np.where(self.impossible, 0.0, self.point + _RISE * self._looked_scale)
        members = boxes.members.copy()
        self.work += int(
            kernels.price_steps(
                (boxes.costs, boxes.starts, members), (items.weights, items.values), self.lattice.need,
                self.lattice.n_values, state, highest, suppression, (weight, _DEGREE, self._damping), steps,
            )
        )  # fmt: skip
        self.point, self._looked = sums[0] / steps, False
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


def _carried_over(old_keys: Indices, old: Floats, keys: Indices) -> Floats:
    """The multipliers of boxes that were there before, 0 for others."""
    found = np.zeros(len(keys))
    if len(old_keys):
        order = np.argsort(old_keys, kind="stable")
        at = np.minimum(np.searchsorted(old_keys[order], keys), len(order) - 1)
        same = old_keys[order][at] == keys
        found[same] = old[order][at][same]
    return found
