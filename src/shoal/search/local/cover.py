"""Covering: classes found by generalized key, in order of cost, instead of by comparing records.

What joining records costs depends only on the box - the generalized tuple - that holds them. So boxes are tried from
the cheapest on: at every node of the lattice the records left are grouped by their box there, and a box whose records
satisfy the models becomes a class. Exact duplicates come first and cost nothing.

Taking the cheapest box first would leave the outliers to each other. Therefore a record is at first willing to pay only
what it must (its lower bound: the cheapest box that could be a class at all), then step by step more: outliers look for
company while there still is some, at the price that only they have to pay.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.models import least_size
from shoal.models.base import Model
from shoal.search.evaluation import class_holds
from shoal.search.kernels.load import load_kernels
from shoal.search.local.blocks import Blocks, Boxes
from shoal.table.classes import ClassStats, Histogram, Mask
from shoal.table.encoded import Pairs, spans

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING = 1e-12  # sums of the same costs in another order may differ by so much

_ALONE = 1000  # tuples up to which one thread works out the bounds

STEPS = (0.0, 0.1, 0.3, 0.8, np.inf)
"""How much more than it must a record is willing to pay, step by step: in cells' worth, so 1 is one column given up."""
FINE_STEPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, np.inf)
"""The same where it is worth more time: models on values leave refining less to do."""


@dataclass(eq=False)
class BoxCover:
    """Covers some tuples with boxes that satisfy the models."""

    blocks: Blocks
    boxes: Boxes

    def __post_init__(self) -> None:
        self.kernels = load_kernels()
        self._nodes, self._floors = self.boxes.lattice()
        self._table = self.blocks.problem.table
        self._on_sizes = [model for model in self.blocks.class_models if model.column is None]
        self._on_values = [model for model in self.blocks.class_models if model.column is not None]
        self.least = least_size(self._on_sizes)
        self._pairs = {name: _by_tuple(self._table.pairs[name], self._table.n_tuples) for name in self._columns}

    @property
    def weights(self) -> Ints:
        """Records of each tuple."""
        return self._table.counts

    @property
    def reads_values(self) -> bool:
        """Whether some model reads a sensitive column."""
        return bool(self._on_values)

    @property
    def _columns(self) -> tuple[str, ...]:
        return self.blocks.problem.sensitive_columns

    def holds(
        self, tuples: Ints, owner: NDArray[np.int64], n_classes: int, models: Sequence[Model] | None = None
    ) -> Mask:
        """Which classes of whole tuples satisfy: ``owner`` is the class of each tuple."""
        sizes = np.bincount(owner, weights=self._table.counts[tuples], minlength=n_classes).astype(np.int64)
        histograms = {}
        for name in self._columns:
            starts, values, counts = self._pairs[name]
            lengths = starts[tuples + 1] - starts[tuples]
            entries = spans(starts[tuples], lengths)
            histograms[name] = Histogram.of(
                np.repeat(owner, lengths), values[entries], n_classes, self._width(name), counts[entries]
            )
        stats = ClassStats(sizes, histograms, self.blocks.problem.domains, self.blocks.reference)
        return class_holds(models if models is not None else self.blocks.class_models, stats)

    def _width(self, name: str) -> int:
        return len(self.blocks.problem.domains[name].values)

    def lower_bounds(self, tuples: Ints) -> Floats:
        """For each tuple the cheapest box that could be a class: one that all the records in it together satisfy.

        Superset-closed models only grow more satisfied with more records, so a box that fails with every record in it
        holds no class; other models are left out of the bound. Every processor takes a share of the lattice.
        """
        workers = min(os.cpu_count() or 1, 8) if len(tuples) > _ALONE else 1
        with ThreadPoolExecutor(workers) as pool:
            shares = pool.map(lambda first: self._bounds_at(tuples, slice(first, None, workers)), range(workers))
        return np.asarray(np.minimum.reduce(list(shares)))

    def _bounds_at(self, tuples: Ints, indices: slice) -> Floats:
        """The bounds by a share of the lattice's nodes."""
        models = [model for model in self._on_values if model.superset_closed]
        bounds = np.full(self._table.n_tuples, -np.inf)
        bounds[tuples] = np.inf
        if not models and hasattr(self.kernels, "least_boxes"):
            nodes, floors, cheapest = self._share(indices)
            self.kernels.least_boxes(
                self.boxes.codes, self._table.counts, tuples, bounds, nodes, floors, cheapest, self.boxes.offsets,
                self.boxes.radices, self.boxes.maps, self.boxes.costs, self.least,
            )  # fmt: skip
            return bounds
        for node, chosen, ids, sizes in self._scan(tuples, bounds, others=tuples, indices=indices):
            possible = sizes >= self.least
            if models and possible.any():
                possible = self._satisfying(chosen, ids, possible, models)
            reached = chosen[possible[ids]]
            bounds[reached] = np.minimum(bounds[reached], self._cost(node, reached))
        return bounds

    def classes(self, tuples: Ints, bounds: Floats | None = None, steps: Sequence[float] = STEPS) -> NDArray[np.int64]:
        """The class of each tuple, -1 for those that found none; with bounds, outliers are served early."""
        found = np.full(self._table.n_tuples, -1, dtype=np.int64)
        count, left = 0, tuples
        for step in steps if bounds is not None else (np.inf,):
            limits = np.full(self._table.n_tuples, np.inf)
            if bounds is not None and np.isfinite(step):
                limits = np.where(np.isfinite(bounds), bounds + step + _ROUNDING, bounds)
            for _, chosen, ids, sizes in self._scan(left, limits):
                good = sizes >= self.least
                if self._on_values and good.any():
                    good = self._satisfying(chosen, ids, good)
                number = np.cumsum(good) - 1 + count
                accepted = good[ids]
                found[chosen[accepted]] = number[ids[accepted]]
                limits[chosen[accepted]] = -np.inf
                count += int(good.sum())
            left = left[found[left] < 0]
            if not len(left):
                break
        return found[tuples]

    def _satisfying(
        self, chosen: Ints, ids: NDArray[np.int64], large: Mask, models: Sequence[Model] | None = None
    ) -> Mask:
        """Of the boxes that are large enough, those that satisfy every model."""
        dense = np.cumsum(large) - 1
        inside = large[ids]
        good = large.copy()
        good[large] = self.holds(chosen[inside], dense[ids[inside]], int(large.sum()), models)
        return good

    def _cost(self, node: NDArray[np.int32], tuples: Ints) -> Floats:
        """What a cell sum costs each tuple at a lattice node."""
        cost = np.zeros(len(tuples))
        for c, level in enumerate(node):
            cost += self.boxes.costs[self.boxes.offsets[c, level] + self.boxes.codes[c][tuples]]
        return cost

    def _share(self, indices: slice) -> tuple[NDArray[np.int32], Floats, Floats]:
        """Some nodes of the lattice, the least that a box costs at each, and at each or any later one."""
        nodes, floors = np.ascontiguousarray(self._nodes[indices]), np.ascontiguousarray(self._floors[indices])
        return nodes, floors, np.ascontiguousarray(np.minimum.accumulate(floors[::-1])[::-1])

    def _scan(
        self, items: Ints, limits: Floats, others: Ints | None = None, indices: slice = slice(None)
    ) -> Iterator[tuple[NDArray[np.int32], Ints, Ints, Ints]]:
        """Every node at which enough tuples share a box that one is willing to pay, its tuples, boxes and sizes.

        ``limits`` may be lowered between nodes: tuples whose limit falls below every cost are dropped from the search.
        """
        nodes, floors, cheapest = self._share(indices)
        n = self._table.n_tuples
        slots = 1 << max(4, (2 * n - 1).bit_length())
        slot_epoch, slot_group = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int32)
        group_key, chosen = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        ids, sizes = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        beside = np.zeros(0, dtype=np.int64) if others is None else others
        index, epoch = 0, 0
        while index < len(nodes):
            items = items[limits[items] >= cheapest[index]]
            index, found, groups, epoch = self.kernels.willing_groups(
                index, self.boxes.codes, self._table.counts, items, beside, limits, nodes, floors,
                self.boxes.offsets, self.boxes.radices, self.boxes.maps, self.boxes.costs, self.least, epoch,
                slot_epoch, slot_group, group_key, chosen, ids, sizes,
            )  # fmt: skip
            if index == len(nodes):
                return
            yield nodes[index], chosen[:found].copy(), ids[:found].copy(), sizes[:groups].copy()
            index += 1


