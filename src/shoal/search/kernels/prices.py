"""Kernels of the bound by prices: boxes whose constraint is nearly tight, steps on these, and repair.

Compiled where numba is; `plain_prices` has their NumPy twins. *Items* are records that no constraint tells apart: equal
in every quasi-identifier, and in the sensitive value where values are counted. They come in descending order of price,
so the first members of any box are its dearest.

Boxes are enumerated column by column (Beyer & Ramakrishnan 1999, bottom-up cubes): the members of a group are
parted by the next column at each of its levels, and a group that cannot become a box of interest is left at once. No
key is packed or hashed, so the number of columns and values is not limited, and no two boxes can be mistaken for one.
"""

from typing import Any

import numpy as np

from shoal.search.kernels.jit import helper, jit

NOTHING = -1e300  # the value of a class where there is none
STEPS = 100  # between two looks at all boxes
STEP = 0  # what a step costs beside its members, in members
TASKS = 24  # parts that an enumeration is cut into, by the levels of its first columns
_ZERO = np.int64(0)  # typed: with a plain constant a helper would be compiled once more
_ITEMS = "Tuple((i8[::1], i4[::1]))"
_LEVELS = "Tuple((i8[:, ::1], i8[::1], i4[::1], f8[::1], f8[:, ::1]))"
_NEED = "UniTuple(i8, 2)"
_BOXES = "Tuple((f8[::1], i8[::1], i4[::1]))"


@helper
def class_value(members: Any, begin: Any, end: Any, prices: Any, items: Any, cost: Any, need: Any, seen: Any) -> Any:
    """The most that the prices of a class exceed its cost, over all classes of some members in order of price.

    A class has ``k`` records and ``p`` values. Where values count: every record whose price exceeds the cost, then the
    dearest record of each missing value until there are p, then the dearest of the rest until there are k. Where they
    do not: the k dearest records, since more of them raise the value only where it is positive already.

    ``seen`` has an entry for each value, all 0 here and on return.
    """
    weights, values = items
    k, p = need
    total, records, i = 0.0, _ZERO, begin
    if p <= 1:
        while records < k and i < end:
            take = min(weights[members[i]], k - records)
            total += take * (prices[members[i]] - cost)
            records += take
            i += 1
        return total if records >= k else NOTHING
    distinct = _ZERO
    while i < end and prices[members[i]] > cost:
        item = members[i]
        total += weights[item] * (prices[item] - cost)
        records += weights[item]
        if values[item] >= 0 and seen[values[item]] == 0:
            seen[values[item]] = 1
            distinct += 1
        i += 1
    first = i
    while i < end and distinct < p:
        item = members[i]
        if values[item] >= 0 and seen[values[item]] == 0:
            seen[values[item]] = 2 + item  # the record of a missing value
            distinct += 1
            records += 1
            total += prices[item] - cost
        i += 1
    last, i = i, first
    while i < end and records < k and distinct >= p:
        item = members[i]
        left = weights[item]
        if values[item] >= 0 and seen[values[item]] == 2 + item:
            left -= 1
        take = min(left, k - records)
        records += take
        total += take * (prices[item] - cost)
        i += 1
    for j in range(begin, last):
        if values[members[j]] >= 0:
            seen[values[members[j]]] = 0
    return total if distinct >= p and records >= k else NOTHING


@helper
def _closed(members: Any, begin: Any, end: Any, codes: Any, level: Any, depth: Any, offsets: Any, maps: Any) -> Any:
    """Whether the members differ below the node they share, in every column so far.

    Otherwise the same records are members of a cheaper group, which is enumerated as well.
    """
    for c in range(depth + 1):
        if level[c] > 0:
            offset, i = offsets[c, level[c] - 1], begin + 1
            node = maps[offset + codes[c, members[begin]]]
            while i < end and maps[offset + codes[c, members[i]]] == node:
                i += 1
            if i == end:
                return False
    return True


