"""(p, α)-sensitivity: every class has at least p distinct sensitive values and a total weight of at least α.

X. Sun, H. Wang, J. Li, T. M. Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data publishing",
2008, Def. 4. The weight of a record is that of its value's category (Sun (1), `shoal.models.sensitivity`), and the
weight of a class is the sum over its records, not over its distinct values.

Parameters: ``p``, a whole number ≥ 1; ``alpha``, a number ≥ 0, compared exactly. The column needs two categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.models.weighted import WeightedSensitive
from shoal.table.classes import ClassView, Counts


@dataclass(frozen=True)
class PAlphaSensitive(WeightedSensitive):
    """Distinct values ≥ p and Σ over records of (i - 1)/(m - 1) ≥ α."""

    name: ClassVar[str] = "p-alpha-sensitive"
    citation: ClassVar[str] = "Sun et al. 2008, Def. 4"
    counted: ClassVar[str] = "values"

    def distinct(self, view: ClassView) -> Counts:
        """Number of distinct values in each class."""
        return view.histogram.distinct
