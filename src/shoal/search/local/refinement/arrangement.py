"""A partition as refining sees it: the rows of every class, their boxes and costs, and the neighbours of each class.

What a cell costs is looked up by the smallest and the largest leaf code that it must cover. Columns of up to
`TABLE_LEAVES` values have a table of all pairs. Larger ones are answered by climbing the tree from the smallest code,
or by the width of the range where they are released as ranges; of a run that is taken from end to end of its base
intervals, also where a node would be released instead of it.
"""

from collections.abc import Iterator, Sequence
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.ranges import ancestors
from shoal.models import least_size
from shoal.search.kernels.load import load_refining_kernels, neighbour_kernels
from shoal.search.local.blocks import Blocks, Classes, Codes, Indices, cell_metric, dearest_first
from shoal.search.local.threads import spread
from shoal.table.classes import Floats
from shoal.table.encoded import distinct_codes, spans
from shoal.table.recoding import SUPPRESSED

Prices = tuple[NDArray[np.generic], ...]

TABLE_LEAVES = 512  # values up to which a column has a table of all pairs: 2 MB


def prices_of(blocks: Blocks, columns: Sequence[int]) -> Prices:
    """The prices of some quasi-identifiers in the measure that is lowered.

    As the kernels read them: costs, the trees that are climbed (with the same indices), and for each column
    where its costs begin and how they are found (a table's row length, 0 for a tree, -1 for ranges, or minus the
    number of leaves for runs).
    """
    costs, widths = zip(*(_column(blocks, j) for j in columns), strict=True)
    last, parents = [], []
    for j, own, width in zip(columns, costs, widths, strict=True):
        tree, none = blocks.problem.hierarchies[j], np.zeros(len(own), dtype=np.int32)
        last.append(none if width else tree.last.astype(np.int32))
        parents.append(none if width else tree.parents.astype(np.int32))
    begins = np.cumsum([0, *map(len, costs)])[:-1]
    how = np.stack([begins, widths], axis=1).astype(np.int64)
    return np.concatenate(costs), np.concatenate(last), np.concatenate(parents), how


def _column(blocks: Blocks, j: int) -> tuple[Floats, int]:
    """The costs of one quasi-identifier, and how they are found."""
    hierarchy, metric = blocks.problem.hierarchies[j], cell_metric(blocks.problem)
    weight, cells, leaves = metric.weight(hierarchy), metric.cell(hierarchy), hierarchy.n_leaves
    ranged = blocks.ranged.get(j)
    if ranged is not None and not np.array_equal(cells, hierarchy.loss):
        ranged = None  # a measure of levels: a range counts as the lowest node above it
    if leaves <= TABLE_LEAVES:
        low, high = (each.astype(np.int32) for each in np.triu_indices(leaves))
        pairs = np.zeros((leaves, leaves))
        pairs[low, high] = weight * (
            cells[ancestors(hierarchy, low, high)] if ranged is None else ranged.losses(low, high)
        )
        return pairs.ravel(), leaves
    if ranged is not None and ranged.missing < 0 and ranged.divided is not None:
        ends = np.concatenate([ranged.divided.first, ranged.divided.last])
        return weight * ends / max(float(hierarchy.spans[hierarchy.root]) - 1, 1.0), -leaves
    if ranged is not None and ranged.missing < 0:
        codes = np.arange(leaves, dtype=np.int32)
        return weight * ranged.losses(np.zeros_like(codes), codes), -1
    return weight * cells, 0


NEIGHBOURS = 24  # how many neighbours of a class are tried
JOINS = 6  # how many classes a row may try to join
PIECE = 6000  # classes among which neighbours are looked for: larger blocks are cut, each round elsewhere


