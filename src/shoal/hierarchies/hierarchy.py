"""The one shape of every generalization hierarchy: a tree over leaf codes in depth-first order.

Leaves are nodes ``0 … n_leaves - 1`` in depth-first order, inner nodes follow. Then a subtree is a range of leaf
codes, the lowest common ancestor of a set is that of its smallest and largest code, and a full-domain level is a
lookup table from leaf code to node.

*Level* and *height* follow the papers: level 0 is the value itself, level ``height`` the root. In a tree of uneven
depth a shallow leaf stays itself until the level at which its parent stands (levels are counted from the root), so
that generalizing by one level never raises a value further than its neighbours need.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]
Label = str | None  # a node's label as released; ``None`` is the missing value, a leaf of its own

ROOT_LABEL = "*"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A generalization hierarchy; build one with a source of this package, not by hand."""

    labels: tuple[Label, ...]  # label of each node, unique; a label names one set of values and no other
    parents: IntArray  # parent of each node; -1 for the root
    first: IntArray  # smallest leaf code under each node
    last: IntArray  # largest leaf code under each node (inclusive)
    levels: IntArray
    """``levels[l, leaf]`` is the node that the leaf becomes at level ``l``; row 0 is the leaves, the last the root."""
    spans: FloatArray
    """How many values of the domain each node covers: its leaves, or more where the domain is larger than the tree."""

    @property
    def n_leaves(self) -> int:
        """Number of leaf values."""
        return int(self.levels.shape[1])

    @property
    def height(self) -> int:
        """Height of the hierarchy: the level of its root."""
        return int(self.levels.shape[0]) - 1

    @property
    def root(self) -> int:
        """The node that covers everything."""
        return int(self.levels[-1, 0])

    @cached_property
    def node_levels(self) -> IntArray:
        """The lowest level at which each node appears: how far a value was raised to become it."""
        found = np.full(len(self.labels), self.height, dtype=np.int32)
        for level in range(self.height, -1, -1):
            found[self.levels[level]] = level
        return found

    @cached_property
    def subtree_heights(self) -> IntArray:
        """Height of the subtree under each node, 0 for a leaf (Campan Def. 10)."""
        heights = np.zeros(len(self.labels), dtype=np.int32)
        for leaf in range(self.n_leaves):
            node, above = leaf, 0
            while (node := int(self.parents[node])) >= 0:
                above += 1
                heights[node] = max(heights[node], above)
        return heights

    @cached_property
    def loss(self) -> FloatArray:
        """NCP of each node: (values covered - 1) / (domain - 1); 0 everywhere when the domain has one value."""
        domain = self.spans[self.root]
        if domain <= 1:
            return np.zeros(len(self.labels))
        result: FloatArray = (self.spans - 1) / (domain - 1)
        return result

    @cached_property
    def by_label(self) -> Mapping[Label, int]:
        """Node of each label."""
        return {label: node for node, label in enumerate(self.labels)}

    def covers(self, node: int, leaf: int) -> bool:
        """Whether the leaf lies under the node."""
        return bool(self.first[node] <= leaf <= self.last[node])

    def path(self, leaf: int) -> list[int]:
        """The nodes from a leaf to the root, the leaf first."""
        nodes = [leaf]
        while (up := int(self.parents[nodes[-1]])) >= 0:
            nodes.append(up)
        return nodes


@dataclass(frozen=True)
class BuiltHierarchy:
    """A hierarchy and the leaf of each value that it was built for."""

    hierarchy: Hierarchy
    codes: IntArray  # leaf code of each value handed to `build`, in the order handed over


class HierarchySource(Protocol):
    """A declared hierarchy, ready to be built against a column."""

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the distinct values of a column (canonical text; ``None`` is missing) and their record counts."""
        ...


LABEL_SCHEMA: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}  # JSON Schema of a label in a policy


def is_scalar(value: object) -> bool:
    """Whether a value read from a policy is one label, not a group of them."""
    return value is None or isinstance(value, str | int | float | datetime.date | datetime.time)


def scalar_text(value: object) -> Label:
    """Canonical text: 5 and 5.0 are "5", true is "true", dates are ISO; null is the missing value."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    raise TypeError(f"{value!r} is not a scalar")
