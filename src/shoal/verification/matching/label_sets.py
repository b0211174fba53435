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
    labels: Codes
    """The sets, one after the other, each in ascending order."""
    owner: Codes
    """The set that each of these labels is in."""
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
