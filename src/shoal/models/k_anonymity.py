"""k-anonymity: every class has at least k records.

L. Sweeney, "k-Anonymity: a model for protecting privacy", 2002; Sun et al. 2008, Def. 2; Campan et al. 2010, Def. 2.

Parameters: ``k``, a whole number ≥ 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import PolicyProblem
from shoal.models.base import Model, Strength
from shoal.models.parameters import counted, listed, no_parameter, whole, whole_number_problems
from shoal.table.classes import ClassView, Mask


@dataclass(frozen=True)
class KAnonymity(Model):
    """n ≥ k."""

    name: ClassVar[str] = "k-anonymity"
    citation: ClassVar[str] = "Sweeney 2002; Sun et al. 2008, Def. 2"
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = True

    k: int

    def holds(self, view: ClassView) -> Mask:
        """Which classes have k records."""
        return np.asarray(view.sizes >= self.k)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The size of each class."""
        return {"k": Strength(view.sizes.astype(np.float64), at_least=True)}

    def lacks(self, view: ClassView, index: int) -> str:
        """How many records there are and how many are asked."""
        size = int(view.sizes[index])
        return listed([f"{counted(size, 'records')}, {self.k} asked"] if size < self.k else [])

    def relaxed(self, parameter: str, value: float) -> KAnonymity:
        """A copy with another k."""
        if parameter != "k":
            no_parameter(self.name, parameter, ["k"])
        return KAnonymity(whole(parameter, value))

    def parameter_problems(self) -> list[PolicyProblem]:
        """k is a whole number from 1 on."""
        return whole_number_problems("k", self.k)


def least_size(models: Iterable[Model]) -> int:
    """Records that a class must have at least under some models; 1 where none says how many."""
    return max([model.k for model in models if isinstance(model, KAnonymity)], default=1)
