"""Where a local recoding works: the records that can be released, by block.

A local recoding partitions the records; each class is released as the lowest common ancestor of its values, or where
the policy asks for ranges as their tight range (`ranged_columns`). Boundaries cut the table into blocks first (Campan's
maximum allowed microdata, MAM): records of different blocks can never share a class. A block that fails the models as
a whole is suppressed (OUT; for superset-closed models the least that any release must suppress, Campan Properties 5
and 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.models.base import Model
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import class_holds, evaluate_stats
from shoal.search.local.ranged_columns import RangedColumn, ranged_columns
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Counts, Histogram, Mask
from shoal.table.recoding import SUPPRESSED

Rows = NDArray[np.int64]
Classes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Blocks:
    """The records of a problem that can be released, by block."""

    problem: Problem
    tuple_block: Classes
    """ClassSet of each tuple, or `SUPPRESSED` for those that are OUT."""
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
