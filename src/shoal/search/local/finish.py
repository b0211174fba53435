"""How every local recoding ends: classes that release the same are merged, the whole is made to hold, then refined."""

import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import ancestors
from shoal.metrics import ReleaseSummary
from shoal.search.evaluation import evaluate_stats
from shoal.search.kernels import plain_refinement
from shoal.search.kernels.compiling import compile_ahead
from shoal.search.kernels.load import refining_kernels
from shoal.search.local.blocks import Blocks, Classes, Codes, Indices, cell_metric, class_extremes
from shoal.search.local.refinement.arrangement import PIECE
from shoal.search.local.refinement.refine import RefinedPartition, refine
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult
from shoal.table.classes import ClassStats, Counts, Floats, Mask
from shoal.table.recoding import SUPPRESSED, Recoding


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


def holds_as_whole(blocks: Blocks, row_class: Classes) -> bool:
    """Whether a partition satisfies every model as it is, but for classes that coincide being one."""
    row_class, _, nodes = _coinciding(blocks, row_class)
    stats = replace(blocks.stats(row_class, len(nodes)), reference=None)
    return evaluate_stats(blocks.problem.models, stats, 0)[0]


def cost_of(problem: Problem, recoding: Recoding) -> float:
    """What a recoding costs by the problem's measure; less is better."""
    return problem.metric.cost(problem.metric.of(ReleaseSummary.of(recoding)))


def _finished(blocks: Blocks, row_class: Classes) -> Recoding:
    """The recoding of a partition after as few merges as this way of merging needs."""
    problem, table = blocks.problem, blocks.problem.table
    while True:
        row_class, hierarchies, nodes = _coinciding(blocks, row_class)
        stats = blocks.stats(row_class, len(nodes))
        failing = ~blocks.holds(stats)  # each class as it is: leaving it out would change what others are compared with
        if not failing.any():
            satisfied, kept = evaluate_stats(problem.models, replace(stats, reference=None), 0)
            if satisfied:
                return Recoding(table.quasi, hierarchies, row_class, nodes, weights=table.weights, entry=table.entry)
            failing = ~kept if not kept.all() else _most_leaking(blocks, stats)
        row_class = _merge_failing(blocks, row_class, stats.records, failing)


def _coinciding(blocks: Blocks, row_class: Classes) -> tuple[Classes, tuple[Hierarchy, ...], Codes]:
    """Make classes that release the same tuple one, numbered by these tuples: ranges where asked for, else ancestors.

    Gives the class of each row, the hierarchies, with the ranges as nodes, and the nodes of each class.
    """
    distinct, dense = np.unique(row_class, return_inverse=True)
    suppressed = int(distinct[0] == SUPPRESSED)
    low, high = class_extremes(blocks, (dense - suppressed).astype(np.int32), len(distinct) - suppressed)
    hierarchies, nodes = list(blocks.problem.hierarchies), np.empty_like(low)
    for j, hierarchy in enumerate(blocks.problem.hierarchies):
        if j in blocks.ranged:
            hierarchies[j], nodes[:, j] = blocks.ranged[j].released(low[:, j], high[:, j])
        else:
            nodes[:, j] = ancestors(hierarchy, low[:, j], high[:, j])
    tuples, number = np.unique(nodes, axis=0, return_inverse=True)
    of_class = np.append(number.ravel(), SUPPRESSED).astype(np.int32)  # its last entry is that of class -1
    return of_class[dense - suppressed], tuple(hierarchies), tuples.astype(np.int32)


def _most_leaking(blocks: Blocks, stats: ClassStats) -> Mask:
    """Where a model fails on the release as a whole: the classes that take part in it more than others do.

    For (alp, dif) these are the classes in which a protected value leaks more than on average; all, where none does.
    """
    failing = np.zeros(stats.n_classes, dtype=np.bool_)
    for model in blocks.problem.models:
        view = replace(stats, reference=None).view(model.column)
        if not model.table_holds(view):
            worst = np.zeros(stats.n_classes)
            for strength in model.strengths(view).values():
                weak = -strength.per_class if strength.at_least else strength.per_class
                worst = np.maximum(worst, weak - weak.min())  # a figure that is the same for all tells nothing
            failing |= (worst > 0) | (worst.max() == 0)
    return failing


