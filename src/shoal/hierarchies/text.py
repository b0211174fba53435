"""Scalars of a policy file as canonical text, the same text that the values of a column have."""

from __future__ import annotations

import datetime
from typing import Any

from shoal.hierarchies.hierarchy import Label

LABEL_SCHEMA: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
"""JSON Schema of a label in a policy."""
SCALARS = (str, bool, int, float, datetime.date, datetime.time)
"""What YAML gives for a scalar, besides null; a datetime is a date."""


def is_scalar(value: object) -> bool:
    """Whether a value read from a policy is one label, not a group of them."""
    return value is None or isinstance(value, SCALARS)


def scalar_text(value: object) -> Label:
    """Canonical text: 5 and 5.0 are "5", true is "true", dates are ISO; null is the missing value."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    raise TypeError(f"{value!r} is not a scalar")
