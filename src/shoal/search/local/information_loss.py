"""Campan's information loss over whole numbers, so that ties are ties.

Def. 8: a class releases the lowest common ancestor of its values. Def. 10: each of its records loses, in each column,
the height of the subtree under the released value over the height of the hierarchy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy

Whole = NDArray[Any]  # whole numbers: int64, or Python's own where they could outgrow 64 bits
Nodes = NDArray[np.int32]

INT64_LIMIT = 2**62  # sums from here on are made in Python's own numbers


@dataclass(frozen=True, eq=False)
class InformationLoss:
    """The height of the subtree under each node over that of its tree, times a common denominator."""

    hierarchies: tuple[Hierarchy, ...]
    heights: tuple[Whole, ...]
    beyond: int  # more than any record can lose

    @classmethod
    def of(cls, hierarchies: tuple[Hierarchy, ...], records: int) -> InformationLoss:
        """The loss in these hierarchies, for a table of so many records."""
        tops = [max(int(tree.subtree_heights[tree.root]), 1) for tree in hierarchies]
        common = math.lcm(*tops)
        beyond = common * len(tops) + 1
        kind = np.int64 if 2 * beyond * (records + 1) < INT64_LIMIT else object
        heights = (
            tree.subtree_heights.astype(kind) * (common // top) for tree, top in zip(hierarchies, tops, strict=True)
        )
        return cls(hierarchies, tuple(heights), beyond)

    def zeros(self, length: int) -> Whole:
        """No loss yet, for each of some records, leaves or classes."""
        return np.zeros(length, dtype=self.heights[0].dtype if self.heights else np.int64)

    def joining(self, j: int, node: int) -> Whole:
        """What a class that releases a node would lose in a column if each leaf joined it."""
        tree, result = self.hierarchies[j], self.zeros(self.hierarchies[j].n_leaves)
        for above in reversed(tree.path(node)):
            result[tree.first[above] : tree.last[above] + 1] = self.heights[j][above]
        return result

    def joined(self, nodes: Nodes, one: Nodes) -> tuple[Nodes, Whole]:
        """The nodes of each class joined with one more, and what each of their records would lose."""
        result, lost = np.empty_like(nodes), self.zeros(len(nodes))
        for j, tree in enumerate(self.hierarchies):
            path = tree.path(int(one[j]))
            first, last = tree.first[nodes[:, j]], tree.last[nodes[:, j]]
            short = np.zeros(len(nodes), dtype=np.int64)
            for node in path[:-1]:
                short += (tree.first[node] > first) | (tree.last[node] < last)
            result[:, j] = np.array(path, dtype=np.int32)[short]
            lost += self.heights[j][result[:, j]]
        return result, lost

    def of_nodes(self, nodes: Nodes) -> Whole:
        """What each record of each class loses."""
        lost = self.zeros(len(nodes))
        for j, heights in enumerate(self.heights):
            lost += heights[nodes[:, j]]
        return lost
