"""p-sensitivity: every class has at least p distinct values of the sensitive column.

T. M. Truta, B. Vinay, "Privacy protection: p-sensitive k-anonymity property", 2006; Sun et al. 2008, Def. 3;
Campan et al. 2010, Def. 3. Several sensitive columns: one model for each. A missing value is a value of its own.

Parameters: ``p``, a whole number ≥ 1.
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
class PSensitive(Model):
    """Distinct values ≥ p."""

    name: ClassVar[str] = "p-sensitive"
    citation: ClassVar[str] = "Truta and Vinay 2006; Sun et al. 2008, Def. 3; Campan et al. 2010, Def. 3"
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = True

    p: int
    _: KW_ONLY
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes have p distinct values."""
        return np.asarray(view.histogram.distinct >= self.p)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The number of distinct values in each class."""
        return {"p": Strength(view.histogram.distinct.astype(np.float64), at_least=True)}

    def lacks(self, view: ClassView, index: int) -> str:
        """How many distinct values there are and how many are asked."""
        distinct = int(view.histogram.distinct[index])
        short = distinct < self.p
        return listed([f"{counted(distinct, 'distinct values')} of {self.sensitive}, {self.p} asked"] if short else [])

    def relaxed(self, parameter: str, value: float) -> PSensitive:
        """A copy with another p."""
        if parameter != "p":
            no_parameter(self.name, parameter, ["p"])
        return replace(self, p=whole(parameter, value))

    def parameter_problems(self) -> list[PolicyProblem]:
        """p is a whole number from 1 on."""
        return [*whole_number_problems("p", self.p), *sensitive_problems(self.sensitive)]
