"""Covering: classes found by generalized key, in order of cost, instead of by comparing records.

What joining records costs depends only on the box - the generalized tuple - that holds them. So boxes are tried from
the cheapest on: at every node of the lattice the records left are grouped by their box there, and a box whose records
satisfy the models becomes a class. Exact duplicates come first and cost nothing.

Taking the cheapest box first would leave the outliers to each other. Therefore a record is at first willing to pay only
what it must (its lower bound: the cheapest box that could be a class at all), then step by step more: outliers look for
company while there still is some, at the price that only they have to pay.
"""

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from shoal.hierarchies.ranges import ancestors
from shoal.models import least_size
from shoal.models.base import Model
from shoal.search.engine import dense_maps
from shoal.search.evaluation import class_holds
from shoal.search.kernels import plain
from shoal.search.kernels.load import covering_kernels, load_kernels
from shoal.search.local.blocks import Blocks, Codes, Indices, cell_costs, dearest_first
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Floats, Histogram, Mask
from shoal.table.encoded import spans
from shoal.table.people import row_stats

_KEY_LIMIT = 2**62
_ROUNDING = 1e-12  # sums of the same costs in another order may differ by so much
_ALONE = 1000  # tuples up to which one thread works out the bounds

STEPS = (0.0, 0.1, 0.3, 0.8, np.inf)
"""How much more than it must a record is willing to pay, step by step: in cells' worth, so 1 is one column given up."""
FINE_STEPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, np.inf)
"""The same where it is worth more time: models on values leave refining less to do."""


def covering_needs(problem: Problem) -> tuple[str, ...]:
    """The compiled kernels that covering the tuples of a problem calls."""
    return covering_kernels(problem.table.n_tuples, math.prod(problem.shape), repeated=problem.repeated)


