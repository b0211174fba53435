"""t-closeness: the known sensitive values of every class are distributed nearly as in the whole release.

N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", 2007, the
t-closeness principle: the earth mover's distance between a class and the whole release is at most t. The
whole release is what the model is shown, so suppressing records elsewhere changes what holds. Compared within the
tolerance of `shoal.models.comparison`.

Parameters: ``t``, a number in [0, 1]; ``distance`` between two values: ``equal`` (any two are 1 apart), ``ordered``
(by their ranks in the order of the values that occur in the release) or ``hierarchical`` (by the height of their
lowest common ancestor).

Both distributions are those of the known values. A class in which nothing is known shows none that could differ, and
lies at distance 0. Merging keeps the condition: the known values of the whole are a mixture of those of the parts, and
the distance is convex. How many values are known in a class is not compared with the release.

Below, p are the shares of the values in a class and q those in the whole release. Each distance looks at the values
that a class has and adds the part of all the others at once: the work grows with the entries, not classes x values.

In people: everybody with a known value weighs one in each class where they have records, divided equally over the
different values they have there, and one in the whole release, divided over all that they have in it. Closed neither
under merging nor under adding: merging two classes that share people does not average their distributions.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import Parameter, ParameterKind, share
from shoal.errors import PolicyProblem
from shoal.hierarchies.hierarchy import Hierarchy, IntArray
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import TOLERANCE, whole_records
from shoal.table.classes import ClassView, Counts, Floats, Mask, SensitiveDomain

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

    @property
    def tells_near_values_apart(self) -> bool:
        """Unless its distance knows which values are near."""
        return self.distance == "equal"

    def holds(self, view: ClassView) -> Mask:
        """Which classes lie within t of the whole release."""
        return np.asarray(self.distances(view) <= self.t + TOLERANCE)

    def least_removed(self, view: ClassView, removable: int) -> Counts:
        """The distance beyond t has to be made up by leaving out records of the class, or of the rest of the table.

        Leaving out at most ``removable`` records moves the reference by at most their share of the table. The other
        distances count ranks and heights among the values that still occur, which may change: no bound is given.
        """
        if self.distance != "equal" or not len(view.sizes):
            return np.zeros(len(view.sizes), dtype=np.int64)
        moved = removable / max(int(view.known.sum()), 1)
        excess = self.distances(view) - self.t - TOLERANCE - moved
        return whole_records(excess * view.known)  # leaving out s of n records moves a distribution by at most s/n

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The distance of each class from the whole release."""
        return {"t": Strength(self.distances(view), at_least=False)}

    def distances(self, view: ClassView) -> Floats:
        """The earth mover's distance between each class and the whole release."""
        filled = view.known > 0
        if view.domain.unknown:
            records = None if view.records_or_none is None else view.records[filled]
            histogram = view.histogram.restricted_to(filled)
            known = ClassView(view.known[filled], histogram, view.domain, view.totals, records_or_none=records)
            result = np.zeros(len(filled))
            result[filled] = self._distances(known)
            return result
        return self._distances(view)

    def _distances(self, view: ClassView) -> Floats:
        """The same for classes in which every value is known."""
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
    inside = (view.totals / max(int(view.totals.sum()), 1))[histogram.values]
    moved = np.abs(histogram.weights / (view.sizes * view.unit)[histogram.class_of] - inside) - inside
    return histogram.per_class_sum(moved) / 2 + (0.5 if len(view.sizes) else 0.0)


def _ordered_distance(view: ClassView) -> Floats:
    """Values i and j of m are |i - j|/(m - 1) apart: Σ_i |Σ_{j ≤ i} (p_j - q_j)| / (m - 1).

    The m values are those that occur in the release: others would only make the distances smaller. Between two values
    that a class has, its cumulative share stands still while that of the release grows: the sum of their differences
    follows from prefix sums and the rank at which the two cross.
    """
    histogram, occurring = view.histogram, view.totals > 0
    m = int(np.count_nonzero(occurring))
    if m < 2 or not len(view.sizes):
        return np.zeros(len(view.sizes))
    records = int(view.totals.sum())
    overall = np.cumsum(view.totals[occurring])
    rank = np.cumsum(occurring) - 1
    prefix = np.concatenate([[0], np.cumsum(overall)]) / records
    owner, starts = histogram.class_of, histogram.starts
    running = np.cumsum(histogram.weights)
    before = np.concatenate([[0], running])[starts[:-1]]
    reached = (running - before[owner]) / (view.sizes * view.unit)[owner]
    start = rank[histogram.values]
    end = np.concatenate([start[1:], [m]])
    end[starts[1:] - 1] = m
    cross = np.clip(np.searchsorted(overall / records, reached), start, end)
    ahead = (cross - start) * reached - (prefix[cross] - prefix[start])
    behind = (prefix[end] - prefix[cross]) - (end - cross) * reached
    work = histogram.per_class_sum(ahead + behind) + prefix[start[starts[:-1]]]
    return np.asarray(np.maximum(work, 0.0) / (m - 1))


def _hierarchical_distance(view: ClassView, hierarchy: Hierarchy) -> Floats:
    """Two values are as far apart as their lowest common ancestor is high, over the height of the tree.

    The distance is that of a walk through the tree whose edges are half as long as they rise, so the earth moved over
    the edge above a node is what its subtree has too much or too little: Σ_nodes rise/2 · |p - q| over the height.
    Heights count the values that occur in the release: one that only suppressed records have would be told by them.
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
        of_entry = hierarchy.levels[level][histogram.values]  # depth-first order: those of one node are neighbours
        fresh = (np.diff(of_entry) != 0) | (np.diff(histogram.class_of) != 0)
        runs = np.flatnonzero(np.concatenate([[True], fresh]))
        nodes, owner = of_entry[runs], histogram.class_of[runs]
        own = np.add.reduceat(histogram.weights, runs) / (view.sizes * view.unit)[owner]
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
