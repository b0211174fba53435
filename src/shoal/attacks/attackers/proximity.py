"""Proximity: a class whose numbers lie close together reveals the number of everybody in it, nearly.

J. Li, Y. Tao, X. Xiao, "Preservation of proximity privacy in publishing numerical sensitive data", 2008, section 1:
salaries of 3000, 3010 and 3020 are three values and one secret. The interval from the smallest to the largest number of
a class holds the number of each person in it. It is narrow if it is at most 5 % as wide as the usual range of the
release, which goes from the number that 5 % of the records lie below to the one that 5 % lie above: one very large
number must not make all others look alike. Bins count from their lower to their upper end; one without an end is never
narrow.

A missing or unknown value is no number and widens no interval: records without a number are not attacked, and hide
nobody. The baseline is the same attacker with the release as one class: where its numbers are all the same, classes
reveal nothing.

In small classes numbers lie close together by chance, too. So it is a leak only where more records lie in narrow
classes than when the same numbers are dealt over the classes at random, with a chance of at most 5% (a permutation
test). How many do so on average is exact: of n records the first, in order, is i and all others lie within the width w
above it with the chance (C(a_i, n) - C(b_i, n)) / C(N, n), a_i records being those from i to i + w and b_i those of
them above i. A class with one number only reveals it for certain, however it came about: that is homogeneity, which
reports it; here such records are counted as certain.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, tried
from shoal.attacks.chance.permutation_tests import exposed_p_values
from shoal.attacks.chance.random_dealings import Hands
from shoal.attacks.chance.statistics import CHANCE, log_choose
from shoal.attacks.released_classes import Ints
from shoal.hierarchies.numbers_as_text import NumberSpan, read_number_or_interval
from shoal.table.classes import ClassView, Counts, Floats

NARROW = Fraction(1, 20)
"""An interval is narrow if it is at most this share as wide as the usual range."""
_TAIL = Fraction(1, 20)  # records below the usual range, and as many above


class Proximity(Attack):
    """Looks for classes whose numbers lie close together."""

    name = "proximity"
    title = "A class nearly reveals a number"
    attacker = "A neighbour who knows a person's quasi-identifiers and that the person is in the release."
    attempt = (
        "Takes the interval from the smallest to the largest sensitive number of the person's class. A success is a "
        "record in a class with an interval of at most 5% of the usual range of the release."
    )
    baseline = "records whose number the release as a whole narrows down as much"
    position = 120
    exposed_by_chance = True
    on_sensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Records in classes with a narrow interval of the column's numbers."""
        view = scene.released.stats.view(column)
        numbers = _Line.of(view)
        if numbers is None:
            return not_applicable("not-numbers")
        usual, of = numbers.usual_range(), int(numbers.known.sum())
        widths, limit = numbers.widths, usual * NARROW
        narrow = np.array([width is not None and width <= limit for width in widths], dtype=np.bool_)
        shares = [math.inf if width is None or not usual else float(width / usual) for width in widths]
        attacked = np.repeat(shares, numbers.known)
        middle = float(np.median(attacked)) if usual and of else 0.0
        records, reach = int(numbers.known[narrow].sum()), numbers.reach(limit)
        chances = numbers.chances(reach)
        p_value = numbers.p_value(records, reach, chances, scene.seed) if usual else 1.0
        single = np.array([width == 0 for width in widths], dtype=np.bool_)
        return tried(
            records=records,
            of=of,
            classes=int(np.count_nonzero(narrow & (numbers.known > 0))),
            baseline=0.0 if usual else 1.0,
            leak=bool(records) and p_value <= CHANCE,
            certain=int(numbers.known[single].sum()) if usual else 0,
            p_value=p_value,
            narrow_share=float(NARROW),
            usual_range=float(usual),
            median_share=middle if math.isfinite(middle) else None,
            narrowest=_narrowest(scene, view, numbers, shares, narrow),
            expected_by_chance=float((numbers.known * chances).sum()),
        )

    @staticmethod
    def needed(result: AttackResult) -> Mapping[str, float]:
        """Bins that are wider than what counts as narrow, also where they widen the usual range."""
        usual = result.details.get("usual_range")
        return {"width": 2 * float(NARROW) * usual} if usual else {}


