"""Refining a partition: dissolve classes and move tuples where that lowers the loss, keeping every model.

Each step is taken only if it lowers the sum of cell costs and every class it touches still satisfies. Classes are
visited from the dearest on, again and again until a whole round changes nothing or the time is up: stopped at any
moment, the partition is right. Steps depend on costs and numbers only, so the same input gives the same result as
long as no time limit cuts it short.

- *Dissolve*: every tuple of a class joins the class where it costs least.
- *Move*: one tuple leaves a class that can spare it for one where it costs less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.boxes import Boxes
from shoal.algorithms.cover import Cover

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_GAIN = 1e-9
"""The least that a step must save: less is rounding."""


_TRIES = 4
"""How many of the tuples that would gain by leaving a class are tried at a visit; there may be another visit."""


@dataclass(eq=False)
class Partition:
    """Classes of whole tuples, with the box, cost and size of each."""

    cover: Cover
    owner: NDArray[np.int64]
    """Class of each tuple of the table; -1 for those that are not in this partition."""
    members: list[list[int]] = field(init=False)
    nodes: NDArray[np.int64] = field(init=False)
    costs: Floats = field(init=False)
    sizes: Ints = field(init=False)
    touched: set[int] = field(default_factory=set)
    """Classes that have changed since somebody cleared this."""

    def __post_init__(self) -> None:
        count = int(self.owner.max()) + 1
        self.members = [[] for _ in range(count)]
        for item in np.flatnonzero(self.owner >= 0):
            self.members[self.owner[item]].append(int(item))
        self.nodes = np.zeros((count, len(self.boxes.columns)), dtype=np.int64)
        self.costs, self.sizes = np.zeros(count), np.zeros(count, dtype=np.int64)
        self._trees = self.boxes.trees
        for each in range(count):
            self.update(each)

    @property
    def boxes(self) -> Boxes:
        """The lattice's arrays."""
        return self.cover.boxes

    @property
    def total(self) -> float:
        """Sum of cell costs over all records."""
        return float((self.costs * self.sizes).sum())

    def box_of(self, items: list[int]) -> tuple[NDArray[np.int64], float]:
        """The box that holds some tuples, and its cost."""
        codes = self.boxes.codes[:, items]
        low, high = codes.min(axis=1), codes.max(axis=1)
        node, cost = low.astype(np.int64), 0.0
        for c, (_, last, parents, costs) in enumerate(self._trees.by_column):
            at = int(node[c])
            while last[at] < high[c]:
                at = int(parents[at])
            node[c] = at
            cost += costs[at]
        return node, float(cost)

    def costs_without(self, items: list[int]) -> Floats:
        """What the box of some tuples costs when each one of them is left out, one at a time."""
        total = np.zeros(len(items))
        for codes, (_, last, parents, costs) in zip(self.boxes.codes[:, items], self._trees.by_column, strict=True):
            ordered = np.sort(codes)
            low, high = (ordered[0], ordered[1]), (ordered[-1], ordered[-2])
            cost = np.empty((2, 2))  # with and without the smallest, with and without the largest
            for a, b in np.ndindex(2, 2):
                at = int(low[a])
                while last[at] < high[b]:
                    at = int(parents[at])
                cost[a, b] = costs[at]
            total += cost[(codes == low[0]).astype(int), (codes == high[0]).astype(int)]
        return total

    def update(self, each: int) -> None:
        """Work out the box, cost and size of a class anew."""
        self.touched.add(each)
        if self.members[each]:
            self.nodes[each], self.costs[each] = self.box_of(self.members[each])
            self.sizes[each] = int(self.cover.weights[self.members[each]].sum())
        else:
            self.costs[each], self.sizes[each] = 0.0, 0

    def best_joins(self, items: list[int], budgets: Floats, total: float = np.inf) -> tuple[NDArray[np.int32], Floats]:
        """For each tuple the class it costs least to join and what that adds, within a budget each and in all."""
        trees = self._trees
        return self.cover.kernels.best_joins(  # type: ignore[no-any-return]
            self.boxes.codes, np.array(items, dtype=np.int64), budgets, total, self.owner, self.cover.weights,
            self.nodes, self.costs, self.sizes, trees.offsets, trees.first, trees.last, trees.parents, trees.costs,
        )  # fmt: skip

    def hold(self, groups: list[list[int]]) -> bool:
        """Whether classes made of these tuples satisfy every model."""
        if any(int(self.cover.weights[group].sum()) < self.cover.least for group in groups):
            return False
        if not self.cover.reads_values:
            return True
        tuples = np.array([item for group in groups for item in group], dtype=np.int64)
        owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        return bool(self.cover.holds(tuples, owner, len(groups)).all())

    def move(self, item: int, target: int) -> None:
        """Put a tuple into another class."""
        source = int(self.owner[item])
        self.members[source].remove(item)
        self.members[target].append(item)
        self.owner[item] = target
        self.update(source)
        self.update(target)


