"""What every local recoding shares: where it may work, when a set of records satisfies, and how it ends.

A local recoding partitions the records; each class is released as the lowest common ancestor of its values. Boundaries
cut the table into blocks first (Campan's maximum allowed microdata, MAM): records of different blocks can never share
a class, and a block that fails the models as a whole is left out (OUT; for superset-closed models the least that any
release must leave out, Campan Properties 5 and 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.diagnosis import infeasible
from shoal.algorithms.evaluation import evaluate_stats
from shoal.algorithms.problem import Problem
from shoal.engines.local import LocalEngine
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.base import Model
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
            name: np.bincount(codes[kept], minlength=len(self.problem.domains[name].values)).astype(np.int64)
            for name, codes in self.problem.table.row_sensitive.items()
        }

    @cached_property
    def class_models(self) -> tuple[Model, ...]:
        """The models that can be tested on a class alone, given the reference: all but (alp, dif)."""
        return tuple(model for model in self.problem.models if model.merge_closed)

    def stats(self, row_class: Classes, n_classes: int, rows: Rows | None = None) -> ClassStats:
        """Statistics of some classes: ``row_class`` gives the class of each of ``rows`` (of every row when None).

        Rows of class -1 are in none. Every class from 0 to ``n_classes`` - 1 must have a row. Models see the whole
        release as their reference, so the classes may be any part of it.
        """
        table = self.problem.table
        kept = row_class >= 0
        owner = row_class[kept].astype(np.int64)
        sizes = np.bincount(owner, minlength=n_classes).astype(np.int64)
        histograms = {}
        for name in self.problem.sensitive_columns:
            values = table.row_sensitive[name] if rows is None else table.row_sensitive[name][rows]
            histograms[name] = Histogram.of(owner, values[kept], n_classes, len(self.problem.domains[name].values))
        return ClassStats(sizes, histograms, self.problem.domains, self.reference)

    def holds(self, stats: ClassStats) -> Mask:
        """Which classes satisfy every model that can be tested on a class alone."""
        held = np.ones(stats.n_classes, dtype=np.bool_)
        for model in self.class_models:
            held &= model.holds(stats.view(model.column))
        return held


def prepare(problem: Problem, engine: LocalEngine) -> Ground:
    """Cut the table into blocks by the boundaries and leave out what cannot comply; `InfeasibleError` if too much."""
    top = tuple(levels - 1 for levels in problem.shape)
    grouping = engine.classes(top)
    satisfied, kept = evaluate_stats(problem.models, engine.stats(grouping, problem.sensitive_columns), problem.budget)
    if not satisfied:
        raise infeasible(problem, engine)
    number = np.full(grouping.n_classes, SUPPRESSED, dtype=np.int32)
    number[kept] = np.arange(int(kept.sum()), dtype=np.int32)
    return Ground(problem, number[grouping.tuple_class], int(kept.sum()))


def ancestors(hierarchy: Hierarchy, low: NDArray[np.int32], high: NDArray[np.int32]) -> NDArray[np.int32]:
    """The lowest common ancestor of each range of leaf codes."""
    node = low.copy()
    while (short := np.flatnonzero(hierarchy.last[node] < high)).size:
        node[short] = hierarchy.parents[node[short]]
    return node


def class_nodes(ground: Ground, row_class: Classes, n_classes: int) -> NDArray[np.int32]:
    """What each class releases: the lowest common ancestor of its values in each quasi-identifier."""
    kept = np.flatnonzero(row_class >= 0)
    order = kept[np.argsort(row_class[kept], kind="stable")]
    starts = np.searchsorted(row_class[order], np.arange(n_classes))
    nodes = np.empty((n_classes, len(ground.problem.hierarchies)), dtype=np.int32)
    for j, hierarchy in enumerate(ground.problem.hierarchies):
        codes = ground.row_codes[order, j]
        low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
        nodes[:, j] = ancestors(hierarchy, low, high)
    return nodes


def finish(ground: Ground, row_class: Classes) -> Recoding:
    """The recoding of a partition: coinciding classes made one, and merged further where the whole fails.

    Clusters that end with the same released tuple are one class. Their union satisfies every merge-closed model; for
    (alp, dif) the classes that leak most are merged with their cheapest neighbours until it holds, at the
    latest when each block is one class, which `prepare` has found to satisfy.
    """
    problem = ground.problem
    row_class = row_class.copy()
    while True:
        row_class, nodes = _coinciding(ground, row_class)
        stats = ground.stats(row_class, len(nodes))
        satisfied, kept = evaluate_stats(problem.models, replace_reference(stats), 0)
        if satisfied:
            return Recoding(problem.table.quasi, problem.hierarchies, row_class, nodes)
        row_class = _merge_failing(ground, row_class, nodes, ~kept if not kept.all() else _most_leaking(ground, stats))


def replace_reference(stats: ClassStats) -> ClassStats:
    """The same classes as a release of their own."""
    return ClassStats(stats.sizes, stats.histograms, stats.domains)


def _coinciding(ground: Ground, row_class: Classes) -> tuple[Classes, NDArray[np.int32]]:
    """Make classes that release the same tuple one, and number classes by their released tuples."""
    distinct, dense = np.unique(row_class, return_inverse=True)
    offset = int(distinct[0] == SUPPRESSED)
    classes: Classes = (dense - offset).astype(np.int32)
    nodes = class_nodes(ground, classes, len(distinct) - offset)
    tuples, number = np.unique(nodes, axis=0, return_inverse=True)
    renumbered = np.full(len(row_class), SUPPRESSED, dtype=np.int32)
    renumbered[classes >= 0] = number.ravel()[classes[classes >= 0]]
    return renumbered, tuples.astype(np.int32)


def _most_leaking(ground: Ground, stats: ClassStats) -> Mask:
    """Where a model fails on the release as a whole: the classes in which what it limits is most frequent."""
    failing = np.zeros(stats.n_classes, dtype=np.bool_)
    for model in ground.problem.models:
        view = replace_reference(stats).view(model.column)
        if not model.table_holds(view):
            worst = np.zeros(stats.n_classes)
            for strength in model.strengths(view).values():
                worst = np.maximum(worst, strength.per_class if not strength.at_least else -strength.per_class)
            failing |= worst >= worst.max()
    return failing


def _merge_failing(ground: Ground, row_class: Classes, nodes: NDArray[np.int32], failing: Mask) -> Classes:
    """Merge each failing class with the class of its block that costs least to merge with."""
    block = np.zeros(len(nodes), dtype=np.int32)
    kept = row_class >= 0
    block[row_class[kept]] = ground.row_block[kept]
    target = np.arange(len(nodes))
    sizes = np.bincount(row_class[kept], minlength=len(nodes))
    merged = np.zeros(len(nodes), dtype=np.bool_)
    for each in np.flatnonzero(failing):
        if merged[each]:
            continue
        others = np.flatnonzero((block == block[each]) & (np.arange(len(nodes)) != each) & ~merged)
        if not len(others):
            continue
        cost = merge_costs(ground.problem.hierarchies, nodes, sizes, int(each), others)
        partner = int(others[np.argmin(cost)])
        target[each] = partner
        merged[each] = merged[partner] = True
    if not merged.any():  # every failing class is alone in its block: merge nothing more, fall back to the blocks
        return ground.row_block.copy()
    result = np.full(len(row_class), SUPPRESSED, dtype=np.int32)
    result[kept] = target[row_class[kept]]
    return result


def merge_costs(
    hierarchies: Sequence[Hierarchy],
    nodes: NDArray[np.int32],
    sizes: NDArray[np.int64],
    one: int,
    others: NDArray[np.int64],
) -> NDArray[np.float64]:
    """What merging one class with each of some others adds to the sum of cell losses."""
    merged, own, theirs = np.zeros(len(others)), 0.0, np.zeros(len(others))
    for j, hierarchy in enumerate(hierarchies):
        low = np.minimum(hierarchy.first[nodes[one, j]], hierarchy.first[nodes[others, j]])
        high = np.maximum(hierarchy.last[nodes[one, j]], hierarchy.last[nodes[others, j]])
        common = np.where(
            hierarchy.last[nodes[others, j]] - hierarchy.first[nodes[others, j]]
            >= hierarchy.last[nodes[one, j]] - hierarchy.first[nodes[one, j]],
            nodes[others, j],
            nodes[one, j],
        ).astype(np.int32)
        while (short := np.flatnonzero((hierarchy.first[common] > low) | (hierarchy.last[common] < high))).size:
            common[short] = hierarchy.parents[common[short]]
        merged += hierarchy.loss[common]
        own += float(hierarchy.loss[nodes[one, j]])
        theirs += hierarchy.loss[nodes[others, j]]
    together = sizes[one] + sizes[others]
    return np.asarray(merged * together - own * sizes[one] - theirs * sizes[others])
