"""p-sensitivity: every class has at least p distinct values of the sensitive column.

T. M. Truta, B. Vinay, "Privacy protection: p-sensitive k-anonymity property", 2006; Sun et al. 2008, Def. 3;
Campan et al. 2010, Def. 3. Several sensitive columns: one model for each. An unknown value is not counted: it tells
nothing, and hides nothing either. A class in which nothing is known has 0 values and fails.

Parameters: ``p``, a whole number ≥ 1.

In people: a value is counted once, whoever has it and however often, so the number of distinct values is that of the
records. Closed under merging and adding.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import count
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import too_few
from shoal.table.classes import ClassView, Counts, Mask


@dataclass(frozen=True)
class DistinctValues(Model):
    """Distinct values ≥ the one parameter: one condition under the two names that its readers know."""

    merge_closed = True
    superset_closed = True
    closed_for_people = True  # a value counts once, whoever has it
    counts = "values"
    stops = frozenset({"homogeneity", "background"})

    def holds(self, view: ClassView) -> Mask:
        """Which classes have as many distinct values."""
        return np.asarray(view.histogram.distinct >= self.least_values)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The number of distinct values in each class."""
        return {self.parameters[0].name: Strength(view.histogram.distinct.astype(np.float64), at_least=True)}

    def part_could_fail(self, view: ClassView, owner: Counts, sizes: Counts) -> Mask:
        """Whether the most frequent values fill the part."""
        return too_few(view.histogram, self.least_values, owner, view.least_known(owner, sizes))


@dataclass(frozen=True)
class PSensitive(DistinctValues):
    """Distinct values ≥ p."""

    name = "p-sensitive"
    title = "p-sensitivity"
    summary = (
        "Every class has at least p different values of the sensitive column, so knowing a person's class does not by "
        "itself reveal the value."
    )
    citation = "Truta and Vinay 2006; Sun et al. 2008, Def. 3; Campan et al. 2010, Def. 3"
    card = Card(
        "Everybody in a class has the same secret.",
        "Every class (the records that look alike) has at least p different sensitive values.",
        "Tables with a sensitive column whose values are all equally grave. The least that such a column needs.",
        "With p = 3, a neighbour finds at least three different illnesses among the records that fit. Somebody who can "
        "rule out one of them still faces two.",
        (
            "How often each value occurs: nine HIV and one flu are two values.",
            "Values that are alike: HIV and cancer are two values, and both grave.",
        ),
    )
    parameters = (count("p", "distinct values", within_class_size=True),)
    example = "{model: p-sensitive, p: 2}"
    position = 20

    p: int
    _: KW_ONLY
    sensitive: str