class Arrangement:
    """Classes of rows that change step by step."""

    def __init__(
        self,
        blocks: Blocks,
        row_class: Classes,
        *,
        piece: int = PIECE,
        near: Codes | None = None,
        least: int = 1,
        kernels: ModuleType | None = None,
    ) -> None:
        self.blocks, self._piece = blocks, piece
        self.kernels = kernels if kernels is not None else load_refining_kernels()
        self.columns = dearest_first(blocks.problem)
        self.codes = np.ascontiguousarray(blocks.row_codes[:, self.columns])
        distinct, dense = np.unique(row_class, return_inverse=True)
        self.row_class = (dense - int(distinct[0] == SUPPRESSED)).astype(np.int32)
        self.least = max(least, least_size(blocks.class_models))  # records that a class must have at least
        self.fresh = self.least if self.least > 1 else int(np.bincount(self.row_class[self.row_class >= 0]).min())
        """Records that a gathered class gets: where no model says how many, as many as the smallest class has."""
        self.only_sizes = not blocks.problem.counts_people and all(
            model.only_counts and model.column is None for model in blocks.class_models
        )
        self.joins = np.full((len(row_class), JOINS), -1, dtype=np.int32)
        self._near_tuples = near if neighbour_kernels(len(row_class)) else None
        self._metric = cell_metric(blocks.problem)
        self._plain = prices_of(blocks, self.columns)
        self.prices: Prices = self._plain
        count = int(self.row_class.max()) + 1
        self.ends = np.zeros((count, len(self.columns), 4), dtype=np.int32)
        self.costs: Floats = np.zeros(count)
        self.near = np.full((count, NEIGHBOURS), -1, dtype=np.int32)
        self._gather_rows()
        self._measure(np.arange(count))

    def _measure(self, classes: Indices) -> None:
        """Work out the boxes and costs of some classes."""
        self.kernels.extremes(self.codes, self.members, self.starts, self.prices, classes, self.ends, self.costs)

    def _gather_rows(self) -> None:
        """Put the rows of each class side by side."""
        kept = np.flatnonzero(self.row_class >= 0)
        order = kept[np.argsort(self.row_class[kept], kind="stable")]
        self.members: Indices = order
        self.starts: Indices = np.searchsorted(self.row_class[order], np.arange(len(self.costs) + 1)).astype(np.int64)

    @property
    def classes(self) -> tuple[NDArray[np.generic], ...]:
        """The partition as the kernels read it."""
        return self.codes, self.members, self.starts, self.ends, self.costs

    @property
    def sizes(self) -> Indices:
        """Records of each class; 0 for one that is gone."""
        return np.diff(self.starts)

    @property
    def filled(self) -> Indices:
        """The classes that there are."""
        return np.flatnonzero(self.sizes > 0)

    def price(self) -> None:
        """Price the cells by the slope of the measure where it stands, and work out all boxes and costs."""
        sums = np.zeros(len(self.columns))
        self.kernels.column_sums(self.ends, self.sizes, self._plain, sums)
        weights = [self._metric.weight(self.blocks.problem.hierarchies[j]) for j in self.columns]
        suppressed = np.count_nonzero(self.row_class < 0)  # each of whose cells costs 1
        slopes = self._metric.slope((sums / np.maximum(weights, 1e-300) + suppressed) / len(self.row_class))
        costs, last, parents, how = self._plain
        lengths = np.diff([*how[:, 0], len(costs)])
        self.prices = costs * np.repeat(slopes, lengths), last, parents, how
        self._measure(np.arange(len(self.costs)))

    def find_neighbours(self, asking: Indices, turn: int) -> None:
        """Look for the classes that would share the cheapest boxes with each asking class."""
        if self._near_tuples is not None:
            self._find_among_neighbours(self._near_tuples, asking)
            return
        asks = np.zeros(len(self.costs), dtype=np.bool_)
        asks[asking] = True
        for piece in self._pieces(turn):
            looking = piece[asks[piece] & (self.costs[piece] > 0)]

            def work(some: slice, piece: Indices = piece, looking: Indices = looking) -> None:
                self.kernels.nearest_classes(piece, looking[some], self.ends, self.prices, self.near)
                self.kernels.cheapest_joins(piece, looking[some], self.classes, self.prices, self.joins)

            spread(work, len(looking))

    def _find_among_neighbours(self, near: Codes, asking: Indices) -> None:
        """The same among the classes of near tuples: in wide tables pieces would part neighbours."""
        from shoal.search.kernels import neighbours  # noqa: PLC0415 - numba takes time and memory to import

        table = self.blocks.problem.table
        rows, starts = table.rows_by_tuple
        graph = (
            near,
            table.row_tuple.astype(np.int32),
            rows.astype(np.int64),
            starts.astype(np.int64),
        )

        looking = asking[(self.costs[asking] > 0) & (self.sizes[asking] > 0)]

        def work(some: slice) -> None:
            arrays = self.row_class, self.classes, self.prices, self.near, self.joins
            neighbours.classes_of_neighbours(looking[some], graph, *arrays)

        spread(work, len(looking))

    def _pieces(self, turn: int) -> Iterator[Indices]:
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

    def apply(self, rows: Indices, targets: Indices) -> Indices:
        """Put rows into other classes; numbers from ``len(costs)`` on are new classes. The classes that changed."""
        touched = distinct_codes(np.concatenate([self.row_class[rows].astype(np.int64), targets]))
        self.row_class[rows] = targets
        new = max(int(touched[-1]) + 1 - len(self.costs), 0)
        self.ends = np.concatenate([self.ends, np.zeros((new, len(self.columns), 4), dtype=np.int32)])
        self.costs = np.concatenate([self.costs, np.zeros(new)])
        self.near = np.concatenate([self.near, np.full((new, NEIGHBOURS), -1, dtype=np.int32)])
        self._gather_rows()
        self._measure(touched)
        return touched

    def around(self, touched: Indices) -> Indices:
        """Some classes and those that have one of them as a neighbour."""
        hit = np.zeros(len(self.costs) + 1, dtype=np.bool_)  # the last entry stands for no neighbour
        hit[touched] = True
        hit[-1] = False
        hit[:-1] |= hit[self.near].any(axis=1)
        return np.flatnonzero(hit[:-1] & (self.sizes > 0))

    def rows_of(self, classes: Indices) -> Indices:
        """The rows of some classes, class by class."""
        return self.members[spans(self.starts[classes], self.sizes[classes])]
