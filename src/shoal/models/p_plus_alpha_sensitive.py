"""(p⁺, α)-sensitivity: every class has at least p distinct *categories* and a total weight of at least α.

X. Sun, H. Wang, J. Li, T. M. Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data publishing",
2008, Def. 5. As (p, α)-sensitivity, but counting categories: values of one category are too alike to hide one another
(the similarity attack). Weights are those of `shoal.models.sensitivity`, summed over records.

Parameters: ``p``, a whole number ≥ 1; ``alpha``, a number ≥ 0, compared exactly. The column needs two categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.models.sensitivity import distinct_categories
from shoal.models.weighted import WeightedSensitive
from shoal.table.classes import ClassView, Counts


@dataclass(frozen=True)
class PPlusAlphaSensitive(WeightedSensitive):
    """Distinct categories ≥ p and Σ over records of (i - 1)/(m - 1) ≥ α."""

    name: ClassVar[str] = "p-plus-alpha-sensitive"
    citation: ClassVar[str] = "Sun et al. 2008, Def. 5"
    counted: ClassVar[str] = "categories"

    def distinct(self, view: ClassView) -> Counts:
        """Number of distinct categories in each class."""
        return distinct_categories(view)
