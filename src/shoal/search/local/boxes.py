"""Boxes: what a lattice node makes of a tuple, with its cost; the arrays that covering and improving work on.

Everything is flat arrays for the compiled kernels: for column c and level l, ``maps[offsets[c, l] + leaf]`` is a dense
number of the leaf's node and ``costs[offsets[c, l] + leaf]`` what releasing that node costs a cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.metrics import METRICS, CellMetric
from shoal.search.problem import Problem

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
    columns: tuple[int, ...]
    """The quasi-identifiers, dearest first: a sum of costs passes its limit soonest that way."""
    codes: NDArray[np.int32]
    """Leaf codes of the tuples, rows in the order of ``columns``."""
    node_cost: list[Floats]
    """Cost of a cell released as each node, by column in the order of ``columns``."""
    offsets: Ints
    """Where each column's level begins in ``maps`` and ``costs``."""
    radices: Ints
    """How many nodes each column's level has."""
    maps: NDArray[np.int32]
    """Dense node number of each leaf at each level."""
    costs: Floats
    """Cell cost of each leaf at each level."""

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
