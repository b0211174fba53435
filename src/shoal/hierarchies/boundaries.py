"""How far each value may be generalized: Campan's maximum allowed generalization values (Def. 4, 5).

A boundary names nodes of the hierarchy. The cap of a leaf is the first of them on its way to the root; a leaf with
none may become the root. When several lie on one path the lowest counts for the leaves under it, so that a boundary
for a part of a group is not undone by one for the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.errors import PolicyProblem, did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy, IntArray, Label, is_scalar, scalar_text
from shoal.hierarchies.problems import quoted, refuse

Boundary = int | str | Sequence[Label] | None
"""No boundary, a level of the hierarchy, one node's label, or several (``None`` among them is the missing value)."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """The different levels that are left of a hierarchy under a boundary."""

    nodes: IntArray
    """``nodes[step, leaf]`` is the node that the leaf becomes; row 0 is the leaves, no row equals the one before."""
    nominal: tuple[int, ...]  # the level of the hierarchy that each row is: the lowest of those that give it


def boundary_caps(hierarchy: Hierarchy, boundary: Boundary, where: str) -> IntArray:
    """The node that each leaf may be generalized to at most.

    Raises `HierarchyError` for a label or level that the hierarchy lacks. The missing value may be named when no
    value is missing: there is nothing to cap then.
    """
    if boundary is None:
        return np.full(hierarchy.n_leaves, hierarchy.root, dtype=np.int32)
    if isinstance(boundary, int) and not isinstance(boundary, bool):
        if not 0 <= boundary <= hierarchy.height:
            message = f"the boundary is level {boundary}, which the hierarchy does not have."
            fix = f"Its levels run from 0 (the values) to {hierarchy.height} (the root)."
            facts = {"level": boundary, "height": hierarchy.height}
            refuse([PolicyProblem(where, message, fix, facts, code="unknown-level")])
        return np.array(hierarchy.levels[boundary], dtype=np.int32)
    caps = np.full(hierarchy.n_leaves, hierarchy.root, dtype=np.int32)
    depths = _depths(hierarchy)
    for node in sorted(_named(hierarchy, boundary, where), key=lambda node: int(depths[node])):
        caps[hierarchy.first[node] : hierarchy.last[node] + 1] = node
    return caps


def capped_levels(hierarchy: Hierarchy, caps: IntArray) -> Ladder:
    """The levels of the hierarchy with each leaf stopping at its cap, each different row once."""
    depths = _depths(hierarchy)
    rows = np.where(depths[hierarchy.levels] < depths[caps], caps, hierarchy.levels).astype(np.int32)
    kept = [level for level in range(len(rows)) if level == 0 or not np.array_equal(rows[level], rows[level - 1])]
    return Ladder(rows[kept], tuple(kept))


def _named(hierarchy: Hierarchy, boundary: object, where: str) -> set[int]:
    """The nodes that a boundary names."""
    labels = boundary if isinstance(boundary, list | tuple) else [boundary]
    nodes: set[int] = set()
    problems = []
    for given in labels:
        label = scalar_text(given) if is_scalar(given) else repr(given)
        node = hierarchy.by_label.get(label)
        if node is not None:
            nodes.add(node)
        elif label is not None:
            groups = [name for name in hierarchy.labels[hierarchy.n_leaves :] if name is not None]
            leaves = [name for name in hierarchy.labels[: hierarchy.n_leaves] if name is not None]
            message = f"the boundary {quoted(label)} is not in the hierarchy."
            fix = did_you_mean(label, [*reversed(groups), *leaves])
            problems.append(PolicyProblem(where, message, fix, {"label": label}, code="unknown-boundary"))
    refuse(problems)
    return nodes


def _depths(hierarchy: Hierarchy) -> IntArray:
    """Steps from the root to each node; along a path, a node above another is less deep."""
    depths = np.zeros(len(hierarchy.labels), dtype=np.int32)
    for lower, upper in zip(hierarchy.levels[-2::-1], hierarchy.levels[:0:-1], strict=True):
        depths[lower] = depths[upper] + (lower != upper)
    return depths
