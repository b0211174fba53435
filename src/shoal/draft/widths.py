"""Round interval widths that nest: 1, 2 or 5 times a power of ten, each dividing the next."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

_LEVELS = 3
_COARSEST = 3
"""The widest intervals cut the range into at least so many."""
_TAIL = Decimal("0.01")
"""Share of the records that is passed over at either end, so that a stray 99999 does not stretch the range."""
_LARGEST_POWER = 300
"""Beyond, a policy's numbers would overflow."""


def round_widths(numbers: Sequence[tuple[Decimal, int]], *, decimals: int) -> list[Decimal]:
    """Up to three widths that suit numbers (ascending, with their records); none when no interval would hold two.

    ``decimals`` is the number of places after the point: the narrowest width is more than one step of the last place.
    """
    low, high = _central(numbers)
    if low == high:
        low, high = numbers[0][0], numbers[-1][0]
    span = high - low
    step = Decimal(1).scaleb(-decimals)
    if span <= step or abs(span.adjusted()) > _LARGEST_POWER or decimals > _LARGEST_POWER:
        return []
    wide = max(_round_below(span / _COARSEST), 2 * step)
    if wide >= span:
        return []
    widths = [wide]
    while len(widths) < _LEVELS:
        narrower = _divisor(widths[0])
        if narrower <= step:
            break
        widths.insert(0, narrower)
    return widths


def _central(numbers: Sequence[tuple[Decimal, int]]) -> tuple[Decimal, Decimal]:
    """The range of all records but a small share at either end."""
    tail = _TAIL * sum(count for _, count in numbers)

    def first_beyond(ordered: Sequence[tuple[Decimal, int]]) -> Decimal:
        passed = 0
        for number, count in ordered:
            passed += count
            if passed > tail:
                return number
        return ordered[-1][0]

    return first_beyond(numbers), first_beyond(numbers[::-1])


def _round_below(limit: Decimal) -> Decimal:
    """The largest round width that is not above a positive limit."""
    power = Decimal(1).scaleb(limit.adjusted())
    return max(power * digit for digit in (1, 2, 5) if power * digit <= limit)


def _divisor(width: Decimal) -> Decimal:
    """The largest round width below a round width that divides it: 20 → 10 → 5 → 1 → 0.5."""
    digit, power = width.as_tuple().digits[0], Decimal(1).scaleb(width.adjusted())
    return power if digit in {2, 5} else power * 5 / 10
