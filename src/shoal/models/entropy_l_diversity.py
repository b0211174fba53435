"""Entropy l-diversity: the entropy of the sensitive values of every class is at least ln l.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity", 2006,
entropy l-diversity: -Σ_v (c(v)/n) ln (c(v)/n) ≥ ln l. A class of l equally frequent values meets it exactly, up
to the tolerance of `shoal.models.tolerance`.

Parameters: ``l``, a number ≥ 1, which may be fractional.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.errors import PolicyProblem
from shoal.models.base import Model, Strength
from shoal.models.parameters import listed, no_parameter, number_problems, sensitive_problems, shown
from shoal.models.tolerance import TOLERANCE
from shoal.table.classes import ClassView, Floats, Mask


@dataclass(frozen=True)
class EntropyLDiversity(Model):
    """-Σ_v (c(v)/n) ln (c(v)/n) ≥ ln l."""

    name: ClassVar[str] = "entropy-l-diversity"
    citation: ClassVar[str] = "Machanavajjhala et al. 2006, entropy l-diversity"
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = False

    l: float  # noqa: E741 - the name in the papers and in the policy
    _: KW_ONLY
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes have an entropy of ln l."""
        return np.asarray(_entropies(view) >= math.log(self.l) - TOLERANCE)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The number of equally frequent values that would have the entropy of each class."""
        return {"l": Strength(np.exp(_entropies(view)), at_least=True)}

    def lacks(self, view: ClassView, index: int) -> str:
        """The diversity that there is and that is asked."""
        entropy = float(_entropies(view)[index])
        if entropy >= math.log(self.l) - TOLERANCE:
            return listed([])
        reached = f"entropy {shown(entropy)} of {self.sensitive} (l = {shown(math.exp(entropy))})"
        return listed([f"{reached}, {shown(math.log(self.l))} (l = {self.l}) asked"])

    def relaxed(self, parameter: str, value: float) -> EntropyLDiversity:
        """A copy with another l."""
        if parameter != "l":
            no_parameter(self.name, parameter, ["l"])
        return replace(self, l=value)

    def parameter_problems(self) -> list[PolicyProblem]:
        """l is a number from 1 on."""
        return [*number_problems("l", self.l, low=1), *sensitive_problems(self.sensitive)]


def _entropies(view: ClassView) -> Floats:
    """ln n - Σ c ln c / n of each class; clipped at 0, which rounding could miss for a single value."""
    counts, sizes = view.histogram.counts, view.sizes
    terms = np.asarray(view.histogram.per_class_sum(counts * np.log(counts)), dtype=np.float64)
    return np.maximum(np.log(sizes) - terms / sizes, 0.0)
