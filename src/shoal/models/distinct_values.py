"""What the two models share that count distinct sensitive values: p-sensitivity and distinct l-diversity.

They are one condition under the names that their readers know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.models.base import Model, Strength
from shoal.models.parts_of_classes import too_few
from shoal.table.classes import ClassView, Counts, Mask


@dataclass(frozen=True)
class DistinctValues(Model):
    """Distinct values ≥ the one parameter."""

    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = True
    stops: ClassVar[frozenset[str]] = frozenset({"homogeneity", "background"})

    @property
    def least_values(self) -> int:
        """The parameter."""
        return int(getattr(self, self.parameters[0].name))

    @property
    def only_counts(self) -> bool:
        """Nothing but the number of distinct values matters."""
        return True

    def holds(self, view: ClassView) -> Mask:
        """Which classes have as many distinct values."""
        return np.asarray(view.histogram.distinct >= self.least_values)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The number of distinct values in each class."""
        return {self.parameters[0].name: Strength(view.histogram.distinct.astype(np.float64), at_least=True)}

    def part_could_fail(self, view: ClassView, owner: Counts, sizes: Counts) -> Mask:
        """Whether the most frequent values fill the part."""
        return too_few(view.histogram, self.least_values, owner, sizes)
