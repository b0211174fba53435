"""Facts: typed values that other programs read as plain data, and the one serializer that makes it.

A class of facts is a frozen dataclass. It is also a mapping over its serialized form: ``facts.verified`` is the typed
value, ``facts["verified"]`` the plain one. Numbers are rounded here and nowhere else.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from pydantic import ConfigDict

_KEYS_BY_DECIMAL_PLACES = {
    12: ("measures", "ncp", "reached", "strength"),
    9: ("rate", "baseline", "interval", "without_release", "p_value", "base_rate", "control_interval", "advantage",
        "advantage_interval"),
    6: ("details", "class_sizes", "groups", "seconds", "seconds_by_stage", "accuracy", "balanced_accuracy", "auc",
        "estimate", "relative_error", "all_generalized", "survey"),
    3: ("expected_right_links",),
}  # fmt: skip
DECIMAL_PLACES = {key: places for places, keys in _KEYS_BY_DECIMAL_PLACES.items() for key in keys}
"""Decimal places of the numbers under a key, unless a key further inside says otherwise; others are not rounded."""


class Facts(Mapping[str, Any]):
    """Base of every class of facts. A field whose default is None is left out of the mapping while it is None."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)

    def __getitem__(self, key: str) -> Any:
        if key not in set(self):
            raise KeyError(key)
        return _plain(getattr(self, key), DECIMAL_PLACES.get(key))

    def __iter__(self) -> Iterator[str]:
        return (each.name for each in fields(self) if not _absent(self, each))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain data, ready for JSON."""
        return dict(self)


@contextmanager
def fields_described() -> Iterator[None]:
    """Adapters that are made meanwhile know the docstrings of fields, for which pydantic reads the source: that takes
    five times as long, and only a schema needs them."""
    config = Facts.__pydantic_config__
    config["use_attribute_docstrings"] = True
    try:
        yield
    finally:
        del config["use_attribute_docstrings"]


def plain(value: Any) -> Any:
    """Anything made of facts, mappings, lists, enumerations and numbers as plain data, ready for JSON."""
    return _plain(value, None)


def _plain(value: Any, places: int | None) -> Any:
    if isinstance(value, Mapping):
        entries = ((each, getattr(value, each)) for each in value) if isinstance(value, Facts) else value.items()
        return {_key(key): _plain(item, DECIMAL_PLACES.get(key, places)) for key, item in entries}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        return [_plain(item, places) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, np.generic):
        return _plain(value.item(), places)
    if isinstance(value, float):
        return (value if places is None else round(value, places) + 0.0) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        present = [each for each in fields(value) if not _absent(value, each)]
        return {each.name: _plain(getattr(value, each.name), DECIMAL_PLACES.get(each.name, places)) for each in present}
    return value


def _absent(facts: object, field: Field[Any]) -> bool:
    return field.default is not MISSING and field.default is None and getattr(facts, field.name) is None


def _key(key: Any) -> str:
    """A key of a JSON object; the missing value is the empty text."""
    return "" if key is None else str(key)
