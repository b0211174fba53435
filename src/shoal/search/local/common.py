"""What every local recoding shares: where it may work, when a set of records satisfies, and how it ends.

A local recoding partitions the records; each class is released as the lowest common ancestor of its values, or where
the policy asks for ranges as their tight range (`tight_ranges`). Boundaries cut the table into blocks first
(Campan's maximum allowed microdata, MAM): records of different blocks can never share a class, and a block that fails
the models as a whole is left out (OUT; for superset-closed models the least that any release must leave out, Campan
Properties 5 and 6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import ancestors
from shoal.metrics import ReleaseSummary
from shoal.models.base import Model
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import evaluate_stats
from shoal.search.local.tight_ranges import RangedColumn, ranged_columns
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Counts, Histogram, Mask
from shoal.table.recoding import SUPPRESSED, Recoding

Rows = NDArray[np.int64]
Classes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Ground:
    """Where a local recoding works: the records that can be released, by block."""

    problem: Problem
    tuple_block: Classes
    """Block of each tuple, or `SUPPRESSED` for those that are OUT."""
    n_blocks: int

    @cached_property
    def row_block(self) -> Classes:
        """Block of each row, or `SUPPRESSED`."""
        return self.tuple_block[self.problem.table.row_tuple]

    @cached_property
    def row_codes(self) -> NDArray[np.int32]:
        """Leaf codes of each row: a row a record, a column a quasi-identifier."""
        return np.ascontiguousarray(self.problem.table.codes.T[self.problem.table.row_tuple])

    @cached_property
    def reference(self) -> dict[str, Counts]:
        """Counts of each sensitive value over all records that can be released."""
        kept = self.row_block >= 0
        return {
            name: self.problem.table.bincount(codes, kept, len(self.problem.domains[name].values))
            for name, codes in self.problem.table.row_sensitive.items()
        }

    @cached_property
    def class_models(self) -> tuple[Model, ...]:
        """The models that can be tested on a class alone, given the reference: all but (alp, dif)."""
        return tuple(model for model in self.problem.models if model.merge_closed)

    @cached_property
    def ranged(self) -> Mapping[int, RangedColumn]:
        """The quasi-identifiers that are released as ranges, by place."""
        return ranged_columns(self.problem)

    @cached_property
    def without_ranges(self) -> Ground:
        """The same ground where every quasi-identifier is released as nodes of its tree."""
        return replace(self, problem=replace(self.problem, options={**self.problem.options, "ranges": ()}))

    def parted(self, entry: Rows, weights: Counts) -> Ground:
        """The same ground with the rows of the table parted."""
        table = self.problem.table.parted(entry, weights)
        return Ground(replace(self.problem, table=table), self.tuple_block, self.n_blocks)

    def stats(self, row_class: Classes, n_classes: int, rows: Rows | None = None) -> ClassStats:
        """Statistics of some classes: ``row_class`` gives the class of each of ``rows`` (of every row when None).

        Rows of class -1 are in none. Every class from 0 to ``n_classes`` - 1 must have a row. Models see the whole
        release as their reference, so the classes may be any part of it.
        """
        table = self.problem.table
        kept = row_class >= 0
        owner = row_class[kept].astype(np.int64)
        weights = None
        if table.weights is not None:
            weights = (table.weights if rows is None else table.weights[rows])[kept]
        sizes = np.bincount(owner, weights=weights, minlength=n_classes).astype(np.int64)
        histograms = {}
        for name in self.problem.sensitive_columns:
            values = table.row_sensitive[name] if rows is None else table.row_sensitive[name][rows]
            width = len(self.problem.domains[name].values)
            histograms[name] = Histogram.of(owner, values[kept], n_classes, width, weights)
        return ClassStats(sizes, histograms, self.problem.domains, self.reference)

    def holds(self, stats: ClassStats) -> Mask:
        """Which classes satisfy every model that can be tested on a class alone."""
        held = np.ones(stats.n_classes, dtype=np.bool_)
        for model in self.class_models:
            held &= model.holds(stats.view(model.column))
        return held


def prepare(problem: Problem, engine: LocalEngine) -> Ground:
    """Cut the table into blocks by the boundaries and leave out what cannot comply; `InfeasibleError` if too much.

    Columns that cannot be released as ranges although the policy asks for it are a `PolicyError`, before any search.
    """
    ranged_columns(problem)
    top = tuple(levels - 1 for levels in problem.shape)
    grouping = engine.classes(top)
    satisfied, kept = evaluate_stats(problem.models, engine.stats(grouping, problem.sensitive_columns), problem.budget)
    if not satisfied:
        raise infeasible(problem, engine)
    number = np.full(grouping.n_classes, SUPPRESSED, dtype=np.int32)
    number[kept] = np.arange(int(kept.sum()), dtype=np.int32)
    return Ground(problem, number[grouping.tuple_class], int(kept.sum()))


def class_nodes(ground: Ground, row_class: Classes, n_classes: int) -> NDArray[np.int32]:
    """The lowest common ancestor of the values of each class in each quasi-identifier, ranges or not."""
    low, high = class_extremes(ground, row_class, n_classes)
    nodes = [ancestors(hierarchy, low[:, j], high[:, j]) for j, hierarchy in enumerate(ground.problem.hierarchies)]
    return np.stack(nodes, axis=1)


def class_extremes(ground: Ground, row_class: Classes, n_classes: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The smallest and the largest leaf code of each class in each quasi-identifier: a row a class."""
    kept = np.flatnonzero(row_class >= 0)
    order = kept[np.argsort(row_class[kept], kind="stable")]
    starts = np.searchsorted(row_class[order], np.arange(n_classes))
    codes = ground.row_codes[order]
    return np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)