@helper
def _box_key(first: Any, codes: Any, level: Any, offsets: Any, maps: Any) -> Any:
    """A hash of a box's nodes, by which a later pass recognizes it; a wrong guess costs steps, not correctness."""
    low, high = 1, 1
    for c in range(codes.shape[0]):
        node = level[c] * 1000003 + maps[offsets[c, level[c]] + codes[c, first]] + 1
        low = (low * 48271 + node) % 2147483647
        high = (high * 69621 + node) % 2147483629
    return high * 2147483648 + low


@helper
def _part(
    members: Any, begin: Any, end: Any, to: Any, c: Any, codes: Any, weights: Any, offset: Any, maps: Any, k: Any,
    begins: Any, ends: Any, counts: Any,
) -> Any:  # fmt: skip
    """Part members by their nodes at one level; those of nodes with k records are put ``to`` further back, in order."""
    nodes = 0
    for i in range(begin, end):
        item = members[i]
        node = maps[offset + codes[c, item]]
        if counts[0, node] == 0:
            counts[2, nodes] = node
            nodes += 1
        counts[0, node] += 1
        counts[1, node] += weights[item]
    children, place = 0, begin + to
    for i in range(nodes):
        node = counts[2, i]
        if counts[1, node] >= k:
            begins[c, children] = place
            place += counts[0, node]
            ends[c, children] = place
            counts[0, node] = begins[c, children]
            children += 1
        else:
            counts[0, node] = -1
    if children:
        for i in range(begin, end):
            node = maps[offset + codes[c, members[i]]]
            if counts[0, node] >= 0:
                members[counts[0, node]] = members[i]
                counts[0, node] += 1
    for i in range(nodes):
        counts[0, counts[2, i]] = 0
        counts[1, counts[2, i]] = 0
    return children


@helper
def _grown(array: Any, needed: Any) -> Any:
    """The array, or a copy twice as long where it is too short."""
    if needed <= array.shape[0]:
        return array
    longer = np.empty(2 * needed, dtype=array.dtype)
    for i in range(array.shape[0]):
        longer[i] = array[i]
    return longer


@helper
def _width(maps: Any) -> Any:
    """The most nodes of any level."""
    width = 0
    for i in range(maps.shape[0]):
        width = max(width, maps[i])
    return width + 1


@jit(f"(i4[:, ::1], {_ITEMS}, f8[::1], {_LEVELS}, i8[::1], {_NEED}, i8, f8, f8, i8)")
def near_boxes(
    codes: Any, items: Any, prices: Any, levels: Any, fixed: Any, need: Any, n_values: Any, slack: Any, spread: Any,
    limit: Any,
) -> Any:  # fmt: skip
    """The boxes in which some class would exceed its cost if that were lower by ``slack`` for each record.

    ``levels`` are for column c and level l the map from leaf to node, ``maps[offsets[c, l] + leaf]``, and what the node
    costs, ``costs[...]``, at least ``floors[c, l]``; costs must not fall from a level to the next. ``fixed`` are the
    levels of the first columns: one task of the whole enumeration.

    Of each box, all members are listed whose price exceeds the cost, the best class, and what is within ``spread`` of
    it. Returns cost and the price that no other member exceeds, for one box after the other; key and end of its members
    likewise; the members; how many boxes there are; the members touched, and whether it came to an end within the limit
    of these. Arrays may be longer than what is in them.
    """
    offsets, n_levels, maps, costs, floors = levels
    columns, n = codes.shape
    members = np.empty((columns + 1) * n, dtype=np.int32)
    for i in range(n):
        members[i] = i
    begins, ends = np.empty((columns, n), dtype=np.int64), np.empty((columns, n), dtype=np.int64)
    children, child = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    level, begin, end = np.empty_like(children), np.zeros_like(children), np.empty_like(children)
    prefix, top = np.zeros(columns), np.empty(columns)
    counts, seen = np.zeros((3, _width(maps)), dtype=np.int64), np.zeros(n_values + 1, dtype=np.int64)
    figures, ints, found = np.empty(128), np.empty(128, dtype=np.int64), np.empty(1024, dtype=np.int64)
    level[0], end[0], top[0] = -1, n, 1e300
    boxes, listed, work, d = _ZERO, _ZERO, _ZERO, _ZERO
    while d >= 0 and work <= limit:
        if child[d] < children[d]:
            b, e = begins[d, child[d]], ends[d, child[d]]
            child[d] += 1
            cost = prefix[d] + costs[offsets[d, level[d]] + codes[d, members[b]]]
            value = class_value(members, b, e, prices, items, cost - slack, need, seen)
            work += 1
            if value < 0.0 or not _closed(members, b, e, codes, level, d, offsets, maps):
                continue
            if d + 1 < columns:
                d += 1
                begin[d], end[d], prefix[d], level[d], children[d], child[d] = b, e, cost, -1, 0, 0
                top[d] = prices[members[b]]
                if need[1] <= 1:  # the mean of the k dearest bounds that of every part
                    top[d] = cost - slack + value / need[0]
                continue
            figures, ints = _grown(figures, 2 * boxes + 2), _grown(ints, 2 * boxes + 2)
            found = _grown(found, listed + e - b)
            work -= listed
            listed, rest = _list_members(members, b, e, prices, items, cost, need, spread, seen, found, listed)
            work += listed
            figures[2 * boxes], figures[2 * boxes + 1] = cost, rest
            ints[2 * boxes], ints[2 * boxes + 1] = _box_key(members[b], codes, level, offsets, maps), listed
            boxes += 1
            continue
        level[d] += 1
        if d < fixed.shape[0]:
            level[d] = fixed[d] if level[d] == 0 else n_levels[d]
        children[d], child[d] = 0, 0
        if level[d] >= n_levels[d]:
            d -= 1
        elif prefix[d] + floors[d, level[d]] - slack <= top[d]:
            work += end[d] - begin[d]
            children[d] = _part(
                members, begin[d], end[d], n, d, codes, items[0], offsets[d, level[d]], maps, need[0], begins, ends,
                counts,
            )  # fmt: skip
    return figures, ints, found, boxes, work, d < 0


