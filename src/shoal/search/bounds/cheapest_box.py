"""The cheapest box that could hold a record at all, whoever else is in it: a lower bound on what it has to lose.

A box is a node for each quasi-identifier. A class that holds the record and releases no more than the box is part of
the box's records, so where these fail a superset-closed model together, so does every class in the box. The bound is
the cheapest box whose records of the same block satisfy all superset-closed models; other models are left out of it.

For one record the boxes are a small lattice: the nodes on the way up from its values. What step another tuple joins at
in each column says in which boxes it lies, so the sizes of all boxes are one cumulative sum.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Label
from shoal.models.base import Model
from shoal.search.local.blocks import cell_metric
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Histogram

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


@dataclass(frozen=True, eq=False)
class _Ways:
    """The boxes around one tuple."""

    paths: list[list[int]]  # in each column the nodes from the value up to its boundary
    members: NDArray[np.intp]  # the tuples of the same block
    steps: NDArray[np.int64]  # ``steps[j, m]``: the step of the path at which member ``m`` joins in column ``j``

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.paths))


def box_cost(problem: Problem, nodes: list[int]) -> float:
    """Mean cell cost of releasing these nodes."""
    metric = cell_metric(problem)
    cells = zip(problem.hierarchies, nodes, strict=True)
    total = sum(metric.weight(hierarchy) * metric.cell(hierarchy)[node] for hierarchy, node in cells)
    return float(total) / _weight(problem)


def _weight(problem: Problem) -> float:
    metric = cell_metric(problem)
    return sum(metric.weight(hierarchy) for hierarchy in problem.hierarchies) or 1.0


def cheapest_box(problem: Problem, at: int) -> Box | None:
    """The cheapest box for one tuple; None where there are too many to look at, or where none satisfies."""
    ways = _ways(problem, at)
    if np.prod([float(length) for length in ways.shape]) > MOST_BOXES:
        return None
    metric, costs = cell_metric(problem), np.zeros(())
    for path, hierarchy in zip(ways.paths, problem.hierarchies, strict=True):
        costs = costs[..., None] + metric.weight(hierarchy) * metric.cell(hierarchy)[path]
    sizes = np.zeros(ways.shape, dtype=np.int64)
    np.add.at(sizes, tuple(ways.steps), problem.table.counts[ways.members])
    for axis in range(sizes.ndim):
        np.cumsum(sizes, axis=axis, out=sizes)
    closed = [model for model in problem.models if model.superset_closed]
    large = np.ones(sizes.size, dtype=np.bool_)
    for model in closed:
        if model.column is None:
            large &= model.holds(ClassStats(sizes.ravel(), {}, {}).view(None))
    on_values = [model for model in closed if model.column is not None]
    for index in np.argsort(np.round(costs.ravel(), 12), kind="stable"):
        box = np.array(np.unravel_index(index, ways.shape))
        if large[index] and (not on_values or _satisfies(problem, _inside(problem, ways, box), on_values)):
            labels = [h.labels[path[s]] for h, path, s in zip(problem.hierarchies, ways.paths, box, strict=True)]
            inside, cost = _inside(problem, ways, box), float(costs.ravel()[index]) / _weight(problem)
            fails = tuple(
                (model.name, model.column)
                for model in problem.models
                if not model.superset_closed and not model.whole_table and not _satisfies(problem, inside, [model])
            )
            return Box(tuple(labels), cost, int(sizes.ravel()[index]), fails, inside)
    return None


def _ways(problem: Problem, at: int) -> _Ways:
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
    return _Ways(paths, members, np.array(steps, dtype=np.int64))


def _inside(problem: Problem, ways: _Ways, box: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which tuples lie in a box."""
    inside = np.zeros(problem.table.n_tuples, dtype=np.bool_)
    inside[ways.members[(ways.steps <= box[:, None]).all(axis=0)]] = True
    return inside


def _satisfies(problem: Problem, inside: NDArray[np.bool_], models: list[Model]) -> bool:
    """Whether all records of some tuples together satisfy."""
    histograms = {}
    for name in {model.column for model in models if model.column is not None}:
        pairs = problem.table.pairs[name]
        entries = inside[pairs.tuples]
        width = len(problem.domains[name].values)
        owner = np.zeros(int(entries.sum()), dtype=np.int64)
        histograms[name] = Histogram.of(owner, pairs.values[entries], 1, width, pairs.counts[entries])
    sizes = np.array([problem.table.counts[inside].sum()])
    stats = ClassStats(sizes, histograms, problem.domains)
    return all(model.holds(stats.view(model.column))[0] for model in models)