class BoxCover:
    """Covers some tuples with boxes that satisfy the models.

    The kernels read the lattice as flat arrays: for column c and level l, ``maps[offsets[c, l] + leaf]`` is a dense
    number of the leaf's node, of which there are ``radices[c, l]``, and ``costs[offsets[c, l] + leaf]`` what releasing
    that node costs a cell.
    """

    def __init__(self, blocks: Blocks, least: int = 1) -> None:
        """With ``least`` every class has at least so many records, also where models ask for fewer."""
        problem = blocks.problem
        self.blocks = blocks
        self.weights = problem.table.counts  # records of each tuple
        columns, costs = dearest_first(problem), cell_costs(problem)
        self.node_cost, self._trees = [costs[j] for j in columns], [problem.hierarchies[j] for j in columns]
        self.codes = np.ascontiguousarray(problem.table.codes[columns])  # one row per column, dearest first
        ladders = [problem.ladders[j] for j in columns]
        maps, offsets, radices = dense_maps(ladders)
        by_level = [own[row] for own, ladder in zip(self.node_cost, ladders, strict=True) for row in ladder.nodes]
        fits = math.prod(map(max, radices)) <= _KEY_LIMIT  # whether every box has a key of its own
        self._levels = _rectangle(offsets, 0), _rectangle(radices, 1), maps, np.concatenate(by_level), fits
        self._ladders = [ladder.nodes for ladder in ladders]
        self.on_values = [model for model in blocks.class_models if model.column is not None or problem.counts_people]
        self.least = max(least, least_size([model for model in blocks.class_models if model.column is None]))
        self._pairs = {}  # sensitive values and counts tuple by tuple
        for name in problem.sensitive_columns:
            pairs = problem.table.pairs_to_count(name)
            order = np.argsort(pairs.tuples, kind="stable")
            starts = np.searchsorted(pairs.tuples[order], np.arange(len(self.weights) + 1)).astype(np.int64)
            self._pairs[name] = starts, pairs.values[order], pairs.counts[order]

    @cached_property
    def kernels(self) -> ModuleType:
        """The compiled kernels, or their twins in NumPy where there is little to do."""
        return load_kernels() if covering_needs(self.blocks.problem) else plain

    @cached_property
    def _lattice(self) -> tuple[Codes, Floats]:
        """Every node, cheapest on average first, and the least that any of its boxes costs."""
        total, floor = np.zeros(()), np.zeros(())
        for c, nodes in enumerate(self._ladders):
            leaves = np.bincount(self.codes[c], weights=self.weights, minlength=nodes.shape[1])
            present = np.flatnonzero(leaves)
            cells = self.node_cost[c][nodes][:, present]
            total = np.asarray(total)[..., None] + cells @ leaves[present]
            floor = np.asarray(floor)[..., None] + cells.min(axis=1)
        order = np.argsort(total.ravel(), kind="stable")
        indices = np.unravel_index(order, [len(nodes) for nodes in self._ladders])
        return np.stack(indices, axis=1).astype(np.int32), np.asarray(floor).ravel()[order]

    def box_costs(self, low: Codes, high: Codes) -> Floats:
        """What a record costs in the box of each class, given the smallest and largest codes: one row per column."""
        cost = np.zeros(low.shape[1])
        for tree, own, bottom, top in zip(self._trees, self.node_cost, low, high, strict=True):
            cost += own[ancestors(tree, bottom, top)]
        return cost

    def holds(self, tuples: Indices, owner: Indices, n_classes: int, models: Sequence[Model] | None = None) -> Mask:
        """Which classes of whole tuples satisfy: ``owner`` is the class of each tuple."""
        models = models if models is not None else self.blocks.class_models
        if self.blocks.problem.counts_people:
            return class_holds(models, self._people_stats(tuples, owner, n_classes))
        sizes = np.bincount(owner, weights=self.weights[tuples], minlength=n_classes).astype(np.int64)
        histograms = {}
        for name, (starts, values, counts) in self._pairs.items():
            lengths = starts[tuples + 1] - starts[tuples]
            entries, width = spans(starts[tuples], lengths), len(self.blocks.problem.domains[name].values)
            owners = np.repeat(owner, lengths)
            histograms[name] = Histogram.of(owners, values[entries], n_classes, width, counts[entries])
        stats = ClassStats(sizes, histograms, self.blocks.problem.domains, self.blocks.reference)
        return class_holds(models, stats)

    def _people_stats(self, tuples: Indices, owner: Indices, n_classes: int) -> ClassStats:
        """The statistics of classes of whole tuples, in people."""
        problem, (by_tuple, starts) = self.blocks.problem, self.blocks.problem.table.rows_by_tuple
        lengths = np.diff(starts)[tuples]
        rows = by_tuple[spans(starts[tuples], lengths)]
        columns, reference = problem.sensitive_columns, self.blocks.reference
        owners = np.repeat(owner, lengths)
        return row_stats(problem.table, owners, n_classes, problem.domains, columns, rows=rows, reference=reference)

    def lower_bounds(self, tuples: Indices) -> Floats:
        """For each tuple the cheapest box that could be a class: one that all the records in it together satisfy.

        Superset-closed models only grow more satisfied with more records, so a box that fails with every record in it
        holds no class; other models are left out of the bound. Every processor takes a share of the lattice.
        """
        workers = min(os.cpu_count() or 1, 8) if len(tuples) > _ALONE else 1
        with ThreadPoolExecutor(workers) as pool:
            shares = pool.map(lambda first: self._bounds_at(tuples, slice(first, None, workers)), range(workers))
        return np.asarray(np.minimum.reduce(list(shares)))

    def _bounds_at(self, tuples: Indices, indices: slice) -> Floats:
        """The bounds by a share of the lattice's nodes."""
        models = [model for model in self.on_values if self.blocks.problem.superset_closed(model)]
        bounds = np.full(len(self.weights), -np.inf)
        bounds[tuples] = np.inf
        if not models and hasattr(self.kernels, "least_boxes"):
            nodes, floors, cheapest = self._share(indices)
            arrays = (self.codes, self.weights, tuples, bounds, nodes, floors, cheapest, self._levels, self.least)
            self.kernels.least_boxes(*arrays, self._scratch())
            return bounds
        offsets, _, _, costs, _ = self._levels
        for node, chosen, ids, sizes in self._scan(tuples, bounds, others=tuples, indices=indices):
            reached = chosen[self._satisfying(chosen, ids, sizes, models)[ids]]
            cost = np.zeros(len(reached))
            for own, offset, level in zip(self.codes, offsets, node, strict=True):
                cost += costs[offset[level] + own[reached]]
            bounds[reached] = np.minimum(bounds[reached], cost)
        return bounds

    def classes(self, tuples: Indices, bounds: Floats | None = None, steps: Sequence[float] = STEPS) -> Indices:
        """The class of each tuple, -1 for those that found none; with bounds, outliers are served early."""
        found = np.full(len(self.weights), -1, dtype=np.int64)
        count, left, models = 0, tuples, self.blocks.class_models if self.on_values else ()
        for step in steps if bounds is not None else (np.inf,):
            limits = np.full(len(self.weights), np.inf)
            if bounds is not None and np.isfinite(step):
                limits = np.where(np.isfinite(bounds), bounds + step + _ROUNDING, bounds)
            for _, chosen, ids, sizes in self._scan(left, limits):
                good = self._satisfying(chosen, ids, sizes, models)
                number = np.cumsum(good) - 1 + count
                accepted = good[ids]
                found[chosen[accepted]] = number[ids[accepted]]
                limits[chosen[accepted]] = -np.inf
                count += int(good.sum())
            left = left[found[left] < 0]
            if not len(left):
                break
        return found[tuples]

    def _satisfying(self, chosen: Indices, ids: Indices, sizes: Indices, models: Sequence[Model]) -> Mask:
        """Of the boxes of some tuples, those that are large enough and satisfy some models."""
        good = sizes >= self.least
        if models and good.any():
            inside, number = good[ids], np.cumsum(good) - 1
            good[good] = self.holds(chosen[inside], number[ids[inside]], int(good.sum()), models)
        return good

    def _share(self, indices: slice) -> tuple[Codes, Floats, Floats]:
        """Some nodes of the lattice, the least that a box costs at each, and at each or any later one."""
        every_node, every_floor = self._lattice
        nodes, floors = np.ascontiguousarray(every_node[indices]), np.ascontiguousarray(every_floor[indices])
        return nodes, floors, np.ascontiguousarray(np.minimum.accumulate(floors[::-1])[::-1])

    def _scratch(self) -> tuple[Any, ...]:
        """Room for a hash table of boxes (epochs, groups, keys, tuples), and for tuples, their boxes and records."""
        n = len(self.weights)
        slots = 1 << max(4, (2 * n - 1).bit_length())
        table = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int32)
        return *table, *(np.empty(n, dtype=np.int64) for _ in range(5))

    def _scan(
        self, items: Indices, limits: Floats, others: Indices | None = None, indices: slice = slice(None)
    ) -> Iterator[tuple[Codes, Indices, Indices, Indices]]:
        """Every node at which enough tuples share a box that one is willing to pay, its tuples, boxes and sizes.

        ``limits`` may be lowered between nodes: tuples whose limit falls below every cost are dropped from the search.
        """
        nodes, floors, cheapest = self._share(indices)
        scratch, beside = self._scratch(), np.zeros(0, dtype=np.int64) if others is None else others
        *_, chosen, ids, sizes = scratch
        index, epoch = 0, 0
        while index < len(nodes):
            items = items[limits[items] >= cheapest[index]]
            index, found, groups, epoch = self.kernels.willing_groups(
                index, self.codes, self.weights, items, beside, limits, nodes, floors, self._levels, self.least, epoch,
                scratch,
            )  # fmt: skip
            if index == len(nodes):
                return
            yield nodes[index], chosen[:found].copy(), ids[:found].copy(), sizes[:groups].copy()
            index += 1


def _rectangle(rows: Sequence[Sequence[int]], fill: int) -> Indices:
    """Rows of different lengths as one array."""
    longest = max(map(len, rows))
    return np.array([[*row, *[fill] * (longest - len(row))] for row in rows], dtype=np.int64)
