"""Kernels of a tree of tuples in which the nearest ones are found without comparing all; see `local.near_tuples`.

Nearness is what the box of two tuples costs. ``codes[tuple, c]``; prices are read as in `kernels.refinement`. Tuples
stand in the order of the tree, those of a node side by side: ``nodes`` has the begin, the end and the right child of
each, -1 in a leaf of the tree; the left child is the next node. ``lows`` and ``highs`` are its extreme codes.
"""

from typing import Any

import numpy as np

from shoal.search.kernels.jit import helper, jit
from shoal.search.kernels.refinement import cell_cost

_PRICES = "Tuple((f8[::1], i4[::1], i4[::1], i8[:, ::1]))"
_TREE = "Tuple((i8[:, ::1], i4[:, ::1], i4[:, ::1]))"


@helper
def _best_cut(codes: Any, orders: Any, begin: Any, end: Any, prices: Any) -> Any:
    """The column and place at which a cut sets most tuples apart, by what a box of both sides costs at least."""
    best, column, place = -1.0, np.int64(-1), np.int64(-1)
    for c in range(orders.shape[0]):
        before = np.int64(codes[orders[c, begin], c])
        for at in range(begin + 1, end):
            code = np.int64(codes[orders[c, at], c])
            if code != before:
                score = cell_cost(c, before, code, prices) * min(at - begin, end - at)
                if score > best:
                    best, column, place = score, np.int64(c), np.int64(at)
            before = code
    return column, place


@helper
def _part(orders: Any, begin: Any, end: Any, column: Any, place: Any, above: Any, spare: Any) -> None:
    """Put the tuples of a node below and above a cut side by side, in each column still in its order."""
    for at in range(begin, end):
        above[orders[column, at]] = at >= place
    for c in range(orders.shape[0]):
        low, high = begin, np.int64(0)
        for at in range(begin, end):
            item = orders[c, at]
            if above[item]:
                spare[high] = item
                high += 1
            else:
                orders[c, low] = item
                low += 1
        for at in range(high):
            orders[c, low + at] = spare[at]


@jit(f"(i4[:, ::1], i4[:, ::1], i8, {_PRICES}, i8[:, ::1])")
def build_tree(codes: Any, orders: Any, most: Any, prices: Any, nodes: Any) -> Any:
    """Cut tuples in two until at most ``most`` are left in a node; how many nodes there are, and how deep they reach.

    ``orders`` are the tuples in the order of each column's codes; the first is in the order of the tree on return.
    """
    count = orders.shape[1]
    above, spare = np.zeros(count, dtype=np.bool_), np.empty(count, dtype=np.int32)
    stack, left, used, deepest = np.empty((count + 1, 4), dtype=np.int64), np.int64(1), np.int64(0), np.int64(1)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, count, -1, 1
    while left > 0:
        left -= 1
        begin, end, parent, depth = stack[left, 0], stack[left, 1], stack[left, 2], stack[left, 3]
        nodes[used, 0], nodes[used, 1], nodes[used, 2] = begin, end, -1
        deepest = max(deepest, depth)
        if parent >= 0:
            nodes[parent, 2] = used
        column, place = np.int64(-1), np.int64(-1)
        if end - begin > most:
            column, place = _best_cut(codes, orders, begin, end, prices)
        if column >= 0:
            _part(orders, begin, end, column, place, above, spare)
            stack[left, 0], stack[left, 1], stack[left, 2], stack[left, 3] = place, end, used, depth + 1
            left += 1
            stack[left, 0], stack[left, 1], stack[left, 2], stack[left, 3] = begin, place, -1, depth + 1
            left += 1
        used += 1
    return used, deepest


@jit("(i4[:, ::1], i8[:, ::1], i4[:, ::1], i4[:, ::1])")
def measure_nodes(codes: Any, nodes: Any, lows: Any, highs: Any) -> None:
    """Work out the smallest and largest codes in each node of the tree; tuples are in its order."""
    for back in range(nodes.shape[0]):
        node = nodes.shape[0] - 1 - back  # children stand behind their parents
        right = nodes[node, 2]
        for c in range(codes.shape[1]):
            if right >= 0:
                lows[node, c] = min(lows[node + 1, c], lows[right, c])
                highs[node, c] = max(highs[node + 1, c], highs[right, c])
            else:
                low = high = codes[nodes[node, 0], c]
                for at in range(nodes[node, 0] + 1, nodes[node, 1]):
                    low, high = min(low, codes[at, c]), max(high, codes[at, c])
                lows[node, c], highs[node, c] = low, high


@helper
def _distance(codes: Any, at: Any, lows: Any, highs: Any, other: Any, prices: Any, limit: Any) -> Any:
    """The least that a box costs which holds a tuple and one between some codes; may stop at the limit."""
    cells, _, _, how = prices
    cost = 0.0
    for c in range(codes.shape[1]):
        code, low, high = np.int64(codes[at, c]), np.int64(lows[other, c]), np.int64(highs[other, c])
        if low <= code <= high:
            continue
        if low > code:
            low, high = code, low
        else:
            low = high
            high = code
        if how[c, 1] > 0:
            cost += cells[how[c, 0] + low * how[c, 1] + high]
        else:
            cost += cell_cost(c, low, high, prices)
        if cost >= limit:
            break
    return cost


@jit(f"(i4[:, ::1], i8[::1], {_TREE}, i8, {_PRICES}, i4[:, ::1])")
def nearest_tuples(codes: Any, seeds: Any, tree: Any, depth: Any, prices: Any, near: Any) -> None:
    """For each of some tuples the others that would share the cheapest boxes with it, cheapest first, -1 for none."""
    nodes, lows, highs = tree
    width = near.shape[1]
    best, stack, bounds = np.empty(width), np.empty(depth + 2, dtype=np.int64), np.empty(depth + 2)
    for index in range(seeds.shape[0]):
        seed = seeds[index]
        for rank in range(width):
            best[rank], near[index, rank] = np.inf, -1
        stack[0], bounds[0], left = np.int64(0), 0.0, np.int64(1)
        while left > 0:
            left -= 1
            node, limit = stack[left], best[width - 1]
            if bounds[left] >= limit:
                continue
            right = nodes[node, 2]
            if right >= 0:
                nearer, farther = node + 1, right
                one = _distance(codes, seed, lows, highs, nearer, prices, limit)
                two = _distance(codes, seed, lows, highs, farther, prices, limit)
                if two < one:
                    nearer, farther, one, two = farther, nearer, two, one
                stack[left], bounds[left] = farther, two
                stack[left + 1], bounds[left + 1] = nearer, one
                left += 2
                continue
            for other in range(nodes[node, 0], nodes[node, 1]):
                cost = _distance(codes, seed, codes, codes, other, prices, best[width - 1])
                if cost >= best[width - 1] or other == seed:
                    continue
                rank = width - 1
                while rank > 0 and best[rank - 1] > cost:
                    best[rank], near[index, rank] = best[rank - 1], near[index, rank - 1]
                    rank -= 1
                best[rank], near[index, rank] = cost, other
