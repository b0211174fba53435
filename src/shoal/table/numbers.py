"""The values of a sensitive column as exact numbers: whole numbers at a common scale, so that no limit is missed by
the last bit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.numbers_as_text import decimal_places, parse_decimal

Ranks = NDArray[np.int64]
_LARGEST = 2**62  # the difference of two whole numbers below it has 64 bits


class NumberEntries(NamedTuple):
    """How often each class has each number, missing values left out: ascending by class, then by number."""

    owner: NDArray[np.int64]
    rank: Ranks  # an index of `Numbers.distinct`
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Numbers:
    """The distinct numbers of a column in order, and which of them each value is ("3000" and "3e3" are one)."""

    scale: int  # numbers are whole in units of 1/scale
    distinct: NDArray[Any]  # times the scale, ascending: 64-bit, or Python's integers where these are larger
    rank: Ranks  # of each value: the index of its number; -1 for the missing value

    @staticmethod
    def of(values: Sequence[Label]) -> "Numbers | None":
        """The numbers that some values are; None where one of them is not a number, or there is none."""
        parsed = [None if value is None else parse_decimal(value) for value in values]
        present = [number for number in parsed if number is not None]
        if not present or len(present) < sum(value is not None for value in values):
            return None
        scale = 10 ** max(map(decimal_places, present))
        whole = [None if number is None else int(Fraction(number) * scale) for number in parsed]
        distinct = sorted({number for number in whole if number is not None})
        index_of = {number: index for index, number in enumerate(distinct)}
        rank = np.array([-1 if number is None else index_of[number] for number in whole], dtype=np.int64)
        small = max(-distinct[0], distinct[-1], scale) < _LARGEST
        return Numbers(scale, np.array(distinct, dtype=np.int64 if small else object), rank)

    def at_least(self, limit: Fraction) -> int:
        """The least whole number of units that is no less than a limit, as far as one can matter here."""
        return min(math.ceil(limit * self.scale), int(self.distinct[-1] - self.distinct[0]) + 1)

    def window(self, rank: Ranks, radius: Fraction, *, relative: bool) -> tuple[Ranks, Ranks]:
        """For some numbers x, by rank, the first and the last within a radius of x, or within |x| times the radius."""
        number, spread = self.distinct[rank], int(self.distinct[-1] - self.distinct[0])
        unit = np.abs(number) if relative else np.full(len(rank), self.scale, dtype=number.dtype)
        if int(unit.max(initial=1)) * radius.numerator >= _LARGEST:
            unit = unit.astype(object)
        reach = np.minimum(unit * radius.numerator // radius.denominator, spread).astype(number.dtype)
        first = np.searchsorted(self.distinct, number - reach, side="left")
        return first, np.searchsorted(self.distinct, number + reach, side="right") - 1
