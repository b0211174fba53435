"""Published classes and new records that may join them, from two perspectives.

*Together*: the classes with the records published before and the new ones, which is what a reader of everything has.
*Alone*: the new records by themselves, which is what a reader gets who subtracts the earlier release from the later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.models.base import Model
from shoal.table.classes import ClassStats, Counts, Histogram, SensitiveDomain
from shoal.table.encoded import combine_codes, spans

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PublishedClasses:
    """The classes as published: how many records, and how often each sensitive value occurs (sparse)."""

    sizes: Counts
    """Records of each class; 0 for a class that is not published yet."""
    entries: Mapping[str, tuple[Ints, Codes, Counts]]
    """For each sensitive column class, value and count, ascending by class."""


@dataclass(frozen=True, eq=False)
class Groups:
    """New records that no model tells apart: of one class, with the same sensitive values. Ascending by class."""

    owner: Ints
    """Class of each group."""
    values: Mapping[str, Codes]
    """Value of each group in each sensitive column that a model reads."""
    counts: Counts
    of_row: Ints
    """Group of each row; -1 for a row that is in no class."""

    @staticmethod
    def of(row_class: Codes, secrets: Mapping[str, Codes], domains: Mapping[str, SensitiveDomain]) -> Groups:
        """The groups of rows that were given a class each, or -1."""
        rows = np.flatnonzero(row_class >= 0)
        columns = [row_class[rows], *(codes[rows] for codes in secrets.values())]
        widths = [int(row_class.max(initial=0)) + 1, *(len(domains[name].values) for name in secrets)]
        keys, _ = combine_codes(columns, widths)
        _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        of_row = np.full(len(row_class), -1, dtype=np.int64)
        of_row[rows] = inverse
        chosen = rows[first]
        return Groups(
            owner=row_class[chosen].astype(np.int64),
            values={name: codes[chosen] for name, codes in secrets.items()},
            counts=counts.astype(np.int64),
            of_row=of_row,
        )


@dataclass(frozen=True, eq=False)
class Perspective:
    """One way of seeing the classes: with what was published before, or without."""

    groups: Groups
    before: PublishedClasses
    domains: Mapping[str, SensitiveDomain]
    together: bool

    @cached_property
    def _starts(self) -> Ints:
        return np.searchsorted(self.groups.owner, np.arange(len(self.before.sizes) + 1))

    @cached_property
    def _entry_starts(self) -> dict[str, Ints]:
        classes = np.arange(len(self.before.sizes) + 1)
        return {name: np.searchsorted(owner, classes) for name, (owner, _, _) in self.before.entries.items()}

    def totals(self, kept: Counts) -> dict[str, Counts]:
        """How often each value occurs in all classes, when so many records of each group are released."""
        found = {}
        for name, values in self.groups.values.items():
            width = len(self.domains[name].values)
            total = np.bincount(values, weights=kept, minlength=width)
            if self.together:
                _, known, counts = self.before.entries[name]
                total = total + np.bincount(known, weights=counts, minlength=width)
            found[name] = total.astype(np.int64)
        return found

    def sizes(self, kept: Counts) -> Counts:
        """Records of each class."""
        found = np.bincount(self.groups.owner, weights=kept, minlength=len(self.before.sizes)).astype(np.int64)
        return found + self.before.sizes if self.together else found

    def stats(
        self,
        kept: Counts,
        classes: Ints,
        *,
        changed: Ints | None = None,
        by: int = 0,
        reference: Mapping[str, Counts] | None = None,
    ) -> ClassStats:
        """Statistics of some classes, each of which has a record.

        A class may be listed several times, each time with the records of one group, ``changed``, raised ``by`` a
        number. Models on the whole release are judged against the reference; without one, against these classes.
        """
        number, index = _expanded(self._starts, classes)
        counts = kept[index].copy()
        if changed is not None:
            counts[index == changed[number]] += by
        sizes = np.bincount(number, weights=counts, minlength=len(classes)).astype(np.int64)
        if self.together:
            sizes = sizes + self.before.sizes[classes]
        histograms = {}
        for name, values in self.groups.values.items():
            owner, held, often = number, values[index], counts
            if self.together:
                _, known, times = self.before.entries[name]
                more, entry = _expanded(self._entry_starts[name], classes)
                owner = np.concatenate([owner, more])
                held = np.concatenate([held, known[entry]])
                often = np.concatenate([often, times[entry]])
            there = often > 0
            width = len(self.domains[name].values)
            histograms[name] = Histogram.of(owner[there], held[there], len(classes), width, often[there])
        return ClassStats(sizes, histograms, self.domains, reference)


def _expanded(starts: Ints, classes: Ints) -> tuple[Ints, Ints]:
    """For each class in turn the indices of its entries, and which of the classes each belongs to."""
    lengths = starts[classes + 1] - starts[classes]
    number = np.repeat(np.arange(len(classes)), lengths)
    return number, spans(starts[classes], lengths)


def single_models(models: Sequence[Model]) -> list[Model]:
    """The models that can be judged class by class, given what the whole release holds: all but (alp, dif)."""
    return [model for model in models if model.merge_closed]
