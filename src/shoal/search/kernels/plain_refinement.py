"""The kernels of `kernels.refinement` in NumPy: for small tables, where compiling takes longer than refining, and as
the twins that the compiled ones are tested against. Same proposals, number for number.

Cells are summed in the same order of columns. A compiled kernel leaves a sum as soon as it exceeds a limit. Here all
sums are made at once, and the few candidates that come near the best are then put through the same comparisons, in the
same order, so that of equals the same one is chosen.
"""

from typing import Any

import numpy as np

from shoal.search.kernels.plain_costs import (
    FAR,
    NEAR,
    Floats,
    Indices,
    Prices,
    cell_costs,
    changed_costs,
    parts,
    rows_of,
)
from shoal.search.kernels.plain_regrouping import dissolutions, gatherings, splits

__all__ = [
    "cheapest_classes",
    "cheapest_joins",
    "column_sums",
    "dissolutions",
    "exchanges",
    "extremes",
    "gatherings",
    "independent_steps",
    "nearest_classes",
    "splits",
]


def extremes(codes: Any, members: Any, starts: Any, prices: Prices, chosen: Any, ends: Any, costs: Any) -> None:
    """Work out the two smallest and largest codes of the chosen classes, and what a record of each costs."""
    rows, owner = rows_of(chosen, members, starts)
    sizes = starts[chosen + 1] - starts[chosen]
    first, total = np.cumsum(sizes) - sizes, np.zeros(len(chosen))
    one, two = np.flatnonzero(sizes > 0), np.flatnonzero(sizes > 1)
    for c in range(codes.shape[1]):
        values = codes[rows, c][np.lexsort((codes[rows, c], owner))].astype(np.int64)
        found = np.full((len(chosen), 4), [FAR, FAR, -1, -1])
        found[one, 0], found[two, 1] = values[first[one]], values[first[two] + 1]
        last = first + sizes - 1
        found[one, 2], found[two, 3] = values[last[one]], values[last[two] - 1]
        ends[chosen, c] = found
        total[one] += cell_costs(c, found[one, 0], found[one, 2], prices)
    costs[chosen] = total


def column_sums(ends: Any, sizes: Any, prices: Prices, sums: Any) -> None:
    """Add up what the cells of each column cost over all records."""
    filled = np.flatnonzero(sizes > 0)
    for c in range(len(sums)):
        low, high = (ends[filled, c, end].astype(np.int64) for end in (0, 2))
        sums[c] = np.cumsum(np.append(sums[c], sizes[filled] * cell_costs(c, low, high, prices)))[-1]


def _joint_costs(low: Any, high: Any, piece: Any, ends: Any, prices: Prices) -> Floats:
    """What a record costs in the box of some codes, one row each, together with the box of each class of a piece."""
    total = np.zeros((len(low), len(piece)))
    for c in range(ends.shape[1]):
        bottom = np.minimum(low[:, c, None], ends[piece, c, 0].astype(np.int64))
        total += cell_costs(c, bottom, np.maximum(high[:, c, None], ends[piece, c, 2].astype(np.int64)), prices)
    return total


def nearest_classes(piece: Any, asking: Any, ends: Any, prices: Prices, near: Any) -> None:
    """For each asking class of a piece the classes of the piece that would share the cheapest box with it."""
    for some in parts(asking, len(piece)):
        cost = _joint_costs(ends[some, :, 0], ends[some, :, 2], piece, ends, prices)
        cost[some[:, None] == piece] = np.inf
        order = np.argsort(cost, axis=1, kind="stable")[:, : near.shape[1]]
        near[some] = -1
        near[some, : order.shape[1]] = np.where(np.isfinite(np.take_along_axis(cost, order, axis=1)), piece[order], -1)


def cheapest_joins(piece: Any, asking: Any, classes: Any, prices: Prices, joins: Any) -> None:
    """For each row of the asking classes of a piece the classes of the piece that it costs least to join."""
    codes, members, starts, ends, costs = classes
    sizes, width = starts[piece + 1] - starts[piece], joins.shape[1]
    before = costs[piece] * sizes
    every, owner = rows_of(asking, members, starts)
    own = asking[owner]
    budget = costs[own] * (starts[own + 1] - starts[own])
    for some in parts(np.arange(len(every)), len(piece)):
        rows = every[some]
        cost = _joint_costs(codes[rows], codes[rows], piece, ends, prices)
        added = cost * (sizes + 1) - before
        added[own[some, None] == piece] = np.inf
        limit = budget[some]
        if len(piece) > width:
            limit = np.minimum(limit, np.partition(added, width - 1, axis=1)[:, width - 1])
        found = np.full((len(rows), width), -1, dtype=np.int64)
        best = [[each] * width for each in budget[some].tolist()]
        for index, other in np.argwhere(added <= limit[:, None] + NEAR).tolist():
            if cost[index, other] < (best[index][-1] + before[other]) / (sizes[other] + 1):
                _enter(float(added[index, other]), other, best[index], found[index])
        joins[rows] = np.where(found >= 0, piece[found], -1)


def _enter(cost: float, item: int, best: list[float], items: Any) -> None:
    """Enter an item among the cheapest, cheapest first, instead of the dearest; of equals the first."""
    at = len(best) - 1
    while at > 0 and best[at - 1] > cost:
        best[at], items[at] = best[at - 1], items[at - 1]
        at -= 1
    best[at], items[at] = cost, item


