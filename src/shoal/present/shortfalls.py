"""What a class or a release lacks for a model, in words."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.formatting import number
from shoal.models import Shortfall


def shortfalls_text(shortfalls: Iterable[Shortfall]) -> str:
    """Several shortfalls as one phrase: ``2 distinct values of condition, 3 required``."""
    return "; ".join(map(_text, shortfalls))


def _text(short: Shortfall) -> str:
    of = f" of {short.key} in {short.column}" if short.key else f" of {short.column}" if short.column else ""
    reached, required = number(short.reached), number(short.required)
    if reached == required:  # a figure that misses its limit by little must not look equal to it
        reached, required = f"{short.reached:.9g}", f"{short.required:.9g}"
    if short.counted and short.quantity:
        found = f"{reached} {_singular(short.quantity) if short.reached == 1 else short.quantity}{of}"
    else:
        found = f"{short.quantity or short.parameter.partition('[')[0]} {reached}{of}"
    where = "" if short.of_class else " in the whole release"
    limit = f"{required} required" if short.code == "below-minimum" else f"at most {required} allowed"
    return f"{found}{where}, {limit}"


def _singular(nouns: str) -> str:
    return nouns.removesuffix("ies") + "y" if nouns.endswith("ies") else nouns.removesuffix("s")
