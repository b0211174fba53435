"""Privacy models: one file per model, with its definition, citation and declarations on top.

`MODELS` has every model by its name in the policy: those of the files here, and those that installed packages offer as
entry points of the group ``shoal.models``.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from shoal.models.base import Card, Model, Shortfall, Strength
from shoal.models.k_anonymity import KAnonymity as _SizeAtLeast
from shoal.plugins import discover

_ALL: dict[str, type[Model]] = discover(__name__, Model, "shoal.models")
MODELS: dict[str, type[Model]] = {name: model for name, model in _ALL.items() if model.in_policies}
"""Every model by its name in the policy, the simplest first."""


def least_size(models: Iterable[Model]) -> int:
    """Records that a class must have at least under some models; 1 where none says how many."""
    return max((model.least_records for model in models), default=1)


def least_needed(models: Iterable[Model]) -> int:
    """Records without which no class satisfies some models: as many as they ask for, or values or categories."""
    return max([1, *(max(each.least_records, each.least_values, each.least_categories) for each in models)])


def size_models(models: Sequence[Model]) -> tuple[Model, ...]:
    """Models on the sizes of classes alone: those there are, and as many records as any model needs at least."""
    given = [each for each in models if each.column is None and each.judges_classes]
    return (*given, _SizeAtLeast(least_needed(models)))


def model_title(name: str) -> str:
    """What people call a model; its name where it is not known here."""
    return _ALL[name].title if name in _ALL else name


def model_summary(name: str) -> str:
    """What a model demands, in a sentence; nothing where it is not known here."""
    return _ALL[name].summary if name in _ALL else ""


def at_least(name: str, parameter: str) -> bool | None:
    """Whether classes must reach at least (True) or at most (False) a parameter such as ``alpha[HIV]``, if known."""
    declared = _ALL[name].parameters if name in _ALL else ()
    every = [part for each in declared for part in (each, *each.parts)]
    return next((each.at_least for each in every if each.name == parameter.partition("[")[0]), None)


def __getattr__(name: str) -> Any:
    """The class of a model by its own name: ``from shoal.models import KAnonymity``."""
    for model in _ALL.values():
        if model.__name__ == name:
            return model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["MODELS", "Card", "Model", "Shortfall", "Strength", "at_least", "least_size", "model_summary", "model_title"]
