"""How every local recoding ends: classes that release the same are merged, the whole is made to hold, then refined."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import ancestors
from shoal.metrics import ReleaseSummary
from shoal.search.evaluation import evaluate_stats
from shoal.search.local.blocks import Blocks, Classes, cell_metric, class_extremes
from shoal.search.local.refinement.arrangement import PIECE
from shoal.search.local.refinement.refine import refine
from shoal.search.problem import Problem, SearchResult
from shoal.table.classes import ClassStats, Mask
from shoal.table.recoding import SUPPRESSED, Recoding


@dataclass(frozen=True, eq=False)
class _Released:
    """What some classes release."""

    hierarchies: tuple[Hierarchy, ...]  # those of the problem, with the ranges of the classes as nodes
    nodes: NDArray[np.int32]


def finish(blocks: Blocks, row_class: Classes) -> Recoding:
    """The recoding of a partition: coinciding classes made one, and merged further where the whole fails.

    Clusters that end with the same released tuple, ranges included, are one class. Their union satisfies every
    merge-closed model; for (alp, dif) classes that leak are merged with their cheapest neighbours until it holds, at
    the latest when each block is one class, which `prepare` has found to satisfy.

    Ranges set more classes apart than nodes do, so there may be more to merge. The classes that nodes would end with
    are then tried in ranges as well: the same partition never costs more in ranges than in nodes.
    """
    recoding = _finished(blocks, row_class)
    if not blocks.ranged or len(blocks.class_models) == len(blocks.problem.models):
        return recoding
    other = _finished(blocks, _finished(blocks.without_ranges, row_class).row_class)
    return min(recoding, other, key=lambda each: cost_of(blocks.problem, each))


def cost_of(problem: Problem, recoding: Recoding) -> float:
    """What a recoding costs by the problem's measure; less is better."""
    summary = ReleaseSummary.of(recoding)
    return problem.metric.cost(problem.metric.of(summary))


def _finished(blocks: Blocks, row_class: Classes) -> Recoding:
    """The recoding of a partition after as few merges as this way of merging needs."""
    problem = blocks.problem
    row_class = row_class.copy()
    while True:
        row_class, released = _coinciding(blocks, row_class)
        stats = blocks.stats(row_class, len(released.nodes))
        satisfied, kept = evaluate_stats(problem.models, replace_reference(stats), 0)
        if satisfied:
            return Recoding(
                quasi=problem.table.quasi,
                hierarchies=released.hierarchies,
                row_class=row_class,
                nodes=released.nodes,
                weights=problem.table.weights,
                entry=problem.table.entry,
            )
        failing = ~kept if not kept.all() else _most_leaking(blocks, stats)
        row_class = _merge_failing(blocks, row_class, released, failing)


def replace_reference(stats: ClassStats) -> ClassStats:
    """The same classes as a release of their own."""
    return ClassStats(stats.sizes, stats.histograms, stats.domains)


def _coinciding(blocks: Blocks, row_class: Classes) -> tuple[Classes, _Released]:
    """Make classes that release the same tuple one, and number classes by their released tuples."""
    distinct, dense = np.unique(row_class, return_inverse=True)
    offset = int(distinct[0] == SUPPRESSED)
    classes: Classes = (dense - offset).astype(np.int32)
    released = _released(blocks, *class_extremes(blocks, classes, len(distinct) - offset))
    tuples, number = np.unique(released.nodes, axis=0, return_inverse=True)
    renumbered = np.full(len(row_class), SUPPRESSED, dtype=np.int32)
    renumbered[classes >= 0] = number.ravel()[classes[classes >= 0]]
    return renumbered, replace(released, nodes=tuples.astype(np.int32))


def _released(blocks: Blocks, low: NDArray[np.int32], high: NDArray[np.int32]) -> _Released:
    """What classes release by their smallest and largest values: ranges where asked for, else common ancestors."""
    hierarchies, nodes = list(blocks.problem.hierarchies), np.empty_like(low)
    for j, hierarchy in enumerate(blocks.problem.hierarchies):
        if j in blocks.ranged:
            hierarchies[j], nodes[:, j] = blocks.ranged[j].released(low[:, j], high[:, j])
        else:
            nodes[:, j] = ancestors(hierarchy, low[:, j], high[:, j])
    return _Released(tuple(hierarchies), nodes)


def _most_leaking(blocks: Blocks, stats: ClassStats) -> Mask:
    """Where a model fails on the release as a whole: the classes that take part in it more than others do.

    For (alp, dif) these are the classes in which a protected value leaks more than on average; all, where none does.
    """
    failing = np.zeros(stats.n_classes, dtype=np.bool_)
    for model in blocks.problem.models:
        view = replace_reference(stats).view(model.column)
        if not model.table_holds(view):
            worst = np.zeros(stats.n_classes)
            for strength in model.strengths(view).values():
                weak = -strength.per_class if strength.at_least else strength.per_class
                worst = np.maximum(worst, weak - weak.min())  # a figure that is the same for all tells nothing
            failing |= (worst > 0) | (worst.max() == 0)
    return failing


