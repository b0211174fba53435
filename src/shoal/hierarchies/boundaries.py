"""How far each value may be generalized: Campan's maximum allowed generalization values (Def. 4, 5).

The cap of a leaf is the first node of the boundary on its way to the root: one for a part of a group is not undone
by one for the whole. A leaf without any may become the root.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.errors import did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy, IntArray, Label, is_scalar, scalar_text
from shoal.hierarchies.problems import Problems, quoted, refuse

Boundary = int | str | Sequence[Label] | None
"""No boundary, a level of the hierarchy, one node's label, or several (``None`` among them is the missing value)."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """The different levels that are left of a hierarchy under a boundary."""

    nodes: IntArray
    """``nodes[step, leaf]`` is the node that the leaf becomes; row 0 is the leaves, no row equals the one before."""
    nominal: tuple[int, ...]  # the level of the hierarchy that each row is: the lowest of those that give it


def boundary_caps(hierarchy: Hierarchy, boundary: Boundary, where: str) -> IntArray:
    """The node that each leaf may be generalized to at most."""
    if boundary is None:
        return np.full(hierarchy.n_leaves, hierarchy.root, dtype=np.int32)
    if isinstance(boundary, int) and not isinstance(boundary, bool):
        if not 0 <= boundary <= hierarchy.height:
            message = f"the boundary is level {boundary}, which the hierarchy does not have."
            fix = f"Its levels run from 0 (the values) to {hierarchy.height} (the root)."
            refuse(where, message, fix, code="unknown-level", level=boundary, height=hierarchy.height)
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
    labels = boundary if isinstance(boundary, list | tuple) else [boundary]
    nodes, problems = set[int](), Problems(where)
    for given in labels:
        label = scalar_text(given) if is_scalar(given) else repr(given)
        node = hierarchy.by_label.get(label)
        if node is not None:
            nodes.add(node)
        elif label is not None:
            leaves, groups = hierarchy.labels[: hierarchy.n_leaves], hierarchy.labels[hierarchy.n_leaves :]
            fix = did_you_mean(label, [name for name in (*reversed(groups), *leaves) if name is not None])
            message = f"the boundary {quoted(label)} is not in the hierarchy."
            problems.add(message, fix, code="unknown-boundary", label=label)
    problems.refuse()
    return nodes


def _depths(hierarchy: Hierarchy) -> IntArray:
    """Steps from the root to each node; along a path, a node above another is less deep."""
    depths = np.zeros(len(hierarchy.labels), dtype=np.int32)
    for lower, upper in zip(hierarchy.levels[-2::-1], hierarchy.levels[:0:-1], strict=True):
        depths[lower] = depths[upper] + (lower != upper)
    return depths
