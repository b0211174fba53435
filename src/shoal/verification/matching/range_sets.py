"""Which values lie in which released ranges, as places on a line: for ranges that are too many to list value by value.

Ten thousand ranges over ten thousand values overlap in millions of pairs. On a line a value is a place and a range two
ends, and whether the one lies in the other is two comparisons. To find the ranges over a place without trying them all,
they are sorted by how wide they are - in classes, each twice as wide as the one before - and then by where they begin:
in a class of ranges up to w places wide, those over a place begin at most w - 1 places before it, and of those that do,
the nearer half surely reaches it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.verification.canonical_text import Codes, Mask
from shoal.verification.matching.candidates import spread
from shoal.verification.matching.label_sets import LabelSets, Shares


@dataclass(frozen=True, eq=False)
class RangePositions:
    """The places of original values on a line, and the ends of the released labels that are ranges, both in them."""

    at: Codes
    """Place of each value; -1 for one that lies in no range."""
    low: Codes
    high: Codes
    """Ends of each label; one that is no range, or holds nothing, ends before it begins."""

    @property
    def pairs(self) -> int:
        """How many pairs of a value and a range that it lies in there are."""
        places = np.sort(self.at)
        inside = np.searchsorted(places, self.high, side="right") - np.searchsorted(places, self.low)
        return int(inside[self.low <= self.high].sum())

    def narrowed(self) -> RangePositions:
        """The same on a line without the places at which no range begins or has ended."""
        ranges = self.low <= self.high
        steps = np.unique(np.concatenate([self.low[ranges], self.high[ranges] + 1]))
        at = np.where(self.at >= 0, np.searchsorted(steps, self.at, side="right"), -1)
        low = np.where(ranges, np.searchsorted(steps, self.low, side="right"), 1)
        high = np.where(ranges, np.searchsorted(steps, self.high, side="right"), 0)
        return RangePositions(at.astype(np.int64), low.astype(np.int64), high.astype(np.int64))

    def order(self) -> Codes:
        """The labels in the order that `RangeLabelSets` needs: first what is no range, then by width and place."""
        return np.lexsort((self.low, _classes(self.low, self.high)))


def _classes(low: Codes, high: Codes) -> Codes:
    """The class of width of each range: 1 for one place, 2 for up to two, 3 for up to four; 0 for what is no range."""
    width = np.maximum(high - low + 1, 0)
    return np.where(width > 0, np.ceil(np.log2(np.maximum(width, 1))).astype(np.int64) + 1, 0)


@dataclass(frozen=True, eq=False)
class RangeLabelSets(LabelSets):
    """Sets of released labels of which some are ranges: those are not listed but told by the place of the set."""

    at: Codes
    """Place of each set; -1 for one that lies in no range."""
    low: Codes
    high: Codes
    classes: tuple[tuple[int, int, int], ...]
    """For each class of width its first label, one past its last, and the most places a range of it has."""

    @staticmethod
    def within(sets: Sequence[tuple[int, ...]], spans: RangePositions) -> RangeLabelSets:
        """Sets of labels that are no ranges, each with a place; the labels are in the order that `order` gives."""
        base = LabelSets.of(sets, len(spans.low))
        of_label = _classes(spans.low, spans.high)
        assert not np.any(np.diff(of_label) < 0), "ranges must be sorted by class of width"
        starts = np.flatnonzero(np.diff(of_label, prepend=-1))
        ends = np.append(starts[1:], len(of_label))
        classes = tuple(
            (int(start), int(end), 1 << int(of_label[start] - 1))
            for start, end in zip(starts, ends, strict=True)
            if of_label[start]
        )
        return RangeLabelSets(
            base.sizes, base.starts, base.labels, base.owner, base.n_labels, base.slots,
            spans.at, spans.low, spans.high, classes,
        )  # fmt: skip

    @cached_property
    def usual_size(self) -> int:
        """About how many labels a set has, and how many classes are looked through for them."""
        listed = len(self.labels) + RangePositions(self.at, self.low, self.high).pairs
        return -(-listed // max(len(self.sizes), 1)) + len(self.classes)

    def has(self, sets: Codes, labels: Codes) -> Mask:
        """Whether each set has the label beside it."""
        at = self.at[sets]
        inside: Mask = (self.low[labels] <= at) & (at <= self.high[labels])
        return super().has(sets, labels) | inside

    def ranges(self, sets: Codes, nodes: Codes, keys: Codes) -> tuple[Codes, Codes]:
        """See `LabelSets.ranges`: class by class, those that begin near enough before the place of the set."""
        at = self.at[sets]
        parts = [super().ranges(sets, nodes, keys)]
        for start, end, width in self.classes:
            first = start + np.searchsorted(self.low[start:end], at - width + 1)
            last = start + np.searchsorted(self.low[start:end], at, side="right")
            begin = np.searchsorted(keys, nodes * self.n_labels + first)
            again, found = spread(begin, np.searchsorted(keys, nodes * self.n_labels + last) - begin)
            reaches = self.high[keys[found] % self.n_labels] >= at[again]
            parts.append((again[reaches], found[reaches]))
        return np.concatenate([again for again, _ in parts]), np.concatenate([found for _, found in parts])

    def shares(self, sets: Codes, labels: Codes) -> tuple[Shares, Shares]:
        """See `LabelSets.shares`."""
        of_label, of_set = super().shares(sets, labels)
        places = np.sort(self.at[sets])
        inside = np.searchsorted(places, self.high, side="right") - np.searchsorted(places, self.low)
        of_label += np.where(self.low <= self.high, inside, 0) / max(len(sets), 1)
        share = np.bincount(labels, minlength=self.n_labels) / max(len(labels), 1)
        steps = np.zeros(int(max(self.at.max(initial=0), self.high.max(initial=0))) + 2)
        ranges = self.low <= self.high
        np.add.at(steps, self.low[ranges], share[ranges])
        np.subtract.at(steps, self.high[ranges] + 1, share[ranges])
        over = np.cumsum(steps)
        return of_label, of_set + np.where(self.at >= 0, over[self.at], 0.0)
