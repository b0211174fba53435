"""Where a local recoding works: the records that can be released, by block.

A local recoding partitions the records; each class is released as the lowest common ancestor of its values, or where
the policy asks for ranges as their tight range (`ranged_columns`). Boundaries cut the table into blocks first (Campan's
maximum allowed microdata, MAM): records of different blocks can never share a class. A block that fails the models as
a whole is suppressed (OUT; for superset-closed models the least that any release must suppress, Campan Properties 5
and 6).

*Boxes* are what a lattice node makes of a tuple, with its cost, as flat arrays for the compiled kernels: for column c
and level l, ``maps[offsets[c, l] + leaf]`` is a dense number of the leaf's node and ``costs[offsets[c, l] + leaf]``
what releasing that node costs a cell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.metrics import METRICS, CellMetric
from shoal.models.base import Model
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import class_holds, evaluate_stats
from shoal.search.local.ranged_columns import RangedColumn, ranged_columns
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Counts, Histogram, Mask
from shoal.table.recoding import SUPPRESSED

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_KEY_LIMIT = 2**62


def cell_metric(problem: Problem) -> CellMetric:
    """The measure that a local recoding lowers cell by cell: the problem's, or NCP where it has no cells."""
    ncp = METRICS["ncp"]
    assert isinstance(ncp, CellMetric)
    return problem.metric if isinstance(problem.metric, CellMetric) else ncp


@dataclass(frozen=True, eq=False)
class Trees:
    """The hierarchies of all columns, one after the other, as flat arrays."""

    offsets: Ints
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    parents: NDArray[np.int32]
    costs: Floats


@dataclass(frozen=True, eq=False)
class Boxes:
    """The lattice of a problem as flat arrays."""

    problem: Problem
    columns: tuple[int, ...]  # the quasi-identifiers, dearest first: a sum of costs passes its limit soonest that way
    codes: NDArray[np.int32]  # leaf codes of the tuples, rows in the order of ``columns``
    node_cost: list[Floats]  # cost of a cell released as each node, by column in the order of ``columns``
    offsets: Ints  # where each column's level begins in ``maps`` and ``costs``
    radices: Ints  # how many nodes each column's level has
    maps: NDArray[np.int32]  # dense node number of each leaf at each level
    costs: Floats  # cell cost of each leaf at each level

    @classmethod
    def of(cls, problem: Problem) -> Boxes:
        """The boxes of a problem."""
        metric = cell_metric(problem)
        cells = [metric.weight(hierarchy) * metric.cell(hierarchy) for hierarchy in problem.hierarchies]
        means = [float(cell[ladder.nodes].mean()) for cell, ladder in zip(cells, problem.ladders, strict=True)]
        columns = [int(j) for j in np.argsort([-each for each in means], kind="stable")]
        node_cost, ladders = [cells[j] for j in columns], [problem.ladders[j] for j in columns]
        deepest = max(len(ladder.nodes) for ladder in ladders)
        offsets, radices = np.zeros((2, len(ladders), deepest), dtype=np.int64)
        radices += 1
        maps, costs, length = [], [], 0
        for c, ladder in enumerate(ladders):
            for level, row in enumerate(ladder.nodes):
                distinct, dense = np.unique(row, return_inverse=True)
                offsets[c, level], radices[c, level] = length, len(distinct)
                maps.append(dense.astype(np.int32))
                costs.append(node_cost[c][row])
                length += len(row)
        codes = np.ascontiguousarray(problem.table.codes[columns])
        return cls(
            problem, tuple(columns), codes, node_cost, offsets, radices, np.concatenate(maps), np.concatenate(costs)
        )

    @cached_property
    def trees(self) -> Trees:
        """The hierarchies as flat arrays, in the order of ``columns``."""
        hierarchies = [self.problem.hierarchies[j] for j in self.columns]
        sizes = [len(hierarchy.labels) for hierarchy in hierarchies]
        return Trees(
            np.cumsum([0, *sizes[:-1]]).astype(np.int64),
            np.concatenate([hierarchy.first for hierarchy in hierarchies]).astype(np.int32),
            np.concatenate([hierarchy.last for hierarchy in hierarchies]).astype(np.int32),
            np.concatenate([hierarchy.parents for hierarchy in hierarchies]).astype(np.int32),
            np.concatenate(self.node_cost),
        )

    @property
    def packs(self) -> bool:
        """Whether the codes of a box fit one 62-bit key."""
        return bool(math.prod(self.radices.max(axis=1).tolist()) <= _KEY_LIMIT)

    def lattice(self) -> tuple[NDArray[np.int32], Floats]:
        """Every node, cheapest on average first, and the least that any of its boxes costs."""
        shape = [len(self.problem.ladders[j].nodes) for j in self.columns]
        counts, total, floor = self.problem.table.counts, np.zeros(()), np.zeros(())
        for c, j in enumerate(self.columns):
            leaves = np.bincount(self.codes[c], weights=counts, minlength=self.problem.hierarchies[j].n_leaves)
            present = np.flatnonzero(leaves)
            cells = self.node_cost[c][self.problem.ladders[j].nodes][:, present]
            total = np.asarray(total)[..., None] + cells @ leaves[present]
            floor = np.asarray(floor)[..., None] + cells.min(axis=1)
        order = np.argsort(total.ravel(), kind="stable")
        nodes = np.stack(np.unravel_index(order, shape), axis=1).astype(np.int32)
        return nodes, np.asarray(floor).ravel()[order]


Rows = NDArray[np.int64]
Classes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Blocks:
    """The records of a problem that can be released, by block."""

    problem: Problem
    tuple_block: Classes  # ClassSet of each tuple, or `SUPPRESSED` for those that are OUT
    n_blocks: int

    @cached_property
    def row_block(self) -> Classes:
        """ClassSet of each row, or `SUPPRESSED`."""
        return self.tuple_block[self.problem.table.row_tuple]

    @cached_property
    def row_codes(self) -> NDArray[np.int32]:
        """Leaf code of each row: ``row_codes[row, j]`` is that of quasi-identifier ``j``."""
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
        """The quasi-identifiers that are released as ranges, by index."""
        return ranged_columns(self.problem)

    @cached_property
    def without_ranges(self) -> Blocks:
        """The same records where every quasi-identifier is released as nodes of its tree."""
        return replace(self, problem=replace(self.problem, options={**self.problem.options, "ranges": ()}))

    def with_split_rows(self, entry: Rows, weights: Counts) -> Blocks:
        """The same blocks where rows that stand for several records are split into rows of fewer."""
        table = self.problem.table.parted(entry, weights)
        return Blocks(replace(self.problem, table=table), self.tuple_block, self.n_blocks)

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
        return class_holds(self.class_models, stats)


def prepare(problem: Problem, engine: LocalEngine) -> Blocks:
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
    return Blocks(problem, number[grouping.tuple_class], int(kept.sum()))


def class_extremes(blocks: Blocks, row_class: Classes, n_classes: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The smallest and the largest leaf code of each class in each quasi-identifier: a row a class."""
    kept = np.flatnonzero(row_class >= 0)
    order = kept[np.argsort(row_class[kept], kind="stable")]
    starts = np.searchsorted(row_class[order], np.arange(n_classes))
    codes = blocks.row_codes[order]
    return np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
