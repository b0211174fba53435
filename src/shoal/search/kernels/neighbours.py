"""Kernels that group tuples with their neighbours, and look for classes among those of neighbours.

``codes[tuple, c]``; ``near[tuple]`` are its nearest tuples, nearest first, -1 where there are no more. Prices and
classes are read as in `kernels.refinement`.
"""

from typing import Any

import numpy as np

from shoal.search.kernels.jit import helper, jit
from shoal.search.kernels.refinement import cell_cost

_PRICES = "Tuple((f8[::1], i4[::1], i4[::1], i8[:, ::1]))"
_CLASSES = "Tuple((i4[:, ::1], i8[::1], i8[::1], i4[:, :, ::1], f8[::1]))"
_GRAPH = "Tuple((i4[:, ::1], i4[::1], i8[::1], i8[::1]))"
TRIED = 32  # how many of the nearest tuples outside a box are compared before one joins it


@jit(f"(i4[:, ::1], i8[::1], i8[::1], i4[:, ::1], i8, {_PRICES}, i4[:, ::1], f8[::1])")
def grow_groups(
    codes: Any, weights: Any, seeds: Any, near: Any, least: Any, prices: Any, members: Any, costs: Any
) -> None:
    """Grow a group around each of some tuples by the neighbour that raises its cost least until it has enough records.

    Leaves the tuples of each group in ``members``, -1 after the last, and what a record costs in ``costs``: infinite
    where there are too few neighbours.
    """
    cells, _, _, how = prices
    columns, width = codes.shape[1], near.shape[1]
    inside = np.empty(width, dtype=np.bool_)
    low, high = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
    for index in range(seeds.shape[0]):
        seed = seeds[index]
        records, count, total, first = weights[seed], np.int64(1), 0.0, np.int64(0)
        for i in range(width):
            inside[i] = False
        for i in range(members.shape[1]):
            members[index, i] = -1
        members[index, 0] = seed
        for c in range(columns):
            low[c] = high[c] = codes[seed, c]
        while records < least:
            best, chosen, tried = np.inf, np.int64(-1), 0
            while first < width and inside[first]:
                first += 1
            for i in range(first, width):
                other = np.int64(near[index, i])
                if other < 0 or tried == TRIED:
                    break
                if inside[i]:
                    continue
                tried += 1
                cost = 0.0
                for c in range(columns):
                    code = np.int64(codes[other, c])
                    bottom, top = min(low[c], code), max(high[c], code)
                    if how[c, 1] > 0:
                        cost += cells[how[c, 0] + bottom * how[c, 1] + top]
                    else:
                        cost += cell_cost(c, bottom, top, prices)
                    if cost >= best:
                        break
                if cost < best:
                    best, chosen = cost, np.int64(i)
            if chosen < 0:
                total = np.inf
                break
            inside[chosen], total = True, best
            other = np.int64(near[index, chosen])
            members[index, count] = other
            records += weights[other]
            count += 1
            for c in range(columns):
                code = np.int64(codes[other, c])
                low[c], high[c] = min(low[c], code), max(high[c], code)
        costs[index] = total


@jit("(i8[::1], i4[:, ::1], i8[::1])")
def take_groups(order: Any, members: Any, owner: Any) -> Any:
    """Take groups in some order whose tuples are all in none yet, and number these; how many were taken."""
    count = np.int64(0)
    for at in range(order.shape[0]):
        index, free = order[at], True
        for i in range(members.shape[1]):
            if members[index, i] < 0:
                break
            free = free and owner[members[index, i]] < 0
        if free:
            for i in range(members.shape[1]):
                if members[index, i] < 0:
                    break
                owner[members[index, i]] = count
            count += 1
    return count


@helper
def _enter(cost: Any, item: Any, best: Any, items: Any) -> None:
    """Enter an item among the cheapest, cheapest first, instead of the dearest; of equals the first."""
    at = best.shape[0] - 1
    while at > 0 and best[at - 1] > cost:
        best[at], items[at] = best[at - 1], items[at - 1]
        at -= 1
    best[at], items[at] = cost, item