@helper
def _list_members(
    members: Any, begin: Any, end: Any, prices: Any, items: Any, cost: Any, need: Any, spread: Any, seen: Any,
    found: Any, place: Any,
) -> Any:  # fmt: skip
    """List the members of a box that matter now or after small changes; the end of the list and the rest's price."""
    weights, values = items
    k, p = need
    records, cut, rest = 0, NOTHING, NOTHING
    for i in range(begin, end):
        item = members[i]
        counted = p > 1 and values[item] >= 0
        if records < k or prices[item] > cost or prices[item] >= cut or (counted and seen[values[item]] < 2):
            found[place] = item
            place += 1
            if counted:
                seen[values[item]] += 1
        elif rest == NOTHING:
            rest = prices[item]
        records += weights[item]
        if cut == NOTHING and records >= k:
            cut = prices[item] - spread
    if p > 1:
        for i in range(begin, end):
            if values[members[i]] >= 0:
                seen[values[members[i]]] = 0
    return place, rest


@helper
def _cheaper_for_some(members: Any, begin: Any, end: Any, cost: Any, least: Any) -> Any:
    """How many members are looked at until one costs more than this; 0 where none does."""
    for i in range(begin, end):
        if least[members[i]] > cost:
            return i + 1 - begin
    return 0


@helper
def _enough_values(members: Any, begin: Any, end: Any, values: Any, p: Any, seen: Any, stamp: Any) -> Any:
    """Whether some members have so many values; ``stamp`` is new each time."""
    distinct, i = 0, begin
    while i < end and distinct < p:
        value = values[members[i]]
        if value >= 0 and seen[value] != stamp:
            seen[value] = stamp
            distinct += 1
        i += 1
    return distinct >= p


