"""What Sun's two weighted models share: p distinct things in a class, and a total weight of at least α.

They differ in what they count - values (Def. 4) or categories (Def. 5) - and in nothing else.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar, Self

import numpy as np

from shoal.errors import PolicyProblem
from shoal.models.base import Model, Strength
from shoal.models.exact import exact, rounded_down
from shoal.models.parameters import (
    counted,
    listed,
    no_parameter,
    number_problems,
    sensitive_problems,
    shown,
    whole,
    whole_number_problems,
)
from shoal.models.sensitivity import category_problems, class_weight, weight_steps
from shoal.table.classes import ClassView, Counts, Mask, SensitiveDomain


@dataclass(frozen=True)
class WeightedSensitive(Model):
    """Distinct ``counted`` ≥ p and Σ over records of (i - 1)/(m - 1) ≥ α."""

    counted: ClassVar[str]
    """What is counted, in words."""
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = True
    needs_categories: ClassVar[bool] = True

    p: int
    _: KW_ONLY
    alpha: float
    sensitive: str

    @abstractmethod
    def distinct(self, view: ClassView) -> Counts:
        """How many different things each class has of what is counted."""

    def holds(self, view: ClassView) -> Mask:
        """Which classes have p distinct things and weigh α: Σ (i - 1) ≥ α·(m - 1) over whole numbers."""
        steps_asked = math.ceil(exact(self.alpha) * (len(view.domain.categories) - 1))
        return np.asarray((self.distinct(view) >= self.p) & (weight_steps(view) >= steps_asked))

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """What is counted and the total weight of each class."""
        weights = rounded_down(weight_steps(view), len(view.domain.categories) - 1)
        return {
            "p": Strength(self.distinct(view).astype(np.float64), at_least=True),
            "alpha": Strength(weights, at_least=True),
        }

    def lacks(self, view: ClassView, index: int) -> str:
        """What is counted and the total weight that there are and that are asked."""
        distinct, weight, lacking = int(self.distinct(view)[index]), class_weight(view, index), []
        if distinct < self.p:
            lacking.append(f"{counted(distinct, f'distinct {self.counted}')} of {self.sensitive}, {self.p} asked")
        if weight < exact(self.alpha):
            lacking.append(f"total weight {shown(weight)} of {self.sensitive}, {self.alpha} asked")
        return listed(lacking)

    def relaxed(self, parameter: str, value: float) -> Self:
        """A copy with another p or alpha."""
        if parameter == "p":
            return replace(self, p=whole(parameter, value))
        if parameter != "alpha":
            no_parameter(self.name, parameter, ["p", "alpha"])
        return replace(self, alpha=value)

    def parameter_problems(self) -> list[PolicyProblem]:
        """p is a whole number from 1 on, alpha a number from 0 on."""
        return [
            *whole_number_problems("p", self.p),
            *number_problems("alpha", self.alpha, low=0),
            *sensitive_problems(self.sensitive),
        ]

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """Weights need two categories, and a category for every value."""
        return category_problems(domain, weighted=True)
