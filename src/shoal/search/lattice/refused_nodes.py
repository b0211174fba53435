"""The nodes that a search over the lattice must have refused (Wong et al. 2007 call this reasoning minimality).

`incognito` releases a node below which none satisfies, so each neighbour with one column a level lower fails: more
records are in failing groups than may be suppressed. `optimal` takes a lower neighbour that satisfies unless what it
suppresses makes it dearer, which is bounded from the quasi-identifiers. `greedy-lattice` refused every node that it
passed.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.metrics import CellMetric
from shoal.models import least_size
from shoal.search.engine import LocalEngine
from shoal.search.lattice.greedy_lattice import path_to
from shoal.search.lattice.nodes import TIE, Node, cell_bounds, column_means, summarize
from shoal.search.problem import Problem
from shoal.search.refusals import (
    Codes,
    Refusals,
    RefusedNode,
    failed_by_chance,
    failed_groups,
    judged_alone,
    refused_by_chance,
)


def incognito_refusals(problem: Problem, engine: LocalEngine, shown: Codes) -> Refusals | None:
    """Every neighbour with one column a level lower."""
    return _refusals(problem, engine, shown, lambda node: _neighbours(problem, engine, node, lambda _: problem.budget))


def optimal_refusals(problem: Problem, engine: LocalEngine, shown: Codes) -> Refusals | None:
    """Every neighbour with one column a level lower that would have cost less."""

    def lower(node: Node) -> Iterator[RefusedNode]:
        if not problem.budget:
            return _neighbours(problem, engine, node, lambda _: 0)
        grouping = engine.classes(node)
        kept = np.ones(grouping.n_classes, dtype=np.bool_)
        kept[grouping.tuple_class[shown[0] < 0]] = False
        if problem.concealing is not None:  # nodes are compared without decoys, and who is one is not known
            kept |= grouping.sizes >= least_size(problem.models)
        cost = problem.metric.cost(problem.metric.of(summarize(problem, node, grouping, kept)))
        return _neighbours(problem, engine, node, lambda other: _affordable(problem, other, cost))

    return _refusals(problem, engine, shown, lower)


def greedy_lattice_refusals(problem: Problem, engine: LocalEngine, shown: Codes) -> Refusals | None:
    """Every node on the path up to the released one."""

    def passed(node: Node) -> Iterator[RefusedNode]:
        for each in path_to(problem, node):
            yield _refused(problem, engine, each, problem.budget)

    return _refusals(problem, engine, shown, passed)


def _refusals(
    problem: Problem, engine: LocalEngine, shown: Codes, refused: Callable[[Node], Iterator[RefusedNode]]
) -> Refusals | None:
    node = _released_node(problem, shown)
    if node is None or not judged_alone(problem):
        return None
    group = engine.classes(node).tuple_class
    return Refusals(
        failed_groups(problem, group, shown),
        tuple(refused(node)),
        failed_by_chance=failed_by_chance(problem, group),
        concealed=problem.concealing is not None,
    )


def _released_node(problem: Problem, shown: Codes) -> Node | None:
    """The least general node at which the released tuples show this; None where there is none."""
    kept, found = shown[0] >= 0, []
    for ladder, codes, nodes in zip(problem.ladders, problem.table.codes, shown, strict=True):
        same = (np.array_equal(row[codes[kept]], nodes[kept]) for row in ladder.nodes)
        step = next((step for step, fits in enumerate(same) if fits), None)
        if step is None:
            return None
        found.append(step)
    return tuple(found)


def _neighbours(
    problem: Problem, engine: LocalEngine, node: Node, tolerated: Callable[[Node], int]
) -> Iterator[RefusedNode]:
    for axis, level in enumerate(node):
        if level:
            lower = (*node[:axis], level - 1, *node[axis + 1 :])
            if (most := tolerated(lower)) >= 0:
                yield _refused(problem, engine, lower, most)


def _refused(problem: Problem, engine: LocalEngine, node: Node, tolerated: int) -> RefusedNode:
    levels = ", ".join(f"{name}: {level}" for name, level in problem.nominal_levels(node).items())
    group: NDArray[np.int64] = engine.classes(node).tuple_class.astype(np.int64)
    return RefusedNode(levels, group, tolerated, refused_by_chance(problem))


def _affordable(problem: Problem, node: Node, cost: float) -> int:
    """With how many suppressed records, whichever they are, a node certainly costs no more than the released one; -1
    where it may cost more even with none, or where its cost does not follow from quasi-identifiers."""
    metric = problem.metric
    if not isinstance(metric, CellMetric):
        return -1
    means, n = column_means(problem, metric), max(problem.table.n_rows, 1)
    trees = zip(problem.hierarchies, problem.ladders, strict=True)
    cheapest = [metric.cell(tree)[ladder.nodes].min(axis=1) for tree, ladder in trees]
    low, high = -1, problem.budget
    while low < high:
        most = (low + high + 1) // 2
        dearer = [mean + most / n * (1 - least) for mean, least in zip(means, cheapest, strict=True)]
        if cell_bounds(problem, metric, dearer)[node] <= cost + TIE:
            low = most
        else:
            high = most - 1
    return low
