"""Earth mover's distance between each class and the whole release, for the three ground distances of t-closeness.

N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", 2007. Write
p for the shares of the values in a class and q for those in the whole release. Each function looks at the values that
a class has and adds the part of all the others at once, so the work grows with the entries, not with classes x values.
"""

from __future__ import annotations

import numpy as np

from shoal.hierarchies.hierarchy import Hierarchy, IntArray
from shoal.table.classes import ClassView, Counts, Floats, Histogram, Mask


def equal_distance(view: ClassView) -> Floats:
    """Any two values are 1 apart: half of Σ |p - q|."""
    histogram = view.histogram
    inside = _shares(view)[histogram.values]
    moved = np.abs(histogram.counts / view.sizes[histogram.class_of] - inside) - inside
    return _sum(histogram, moved) / 2 + (0.5 if len(view.sizes) else 0.0)


def ordered_distance(view: ClassView) -> Floats:
    """Values i and j of m are |i - j|/(m - 1) apart: Σ_i |Σ_{j ≤ i} (p_j - q_j)| / (m - 1).

    The m values are those that occur in the release: a reader of it knows no others, and counting values that nobody
    has would only make the distances smaller.
    Between two values that a class has, its cumulative share stands still while that of the release grows: the sum of
    their differences follows from prefix sums and the place where the two cross.
    """
    histogram, occurring = view.histogram, view.totals > 0
    m = int(np.count_nonzero(occurring))
    if m < 2 or not len(view.sizes):
        return np.zeros(len(view.sizes))
    records = int(view.totals.sum())
    overall = np.cumsum(view.totals[occurring])
    place = np.cumsum(occurring) - 1
    prefix = np.concatenate([[0], np.cumsum(overall)]) / records
    owner, starts = histogram.class_of, histogram.starts
    running = np.cumsum(histogram.counts)
    before = np.concatenate([[0], running])[starts[:-1]]
    reached = (running - before[owner]) / view.sizes[owner]
    start = place[histogram.values]
    end = np.concatenate([start[1:], [m]])
    end[starts[1:] - 1] = m
    cross = np.clip(np.searchsorted(overall / records, reached), start, end)
    ahead = (cross - start) * reached - (prefix[cross] - prefix[start])
    behind = (prefix[end] - prefix[cross]) - (end - cross) * reached
    work = _sum(histogram, ahead + behind) + prefix[start[starts[:-1]]]
    return np.asarray(np.maximum(work, 0.0) / (m - 1))


def hierarchical_distance(view: ClassView, hierarchy: Hierarchy) -> Floats:
    """Two values are as far apart as their lowest common ancestor is high, over the height of the tree.

    The distance is that of a walk through the tree whose edges are half as long as they rise, so the earth moved over
    the edge above a node is what its subtree has too much or too little: Σ_nodes rise/2 · |p - q| over the height.

    Heights count the values that occur in the release, as places do in the ordered distance: a value that only
    suppressed records have must not stretch the tree, and would be told by it.
    """
    heights = _heights(hierarchy, view.totals > 0) if len(view.sizes) else hierarchy.subtree_heights
    tree_height = int(heights[hierarchy.root])
    if not tree_height or not len(view.sizes):
        return np.zeros(len(view.sizes))
    rise = np.where(hierarchy.parents >= 0, heights[hierarchy.parents] - heights, 0) / (2 * tree_height)
    cumulative = np.concatenate([[0], np.cumsum(view.totals)])
    share = (cumulative[hierarchy.last + 1] - cumulative[hierarchy.first]) / cumulative[-1]
    histogram, result = view.histogram, np.full(len(view.sizes), float(rise @ share))
    for level in range(hierarchy.height):
        runs, nodes = _runs(histogram, hierarchy, level)
        owner = histogram.class_of[runs]
        own = np.add.reduceat(histogram.counts, runs) / view.sizes[owner]
        moved = rise[nodes] * (np.abs(own - share[nodes]) - share[nodes])
        moved[hierarchy.node_levels[nodes] != level] = 0.0
        result += np.bincount(owner, weights=moved, minlength=len(result))
    return np.asarray(np.maximum(result, 0.0), dtype=np.float64)


def _heights(hierarchy: Hierarchy, occurring: Mask) -> IntArray:
    """Height of the subtree under each node, counting only the leaves that occur."""
    heights = np.zeros(len(hierarchy.labels), dtype=np.int32)
    nodes: IntArray = np.flatnonzero(occurring).astype(np.int32)
    for steps in range(1, len(hierarchy.labels)):
        nodes = hierarchy.parents[nodes]
        nodes = nodes[nodes >= 0]
        if not len(nodes):
            break
        np.maximum.at(heights, nodes, steps)
    return heights


def _runs(histogram: Histogram, hierarchy: Hierarchy, level: int) -> tuple[Counts, IntArray]:
    """Where the entries of a class that share a node at a level begin, and the node.

    Leaves are in depth-first order, so such entries stand side by side.
    """
    nodes = hierarchy.levels[level][histogram.values]
    fresh = np.ones(len(nodes), dtype=np.bool_)
    fresh[1:] = (nodes[1:] != nodes[:-1]) | (histogram.class_of[1:] != histogram.class_of[:-1])
    runs = np.flatnonzero(fresh)
    return runs, nodes[runs]


def _shares(view: ClassView) -> Floats:
    """Share of each value in the whole release."""
    return np.asarray(view.totals / max(int(view.totals.sum()), 1), dtype=np.float64)


def _sum(histogram: Histogram, per_entry: Floats) -> Floats:
    return np.asarray(histogram.per_class_sum(per_entry), dtype=np.float64)
