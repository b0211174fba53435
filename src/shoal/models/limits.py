"""Limits that differ by value or category: a mapping that can be hashed, and the names of its single limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from shoal.hierarchies.hierarchy import Label

MISSING_NAME = "(missing)"
"""How the missing value is named in ``alpha[(missing)]``."""


class FrozenMapping(Mapping[Any, Any]):
    """A mapping that cannot change, so that a model that holds one can be compared and hashed."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[Any, Any]) -> None:
        self._items = {key: frozen(value) for key, value in items.items()}

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def with_item(self, key: Any, value: Any) -> FrozenMapping:
        """A copy with one item changed."""
        return FrozenMapping({**self._items, key: value})


def frozen(value: Any) -> Any:
    """A mapping, and those inside it, as a `FrozenMapping`; anything else as it is."""
    return FrozenMapping(value) if isinstance(value, Mapping) and not isinstance(value, FrozenMapping) else value


def limit_name(parameter: str, key: Label) -> str:
    """The name of one limit of a mapping, for example ``alpha[HIV]``."""
    return f"{parameter}[{MISSING_NAME if key is None else key}]"


@dataclass(frozen=True)
class ModelLimit:
    """One number that a model asks for."""

    name: str
    """As `Model.strengths` names it: ``k``, ``alpha[HIV]``, ``dif[HIV]``."""
    path: tuple[str | None, ...]
    """The keys that lead to it in the model's entry of a policy."""
    value: float


def limits_of(model: Any) -> Iterator[ModelLimit]:
    """Every number that a model asks for."""
    for each in fields(model):
        value = getattr(model, each.name)
        if isinstance(value, Mapping):
            for key, limit in value.items():
                if isinstance(limit, Mapping):
                    for part, number in limit.items():
                        yield ModelLimit(limit_name(part, key), (each.name, key, part), float(number))
                else:
                    yield ModelLimit(limit_name(each.name, key), (each.name, key), float(limit))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield ModelLimit(each.name, (each.name,), float(value))


def quoted(value: Label) -> str:
    """A value as messages show it."""
    return "the missing value" if value is None else repr(value)
