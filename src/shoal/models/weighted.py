"""What Sun's two weighted models share: p distinct things in a class, and a total weight of at least α.

They differ in what they count - values (Def. 4) or categories (Def. 5) - and in nothing else.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from shoal.declarations import Parameter, ParameterKind
from shoal.models.base import Model, Strength
from shoal.models.exact import exact, rounded_down
from shoal.models.parts_of_classes import least_weight, too_few
from shoal.models.sensitivity import category_histogram, weight_steps
from shoal.table.classes import ClassView, Counts, Histogram, Mask

WEIGHT = Parameter(
    "alpha", ParameterKind.NUMBER, "smallest total weight of a class", title="α (alpha)", start=1, step=0.5,
    at_least=True, quantity="total weight",
)  # fmt: skip


@dataclass(frozen=True)
class WeightedSensitive(Model):
    """Distinct things counted ≥ p and Σ over records of (i - 1)/(m - 1) ≥ α."""

    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = True
    needs_categories: ClassVar[bool] = True
    least_declared_categories: ClassVar[int] = 2

    p: int
    _: KW_ONLY
    alpha: float
    sensitive: str

    @abstractmethod
    def counted(self, view: ClassView) -> Histogram:
        """What is counted, in each class."""

    def _asked_steps(self, view: ClassView) -> int:
        """α in steps of 1/(m - 1), so that Σ (i - 1) ≥ α·(m - 1) is compared over whole numbers."""
        return math.ceil(exact(self.alpha) * (len(view.domain.categories) - 1))

    def holds(self, view: ClassView) -> Mask:
        """Which classes have p distinct things and weigh α."""
        return np.asarray((self.counted(view).distinct >= self.p) & (weight_steps(view) >= self._asked_steps(view)))

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """What is counted and the total weight of each class."""
        weights = rounded_down(weight_steps(view), len(view.domain.categories) - 1)
        return {
            "p": Strength(self.counted(view).distinct.astype(np.float64), at_least=True),
            "alpha": Strength(weights, at_least=True),
        }

    def part_could_fail(self, view: ClassView, owner: Counts, sizes: Counts) -> Mask:
        """Whether too few things can fill the part, or too sensitive ones."""
        counts, _ = category_histogram(view)
        light = least_weight(counts[owner], sizes) < self._asked_steps(view)
        return np.asarray(too_few(self.counted(view), self.p, owner, sizes) | light)
