"""The lattice of full-domain recodings: a node is a level for each quasi-identifier.

The whole lattice is held as arrays with one axis per quasi-identifier. Then "everything at least as general as this
node" and "everything at most as general" are slices, and a bound on a measure for every node is one broadcast sum.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.formatting import pluralize
from shoal.metrics import CellMetric, ReleaseSummary
from shoal.search.conceal import as_marks
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.evaluation import keep_concealed
from shoal.search.problem import Problem
from shoal.table.classes import Mask
from shoal.table.recoding import Recoding

Node = tuple[int, ...]
TIE = 1e-12  # costs closer than this are equal: which of two orders a sum was taken in must not decide between nodes
MOST_NODES = 50_000_000  # largest lattice that is searched as a whole; beyond, the searches would run for days
WALKED = 20_000  # lattice nodes that a local recoding walks, whatever the number of tuples; with few tuples more
_FEW = 20_000  # tuples from which on their number does not matter for that
_MOST_WALKED = 1_000_000  # nodes beyond which not even a few tuples are led through all of them: they are held at once
_ELSE = (
    "The algorithm greedy-clustering has no such limit and usually loses less: it generalizes each class of records on "
    "its own, not each column to one level."
)
_ELSE_LINKED = (
    "Linked records need one level per column: the algorithm greedy-lattice follows a single path to such a release, "
    "which may lose much."
)


def walks_whole_lattice(shape: Sequence[int], n_tuples: int, *, on_values: bool) -> bool:
    """Whether a local recoding looks for classes at every node: by the number of nodes, and of nodes times tuples.

    Models on sensitive values take time at every node, however few tuples there are.
    """
    nodes = math.prod(shape)
    return nodes <= (WALKED if on_values else _MOST_WALKED) and nodes * min(n_tuples, _FEW) <= WALKED * _FEW


def check_size(problem: Problem, algorithm: str) -> None:
    """Refuse a lattice that cannot be held, before any work."""
    nodes = math.prod(problem.shape)
    if nodes > MOST_NODES:
        raise InputError(
            f"The lattice of {pluralize(len(problem.shape), 'quasi-identifier')} has {_readable(nodes)} nodes; "
            f"{algorithm} searches at most {MOST_NODES:,}. {_ELSE if problem.table.links is None else _ELSE_LINKED} "
            "Or use fewer quasi-identifiers, hierarchies with fewer levels, or tighter boundaries.",
            code="lattice-too-large",
        )


def _readable(number: int) -> str:
    """A whole number in digits, or what power of ten it reaches."""
    return f"{number:,}" if number < 10**15 else f"more than 10^{len(str(number)) - 1}"


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
    reached = satisfying
    for axis in range(satisfying.ndim):
        reached = np.logical_or.accumulate(reached, axis=axis)
    above_one = np.zeros_like(satisfying)
    for axis in range(satisfying.ndim):
        upper, lower = [slice(None)] * satisfying.ndim, [slice(None)] * satisfying.ndim
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        above_one[tuple(upper)] |= reached[tuple(lower)]
    found = [as_node(node) for node in np.argwhere(satisfying & ~above_one)]
    return sorted(found, key=lambda node: (sum(node), node))


def refused_nodes(problem: Problem, nodes: NDArray[np.intp]) -> Mask:
    """Which of some nodes, ``nodes[node, axis]``, the choice passes over although they satisfy: where it conceals."""
    veto = problem.concealing
    if veto is None:
        return np.zeros(len(nodes), dtype=np.bool_)
    return veto.refuses("node", np.repeat(problem.table_mark, len(nodes)), *map(as_marks, nodes.T))


def kept_classes(problem: Problem, engine: LocalEngine, grouping: Grouping, kept: NDArray[np.bool_]) -> Mask:
    """The classes of a chosen node that are released: those kept, without decoys where the search conceals."""
    if problem.concealing is None or not problem.budget:
        return kept
    stats = engine.stats(grouping, problem.sensitive_columns)
    return keep_concealed(problem, problem.models, stats, grouping, problem.budget)[1]


def cell_bounds(
    problem: Problem, metric: CellMetric, means: Sequence[NDArray[np.float64]] | None = None
) -> NDArray[np.float64]:
    """For every node the cost (less is better) that follows from the mean cell cost of each column at its levels.

    Those with nothing suppressed, unless others are given: a lower bound on the true cost.
    """
    total: NDArray[np.float64] = np.zeros(())
    for hierarchy, mean in zip(problem.hierarchies, means or column_means(problem, metric), strict=True):
        total = total[..., None] + metric.weight(hierarchy) * metric.column(mean)
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
    """The hierarchy nodes that some tuples are released as at a lattice node: ``[tuple, column]``."""
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


def recode(problem: Problem, node: Node, grouping: Grouping, kept: NDArray[np.bool_]) -> Recoding:
    """The recoding of a lattice node: its classes, those that fail suppressed; classes in canonical order."""
    nodes = released_nodes(problem, node, grouping.representatives)
    order = np.lexsort(nodes.T[::-1])
    return problem.recoding(grouping.tuple_class, nodes, order[kept[order]], levels=problem.nominal_levels(node))
