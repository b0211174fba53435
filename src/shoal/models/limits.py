"""Limits that differ by value or category: a mapping that can be hashed, and the names of its single limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

    def with_item(self, path: Sequence[Any], value: Any) -> FrozenMapping:
        """A copy with the item at the end of a path of keys changed."""
        first, *rest = path
        return FrozenMapping({**self._items, first: self._items[first].with_item(rest, value) if rest else value})


def frozen(value: Any) -> Any:
    """A mapping, and those inside it, as a `FrozenMapping`; anything else as it is."""
    return FrozenMapping(value) if isinstance(value, Mapping) and not isinstance(value, FrozenMapping) else value


def limit_name(parameter: str, key: Label) -> str:
    """The name of one limit of a mapping, for example ``alpha[HIV]``."""
    return f"{parameter}[{MISSING_NAME if key is None else key}]"


def quoted(value: Label) -> str:
    """A value as messages show it."""
    return "the missing value" if value is None else repr(value)