@jit(f"(i4[:, ::1], {_ITEMS}, {_LEVELS}, {_NEED}, i8, f8[::1], i8)")
def least_costs(codes: Any, items: Any, levels: Any, need: Any, n_values: Any, least: Any, limit: Any) -> Any:
    """Lower ``least`` of each item to the cheapest box that could be a class with it: the nearest-neighbour bound.

    Returns the members touched, and whether it came to an end within the limit of these.
    """
    offsets, n_levels, maps, costs, _ = levels
    columns, n = codes.shape
    members = np.empty((columns + 1) * n, dtype=np.int32)
    for i in range(n):
        members[i] = i
    begins, ends = np.empty((columns, n), dtype=np.int64), np.empty((columns, n), dtype=np.int64)
    children, child = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    level, begin, end = np.empty_like(children), np.zeros_like(children), np.empty_like(children)
    prefix = np.zeros(columns)
    counts, seen = np.zeros((3, _width(maps)), dtype=np.int64), np.zeros(n_values + 1, dtype=np.int64)
    level[0], end[0] = -1, n
    work, d, stamp = _ZERO, _ZERO, _ZERO
    while d >= 0 and work <= limit:
        if child[d] < children[d]:
            b, e = begins[d, child[d]], ends[d, child[d]]
            child[d] += 1
            cost = prefix[d] + costs[offsets[d, level[d]] + codes[d, members[b]]]
            looked_at = _cheaper_for_some(members, b, e, cost, least)
            work += looked_at if looked_at else e - b
            stamp += 1
            if not looked_at or (need[1] > 1 and not _enough_values(members, b, e, items[1], need[1], seen, stamp)):
                continue
            if d + 1 < columns:
                d += 1
                begin[d], end[d], prefix[d], level[d], children[d], child[d] = b, e, cost, -1, 0, 0
                continue
            for i in range(b, e):
                least[members[i]] = min(least[members[i]], cost)
            work += e - b
            continue
        level[d] += 1
        children[d], child[d] = 0, 0
        if level[d] >= n_levels[d]:
            d -= 1
        else:
            work += end[d] - begin[d]
            children[d] = _part(
                members, begin[d], end[d], n, d, codes, items[0], offsets[d, level[d]], maps, need[0], begins, ends,
                counts,
            )  # fmt: skip
    return work, d < 0


@helper
def _sort_members(members: Any, begin: Any, end: Any, prices: Any) -> None:
    """Put listed members in descending order of price; they are nearly so from the step before."""
    for i in range(begin + 1, end):
        item = members[i]
        price = prices[item]
        j = i - 1
        while j >= begin and (prices[members[j]] < price or (prices[members[j]] == price and members[j] > item)):
            members[j + 1] = members[j]
            j -= 1
        members[j + 1] = item


@helper
def _add_class(
    members: Any, begin: Any, end: Any, prices: Any, items: Any, cost: Any, need: Any, every: Any, seen: Any,
    amount: Any, load: Any,
) -> None:  # fmt: skip
    """Add an amount to the load of each item for each of its records in the class that `class_value` is about.

    With ``every`` it has every record whose price exceeds the cost also where values do not count.
    """
    weights, values = items
    k, p = need
    records, distinct, i = 0, 0, begin
    while every and i < end and prices[members[i]] > cost:
        item = members[i]
        load[item] += weights[item] * amount
        records += weights[item]
        if values[item] >= 0 and seen[values[item]] == 0:
            seen[values[item]] = 1
            distinct += 1
        i += 1
    first = i
    while p > 1 and i < end and distinct < p:
        item = members[i]
        if values[item] >= 0 and seen[values[item]] == 0:
            seen[values[item]] = 2 + item
            distinct += 1
            records += 1
            load[item] += amount
        i += 1
    i = first
    while i < end and records < k:
        item = members[i]
        left = weights[item]
        if p > 1 and values[item] >= 0 and seen[values[item]] == 2 + item:
            left -= 1
        take = min(left, k - records)
        records += take
        load[item] += take * amount
        i += 1
    if p > 1:
        for j in range(begin, end):
            if values[members[j]] >= 0:
                seen[values[members[j]]] = 0


