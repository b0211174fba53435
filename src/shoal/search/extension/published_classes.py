"""Published classes and new records that may join them, from two perspectives, and which of these must be withheld.

*Together*: the classes with the records published before and the new ones, which is what a reader of everything has.
*Alone*: the new records by themselves, which is what a reader gets who subtracts the earlier release from the later.

Where a class fails, records are withheld one by one: each time the one after which fewest conditions fail, then the
one that leaves fewest records to be withheld for certain, then the one after which the class is nearest to holding. A
model that limits shares forces exactly these records out, so for limits on shares and models that more records never
break, on one sensitive column, as few records as possible are withheld. A class that no withholding can mend is given
up as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.models.base import Model
from shoal.search.evaluation import class_holds
from shoal.table.classes import ClassStats, Counts, Floats, Histogram, Mask, SensitiveDomain
from shoal.table.encoded import combine_codes, spans

_DIGITS = 9  # figures that differ by less are equal: the order of a sum must not decide
_FARTHEST = 1e6  # how far a class is from holding that reaches no finite figure


@dataclass(frozen=True)
class FailedModel:
    """The model that a class fails, and how it was seen."""

    model: Model
    together: bool  # whether with the records published before; else by the new records alone


References = Sequence[Mapping[str, Counts] | None]
"""For each perspective how often each value occurs in all of it; None where no model asks."""


@dataclass(eq=False)
class Pruner:
    """Withholds records of classes that fail; ``why`` has the first model that each failed, with all its records."""

    perspectives: Sequence[Perspective]
    models: Sequence[Model]
    why: dict[int, FailedModel] = field(default_factory=dict)

    def prune(self, kept: Counts, references: References) -> Counts:
        """How many records of each group stay."""
        kept, owner = kept.copy(), self.perspectives[0].groups.owner
        waiting = np.unique(owner[kept > 0])
        while len(waiting):
            waiting = waiting[np.isin(waiting, owner[kept > 0])]
            failing, hopeless = self._judged(kept, waiting, references)
            kept[np.isin(owner, waiting[hopeless])] = 0
            waiting = waiting[failing & ~hopeless]
            if len(waiting):
                kept[self._best(kept, waiting, references, -1)] -= 1
        return kept

    def put_back(self, kept: Counts, references: References) -> Counts:
        """Release again what can be, one record of a class at a time: then no withheld record could join alone."""
        kept, groups = kept.copy(), self.perspectives[0].groups
        while True:
            open_groups = np.flatnonzero((kept < groups.counts) & np.isin(groups.owner, groups.owner[kept > 0]))
            if not len(open_groups):
                return kept
            held = np.ones(len(open_groups), dtype=np.bool_)
            classes = groups.owner[open_groups]
            for perspective, reference in zip(self.perspectives, references, strict=True):
                stats = perspective.stats(kept, classes, changed=open_groups, by=1, reference=reference)
                held &= class_holds(self.models, stats)
            if not held.any():
                return kept
            _, first = np.unique(classes[held], return_index=True)
            kept[open_groups[held][first]] += 1

    def _judged(self, kept: Counts, classes: Ints, references: References) -> tuple[Mask, Mask]:
        """Which classes fail, and which of these cannot be mended by withholding some of their new records."""
        failing, hopeless = np.zeros(len(classes), dtype=np.bool_), np.zeros(len(classes), dtype=np.bool_)
        new = np.bincount(self.perspectives[0].groups.owner, weights=kept)[classes] if len(classes) else np.zeros(0)
        for perspective, model, stats in self._seen(kept, classes, references):
            view = stats.view(model.column)
            lacking = ~model.holds(view)
            for each in classes[lacking & ~failing].tolist():
                self.why.setdefault(each, FailedModel(model, perspective.together))
            failing |= lacking
            hopeless |= lacking & (model.least_removed(view, 0) >= new)
        return failing, hopeless | (failing & (new <= 1))

    def _seen(
        self, kept: Counts, classes: Ints, references: References
    ) -> Iterator[tuple[Perspective, Model, ClassStats]]:
        for perspective, reference in zip(self.perspectives, references, strict=True):
            stats = perspective.stats(kept, classes, reference=reference)
            yield from ((perspective, model, stats) for model in self.models)

    def _best(self, kept: Counts, classes: Ints, references: References, by: int) -> Ints:
        """For each class the group of which a record is best withheld; every class has two records or more."""
        owner = self.perspectives[0].groups.owner
        tried = np.flatnonzero((kept > 0) & np.isin(owner, classes))
        index = np.searchsorted(classes, owner[tried])
        fails, least = np.zeros(len(tried), dtype=np.int64), np.zeros(len(tried), dtype=np.int64)
        distance = np.zeros(len(tried))
        for perspective, reference in zip(self.perspectives, references, strict=True):
            now = perspective.stats(kept, classes, reference=reference)
            then = perspective.stats(kept, owner[tried], changed=tried, by=by, reference=reference)
            for model in self.models:
                view = then.view(model.column)
                lacking = ~model.holds(view)
                fails += lacking
                least += np.where(lacking, model.least_removed(view, 0), 0)
                concerned = ~model.holds(now.view(model.column))[index]
                distance += np.where(concerned & lacking, _distance(model, then), 0.0)
        order = np.lexsort((tried, np.round(distance, _DIGITS), least, fails, index))
        _, first = np.unique(index[order], return_index=True)
        return tried[order[first]]


def _distance(model: Model, stats: ClassStats) -> Floats:
    """How far classes are from holding, up to a constant: what they reach in each parameter, less being better."""
    total = np.zeros(stats.n_classes)
    for strength in model.strengths(stats.view(model.column)).values():
        total += -strength.per_class if strength.at_least else strength.per_class
    return np.minimum(total, _FARTHEST)


Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PublishedClasses:
    """The classes as published: how many records, and how often each sensitive value occurs (sparse)."""

    sizes: Counts  # records of each class; 0 for a class that is not published yet
    entries: Mapping[str, tuple[Ints, Codes, Counts]]
    """For each sensitive column class, value and count, ascending by class."""


@dataclass(frozen=True, eq=False)
class Groups:
    """New records that no model tells apart: of one class, with the same sensitive values. Ascending by class."""

    owner: Ints  # class of each group
    values: Mapping[str, Codes]  # value of each group in each sensitive column that a model reads
    counts: Counts
    of_row: Ints  # group of each row; -1 for a row that is in no class

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
