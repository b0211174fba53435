"""Ranges of numbers ``L<=M``, which the range method and local recodings put beside the labels of a hierarchy.

A range stands for every number from L to M, both in it, and never for a missing value. It is in no chain, since its
ends come from the data; but it lies under those labels that hold both its ends, and a value may be released as it
when the value's boundary is one of these.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np

from shoal.verification.canonical_text import ROOT, Chain, Label
from shoal.verification.intervals import IntervalLabels, decimal_text, number_in
from shoal.verification.labels import Labels, ListedLabels, labels_of
from shoal.verification.matching.label_sets import RangePositions
from shoal.verification.stated_policy import StatedPolicy

_SIGN = "<="


def quasi_labels(policy: StatedPolicy) -> dict[str, Labels]:
    """The labels of each quasi-identifier, with ranges where the policy asks for them."""
    labels = {name: labels_of(policy, name) for name in policy.names("quasi")}
    return {name: RangeLabels(kind) if name in policy.ranges else kind for name, kind in labels.items()}


@dataclass(frozen=True)
class Range:
    """The ends of a range, as released and as numbers."""

    texts: tuple[str, str]
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class RangeLabels:
    """The labels of a hierarchy of numbers, and ranges between any two of its values."""

    base: Labels
    _numbers: dict[str, Fraction | None] = field(default_factory=dict, repr=False, compare=False)
    """The numbers that texts were found to be: many ranges have few ends."""

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """Those of the hierarchy; ranges are in none."""
        return self.base.chains(values)

    def knows(self, label: str) -> bool:
        """A range between two values of the hierarchy, or a label of it."""
        if _SIGN not in label or self._listed(label):
            return self.base.knows(label)
        return self.range_of(label) is not None

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
            value = number is not None and self.base.knows(text) and self.base.level(text, [text]) == 0
            self._numbers[text] = number if value else None
        return self._numbers[text]

    def _listed(self, label: str) -> bool:
        return isinstance(self.base, ListedLabels) and self.base.knows(label)

    def level(self, label: Label, released: Sequence[Label]) -> int:
        """For a range the lowest level at which both ends have one label."""
        found = self.range_of(label)
        if found is None:
            others = released if label != ROOT else [other for other in released if self.range_of(other) is None]
            return self.base.level(label, others)  # only a root may have to look at other labels
        low, high = self.base.chains(found.texts)
        return next((level for level, (one, other) in enumerate(zip(low, high, strict=False)) if one == other), 0)

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:
        """For a range whether no value in it has a boundary that holds both ends, as far as the declaration tells."""
        found = self.range_of(label)
        if found is None:
            return self.base.covered(label, boundary)
        values = self._representatives(found, boundary)
        common = self._above(found)
        chains = self.base.chains(values)
        caps = [next((each for each in chain if each in boundary), chain[-1]) for chain in chains if chain]
        return bool(caps) and not any(cap in common for cap in caps)

    def _representatives(self, found: Range, boundary: Collection[Label]) -> list[Label]:
        """Values of a range among which there is one for each boundary that a value of it can have; none if unknown."""
        if isinstance(self.base, ListedLabels):
            listed = [(value, number_in(value)) for value in self.base.declared if value is not None]
            return [value for value, number in listed if number is not None and found.low <= number <= found.high]
        if isinstance(self.base, IntervalLabels):
            inner = {point for point in self.base.breaks(boundary) if found.low < point < found.high}
            points = [found.low, *sorted(inner), found.high]
            return [decimal_text(point) for point in (*points, *((a + b) / 2 for a, b in pairwise(points)))]
        return []

    def _above(self, found: Range) -> set[Label]:
        """The labels that hold both ends."""
        low, high = self.base.chains(found.texts)
        return set(low) & set(high)

    def with_ranges(self, values: Sequence[Label], chains: Sequence[Chain], released: Sequence[Label]) -> list[Chain]:
        """The chains of values, capped or not, with the released ranges that the values lie in.

        A range is right for a value when the end of its chain - its boundary, or the root - holds the whole range.
        """
        lying = self._lying(values, chains, released)
        extended = [list(chain) for chain in chains]
        for label, (start, stop), holders in zip(released, lying.stretches, lying.holders, strict=True):
            for place in lying.order[start:stop]:
                if chains[place][-1] in holders:
                    extended[place].append(label)
        return [tuple(chain) for chain in extended]

    def positions(
        self, values: Sequence[Label], chains: Sequence[Chain], released: Sequence[Label]
    ) -> RangePositions | None:
        """The same as places on a line; None where a range is right for values of different boundaries.

        Values of one boundary stand together, so that a range is a stretch of the values that it is right for.
        """
        lying = self._lying(values, chains, released)
        capped: dict[Label, list[int]] = {}
        for place, value in enumerate(lying.order):
            capped.setdefault(chains[value][-1], []).append(place)
        begins = {cap: place * len(values) for place, cap in enumerate(capped)}
        at = np.full(len(values), -1, dtype=np.int64)
        low, high = np.ones(len(released), dtype=np.int64), np.zeros(len(released), dtype=np.int64)
        for cap, places in capped.items():
            at[[lying.order[place] for place in places]] = begins[cap] + np.array(places)
        for label, ((start, stop), holders) in enumerate(zip(lying.stretches, lying.holders, strict=True)):
            inside = [
                cap
                for cap in holders
                if cap in capped and bisect_left(capped[cap], start) < bisect_left(capped[cap], stop)
            ]
            if len(inside) > 1:
                return None
            if inside:
                low[label], high[label] = begins[inside[0]] + start, begins[inside[0]] + stop - 1
        return RangePositions(at, low, high).narrowed()

    def _lying(self, values: Sequence[Label], chains: Sequence[Chain], released: Sequence[Label]) -> _Lying:
        numbers = [number_in(value or "") if chain else None for value, chain in zip(values, chains, strict=True)]
        ordered = sorted((number, place) for place, number in enumerate(numbers) if number is not None)
        line = [number for number, _ in ordered]
        ranges = [self.range_of(label) for label in released]
        lows = {found.texts[0]: found.low for found in ranges if found is not None}
        highs = {found.texts[1]: found.high for found in ranges if found is not None}
        first = {text: bisect_left(line, number) for text, number in lows.items()}
        last = {text: bisect_right(line, number) for text, number in highs.items()}
        ends = sorted({*lows, *highs})
        longest = max((value for value in values if value is not None), key=len, default=None)  # masks go as far as it
        above = dict(zip(ends, map(set, self.base.chains([*ends, longest])), strict=False))
        stretches, holders = [(0, 0)] * len(ranges), [set[Label]()] * len(ranges)
        for place, found in enumerate(ranges):
            if found is not None:
                stretches[place] = first[found.texts[0]], last[found.texts[1]]
                holders[place] = above[found.texts[0]] & above[found.texts[1]]
        return _Lying([place for _, place in ordered], stretches, holders)


@dataclass(frozen=True)
class _Lying:
    """Numbers among the values in ascending order, and for each released label what it is a range of."""

    order: Sequence[int]  # places of the values
    stretches: Sequence[tuple[int, int]]
    """First and one past the last of them in the range; nothing where the label is none."""
    holders: Sequence[Collection[Label]]  # the labels of the hierarchy that hold both ends
