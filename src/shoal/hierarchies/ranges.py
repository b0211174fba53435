"""Ranges of values as nodes beside the tree: ``22<=30`` stands for every value from 22 to 30.

A range is appended after the nodes of the tree, hangs under the lowest node that covers it, and stands on no level.
Asked for a level or a height it answers as that node; asked how many values it covers, it counts its own.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.hierarchies.hierarchy import Hierarchy, IntArray
from shoal.hierarchies.numbers_as_text import RANGE_SIGN
from shoal.hierarchies.problems import Problems


@dataclass(frozen=True, eq=False)
class RangedHierarchy(Hierarchy):
    """A hierarchy with ranges appended; `with_ranges` makes one."""

    tree: Hierarchy  # the hierarchy without the ranges; its nodes have the same numbers here

    @cached_property
    def node_levels(self) -> IntArray:
        """The lowest level at which each node appears; for a range, that of the lowest node above it."""
        return self._as_above(self.tree.node_levels)

    @cached_property
    def subtree_heights(self) -> IntArray:
        """Height of the subtree under each node; for a range, that under the lowest node above it."""
        return self._as_above(self.tree.subtree_heights)

    def _as_above(self, of_tree: IntArray) -> IntArray:
        """A figure of each node, the ranges taking that of their parents."""
        return np.concatenate([of_tree, of_tree[self.parents[len(of_tree) :]]]).astype(np.int32)


def with_ranges(hierarchy: Hierarchy, pairs: IntArray, where: str) -> tuple[Hierarchy, IntArray]:
    """Append the ranges from first to last leaf code, and give the node of each pair; one leaf alone is no range."""
    ends = pairs.reshape(-1, 2).astype(np.int64)
    keys, index = np.unique(ends[:, 0] * hierarchy.n_leaves + ends[:, 1], return_inverse=True)
    low, high = np.divmod(keys, hierarchy.n_leaves)
    alone = low == high
    number = np.where(alone, low, len(hierarchy.labels) + np.cumsum(~alone) - 1).astype(np.int32)
    low, high = low[~alone].astype(np.int32), high[~alone].astype(np.int32)
    labels = [range_label(hierarchy, first, last) for first, last in zip(low.tolist(), high.tolist(), strict=True)]
    problems = Problems(where)  # a released label must name one set of values and no other
    for label in (each for each in labels if each in hierarchy.by_label):
        message = f"the label {label!r} would name a node and a range of values."
        problems.add(message, "Give the node of the hierarchy another label.", code="label-used-twice", label=label)
    problems.refuse("labels that name a node and a range")
    if not labels:
        return hierarchy, number[index]
    extended = RangedHierarchy(
        labels=(*hierarchy.labels, *labels),
        parents=np.append(hierarchy.parents, ancestors(hierarchy, low, high)).astype(np.int32),
        first=np.append(hierarchy.first, low).astype(np.int32),
        last=np.append(hierarchy.last, high).astype(np.int32),
        levels=hierarchy.levels,
        spans=np.append(hierarchy.spans, (high - low + 1).astype(np.float64)),
        tree=hierarchy,
    )
    return extended, number[index]


def ancestors(hierarchy: Hierarchy, low: IntArray, high: IntArray) -> IntArray:
    """The lowest common ancestor of each range of leaf codes, both ends in it."""
    node = low.copy()
    while (short := np.flatnonzero(hierarchy.last[node] < high)).size:
        node[short] = hierarchy.parents[node[short]]
    return node


def range_label(hierarchy: Hierarchy, first: int, last: int) -> str:
    """A range as released: its ends, both in it."""
    return f"{hierarchy.labels[first]}{RANGE_SIGN}{hierarchy.labels[last]}"
