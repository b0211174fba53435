"""Numbers as exact decimals: text to integers at a common scale and back.

Binary floats would put 0.3 outside of [0.3, 0.4) and print ends like 0.30000000000000004. Here every number of one
column becomes an integer count of the smallest decimal place in use, so that interval arithmetic is integer arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LARGEST_EXPONENT = 400
"""Beyond the range of a float; a longer number is a slip, and as plain text it would fill the memory."""


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
    return number if max(abs(number.adjusted()), places(number)) <= _LARGEST_EXPONENT else None


def places(number: Decimal) -> int:
    """Digits after the decimal point as written."""
    return max(0, -int(number.as_tuple().exponent))


@dataclass(frozen=True)
class DecimalScale:
    """A fixed number of decimal places, at which numbers are integers."""

    digits: int

    @staticmethod
    def of(numbers: Iterable[Decimal]) -> DecimalScale:
        """The smallest scale at which all the numbers are integers."""
        return DecimalScale(max((places(number) for number in numbers), default=0))

    def integer(self, number: Decimal) -> int:
        """The number in units of the smallest place; exact."""
        numerator, denominator = number.as_integer_ratio()
        result: int = numerator * 10**self.digits // denominator
        return result

    def text(self, integer: int) -> str:
        """The number as plain text without needless zeros: "39", "0.1", "-2.5"."""
        whole, rest = divmod(abs(integer), 10**self.digits)
        fraction = f".{str(rest).zfill(self.digits).rstrip('0')}" if rest else ""
        return f"{'-' if integer < 0 else ''}{whole}{fraction}"