@jit(f"({_BOXES}, {_ITEMS}, {_NEED}, i8, UniTuple(f8[::1], 6), f8[::1], Tuple((f8, f8, f8[::1])), UniTuple(f8, 3), i8)")
def price_steps(
    boxes: Any, items: Any, need: Any, n_values: Any, state: Any, highest: Any, suppression: Any, sizes: Any, steps: Any
) -> Any:  # fmt: skip
    """Primal-dual steps on some boxes (Chambolle & Pock 2011); returns the members touched.

    ``boxes`` are costs, starts and members; ``state`` the multipliers, prices, leading prices, their sums over the
    steps, and the multiplier of each item's suppression, all changed in place. No price rises above ``highest``, so
    that boxes that are not looked at are not violated by far. ``suppression`` is what it costs, the budget, and an
    array of its price. ``sizes`` are the size of prices over that of multipliers, which steps are in proportion to,
    a number of boxes, and how many times smaller the steps of prices are: these are smaller the more items there
    are, and the more boxes bind one of them, up to that number.
    """
    costs, starts, members = boxes
    weights, _ = items
    multipliers, prices, leading, price_sum, multiplier_sum, dropped = state
    suppression_cost, budget, suppression_price = suppression
    ratio, most, damping = sizes
    n = prices.shape[0]
    load, binding = np.zeros(n), np.zeros(n)
    seen = np.zeros(n_values + 1, dtype=np.int64)
    rests = np.zeros(costs.shape[0], dtype=np.int64)
    multiplier_step, price_step = 1.0 / (ratio * max(need[0], need[1])), ratio / most
    every, work = need[1] > 1, 0
    for step in range(steps):
        count = step % 10 == 0
        for b in range(costs.shape[0]):
            if rests[b] > step:
                continue
            begin, end = starts[b], starts[b + 1]
            work += end - begin
            _sort_members(members, begin, end, leading)
            value = class_value(members, begin, end, leading, items, costs[b], need, seen)
            multiplier = max(0.0, multipliers[b] + multiplier_step * value)
            multipliers[b] = multiplier
            if multiplier > 0.0:
                _add_class(members, begin, end, leading, items, costs[b], need, every, seen, multiplier, load)
                if count:
                    _add_class(members, begin, end, leading, items, costs[b], need, every, seen, 1.0, binding)
            elif multiplier_step * value < -1.0:
                rests[b] = step + 6
        if count:
            bound = np.sqrt(n)
            for i in range(n):
                bound = max(bound, 1.0 + binding[i] / weights[i])
                binding[i] = 0.0
            price_step = ratio / (damping * min(most, bound))
        total = 0.0
        for i in range(n):
            if budget > 0:
                over = leading[i] - suppression_cost - suppression_price[0]
                dropped[i] = min(weights[i], max(0.0, dropped[i] + over / ratio))
                load[i] += dropped[i]
                total += dropped[i]
            before = prices[i]
            prices[i] = min(highest[i], before + price_step * (1.0 - load[i] / weights[i]))
            leading[i] = 2.0 * prices[i] - before
            price_sum[i] += prices[i]
            load[i] = 0.0
        for b in range(costs.shape[0]):
            multiplier_sum[b] += multipliers[b]
        if budget > 0:
            suppression_price[0] = max(0.0, suppression_price[0] + ratio / (10.0 + 2.0 * budget) * (total - budget))
        work += n
    return work


@jit(f"({_BOXES}, i8[::1], {_ITEMS}, {_NEED}, i8, f8[::1], i8[:, ::1])")
def take_classes(boxes: Any, order: Any, items: Any, need: Any, n_values: Any, prices: Any, found: Any) -> Any:
    """Take the best class of what is left in each of some boxes, one after the other; how many entries were found.

    ``items`` has the records of each item that are left, and loses those that are taken. An entry of ``found`` is a
    box, an item of its class, and how many of the item's records are in it.
    """
    costs, starts, members = boxes
    left = items[0]
    n, longest = prices.shape[0], 0
    for index in range(order.shape[0]):
        longest = max(longest, starts[order[index] + 1] - starts[order[index]])
    own, load = np.empty(longest, dtype=np.int32), np.zeros(n)
    seen, entries = np.zeros(n_values + 1, dtype=np.int64), 0
    for index in range(order.shape[0]):
        b = order[index]
        count = _ZERO
        for i in range(starts[b], starts[b + 1]):
            if left[members[i]] > 0:
                own[count] = members[i]
                count += 1
        _sort_members(own, _ZERO, count, prices)
        if class_value(own, _ZERO, count, prices, items, costs[b], need, seen) == NOTHING:
            continue
        _add_class(own, _ZERO, count, prices, items, costs[b], need, True, seen, 1.0, load)
        for i in range(count):
            item = own[i]
            if load[item] > 0.0:
                found[entries, 0], found[entries, 1], found[entries, 2] = b, item, np.int64(load[item])
                entries += 1
                left[item] -= np.int64(load[item])
                load[item] = 0.0
    return entries


