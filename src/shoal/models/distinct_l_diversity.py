"""Distinct l-diversity: every class has at least l distinct values of the sensitive column.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity", 2006; named
so by Li, Li, Venkatasubramanian 2007. The condition is that of p-sensitivity, under the name that its readers know.

Parameters: ``l``, a whole number ≥ 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.errors import PolicyProblem
from shoal.models.base import Model, Strength
from shoal.models.parameters import counted, listed, no_parameter, sensitive_problems, whole, whole_number_problems
from shoal.table.classes import ClassView, Mask


@dataclass(frozen=True)
class DistinctLDiversity(Model):
    """Distinct values ≥ l."""

    name: ClassVar[str] = "distinct-l-diversity"
    citation: ClassVar[str] = "Machanavajjhala et al. 2006; Li et al. 2007"
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = True

    l: int  # noqa: E741 - the name in the papers and in the policy
    _: KW_ONLY
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes have l distinct values."""
        return np.asarray(view.histogram.distinct >= self.l)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The number of distinct values in each class."""
        return {"l": Strength(view.histogram.distinct.astype(np.float64), at_least=True)}

    def lacks(self, view: ClassView, index: int) -> str:
        """How many distinct values there are and how many are asked."""
        distinct = int(view.histogram.distinct[index])
        short = distinct < self.l
        return listed([f"{counted(distinct, 'distinct values')} of {self.sensitive}, {self.l} asked"] if short else [])

    def relaxed(self, parameter: str, value: float) -> DistinctLDiversity:
        """A copy with another l."""
        if parameter != "l":
            no_parameter(self.name, parameter, ["l"])
        return replace(self, l=whole(parameter, value))

    def parameter_problems(self) -> list[PolicyProblem]:
        """l is a whole number from 1 on."""
        return [*whole_number_problems("l", self.l), *sensitive_problems(self.sensitive)]
