"""Primal-dual steps on the prices of records and the multipliers of boxes (Chambolle & Pock 2011).

Prices belong to the dual of the best possible release. The multiplier of a box says how often its best class is taken
in the fractional release that goes with them. Boxes that are far from tight rest, and every so many steps all boxes
are looked at again. All work is counted in members touched, never in seconds.
"""

from __future__ import annotations

import numpy as np

from shoal.search.local.blocks import Indices
from shoal.search.prices.lattice import Lattice, no_boxes
from shoal.table.classes import Counts, Floats, Mask

_SLACK = 0.3  # boxes that come within so much of tight are looked at in every step, in mean prices
_PRIMAL_WEIGHT = 3.0  # the size of prices over that of multipliers, in mean prices
_RISE = 2.0  # how far a price may rise at first before all boxes are looked at again, in mean prices
_PATIENCE, _SHORT = 2, 1_000_000
"""A look takes long that is so many times the work of the last one, and more than so much work."""
_NO_LIMIT = 1 << 62
_DEGREE = 150.0  # tight boxes that an item may be in: steps are smaller for more


class PriceSteps:
    """Prices and multipliers that approach the best ones."""

    def __init__(self, lattice: Lattice, prices: Floats, impossible: Mask, *, budget: int = 0) -> None:
        self.lattice, self.impossible, self.budget = lattice, impossible, budget
        self.point = prices  # the prices at which all boxes are looked at: the mean over the last steps
        self.prices, self.leading, self.dropped = prices.copy(), prices.copy(), np.zeros(len(prices))
        self.suppression_price = np.zeros(1)
        self.boxes, self.multipliers = no_boxes(), np.zeros(0)  # those that are nearly tight
        self.work, self.last_look, self.looked = 0, 0, False
        self.caps = np.full(len(prices), np.inf)  # what each record has to pay at the most
        self._rise = _RISE
        self.damping = 1.0  # how many times smaller the steps of prices are
        self.scale = 0.0  # the size of a price when all boxes were looked at last
        self._known, self._before = (self.boxes.keys, self.multipliers), prices.copy()

    def look(self, scale: float, limit: int = _NO_LIMIT) -> bool:
        """Look at all boxes and choose those for the next steps; whether the work allowed it.

        ``scale`` is the size of a price. The limit is one of the work in all.
        """
        self.scale, slack = scale, _SLACK * scale
        boxes, work, complete = self.lattice.near(self.point, slack=slack, spread=slack, limit=limit - self.work)
        self.work += work
        if complete:
            self.last_look, self._before = work, self.point.copy()
            self.boxes, self.multipliers, self.looked = boxes, _carried_over(*self._known, boxes.keys), True
        return complete

    def look_again(self, scale: float) -> None:
        """Look at all boxes, whatever that takes, but where it takes long, first let prices go back half of their way.

        Prices that rise on too few boxes come near the costs of very many, which takes long and is of no use.
        """
        long = max(_PATIENCE * self.last_look, _SHORT) if self.last_look else _NO_LIMIT
        while not self.look(scale, self.work + long):
            self._go_back()

    def _go_back(self) -> None:
        """Put prices half-way to what they were when all boxes were looked at last; from now on they rise less."""
        self._rise /= 2
        for each in (self.point, self.prices, self.leading):
            each[:] = (each + self._before) / 2

    def step(self, limit: int = _NO_LIMIT) -> bool:
        """Take steps on the chosen boxes; whether the work allowed it, with another look at all boxes after it."""
        boxes, items = self.boxes, self.lattice.items
        n = len(items.weights)
        kernels, steps = self.lattice.kernels, self.lattice.kernels.STEPS
        needed = steps * (kernels.STEP + len(boxes.members) + n)
        if self.work + needed + self.last_look > limit:
            return False
        sums = np.zeros(n), np.zeros(len(boxes.costs))
        state = self.multipliers, self.prices, self.leading, *sums, self.dropped
        budget = max(self.budget - int(items.weights[self.impossible].sum()), 0)
        suppression = 1.0, float(budget), self.suppression_price
        highest = np.where(self.impossible, 0.0, np.minimum(self.highest(), self.caps))
        sizes = _PRIMAL_WEIGHT * self.scale, _DEGREE, self.damping
        self.work += int(
            kernels.price_steps(
                (boxes.costs, boxes.starts, boxes.members.copy()), (items.weights, items.values), self.lattice.need,
                self.lattice.n_values, state, highest, suppression, sizes, steps,
            )
        )  # fmt: skip
        self.point, self.looked = sums[0] / steps, False
        self._known = boxes.keys, self.multipliers
        return True

    def remaining(self, kept: Indices, records: Counts) -> PriceSteps:
        """The steps for some of the items, with so many records left of each, from the prices that they have."""
        other = PriceSteps(self.lattice.remaining(kept, records), self.point[kept], self.impossible[kept])
        other.prices, other.leading = self.prices[kept], self.leading[kept]
        other._known, other.scale, other.caps = self._known, self.scale, self.caps[kept]
        other._before, other._rise, other.last_look = self._before[kept], self._rise, self.last_look
        return other

    def cap(self, most: Floats) -> None:
        """Let no record of an item pay more than so much from now on, either."""
        self.caps = np.minimum(self.caps, most)
        for prices in (self.point, self.prices, self.leading):
            np.minimum(prices, self.caps, out=prices)

    def highest(self, times: int = 1) -> Floats:
        """How far each price may rise in so many times of taking steps."""
        return self.point + times * self._rise * self.scale


def _carried_over(old_keys: Indices, old: Floats, keys: Indices) -> Floats:
    """The multipliers of boxes that were there before, 0 for others."""
    found = np.zeros(len(keys))
    if len(old_keys):
        order = np.argsort(old_keys, kind="stable")
        at = np.minimum(np.searchsorted(old_keys[order], keys), len(order) - 1)
        same = old_keys[order][at] == keys
        found[same] = old[order][at][same]
    return found
