"""Ranges of values as nodes beside the tree: ``22<=30`` stands for every value from 22 to 30.

A run of base intervals, such as ``[20, 35)``, is one as well: it stands for the leaves that lie in it. A range is
appended after the nodes of the tree, hangs under the lowest node that covers it, and stands on no level. Asked for a
level or a height it answers as that node; asked how many values it covers, it counts its own.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.hierarchies.base_intervals import BaseIntervals, Run
from shoal.hierarchies.hierarchy import Hierarchy, IntArray
from shoal.hierarchies.numbers_as_text import RANGE_SIGN
from shoal.hierarchies.problems import Problems


@dataclass(frozen=True, eq=False)
class RangedHierarchy(Hierarchy):
    """A hierarchy with ranges appended; `with_ranges` makes one."""

    tree: Hierarchy  # the hierarchy without the ranges; its nodes have the same numbers here
    base: BaseIntervals | None = None  # what the ranges are runs of; None where their ends are leaves

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
    _refuse_used([label for label in labels if label in hierarchy.by_label], where)
    return _extended(hierarchy, labels, low, high, None) if labels else hierarchy, number[index]


def with_runs(
    hierarchy: Hierarchy, base: BaseIntervals, runs: Sequence[Run], where: str
) -> tuple[Hierarchy, Mapping[Run, int]]:
    """Append some runs of base intervals, and give the node of each; -1 for one that no leaf lies in.

    A node that has the label of a run and the same leaves is that run.
    """
    node_of: dict[Run, int] = {}
    labels, ends, used = list[str](), list[tuple[int, int]](), []
    positions = _Positions(base, hierarchy)
    for run in sorted(set(runs)):
        label, inside = base.label(run), positions.leaves_of(run)
        same = hierarchy.by_label.get(label)
        if inside is None:
            node_of[run] = -1
        elif same is None:
            node_of[run] = len(hierarchy.labels) + len(labels)
            labels.append(label)
            ends.append(inside)
        elif (int(hierarchy.first[same]), int(hierarchy.last[same])) == inside:
            node_of[run] = same
        else:
            used.append(label)
    _refuse_used(used, where)
    if not labels:
        return hierarchy, node_of
    low, high = np.array(ends, dtype=np.int32).T
    return _extended(hierarchy, labels, low, high, base), node_of


class _Positions:
    """The base intervals of the leaves of a hierarchy, to look runs up in."""

    def __init__(self, base: BaseIntervals, hierarchy: Hierarchy) -> None:
        leaves = enumerate(hierarchy.labels[: hierarchy.n_leaves])
        known = [(base.index(leaf), code) for code, leaf in leaves if leaf is not None]
        self._at = [(index, code) for index, code in known if index is not None]

    def leaves_of(self, run: Run) -> tuple[int, int] | None:
        """The first and the last leaf in a run; None where there is none."""
        first, last = bisect_left(self._at, (run[0],)), bisect_left(self._at, (run[1] + 1,)) - 1
        return (self._at[first][1], self._at[last][1]) if first <= last else None


def _refuse_used(labels: Sequence[str], where: str) -> None:
    """A released label must name one set of values and no other."""
    problems = Problems(where)
    for label in labels:
        message = f"the label {label!r} would name a node and a range of values."
        problems.add(message, "Give the node of the hierarchy another label.", code="label-used-twice", label=label)
    problems.refuse("labels that name a node and a range")


def _extended(
    hierarchy: Hierarchy, labels: Sequence[str], low: IntArray, high: IntArray, base: BaseIntervals | None
) -> RangedHierarchy:
    """The hierarchy with some ranges; one with a single leaf hangs beside it."""
    above = ancestors(hierarchy, low, high)
    above = np.where(low == high, hierarchy.parents[above], above)
    return RangedHierarchy(
        labels=(*hierarchy.labels, *labels),
        parents=np.append(hierarchy.parents, np.where(above < 0, hierarchy.root, above)).astype(np.int32),
        first=np.append(hierarchy.first, low).astype(np.int32),
        last=np.append(hierarchy.last, high).astype(np.int32),
        levels=hierarchy.levels,
        spans=np.append(hierarchy.spans, (high - low + 1).astype(np.float64)),
        tree=hierarchy,
        base=base,
    )


def ancestors(hierarchy: Hierarchy, low: IntArray, high: IntArray) -> IntArray:
    """The lowest common ancestor of each range of leaf codes, both ends in it."""
    node = low.copy()
    while (short := np.flatnonzero(hierarchy.last[node] < high)).size:
        node[short] = hierarchy.parents[node[short]]
    return node


def range_label(hierarchy: Hierarchy, first: int, last: int) -> str:
    """A range as released: its ends, both in it."""
    return f"{hierarchy.labels[first]}{RANGE_SIGN}{hierarchy.labels[last]}"
