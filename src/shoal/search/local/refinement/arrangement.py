"""A partition as refining sees it: the rows of every class, their boxes and costs, and the neighbours of each class.

What a cell costs is looked up by the smallest and the largest leaf code that it must cover. Columns of up to
`TABLE_LEAVES` values have a table of all pairs. Larger ones are answered by climbing the tree from the smallest code,
or by the width of the range where they are released as ranges.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.ranges import ancestors
from shoal.models import least_size
from shoal.search.kernels.load import load_refinement_kernels
from shoal.search.local.blocks import Blocks, Boxes, Classes, cell_metric
from shoal.table.encoded import spans
from shoal.table.recoding import SUPPRESSED

Floats = NDArray[np.float64]
Prices = tuple[NDArray[np.generic], ...]

TABLE_LEAVES = 512  # values up to which a column has a table of all pairs: 2 MB


def prices_of(blocks: Blocks, columns: Sequence[int]) -> Prices:
    """The prices of some quasi-identifiers in the measure that is lowered.

    As the kernels read them: costs, the trees that are climbed (with the same indices), and for each column
    where its costs begin and how they are found (a table's row length, 0 for a tree, -1 for ranges).
    """
    found = [_column(blocks, j) for j in columns]
    begins = np.cumsum([0, *(len(each.costs) for each in found)])[:-1]
    return (
        np.concatenate([each.costs for each in found]),
        np.concatenate([each.last for each in found]),
        np.concatenate([each.parents for each in found]),
        np.stack([begins, [each.width for each in found]], axis=1).astype(np.int64),
    )


def scaled(prices: Prices, slopes: Floats) -> Prices:
    """The same prices, those of each column times its slope."""
    costs, last, parents, columns = prices
    lengths = np.diff([*columns[:, 0], len(costs)])
    return costs * np.repeat(slopes, lengths), last, parents, columns


@dataclass(frozen=True, eq=False)
class _Column:
    costs: Floats
    last: NDArray[np.int32]
    parents: NDArray[np.int32]
    width: int


def _column(blocks: Blocks, j: int) -> _Column:
    """How one quasi-identifier is priced."""
    hierarchy, metric = blocks.problem.hierarchies[j], cell_metric(blocks.problem)
    cells = metric.weight(hierarchy) * metric.cell(hierarchy)
    ranged = blocks.ranged.get(j)
    if ranged is not None and not np.array_equal(metric.cell(hierarchy), hierarchy.loss):
        ranged = None  # a measure of levels: a range counts as the lowest node above it
    leaves = hierarchy.n_leaves
    if leaves <= TABLE_LEAVES:
        low, high = (each.astype(np.int32) for each in np.triu_indices(leaves))
        pairs = np.zeros((leaves, leaves))
        if ranged is None:
            pairs[low, high] = cells[ancestors(hierarchy, low, high)]
        else:
            pairs[low, high] = metric.weight(hierarchy) * ranged.losses(low, high)
        return _untreed(pairs.ravel(), leaves)
    if ranged is not None and ranged.missing < 0:
        codes = np.arange(leaves, dtype=np.int32)
        return _untreed(metric.weight(hierarchy) * ranged.losses(np.zeros_like(codes), codes), -1)
    return _Column(cells, hierarchy.last.astype(np.int32), hierarchy.parents.astype(np.int32), 0)


def _untreed(costs: Floats, width: int) -> _Column:
    none = np.zeros(len(costs), dtype=np.int32)
    return _Column(costs, none, none, width)


Ints = NDArray[np.int64]

NEIGHBOURS = 24  # how many neighbours of a class are tried
JOINS = 6  # how many classes a row may try to join
PIECE = 6000  # classes among which neighbours are looked for: larger blocks are cut, each round elsewhere
_ALONE = 256  # classes up to which one thread does the work


class Arrangement:
    """Classes of rows that change step by step."""

    def __init__(self, blocks: Blocks, row_class: Classes, *, piece: int = PIECE) -> None:
        self.blocks, self._piece = blocks, piece
        self.kernels = load_refinement_kernels()
        self.columns = Boxes.of(blocks.problem).columns
        self.codes = np.ascontiguousarray(blocks.row_codes[:, list(self.columns)])
        distinct, dense = np.unique(row_class, return_inverse=True)
        self.row_class = (dense - int(distinct[0] == SUPPRESSED)).astype(np.int32)
        self.least = least_size(blocks.class_models)  # records that a class must have at least
        self.fresh = self.least if self.least > 1 else int(np.bincount(self.row_class[self.row_class >= 0]).min())
        """Records that a gathered class gets: where no model says how many, as many as the smallest class has."""
        self.only_sizes = all(model.only_counts and model.column is None for model in blocks.class_models)
        self.joins = np.full((len(row_class), JOINS), -1, dtype=np.int32)
        self._metric = cell_metric(blocks.problem)
        self._plain = prices_of(blocks, self.columns)
        self.prices: Prices = self._plain
        count = int(self.row_class.max()) + 1
        self.ends = np.zeros((count, len(self.columns), 4), dtype=np.int32)
        self.costs: Floats = np.zeros(count)
        self.near = np.full((count, NEIGHBOURS), -1, dtype=np.int32)
        self._gather_rows()
        self._measure(np.arange(count))

    def _measure(self, classes: Ints) -> None:
        """Work out the boxes and costs of some classes."""
        self.kernels.extremes(self.codes, self.members, self.starts, self.prices, classes, self.ends, self.costs)

    def _grow(self, count: int) -> None:
        """Make room for so many more classes."""
        self.ends = np.concatenate([self.ends, np.zeros((count, len(self.columns), 4), dtype=np.int32)])
        self.costs = np.concatenate([self.costs, np.zeros(count)])
        self.near = np.concatenate([self.near, np.full((count, NEIGHBOURS), -1, dtype=np.int32)])

    def _gather_rows(self) -> None:
        """Put the rows of each class side by side."""
        kept = np.flatnonzero(self.row_class >= 0)
        order = kept[np.argsort(self.row_class[kept], kind="stable")]
        self.members: Ints = order
        self.starts: Ints = np.searchsorted(self.row_class[order], np.arange(len(self.costs) + 1)).astype(np.int64)

    @property
    def sizes(self) -> Ints:
        """Records of each class; 0 for one that is gone."""
        return np.diff(self.starts)

    @property
    def filled(self) -> Ints:
        """The classes that there are."""
        return np.flatnonzero(self.sizes > 0)

    def price(self) -> None:
        """Price the cells by the slope of the measure where it stands, and work out all boxes and costs."""
        means = self._column_sums() / len(self.row_class)
        slopes = self._metric.slope(means)
        self.prices = scaled(self._plain, slopes)
        self._measure(np.arange(len(self.costs)))

    def _column_sums(self) -> Floats:
        """Sum of the cell costs of each column over all records; a suppressed cell costs 1."""
        sums = np.zeros(len(self.columns))
        self.kernels.column_sums(self.ends, self.sizes, self._plain, sums)
        weights = [self._metric.weight(self.blocks.problem.hierarchies[j]) for j in self.columns]
        return sums / np.maximum(weights, 1e-300) + np.count_nonzero(self.row_class < 0)

    def find_neighbours(self, asking: Ints, turn: int) -> None:
        """Look for the classes that would share the cheapest boxes with each asking class."""
        asks = np.zeros(len(self.costs), dtype=np.bool_)
        asks[asking] = True
        for piece in self._pieces(turn):
            work = partial(self._look_around, piece)
            self.spread(work, piece[asks[piece] & (self.costs[piece] > 0)])

    def _look_around(self, piece: Ints, asking: Ints) -> None:
        """Neighbours of some classes of a piece, and joins of their rows."""
        self.kernels.nearest_classes(piece, asking, self.ends, self.prices, self.near)
        self.kernels.cheapest_joins(
            piece, asking, self.codes, self.members, self.starts, self.ends, self.costs, self.prices, self.joins
        )

    def _pieces(self, turn: int) -> Iterator[Ints]:
        """The classes of each block; more than fit a piece are cut at medians, in other columns each turn."""
        filled = self.filled
        block = self.blocks.row_block[self.members[self.starts[filled]]]
        order = np.argsort(block, kind="stable")
        bounds = np.flatnonzero(np.diff(block[order])) + 1
        for group in np.split(filled[order], bounds):
            stack = [(group, turn)]
            while stack:
                piece, column = stack.pop()
                if len(piece) <= self._piece:
                    yield np.sort(piece)
                    continue
                middle = self.ends[piece, column % len(self.columns)][:, [0, 2]].sum(axis=1)
                ranked = piece[np.lexsort((piece, middle))]
                half = len(ranked) // 2
                stack += [(ranked[half:], column + 1), (ranked[:half], column + 1)]

    def spread(self, work: Callable[[Ints], object], asking: Ints) -> None:
        """Do the work of some classes, on all processors where they are many."""
        if len(asking) <= _ALONE:
            work(asking)
            return
        workers = os.cpu_count() or 1
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(work, np.array_split(asking, 4 * workers)))

    def apply(self, rows: Ints, targets: Ints) -> Ints:
        """Put rows into other classes; numbers from ``len(costs)`` on are new classes. The classes that changed."""
        touched = np.unique(np.concatenate([self.row_class[rows].astype(np.int64), targets]))
        self.row_class[rows] = targets
        self._grow(max(int(touched[-1]) + 1 - len(self.costs), 0))
        self._gather_rows()
        self._measure(touched)
        return touched

    def around(self, touched: Ints) -> Ints:
        """Some classes and those that have one of them as a neighbour."""
        hit = np.zeros(len(self.costs) + 1, dtype=np.bool_)  # the last entry stands for no neighbour
        hit[touched] = True
        hit[-1] = False
        hit[:-1] |= hit[self.near].any(axis=1)
        return np.flatnonzero(hit[:-1] & (self.sizes > 0))

    def rows_of(self, classes: Ints) -> Ints:
        """The rows of some classes, class by class."""
        return self.members[spans(self.starts[classes], self.sizes[classes])]
