"""Every box that could hold a class, visited to see by how much the prices in it exceed its cost.

Plain loops over flat arrays, so that the same source runs as it is on small tables and compiled on large ones
(`shoal.verification.compiled_walk`).

Items are records that are alike, by falling price. The walk fixes a label of one column after the other. What has been
fixed so far is a group of items and a cost, and every box that it leads to holds part of the group and costs no less.
So a group ends the walk where no class in it would exceed even that cost. An item is left out of a group where no
class with it would: whatever box it is in below, its classes are paid for. And a label is passed over where a cheaper
one of the column holds the same items of the group, and so the same boxes at less cost.
"""

from typing import Any

import numpy as np

TOLERANCE = 1e-12
"""By how much a price may exceed what it should be: what is proven is less by as much."""


def best_class(
    order: Any, price: Any, count: Any, value: Any, seen: Any, stamp: int, cost: float, k: int, p: int
) -> tuple[float, int]:
    """The largest sum of prices minus cost over classes of k records or more with p values or more, and its records.

    Every record that is worth more than the cost is in it; then the best record of each further value that is needed,
    then the best of the rest until there are k. No records: there is no such class. Items come by falling price, so
    that one pass finds all of them; ``seen`` marks values with ``stamp``.
    """
    total, records, distinct, index, n = 0.0, 0, 0, 0, order.shape[0]
    while index < n and price[order[index]] > cost:
        item = order[index]
        total += count[item] * (price[item] - cost)
        records += count[item]
        if p > 0 and value[item] >= 0 and seen[value[item]] != stamp:
            seen[value[item]] = stamp
            distinct += 1
        index += 1
    values = max(p - distinct, 0)
    others = max(k - records - values, 0)
    while index < n and values + others > 0:
        item = order[index]
        left = count[item]
        taken = 0
        if values > 0 and value[item] >= 0 and seen[value[item]] != stamp:
            seen[value[item]] = stamp
            values -= 1
            taken = 1
        more = min(left - taken, others)
        others -= more
        taken += more
        total += taken * (price[item] - cost)
        records += taken
        index += 1
    if values + others > 0:
        return 0.0, 0
    return total, records


def relevant_items(
    order: Any, price: Any, count: Any, values: Any, seen: Any, stamps: Any, cost: float, k: int, needed: Any
) -> int:
    """How many items, from the first, are in some class of a group that exceeds its cost; 0 where no class does."""
    n = order.shape[0]
    if needed.shape[0] == 0:  # any class that exceeds has k records that do, and any k records are a class
        total, last, records, index = 0.0, 0.0, 0, 0
        while index < n and records < k:
            item = order[index]
            taken = min(count[item], k - records)
            last = price[item] - cost
            total += taken * last
            records += taken
            index += 1
        if records < k or total <= k * TOLERANCE:
            return 0
        others = total - last
    else:
        for each in range(needed.shape[0]):
            stamps[0] += 1
            total, records = best_class(order, price, count, values[each], seen, stamps[0], cost, k, needed[each])
            if records == 0 or total <= k * TOLERANCE:
                return 0
        others, _ = best_class(order, price, count, values[0], seen, 0, cost, k - 1, 0)
        index = 0
    while index < n and price[order[index]] - cost + others > 0.0:
        index += 1
    return index


def largest_excess(
    order: Any, price: Any, count: Any, values: Any, seen: Any, stamps: Any, cost: float, k: int, needed: Any
) -> float:
    """By how much the mean price of a class of a box can exceed its cost, at the most.

    The mean of the best class at a cost is a better cost to ask again with, until no class exceeds it (Dinkelbach
    1967). Of several columns with values, each gives an upper limit: a class must satisfy all of them.
    """
    least = np.inf
    for each in range(max(needed.shape[0], 1)):
        p = needed[each] if needed.shape[0] else 0
        excess = 0.0
        for attempt in range(101):
            stamps[0] += 1
            total, records = best_class(order, price, count, values[each], seen, stamps[0], cost + excess, k, p)
            if records == 0 or total <= k * TOLERANCE:
                break
            excess += total / (records if attempt < 100 else k)  # in the end, more than any mean
        least = min(least, excess)
    return least


def split(
    order: Any, labels: Any, count: Any, k: int, tally: Any, touched: Any, place: Any, parts: Any, starts: Any
) -> int:
    """Sort items by their labels, leaving out labels with fewer than k records; how many labels there are.

    ``tally`` holds zeros, before and after.
    """
    n_touched = 0
    for index in range(order.shape[0]):
        label = labels[order[index]]
        if label >= 0:
            if tally[label, 0] == 0:
                touched[n_touched] = label
                n_touched += 1
            tally[label, 0] += 1
            tally[label, 1] += count[order[index]]
    found, end = 0, 0
    for index in range(n_touched):
        label = touched[index]
        place[label] = -1
        if tally[label, 1] >= k:
            place[label] = end
            starts[found] = end
            end += tally[label, 0]
            found += 1
        tally[label, 0] = 0
        tally[label, 1] = 0
    starts[found] = end
    for index in range(order.shape[0]):
        label = labels[order[index]]
        if label >= 0 and place[label] >= 0:
            parts[place[label]] = order[index]
            place[label] += 1
    return found


