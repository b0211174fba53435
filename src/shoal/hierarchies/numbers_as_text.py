"""Numbers written as text: read as exact decimals, and out of the labels ``[20, 30)`` and ``22<=30``."""

import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import NamedTuple

from shoal.hierarchies.hierarchy import Label

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LARGEST_EXPONENT = 400  # beyond the range of a float; a longer number is a slip, and its text would fill the memory


def parse_decimal(text: str) -> Decimal | None:
    """The number that a text is; ``None`` for everything else: "1,234", "NaN", "inf", "", "12a"."""
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        return None
    try:
        number = Decimal(stripped)
    except InvalidOperation:
        return None
    if not number:
        return Decimal(0)
    return number if max(abs(number.adjusted()), decimal_places(number)) <= _LARGEST_EXPONENT else None


def decimal_places(number: Decimal) -> int:
    """Digits after the decimal point as written."""
    return max(0, -int(number.as_tuple().exponent))


RANGE_SIGN = "<="
_INTERVAL = re.compile(r"[\[(](?P<low>-?[\d.]+|-inf), (?P<high>-?[\d.]+|inf)(?P<end>[)\]])", re.ASCII)

End = Fraction | float  # an exact number, or an infinity


class NumberSpan(NamedTuple):
    """The numbers that a label stands for."""

    low: End
    high: End
    closed: bool  # whether the upper end is one of them


def read_number(text: str) -> Fraction | None:
    """The number that a text is, exactly; None for everything else."""
    number = parse_decimal(text)
    return None if number is None else Fraction(number)


def fraction_text(number: Fraction) -> str:
    """A number with finitely many decimal places as plain digits without needless zeros: "39", "0.1", "-2.5"."""
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    whole, rest = divmod(abs(int(number * 10**digits)), 10**digits)
    return f"{'-' if number < 0 else ''}{whole}{f'.{str(rest).zfill(digits)}' if digits else ''}"


def read_interval(label: Label) -> NumberSpan | None:
    """What an interval stands for; None for other labels."""
    match = _INTERVAL.fullmatch(label or "")
    return None if match is None else NumberSpan(_end(match["low"]), _end(match["high"]), match["end"] == "]")


def read_number_or_interval(label: Label) -> NumberSpan | None:
    """What an interval or a single number stands for; None for other labels."""
    number = read_number(label or "")
    return read_interval(label) if number is None else NumberSpan(number, number, True)


def range_ends(label: Label) -> tuple[str, str] | None:
    """The values at both ends of a range, as they are written; None for other labels."""
    low, sign, high = (label or "").partition(RANGE_SIGN)
    return (low, high) if sign else None


def read_range(label: Label) -> NumberSpan | None:
    """What a range of numbers stands for, both ends included; None for other labels."""
    low, high = (read_number(text) for text in range_ends(label) or ("", ""))
    return None if low is None or high is None else NumberSpan(low, high, True)


def _end(text: str) -> End:
    return math.copysign(math.inf, -1 if text[0] == "-" else 1) if text.endswith("inf") else Fraction(text)
