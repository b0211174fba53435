"""What a privacy model is: a condition on classes, and everything else that others need to know of it, declared.

A model is one file with one frozen dataclass. Its class attributes say what it is called, what its parameters may be,
what a search may conclude from it and what it protects from; the policy, the searches, the attacks, the report, the
page and the documentation read them. See ``docs/extending.md``.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from shoal.declarations import Parameter, ParameterKind
from shoal.errors import PolicyProblem, did_you_mean
from shoal.formatting import listing
from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.hierarchies.problems import quoted
from shoal.models.comparison import TOLERANCE
from shoal.models.parameters import frozen, limit_name, parameter_problems, wrong_value
from shoal.models.sensitivity import category_problems
from shoal.table.classes import ClassView, Counts, Floats, Mask, SensitiveDomain

_LISTED = 10


@dataclass(frozen=True)
class Strength:
    """How strongly each class satisfies one numeric parameter of a model, in the parameter's own unit."""

    per_class: Floats
    at_least: bool  # whether a class holds when its figure is at least the parameter; else at most
    of_class: bool = True  # false where the figure is that of the whole release, the same for every class


@dataclass(frozen=True)
class Shortfall:
    """By what one class, or the whole release, fails one parameter of a model."""

    code: Literal["below-minimum", "above-maximum"]
    parameter: str  # as in `Model.strengths`: ``k``, ``alpha[HIV]``
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


