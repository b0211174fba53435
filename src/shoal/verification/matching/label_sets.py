"""Which released labels of a column the original values lie under, ready to be asked for many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, Mask

Shares = NDArray[np.float64]

_MOST_SLOTS = 32  # more labels than a hierarchy has levels; larger sets, as of ranges, are searched


def spread(starts: Codes, counts: Codes) -> tuple[Codes, Codes]:
    """The numbers of several ranges one after the other, and which range each is of."""
    again = np.repeat(np.arange(len(counts)), counts)
    return again, np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(len(again))


@dataclass(frozen=True, eq=False)
class RangePositions:
    """The positions of original values on a line, and of both ends of the released labels that are ranges."""

    at: Codes  # position of each value; -1 for one that lies in no range
    low: Codes
    high: Codes  # ends of each label; one that is no range, or holds nothing, ends before it begins

    def over(self, positions: Codes) -> Codes:
        """How many of some positions each label holds."""
        positions = np.sort(positions)
        inside = np.searchsorted(positions, self.high, side="right") - np.searchsorted(positions, self.low)
        return np.where(self.low <= self.high, inside, 0)

    @cached_property
    def pairs(self) -> int:
        """How many pairs of a value and a range that it lies in there are."""
        return int(self.over(self.at).sum())

    def narrowed(self) -> RangePositions:
        """The same on a line without the positions at which no range begins or has ended."""
        ranges = self.low <= self.high
        steps = np.unique(np.concatenate([self.low[ranges], self.high[ranges] + 1]))
        at = np.where(self.at >= 0, np.searchsorted(steps, self.at, side="right"), -1)
        low = np.where(ranges, np.searchsorted(steps, self.low, side="right"), 1)
        high = np.where(ranges, np.searchsorted(steps, self.high, side="right"), 0)
        return RangePositions(at.astype(np.int64), low.astype(np.int64), high.astype(np.int64))

    @property
    def _widths(self) -> Codes:
        """The class of width of each label: 1 for one position, 2 for up to two, 3 for up to four; 0 for no range."""
        width = np.maximum(self.high - self.low + 1, 0)
        return np.where(width > 0, np.ceil(np.log2(np.maximum(width, 1))).astype(np.int64) + 1, 0)

    def order(self) -> Codes:
        """The labels in the order that `classes` needs: first what is no range, then by width and position."""
        return np.lexsort((self.low, self._widths))

    @cached_property
    def classes(self) -> tuple[tuple[int, int, int], ...]:
        """For each class of width its first label, one past its last, and the most positions a range of it has."""
        widths = self._widths
        assert not np.any(np.diff(widths) < 0), "ranges must be sorted by class of width"
        starts = np.flatnonzero(np.diff(widths, prepend=-1)).tolist()
        ends = [*starts[1:], len(widths)]
        kinds = widths[starts].tolist()
        return tuple((start, end, 1 << kind - 1) for start, end, kind in zip(starts, ends, kinds, strict=True) if kind)


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Sets of released labels: the set of an original value is what the value lies under."""

    sizes: Codes
    starts: Codes
    labels: Codes  # the sets, one after the other, each in ascending order
    owner: Codes  # the set that each of these labels is in
    n_labels: int
    slots: tuple[Codes, Codes, int] | None
    """For each label its slot, no two of one set having the same; for each set and slot the label, -1 for none; how
    many slots there are. None where they would be too many."""
    spans: RangePositions | None = None  # a set also has the ranges over its position on a line

    @staticmethod
    def of(sets: Sequence[tuple[int, ...]], n_labels: int, spans: RangePositions | None = None) -> LabelSets:
        """Index sets of labels, each in ascending order; with ranges, the labels are in the order of `spans`."""
        sizes = np.array([len(labels) for labels in sets], dtype=np.int64)
        labels = np.array([label for each in sets for label in each], dtype=np.int64)
        owner = np.repeat(np.arange(len(sets)), sizes)
        slots = _slots(labels, owner, len(sets), n_labels)
        return LabelSets(sizes, np.cumsum(sizes) - sizes, labels, owner, n_labels, slots, spans)

    @staticmethod
    def same(n: int) -> LabelSets:
        """A column where each value lies under itself alone."""
        each = np.arange(n)
        return LabelSets(np.ones_like(each), each, each, each, n, (np.zeros_like(each), each, 1))

    @cached_property
    def usual_size(self) -> int:
        """About how many labels a set has, and how many classes of ranges are looked through for them."""
        ranges, classes = (0, 0) if self.spans is None else (self.spans.pairs, len(self.spans.classes))
        return -(-(len(self.labels) + ranges) // max(len(self.sizes), 1)) + classes

    @cached_property
    def _keys(self) -> Codes:
        return self.owner * self.n_labels + self.labels

    def has(self, sets: Codes, labels: Codes) -> Mask:
        """Whether each set has the label beside it."""
        if self.slots is not None:
            slot, held, n_slots = self.slots
            found, wanted = held[sets * n_slots + slot[labels]], labels
        else:
            wanted = sets * self.n_labels + labels
            found = self._keys[np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)]
        fits: Mask = found == wanted
        if self.spans is not None:
            at = self.spans.at[sets]
            fits |= (self.spans.low[labels] <= at) & (at <= self.spans.high[labels])
        return fits

    def among(self, sets: Codes, nodes: Codes, keys: Codes) -> tuple[Codes, Codes]:
        """The labels of sets that are found among sorted keys ``node x labels + label``, each set beside its node.

        Gives which of the sets each label found is of, and its index among the keys. Ranges are looked for class by
        class, among those that begin near enough before the position of the set.
        """
        again, indices = spread(self.starts[sets], self.sizes[sets])
        wanted = nodes[again] * self.n_labels + self.labels[indices]
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        fits = keys[found] == wanted
        parts = [(again[fits], found[fits])]
        if self.spans is not None:
            at, low = self.spans.at[sets], self.spans.low
            for start, end, width in self.spans.classes:
                first = start + np.searchsorted(low[start:end], at - width + 1)
                last = start + np.searchsorted(low[start:end], at, side="right")
                begin = np.searchsorted(keys, nodes * self.n_labels + first)
                again, found = spread(begin, np.searchsorted(keys, nodes * self.n_labels + last) - begin)
                reaches = self.spans.high[keys[found] % self.n_labels] >= at[again]
                parts.append((again[reaches], found[reaches]))
        return np.concatenate([again for again, _ in parts]), np.concatenate([found for _, found in parts])

    def shares(self, sets: Codes, labels: Codes) -> tuple[Shares, Shares]:
        """For each label the share of the sets that have it, and for each set the share of the labels that it has."""
        often = np.bincount(sets, minlength=len(self.sizes))[self.owner]
        of_label = np.bincount(self.labels, weights=often, minlength=self.n_labels)
        share = np.bincount(labels, minlength=self.n_labels) / max(len(labels), 1)
        of_set = np.bincount(self.owner, weights=share[self.labels], minlength=len(self.sizes)).astype(np.float64)
        if self.spans is not None:
            at, low, high = self.spans.at, self.spans.low, self.spans.high
            of_label += self.spans.over(at[sets])
            steps, ranges = np.zeros(int(max(at.max(initial=0), high.max(initial=0))) + 2), low <= high
            np.add.at(steps, low[ranges], share[ranges])
            np.subtract.at(steps, high[ranges] + 1, share[ranges])
            of_set += np.where(at >= 0, np.cumsum(steps)[at], 0.0)
        return of_label / max(len(sets), 1), of_set


def _slots(labels: Codes, owner: Codes, n_sets: int, n_labels: int) -> tuple[Codes, Codes, int] | None:
    """Rank labels by frequency; each takes a slot after all before it in its sets, which in a tree is its depth."""
    ranked = labels[np.lexsort((labels, -np.bincount(labels, minlength=n_labels)[labels], owner))]
    together = owner[1:] == owner[:-1]
    before, after = ranked[:-1][together], ranked[1:][together]
    slot, settled = np.zeros(n_labels, dtype=np.int64), False
    while not settled:
        last = slot.copy()
        np.maximum.at(slot, after, last[before] + 1)
        settled = np.array_equal(slot, last)
        if slot.max(initial=0) >= _MOST_SLOTS:
            return None
    n_slots = int(slot.max(initial=0)) + 1
    held = np.full(n_sets * n_slots, -1, dtype=np.int64)
    held[owner * n_slots + slot[labels]] = labels
    return slot, held, n_slots