def refine(
    partition: Partition,
    *,
    rounds: int | None = None,
    deadline: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Improve until nothing does, so many rounds are done or the clock reaches the deadline; the steps taken."""
    steps, pending = 0, np.flatnonzero(partition.costs > _GAIN)
    while len(pending) and not _late(deadline) and rounds != 0:
        rounds = rounds - 1 if rounds is not None else None
        partition.touched.clear()
        for visited, each in enumerate(pending[np.argsort(-partition.costs[pending], kind="stable")]):
            if _late(deadline):
                break
            steps += _dissolve(partition, int(each)) or _move_out(partition, int(each))
            if progress is not None and visited % 64 == 0:
                progress(visited / len(pending))
        changed = np.array(sorted(partition.touched), dtype=np.int64)  # a class nothing touched has been tried
        pending = changed[partition.costs[changed] > _GAIN]
    return steps


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _dissolve(partition: Partition, each: int) -> bool:
    """Let every tuple of a class join another one, if that saves."""
    items = list(partition.members[each])
    saved = float(partition.costs[each] * partition.sizes[each])
    if not items or len(items) > 4 * partition.cover.least:
        return False
    targets, added = partition.best_joins(items, np.full(len(items), saved), saved)
    if (targets < 0).any() or added.sum() >= saved - _GAIN:
        return False
    joining: dict[int, list[int]] = {}
    for item, target in zip(items, targets.tolist(), strict=True):
        joining.setdefault(target, []).append(item)
    grown = {target: partition.members[target] + new for target, new in joining.items()}
    if _added(partition, grown) >= saved - _GAIN or not partition.hold(list(grown.values())):
        return False
    for target, new in joining.items():
        partition.members[target] += new
        partition.owner[new] = target
        partition.update(target)
    partition.members[each] = []
    partition.update(each)
    return True


def _added(partition: Partition, grown: dict[int, list[int]]) -> float:
    """What growing some classes adds to the sum of cell costs."""
    total = 0.0
    for target, items in grown.items():
        size = int(partition.cover.weights[items].sum())
        total += partition.box_of(items)[1] * size - partition.costs[target] * partition.sizes[target]
    return float(total)


def _move_out(partition: Partition, each: int) -> bool:
    """Let the tuple leave whose going saves most, if the class can spare one."""
    items = partition.members[each]
    weights = partition.cover.weights[items]
    spare = partition.sizes[each] - weights >= partition.cover.least
    if len(items) < 2 or not spare.any():
        return False
    now = float(partition.costs[each] * partition.sizes[each])
    saved = np.where(spare, now - partition.costs_without(items) * (partition.sizes[each] - weights), 0.0)
    leaving = [i for i in np.argsort(-saved, kind="stable") if saved[i] > _GAIN]
    if not leaving:
        return False
    targets, added = partition.best_joins([items[i] for i in leaving], saved[leaving] - _GAIN)
    for place in np.argsort(added - saved[leaving], kind="stable")[:_TRIES]:
        target, i = int(targets[place]), leaving[place]
        if target >= 0 and partition.hold([items[:i] + items[i + 1 :], [*partition.members[target], items[i]]]):
            partition.move(items[i], target)
            return True
    return False
