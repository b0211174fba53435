"""Adding new records to a published recoding without weakening it.

Every record has one or more classes that it may join, best first. The models must hold on every class *together* with
what was published before and, unless the earlier release is withdrawn, on the new records of the class *alone*: whoever
has both releases can subtract. A class that is not published yet is only published when it holds by itself.

Records of a class that fails go on to the next class that may take them, those of the smallest such classes first:
half of the failing classes at a time, so that the other half may gather what it lacks. Of all rounds the one that
releases most records counts. Models on the whole release are judged again and again until nothing fails; where what was
published before fails for what is added elsewhere, the class that shifts the whole most is given up.

No result depends on the order of the rows as long as rows that differ come in an order of their content: of records
that no model tells apart the first stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.models.base import Model
from shoal.search.extension.published_classes import (
    Codes,
    FailedModel,
    Groups,
    Ints,
    Perspective,
    Pruner,
    PublishedClasses,
    References,
    single_models,
)
from shoal.table.classes import Counts, Mask, SensitiveDomain


@dataclass(frozen=True, eq=False)
class ClassCandidates:
    """For each row the classes that it may join, best first: row ``i`` owns ``classes[starts[i]:starts[i + 1]]``."""

    starts: Ints
    classes: Ints

    def at(self, choice: Ints) -> Codes:
        """The class of each row when each takes one of its candidates; -1 for a row that has no more."""
        index = self.starts[:-1] + choice
        there = index < self.starts[1:]
        return np.where(there, self.classes[np.where(there, index, 0)] if len(self.classes) else -1, -1).astype(
            np.int32
        )


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
    domains: Mapping[str, SensitiveDomain]
    before: PublishedClasses
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
            if best is None or _released(found) > _released(best):
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
        groups = Groups.of(row_class, self.secrets, self.domains)
        ways = (False, True) if self.alone else (True,)
        perspectives = [Perspective(groups, self.before, self.domains, together=each) for each in ways]
        pruner = Pruner(perspectives, single_models(self.models))
        whole = [model for model in self.models if model.whole_table]
        kept = groups.counts
        while True:
            pruned = pruner.prune(kept, _references(perspectives, kept, whole))
            if whole and (pruned != kept).any():
                kept = pruned
                continue
            victim = _victim(perspectives, pruned, whole, pruner.why)
            if victim is None:
                kept = pruned if whole else pruner.put_back(pruned, [None] * len(perspectives))
                break
            kept = np.where(groups.owner == victim, 0, pruned)
        return ExtensionResult(_rows(row_class, groups, kept), row_class, pruner.why)


def _released(found: ExtensionResult) -> int:
    return int(np.count_nonzero(found.row_class >= 0))


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


def _references(perspectives: Sequence[Perspective], kept: Counts, whole: Sequence[Model]) -> References:
    return [perspective.totals(kept) if whole else None for perspective in perspectives]


def _victim(
    perspectives: Sequence[Perspective], kept: Counts, whole: Sequence[Model], why: dict[int, FailedModel]
) -> int | None:
    """A class to give up for the models on the whole release; None where they hold in every perspective.

    A class that fails itself, the smallest by its new records; where only others fail, the class that shifts most.
    """
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
            own = classes[failing & (new[classes] > 0)]
            victim = int(own[np.argmin(new[own])]) if len(own) else _most_shifting(perspective, kept, str(model.column))
            why.setdefault(victim, FailedModel(model, perspective.together))
            return victim
    return None


def _most_shifting(perspective: Perspective, kept: Counts, column: str) -> int:
    """The class whose new records differ most from what was published before, counted in records.

    Where nothing was published before, or the new records are seen alone, from what is released in all.
    """
    groups, width = perspective.groups, len(perspective.domains[column].values)
    _, known, counts = perspective.before.entries[column]
    usual = np.bincount(known, weights=counts, minlength=width) if perspective.together else np.zeros(width)
    if not usual.any():
        usual = perspective.totals(kept)[column].astype(np.float64)
    classes, index = np.unique(groups.owner[kept > 0], return_inverse=True)
    held = np.zeros((len(classes), width))
    np.add.at(held, (index, groups.values[column][kept > 0]), kept[kept > 0])
    shift = np.abs(held - held.sum(axis=1, keepdims=True) * usual / usual.sum()).sum(axis=1)
    return int(classes[np.argmax(np.round(shift, 9))])
