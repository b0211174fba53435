"""The cheapest box that could hold a record at all, whoever else is in it: a lower bound on what it has to lose.

A box is a node for each quasi-identifier. A class that holds the record and releases no more than the box is part of
the box's records, so where these fail a superset-closed model together, so does every class in the box. The bound is
the cheapest box whose records of the same block satisfy all superset-closed models; other models are left out of it.

For one record the boxes are a small lattice: the nodes on the way up from its values. What step another tuple joins at
in each column says in which boxes it lies, so the sizes of all boxes are one cumulative sum.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Label
from shoal.models.base import Model
from shoal.search.evaluation import class_holds
from shoal.search.local.blocks import cell_costs, record_weight
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats
from shoal.table.people import row_stats

MOST_BOXES = 5_000_000  # boxes that are looked at: their costs and sizes are held at once


@dataclass(frozen=True)
class Box:
    """A box, its cost and the records in it."""

    labels: tuple[Label, ...]
    cost: float  # mean cell cost over the quasi-identifiers, weighted, by the measure that local recodings lower
    records: int
    fails: tuple[tuple[str, str | None], ...] = ()
    """The models on single classes that all its records together fail, each with its sensitive column; the bound leaves
    them out: a part may hold."""
    inside: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_), repr=False, compare=False)
    """Which tuples lie in it."""


def box_cost(problem: Problem, nodes: list[int]) -> float:
    """Mean cell cost of releasing these nodes."""
    total = sum(costs[node] for costs, node in zip(cell_costs(problem), nodes, strict=True))
    return float(total) / record_weight(problem)


def cheapest_box(problem: Problem, at: int) -> Box | None:
    """The cheapest box for one tuple; None where there are too many to look at, or where none satisfies."""
    paths, members, steps = _paths(problem, at)
    shape = tuple(map(len, paths))
    if np.prod([float(length) for length in shape]) > MOST_BOXES:
        return None
    costs = np.zeros(())
    for path, own in zip(paths, cell_costs(problem), strict=True):
        costs = costs[..., None] + own[path]
    sizes = np.zeros(shape, dtype=np.int64)
    np.add.at(sizes, tuple(steps), problem.table.counts[members])
    for axis in range(sizes.ndim):
        np.cumsum(sizes, axis=axis, out=sizes)
    closed = [model for model in problem.models if problem.superset_closed(model)]
    on_sizes = [model for model in closed if model.column is None]
    large = class_holds(on_sizes, ClassStats(sizes.ravel(), {}, {}))
    for index in np.argsort(np.round(costs.ravel(), 12), kind="stable"):
        if not large[index]:
            continue
        box = np.array(np.unravel_index(index, shape))
        inside = np.zeros(problem.table.n_tuples, dtype=np.bool_)
        inside[members[(steps <= box[:, None]).all(axis=0)]] = True
        if _satisfies(problem, inside, closed):
            labels = [h.labels[path[s]] for h, path, s in zip(problem.hierarchies, paths, box, strict=True)]
            fails = tuple(
                (model.name, model.column)
                for model in problem.models
                if model not in closed and not model.whole_table and not _satisfies(problem, inside, [model])
            )
            cost = float(costs.ravel()[index]) / record_weight(problem)
            return Box(tuple(labels), cost, int(sizes.ravel()[index]), fails, inside)
    return None


def _paths(problem: Problem, at: int) -> tuple[list[list[int]], NDArray[np.intp], NDArray[np.int64]]:
    """In each column the nodes from a tuple's value up to its boundary, the tuples of its block, and where they join.

    ``steps[j, m]`` is the step of the path at which member ``m`` of the block joins in column ``j``.
    """
    table, block = problem.table, np.ones(problem.table.n_tuples, dtype=np.bool_)
    for codes, caps in zip(table.codes, problem.caps, strict=True):
        block &= caps[codes] == caps[codes[at]]
    members = np.flatnonzero(block)
    paths, steps = [], []
    for codes, caps, hierarchy in zip(table.codes, problem.caps, problem.hierarchies, strict=True):
        path = hierarchy.path(int(codes[at]))
        path = path[: path.index(int(caps[codes[at]])) + 1]
        own = codes[members]
        covers = [(hierarchy.first[node] <= own) & (own <= hierarchy.last[node]) for node in path]
        paths.append(path)
        steps.append(len(path) - np.sum(covers, axis=0))
    return paths, members, np.array(steps, dtype=np.int64)


def _satisfies(problem: Problem, inside: NDArray[np.bool_], models: list[Model]) -> bool:
    """Whether all records of some tuples together satisfy."""
    columns = sorted({model.column for model in models if model.column is not None})
    row_class = np.where(inside[problem.table.row_tuple], 0, -1)
    return bool(class_holds(models, row_stats(problem.table, row_class, 1, problem.domains, columns))[0])