def _merge_failing(blocks: Blocks, row_class: Classes, sizes: Counts, failing: Mask) -> Classes:
    """Merge each failing class with the class of its block that costs least to merge with.

    Where each of them is alone in its block, classes elsewhere are merged; where every class is, nothing changes.
    """
    block, target = np.zeros(len(sizes), dtype=np.int32), np.append(np.arange(len(sizes)), SUPPRESSED)
    block[row_class[row_class >= 0]] = blocks.row_block[row_class >= 0]
    company = np.bincount(block, minlength=blocks.n_blocks)[block] > 1
    low, high = class_extremes(blocks, row_class, len(sizes))
    losses = np.stack([blocks.losses(j, low[:, j], high[:, j]) for j in range(low.shape[1])], axis=1)
    merged = np.zeros(len(sizes), dtype=np.bool_)
    for each in np.flatnonzero(failing & company if (failing & company).any() else company):
        if merged[each]:
            continue
        merged[each] = True
        others = np.flatnonzero((block == block[each]) & ~merged)
        if len(others):
            partner = others[np.argmin(merge_costs(blocks, low, high, losses, sizes, int(each), others))]
            target[each], merged[partner] = partner, True
    return target[row_class].astype(np.int32)


def merge_costs(
    blocks: Blocks, low: Codes, high: Codes, losses: Floats, sizes: Counts, one: int, others: Indices
) -> Floats:
    """What merging one class with each of some others adds to the sum of cell losses, given those of each class."""
    added, together = np.zeros(len(others)), sizes[one] + sizes[others]
    for j in sorted(range(low.shape[1]), key=lambda column: column in blocks.ranged):  # ranges last
        first, last = np.minimum(low[others, j], low[one, j]), np.maximum(high[others, j], high[one, j])
        before = losses[one, j] * sizes[one], losses[others, j] * sizes[others]
        added += blocks.losses(j, first, last) * together - before[0] - before[1]
    return added


def refine_if_asked(
    blocks: Blocks,
    recoding: Recoding,
    facts: Mapping[str, Any],
    *,
    rounds: int = 0,
    piece: int = PIECE,
    near: Codes | None = None,
    timed: bool = True,
) -> SearchResult:
    """A finished recoding after so many rounds of refining, with what refining did among the facts of the search.

    With the option ``refine`` it goes on from there for so many seconds, or until nothing improves, if it may be
    ``timed``: so asking for it never costs more. A model on the whole release may ask for classes to be merged
    afterwards; what was there before is kept where that has cost more. ``near`` are the nearest tuples of each tuple,
    for `refine`.
    """
    problem = blocks.problem
    seconds = problem.options.get("refine") if timed else None
    if seconds is None and not rounds:
        return SearchResult(recoding, facts)
    metric, before, parts = cell_metric(problem), recoding, list[RefinedPartition]()
    if rounds:
        recoding = refined(blocks, recoding, parts, near=near, piece=piece, rounds=rounds)
    if seconds is not None:
        recoding = refined(blocks, recoding, parts, near=near, seconds=float(seconds))
    priced, earlier = replace(problem, metric=metric), facts.get("refined", {})  # what was refined before this
    refinement = {
        "measure": metric.name,
        "more_is_better": metric.higher_is_better,
        "before": earlier["before"] if earlier else metric.value(cost_of(priced, before)),
        "after": metric.value(cost_of(priced, recoding)),
        "steps": dict(sum((Counter(part.steps) for part in parts), Counter(earlier.get("steps", {})))),
        "rounds": sum((part.rounds for part in parts), earlier.get("rounds", 0)),
        "ended": "nothing improves" if parts[-1].finished else "rounds" if seconds is None else "time",
    }
    return SearchResult(recoding, {**facts, "classes": recoding.n_classes, "refined": refinement})


def refined(
    blocks: Blocks,
    recoding: Recoding,
    parts: list[RefinedPartition],
    *,
    near: Codes | None = None,
    piece: int = PIECE,
    least: int = 1,
    rounds: int | None = None,
    seconds: float | None = None,
) -> Recoding:
    """A recoding after so many rounds or seconds of refining, if that costs less; what was done is added to the parts.

    Classes keep at least so many records, also where models ask for fewer.
    """
    problem = blocks.problem
    needed = refining_kernels(problem.table.n_rows, seconds, repeated=problem.repeated)
    compile_ahead(needed, problem.progress)
    problem.progress("refining", 0.0)
    part = refine(
        blocks,
        recoding.row_class,
        rounds=rounds,
        deadline=math.inf if seconds is None else time.monotonic() + seconds,
        piece=piece,
        near=near,
        least=least,
        kernels=None if needed else plain_refinement,
        progress=partial(problem.progress, "refining"),
    )
    parts.append(part)
    priced, other = replace(problem, metric=cell_metric(problem)), finish(blocks, part.row_class)
    return other if cost_of(priced, other) < cost_of(priced, recoding) else recoding
