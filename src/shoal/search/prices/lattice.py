"""The boxes of a problem as the kernels of the bound read them, and the records as items.

A *box* is a node of each hierarchy; releasing a record in it costs ``c(B)``, the weighted mean of its cells. *Items*
are records that no constraint tells apart: one per distinct tuple or, where a model counts distinct values, one per
tuple and sensitive value.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from types import ModuleType
from typing import TypeVar

import numpy as np

from shoal.models import least_size
from shoal.search.engine import dense_maps
from shoal.search.kernels.load import load_price_kernels
from shoal.search.local.blocks import Codes, Indices, cell_costs, record_weight
from shoal.search.problem import Problem
from shoal.table.classes import Counts, Floats
from shoal.table.encoded import distinct_codes

_WAVE = 8  # parts that run before the work is counted: fixed, so that the limit strikes alike on any machine
_Given = TypeVar("_Given")
_Found = TypeVar("_Found")
_ALONE = 2000  # items up to which one thread does everything


@dataclass(frozen=True, eq=False)
class Boxes:
    """Some boxes and the members of each that matter, in no particular order of boxes."""

    costs: Floats  # what a record costs in each box
    keys: Indices  # a hash of its nodes: the same box has the same key whenever it is found
    rest: Floats  # the price that no member exceeds that is not listed
    starts: Indices
    members: Codes  # ``members[starts[b]:starts[b + 1]]``: items of box ``b``, the dearest first

    @property
    def owners(self) -> Indices:
        """The box of each listed member."""
        return np.repeat(np.arange(len(self.costs)), np.diff(self.starts))


@dataclass(frozen=True, eq=False)
class Items:
    """The records, those together that share a price."""

    tuples: Indices  # the tuple of each item
    values: Codes  # its sensitive value, -1 where it has no known one or none is counted
    weights: Counts  # its records
    of_row: Indices  # the item of each row of the table, -1 for a row that is left out
    column: str | None = None  # the sensitive column that values are counted in


@dataclass(frozen=True, eq=False)
class _Part:
    """The boxes that one part of the search has found, as `kernels.prices.near_boxes` returns them."""

    figures: Floats  # cost and rest of each box
    ints: Indices  # key of each box, and where its members end
    members: Indices
    work: int
    complete: bool

    @staticmethod
    def of(figures: Floats, ints: Indices, members: Indices, boxes: int, work: int, complete: bool) -> _Part:
        """Without what the arrays are too long by."""
        ints = ints[: 2 * boxes].reshape(boxes, 2)
        listed = int(ints[-1, 1]) if boxes else 0
        return _Part(figures[: 2 * boxes].reshape(boxes, 2), ints, members[:listed].copy(), int(work), bool(complete))


@dataclass(frozen=True, eq=False)
class Lattice:
    """All boxes of a problem, as a search over the columns one by one."""

    items: Items
    codes: Codes  # ``codes[c, i]``: leaf code of item ``i`` in the c-th column of the search
    levels: tuple[Indices, Indices, Codes, Floats, Floats]
    need: tuple[int, int]  # records and distinct values that a class has at least
    n_values: int
    kernels: ModuleType
    columns: tuple[str, ...] = ()  # the columns of the search, in its order
    node_costs: tuple[Floats, ...] = ()  # what each node costs, column by column of the table

    @staticmethod
    def of(
        problem: Problem,
        *,
        costs: Sequence[Floats] | None = None,
        columns: int | None = None,
        compiled: bool = True,
    ) -> Lattice:
        """The lattice of a problem, or that of its dearest ``columns`` alone: a box of these holds all boxes within it.

        ``costs`` are those of each node by column; by the measure that local recodings lower if None.
        """
        items, values, n_values = _items(problem)
        costs = node_costs(problem) if costs is None else costs
        order = _order(problem, costs)[:columns]
        codes = np.ascontiguousarray(problem.table.codes[order][:, items.tuples])
        ladders = [problem.ladders[j] for j in order]
        maps, offsets, _ = dense_maps(ladders)
        depths = np.array([len(ladder.nodes) for ladder in ladders], dtype=np.int64)
        by_level = [costs[j][row] for j, ladder in zip(order, ladders, strict=True) for row in ladder.nodes]
        floors = np.zeros((len(order), int(depths.max(initial=1))))
        for c, (j, ladder) in enumerate(zip(order, ladders, strict=True)):
            present = distinct_codes(codes[c])
            floors[c, : len(ladder.nodes)] = costs[j][ladder.nodes[:, present]].min(axis=1, initial=np.inf)
        table = np.zeros(floors.shape, dtype=np.int64)
        for row, own in zip(table, offsets, strict=True):
            row[: len(own)] = own
        flat = np.concatenate([np.zeros(0), *by_level])
        need, kernels = (least_size(problem.models), values), load_price_kernels(compiled=compiled)
        names = tuple(problem.table.quasi[j] for j in order)
        return Lattice(items, codes, (table, depths, maps, flat, floors), need, n_values, kernels, names, tuple(costs))

    def remaining(self, kept: Indices, records: Counts) -> Lattice:
        """The same boxes with some of the items in them, and so many records of each."""
        number = np.full(len(self.items.weights) + 1, -1, dtype=np.int64)  # the last entry is that of no item
        number[kept] = np.arange(len(kept))
        items = replace(
            self.items,
            tuples=self.items.tuples[kept],
            values=self.items.values[kept],
            weights=records,
            of_row=number[self.items.of_row],
        )
        return replace(self, items=items, codes=np.ascontiguousarray(self.codes[:, kept]))

    def nearest(self, limit: int) -> tuple[Floats, int, bool]:
        """For each item the cheapest box that could be a class with it, infinite where none is; the work, and if done.

        The nearest-neighbour bound: prices that no class can exceed, since none costs a record less.
        """
        least, records = np.full(len(self.items.weights), np.inf), (self.items.weights, self.items.values)
        work, complete = self.kernels.least_costs(
            self.codes, records, self.levels, self.need, self.n_values, least, limit
        )
        return least, int(work), bool(complete)

    def near(self, prices: Floats, *, slack: float, spread: float, limit: int) -> tuple[Boxes, int, bool]:
        """The boxes in which the best class comes within ``slack`` of its cost; the work, and whether it ended.

        With no slack these are all boxes whose constraint is violated, and some that are tight.
        """
        order = np.argsort(-prices, kind="stable")
        codes, sorted_prices = np.ascontiguousarray(self.codes[:, order]), prices[order]
        records = self.items.weights[order], self.items.values[order]

        tasks = list(self._tasks())
        share = limit if len(tasks) == 1 else (limit + 1) // 2

        def part(fixed: Indices) -> _Part:
            arrays = codes, records, sorted_prices, self.levels, fixed, self.need, self.n_values
            return _Part.of(*self.kernels.near_boxes(*arrays, slack, spread, share))

        parts: list[_Part] = []
        work = 0
        for first in range(0, len(tasks), _WAVE):
            parts += self._map(part, tasks[first : first + _WAVE])
            work = sum(each.work for each in parts)
            if work > limit or not all(each.complete for each in parts):
                return no_boxes(), work, False
        costs, rest = np.concatenate([each.figures for each in parts]).T.copy()
        keys, ends = np.concatenate([each.ints for each in parts]).T.copy()
        before = np.cumsum([0, *(len(each.members) for each in parts[:-1])])
        ends += np.repeat(before, [len(each.ints) for each in parts])
        members = order[np.concatenate([each.members for each in parts])].astype(np.int32)
        return Boxes(costs, keys, rest, np.concatenate([[0], ends]), members), work, True

    def _tasks(self) -> Iterator[Indices]:
        """The levels of the first columns, in every combination: parts of the search that share nothing."""
        depths, fixed = self.levels[1], 0
        while fixed < len(depths) and np.prod(depths[: fixed + 1]) <= self.kernels.TASKS:
            fixed += 1
        for levels in product(*(range(each) for each in depths[:fixed])):
            yield np.array(levels, dtype=np.int64)

    def _map(self, function: Callable[[_Given], _Found], given: Sequence[_Given]) -> list[_Found]:
        """Apply a kernel to several parts, on all processors where that pays; the results in order."""
        workers = min(os.cpu_count() or 1, len(given)) if len(self.items.weights) > _ALONE else 1
        if workers <= 1:
            return [function(each) for each in given]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(function, given))


def node_costs(problem: Problem) -> list[Floats]:
    """What a cell released as each node adds to the cost of its record, in the measure that local recodings lower."""
    weight = record_weight(problem)
    return [costs / weight for costs in cell_costs(problem)]


def no_boxes() -> Boxes:
    """No box at all."""
    none = np.zeros(0, dtype=np.int64)
    return Boxes(np.zeros(0), none, np.zeros(0), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))


def _order(problem: Problem, costs: Sequence[Floats]) -> list[int]:
    """The columns, those first whose cells cost most on average: sums of costs pass the prices soonest that way."""
    means = [
        -float(own[ladder.nodes].mean()) if own.size else 0.0
        for own, ladder in zip(costs, problem.ladders, strict=True)
    ]
    return [int(j) for j in np.argsort(means, kind="stable")]


def _items(problem: Problem) -> tuple[Items, int, int]:
    """The records as items, the distinct values that a class needs, and how many values there are.

    Values are counted in one column, the one that asks for most of them; models on others are left out of the bound.
    """
    table, wanted = problem.table, dict[str, int]()
    for model in problem.models:
        if model.column is not None and model.superset_closed and model.least_values > 1:
            wanted[model.column] = max(wanted.get(model.column, 1), model.least_values)
    column = max(sorted(wanted), key=lambda name: wanted[name]) if wanted else None
    known = np.zeros(1, dtype=np.bool_) if column is None else problem.domains[column].known
    values = np.full(len(table.row_tuple), -1, dtype=np.int64)
    if column is not None:
        values = np.where((codes := table.row_sensitive[column]) >= 0, np.where(known[codes], codes, -1), -1)
    width = np.int64(len(known) + 1)
    keys, of_row = np.unique(table.row_tuple * width + values + 1, return_inverse=True)
    counts = np.bincount(of_row, table.weights, minlength=len(keys)).astype(np.int64)
    items = Items(keys // width, (keys % width - 1).astype(np.int32), counts, of_row, column)
    return items, wanted.get(column, 1) if column is not None else 1, len(known)
