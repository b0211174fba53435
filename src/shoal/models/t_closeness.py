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
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.errors import PolicyProblem, did_you_mean
from shoal.models.base import Model, Strength
from shoal.models.distances import equal_distance, hierarchical_distance, ordered_distance
from shoal.models.parameters import listed, no_parameter, number_problems, sensitive_problems, shown
from shoal.models.removal import removed_for_distance
from shoal.models.tolerance import TOLERANCE
from shoal.table.classes import ClassView, Counts, Floats, Mask, SensitiveDomain

DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True)
class TCloseness(Model):
    """EMD(class, whole release) ≤ t."""

    name: ClassVar[str] = "t-closeness"
    citation: ClassVar[str] = "Li, Li, Venkatasubramanian 2007, the t-closeness principle"
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = False
    whole_table: ClassVar[bool] = True

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

    def lacks(self, view: ClassView, index: int) -> str:
        """How far the class is from the whole release, and how far it may be."""
        distance = float(self.distances(view)[index])
        if distance <= self.t + TOLERANCE:
            return listed([])
        apart = f"{self.sensitive} is {shown(distance)} from its distribution in the whole release"
        return listed([f"{apart} ({self.distance} distance), at most {self.t} allowed"])

    def distances(self, view: ClassView) -> Floats:
        """The earth mover's distance between each class and the whole release."""
        if self.distance == "equal":
            return equal_distance(view)
        if self.distance == "ordered":
            return ordered_distance(view)
        hierarchy = view.domain.hierarchy
        assert hierarchy is not None, "domain_problems refuses a hierarchical distance without a hierarchy"
        return hierarchical_distance(view, hierarchy)

    def relaxed(self, parameter: str, value: float) -> TCloseness:
        """A copy with another t."""
        if parameter != "t":
            no_parameter(self.name, parameter, ["t"])
        return replace(self, t=value)

    def parameter_problems(self) -> list[PolicyProblem]:
        """t is in [0, 1] and the distance is one of the three."""
        problems = number_problems("t", self.t, low=0, high=1)
        if self.distance not in DISTANCES:
            message = f"there is no distance {self.distance!r}."
            problems.append(PolicyProblem("distance", message, did_you_mean(self.distance, DISTANCES)))
        return [*problems, *sensitive_problems(self.sensitive)]

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """An ordered distance needs an order of the values, a hierarchical one a hierarchy."""
        if self.distance == "ordered" and not domain.ordered:
            message = f"column {domain.column!r} has no order, which the ordered distance needs."
            return [PolicyProblem("distance", message, "Declare an order of its values, or use distance: equal.")]
        if self.distance == "hierarchical" and domain.hierarchy is None:
            message = f"column {domain.column!r} has no hierarchy, which the hierarchical distance needs."
            return [PolicyProblem("distance", message, "Declare a hierarchy of its values, or use distance: equal.")]
        return []
