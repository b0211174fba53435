"""Which of some new records can join their classes without breaking a model: withhold as few as it takes.

Where a class fails, records are withheld one by one: each time the one after which fewest conditions fail, then the
one that leaves fewest records to be withheld for certain, then the one after which the class is nearest to holding. A
model that limits shares forces exactly these records out, so for limits on shares and models that more records never
break, on one sensitive column, as few records as possible are withheld. A class that no withholding can mend is given
up as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.models.base import Model
from shoal.search.evaluation import class_holds
from shoal.search.extension.published_classes import Ints, Perspective
from shoal.table.classes import ClassStats, Counts, Floats, Mask

_DIGITS = 9
"""Figures that differ by less are equal: the order of a sum must not decide."""
_FARTHEST = 1e6
"""How far a class is from holding that reaches no finite figure."""


@dataclass(frozen=True)
class FailedModel:
    """The model that a class fails, and how it was seen."""

    model: Model
    together: bool
    """Whether with the records published before; else by the new records alone."""


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