@helper
def _classes_near(of: Any, graph: Any, row_class: Any, asked: Any, stamp: Any, found: Any) -> Any:
    """The classes of a tuple and of its near tuples, each once; how many there are."""
    near, _, rows, starts = graph
    count = np.int64(0)
    for rank in range(-1, near.shape[1]):
        other = np.int64(of) if rank < 0 else np.int64(near[of, rank])
        if other < 0:
            break
        for end in range(2):  # equal rows may be in several classes: the first and the last are asked
            b = np.int64(row_class[rows[starts[other]] if end == 0 else rows[starts[other + 1] - 1]])
            if b >= 0 and asked[b] != stamp:
                asked[b] = stamp
                found[count] = b
                count += 1
    return count


@helper
def _common_cost(low: Any, high: Any, ends: Any, b: Any, prices: Any, limit: Any) -> Any:
    """What a record costs in the box of a class and of some codes; may stop at the limit."""
    cells, _, _, how = prices
    cost = 0.0
    for c in range(low.shape[0]):
        bottom, top = min(low[c], np.int64(ends[b, c, 0])), max(high[c], np.int64(ends[b, c, 2]))
        if how[c, 1] > 0:
            cost += cells[how[c, 0] + bottom * how[c, 1] + top]
        else:
            cost += cell_cost(c, bottom, top, prices)
        if cost >= limit:
            break
    return cost


@jit(f"(i8[::1], {_GRAPH}, i4[::1], {_CLASSES}, {_PRICES}, i4[:, ::1], i4[:, ::1])")
def classes_of_neighbours(
    asking: Any, graph: Any, row_class: Any, classes: Any, prices: Any, near_classes: Any, joins: Any
) -> None:
    """For each asking class the nearest classes, and for each of its rows the classes that it costs least to join.

    They are looked for among the classes of the rows' near tuples. ``graph`` are the near tuples of each tuple, the
    tuple of each row, and the rows of each tuple, side by side, with where they start. What a row adds elsewhere must
    be less than its whole class costs now: no step could gain otherwise. Best first, -1 where there are no more.
    """
    codes, members, starts, ends, costs = classes
    row_tuple, columns, width, most = graph[1], codes.shape[1], joins.shape[1], near_classes.shape[1]
    asked, stamp = np.zeros(costs.shape[0], dtype=np.int64), np.int64(0)
    noted, around = np.zeros(costs.shape[0], dtype=np.int64), np.empty(costs.shape[0], dtype=np.int64)
    found = np.empty(2 * (graph[0].shape[1] + 1), dtype=np.int64)
    best, apart = np.empty(width), np.empty(most)
    low, high = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
    for index in range(asking.shape[0]):
        a, others = asking[index], np.int64(0)
        budget = costs[a] * (starts[a + 1] - starts[a])
        for i in range(starts[a], starts[a + 1]):
            row = members[i]
            if i > starts[a] and row_tuple[row] == row_tuple[members[i - 1]]:
                for rank in range(width):
                    joins[row, rank] = joins[members[i - 1], rank]
                continue
            for rank in range(width):
                joins[row, rank], best[rank] = -1, budget
            for c in range(columns):
                low[c] = high[c] = codes[row, c]
            stamp += 1
            for at in range(_classes_near(row_tuple[row], graph, row_class, asked, stamp, found)):
                b = found[at]
                if b == a:
                    continue
                if noted[b] != index + 1:
                    noted[b], around[others] = index + 1, b
                    others += 1
                size = starts[b + 1] - starts[b]
                before = costs[b] * size
                limit = (best[width - 1] + before) / (size + 1)
                cost = _common_cost(low, high, ends, b, prices, limit)
                if cost < limit:
                    _enter(cost * (size + 1) - before, b, best, joins[row])
        for rank in range(most):
            near_classes[a, rank], apart[rank] = -1, np.inf
        for c in range(columns):
            low[c], high[c] = ends[a, c, 0], ends[a, c, 2]
        for at in range(others):
            cost = _common_cost(low, high, ends, around[at], prices, apart[most - 1])
            if cost < apart[most - 1]:
                _enter(cost, around[at], apart, near_classes[a])
