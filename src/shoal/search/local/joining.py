"""Classes of whole tuples, and what it costs a tuple to join one: for tuples that found no class of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.search.local.boxes import Boxes
from shoal.search.local.cover import Cover

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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

    def update(self, each: int) -> None:
        """Work out the box, cost and size of a class anew."""
        if self.members[each]:
            self.nodes[each], self.costs[each] = self.box_of(self.members[each])
            self.sizes[each] = int(self.cover.weights[self.members[each]].sum())
        else:
            self.costs[each], self.sizes[each] = 0.0, 0

    def best_joins(self, items: list[int], budgets: Floats) -> tuple[NDArray[np.int32], Floats]:
        """For each tuple the class it costs least to join and what that adds, within a budget each."""
        trees = self._trees
        return self.cover.kernels.best_joins(  # type: ignore[no-any-return]
            self.boxes.codes, np.array(items, dtype=np.int64), budgets, self.owner, self.cover.weights,
            self.nodes, self.costs, self.sizes, trees.offsets, trees.first, trees.last, trees.parents, trees.costs,
        )  # fmt: skip