@dataclass(frozen=True, eq=False)
class _Released:
    """What some classes release."""

    hierarchies: tuple[Hierarchy, ...]
    """Those of the problem, with the ranges of the classes as nodes."""
    nodes: NDArray[np.int32]


def finish(ground: Ground, row_class: Classes) -> Recoding:
    """The recoding of a partition: coinciding classes made one, and merged further where the whole fails.

    Clusters that end with the same released tuple, ranges included, are one class. Their union satisfies every
    merge-closed model; for (alp, dif) classes that leak are merged with their cheapest neighbours until it holds, at
    the latest when each block is one class, which `prepare` has found to satisfy.

    Ranges set more classes apart than nodes do, so there may be more to merge. The classes that nodes would end with
    are then tried in ranges as well: the same partition never costs more in ranges than in nodes.
    """
    recoding = _finished(ground, row_class)
    if not ground.ranged or len(ground.class_models) == len(ground.problem.models):
        return recoding
    other = _finished(ground, _finished(ground.without_ranges, row_class).row_class)
    return min(recoding, other, key=lambda each: cost_of(ground.problem, each))


def cost_of(problem: Problem, recoding: Recoding) -> float:
    """What a recoding costs by the problem's measure; less is better."""
    summary = ReleaseSummary.of(recoding)
    return problem.metric.cost(problem.metric.of(summary))


def _finished(ground: Ground, row_class: Classes) -> Recoding:
    """The recoding of a partition after as few merges as this way of merging needs."""
    problem = ground.problem
    row_class = row_class.copy()
    while True:
        row_class, released = _coinciding(ground, row_class)
        stats = ground.stats(row_class, len(released.nodes))
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
        failing = ~kept if not kept.all() else _most_leaking(ground, stats)
        row_class = _merge_failing(ground, row_class, released, failing)


def replace_reference(stats: ClassStats) -> ClassStats:
    """The same classes as a release of their own."""
    return ClassStats(stats.sizes, stats.histograms, stats.domains)


def _coinciding(ground: Ground, row_class: Classes) -> tuple[Classes, _Released]:
    """Make classes that release the same tuple one, and number classes by their released tuples."""
    distinct, dense = np.unique(row_class, return_inverse=True)
    offset = int(distinct[0] == SUPPRESSED)
    classes: Classes = (dense - offset).astype(np.int32)
    released = _released(ground, *class_extremes(ground, classes, len(distinct) - offset))
    tuples, number = np.unique(released.nodes, axis=0, return_inverse=True)
    renumbered = np.full(len(row_class), SUPPRESSED, dtype=np.int32)
    renumbered[classes >= 0] = number.ravel()[classes[classes >= 0]]
    return renumbered, replace(released, nodes=tuples.astype(np.int32))


def _released(ground: Ground, low: NDArray[np.int32], high: NDArray[np.int32]) -> _Released:
    """What classes release by their smallest and largest values: ranges where asked for, else common ancestors."""
    hierarchies, nodes = list(ground.problem.hierarchies), np.empty_like(low)
    for j, hierarchy in enumerate(ground.problem.hierarchies):
        if j in ground.ranged:
            hierarchies[j], nodes[:, j] = ground.ranged[j].released(low[:, j], high[:, j])
        else:
            nodes[:, j] = ancestors(hierarchy, low[:, j], high[:, j])
    return _Released(tuple(hierarchies), nodes)


def _most_leaking(ground: Ground, stats: ClassStats) -> Mask:
    """Where a model fails on the release as a whole: the classes that take part in it more than others do.

    For (alp, dif) these are the classes in which a protected value leaks more than on average; all, where none does.
    """
    failing = np.zeros(stats.n_classes, dtype=np.bool_)
    for model in ground.problem.models:
        view = replace_reference(stats).view(model.column)
        if not model.table_holds(view):
            worst = np.zeros(stats.n_classes)
            for strength in model.strengths(view).values():
                weak = -strength.per_class if strength.at_least else strength.per_class
                worst = np.maximum(worst, weak - weak.min())  # a figure that is the same for all tells nothing
            failing |= (worst > 0) | (worst.max() == 0)
    return failing


def _merge_failing(ground: Ground, row_class: Classes, released: _Released, failing: Mask) -> Classes:
    """Merge each failing class with the class of its block that costs least to merge with.

    Where each of them is alone in its block, classes elsewhere are merged; where every class is, nothing changes.
    """
    count = len(failing)
    kept = row_class >= 0
    block = np.zeros(count, dtype=np.int32)
    block[row_class[kept]] = ground.row_block[kept]
    company = np.bincount(block, minlength=ground.n_blocks)[block] > 1
    sizes = ground.problem.table.bincount(row_class, kept, count)
    target, merged = np.arange(count), np.zeros(count, dtype=np.bool_)
    for each in np.flatnonzero(failing & company if (failing & company).any() else company):
        if merged[each]:
            continue
        others = np.flatnonzero((block == block[each]) & ~merged)
        others = others[others != each]
        if not len(others):
            continue
        cost = _costs_of_merging(ground, released, sizes, int(each), others)
        partner = int(others[np.argmin(cost)])
        target[each] = partner
        merged[each] = merged[partner] = True
    result = np.full(len(row_class), SUPPRESSED, dtype=np.int32)
    result[kept] = target[row_class[kept]]
    return result


def _costs_of_merging(
    ground: Ground, released: _Released, sizes: NDArray[np.int64], one: int, others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What merging one class with each of some others adds to the sum of cell losses, ranges included."""
    plain = [j for j in range(len(released.hierarchies)) if j not in ground.ranged]
    cost = merge_costs([released.hierarchies[j] for j in plain], released.nodes[:, plain], sizes, one, others)
    for j, column in ground.ranged.items():
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
