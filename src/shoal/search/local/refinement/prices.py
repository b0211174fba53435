"""What a cell costs by the smallest and the largest leaf code that it must cover, for the kernels that refine.

Columns of up to `TABLE_LEAVES` values have a table of all pairs. Larger ones are answered by climbing the tree from the
smallest code, or by the width of the range where they are released as ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.ranges import ancestors
from shoal.search.local.blocks import Blocks
from shoal.search.local.boxes import cell_metric

Floats = NDArray[np.float64]
Prices = tuple[NDArray[np.generic], ...]

TABLE_LEAVES = 512
"""Values up to which a column has a table of all pairs: 2 MB."""


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
