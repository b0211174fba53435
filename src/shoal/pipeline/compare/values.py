"""The values that a parameter takes in a grid: ``2,5,10``, ``2..10``, ``2..50..8``, ``0.1..0.5..0.1``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from shoal.errors import InputError
from shoal.hierarchies.decimals import parse_decimal

Number = int | float
Values = str | Number | Iterable[Number]
"""How the values may be given: as text, as one number, or as several."""

MOST = 10_000
"""Values of one parameter, and points of one grid, at most: more is a slip of the keyboard."""


def read_values(given: Values, where: str) -> tuple[Number, ...]:
    """The values, each once, in the order given. Raises `InputError` that names the place."""
    if isinstance(given, str):
        parts = [value for part in given.split(",") for value in _part(part.strip(), given, where)]
    elif isinstance(given, (int, float)):
        parts = [given]
    else:
        parts = list(given)
    strange = [value for value in parts if isinstance(value, bool) or not isinstance(value, (int, float))]
    if strange or not parts:
        what = f"{strange[0]!r} is not a number" if strange else "there is no value"
        raise InputError(f"{where}: {what}. {_FORMS}", code="bad-values")
    return tuple(dict.fromkeys(parts))


_FORMS = "Write values as 2,5,10 or 2..10 or, with a step, 2..50..8."


def _part(part: str, given: str, where: str) -> Iterator[Number]:
    """One value, or all from a first to a last one."""
    ends = [parse_decimal(end) for end in part.split("..")] if part else []
    if not 1 <= len(ends) <= 3 or None in ends:
        raise InputError(f"{where}: {given!r} cannot be read as values. {_FORMS}", code="bad-values")
    numbers = [end for end in ends if end is not None]
    if len(numbers) == 1:
        yield _plain(numbers[0])
        return
    low, high = numbers[:2]
    if len(numbers) == 2 and (low % 1 or high % 1):
        raise InputError(f"{where}: {part!r} needs a step, such as {low}..{high}..0.1.", code="bad-values")
    step = numbers[2] if len(numbers) == 3 else Decimal(1)
    if step <= 0:
        raise InputError(f"{where}: the step {step} of {part!r} is not above zero.", code="bad-values")
    if low > high:
        raise InputError(f"{where}: {part!r} begins above its end. Write {high}..{low}.", code="bad-values")
    if (high - low) / step >= MOST:
        raise InputError(
            f"{where}: {part!r} has more than {MOST:,} values. Give a larger step.", code="too-many-points"
        )
    while low <= high:
        yield _plain(low)
        low += step


def _plain(number: Decimal) -> Number:
    return int(number) if number == number.to_integral_value() else float(number)


def written(value: Number) -> str:
    """A value as it stands in names and tables."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)
