"""t-closeness: the sensitive values of every class are distributed nearly as in the whole release.

N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", 2007, the
t-closeness principle: the earth mover's distance between a class and the whole release is at most t. The
whole release is what the model is shown, so suppressing records elsewhere changes what holds. Compared within the
tolerance of `shoal.models.comparison`.

Parameters: ``t``, a number in [0, 1]; ``distance`` between two values: ``equal`` (any two are 1 apart), ``ordered``
(by their places in the order of the values that occur in the release) or ``hierarchical`` (by the height of their
lowest common ancestor). The missing value lies where the column's order or hierarchy puts it.

Below, p are the shares of the values in a class and q those in the whole release. Each distance looks at the values
that a class has and adds the part of all the others at once: the work grows with the entries, not classes x values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import Parameter, ParameterKind, share
from shoal.errors import PolicyProblem
from shoal.hierarchies.hierarchy import Hierarchy, IntArray
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import TOLERANCE
from shoal.models.parts_of_classes import removed_for_distance
from shoal.table.classes import ClassView, Counts, Floats, Histogram, Mask, SensitiveDomain

DISTANCES = {
    "equal": "any two values are equally far apart",
    "ordered": "by their positions in the order, for numbers and dates with a hierarchy",
    "hierarchical": "by their position in a tree or in categories",
}


@dataclass(frozen=True)
class TCloseness(Model):
    """EMD(class, whole release) ≤ t."""

    name = "t-closeness"
    title = "t-closeness"
    summary = (
        "The sensitive values of every class are distributed nearly as in the whole release, at a distance of at most "
        "t between 0 (equal) and 1, so knowing a person's class reveals little beyond what the whole release shows."
    )
    citation = "Li, Li, Venkatasubramanian 2007, the t-closeness principle"
    card = Card(
        "A group is shown to be different from the rest.",
        "The sensitive values of every class are distributed nearly as in the whole release: at most t has to move.",
        "Where it would hurt to show that a district or an age group is different.",
        "With t = 0.3, knowing somebody's class changes the belief in an illness by at most 30 percentage points.",
        (
            "The whole distribution: if 40% of the release have HIV, everybody is believed to, with 40%.",
            "Small classes differ by chance, so a small t forces large classes and costs much detail.",
        ),
    )
    parameters = (
        share(
            "t", "largest distance of a class from the whole release", start=0.3,
            quantity="distance from the whole release",
        ),
        Parameter(
            "distance", ParameterKind.CHOICE, "what it costs to move from one value to another", default="equal",
            start="equal", choices=DISTANCES,
        ),
    )  # fmt: skip
    example = "{model: t-closeness, t: 0.3}"
    merge_closed = True
    superset_closed = False
    whole_table = True
    needs_order = True
    stops = frozenset({"skewness", "inference"})
    position = 110

    t: float
    _: KW_ONLY
    distance: str = "equal"
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes lie within t of the whole release."""
        return np.asarray(self.distances(view) <= self.t + TOLERANCE)

    def least_removed(self, view: ClassView, removable: int) -> Counts:
        """The distance beyond t has to be made up by leaving out records of the class, or of the rest of the table.

        Leaving out at most ``removable`` records over all moves the reference by at most their share of the table. The
        ordered and hierarchical distances count places and heights among the values that still occur, which leaving
        out records may change: there no bound is given.
        """
        if self.distance != "equal" or not len(view.sizes):
            return np.zeros(len(view.sizes), dtype=np.int64)
        moved = removable / int(view.sizes.sum())
        return removed_for_distance(self.distances(view) - self.t - TOLERANCE - moved, view.sizes)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The distance of each class from the whole release."""
        return {"t": Strength(self.distances(view), at_least=False)}

    def distances(self, view: ClassView) -> Floats:
        """The earth mover's distance between each class and the whole release."""
        if self.distance == "equal":
            return _equal_distance(view)
        if self.distance == "ordered":
            return _ordered_distance(view)
        hierarchy = view.domain.hierarchy
        assert hierarchy is not None, "domain_problems refuses a hierarchical distance without a hierarchy"
        return _hierarchical_distance(view, hierarchy)

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """An ordered distance needs an order of the values, a hierarchical one a hierarchy."""
        has = {"ordered": domain.ordered, "hierarchical": domain.hierarchy is not None}
        if has.get(self.distance, True):
            return []
        needed = {"ordered": "order", "hierarchical": "hierarchy"}[self.distance]
        message = f"column {domain.column!r} has no {needed}, which the {self.distance} distance needs."
        fix = f"Declare {'an order' if needed == 'order' else 'a hierarchy'} of its values, or use distance: equal."
        return [PolicyProblem("distance", message, fix, code=f"no-{needed}")]


def _equal_distance(view: ClassView) -> Floats:
    """Any two values are 1 apart: half of Σ |p - q|."""
    histogram = view.histogram
    inside = _shares(view)[histogram.values]
    moved = np.abs(histogram.counts / view.sizes[histogram.class_of] - inside) - inside
    return _sum(histogram, moved) / 2 + (0.5 if len(view.sizes) else 0.0)


def _ordered_distance(view: ClassView) -> Floats:
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


def _hierarchical_distance(view: ClassView, hierarchy: Hierarchy) -> Floats:
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