def has_cheaper_label(part: Any, labels: Any, first: int, rung: int, costs: Any) -> bool:
    """Whether one label of an earlier rung holds all items of a part, at no more cost."""
    own = labels[rung, part[0]]
    for other in range(first, rung):
        label = labels[other, part[0]]
        if label < 0 or costs[label] > costs[own]:
            continue
        index = 1
        while index < part.shape[0] and labels[other, part[index]] == label:
            index += 1
        if index == part.shape[0]:
            return True
    return False


def least_costs(labels: Any, costs: Any) -> Any:
    """The cost of the cheapest label of each rung."""
    least = np.full(labels.shape[0], np.inf)
    for rung in range(labels.shape[0]):
        for item in range(labels.shape[1]):
            if labels[rung, item] >= 0:
                least[rung] = min(least[rung], costs[labels[rung, item]])
    return least


def walk(
    price: Any, count: Any, values: Any, needed: Any, k: int, labels: Any, firsts: Any, costs: Any, most_steps: int
) -> tuple[Any, Any, Any]:
    """By how much each item's price has to fall, the labels of the box that exceeds its cost the most, and counts.

    ``labels[rung, item]``: the rungs of column ``j`` are ``firsts[j]`` up to ``firsts[j + 1]``, those with the cheapest
    labels first; each label has one column and its ``costs``. The counts are steps, boxes that had to be looked at and
    boxes that exceed their cost. More than ``most_steps`` steps end the walk, whose result then means nothing.
    """
    n, columns = price.shape[0], firsts.shape[0] - 1
    falls, worst = np.zeros(n), np.full(columns, -1, dtype=np.int32)
    counts, largest = np.zeros(3, dtype=np.int64), 0.0
    members, parts = np.zeros((columns + 1, n), dtype=np.int32), np.zeros((columns, n), dtype=np.int32)
    starts, size = np.zeros((columns, costs.shape[0] + 1), dtype=np.int64), np.zeros(columns + 1, dtype=np.int64)
    n_parts, following = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    rung, partial, cheapest = np.zeros(columns, dtype=np.int64), np.zeros(columns + 1), least_costs(labels, costs)
    tally, touched = np.zeros((costs.shape[0], 2), dtype=np.int64), np.zeros(costs.shape[0], dtype=np.int32)
    place = np.zeros(costs.shape[0], dtype=np.int64)
    seen, stamps = np.zeros(max(int(values.max()) + 1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64)
    members[0] = np.arange(n)
    size[0] = relevant_items(members[0], price, count, values, seen, stamps, 0.0, k, needed)
    rung[0] = firsts[0] - 1
    depth = 0 if size[0] else -1
    while depth >= 0 and counts[0] <= most_steps:
        if following[depth] == n_parts[depth]:  # the next rung of this column
            rung[depth] += 1
            if rung[depth] == firsts[depth + 1]:
                depth -= 1
                continue
            order = members[depth, : size[depth]]
            following[depth] = n_parts[depth] = 0
            least = partial[depth] + cheapest[rung[depth]]
            if relevant_items(order, price, count, values, seen, stamps, least, k, needed) == 0:
                rung[depth] = firsts[depth + 1] - 1  # rungs come by their cheapest label
                continue
            counts[0] += size[depth]
            n_parts[depth] = split(
                order, labels[rung[depth]], count, k, tally, touched, place, parts[depth], starts[depth]
            )
            continue
        part = parts[depth, starts[depth, following[depth]] : starts[depth, following[depth] + 1]]
        following[depth] += 1
        cost = partial[depth] + costs[labels[rung[depth], part[0]]]
        kept = relevant_items(part, price, count, values, seen, stamps, cost, k, needed)
        if kept == 0 or has_cheaper_label(part[:kept], labels, firsts[depth], rung[depth], costs):
            continue
        if depth + 1 < columns:
            depth += 1
            members[depth, :kept] = part[:kept]
            size[depth], partial[depth], rung[depth] = kept, cost, firsts[depth] - 1
            n_parts[depth] = following[depth] = 0
            continue
        counts[1] += 1
        excess = largest_excess(part[:kept], price, count, values, seen, stamps, cost, k, needed)
        counts[2] += excess > 0.0
        for index in range(kept):
            falls[part[index]] = max(falls[part[index]], excess)
        if excess > largest:
            largest = excess
            for column in range(columns):
                worst[column] = labels[rung[column], part[0]]
    return falls, worst, counts
