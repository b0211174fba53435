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
from shoal.verification.labels import Labels, missing_chain

End = Fraction | float  # A number, or an infinity
Interval = tuple[End, End]
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\s*", re.ASCII)
_END = re.compile(r"-?inf|-?[\d.]+", re.ASCII)


@dataclass(frozen=True)
class IntervalLabels(Labels):
    """Intervals of fixed widths from an origin, or between cut points, clipped to the bounds; then ``*``."""

    widths: tuple[Fraction, ...]
    cuts: tuple[tuple[End, ...], ...]
    origin: Fraction
    bounds: tuple[Fraction, Fraction] | None

    @staticmethod
    def read(declared: Mapping[str, Any]) -> IntervalLabels:
        """The declaration in exact numbers: 0.1 is one tenth."""
        bounds = None if declared["bounds"] is None else (exact(declared["bounds"][0]), exact(declared["bounds"][1]))
        cuts = tuple(tuple(cut if math.isinf(cut) else exact(cut) for cut in level) for level in declared["cuts"])
        return IntervalLabels(tuple(map(exact, declared["widths"])), cuts, exact(declared["origin"]), bounds)

    @staticmethod
    def of_bins(bins: float | list[float]) -> IntervalLabels:
        """Bins of sensitive numbers: of one width from 0, or between points and beyond the outer ones."""
        if not isinstance(bins, list):
            return IntervalLabels((exact(bins),), (), Fraction(0), None)
        return IntervalLabels((), ((-math.inf, *map(exact, bins), math.inf),), Fraction(0), None)

    def bin_of(self, value: Label) -> Label:
        """The bin of a number, None for the missing value; anything else as it is."""
        chain = () if value is None else self._chain(number_in(value))
        return chain[1] if chain else value

    def is_bin(self, label: str) -> bool:
        """Whether a text is one of the bins, written as they are: the bin of a number in it."""
        inside = [end for end in ends_in(label) if isinstance(end, Fraction)]
        low = inside[0] - 1 if inside and label.startswith("(") else inside[0] if inside else Fraction(0)
        return label == self._chain(low)[1]

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """The number as canonical text, its interval at each level, the root."""
        missing = missing_chain(1 + len(self.widths or self.cuts))
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

    def stands_at(self, label: str, released: Sequence[Label]) -> int | None:  # noqa: ARG002 - see Labels
        """By one number under the label: its lower end, or one below the upper end where there is no lower."""
        if label == ROOT:
            return 1 + len(self.widths or self.cuts)
        if (number := number_in(label)) is not None:
            return 0 if decimal_text(number) == label and self._intervals(number) is not None else None
        end = next((end for end in ends_in(label) if isinstance(end, Fraction)), Fraction(0))
        chain = self._chain(end - 1 if label.startswith("(") else end)
        return chain.index(label) if label in chain else None

    def examples(self, label: str, boundary: Collection[Label]) -> list[Chain]:
        """Numbers at the ends of the label and of the boundaries in it, between them and beyond them."""
        ends = ends_in(label) or (-math.inf, math.inf)
        return [self._chain(point) for point in self.points(min(ends), max(ends), boundary)]

    def points(self, low: End, high: End, boundary: Collection[Label]) -> list[Fraction]:
        """Numbers around and in a stretch: one of each part of it that no boundary, bound or outermost cut divides."""
        ends = {low, high, *(self.bounds or ()), *(end for level in self.cuts for end in (level[0], level[-1]))}
        ends |= {end for label in boundary if label is not None for end in ends_in(label)}
        inside = sorted(end for end in ends if isinstance(end, Fraction) and low <= end <= high) or [Fraction(0)]
        between = [(one + other) / 2 for one, other in pairwise(inside)]
        return [inside[0] - 1, *inside, *between, inside[-1] + 1]


def ends_in(label: str) -> list[End]:
    """The numbers that stand in a label."""
    found = (float(text) if text.endswith("inf") else number_in(text) for text in _END.findall(label))
    return [end for end in found if end is not None]


def lower_end(label: str) -> End:
    """Where an interval begins; infinity for what is none, which comes last."""
    return next(iter(ends_in(label)), math.inf)


def exact(number: float) -> Fraction:
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
