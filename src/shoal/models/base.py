"""What a privacy model is: a condition on classes, and everything else that others need to know of it, declared.

A model is one file with one frozen dataclass. Its class attributes say what it is called, what its parameters may be,
what a search may conclude from it and what it protects from; the policy, the searches, the attacks, the report, the
page and the documentation read them. See ``docs/extending.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from shoal.declarations import Parameter, ParameterKind
from shoal.errors import PolicyProblem, did_you_mean
from shoal.hierarchies.hierarchy import Label
from shoal.models.comparison import TOLERANCE
from shoal.models.parameters import (
    frozen,
    limit_name,
    parameter_problems,
    quoted,
    sensitive_problems,
    unknown_problems,
    whole,
)
from shoal.models.sensitivity import category_problems
from shoal.table.classes import ClassView, Counts, Floats, Mask, SensitiveDomain


@dataclass(frozen=True)
class Strength:
    """How strongly each class satisfies one numeric parameter of a model.

    ``per_class`` is in the parameter's own unit: a class holds when its figure is at least (``at_least``) or at most
    (otherwise) the parameter. Used to say what is reached and which parameter value would be reachable.
    """

    per_class: Floats
    at_least: bool
    of_class: bool = True  # false where the figure is that of the whole release, the same for every class


@dataclass(frozen=True)
class Shortfall:
    """By what one class, or the whole release, fails one parameter of a model."""

    code: Literal["below-minimum", "above-maximum"]
    parameter: str
    """As in `Model.strengths`: ``k``, ``alpha[HIV]``."""
    quantity: str  # what is compared: "distinct values"; empty where it has no other name than the parameter
    counted: bool  # whether the quantity is a number of things
    reached: float
    required: float
    column: str | None  # the sensitive column
    key: str = ""  # the value or category that a limit is about, as messages show it
    of_class: bool = True  # false where the whole release falls short


@dataclass(frozen=True)
class Card:
    """A model for somebody who has to decide."""

    fear: str  # the worry that it answers
    protects: str
    audience: str  # whom it is for
    example: str
    leaves_open: tuple[str, ...]


@dataclass(frozen=True)
class ModelLimit:
    """One number that a model asks for, and that can be changed alone."""

    parameter: Parameter
    path: tuple[Any, ...]  # the keys that lead to it in the model's entry of a policy
    value: float

    @property
    def key(self) -> str:
        """The value or category that it is about, as messages show it; empty where it is about all."""
        return quoted(self.path[1]) if len(self.path) > 1 else ""


@dataclass(frozen=True)
class Model(ABC):
    """A privacy model with its parameters. Subclasses are frozen dataclasses, one per file."""

    name: ClassVar[str]  # name in the policy file
    title: ClassVar[str]  # what people call it
    summary: ClassVar[str]  # what it demands and what that is good for, in a sentence for a reader who does not program
    citation: ClassVar[str]  # where the definition stands
    card: ClassVar[Card]  # what the page says of it
    parameters: ClassVar[tuple[Parameter, ...]]
    """Its parameters besides ``sensitive``, in the order of the dataclass fields."""
    example: ClassVar[str]
    """An entry of a policy, without ``sensitive``: ``{model: k-anonymity, k: 5}``."""
    merge_closed: ClassVar[bool]
    """Two satisfying classes merged satisfy: what holds at a node holds at every more general one."""
    superset_closed: ClassVar[bool]
    """A satisfying class stays so whatever records are added: lets a search prune under a suppression budget."""
    whole_table: ClassVar[bool] = False
    """The condition on a class depends on the other released classes, so it is tested anew after suppression."""
    needs_categories: ClassVar[bool] = False  # the sensitive column must declare categories
    least_declared_categories: ClassVar[int] = 1  # how many categories, where it needs some
    needs_order: ClassVar[bool] = False
    """Its figures may need the order or the hierarchy of the sensitive values, which a release does not show."""
    publishes: ClassVar[Literal["values", "categories"]] = "values"
    """What is published of the sensitive column where the policy does not say and no other model is on it."""
    stops: ClassVar[frozenset[str]] = frozenset()  # the attacks that it is a remedy for, by their names in the evidence
    position: ClassVar[int] = 1000  # where it stands in lists: the simplest first

    def __post_init__(self) -> None:
        for each in self.parameters:
            object.__setattr__(self, each.name, frozen(getattr(self, each.name)))

    # --- what it reads and promises -----------------------------------------------------------------------------

    @classmethod
    def reads_sensitive(cls) -> bool:
        """Whether it is about a sensitive column."""
        return any(each.name == "sensitive" for each in fields(cls))

    @property
    def column(self) -> str | None:
        """The sensitive column that the model reads, if it reads one."""
        column: str | None = getattr(self, "sensitive", None)
        return column

    @property
    def least_records(self) -> int:
        """Records that every class has at least, as far as the model alone says."""
        return 1

    @property
    def least_values(self) -> int:
        """Distinct sensitive values that every class has at least, as far as the model alone says."""
        return 1

    @property
    def least_categories(self) -> int:
        """Distinct categories that every class has at least; 0 where it is not about categories."""
        return 0

    @property
    def only_counts(self) -> bool:
        """Whether `least_records`, `least_values` and `least_categories` are all that it demands."""
        return False

    def named_values(self) -> tuple[Label, ...]:
        """The sensitive values that its parameters name."""
        return tuple(key for each in self._by_value() for key in getattr(self, each.name))

    def protected_values(self) -> frozenset[Label] | None:
        """The sensitive values that it protects; None where it protects all alike."""
        by_value = list(self._by_value())
        if not by_value:
            return None
        return frozenset(
            key
            for each in by_value
            for key, limit in getattr(self, each.name).items()
            if min(limit.values() if isinstance(limit, Mapping) else [limit]) < each.high
        )

    def _by_value(self) -> Iterator[Parameter]:
        """The parameters that are mappings from values here."""
        for each in self.parameters:
            if each.kind.by_value and isinstance(getattr(self, each.name), Mapping):
                yield each

    # --- the condition ------------------------------------------------------------------------------------------

    @abstractmethod
    def holds(self, view: ClassView) -> Mask:
        """Which classes satisfy the condition on a class."""

    def table_holds(self, view: ClassView) -> bool:  # noqa: ARG002 - only whole-table models read it
        """Whether the condition on the release as a whole holds, beside that on each class."""
        return True

    @abstractmethod
    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """For each numeric parameter that can be relaxed alone, what each class reaches."""

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

    def part_could_fail(self, view: ClassView, owner: Counts, sizes: Counts) -> Mask:  # noqa: ARG002 - see below
        """For each part of a class, given by its class and size, whether some choice of secrets fails the model.

        All that is known is the secrets of the whole class, and that sizes satisfy k. Where a model does not say, every
        part could fail.
        """
        return np.ones(len(owner), dtype=np.bool_)

    # --- what follows from the declared parameters --------------------------------------------------------------

    def reached(self, view: ClassView) -> dict[str, float]:
        """The strongest value of each parameter that every class reaches."""
        result: dict[str, float] = {}
        for parameter, strength in self.strengths(view).items():
            if len(strength.per_class):
                worst = np.min if strength.at_least else np.max
                result[parameter] = float(worst(strength.per_class))
        return result

    def shortfalls(self, view: ClassView, index: int) -> tuple[Shortfall, ...]:
        """What one class lacks, and what the whole release lacks; nothing where both hold."""
        fails, limits = not self.holds(view)[index], self.single_limits()
        found: list[tuple[float, Shortfall]] = []
        for name, strength in self.strengths(view).items():
            reached, limit = float(strength.per_class[index]), limits[name]
            short = limit.value - reached if strength.at_least else reached - limit.value
            if short > 0 and math.isfinite(short) and (fails if strength.of_class else short > TOLERANCE):
                shortfall = Shortfall(
                    code="below-minimum" if strength.at_least else "above-maximum",
                    parameter=name,
                    quantity=limit.parameter.quantity,
                    counted=limit.parameter.kind is ParameterKind.WHOLE,
                    reached=reached,
                    required=float(limit.value),
                    column=self.column,
                    key=limit.key,
                    of_class=strength.of_class,
                )
                found.append((short, shortfall))
        clear = [each for short, each in found if short > TOLERANCE]
        return tuple(clear or (each for _, each in found))

    def relaxed(self, parameter: str, value: float) -> Self:
        """A copy with one parameter, named as in `strengths`, set to another value; the copy is not validated."""
        limits = self.single_limits()
        if parameter not in limits:
            known = did_you_mean(parameter, limits)
            raise ValueError(f"{self.name} has no parameter {parameter!r} to relax. {known}")
        (name, *keys), counts = limits[parameter].path, limits[parameter].parameter.kind is ParameterKind.WHOLE
        changed: Any = whole(parameter, value) if counts else value
        return replace(self, **{name: getattr(self, name).with_item(keys, changed) if keys else changed})

    def single_limits(self) -> dict[str, ModelLimit]:
        """Every number that can be changed alone, by its name in `strengths`: ``k``, ``alpha[HIV]``, ``dif[HIV]``."""
        found: dict[str, ModelLimit] = {}
        for each in self.parameters:
            value = getattr(self, each.name)
            if isinstance(value, Mapping):
                for key, limit in value.items():
                    if isinstance(limit, Mapping):
                        for part in each.parts:
                            path = (each.name, key, part.name)
                            found[limit_name(part.name, key)] = ModelLimit(part, path, limit[part.name])
                    else:
                        found[limit_name(each.name, key)] = ModelLimit(each, (each.name, key), limit)
            elif each.at_least is not None:
                found[each.name] = ModelLimit(each, (each.name,), value)
        return found

    def parameter_problems(self) -> list[PolicyProblem]:
        """What is wrong with the parameters themselves; ``where`` is the parameter's name."""
        problems = [
            problem for each in self.parameters for problem in parameter_problems(each, getattr(self, each.name))
        ]
        return problems + (sensitive_problems(self.column) if self.reads_sensitive() else [])

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """What is wrong with the parameters for this sensitive column; ``where`` is the parameter's name."""
        problems = category_problems(domain, least=self.least_declared_categories) if self.needs_categories else []
        for each in self.parameters:
            named = getattr(self, each.name)
            if not isinstance(named, Mapping) or (self.needs_categories and not domain.categories):
                continue
            if each.kind is ParameterKind.BY_CATEGORY:
                problems += unknown_problems(each.name, named, domain.categories, of="category", column=domain.column)
            else:
                problems += unknown_problems(each.name, named, domain.values, of="value", column=domain.column)
        return problems
