"""Entropy l-diversity: the entropy of the sensitive values of every class is at least ln l.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity", 2006,
entropy l-diversity: -Σ_v (c(v)/n) ln (c(v)/n) ≥ ln l, with n the records of the class whose value is known. A class of
l equally frequent values meets it exactly, up to the tolerance of `shoal.models.comparison`. A class in which nothing
is known has no value at all, not one: it fails, whatever l. Merging keeps the condition, since the known values of the
whole are a mixture of those of the parts, and entropy is concave.

Parameters: ``l``, a number ≥ 1, which may be fractional.

In people: everybody with a known value weighs one, divided equally over the different values they have in the
class; c(v) is what the value v weighs, and n the number of these people. Closed neither under merging nor under adding:
merging two classes that share people does not average their distributions.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import Parameter, ParameterKind
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import TOLERANCE
from shoal.table.classes import ClassView, Floats, Mask


@dataclass(frozen=True)
class EntropyLDiversity(Model):
    """-Σ_v (c(v)/n) ln (c(v)/n) ≥ ln l."""

    name = "entropy-l-diversity"
    title = "Entropy l-diversity"
    summary = (
        "The sensitive values of every class are at least as mixed as l equally frequent values would be (measured by "
        "entropy), so a few values do not outweigh all others."
    )
    citation = "Machanavajjhala et al. 2006, entropy l-diversity"
    card = Card(
        "A secret becomes nearly certain.",
        "The values of every class are as evenly spread as l equally frequent ones would be.",
        "Columns with many values of roughly equal frequency.",
        "With l = 2, two values of half a class each just suffice; nine of one and one of another do not.",
        (
            "One single limit: half of a class may be one value if the other half is spread wide.",
            "A column with one very frequent value often cannot reach it at all.",
        ),
    )
    parameters = (
        Parameter(
            "l", ParameterKind.NUMBER, "number of equally frequent values that a class is at least as uncertain as",
            low=1, start=2, step=0.5, at_least=True, quantity="effective number of values",
        ),
    )  # fmt: skip
    example = "{model: entropy-l-diversity, l: 2}"
    merge_closed = True
    superset_closed = False
    stops = frozenset({"homogeneity", "background"})
    position = 80

    l: float  # noqa: E741 - the name in the papers and in the policy
    _: KW_ONLY
    sensitive: str

    @property
    def least_values(self) -> int:
        """An entropy of ln l takes l values at least."""
        return math.ceil(self.l - TOLERANCE)

    def holds(self, view: ClassView) -> Mask:
        """Which classes have an entropy of ln l."""
        return np.asarray((_entropies(view) >= math.log(self.l) - TOLERANCE) & (view.known > 0))

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The number of equally frequent values that would have the entropy of each class; 0 if none is known."""
        return {"l": Strength(np.exp(_entropies(view)) * (view.known > 0), at_least=True)}


def _entropies(view: ClassView) -> Floats:
    """ln n - Σ c ln c / n of each class; clipped at 0, which rounding could miss for a single value."""
    counts, sizes = view.histogram.weights, np.maximum(view.known, 1) * view.unit
    spread = view.histogram.per_class_sum(counts * np.log(counts)) / sizes
    return np.asarray(np.maximum(np.log(sizes) - spread, 0.0))
