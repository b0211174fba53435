"""Which released labels of a column the original values lie under, ready to be asked for many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, Mask

Shares = NDArray[np.float64]

_MOST_SLOTS = 32
"""More labels than a hierarchy has levels: where sets need more places, as sets of ranges may, pairs are searched."""


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Sets of released labels: the set of an original value is what the value lies under."""

    sizes: Codes
    starts: Codes
    labels: Codes  # the sets, one after the other, each in ascending order
    owner: Codes  # the set that each of these labels is in
    n_labels: int
    slots: tuple[Codes, Codes, int] | None
    """For each label its place, no two of one set having the same; for each set and place the label, -1 for none; how
    many places there are. None where they would be too many."""

    @staticmethod
    def of(sets: Sequence[tuple[int, ...]], n_labels: int) -> LabelSets:
        """Index sets of labels, each in ascending order."""
        sizes = np.array([len(labels) for labels in sets], dtype=np.int64)
        labels = np.array([label for each in sets for label in each], dtype=np.int64)
        owner = np.repeat(np.arange(len(sets)), sizes)
        return LabelSets(
            sizes, np.cumsum(sizes) - sizes, labels, owner, n_labels, _slots(labels, owner, len(sets), n_labels)
        )

    @staticmethod
    def same(n: int) -> LabelSets:
        """A column where each value lies under itself alone."""
        each = np.arange(n)
        return LabelSets(np.ones_like(each), each, each, each, n, (np.zeros_like(each), each, 1))

    @property
    def usual_size(self) -> int:
        """About how many labels a set has."""
        return -(-len(self.labels) // max(len(self.sizes), 1))

    def has(self, sets: Codes, labels: Codes) -> Mask:
        """Whether each set has the label beside it."""
        if self.slots is not None:
            place, held, n_slots = self.slots
            found, wanted = held[sets * n_slots + place[labels]], labels
        else:
            wanted = sets * self.n_labels + labels
            found = self._keys[np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)]
        fits: Mask = found == wanted
        return fits

    def ranges(self, sets: Codes, nodes: Codes, keys: Codes) -> tuple[Codes, Codes]:  # noqa: ARG002 - see below
        """Labels of sets that are not listed, looked up among sorted keys ``node x labels + label``: none here.

        Each set stands beside a node; gives which of the sets each label found is of, and its place among the keys.
        """
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    @cached_property
    def _keys(self) -> Codes:
        return self.owner * self.n_labels + self.labels

    def shares(self, sets: Codes, labels: Codes) -> tuple[Shares, Shares]:
        """For each label the share of the sets that have it, and for each set the share of the labels that it has."""
        often = np.bincount(sets, minlength=len(self.sizes))[self.owner]
        of_label = np.bincount(self.labels, weights=often, minlength=self.n_labels) / max(len(sets), 1)
        share = np.bincount(labels, minlength=self.n_labels) / max(len(labels), 1)
        of_set = np.bincount(self.owner, weights=share[self.labels], minlength=len(self.sizes))
        return of_label, of_set.astype(np.float64)


def _slots(labels: Codes, owner: Codes, n_sets: int, n_labels: int) -> tuple[Codes, Codes, int] | None:
    """Rank the labels, the most frequent first; each takes a place after all before it in any of its sets.

    In a tree that is the depth of the label.
    """
    ranked = labels[np.lexsort((labels, -np.bincount(labels, minlength=n_labels)[labels], owner))]
    together = owner[1:] == owner[:-1]
    before, after = ranked[:-1][together], ranked[1:][together]
    place, settled = np.zeros(n_labels, dtype=np.int64), False
    while not settled:
        last = place.copy()
        np.maximum.at(place, after, last[before] + 1)
        settled = np.array_equal(place, last)
        if place.max(initial=0) >= _MOST_SLOTS:
            return None
    n_slots = int(place.max(initial=0)) + 1
    held = np.full(n_sets * n_slots, -1, dtype=np.int64)
    held[owner * n_slots + place[labels]] = labels
    return place, held, n_slots


def spread(starts: Codes, counts: Codes) -> tuple[Codes, Codes]:
    """The numbers of several ranges one after the other, and which range each is of."""
    again = np.repeat(np.arange(len(counts)), counts)
    return again, np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(len(again))


@dataclass(frozen=True, eq=False)
class RangePositions:
    """The places of original values on a line, and the ends of the released labels that are ranges, both in them."""

    at: Codes  # place of each value; -1 for one that lies in no range
    low: Codes
    high: Codes  # ends of each label; one that is no range, or holds nothing, ends before it begins

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

    at: Codes  # place of each set; -1 for one that lies in no range
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
        return RangeLabelSets(**vars(base), **vars(spans), classes=classes)

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
