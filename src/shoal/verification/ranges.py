"""Ranges of numbers ``L<=M``, which the range method puts beside the labels of a hierarchy.

A range stands for every number from L to M, both in it, and never for a missing value. It is in no chain, since its
ends come from the data; but it lies under those labels that hold both its ends, and a value may be released as it
when the value's boundary is one of these.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from shoal.policy import Policy
from shoal.verification.intervals import IntervalLabels, decimal_text, number_in
from shoal.verification.labels import Chain, Labels, ListedLabels, labels_of
from shoal.verification.text import Label

_SIGN = "<="


def quasi_labels(policy: Policy) -> dict[str, Labels]:
    """The labels of each quasi-identifier, with ranges where the policy asks for them."""
    ranges = policy.algorithm.ranges if policy.algorithm.name == "range" else ()
    labels = {name: labels_of(policy, name) for name in policy.names("quasi")}
    return {name: RangeLabels(kind) if name in ranges else kind for name, kind in labels.items()}


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
        low, high = (number_in(text) for text in texts)
        if low is None or high is None or low >= high:
            return None
        values = all(self.base.knows(text) and self.base.level(text, texts) == 0 for text in texts)
        return Range(texts, low, high) if values else None

    def _listed(self, label: str) -> bool:
        return isinstance(self.base, ListedLabels) and self.base.knows(label)

    def level(self, label: Label, released: Sequence[Label]) -> int:
        """For a range the lowest level at which both ends have one label."""
        found = self.range_of(label)
        if found is None:
            return self.base.level(label, [other for other in released if self.range_of(other) is None])
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
        numbers = [None if value is None else number_in(value) for value in values]
        order = sorted((number, place) for place, number in enumerate(numbers) if number is not None and chains[place])
        sorted_numbers = [number for number, _ in order]
        ranges: Mapping[Label, Range | None] = {label: self.range_of(label) for label in released}
        ends = sorted({text for found in ranges.values() if found is not None for text in found.texts})
        above = dict(zip(ends, map(set, self.base.chains([*values, *ends])[len(values) :]), strict=True))
        extended = [list(chain) for chain in chains]
        for label, found in ranges.items():
            if found is None:
                continue
            common = above[found.texts[0]] & above[found.texts[1]]
            start, stop = bisect_left(sorted_numbers, found.low), bisect_right(sorted_numbers, found.high)
            for _, place in order[start:stop]:
                if chains[place][-1] in common:
                    extended[place].append(label)
        return [tuple(chain) for chain in extended]


def all_labels(
    kind: Labels, values: Sequence[Label], chains: Sequence[Chain], released: Sequence[Label]
) -> list[Chain]:
    """The labels that each value may be released as: its chain, and where there are ranges those that it lies in."""
    return kind.with_ranges(values, chains, released) if isinstance(kind, RangeLabels) else list(chains)
