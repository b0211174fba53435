"""(p, α)-sensitivity: every class has at least p distinct sensitive values and a total weight of at least α.

X. Sun, H. Wang, J. Li, T. M. Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data publishing",
2008, Def. 4. The weight of a record is that of its value's category (Sun (1), `shoal.models.sensitivity`), and the
weight of a class is the sum over its records, not over its distinct values.

Parameters: ``p``, a whole number ≥ 1; ``alpha``, a number ≥ 0, compared exactly. The column needs two categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.declarations import Parameter, count
from shoal.models.base import Card
from shoal.models.weighted import WEIGHT, WeightedSensitive
from shoal.table.classes import ClassView, Histogram


@dataclass(frozen=True)
class PAlphaSensitive(WeightedSensitive):
    """Distinct values ≥ p and Σ over records of (i - 1)/(m - 1) ≥ α."""

    name: ClassVar[str] = "p-alpha-sensitive"
    title: ClassVar[str] = "(p, α)-sensitivity"
    summary: ClassVar[str] = (
        "Every class has at least p different sensitive values, and the weights of its records, from 0 in the most to "
        "1 in the least sensitive category, add up to at least α, so no class consists of grave values alone."
    )
    citation: ClassVar[str] = "Sun et al. 2008, Def. 4"
    card: ClassVar[Card] = Card(
        "A class has only grave secrets.",
        "Every class has at least p different values and a total weight of at least α. A record weighs 0 in the most "
        "sensitive category and 1 in the least sensitive one.",
        "Tables whose values differ in how sensitive they are, and are released themselves. Needs categories.",
        "With p = 2 and α = 1, a class of only HIV and cancer fails; one flu among them weighs 1 and is enough.",
        (
            "Shares: fifty HIV and one flu weigh 1.",
            "Classes of one middle category: four kinds of chronic illness may satisfy both.",
        ),
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (count("p", "distinct values", within_class_size=True), WEIGHT)
    example: ClassVar[str] = "{model: p-alpha-sensitive, p: 2, alpha: 1}"
    stops: ClassVar[frozenset[str]] = frozenset({"homogeneity"})
    position: ClassVar[int] = 30

    @property
    def least_values(self) -> int:
        """p."""
        return self.p

    def counted(self, view: ClassView) -> Histogram:
        """The values of each class."""
        return view.histogram