@dataclass(eq=False)
class TuplePartition:
    """Classes of whole tuples, with the box, cost and size of each."""

    cover: BoxCover
    owner: NDArray[np.int64]  # class of each tuple of the table; -1 for those that are not in this partition
    members: list[list[int]] = field(init=False)
    nodes: NDArray[np.int64] = field(init=False)
    costs: Floats = field(init=False)
    sizes: Ints = field(init=False)

    def __post_init__(self) -> None:
        count = int(self.owner.max()) + 1
        self.members = [[] for _ in range(count)]
        for item in np.flatnonzero(self.owner >= 0):
            self.members[self.owner[item]].append(int(item))
        self.nodes = np.zeros((count, len(self.boxes.columns)), dtype=np.int64)
        self.costs, self.sizes = np.zeros(count), np.zeros(count, dtype=np.int64)
        self._trees = self.boxes.trees
        for each in range(count):
            self.update(each)

    @property
    def boxes(self) -> Boxes:
        """The lattice's arrays."""
        return self.cover.boxes

    def box_of(self, items: list[int]) -> tuple[NDArray[np.int64], float]:
        """The box that holds some tuples, and its cost."""
        codes = self.boxes.codes[:, items]
        low, high, nodes, cost = codes.min(axis=1), codes.max(axis=1), [], 0.0
        for c, j in enumerate(self.boxes.columns):
            hierarchy, node = self.boxes.problem.hierarchies[j], int(low[c])
            while hierarchy.last[node] < high[c]:
                node = int(hierarchy.parents[node])
            nodes.append(node)
            cost += self.boxes.node_cost[c][node]
        return np.array(nodes, dtype=np.int64), float(cost)

    def update(self, each: int) -> None:
        """Work out the box, cost and size of a class anew."""
        if self.members[each]:
            self.nodes[each], self.costs[each] = self.box_of(self.members[each])
            self.sizes[each] = int(self.cover.weights[self.members[each]].sum())
        else:
            self.costs[each], self.sizes[each] = 0.0, 0

    def best_joins(self, items: list[int], budgets: Floats) -> tuple[NDArray[np.int32], Floats]:
        """For each tuple the class it costs least to join and what that adds, within a budget each."""
        trees = self._trees
        return self.cover.kernels.best_joins(  # type: ignore[no-any-return]
            self.boxes.codes, np.array(items, dtype=np.int64), budgets, self.owner, self.cover.weights,
            self.nodes, self.costs, self.sizes, trees.offsets, trees.first, trees.last, trees.parents, trees.costs,
        )  # fmt: skip


def _by_tuple(pairs: Pairs, n_tuples: int) -> tuple[Ints, NDArray[np.int32], Ints]:
    """Sensitive values and counts tuple by tuple."""
    order = np.argsort(pairs.tuples, kind="stable")
    starts = np.searchsorted(pairs.tuples[order], np.arange(n_tuples + 1))
    return starts.astype(np.int64), pairs.values[order], pairs.counts[order]