def exchanges(
    asking: Any, classes: Any, near: Any, joins: Any, least: Any, prices: Prices, gains: Any, steps: Any
) -> None:
    """The best exchanges of each asking class: a row moves where it costs little, or changes places with another."""
    starts = classes[2]
    largest = int(np.diff(starts).max(initial=1))
    for some in parts(np.arange(len(asking)), near.shape[1] * largest * largest // 4):
        own, best = gains[some], steps[some]
        _exchanges(asking[some], classes, near, joins, least, prices, own, best)
        gains[some], steps[some] = own, best


def _exchanges(
    asking: Any, classes: Any, near: Any, joins: Any, least: Any, prices: Prices, gains: Any, steps: Any
) -> None:
    codes, members, starts, ends, costs = classes
    sizes = np.diff(starts)
    out, index = rows_of(asking, members, starts)
    index, out = index[sizes[asking[index]] > 1], out[sizes[asking[index]] > 1]
    a = asking[index]
    size, now = sizes[a], costs[a] * sizes[a]
    without = changed_costs(ends, codes, a, out, None, prices)
    left = now - without * (size - 1)
    # moves
    row, rank = np.nonzero((joins[out] >= 0) & (size > least)[:, None])
    b = joins[out[row], rank].astype(np.int64)
    kept = (sizes[b] > 0) & (b != a[row])
    row, rank, b = row[kept], rank[kept], b[kept]
    cost = changed_costs(ends, codes, b, None, out[row], prices)
    gain = left[row] + costs[b] * sizes[b] - cost * (sizes[b] + 1)
    moves = np.flatnonzero(gain > gains[index[row], -1] - NEAR)
    # swaps
    there, place = np.nonzero((near[a] >= 0) & (without < costs[a])[:, None])
    other = near[a[there], place].astype(np.int64)
    there, other = there[sizes[other] > 1], other[sizes[other] > 1]
    into, pair = rows_of(other, members, starts)
    there, other = there[pair], other[pair]
    both = now[there] + costs[other] * sizes[other]
    mine = changed_costs(ends, codes, a[there], out[there], into, prices)
    kept = both - mine * size[there] > gains[index[there], -1] - NEAR
    there, other, into, both, mine = there[kept], other[kept], into[kept], both[kept], mine[kept]
    its = changed_costs(ends, codes, other, into, out[there], prices)
    saved = both - mine * size[there] - its * sizes[other]
    swaps = np.flatnonzero(saved > gains[index[there], -1] - NEAR)
    # the best of both, in the order in which they are looked at: row by row, moves first
    of_row, number = np.concatenate([row[moves], there[swaps]]), np.concatenate([moves, swaps])
    promised, is_swap = np.concatenate([gain[moves], saved[swaps]]), np.repeat([0, 1], [len(moves), len(swaps)])
    order = np.lexsort((number, is_swap, of_row))
    for each in order[_nearly_best(index[of_row[order]], promised[order], gains.shape[1])].tolist():
        pass_row, n = int(of_row[each]), int(number[each])
        at = int(index[pass_row])
        floor = gains[at, -1]
        if is_swap[each]:
            cost_a, b_size = mine[n], sizes[other[n]]
            if cost_a >= (both[n] - floor) / size[pass_row]:
                continue
            if its[n] < (both[n] - floor - cost_a * size[pass_row]) / b_size:
                step = (a[pass_row], other[n], out[pass_row], into[n])
                _keep_best(saved[n], step, gains[at], steps[at])
        elif left[pass_row] > floor:
            b_size = sizes[b[n]]
            if cost[n] < (costs[b[n]] * b_size + left[pass_row] - floor) / (b_size + 1):
                _keep_best(gain[n], (a[pass_row], b[n], out[pass_row], -1), gains[at], steps[at])


def _nearly_best(owner: Indices, gain: Floats, width: int) -> Indices:
    """Which candidates of each owner may be among its ``width`` best but for rounding, in the order of the rows."""
    order = np.lexsort((-gain, owner))
    first = np.searchsorted(owner[order], owner[order])
    rank = np.arange(len(order)) - first
    last = np.full(int(owner.max(initial=-1)) + 1, -np.inf)
    at = np.flatnonzero(rank == width - 1)
    last[owner[order[at]]] = gain[order[at]]
    return np.flatnonzero(gain >= last[owner] - NEAR)


def _keep_best(gain: Any, step: tuple[Any, ...], gains: Any, steps: Any) -> None:
    """Enter an exchange among the best of its class, best first; of equals the first found."""
    at = len(gains) - 1
    if gain <= gains[at]:
        return
    while at > 0 and gains[at - 1] < gain:
        gains[at], steps[at] = gains[at - 1], steps[at - 1]
        at -= 1
    gains[at], steps[at] = gain, step


def independent_steps(order: Any, bounds: Any, touched: Any, n_classes: Any, accepted: Any) -> None:
    """Of some steps, in order, those that touch no class that an earlier one touches."""
    used = np.zeros(n_classes, dtype=np.bool_)
    for step in order.tolist():
        classes = touched[bounds[step] : bounds[step + 1]]
        accepted[step] = not used[classes].any()
        if accepted[step]:
            used[classes] = True


def cheapest_classes(codes: Any, block: Any, classes: Any, prices: Prices, least: Any, chosen: Any) -> None:
    """For each of some records the class of its block that it would cost least to join, and what that adds."""
    ends, class_block, sizes, costs = classes
    before, every = costs * sizes, np.arange(len(sizes))
    for some in parts(np.arange(len(codes)), len(sizes)):
        cost = _joint_costs(codes[some], codes[some], every, ends, prices)
        added = cost * (sizes + 1) - before
        added[block[some, None] != class_block] = np.inf
        best = added.min(axis=1, initial=np.inf)
        for index, other in np.argwhere((added <= best[:, None] + NEAR) & np.isfinite(added)).tolist():
            record = some[index]
            if cost[index, other] < (least[record] + before[other]) / (sizes[other] + 1):
                least[record], chosen[record] = added[index, other], other
