"""Where the whole lattice cannot be walked: classes of neighbours.

A class is worth having where its records are near each other. Around each tuple a group grows by near tuples until it
satisfies the models. Groups become classes, those first in which nobody pays much more than in the group that grew
around them; tuples whose neighbours are gone look for others among those left, step by step at a higher price. Finally
groups of those that have remained become classes only if joining classes of their neighbours would cost more.

Time and memory grow with the number of tuples and of columns, not with the lattice: for each tuple `near_tuples.NEAR`
neighbours and one group are held.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, repeat

import numpy as np

from shoal.models import least_size
from shoal.search.kernels import plain_neighbours
from shoal.search.kernels.load import neighbour_kernels
from shoal.search.kernels.plain_costs import cell_costs
from shoal.search.local.blocks import Blocks, Codes, Indices, dearest_first
from shoal.search.local.cover import BoxCover
from shoal.search.local.near_tuples import NEAR, nearest
from shoal.search.local.refinement.arrangement import prices_of
from shoal.search.local.threads import spread
from shoal.table.classes import Floats, Mask

STEPS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.2)
"""How much more than in a group of its own a record is to pay, step by step: 1 is one column given up."""
_SIZES, _SIZES_ON_VALUES = (1,), (1, 2, 4)
"""How many times as many records as a class needs the groups have: models on values may ask for more."""
_SEEDS = 16  # tuples around which groups grow, for as many records as a class needs
_AROUND, _ENOUGH = 4, 2  # neighbours among which a group grows, for each record that it needs: at most, at least
_DIGITS = 9  # costs that agree to so many digits are equal: rounding must not decide which group is taken


class NeighbourCover:
    """Covers tuples with classes of neighbours that satisfy the models."""

    def __init__(self, cover: BoxCover) -> None:
        self._cover, self._blocks = cover, cover.blocks
        problem = self._blocks.problem
        self._compiled = bool(neighbour_kernels(problem.table.n_rows))
        self._prices = prices_of(self._blocks, dearest_first(problem))
        self._least = max(least_size(self._blocks.class_models), 2)
        self._sizes = _SIZES_ON_VALUES if cover.on_values else _SIZES
        self._may_join = problem.closed  # a class stays one

    def classes(self, tuples: Indices, near: Codes) -> Indices:
        """The class of each of some tuples, given their nearest ones by index among them; -1 for those without."""
        codes = np.ascontiguousarray(self._cover.codes[:, tuples].T)
        found, left = np.full(len(tuples), -1, dtype=np.int64), np.arange(len(tuples))
        least = np.full(len(tuples) + 1, np.inf)  # what each pays in a group of its own; the last stands for no tuple
        known = near.copy()
        for step in chain(STEPS, repeat(math.inf)):
            if self._cover.weights[tuples[left]].sum() < self._least:
                break
            seeds, members, costs = self._groups(tuples, codes, left, known, found)
            own = left[seeds]
            least[own] = np.where(np.isfinite(least[own]), least[own], costs)
            inside = np.where(members >= 0, left[members], len(tuples))
            possible, cheapest = np.isfinite(costs), least[inside].min(axis=1)
            more = np.round(np.subtract(costs, cheapest, out=np.full(len(costs), np.inf), where=possible), _DIGITS)
            wanted = possible & (more <= step)
            if math.isinf(step):
                wanted &= self._cheaper_than_joining(tuples, codes, near, found, left, members, costs)
            candidates = np.flatnonzero(wanted)
            owner = self._taken(candidates[np.argsort(more[candidates], kind="stable")], members, len(left))
            found[left] = np.where(owner >= 0, owner + found.max() + 1, -1)
            if math.isinf(step) and (owner < 0).all():
                break
            left = left[owner < 0]
        return self._joined(tuples, codes, near, found) if self._may_join else found

    def _groups(
        self, tuples: Indices, codes: Codes, left: Indices, known: Codes, found: Indices
    ) -> tuple[Indices, Codes, Floats]:
        """Around which of those left groups have grown, the tuples of each, and what a record costs; infinite for none.

        Tuples are numbered among those left.
        """
        seeds = _evenly(len(left), max(_SEEDS * len(left) // self._least, 1))
        near = self._near(codes, left, seeds, known, found)
        own, tuples = np.ascontiguousarray(codes[left]), tuples[left]
        members = np.full((len(seeds), self._least * self._sizes[-1]), -1, dtype=np.int32)
        costs = np.full(len(seeds), np.inf)
        for size in self._sizes:
            without = np.flatnonzero(np.isinf(costs))
            grown, priced = self._grown(tuples, own, seeds[without], near[without], size * self._least)
            priced[~self._satisfying(tuples, grown, priced)] = np.inf
            members[without, : grown.shape[1]], costs[without] = grown, priced
        return seeds, members, costs

    def _near(self, codes: Codes, left: Indices, seeds: Indices, known: Codes, found: Indices) -> Codes:
        """The nearest of those left for some of them: as far as they are enough those ``known``, which are brought up.

        Those of the known neighbours that are left are the nearest of all that are left.
        """
        most = self._least * self._sizes[-1]
        width = min(_AROUND * most, max(len(left) - 1, 1))
        if width > NEAR:
            return nearest(self._blocks, codes[left], seeds, self._prices, width)
        own = left[seeds]
        free = (known[own] >= 0) & (found[known[own]] < 0)
        few = np.flatnonzero(np.count_nonzero(free, axis=1) < min(_ENOUGH * most, width))
        if len(few):
            new = nearest(self._blocks, codes[left], seeds[few], self._prices, NEAR)
            known[own[few]], free[few] = np.where(new >= 0, left[new], -1), new >= 0
        number = np.full(len(found) + 1, -1, dtype=np.int32)  # the last stands for no neighbour
        number[left] = np.arange(len(left))
        order = np.argsort(~free, axis=1, kind="stable")[:, :width]
        chosen = np.where(np.take_along_axis(free, order, axis=1), np.take_along_axis(known[own], order, axis=1), -1)
        return np.ascontiguousarray(number[chosen])

    def _grown(self, tuples: Indices, codes: Codes, seeds: Indices, near: Codes, least: int) -> tuple[Codes, Floats]:
        """Groups of so many records: their tuples, and what a record costs."""
        weights, members, costs = (
            self._cover.weights[tuples],
            np.empty((len(seeds), least), np.int32),
            np.empty(len(seeds)),
        )
        if not self._compiled:
            plain_neighbours.grow_groups(codes, weights, seeds, near, least, self._prices, members, costs)
            return members, costs
        from shoal.search.kernels import neighbours  # noqa: PLC0415 - numba takes time and memory to import

        def grow(some: slice) -> None:
            arrays = codes, weights, seeds[some], near[some], least, self._prices, members[some], costs[some]
            neighbours.grow_groups(*arrays)

        spread(grow, len(seeds))
        return members, costs

    def _satisfying(self, tuples: Indices, members: Codes, costs: Floats) -> Mask:
        """Which groups are large enough and satisfy the models on values."""
        good = np.isfinite(costs)
        if self._cover.on_values and good.any():
            index, at = np.nonzero(members[good] >= 0)
            good[good] = self._cover.holds(tuples[members[good][index, at]], index, int(good.sum()))
        return good

    def _taken(self, order: Indices, members: Codes, count: int) -> Indices:
        """The group of each of so many tuples where groups are taken in some order, -1 for none."""
        owner = np.full(count, -1, dtype=np.int64)
        if self._compiled:
            from shoal.search.kernels import neighbours  # noqa: PLC0415 - numba takes time and memory to import

            neighbours.take_groups(order, members, owner)
            return owner
        taken = 0
        for index in order:
            own = members[index][members[index] >= 0]
            if (owner[own] < 0).all():
                owner[own] = taken
                taken += 1
        return owner

    def _cheaper_than_joining(
        self, tuples: Indices, codes: Codes, near: Codes, found: Indices, left: Indices, members: Codes, costs: Floats
    ) -> Mask:
        """Which groups of those left cost no more than if each of their tuples joined a class of its neighbours."""
        if not self._may_join:
            return np.ones(len(costs), dtype=np.bool_)
        joining = np.append(self._joins(tuples, codes, near, found, left)[1], 0.0)
        records = np.append(self._cover.weights[tuples[left]], 0)
        inside = np.where(members >= 0, members, len(left))
        together, apart = costs * records[inside].sum(axis=1), joining[inside].sum(axis=1)
        cheaper: Mask = np.round(together, _DIGITS) <= np.round(apart, _DIGITS)
        return cheaper

    def _joined(self, tuples: Indices, codes: Codes, near: Codes, found: Indices) -> Indices:
        """The classes after those left have joined classes of their neighbours, as far as they have any."""
        while len(left := np.flatnonzero(found < 0)):
            classes, _ = self._joins(tuples, codes, near, found, left)
            if (classes < 0).all():
                break
            found[left] = classes
        return found

    def _joins(
        self, tuples: Indices, codes: Codes, near: Codes, found: Indices, left: Indices
    ) -> tuple[Indices, Floats]:
        """The class of a neighbour that each of those left costs least to join, -1 for none, and what that adds."""
        target, least = np.full(len(left), -1, dtype=np.int64), np.full(len(left), np.inf)
        inside = np.flatnonzero(found >= 0)
        if not len(inside):
            return target, least
        owners = np.where(near[left] >= 0, found[near[left]], -1)
        asking, rank = np.nonzero(owners >= 0)
        own, classes = left[asking], owners[asking, rank]
        low, high, sizes = self._boxes(codes[inside], tuples[inside], found[inside])
        weights = self._cover.weights[tuples[own]]
        together = self._costs(np.minimum(low[classes], codes[own]), np.maximum(high[classes], codes[own]))
        added = np.round(together * (sizes[classes] + weights) - (self._costs(low, high) * sizes)[classes], _DIGITS)
        order = np.lexsort((classes, added, asking))
        first = order[np.flatnonzero(np.diff(asking[order], prepend=-1))]
        target[asking[first]], least[asking[first]] = classes[first], added[first]
        return target, least

    def _boxes(self, codes: Codes, tuples: Indices, owner: Indices) -> tuple[Codes, Codes, Indices]:
        """The smallest and largest codes of each class, and its records."""
        order = np.argsort(owner, kind="stable")
        starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
        low, high = (end.reduceat(codes[order], starts, axis=0) for end in (np.minimum, np.maximum))
        return low, high, np.add.reduceat(self._cover.weights[tuples[order]], starts)

    def _costs(self, low: Codes, high: Codes) -> Floats:
        """What a record costs in each of some boxes."""
        cost = np.zeros(len(low))
        for c, (bottom, top) in enumerate(zip(low.T.astype(np.int64), high.T.astype(np.int64), strict=True)):
            cost += cell_costs(c, bottom, top, self._prices)
        return cost


def _evenly(count: int, wanted: int) -> Indices:
    """So many indices of ``count`` tuples, all of them where there are no more, in even steps."""
    return np.linspace(0, count - 1, min(wanted, count)).astype(np.int64)


def neighbours_by_block(blocks: Blocks, near: Codes) -> Iterator[tuple[Indices, Codes]]:
    """The tuples of each block, and the nearest of each by index among them, -1 where there are no more."""
    place = np.empty(len(blocks.tuple_block), dtype=np.int32)
    for block in range(blocks.n_blocks):
        tuples = np.flatnonzero(blocks.tuple_block == block)
        place[tuples] = np.arange(len(tuples))
        yield tuples, np.where(near[tuples] >= 0, place[near[tuples]], -1).astype(np.int32)