@dataclass(frozen=True)
class Model(ABC):
    """A privacy model with its parameters. Subclasses are frozen dataclasses, one per file."""

    name: ClassVar[str]  # name in the policy file
    title: ClassVar[str]  # what people call it
    summary: ClassVar[str]  # what it demands and what that is good for, in a sentence for a reader who does not program
    citation: ClassVar[str]  # where the definition stands
    card: ClassVar[Card]  # what the page says of it
    parameters: ClassVar[tuple[Parameter, ...]]  # besides ``sensitive``, in the order of the dataclass fields
    example: ClassVar[str]  # an entry of a policy, without ``sensitive``: ``{model: k-anonymity, k: 5}``
    merge_closed: ClassVar[bool]  # two satisfying classes merged satisfy: what holds at a node holds above it
    superset_closed: ClassVar[bool]  # a satisfying class stays so whatever is added: allows pruning under a budget
    closed_for_people: ClassVar[bool] = False  # both hold as well where people are counted, who may be in many classes
    whole_table: ClassVar[bool] = False  # a class is judged by the other released ones, too: anew after suppression
    needs_people: ClassVar[bool] = False  # it is about people and their records, which no release shows
    needs_categories: ClassVar[bool] = False  # the sensitive column must declare categories
    least_declared_categories: ClassVar[int] = 1  # how many categories, where it needs some
    needs_order: ClassVar[bool] = False  # its figures may need an order or a hierarchy of values that no release shows
    needs_numbers: ClassVar[bool] = False  # it compares the values of the sensitive column as numbers
    publishes: ClassVar[Literal["values", "categories"]] = "values"
    """What is published of the sensitive column where the policy does not say and no other model is on it."""
    counts: ClassVar[Literal["records", "values", "categories"] | None] = None
    """What every class has at least as many of as the first parameter says, distinct ones where these are values."""
    stops: ClassVar[frozenset[str]] = frozenset()  # the attacks that it is a remedy for, by their names in the evidence
    position: ClassVar[int] = 1000  # where it stands in lists: the simplest first
    in_policies: ClassVar[bool] = True  # whether policies ask for it under ``privacy``; else another key does

    def __post_init__(self) -> None:
        for each in self.parameters:
            object.__setattr__(self, each.name, frozen(getattr(self, each.name)))

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
    def judges_classes(self) -> bool:
        """Whether a class can be judged alone, given how often each value occurs in the whole release."""
        return self.merge_closed or not self.whole_table

    @property
    def tells_near_values_apart(self) -> bool:
        """Whether two values are as different to it as any other two, however near they are."""
        return self.reads_sensitive() and not self.needs_numbers and not self.needs_categories

    @property
    def least_records(self) -> int:
        """Records that every class has at least, as far as the model alone says."""
        return self._least("records", otherwise=1)

    @property
    def least_values(self) -> int:
        """Distinct sensitive values that every class has at least, as far as the model alone says."""
        return self._least("values", otherwise=1)

    @property
    def least_categories(self) -> int:
        """Distinct categories that every class has at least; 0 where it is not about categories."""
        return self._least("categories", otherwise=0)

    def _least(self, counted: str, *, otherwise: int) -> int:
        return int(getattr(self, self.parameters[0].name)) if self.counts == counted else otherwise

    @property
    def only_counts(self) -> bool:
        """Whether `least_records`, `least_values` and `least_categories` are all that it demands."""
        return self.counts is not None and len(self.parameters) == 1

    def named_values(self) -> tuple[Label, ...]:
        """The sensitive values that its parameters name."""
        return tuple(dict.fromkeys(limit.path[1] for limit in self._limits_by_value()))

    def protected_values(self) -> frozenset[Label] | None:
        """The sensitive values that it protects; None where it protects all alike."""
        limits = self._limits_by_value()
        return frozenset(each.path[1] for each in limits if each.value < each.parameter.high) if limits else None

    def _limits_by_value(self) -> list[ModelLimit]:
        by_value = {each.name for each in self.parameters if each.kind.by_value}
        return [limit for limit in self.single_limits().values() if limit.path[0] in by_value and len(limit.path) > 1]

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

        ``removable`` is how many the release may leave out over all. A failing class of a superset-closed model loses
        every record, since no part of it can hold. Of other merge-closed models what is kept of the class is a union
        of satisfying classes and so satisfies itself. The bound lets a search rule out everything below a node.
        """
        if self.superset_closed:
            return np.where(self.holds(view), 0, view.records)
        return np.zeros(len(view.sizes), dtype=np.int64)

    def part_could_fail(self, view: ClassView, owner: Counts, sizes: Counts) -> Mask:  # noqa: ARG002 - see below
        """For each part of a class, given by its class and size (which satisfies k), whether some choice of the secrets
        of the class fails the model. Where a model does not say, every part could fail.
        """
        return np.full(len(owner), not self.only_counts or self.counts != "records")

    def reached(self, view: ClassView) -> dict[str, float]:
        """The strongest value of each parameter that every class reaches."""
        return {
            parameter: float(strength.per_class.min() if strength.at_least else strength.per_class.max())
            for parameter, strength in self.strengths(view).items()
            if len(strength.per_class)
        }

    def shortfalls(self, view: ClassView, index: int) -> tuple[Shortfall, ...]:
        """What one class lacks, and what the whole release lacks; nothing where both hold."""
        fails, limits = not self.holds(view)[index], self.single_limits()
        found: list[tuple[float, Shortfall]] = []
        for name, strength in self.strengths(view).items():
            reached, limit = float(strength.per_class[index]), limits[name]
            quantity = limit.parameter.quantity
            short = limit.value - reached if strength.at_least else reached - limit.value
            if short > 0 and math.isfinite(short) and (fails if strength.of_class else short > TOLERANCE):
                shortfall = Shortfall(
                    code="below-minimum" if strength.at_least else "above-maximum",
                    parameter=name,
                    quantity=quantity.replace("records", "people") if view.counts_people else quantity,
                    counted=limit.parameter.kind is ParameterKind.WHOLE,
                    reached=reached,
                    required=float(limit.value),
                    column=self.column,
                    key=quoted(limit.path[1]) if len(limit.path) > 1 else "",
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
        (name, *keys), changed = limits[parameter].path, value
        if limits[parameter].parameter.kind is ParameterKind.WHOLE:
            changed = int(value)
            if changed != value:
                raise ValueError(f"{parameter} counts something and must be a whole number, not {value}")
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

    def policy_path(self, entry: int, limit: ModelLimit) -> tuple[Any, ...]:
        """The keys that lead to a limit in a policy that asks for the model under an entry of ``privacy``."""
        return ("privacy", entry, *limit.path)

    def parameter_problems(self) -> list[PolicyProblem]:
        """What is wrong with the parameters themselves; ``where`` is the parameter's name."""
        values = [(each, getattr(self, each.name)) for each in self.parameters]
        problems = [problem for each, value in values for problem in parameter_problems(each, value)]
        if self.reads_sensitive() and not (isinstance(self.column, str) and self.column):
            problems.append(wrong_value("sensitive", self.column, "the name of a sensitive column", code="wrong-type"))
        return problems

    def domain_problems(self, domain: SensitiveDomain) -> list[PolicyProblem]:
        """What is wrong with the parameters for this sensitive column; ``where`` is the parameter's name."""
        problems = category_problems(domain, least=self.least_declared_categories) if self.needs_categories else []
        if self.needs_numbers and domain.numbers is None:
            problems.append(_not_numbers(domain))
        for each in self.parameters:
            named = getattr(self, each.name)
            if not isinstance(named, Mapping) or (self.needs_categories and not domain.categories):
                continue
            by_category = each.kind is ParameterKind.BY_CATEGORY
            values = tuple(value for value in domain.values if value not in domain.unknown)
            of, known = ("category", domain.categories) if by_category else ("value", values)
            for key in named:
                if key not in known:  # a limit for what the column does not have protects nothing, so it is refused
                    message = f"column {domain.column!r} has no {of} {key!r}."
                    fix = did_you_mean(key, ("null" if name is None else name for name in known))
                    facts = {of: key, "known": known}
                    problems.append(PolicyProblem(each.name, message, fix, facts, code=f"unknown-{of}"))
        return problems


def _not_numbers(domain: SensitiveDomain) -> PolicyProblem:
    """The problem of a sensitive column with values that are not numbers."""
    strays = [value for value in domain.values if value is not None and parse_decimal(value) is None]
    shown = listing([quoted(value) for value in strays], most=_LISTED) or "no number at all"
    message = f"column {domain.column!r} must be published as numbers, but has {shown}."
    fix = "Name a column of numbers, or list these values under unknown if they do not stand for a number."
    return PolicyProblem("sensitive", message, fix, {"values": tuple(strays[:_LISTED])}, code="values-not-numbers")
