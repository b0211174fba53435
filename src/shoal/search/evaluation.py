"""Does a candidate satisfy the models, and at the price of how many suppressed records?

Classes that fail a model are suppressed. Models that look at the whole release (t-closeness, (alp, dif)) are tested on
what remains, again and again until nothing more fails, because leaving a class out changes what the rest is
compared with. The candidate satisfies when every condition holds on the classes kept, something is kept, and no more
records are left out than the budget allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.models.base import Model
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Mask


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The outcome for one candidate."""

    satisfied: bool
    kept: Mask  # which classes are released
    suppressed: int  # records in classes that are not released
    may_satisfy_below: bool
    """Whether a less general node might satisfy: False only where the models' declarations prove it cannot."""
    least_below: int = 0  # records that every satisfying less general node suppresses at least


def prunable_models(models: Sequence[Model], budget: int) -> tuple[Model, ...]:
    """The models whose failure at a node proves failure at every less general node and for every larger QI subset.

    Without suppression, merge-closed models: what holds at a node holds above it. With a budget, superset-closed ones:
    then the records in failing classes can only grow in number on the way down.
    """
    return tuple(model for model in models if (model.superset_closed if budget else model.merge_closed))


def evaluate_stats(models: Sequence[Model], stats: ClassStats, budget: int) -> tuple[bool, Mask]:
    """Whether a set of classes satisfies within the budget, and which classes are kept."""
    kept = class_holds([model for model in models if not model.whole_table], stats)
    whole = [model for model in models if model.whole_table]
    while whole and kept.any():
        rest = stats.keep(kept)
        holds = class_holds(whole, rest)
        if holds.all():
            break
        kept[np.flatnonzero(kept)[~holds]] = False
    suppressed = int(stats.sizes[~kept].sum())
    if suppressed > budget or not kept.any():
        return False, kept
    rest = stats.keep(kept) if whole else stats
    return all(model.table_holds(rest.view(model.column)) for model in whole), kept


def class_holds(models: Sequence[Model], stats: ClassStats) -> Mask:
    """Which classes satisfy each of some models that are tested class by class."""
    held = np.ones(stats.n_classes, dtype=np.bool_)
    for model in models:
        held &= model.holds(stats.view(model.column))
    return held


class Evaluator:
    """Evaluates lattice nodes of one problem, cheapest tests first."""

    def __init__(self, problem: Problem, engine: LocalEngine, models: Sequence[Model] | None = None) -> None:
        self._models = tuple(problem.models if models is None else models)
        self._budget = problem.budget
        self._engine = engine
        self._columns = sorted({model.column for model in self._models if model.column is not None})
        prunable = prunable_models(self._models, self._budget)
        self._on_sizes = [model for model in prunable if model.column is None]
        self._bounding = [model for model in self._models if model.merge_closed]
        self.all_prunable = len(prunable) == len(self._models)

    def grouping(self, node: Sequence[int]) -> Grouping:
        """The classes at a node."""
        return self._engine.classes(node)

    def evaluate(self, grouping: Grouping, stats: ClassStats | None = None) -> Evaluation:
        """Evaluate a node's classes: by their sizes first, then by what rules out everything below, then in full.

        ``stats`` are those of the grouping where they have been made already.
        """
        kept = class_holds(self._on_sizes, ClassStats(grouping.sizes, {}, {}))
        suppressed = int(grouping.sizes[~kept].sum())
        if suppressed > self._budget or not kept.any():
            return Evaluation(False, kept, suppressed, False)
        if not self._columns:
            return Evaluation(True, kept, suppressed, True, suppressed)
        if stats is None:
            stats = self._engine.stats(grouping, self._columns)
        least = self._least_removed(stats)
        if least > self._budget:
            return Evaluation(False, kept, least, False)
        satisfied, kept = evaluate_stats(self._models, stats, self._budget)
        suppressed = int(grouping.sizes[~kept].sum())
        return Evaluation(satisfied, kept, suppressed, satisfied or not self.all_prunable, least)

    def _least_removed(self, stats: ClassStats) -> int:
        """Records that this node and every less general one suppress at least; beyond the budget where none may be."""
        least = np.zeros(stats.n_classes, dtype=np.int64)
        for model in self._bounding:
            view = stats.view(model.column)
            if self._budget:
                np.maximum(least, model.least_removed(view, self._budget), out=least)
            elif not model.holds(view).all():
                return 1
        return int(least.sum())