@dataclass(frozen=True, eq=False)
class _Line:
    """The numbers of a column in order, and those of each class."""

    spans: Sequence[NumberSpan]  # ascending; bins do not overlap
    codes: Sequence[int]  # the value that each is
    totals: Counts  # records of each
    known: Counts  # records of each class with a number
    first: Counts  # the index of the smallest number of each class; meaningless where it has none
    last: Counts

    @staticmethod
    def of(view: ClassView) -> "_Line | None":
        """None where a released value is neither a number nor a bin nor unknown."""
        values = [None if value in view.domain.unknown else value for value in view.domain.values]
        read = [None if value is None else read_number_or_interval(value) for value in values]
        spans = {code: span for code, span in enumerate(read) if span is not None}
        if not spans or any(span is None and values[code] is not None for code, span in enumerate(read)):
            return None
        order = sorted(spans, key=lambda code: spans[code][:2])
        rank = np.full(len(read), -1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        histogram, classes = view.histogram, len(view.sizes)
        there = rank[histogram.values] >= 0
        owner, index, counts = histogram.class_of[there], rank[histogram.values][there], histogram.counts[there]
        first, last = np.full(classes, len(order) - 1), np.zeros(classes, dtype=np.int64)
        np.minimum.at(first, owner, index)
        np.maximum.at(last, owner, index)
        known = np.bincount(owner, weights=counts, minlength=classes).astype(np.int64)
        return _Line([spans[code] for code in order], order, view.totals[order], known, first, last)

    @property
    def widths(self) -> list[Fraction | None]:
        """How wide the interval of each class is; None without a number, or without an end."""
        ends = zip(self.first.tolist(), self.last.tolist(), self.known.tolist(), strict=True)
        return [self._width(first, last) if known else None for first, last, known in ends]

    def _width(self, first: int, last: int) -> Fraction | None:
        low, high = self.spans[first].low, self.spans[last].high
        return high - low if isinstance(low, Fraction) and isinstance(high, Fraction) else None

    def usual_range(self) -> Fraction:
        """How wide the interval is that leaves out 5 % of the records on either side; the whole range where that is
        empty. A bin without an end ends at its other one."""
        running = np.cumsum(self.totals)
        tail = int(running[-1] * _TAIL)
        low, high = np.searchsorted(running, [tail + 1, int(running[-1]) - tail]).tolist()
        return self._finite(low, high) or self._finite(0, len(self.spans) - 1)

    def _finite(self, first: int, last: int) -> Fraction:
        (low, other, _), (inner, high, _) = self.spans[first], self.spans[last]
        start, end = low if isinstance(low, Fraction) else other, high if isinstance(high, Fraction) else inner
        return (
            max(end - start, Fraction(0)) if isinstance(start, Fraction) and isinstance(end, Fraction) else Fraction(0)
        )

    def reach(self, limit: Fraction) -> Ints:
        """For each number the index of the first one that lies too far above it for a narrow interval."""
        reach, last = [], 0
        for first in range(len(self.spans)):
            last = max(last, first)
            while last < len(self.spans) and (width := self._width(first, last)) is not None and width <= limit:
                last += 1
            reach.append(last)
        return np.array(reach, dtype=np.int64)

    def chances(self, reach: Ints) -> Floats:
        """The probability of each class to be narrow if the same numbers were dealt over the classes at random."""
        running, indices = np.concatenate([[0], np.cumsum(self.totals)]), np.arange(len(reach))
        within, above = running[reach] - running[indices], np.maximum(running[reach] - running[indices + 1], 0)
        sizes, of_class = np.unique(self.known, return_inverse=True)
        chances = np.zeros(len(sizes))
        for index in np.flatnonzero((sizes > 0) & (sizes <= within.max())).tolist():
            drawn = np.full(len(within), sizes[index])
            ways = log_choose(running[-1:], drawn[:1])
            chances[index] = (np.exp(log_choose(within, drawn) - ways) - np.exp(log_choose(above, drawn) - ways)).sum()
        return np.asarray(chances[of_class])

    def p_value(self, records: int, reach: Ints, chances: Floats, seed: int) -> float:
        """How probable so many records in narrow classes are if the same numbers are dealt over the classes."""

        def exposed(hands: Hands, starts: Counts) -> Ints:
            first, last = np.minimum.reduceat(hands, starts, axis=1), np.maximum.reduceat(hands, starts, axis=1)
            lengths = np.diff(starts, append=hands.shape[1])
            return np.asarray(((last < reach[first]) * lengths).sum(axis=1)[:, None])

        return exposed_p_values([records], exposed, (self.known, self.totals, chances), seed)[0]


def _narrowest(
    scene: Scene, view: ClassView, numbers: _Line, shares: Sequence[float], narrow: Any
) -> dict[str, Any] | None:
    """The narrow class with the narrowest interval, the largest of several; None where no class is narrow."""
    if not narrow.any():
        return None
    index = min(np.flatnonzero(narrow).tolist(), key=lambda each: (shares[each], -int(numbers.known[each]), each))
    values = view.domain.values
    return {
        "class": scene.released.labels_of(index),
        "records": int(numbers.known[index]),
        "from": values[numbers.codes[numbers.first[index]]],
        "to": values[numbers.codes[numbers.last[index]]],
        "share": shares[index] if math.isfinite(shares[index]) else 0.0,
    }
