"""Ranges of numbers ``L<=M``, which the range method and local recodings put beside the labels of a hierarchy.

A range stands for every number from L to M, both in it, and never for a missing value. It is in no chain, since its
ends come from the data; but it lies under those labels that hold both its ends, and a value may be released as it
when the value's boundary is one of these.
"""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate

import numpy as np

from shoal.verification.canonical_text import ROOT, Chain, Label
from shoal.verification.intervals import IntervalLabels, decimal_text, number_in
from shoal.verification.labels import Labels, ListedLabels
from shoal.verification.matching.label_sets import RangePositions

_SIGN = "<="


@dataclass(frozen=True)
class Range:
    """The ends of a range, as released and as numbers."""

    texts: tuple[str, str]
    low: Fraction
    high: Fraction


class StretchLabels(Labels):
    """The labels of a hierarchy and others that stand for all values between two ends."""

    def with_ranges(self, values: Sequence[Label], chains: Sequence[Chain], released: Sequence[Label]) -> list[Chain]:
        """The chains of values, capped or not, with the released ranges that are right for the values."""
        order, stretches = self._stretches(values, chains, released)
        extended = [list(chain) for chain in chains]
        for label, some in zip(released, stretches, strict=True):
            for start, stop in some:
                for index in order[start:stop]:
                    extended[index].append(label)
        return [tuple(chain) for chain in extended]

    def positions(
        self, values: Sequence[Label], chains: Sequence[Chain], released: Sequence[Label]
    ) -> RangePositions | None:
        """The same as positions on a line; None where a range is right for values of different boundaries."""
        order, stretches = self._stretches(values, chains, released)
        if any(len(some) > 1 for some in stretches):
            return None
        at = np.full(len(values), -1, dtype=np.int64)
        at[order] = np.arange(len(order))
        ends = np.array([some[0] if some else (1, 1) for some in stretches], dtype=np.int64).reshape(-1, 2)
        return RangePositions(at, ends[:, 0], ends[:, 1] - 1).narrowed()

    def _stretches(
        self, values: Sequence[Label], chains: Sequence[Chain], released: Sequence[Label]
    ) -> tuple[list[int], list[list[tuple[int, int]]]]:
        """The values on a line, in an order in which a label is right for few stretches, and these by label.

        A stretch is the first of its values and one past the last.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class RangeLabels(StretchLabels):
    """The labels of a hierarchy of numbers, and ranges between any two of its values."""

    base: Labels
    _numbers: dict[str, Fraction | None] = field(default_factory=dict, repr=False, compare=False)
    """The numbers that texts were found to be: many ranges have few ends."""

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """Those of the hierarchy; ranges are in none."""
        return self.base.chains(values)

    def range_of(self, label: Label) -> Range | None:
        """The range that a label is; None for other labels. A listed label is never one, however it looks."""
        if label is None or _SIGN not in label or self._listed(label):
            return None
        texts = (label.partition(_SIGN)[0], label.partition(_SIGN)[2])
        low, high = (self._number(text) for text in texts)
        return None if low is None or high is None or low >= high else Range(texts, low, high)

    def _number(self, text: str) -> Fraction | None:
        """The number that a value of the hierarchy is; None for what is none, or no value."""
        if text not in self._numbers:
            number = number_in(text)
            self._numbers[text] = number if number is not None and self.base.stands_at(text, [text]) == 0 else None
        return self._numbers[text]

    def _listed(self, label: str) -> bool:
        return isinstance(self.base, ListedLabels) and self.base.knows(label)

    def stands_at(self, label: str, released: Sequence[Label]) -> int | None:
        """For a range the lowest level at which both ends have one label."""
        found = self.range_of(label)
        if found is not None:
            low, high = self.base.chains(found.texts)
            return next((level for level, (one, other) in enumerate(zip(low, high, strict=False)) if one == other), 0)
        if _SIGN in label and not self._listed(label):
            return None
        others = released if label != ROOT else [other for other in released if self.range_of(other) is None]
        return self.base.stands_at(label, others)  # only a root may have to look at other labels

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:
        """For a range whether no value in it has a boundary that holds both ends, as far as the declaration tells."""
        found = self.range_of(label)
        if found is None:
            return self.base.covered(label, boundary)
        values: list[Label] = []  # among them one for each boundary that a value of the range can have
        if isinstance(self.base, ListedLabels):
            values = list(self.base.declared)
        elif isinstance(self.base, IntervalLabels):
            values = [decimal_text(point) for point in self.base.points(found.low, found.high, boundary)]
        numbers = [(value, number_in(value or "")) for value in values]
        inside = [value for value, number in numbers if number is not None and found.low <= number <= found.high]
        low, high, *chains = self.base.chains([*found.texts, *inside])
        caps = [next((each for each in chain if each in boundary), chain[-1]) for chain in chains if chain]
        return bool(caps) and not any(cap in low and cap in high for cap in caps)

    def _stretches(
        self, values: Sequence[Label], chains: Sequence[Chain], released: Sequence[Label]
    ) -> tuple[list[int], list[list[tuple[int, int]]]]:
        """The values that are numbers, in an order in which a range is right for few stretches, and these by label.

        A range is right for a value when the end of its chain - its boundary, or the root - holds the whole range, so
        values of one boundary stand together. A stretch is the first of its values and one past the last.
        """
        capped: dict[Label, list[tuple[Fraction, int]]] = {}
        for index, (value, chain) in enumerate(zip(values, chains, strict=True)):
            if chain and (number := number_in(value or "")) is not None:
                capped.setdefault(chain[-1], []).append((number, index))
        lines = {cap: sorted(numbers) for cap, numbers in capped.items()}
        begins = dict(zip(lines, accumulate(map(len, lines.values()), initial=0), strict=False))
        ranges = [self.range_of(label) for label in released]
        ends = sorted({text for found in ranges if found is not None for text in found.texts})
        longest = max((value for value in values if value is not None), key=len, default=None)  # masks go as far as it
        above = dict(zip(ends, map(set, self.base.chains([*ends, longest])), strict=False))
        stretches: list[list[tuple[int, int]]] = [[] for _ in released]
        for found, some in zip(ranges, stretches, strict=True):
            if found is None:
                continue
            for cap in above[found.texts[0]] & above[found.texts[1]] & lines.keys():
                first, last = bisect_left(lines[cap], (found.low,)), bisect_left(lines[cap], (found.high, len(values)))
                if first < last:
                    some.append((begins[cap] + first, begins[cap] + last))
        return [index for line in lines.values() for _, index in line], stretches