def _merge_failing(blocks: Blocks, row_class: Classes, released: _Released, failing: Mask) -> Classes:
    """Merge each failing class with the class of its block that costs least to merge with.

    Where each of them is alone in its block, classes elsewhere are merged; where every class is, nothing changes.
    """
    count = len(failing)
    kept = row_class >= 0
    block = np.zeros(count, dtype=np.int32)
    block[row_class[kept]] = blocks.row_block[kept]
    company = np.bincount(block, minlength=blocks.n_blocks)[block] > 1
    sizes = blocks.problem.table.bincount(row_class, kept, count)
    target, merged = np.arange(count), np.zeros(count, dtype=np.bool_)
    for each in np.flatnonzero(failing & company if (failing & company).any() else company):
        if merged[each]:
            continue
        others = np.flatnonzero((block == block[each]) & ~merged)
        others = others[others != each]
        if not len(others):
            continue
        cost = _costs_of_merging(blocks, released, sizes, int(each), others)
        partner = int(others[np.argmin(cost)])
        target[each] = partner
        merged[each] = merged[partner] = True
    result = np.full(len(row_class), SUPPRESSED, dtype=np.int32)
    result[kept] = target[row_class[kept]]
    return result


def _costs_of_merging(
    blocks: Blocks, released: _Released, sizes: NDArray[np.int64], one: int, others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What merging one class with each of some others adds to the sum of cell losses, ranges included."""
    plain = [j for j in range(len(released.hierarchies)) if j not in blocks.ranged]
    cost = merge_costs([released.hierarchies[j] for j in plain], released.nodes[:, plain], sizes, one, others)
    for j, column in blocks.ranged.items():
        hierarchy, nodes = released.hierarchies[j], released.nodes[:, j]
        cost += column.merge_costs(hierarchy.first[nodes], hierarchy.last[nodes], sizes, one, others)
    return cost


def merge_costs(
    hierarchies: Sequence[Hierarchy],
    nodes: NDArray[np.int32],
    sizes: NDArray[np.int64],
    one: int,
    others: NDArray[np.int64],
) -> NDArray[np.float64]:
    """What merging one class with each of some others adds to the sum of cell losses."""
    added, together = np.zeros(len(others)), sizes[one] + sizes[others]
    for hierarchy, mine, theirs in zip(hierarchies, nodes[one], nodes[others].T, strict=True):
        first, last = hierarchy.first[theirs], hierarchy.last[theirs]
        *below, root = hierarchy.path(int(mine))
        merged = np.full(len(others), hierarchy.loss[root])
        for node in reversed(below):
            inside = (first >= hierarchy.first[node]) & (last <= hierarchy.last[node])
            merged[inside] = hierarchy.loss[node]
        added += merged * together - hierarchy.loss[mine] * sizes[one] - hierarchy.loss[theirs] * sizes[others]
    return added


def refine_if_asked(
    blocks: Blocks, recoding: Recoding, facts: Mapping[str, Any], *, rounds: int = 0, piece: int = PIECE
) -> SearchResult:
    """A finished recoding after so many rounds of refining, with what refining did among the facts of the search.

    With the option ``refine`` it goes on for so many seconds instead, or until nothing improves. A model on the whole
    release may ask for classes to be merged afterwards; what was there before is kept where that has cost more.
    """
    problem = blocks.problem
    seconds = problem.options.get("refine")
    if seconds is None and not rounds:
        return SearchResult(recoding, facts)
    problem.progress("refining", 0.0)
    refined = refine(
        blocks,
        recoding.row_class,
        rounds=rounds if seconds is None else None,
        piece=piece if seconds is None else PIECE,
        deadline=time.monotonic() + float(seconds) if seconds is not None else None,
        progress=lambda share: problem.progress("refining", share),
    )
    other = finish(blocks, refined.row_class)
    metric = cell_metric(problem)
    priced = replace(problem, metric=metric)
    before, after = cost_of(priced, recoding), cost_of(priced, other)
    refinement = {
        "measure": metric.name,
        "more_is_better": metric.higher_is_better,
        "before": metric.value(before),
        "after": metric.value(min(before, after)),
        "steps": refined.steps,
        "rounds": refined.rounds,
        "ended": "nothing improves" if refined.finished else "rounds" if seconds is None else "time",
    }
    better = other if after < before else recoding
    return SearchResult(better, {**facts, "classes": better.n_classes, "refined": refinement})
