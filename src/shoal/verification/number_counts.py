"""The numbers of each class of a release, from its published text, in Python's exact integers."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from shoal.verification.canonical_text import Codes
from shoal.verification.classes import SensitiveCounts
from shoal.verification.intervals import number_in


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """How often each class has each number, or what it weighs among people; missing values are left out."""

    unit: int  # numbers are whole in units of 1/unit
    classes: list[dict[int, int]]

    @staticmethod
    def of(tally: SensitiveCounts, n_classes: int) -> NumberCounts | None:
        """The numbers of a sensitive column; None where a published value is neither a number nor unknown."""
        known = set(tally.entries.tolist())  # values of unknown ones are not counted
        texts = [text if entry in known else None for entry, text in enumerate(tally.values)]
        read = [None if text is None else number_in(text) for text in texts]
        if any(number is None and text is not None for number, text in zip(read, texts, strict=True)):
            return None
        unit = math.lcm(*(number.denominator for number in read if number is not None))
        whole = [None if number is None else int(number * unit) for number in read]
        found: list[dict[int, int]] = [{} for _ in range(n_classes)]
        rows = zip(tally.classes.tolist(), tally.entries.tolist(), tally.weights.tolist(), strict=True)
        for index, entry, count in rows:
            number = whole[entry]
            if number is not None:
                found[index][number] = found[index].get(number, 0) + count
        return NumberCounts(unit, found)

    def spans(self) -> tuple[Codes, list[Fraction]]:
        """The different numbers of each class, at least one, and how far the largest lies above the smallest."""
        distinct = np.array([max(len(numbers), 1) for numbers in self.classes])
        return distinct, [Fraction(max(each) - min(each) if each else 0, self.unit) for each in self.classes]

    def crowds(self, epsilon: Fraction, *, relative: bool) -> tuple[Codes, Codes]:
        """The records of each class with a number, and the most that lie within ε, or ε·|x|, of one of them, x."""
        constant = math.floor(epsilon * self.unit)
        known, near = np.ones(len(self.classes), dtype=np.int64), np.ones(len(self.classes), dtype=np.int64)
        for index, numbers in enumerate(self.classes):
            ascending = sorted(numbers)
            before = list(accumulate((numbers[each] for each in ascending), initial=0))
            for x in ascending:
                reach = abs(x) * epsilon.numerator // epsilon.denominator if relative else constant
                found = before[bisect_right(ascending, x + reach)] - before[bisect_left(ascending, x - reach)]
                near[index] = max(near[index], found)
            known[index] = max(before[-1], 1)
        return known, near
