"""Adding new records to a published recoding without weakening it.

Every record has one or more classes that it may join, best first. The models must hold on every class *together* with
what was published before and, unless the earlier release is withdrawn, on the new records of the class *alone*: whoever
has both releases can subtract. A class that is not published yet is only published when it holds by itself.

Where a class fails, records are withheld one by one: each time the one after which fewest conditions fail, then the
one that leaves fewest records to be withheld for certain, then the one after which the class is nearest to holding. For
limits on shares and models that more records never break, on one sensitive column, these are as few as possible. A
class that no withholding can mend is given up as a whole.

Records of a class that fails go on to the next class that may take them, those of the smallest such classes first:
half of the failing classes at a time, so that the other half may gather what it lacks. Of all rounds the one that
releases most records counts. Models on the whole release are judged again and again until nothing fails; where what was
published before fails for what is added elsewhere, the class that shifts the whole most is given up.

No result depends on the order of the rows as long as rows that differ come in an order of their content: of records
that no model tells apart the first stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.models.base import Model
from shoal.search.evaluation import class_holds
from shoal.table.classes import ClassStats, ClassView, Counts, Floats, Histogram, Mask, SensitiveDomain
from shoal.table.encoded import combine_codes, distinct_codes, spans

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
_DIGITS = 9  # figures that differ by less are equal: the order of a sum must not decide
_FARTHEST = 1e6  # how far a class is from holding that reaches no finite figure


@dataclass(frozen=True)
class FailedModel:
    """The model that a class fails, and how it was seen."""

    model: Model
    together: bool  # whether with the records published before; else by the new records alone


@dataclass(eq=False)
class Pruner:
    """Withholds records of classes that fail; ``why`` has the first model that each failed, with all its records."""

    perspectives: Sequence[Perspective]
    models: Sequence[Model]
    why: dict[int, FailedModel] = field(default_factory=dict)

    def prune(self, kept: Counts) -> Counts:
        """How many records of each group stay."""
        kept, owner = kept.copy(), self.perspectives[0].groups.owner
        waiting = distinct_codes(owner[kept > 0])
        while len(waiting):
            waiting = waiting[np.isin(waiting, owner[kept > 0])]
            failing, hopeless = self._judged(kept, waiting)
            kept[np.isin(owner, waiting[hopeless])] = 0
            waiting = waiting[failing & ~hopeless]
            if len(waiting):
                kept[self._best_withheld(kept, waiting)] -= 1
        return kept

    def put_back(self, kept: Counts) -> Counts:
        """Release again what can be, one record of a class at a time: then no withheld record could join alone."""
        kept, groups = kept.copy(), self.perspectives[0].groups
        while True:
            open_groups = np.flatnonzero((kept < groups.counts) & np.isin(groups.owner, groups.owner[kept > 0]))
            if not len(open_groups):
                return kept
            held = np.ones(len(open_groups), dtype=np.bool_)
            classes = groups.owner[open_groups]
            for perspective in self.perspectives:
                held &= class_holds(self.models, perspective.stats(kept, classes, changed=open_groups, by=1))
            if not held.any():
                return kept
            _, first = np.unique(classes[held], return_index=True)
            kept[open_groups[held][first]] += 1

    def _judged(self, kept: Counts, classes: Ints) -> tuple[Mask, Mask]:
        """Which classes fail, and which of these cannot be mended by withholding some of their new records."""
        failing, hopeless = np.zeros(len(classes), dtype=np.bool_), np.zeros(len(classes), dtype=np.bool_)
        new = np.bincount(self.perspectives[0].groups.owner, weights=kept)[classes] if len(classes) else np.zeros(0)
        for perspective in self.perspectives:
            stats = perspective.stats(kept, classes)
            for model in self.models:
                view = stats.view(model.column)
                lacking = ~model.holds(view)
                for each in classes[lacking & ~failing].tolist():
                    self.why.setdefault(each, FailedModel(model, perspective.together))
                failing |= lacking
                hopeless |= lacking & (model.least_removed(view, 0) >= new)
        return failing, hopeless | (failing & (new <= 1))

    def _best_withheld(self, kept: Counts, classes: Ints) -> Ints:
        """For each class the group of which a record is best withheld; every class has two records or more."""
        owner = self.perspectives[0].groups.owner
        tried = np.flatnonzero((kept > 0) & np.isin(owner, classes))
        index = np.searchsorted(classes, owner[tried])
        fails, least, distance = np.zeros(len(tried), np.int64), np.zeros(len(tried), np.int64), np.zeros(len(tried))
        for perspective in self.perspectives:
            now = perspective.stats(kept, classes)
            then = perspective.stats(kept, owner[tried], changed=tried, by=-1)
            for model in self.models:
                view = then.view(model.column)
                lacking = ~model.holds(view)
                fails += lacking
                least += np.where(lacking, model.least_removed(view, 0), 0)
                concerned = ~model.holds(now.view(model.column))[index]
                distance += np.where(concerned & lacking, _distance(model, view), 0.0)
        order = np.lexsort((tried, np.round(distance, _DIGITS), least, fails, index))
        _, first = np.unique(index[order], return_index=True)
        return tried[order[first]]


def _distance(model: Model, view: ClassView) -> Floats:
    """How far classes are from holding, up to a constant: what they reach in each parameter, less being better."""
    total = np.zeros(len(view.sizes))
    for strength in model.strengths(view).values():
        total += -strength.per_class if strength.at_least else strength.per_class
    return np.minimum(total, _FARTHEST)


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
        values = {name: codes[rows[first]] for name, codes in secrets.items()}
        return Groups(row_class[rows[first]].astype(np.int64), values, counts.astype(np.int64), of_row)


@dataclass(frozen=True, eq=False)
class Perspective:
    """One way of seeing the classes: with what was published before, or without."""

    groups: Groups
    before: ClassStats
    together: bool
    reference: Mapping[str, Counts] | None = None  # how often each value occurs in all of it; None where no model asks

    @cached_property
    def _starts(self) -> Ints:
        return np.searchsorted(self.groups.owner, np.arange(len(self.before.sizes) + 1))

    def totals(self, kept: Counts) -> dict[str, Counts]:
        """How often each value occurs in all classes, when so many records of each group are released."""
        found = {}
        for name, values in self.groups.values.items():
            total = np.bincount(values, weights=kept, minlength=len(self.before.domains[name].values))
            found[name] = total.astype(np.int64) + (self.before.view(name).totals if self.together else 0)
        return found

    def sizes(self, kept: Counts) -> Counts:
        """Records of each class."""
        found = np.bincount(self.groups.owner, weights=kept, minlength=len(self.before.sizes)).astype(np.int64)
        return found + self.before.sizes if self.together else found

    def stats(self, kept: Counts, classes: Ints, *, changed: Ints | None = None, by: int = 0) -> ClassStats:
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
                before = self.before.histograms[name]
                more, entry = _expanded(before.starts, classes)
                owner = np.concatenate([owner, more])
                held = np.concatenate([held, before.values[entry]])
                often = np.concatenate([often, before.counts[entry]])
            there, width = often > 0, len(self.before.domains[name].values)
            histograms[name] = Histogram.of(owner[there], held[there], len(classes), width, often[there])
        return ClassStats(sizes, histograms, self.before.domains, self.reference)


def _expanded(starts: Ints, classes: Ints) -> tuple[Ints, Ints]:
    """For each class in turn the indices of its entries, and which of the classes each belongs to."""
    lengths = starts[classes + 1] - starts[classes]
    number = np.repeat(np.arange(len(classes)), lengths)
    return number, spans(starts[classes], lengths)


@dataclass(frozen=True, eq=False)
class ClassCandidates:
    """For each row the classes that it may join, best first: row ``i`` owns ``classes[starts[i]:starts[i + 1]]``."""

    starts: Ints
    classes: Ints

    def at(self, choice: Ints) -> Codes:
        """The class of each row when each takes one of its candidates; -1 for a row that has no more."""
        index = self.starts[:-1] + choice
        there = index < self.starts[1:]
        found = np.full(len(index), -1, dtype=np.int32)
        found[there] = self.classes[index[there]]
        return found


@dataclass(frozen=True, eq=False)
class ExtensionResult:
    """What becomes of each new record."""

    row_class: Codes  # the class that each row joins; -1 for one that is withheld
    tried: Codes  # the class that each row was last to join; -1 where there was none
    why: Mapping[int, FailedModel]  # for each class that records are withheld from, the model that it would have failed


@dataclass(frozen=True, eq=False)
class Extension:
    """Published classes, the models that must hold, and the new records' sensitive values."""

    models: Sequence[Model]
    before: ClassStats  # the classes as published; a class that is not published yet has no records
    secrets: Mapping[str, Codes]  # for each sensitive column that a model reads the value of each new record
    alone: bool  # whether the new records must satisfy the models alone, too

    def extend(self, candidates: ClassCandidates) -> ExtensionResult:
        """Find the new records that can be released, and their classes."""
        choice = np.zeros(len(candidates.starts) - 1, dtype=np.int64)
        length = np.diff(candidates.starts)
        best: ExtensionResult | None = None
        while True:
            wanted = candidates.at(choice)
            found = self._settled(wanted)
            if best is None or np.count_nonzero(found.row_class >= 0) > np.count_nonzero(best.row_class >= 0):
                best = found
            stuck = np.flatnonzero((wanted >= 0) & (found.row_class < 0) & (choice + 1 < length))
            if not len(stuck):
                return best
            classes, records = np.unique(wanted[stuck], return_counts=True)
            order = np.lexsort((classes, records))
            dissolved = classes[order[: (len(classes) + 1) // 2]]
            choice[stuck[np.isin(wanted[stuck], dissolved)]] += 1

    def _settled(self, row_class: Codes) -> ExtensionResult:
        """The rows that can be released when each wants a certain class."""
        groups = Groups.of(row_class, self.secrets, self.before.domains)
        ways = (False, True) if self.alone else (True,)
        perspectives = [Perspective(groups, self.before, together=each) for each in ways]
        # judged class by class, given what the whole release holds: all but (alp, dif)
        pruner = Pruner(perspectives, [model for model in self.models if model.judges_classes])
        whole = [model for model in self.models if model.whole_table]
        kept = groups.counts
        while True:
            if whole:
                pruner.perspectives = [replace(each, reference=each.totals(kept)) for each in perspectives]
            pruned = pruner.prune(kept)
            if whole and (pruned != kept).any():
                kept = pruned
                continue
            victim = _victim(perspectives, pruned, whole, pruner.why)
            if victim is None:
                kept = pruned if whole else pruner.put_back(pruned)
                break
            kept = np.where(groups.owner == victim, 0, pruned)
        return ExtensionResult(_rows(row_class, groups, kept), row_class, pruner.why)


def _rows(row_class: Codes, groups: Groups, kept: Counts) -> Codes:
    """The class of each row that stays: of each group the first rows."""
    rows = np.flatnonzero(groups.of_row >= 0)
    order = rows[np.argsort(groups.of_row[rows], kind="stable")]
    starts = np.cumsum(groups.counts) - groups.counts
    rank = np.arange(len(order)) - np.repeat(starts, groups.counts)
    staying = order[rank < kept[groups.of_row[order]]]
    result = np.full(len(row_class), -1, dtype=np.int32)
    result[staying] = row_class[staying]
    return result


def _victim(
    perspectives: Sequence[Perspective], kept: Counts, whole: Sequence[Model], why: dict[int, FailedModel]
) -> int | None:
    """A class to give up for the models on the whole release; None where they hold in every perspective."""
    groups = perspectives[0].groups
    new = np.bincount(groups.owner, weights=kept, minlength=len(perspectives[0].before.sizes))
    if not new.any():
        return None
    for perspective in perspectives:
        classes = np.flatnonzero(perspective.sizes(kept))
        stats = perspective.stats(kept, classes)
        for model in whole:
            view = stats.view(model.column)
            failing: Mask = ~model.holds(view)
            if not failing.any() and model.table_holds(view):
                continue
            own = classes[failing & (new[classes] > 0)]  # the smallest; where only others fail, what shifts most
            victim = int(own[np.argmin(new[own])]) if len(own) else _most_shifting(perspective, kept, str(model.column))
            why.setdefault(victim, FailedModel(model, perspective.together))
            return victim
    return None


def _most_shifting(perspective: Perspective, kept: Counts, column: str) -> int:
    """The class whose new records differ most from what was published before, counted in records.

    Where nothing was published before, or the new records are seen alone, from what is released in all.
    """
    groups, usual = perspective.groups, perspective.before.view(column).totals
    if not perspective.together or not usual.any():
        usual = perspective.totals(kept)[column]
    classes, index = np.unique(groups.owner[kept > 0], return_inverse=True)
    held = np.zeros((len(classes), len(usual)))
    np.add.at(held, (index, groups.values[column][kept > 0]), kept[kept > 0])
    shift = np.abs(held - held.sum(axis=1, keepdims=True) * usual / usual.sum()).sum(axis=1)
    return int(classes[np.argmax(np.round(shift, 9))])
