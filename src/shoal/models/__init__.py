"""Privacy models: one file per model, with its definition, citation and declarations on top.

`MODELS` has every model by its name in the policy: those of the files here, and those that installed packages offer as
entry points of the group ``shoal.models``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shoal.models.base import Card, Model, Shortfall, Strength
from shoal.plugins import discover

MODELS: dict[str, type[Model]] = discover(__name__, Model, "shoal.models")
"""Every model by its name in the policy, the simplest first."""


def least_size(models: Iterable[Model]) -> int:
    """Records that a class must have at least under some models; 1 where none says how many."""
    return max((model.least_records for model in models), default=1)


def model_title(name: str) -> str:
    """What people call a model; its name where it is not known here."""
    return MODELS[name].title if name in MODELS else name


def at_least(name: str, parameter: str) -> bool | None:
    """Whether classes must reach at least (True) or at most (False) a parameter such as ``alpha[HIV]``, if known."""
    declared = MODELS[name].parameters if name in MODELS else ()
    every = [part for each in declared for part in (each, *each.parts)]
    return next((each.at_least for each in every if each.name == parameter.partition("[")[0]), None)


def __getattr__(name: str) -> Any:
    """The class of a model by its own name: ``from shoal.models import KAnonymity``."""
    for model in MODELS.values():
        if model.__name__ == name:
            return model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["MODELS", "Card", "Model", "Shortfall", "Strength", "at_least", "least_size", "model_title"]
