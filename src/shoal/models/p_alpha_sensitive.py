"""(p, α)-sensitivity: every class has at least p distinct sensitive values and a total weight of at least α.

X. Sun, H. Wang, J. Li, T. M. Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data publishing",
2008, Def. 4. The weight of a record is that of its value's category (Sun (1), `shoal.models.sensitivity`), and the
weight of a class is the sum over its records, not over its distinct values. An unknown value is not counted and has no
weight, so adding records never takes anything away.

Parameters: ``p``, a whole number ≥ 1; ``alpha``, a number ≥ 0, compared exactly. The column needs two categories.

In people: distinct values are counted as in records, and everybody weighs the mean weight of the different values that
they have in the class. Closed neither under merging nor under adding: another grave value makes a person weigh less.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import Parameter, ParameterKind, count
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import exact, least_weight, rounded_down, too_few
from shoal.models.sensitivity import weight_steps
from shoal.table.classes import ClassView, Counts, Histogram, Mask

WEIGHT = Parameter(
    "alpha", ParameterKind.NUMBER, "smallest total weight of a class", title="α (alpha)", start=1, step=0.5,
    at_least=True, quantity="total weight",
)  # fmt: skip


@dataclass(frozen=True)
class WeightedSensitive(Model):
    """Distinct values (Def. 4) or categories (Def. 5) ≥ p and Σ over records of (i - 1)/(m - 1) ≥ α."""

    merge_closed = True
    superset_closed = True
    needs_categories = True
    least_declared_categories = 2

    p: int
    _: KW_ONLY
    alpha: float
    sensitive: str

    def _counted(self, view: ClassView) -> Histogram:
        return view.histogram if self.counts == "values" else view.category_histogram

    def _asked_steps(self, view: ClassView) -> int:
        """α in steps of 1/(m - 1), so that Σ (i - 1) ≥ α·(m - 1) is compared over whole numbers."""
        return math.ceil(exact(self.alpha) * (len(view.domain.categories) - 1) * view.unit)

    def holds(self, view: ClassView) -> Mask:
        """Which classes have p distinct things and weigh α."""
        return np.asarray((self._counted(view).distinct >= self.p) & (weight_steps(view) >= self._asked_steps(view)))

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """What is counted and the total weight of each class."""
        weights = rounded_down(weight_steps(view), (len(view.domain.categories) - 1) * view.unit)
        return {
            "p": Strength(self._counted(view).distinct.astype(np.float64), at_least=True),
            "alpha": Strength(weights, at_least=True),
        }

    def part_could_fail(self, view: ClassView, owner: Counts, sizes: Counts) -> Mask:
        """Whether too few things can fill the part, or too sensitive ones."""
        least_known = view.least_known(owner, sizes)
        light = least_weight(view.category_counts[owner], least_known) < self._asked_steps(view)
        return np.asarray(too_few(self._counted(view), self.p, owner, least_known) | light)


@dataclass(frozen=True)
class PAlphaSensitive(WeightedSensitive):
    """Distinct values ≥ p and Σ over records of (i - 1)/(m - 1) ≥ α."""

    name = "p-alpha-sensitive"
    title = "(p, α)-sensitivity"
    summary = (
        "Every class has at least p different sensitive values, and the weights of its records, from 0 in the most to "
        "1 in the least sensitive category, add up to at least α, so no class consists of grave values alone."
    )
    citation = "Sun et al. 2008, Def. 4"
    card = Card(
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
    parameters = (count("p", "distinct values", within_class_size=True), WEIGHT)
    example = "{model: p-alpha-sensitive, p: 2, alpha: 1}"
    counts = "values"
    stops = frozenset({"homogeneity"})
    position = 30
