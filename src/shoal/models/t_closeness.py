"""t-closeness: the sensitive values of every class are distributed nearly as in the whole release.

N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", 2007, the
t-closeness principle: the earth mover's distance between a class and the whole release is at most t. The
whole release is what the model is shown, so suppressing records elsewhere changes what holds. Compared within the
tolerance of `shoal.models.tolerance`.

Parameters: ``t``, a number in [0, 1]; ``distance`` between two values: ``equal`` (any two are 1 apart), ``ordered``
(by their places in the order of the values that occur in the release) or ``hierarchical`` (by the height of their
lowest common ancestor). The missing value lies where the column's order or hierarchy puts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from shoal.declarations import Parameter, ParameterKind, share
from shoal.errors import PolicyProblem
from shoal.models.base import Card, Model, Strength
from shoal.models.distances import equal_distance, hierarchical_distance, ordered_distance
from shoal.models.removal import removed_for_distance
from shoal.models.tolerance import TOLERANCE
from shoal.table.classes import ClassView, Counts, Floats, Mask, SensitiveDomain

DISTANCES = {
    "equal": "any two values are equally far apart",
    "ordered": "by their positions in the order, for numbers and dates with a hierarchy",
    "hierarchical": "by their position in a tree or in categories",
}


@dataclass(frozen=True)
class TCloseness(Model):
    """EMD(class, whole release) ≤ t."""

    name: ClassVar[str] = "t-closeness"
    title: ClassVar[str] = "t-closeness"
    summary: ClassVar[str] = (
        "The sensitive values of every class are distributed nearly as in the whole release, at a distance of at most "
        "t between 0 (equal) and 1, so knowing a person's class reveals little beyond what the whole release shows."
    )
    citation: ClassVar[str] = "Li, Li, Venkatasubramanian 2007, the t-closeness principle"
    card: ClassVar[Card] = Card(
        "A group is shown to be different from the rest.",
        "The sensitive values of every class are distributed nearly as in the whole release: at most t has to move.",
        "Where it would hurt to show that a district or an age group is different.",
        "With t = 0.3, knowing somebody's class changes the belief in an illness by at most 30 percentage points.",
        (
            "The whole distribution: if 40% of the release have HIV, everybody is believed to, with 40%.",
            "Small classes differ by chance, so a small t forces large classes and costs much detail.",
        ),
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        share(
            "t", "largest distance of a class from the whole release", start=0.3,
            quantity="distance from the whole release",
        ),
        Parameter(
            "distance", ParameterKind.CHOICE, "what it costs to move from one value to another", default="equal",
            start="equal", choices=DISTANCES,
        ),
    )  # fmt: skip
    example: ClassVar[str] = "{model: t-closeness, t: 0.3}"
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = False
    whole_table: ClassVar[bool] = True
    needs_order: ClassVar[bool] = True
    stops: ClassVar[frozenset[str]] = frozenset({"skewness", "inference"})
    position: ClassVar[int] = 110

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
            return equal_distance(view)
        if self.distance == "ordered":
            return ordered_distance(view)
        hierarchy = view.domain.hierarchy
        assert hierarchy is not None, "domain_problems refuses a hierarchical distance without a hierarchy"
        return hierarchical_distance(view, hierarchy)

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """An ordered distance needs an order of the values, a hierarchical one a hierarchy."""
        has = {"ordered": domain.ordered, "hierarchical": domain.hierarchy is not None}
        if has.get(self.distance, True):
            return []
        needed = {"ordered": "order", "hierarchical": "hierarchy"}[self.distance]
        message = f"column {domain.column!r} has no {needed}, which the {self.distance} distance needs."
        fix = f"Declare {'an order' if needed == 'order' else 'a hierarchy'} of its values, or use distance: equal."
        return [PolicyProblem("distance", message, fix, code=f"no-{needed}")]
