"""How a model, a measure or an algorithm declares its parameters: what each may be, and what it is called.

The policy and its JSON Schema, the checks, the page's controls and the documentation are made from these declarations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

REQUIRED: Final = object()
"""The default of a parameter that has none."""


class ParameterKind(StrEnum):
    """What a parameter is; the page has a control for each kind."""

    WHOLE = "whole"
    NUMBER = "number"
    SECONDS = "seconds"
    FLAG = "yes-no"
    CHOICE = "choice"
    """One of a few words."""
    BY_CATEGORY = "by-category"
    """A number for each category of the sensitive column."""
    BY_VALUE_OR_ONE = "by-value-or-one"
    """One number, or a number for each value of the sensitive column."""
    LIMITS = "limits"
    """For each value of the sensitive column several numbers, which are declared as ``parts``."""
    MEASURE = "measure"
    """The name of a measure."""
    RANGES = "ranges"
    """Some columns of the role ``of``, perhaps with how each is divided into base intervals."""
    WEIGHTS = "weights"
    """A number for each of some columns of the role ``of``."""
    LEVELS = "levels"
    """A level of its hierarchy for each of some columns of the role ``of``."""

    @property
    def by_value(self) -> bool:
        """Whether the parameter may be a mapping from the values of a sensitive column."""
        return self in {ParameterKind.BY_VALUE_OR_ONE, ParameterKind.LIMITS}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model, or one option of an algorithm."""

    name: str
    kind: ParameterKind
    help: str
    """What it is, in a phrase or a sentence."""
    title: str = ""
    """What a form calls it; its name when left out."""
    low: float = 0
    high: float = math.inf
    open_low: bool = False
    """Whether ``low`` itself is not allowed."""
    step: float = 1
    """By how much a form changes it."""
    start: Any = None
    """What a person starts with in a form."""
    default: Any = REQUIRED
    """What it is when a policy leaves it out."""
    at_least: bool | None = None
    """For a limit: whether a class must reach at least the parameter (True) or at most (False)."""
    quantity: str = ""
    """For a limit: what of a class is compared with it ("distinct values"); plural where it is counted."""
    within_class_size: bool = False
    """For a count: whether the definition demands that it is at most the smallest class size asked for."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """The words to choose from, each with its meaning."""
    parts: tuple[Parameter, ...] = ()
    """The numbers of each entry of a mapping of `ParameterKind.LIMITS`."""
    of: str = "quasi"
    """The role of the columns that it names."""
    shared: bool = True
    """For an option: whether it means the same to every algorithm that takes it."""

    @property
    def required(self) -> bool:
        """Whether a policy must give it."""
        return self.default is REQUIRED

    @property
    def label(self) -> str:
        """What a form calls it."""
        return self.title or self.name

    @property
    def rule(self) -> str:
        """What a number must be, in words: ``a number above 0 and at most 1``."""
        number = "a whole number" if self.kind is ParameterKind.WHOLE else "a number"
        if self.high == math.inf:
            return f"{number} above {self.low:g}" if self.open_low else f"{number}, {self.low:g} or more"
        if self.open_low:
            return f"{number} above {self.low:g} and at most {self.high:g}"
        return f"{number} from {self.low:g} to {self.high:g}"

    def allows(self, number: float) -> bool:
        """Whether a number lies in the legal range."""
        return math.isfinite(number) and (number > self.low if self.open_low else number >= self.low) and (
            number <= self.high
        )  # fmt: skip


def share(name: str, help: str, **others: Any) -> Parameter:  # noqa: A002 - the name of the field
    """A parameter that is a number from 0 to 1, and a limit that a class may reach at most."""
    settings: dict[str, Any] = {"kind": ParameterKind.NUMBER, "high": 1, "step": 0.05, "at_least": False} | others
    return Parameter(name, help=help, **settings)


def count(name: str, counted: str, **others: Any) -> Parameter:
    """A parameter that is a whole number from 1 on, and a limit that a class must reach at least."""
    settings: dict[str, Any] = {"low": 1, "start": 2, "at_least": True, "quantity": counted} | others
    return Parameter(name, ParameterKind.WHOLE, f"smallest number of {counted} in a class", **settings)