@jit(f"({_BOXES}, f8[::1], i8[::1], {_ITEMS}, {_NEED}, i8, f8[::1])")
def repair(boxes: Any, rest: Any, order: Any, items: Any, need: Any, n_values: Any, prices: Any) -> Any:
    """Lower prices box by box until no class of these boxes exceeds its cost; returns the members touched.

    The dearest members are capped: at the height at which what exceeds the cost equals what the others lack. Lowering
    prices never breaks another constraint, so boxes that held still hold.

    Members that are not listed have at most the price ``rest``, which is at most the cost, and there are two listed
    ones of their value that were no cheaper before anything was lowered. So a listed member that has been lowered
    counts as if it still had its price, or the rest's if that is less: in its place there may be one that is not
    listed. A class is completed with as many of these as it needs.
    """
    costs, starts, members = boxes
    weights, _ = items
    seen = np.zeros(n_values + 1, dtype=np.int64)
    before, highest = np.empty_like(prices), np.empty_like(prices)
    for i in range(prices.shape[0]):
        before[i] = prices[i]
    work = 0
    for index in range(order.shape[0]):
        b = order[index]
        begin, end, cost = starts[b], starts[b + 1], costs[b]
        work += end - begin
        for i in range(begin, end):
            highest[members[i]] = max(prices[members[i]], min(rest[b], before[members[i]]))
        _sort_members(members, begin, end, highest)
        lack, excess = _lack(members, begin, end, highest, items, cost, need, rest[b], seen)
        if excess <= lack:
            continue
        above, total = 0, 0.0  # records that are capped, and their prices
        height = cost
        for i in range(begin, end):  # cap the dearest 1, 2, … items: the first cap that the next one lies below
            item = members[i]
            if prices[item] <= cost:
                break
            above += weights[item]
            total += weights[item] * (prices[item] - cost)
            following = prices[members[i + 1]] if i + 1 < end else cost
            height = cost + max(0.0, lack - (excess - total)) / above
            if height >= following:
                break
        for i in range(begin, end):
            if prices[members[i]] <= height:
                break
            prices[members[i]] = height
    return work


@helper
def _lack(
    members: Any, begin: Any, end: Any, prices: Any, items: Any, cost: Any, need: Any, rest: Any, seen: Any
) -> Any:
    """By how much the cheapest completion of a class falls short of its cost, and how much its dear records exceed it.

    All records above the cost are in the class; with k of them, and p values, nothing is lacking. A class that cannot
    be completed at all lacks without end.
    """
    weights, values = items
    k, p = need
    records, distinct, excess, first = 0, 0, 0.0, end
    for i in range(begin, end):
        item = members[i]
        if prices[item] <= cost:
            first = i
            break
        excess += weights[item] * (prices[item] - cost)
        records += weights[item]
        if p > 1 and values[item] >= 0 and seen[values[item]] == 0:
            seen[values[item]] = 1
            distinct += 1
    lack = 0.0
    if p > 1:
        for i in range(first, end):
            item = members[i]
            if distinct >= p:
                break
            if values[item] >= 0 and seen[values[item]] == 0:
                seen[values[item]] = 2 + item
                distinct += 1
                records += 1
                lack += cost - prices[item]
        if distinct < p:  # the box has no other values
            lack += -NOTHING
    for i in range(first, end):
        item = members[i]
        if records >= k or prices[item] < rest:
            break
        left = weights[item]
        if p > 1 and values[item] >= 0 and seen[values[item]] == 2 + item:
            left -= 1
        take = min(left, k - records)
        records += take
        lack += take * (cost - prices[item])
    if records < k:
        lack += (k - records) * (cost - rest) if rest > NOTHING else -NOTHING
    if p > 1:
        for i in range(begin, end):
            if values[members[i]] >= 0:
                seen[values[members[i]]] = 0
    return lack, excess
