"""Numbers as intervals ``[low, high)``: what each label contains, in exact fractions."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from shoal.verification.canonical_text import ROOT, Chain, Label

End = Fraction | float  # A number, or an infinity
Interval = tuple[End, End]
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\s*", re.ASCII)
_INTERVAL = re.compile(r"\[(-?[\d.]+), .*")


@dataclass(frozen=True)
class IntervalLabels:
    """Intervals of fixed widths from an origin, or between cut points, clipped to the bounds; then ``*``."""

    widths: tuple[Fraction, ...]
    cuts: tuple[tuple[End, ...], ...]
    origin: Fraction
    bounds: tuple[Fraction, Fraction] | None

    @staticmethod
    def read(declared: Mapping[str, Any]) -> IntervalLabels:
        """The declaration in exact numbers: 0.1 is one tenth."""
        bounds = None if declared["bounds"] is None else (_exact(declared["bounds"][0]), _exact(declared["bounds"][1]))
        cuts = tuple(tuple(cut if math.isinf(cut) else _exact(cut) for cut in level) for level in declared["cuts"])
        return IntervalLabels(tuple(map(_exact, declared["widths"])), cuts, _exact(declared["origin"]), bounds)

    @property
    def _height(self) -> int:
        return 1 + len(self.widths or self.cuts)

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """The number as canonical text, its interval at each level, the root."""
        missing: Chain = (*(None for _ in range(self._height)), ROOT)
        return [missing if value is None else self._chain(number_in(value)) for value in values]

    def _chain(self, number: Fraction | None) -> Chain:
        intervals = self._intervals(number)
        if number is None or intervals is None:
            return ()
        return (decimal_text(number), *map(self._label, intervals), ROOT)

    def _intervals(self, number: Fraction | None) -> list[Interval] | None:
        """The interval at each level, before clipping; None for what no interval holds."""
        if number is None or (self.bounds is not None and not self.bounds[0] <= number <= self.bounds[1]):
            return None
        found: list[Interval] = []
        for width in self.widths:
            low = self.origin + (number - self.origin) // width * width
            found.append((low, low + width))
        for cuts in self.cuts:
            inside = [(low, high) for low, high in pairwise(cuts) if low <= number < high]
            if not inside:
                return None
            found.append(inside[0])
        return found

    def _label(self, interval: Interval) -> str:
        """Clipped to the bounds: closed above where the upper bound cuts it; an infinite end is open."""
        low, high = interval
        closing = ")"
        if self.bounds is not None:
            closing = "]" if high > self.bounds[1] else ")"
            low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        return f"{'(' if low == -math.inf else '['}{decimal_text(low)}, {decimal_text(high)}{closing}"

    def _levels(self, label: str) -> list[tuple[int, Interval]]:
        """The levels at which the label stands, and the interval before clipping."""
        if self.cuts:
            low, high = self.bounds or (-math.inf, math.inf)
            pairs = [(level, pair) for level, cuts in enumerate(self.cuts, start=1) for pair in pairwise(cuts)]
            inside = [(level, pair) for level, pair in pairs if pair[0] <= high and low < pair[1]]
            return [(level, pair) for level, pair in inside if self._label(pair) == label]
        match = _INTERVAL.fullmatch(label)
        intervals = self._intervals(number_in(match[1])) if match else None
        return [(level, pair) for level, pair in enumerate(intervals or [], start=1) if self._label(pair) == label]

    def knows(self, label: str) -> bool:
        """A number as canonical text, an interval of the declaration, or the root."""
        if label == ROOT or self._levels(label):
            return True
        number = number_in(label)
        return number is not None and decimal_text(number) == label and self._intervals(number) is not None

    def level(self, label: Label, released: Sequence[Label]) -> int:  # noqa: ARG002 - the form tells it
        """By the width or the cut points."""
        if label == ROOT:
            return self._height
        return min((level for level, _ in self._levels(label or "")), default=0)

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:
        """Whether the intervals of the boundary below the label leave no gap in it."""
        target, level = self._target(label)
        if target is None:
            return False
        pieces = []
        for other in boundary:
            for lower, pair in self._levels(other or ""):
                if lower < level and other != label:
                    pieces.append(pair)
        reached, end = target
        for low, high in sorted(pieces):
            if low <= reached:
                reached = max(reached, high)
        return reached > end if self.bounds is not None and end == self.bounds[1] else reached >= end

    def breaks(self, labels: Collection[Label]) -> set[Fraction]:
        """The finite numbers at which what some labels hold begins or ends; a label that is a number is one itself."""
        found: set[Fraction] = set()
        for label in labels:
            ends = [end for _, pair in self._levels(label or "") for end in pair]
            found |= {end for end in (*ends, number_in(label or "")) if isinstance(end, Fraction)}
        return found

    def _target(self, label: Label) -> tuple[Interval | None, int]:
        """The part of the domain that a label covers, and its level; a domain without ends is never covered."""
        if label == ROOT:
            outer: Interval = (self.cuts[0][0], self.cuts[0][-1]) if self.cuts else (-math.inf, math.inf)
            level = self._height
        else:
            found = self._levels(label or "")
            if not found:
                return None, 0
            level, outer = found[0]
        if self.bounds is not None:
            outer = (max(outer[0], self.bounds[0]), min(outer[1], self.bounds[1]))
        return outer, level


def _exact(number: float) -> Fraction:
    """The number as it is written."""
    return Fraction(repr(number))


def number_in(text: str) -> Fraction | None:
    """The number that a text is, exactly; None for what is none."""
    return Fraction(text.strip()) if _NUMBER.fullmatch(text) else None


def decimal_text(number: End) -> str:
    """Plain decimal digits without needless zeros."""
    if isinstance(number, float):
        return str(number)
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    sign, whole = "-" if number < 0 else "", str(abs(int(number * 10**digits))).zfill(digits + 1)
    return f"{sign}{whole[:-digits]}.{whole[-digits:]}" if digits else sign + whole
