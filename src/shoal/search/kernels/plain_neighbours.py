"""Neighbours of small tables, in NumPy: nothing has to be compiled for them."""

from typing import Any

import numpy as np

from shoal.search.kernels.plain_costs import cell_costs, parts

TRIED = 32  # as in the compiled kernels


def all_compared(codes: Any, seeds: Any, prices: Any, near: Any) -> None:
    """For each of some tuples the others that would share the cheapest boxes with it, cheapest first, -1 for none.

    All are compared; of equally near ones the first are taken.
    """
    width = min(near.shape[1], len(codes) - 1)
    near[:] = -1
    for some in parts(np.arange(len(seeds)), len(codes)):
        costs = np.zeros((len(some), len(codes)))
        for c, own in enumerate(codes.T.astype(np.int64)):
            mine = own[seeds[some]][:, None]
            costs += cell_costs(c, np.minimum(mine, own), np.maximum(mine, own), prices)
        costs[np.arange(len(some)), seeds[some]] = np.inf
        near[some, :width] = np.argsort(costs, axis=1, kind="stable")[:, :width]


def grow_groups(
    codes: Any, weights: Any, seeds: Any, near: Any, least: Any, prices: Any, members: Any, costs: Any
) -> None:
    """Grow a group around each of some tuples by the neighbour that raises its cost least until it has enough records.

    The twin of `kernels.neighbours.grow_groups`.
    """
    low, high = codes[seeds].astype(np.int64), codes[seeds].astype(np.int64)
    records, inside = weights[seeds].copy(), np.zeros(near.shape, dtype=np.bool_)
    members[:], costs[:] = -1, 0.0
    members[:, 0] = seeds
    for count in range(1, least):
        growing = np.flatnonzero((records < least) & np.isfinite(costs))
        outside = (near[growing] >= 0) & ~inside[growing]
        outside &= np.cumsum(outside, axis=1) <= TRIED
        total = np.zeros(outside.shape)
        for c in range(codes.shape[1]):
            other = codes[near[growing], c].astype(np.int64)
            bottom, top = np.minimum(low[growing, c, None], other), np.maximum(high[growing, c, None], other)
            total += cell_costs(c, bottom, top, prices)
        total[~outside] = np.inf
        chosen = np.argmin(total, axis=1) if total.shape[1] else np.zeros(len(growing), dtype=np.int64)
        costs[growing] = total[np.arange(len(growing)), chosen] if total.shape[1] else np.inf
        joined = np.isfinite(costs[growing])
        growing, chosen = growing[joined], chosen[joined]
        other = near[growing, chosen]
        inside[growing, chosen], members[growing, count] = True, other
        records[growing] += weights[other]
        low[growing], high[growing] = np.minimum(low[growing], codes[other]), np.maximum(high[growing], codes[other])
    costs[records < least] = np.inf
