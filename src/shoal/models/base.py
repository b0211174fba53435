"""What a privacy model is: a condition on classes, what it allows a search to conclude, and its reasons in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import PolicyProblem
from shoal.table.classes import ClassView, Counts, Floats, Mask, SensitiveDomain


@dataclass(frozen=True)
class Strength:
    """How strongly each class satisfies one numeric parameter of a model.

    ``per_class`` is in the parameter's own unit: a class holds when its figure is at least (``at_least``) or at most
    (otherwise) the parameter. Used to say what is reached and which parameter value would be reachable.
    """

    per_class: Floats
    at_least: bool
    of_class: bool = True
    """False where the figure is that of the whole release, the same for every class."""


@dataclass(frozen=True)
class Model(ABC):
    """A privacy model with its parameters. Subclasses are frozen dataclasses, one a file."""

    name: ClassVar[str]
    """Name in the policy file."""
    citation: ClassVar[str]
    """Where the definition stands."""
    merge_closed: ClassVar[bool]
    """Two satisfying classes merged satisfy: what holds at a node holds at every more general one."""
    superset_closed: ClassVar[bool]
    """A satisfying class stays so whatever records are added: lets a search prune under a suppression budget."""
    whole_table: ClassVar[bool] = False
    """The condition on a class depends on the other released classes, so it is tested anew after suppression."""
    needs_categories: ClassVar[bool] = False
    """The sensitive column must declare categories."""

    @property
    def column(self) -> str | None:
        """The sensitive column that the model reads, if it reads one."""
        column: str | None = getattr(self, "sensitive", None)
        return column

    @abstractmethod
    def holds(self, view: ClassView) -> Mask:
        """Which classes satisfy the condition on a class."""

    def table_holds(self, view: ClassView) -> bool:  # noqa: ARG002 - only whole-table models read it
        """Whether the condition on the release as a whole holds, beside that on each class."""
        return True

    def least_removed(self, view: ClassView, removable: int) -> Counts:  # noqa: ARG002 - whole-table models read it
        """How many records of each class, at least, any finer release leaves out in which this model holds.

        ``removable`` is how many records the release may leave out over all. A failing class of a superset-closed
        model loses every record, since no part of it can hold. For other merge-closed models what is kept of the
        class is a union of satisfying classes and so satisfies itself: they may say how many records must go for
        that. The bound lets a search under a suppression budget rule out everything below a node.
        """
        if self.superset_closed:
            return np.where(self.holds(view), 0, view.sizes)
        return np.zeros(len(view.sizes), dtype=np.int64)

    @abstractmethod
    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """For each numeric parameter that can be relaxed alone, what each class reaches."""

    @abstractmethod
    def lacks(self, view: ClassView, index: int) -> str:
        """In words, what one class lacks ("2 distinct values of condition, 3 asked")."""

    @abstractmethod
    def relaxed(self, parameter: str, value: float) -> Model:
        """A copy with one parameter, named as in `strengths`, set to another value; the copy is not validated."""

    def parameter_problems(self) -> list[PolicyProblem]:
        """What is wrong with the parameters themselves; ``where`` is the parameter's name."""
        return []

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:  # noqa: ARG002 - most need nothing
        """What is wrong with the parameters for this sensitive column; ``where`` is the parameter's name."""
        return []

    def reached(self, view: ClassView) -> dict[str, float]:
        """The strongest value of each parameter that every class reaches."""
        result: dict[str, float] = {}
        for parameter, strength in self.strengths(view).items():
            if len(strength.per_class):
                worst = np.min if strength.at_least else np.max
                result[parameter] = float(worst(strength.per_class))
        return result
