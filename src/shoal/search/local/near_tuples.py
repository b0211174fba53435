"""The nearest tuples of each tuple: those with which it would share the cheapest boxes.

Comparing all tuples takes time with the square of their number. Therefore they are put into a tree, each node of which
is cut in two where a box of both sides costs most: whole parts of it are too far away from a tuple to be looked at. The
tuples found are the nearest ones however the tree is cut; it only decides among equally near ones.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from shoal.search.kernels import plain_neighbours
from shoal.search.kernels.load import ROWS_BEFORE_LOADING
from shoal.search.local.blocks import Blocks, Codes, Indices, dearest_first
from shoal.search.local.refinement.arrangement import Prices, prices_of
from shoal.search.local.threads import spread

NEAR = 48  # neighbours of each tuple among whose classes refining looks for others
_IN_A_LEAF = 8  # tuples up to which the tree is not cut further


def near_tuples(blocks: Blocks) -> Codes:
    """The nearest tuples of each tuple in its block, nearest first, -1 where there are no more."""
    columns = dearest_first(blocks.problem)
    codes, prices = np.ascontiguousarray(blocks.problem.table.codes[columns].T), prices_of(blocks, columns)
    found = np.full((len(codes), NEAR), -1, dtype=np.int32)
    order = np.argsort(blocks.tuple_block, kind="stable")
    bounds = np.searchsorted(blocks.tuple_block[order], np.arange(blocks.n_blocks + 1))
    for begin, end in pairwise(bounds.tolist()):
        tuples = order[begin:end]
        near = nearest(blocks, codes[tuples], np.arange(len(tuples)), prices, NEAR)
        found[tuples] = np.where(near >= 0, tuples[near], -1)
    return found


def nearest(blocks: Blocks, codes: Codes, seeds: Indices, prices: Prices, number: int) -> Codes:
    """The nearest of all tuples for each of some, nearest first, -1 where there are no more; ``codes[tuple, c]``."""
    near = np.full((len(seeds), number), -1, dtype=np.int32)
    if blocks.problem.table.n_rows <= ROWS_BEFORE_LOADING:
        plain_neighbours.all_compared(codes, seeds, prices, near)
        return near
    from shoal.search.kernels import near_tuples as kernels  # noqa: PLC0415 - numba takes time and memory to import

    orders = np.ascontiguousarray(np.argsort(codes, axis=0, kind="stable").T.astype(np.int32))
    nodes = np.empty((2 * len(codes) + 1, 3), dtype=np.int64)
    used, depth = kernels.build_tree(codes, orders, _IN_A_LEAF, prices, nodes)
    nodes, items = nodes[:used].copy(), orders[0].astype(np.int64)
    codes = np.ascontiguousarray(codes[items])
    lows, highs = np.empty((2, used, codes.shape[1]), dtype=np.int32)
    kernels.measure_nodes(codes, nodes, lows, highs)
    place = np.empty(len(items), dtype=np.int64)
    place[items] = np.arange(len(items))
    order = np.argsort(place[seeds])  # in the order of the tree: one looks at much the same as the next
    asking = place[seeds][order]

    def work(some: slice) -> None:
        kernels.nearest_tuples(codes, asking[some], (nodes, lows, highs), depth, prices, near[some])

    spread(work, len(seeds))
    near[order] = np.where(near >= 0, items[near], -1)
    return near
