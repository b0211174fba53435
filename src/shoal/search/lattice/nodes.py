"""The lattice of full-domain recodings: a node is a level for each quasi-identifier.

The whole lattice is held as arrays with an axis a quasi-identifier. Then "everything at least as general as this node"
and "everything at most as general" are slices, and a bound on a measure for every node is one broadcast sum.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.metrics import CellMetric, ReleaseSummary
from shoal.search.evaluation import Evaluation
from shoal.search.grouping import Grouping
from shoal.search.problem import Problem
from shoal.table.recoding import SUPPRESSED, Recoding

Node = tuple[int, ...]

TIE = 1e-12
"""Costs closer than this are equal: which of two orders a sum was taken in must not decide between nodes."""

MOST_NODES = 50_000_000
"""Largest lattice that is searched as a whole; beyond, the searches refuse rather than run for days."""


def check_size(problem: Problem, algorithm: str) -> None:
    """Refuse a lattice that cannot be held, before any work."""
    nodes = 1
    for levels in problem.shape:
        nodes *= levels
    if nodes > MOST_NODES:
        raise InputError(
            f"the lattice of {len(problem.shape)} quasi-identifiers has {nodes:,} nodes; {algorithm} searches at most "
            f"{MOST_NODES:,}. Use fewer quasi-identifiers, hierarchies with fewer levels or tighter boundaries, or the "
            f"algorithm greedy-lattice, which walks a single path."
        )


def above(node: Node) -> tuple[slice, ...]:
    """The nodes at least as general as this one."""
    return tuple(slice(level, None) for level in node)


def below(node: Node) -> tuple[slice, ...]:
    """The nodes at most as general as this one."""
    return tuple(slice(None, level + 1) for level in node)


def by_generality(shape: tuple[int, ...]) -> Iterator[Node]:
    """Every node, less general ones first; nodes of one height in lexicographic order."""
    flat = np.arange(int(np.prod(shape)))
    heights = np.sum(np.unravel_index(flat, shape), axis=0) if shape else np.zeros(1, dtype=np.int64)
    for index in flat[np.argsort(heights, kind="stable")]:
        yield as_node(np.unravel_index(int(index), shape))


def as_node(levels: tuple[np.intp, ...] | NDArray[np.intp]) -> Node:
    """A node from NumPy indices."""
    return tuple(int(level) for level in levels)


def minimal_nodes(satisfying: NDArray[np.bool_]) -> list[Node]:
    """The satisfying nodes that have no satisfying node below them, in order of generality."""
    covered = np.zeros_like(satisfying)
    for axis in range(satisfying.ndim):
        lower = [slice(None)] * satisfying.ndim
        upper = [slice(None)] * satisfying.ndim
        lower[axis], upper[axis] = slice(None, -1), slice(1, None)
        reach = satisfying | covered
        for level in range(1, satisfying.shape[axis]):
            here, under = list(lower), list(lower)
            here[axis], under[axis] = slice(level, level + 1), slice(level - 1, level)
            covered[tuple(here)] |= reach[tuple(under)]
            reach[tuple(here)] |= covered[tuple(here)]
    found = [as_node(node) for node in np.argwhere(satisfying & ~covered)]
    return sorted(found, key=lambda node: (sum(node), node))


def cell_bounds(problem: Problem, metric: CellMetric) -> NDArray[np.float64]:
    """For every node the cost (less is better) with nothing suppressed: a lower bound on its true cost."""
    total = np.zeros(())
    for j, means in enumerate(column_means(problem, metric)):
        part = metric.weight(problem.hierarchies[j]) * metric.column(means)
        total = np.asarray(total)[..., None] + part
    return np.asarray(metric.finish(total, problem.hierarchies))


def column_means(problem: Problem, metric: CellMetric) -> list[NDArray[np.float64]]:
    """For every column, its mean cell cost at each level with nothing suppressed."""
    result = []
    for j, (hierarchy, ladder) in enumerate(zip(problem.hierarchies, problem.ladders, strict=True)):
        leaf_counts = np.bincount(problem.table.codes[j], weights=problem.table.counts, minlength=hierarchy.n_leaves)
        cells = metric.cell(hierarchy)[ladder.nodes]
        result.append(cells @ leaf_counts / max(problem.table.n_rows, 1))
    return result


def released_nodes(problem: Problem, node: Node, tuples: NDArray[np.int32]) -> NDArray[np.int32]:
    """The hierarchy nodes that some tuples are released as at a lattice node: a row a tuple, a column a QI."""
    columns = [
        ladder.nodes[level][problem.table.codes[j][tuples]]
        for j, (ladder, level) in enumerate(zip(problem.ladders, node, strict=True))
    ]
    return np.stack(columns, axis=1).astype(np.int32)


def summarize(problem: Problem, node: Node, grouping: Grouping, kept: NDArray[np.bool_]) -> ReleaseSummary:
    """What a measure sees of the release at a lattice node."""
    return ReleaseSummary(
        hierarchies=problem.hierarchies,
        nodes=released_nodes(problem, node, grouping.representatives[kept]),
        sizes=grouping.sizes[kept],
        records=problem.table.n_rows,
    )


def recode(problem: Problem, node: Node, grouping: Grouping, evaluation: Evaluation) -> Recoding:
    """The recoding of a lattice node: its classes, those that fail suppressed; classes in canonical order."""
    nodes = released_nodes(problem, node, grouping.representatives)
    order = np.lexsort(nodes.T[::-1])
    order = order[evaluation.kept[order]]
    number = np.full(grouping.n_classes, SUPPRESSED, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    row_class = number[grouping.tuple_class][problem.table.row_tuple]
    return Recoding(
        quasi=problem.table.quasi,
        hierarchies=problem.hierarchies,
        row_class=row_class,
        nodes=nodes[order],
        levels=problem.nominal_levels(node),
        weights=problem.table.weights,
        entry=problem.table.entry,
    )
