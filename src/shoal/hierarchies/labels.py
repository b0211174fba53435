"""Reading labels of numbers back: an interval ``[20, 30)``, a range ``22<=30`` or a single number.

Everything that reads released labels does so here, except the verifier, which shares no code with what it checks.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import NamedTuple

from shoal.hierarchies.decimals import parse_decimal
from shoal.hierarchies.hierarchy import Label

RANGE_SIGN = "<="
_INTERVAL = re.compile(r"[\[(](?P<low>-?[\d.]+|-inf), (?P<high>-?[\d.]+|inf)(?P<end>[)\]])", re.ASCII)

End = Fraction | float
"""An exact number, or an infinity."""


class NumberSpan(NamedTuple):
    """The numbers that a label stands for."""

    low: End
    high: End
    closed: bool
    """Whether the upper end is one of them."""


def read_number(text: str) -> Fraction | None:
    """The number that a text is, exactly; None for everything else."""
    number = parse_decimal(text)
    return None if number is None else Fraction(number)


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
