"""Numbers as a reader takes them in; nothing that is not 0 is shown as 0, and nothing short of all as 100%."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

UNSTATED = "not stated"


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number (True and False are not)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number(value: object) -> str:
    """A number with thousands separated and about six digits; other values as text."""
    if value is None:
        return UNSTATED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else ("infinite" if value > 0 else "minus infinite")
    if value.is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 10_000 else f"{value:.6g}"


def exactly(value: object) -> str:
    """A number with every digit it has."""
    return repr(value) if isinstance(value, float) and math.isfinite(value) else number(value)


def counted(value: object, thing: str) -> str:
    """``1 record``, ``2,000 records``, ``2 classes``."""
    plural = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number(value)} {thing if value == 1 else plural}"


def percent(share: float) -> str:
    """A share as a percentage with one decimal."""
    if not math.isfinite(share):
        return number(share)
    if 0 < share < 0.001:
        return "under 0.1%"
    if 0.999 < share < 1:
        return "over 99.9%"
    text = f"{share * 100:.1f}".removesuffix(".0")
    return f"{text}%"


def share(part: object, whole: object) -> str | None:
    """A part of a whole as a percentage, or None where that says nothing."""
    if not is_number(part) or not is_number(whole) or not whole:
        return None
    return percent(part / whole)


def seconds(value: object) -> str:
    """A duration."""
    if not is_number(value) or not math.isfinite(value):
        return number(value)
    if 0 < value < 0.001:
        return "under 0.001 s"
    if value < 60:
        return f"{value:.3f} s" if value < 10 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes:,} min {rest} s"


def memory(value: object) -> str:
    """An amount of memory."""
    if not is_number(value):
        return number(value)
    return f"{value / 2**20:,.0f} MiB" if value < 10 * 2**30 else f"{value / 2**30:,.1f} GiB"


def part_of(source: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A mapping inside a mapping; empty when it is not there."""
    found = source.get(key)
    return found if isinstance(found, Mapping) else {}


def entries_of(source: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The mappings of a list inside a mapping."""
    found = source.get(key)
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, (list, tuple)) else []
