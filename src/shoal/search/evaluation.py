"""Does a candidate satisfy the models, and at the price of how many suppressed records?

Classes that fail a model are suppressed. Models that look at the whole release (t-closeness, (alp, dif)) are tested on
what remains until nothing more fails, because leaving a class out changes what the rest is compared with. The candidate
satisfies when every condition holds, something is kept, and no more is left out than the budget allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.models.base import Model
from shoal.search.decoys import drawn_decoys
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, ClassView, Mask


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The outcome for one candidate."""

    satisfied: bool
    kept: Mask  # which classes are released
    suppressed: int  # records in classes that are not released
    may_satisfy_below: bool  # whether a less general node might: False only where declarations prove it cannot
    least_below: int = 0  # records that every satisfying less general node suppresses at least


def prunable_models(problem: Problem, models: Sequence[Model]) -> tuple[Model, ...]:
    """The models whose failure at a node proves failure at every less general node and for every larger QI subset.

    Without suppression, merge-closed models: what holds at a node holds above it. With a budget, superset-closed ones:
    then the records in failing classes can only grow in number on the way down.
    """
    closed = problem.superset_closed if problem.budget else problem.merge_closed
    return tuple(model for model in models if closed(model))


def evaluate_stats(models: Sequence[Model], stats: ClassStats, budget: int) -> tuple[bool, Mask]:
    """Whether a set of classes satisfies within the budget, and which classes are kept."""
    kept = class_holds([model for model in models if not model.whole_table], stats)
    whole = [model for model in models if model.whole_table]
    while whole and kept.any():
        rest = stats.restricted_to(kept)
        holds = class_holds(whole, rest)
        if holds.all():
            break
        kept[np.flatnonzero(kept)[~holds]] = False
    suppressed = int(stats.records[~kept].sum())
    if suppressed > budget or not kept.any():
        return False, kept
    rest = stats.restricted_to(kept) if whole else stats
    return all(model.table_holds(each.view(model.column)) for model in whole for each in rest.judged), kept


def keep_concealed(
    problem: Problem, models: Sequence[Model], stats: ClassStats, grouping: Grouping, budget: int
) -> tuple[bool, Mask]:
    """As `evaluate_stats`; where the search conceals, decoys are left out first (`shoal.search.decoys`).

    Where decoys and failing classes together are more than the budget allows, fewer decoys are left out.
    """
    veto = problem.concealing
    if veto is None or not budget:
        return evaluate_stats(models, stats, budget)
    able = class_holds([model for model in models if model.column is None and not model.whole_table], stats)
    decoys = drawn_decoys(problem, veto, grouping, stats, able, budget)
    number = len(decoys)
    while True:
        left = ~np.any([np.zeros(stats.n_classes, dtype=np.bool_), *decoys[:number]], axis=0)
        spent = int(stats.records[~left].sum())
        satisfied, kept = evaluate_stats(models, stats.restricted_to(left) if spent else stats, budget - spent)
        if satisfied or not number:
            left[left] = kept
            return satisfied, left
        number //= 2


def class_holds(models: Sequence[Model], stats: ClassStats) -> Mask:
    """Which classes satisfy each of some models that are tested class by class.

    Where records are linked a class falls with its linked class, and that with any class of it.
    """
    held = np.ones(stats.n_classes, dtype=np.bool_)
    for model in models:
        held &= model.holds(stats.view(model.column)) | ~stats.shows(model.column)
    if stats.linked is None:
        return held
    together = class_holds(models, stats.linked.stats)
    together[stats.linked.owner[~held]] = False
    return together[stats.linked.owner]


def failing_view(model: Model, stats: ClassStats, index: int) -> tuple[ClassView, int]:
    """What a class fails a model by: its own records, those that are linked to them, or others of the same people."""
    view, linked = stats.view(model.column), stats.linked
    held = class_holds([model], replace(stats, linked=None))
    if linked is None or not held[index]:
        return view, index
    whole, owner = linked.stats.view(model.column), int(linked.owner[index])
    if not class_holds([model], linked.stats)[owner]:
        return whole, owner
    return view, int(np.flatnonzero(~held & (linked.owner == owner))[0])


class Evaluator:
    """Evaluates lattice nodes of one problem, cheapest tests first."""

    def __init__(self, problem: Problem, engine: LocalEngine, models: Sequence[Model] | None = None) -> None:
        self._models = tuple(problem.models if models is None else models)
        self._budget, self._problem = problem.budget, problem
        self._engine = engine
        self._columns = sorted({model.column for model in self._models if model.column is not None})
        prunable = prunable_models(problem, self._models)
        self._on_sizes = [model for model in prunable if model.column is None and not model.whole_table]
        self._sizes_decide = not self._columns and not any(model.whole_table for model in self._models)
        self._bounding = [model for model in self._models if problem.merge_closed(model)]
        self._counts_people = problem.counts_people
        self.all_prunable = len(prunable) == len(self._models)

    def grouping(self, node: Sequence[int]) -> Grouping:
        """The classes at a node."""
        return self._engine.classes(node)

    def evaluate(self, grouping: Grouping, stats: ClassStats | None = None) -> Evaluation:
        """Evaluate a node's classes: by their sizes first, then by what rules out everything below, then in full."""
        kept = class_holds(self._on_sizes, ClassStats(grouping.sizes, {}, {}))
        suppressed = int(grouping.sizes[~kept].sum())
        if suppressed > self._budget or not kept.any():
            return Evaluation(False, kept, suppressed, False)
        if self._counts_people:  # never more than there are records, so what failed so far fails
            kept = class_holds(self._on_sizes, self._engine.stats(grouping, ()) if stats is None else stats)
            suppressed = int(grouping.sizes[~kept].sum())
            if suppressed > self._budget or not kept.any():
                return Evaluation(False, kept, suppressed, False)
        if self._sizes_decide:
            return Evaluation(True, kept, suppressed, True, suppressed)
        if stats is None:
            stats = self._engine.stats(grouping, self._columns)
        least = self._least_removed(stats)
        if least > self._budget:
            return Evaluation(False, kept, least, False)
        satisfied, kept = self._keep(stats, grouping)
        suppressed = int(grouping.sizes[~kept].sum())
        return Evaluation(satisfied, kept, suppressed, satisfied or not self.all_prunable, least)

    def _keep(self, stats: ClassStats, grouping: Grouping) -> tuple[bool, Mask]:
        """Decoys change the verdict only where models compare classes with the whole release."""
        if any(model.whole_table for model in self._models):
            return keep_concealed(self._problem, self._models, stats, grouping, self._budget)
        return evaluate_stats(self._models, stats, self._budget)

    def _least_removed(self, stats: ClassStats) -> int:
        """Records that this node and every less general one suppress at least; beyond the budget where none may be."""
        least = np.zeros(stats.n_classes, dtype=np.int64)
        for model in self._bounding:
            view, shown = stats.view(model.column), stats.shows(model.column)
            if self._budget:
                np.maximum(least, model.least_removed(view, self._budget) * shown, out=least)
            elif not (model.holds(view) | ~shown).all():
                return 1
        return int(least.sum())
