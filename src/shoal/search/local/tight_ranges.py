"""Quasi-identifiers that a local recoding releases as ranges: the tight range of a class instead of a node of its tree.

A class whose values run from 22 to 30 is released as ``22<=30``, a class of one value as the value. The range lies
within the lowest common ancestor of the values, and so within their boundary: it never tells less than the node would.
Both ends are values of records of the class; that is what makes it tight.

A missing value is part of no range. A class of missing values alone is released as missing; one that mixes missing
values and numbers as the lowest common ancestor, as without ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError
from shoal.hierarchies.hierarchy import FloatArray, Hierarchy, IntArray
from shoal.hierarchies.ranges import ancestors, with_ranges
from shoal.hierarchies.source import HierarchyError
from shoal.search.local.range_options import read_ranges
from shoal.search.problem import Problem


@dataclass(frozen=True, eq=False)
class RangedColumn:
    """A quasi-identifier of numbers, in ascending order of its leaf codes, that is released as ranges."""

    hierarchy: Hierarchy
    name: str
    missing: int
    """The leaf of the missing value, the first or the last one; -1 where there is none."""

    @staticmethod
    def of(problem: Problem, column: int) -> RangedColumn:
        """A column whose values `read_options` or `read_ranges` has found to be numbers in order."""
        hierarchy = problem.hierarchies[column]
        leaves = hierarchy.labels[: hierarchy.n_leaves]
        missing = leaves.index(None) if None in leaves else -1
        return RangedColumn(hierarchy, problem.table.quasi[column], missing)

    def mixed(self, low: IntArray, high: IntArray) -> NDArray[np.bool_]:
        """Which classes, given by their smallest and largest leaf, have both missing values and numbers."""
        mixed: NDArray[np.bool_] = (low != high) & ((low == self.missing) | (high == self.missing))
        return mixed

    def losses(self, low: IntArray, high: IntArray) -> FloatArray:
        """NCP of what each class releases, by its smallest and largest leaf: that of its range, or of the node."""
        domain = float(self.hierarchy.spans[self.hierarchy.root])
        result = (high - low) / max(domain - 1, 1.0)
        mixed = np.flatnonzero(self.mixed(low, high))
        result[mixed] = self.hierarchy.loss[ancestors(self.hierarchy, low[mixed], high[mixed])]
        return result

    def merge_costs(
        self, low: IntArray, high: IntArray, sizes: NDArray[np.int64], one: int, others: NDArray[np.int64]
    ) -> FloatArray:
        """What merging one class with each of some others adds to the sum of the column's cell losses."""
        own = self.losses(low, high) * sizes
        merged = self.losses(np.minimum(low[one], low[others]), np.maximum(high[one], high[others]))
        return np.asarray(merged * (sizes[one] + sizes[others]) - own[one] - own[others])

    def released(self, low: IntArray, high: IntArray) -> tuple[Hierarchy, IntArray]:
        """The hierarchy with the ranges of some classes as nodes, and the node that each class releases."""
        mixed = self.mixed(low, high)
        hierarchy, ranges = self.with_ranges(np.stack([low, high], axis=1)[~mixed])
        nodes = np.empty(len(low), dtype=np.int32)
        nodes[~mixed] = ranges
        nodes[mixed] = ancestors(self.hierarchy, low[mixed], high[mixed])
        return hierarchy, nodes

    def with_ranges(self, pairs: IntArray) -> tuple[Hierarchy, IntArray]:
        """The hierarchy with some ranges, and their nodes; a label that it has already is a `PolicyError`."""
        try:
            return with_ranges(self.hierarchy, pairs, f"columns.{self.name}.hierarchy")
        except HierarchyError as error:
            raise PolicyError(error.problems) from None


def ranged_columns(problem: Problem) -> Mapping[int, RangedColumn]:
    """The quasi-identifiers that the option ``ranges`` names, by place; `PolicyError` with every problem."""
    return {column: RangedColumn.of(problem, column) for column in read_ranges(problem)}
