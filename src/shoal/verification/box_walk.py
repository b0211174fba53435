"""Visits every box in which a class could exceed its cost, and finds by how much prices in it do; compiled by numba.

Plain loops over flat arrays. `box_levels` is the same walk in NumPy, for small tables and where there is no numba.

Items are records that are alike, by falling price. The walk fixes a label of one column after the other. What has been
fixed so far is a group of items and a cost, and every box that it leads to holds part of the group and costs no less.
So a group ends the walk where no class in it would exceed even that cost. An item is left out of a group where no
class with it would: whatever box it is in below, its classes are paid for. And a label is passed over where a cheaper
one of the column holds the same items of the group, and so the same boxes at less cost.

A group is the items ``order[begin:end]``. Integers are of one type throughout, since a function is compiled anew for
each combination of types that it is called with.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from shoal.verification.box_levels import TOLERANCE

_OPTIONS = {"nogil": True, "boundscheck": False, "error_model": "numpy", "no_cfunc_wrapper": True}
_TYPES = "(f8[::1], i8[::1], i4[:, ::1], i8[::1], i8, i4[:, ::1], i8[::1], f8[::1], i8, i8)"
_ZERO, _ONE = np.int64(0), np.int64(1)
_helper: Callable[..., Any] = numba.njit(no_cpython_wrapper=True, **_OPTIONS)


def _compiled(function: Callable[..., Any]) -> Any:
    """The walk as it is called, kept where numba finds a folder for it."""
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:
        return numba.njit(**_OPTIONS)(function)


@_helper
def best_class(
    order: Any, begin: Any, end: Any, price: Any, count: Any, values: Any, column: Any, seen: Any, stamp: Any,
    cost: Any, k: Any, p: Any,
) -> Any:  # fmt: skip
    """The largest sum of prices minus cost over classes of k records or more with p values or more, and its records.

    Every record that is worth more than the cost is in it; then the best record of each further value that is needed,
    then the best of the rest until there are k. No records: there is no such class. Items come by falling price, so
    that one pass finds all of them; ``seen`` marks values with ``stamp``.
    """
    total, records, distinct, index = 0.0, _ZERO, _ZERO, begin
    while index < end and price[order[index]] > cost:
        item = order[index]
        total += count[item] * (price[item] - cost)
        records += count[item]
        value = values[column, item]
        if p > 0 and value >= 0 and seen[value] != stamp:
            seen[value] = stamp
            distinct += 1
        index += 1
    missing = max(p - distinct, _ZERO)
    others = max(k - records - missing, _ZERO)
    while index < end and missing + others > 0:
        item = order[index]
        value = values[column, item]
        taken = _ZERO
        if missing > 0 and value >= 0 and seen[value] != stamp:
            seen[value] = stamp
            missing -= 1
            taken = _ONE
        more = min(count[item] - taken, others)
        others -= more
        taken += more
        total += taken * (price[item] - cost)
        records += taken
        index += 1
    if missing + others > 0:
        return 0.0, _ZERO
    return total, records


@_helper
def relevant_items(
    order: Any, begin: Any, end: Any, price: Any, count: Any, values: Any, seen: Any, stamps: Any, cost: Any, k: Any,
    needed: Any,
) -> Any:  # fmt: skip
    """How many items, from the first, are in some class of a group that exceeds its cost; 0 where no class does."""
    others, index = 0.0, begin
    if needed.shape[0] == 0:  # any class that exceeds has k records that do, and any k records are a class
        total, last, records = 0.0, 0.0, _ZERO
        while index < end and records < k:
            item = order[index]
            taken = min(count[item], k - records)
            last = price[item] - cost
            total += taken * last
            records += taken
            index += 1
        if records < k or total <= k * TOLERANCE:
            return _ZERO
        others = total - last
    else:
        for each in range(needed.shape[0]):
            stamps[0] += 1
            total, records = best_class(
                order, begin, end, price, count, values, each, seen, stamps[0], cost, k, needed[each]
            )
            if records == 0 or total <= k * TOLERANCE:
                return _ZERO
        others, _ = best_class(order, begin, end, price, count, values, _ZERO, seen, _ZERO, cost, k - 1, _ZERO)
    while index < end and price[order[index]] - cost + others > 0.0:
        index += 1
    return index - begin


@_helper
def largest_excess(
    order: Any, begin: Any, end: Any, price: Any, count: Any, values: Any, seen: Any, stamps: Any, cost: Any, k: Any,
    needed: Any,
) -> Any:  # fmt: skip
    """By how much the mean price of a class of a box can exceed its cost, at the most.

    The mean of the best class at a cost is a better cost to ask again with, until no class exceeds it (Dinkelbach
    1967). Of several columns with values, each gives an upper limit: a class must satisfy all of them.
    """
    least = np.inf
    for each in range(max(needed.shape[0], 1)):
        p = needed[each] if needed.shape[0] else _ZERO
        excess = 0.0
        for attempt in range(101):
            stamps[0] += 1
            total, records = best_class(
                order, begin, end, price, count, values, each, seen, stamps[0], cost + excess, k, p
            )
            if records == 0 or total <= k * TOLERANCE:
                break
            excess += total / (records if attempt < 100 else k)  # in the end, more than any mean
        least = min(least, excess)
    return least


@_helper
def split(
    order: Any, begin: Any, end: Any, labels: Any, rung: Any, count: Any, k: Any, tally: Any, parts: Any, base: Any,
    starts: Any, depth: Any,
) -> Any:  # fmt: skip
    """Sort items by their labels, leaving out labels with fewer than k records; how many labels there are.

    ``tally`` holds, by label, items and records, both 0 before and after, and places; then a list of labels.
    """
    touched = _ZERO
    for index in range(begin, end):
        label = labels[rung, order[index]]
        if label >= 0:
            if tally[0, label] == 0:
                tally[3, touched] = label
                touched += 1
            tally[0, label] += 1
            tally[1, label] += count[order[index]]
    found, place = _ZERO, base
    for index in range(touched):
        label = tally[3, index]
        tally[2, label] = -1
        if tally[1, label] >= k:
            tally[2, label] = place
            starts[depth, found] = place
            place += tally[0, label]
            found += 1
        tally[0, label] = 0
        tally[1, label] = 0
    starts[depth, found] = place
    for index in range(begin, end):
        label = labels[rung, order[index]]
        if label >= 0 and tally[2, label] >= 0:
            parts[tally[2, label]] = order[index]
            tally[2, label] += 1
    return found


@_helper
def has_cheaper_label(parts: Any, begin: Any, end: Any, labels: Any, first: Any, rung: Any, costs: Any) -> Any:
    """Whether one label of an earlier rung holds all items of a part, at no more cost."""
    own = labels[rung, parts[begin]]
    for other in range(first, rung):
        label = labels[other, parts[begin]]
        if label < 0 or costs[label] > costs[own]:
            continue
        index = begin + 1
        while index < end and labels[other, parts[index]] == label:
            index += 1
        if index == end:
            return True
    return False


@_helper
def least_costs(labels: Any, costs: Any) -> Any:
    """The cost of the cheapest label of each rung."""
    least = np.full(labels.shape[0], np.inf)
    for rung in range(labels.shape[0]):
        for item in range(labels.shape[1]):
            if labels[rung, item] >= 0:
                least[rung] = min(least[rung], costs[labels[rung, item]])
    return least


@_compiled
def walk(
    price: Any, count: Any, values: Any, needed: Any, k: Any, labels: Any, firsts: Any, costs: Any, most_steps: Any,
    part: Any,
) -> Any:  # fmt: skip
    """By how much each item's price has to fall, the labels of the box that exceeds its cost the most, and counts.

    ``labels[rung, item]``: the rungs of column ``j`` are ``firsts[j]`` up to ``firsts[j + 1]``, those with the cheapest
    labels first; each label has one column and its ``costs``. Of the first column it is only rung ``part``: the parts
    share nothing. The counts are steps, boxes that had to be looked at and boxes that exceed their cost. More than
    ``most_steps`` steps end the walk, whose result then means nothing.
    """
    n, columns = price.shape[0], firsts.shape[0] - 1
    falls, worst = np.zeros(n), np.full(columns, -1, dtype=np.int32)
    counts, largest, stamps = np.zeros(3, dtype=np.int64), 0.0, np.zeros(1, dtype=np.int64)
    parts = np.zeros((columns + 1) * n, dtype=np.int32)  # those of column j from (j + 1) n on
    starts, tally = np.zeros((columns, costs.shape[0] + 1), dtype=np.int64), np.zeros((4, costs.shape[0]), np.int64)
    begin, end = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    n_parts, following = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    rung, partial, cheapest = np.zeros(columns, dtype=np.int64), np.zeros(columns), least_costs(labels, costs)
    rung_end = firsts[1:].copy()
    rung_end[0] = part + 1
    width = _ZERO
    for row in range(values.shape[0]):
        for item in range(n):
            width = max(width, np.int64(values[row, item]))
            parts[item] = item
    seen = np.zeros(width + 1, dtype=np.int64)
    end[0] = relevant_items(parts, _ZERO, np.int64(n), price, count, values, seen, stamps, 0.0, k, needed)
    rung[0] = part - 1
    depth = _ZERO if end[0] else -_ONE
    while depth >= 0 and counts[0] <= most_steps:
        if following[depth] == n_parts[depth]:  # the next rung of this column
            rung[depth] += 1
            if rung[depth] == rung_end[depth]:
                depth -= 1
                continue
            following[depth] = 0
            n_parts[depth] = 0
            least = partial[depth] + cheapest[rung[depth]]
            if (
                relevant_items(parts, begin[depth], end[depth], price, count, values, seen, stamps, least, k, needed)
                == 0
            ):
                rung[depth] = rung_end[depth] - 1  # rungs come by their cheapest label
                continue
            counts[0] += end[depth] - begin[depth]
            n_parts[depth] = split(
                parts, begin[depth], end[depth], labels, rung[depth], count, k, tally, parts, (depth + 1) * n, starts,
                depth,
            )  # fmt: skip
            continue
        first, last = starts[depth, following[depth]], starts[depth, following[depth] + 1]
        following[depth] += 1
        cost = partial[depth] + costs[labels[rung[depth], parts[first]]]
        kept = relevant_items(parts, first, last, price, count, values, seen, stamps, cost, k, needed)
        if kept == 0 or has_cheaper_label(parts, first, first + kept, labels, firsts[depth], rung[depth], costs):
            continue
        if depth + 1 < columns:
            depth += 1
            begin[depth] = first
            end[depth] = first + kept
            partial[depth] = cost
            rung[depth] = firsts[depth] - 1
            n_parts[depth] = 0
            following[depth] = 0
            continue
        counts[1] += 1
        excess = largest_excess(parts, first, first + kept, price, count, values, seen, stamps, cost, k, needed)
        counts[2] += excess > 0.0
        for index in range(first, first + kept):
            falls[parts[index]] = max(falls[parts[index]], excess)
        if excess > largest:
            largest = excess
            for column in range(columns):
                worst[column] = labels[rung[column], parts[first]]
    return falls, worst, counts


walk.declared = _TYPES
