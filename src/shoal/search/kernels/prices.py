"""Kernels of the bound by prices: boxes whose constraint is nearly tight, steps on these, and repair.

Plain Python, which `kernels.prices_compiled` compiles: the same results, number for number. *Items* are records that no
constraint tells apart: equal in every quasi-identifier, and in the sensitive value where values are counted. They come
in descending order of price, so the first members of any box are its dearest.

Boxes are enumerated column by column (Beyer & Ramakrishnan 1999, bottom-up cubes): the members of a group are
parted by the next column at each of its levels, and a group that cannot become a box of interest is left at once. No
key is packed or hashed, so the number of columns and values is not limited, and no two boxes can be mistaken for one.
"""

from typing import Any

import numpy as np

NOTHING = -1e300  # the value of a class where there is none


def class_value(members: Any, begin: Any, end: Any, prices: Any, items: Any, cost: Any, need: Any, seen: Any) -> Any:
    """The most that the prices of a class exceed its cost, over all classes of some members in order of price.

    A class has ``k`` records and ``p`` values. Where values count: every record whose price exceeds the cost, then the
    dearest record of each missing value until there are p, then the dearest of the rest until there are k. Where they
    do not: the k dearest records, since more of them raise the value only where it is positive already.

    ``seen`` has an entry for each value, all 0 here and on return.
    """
    weights, values = items
    k, p = need
    total, records = 0.0, 0
    if p <= 1:
        for i in range(begin, end):
            item = members[i]
            take = min(weights[item], k - records)
            total += take * (prices[item] - cost)
            records += take
            if records >= k:
                return total
        return NOTHING
    distinct, first = 0, end
    for i in range(begin, end):
        item = members[i]
        if prices[item] <= cost:
            first = i
            break
        total += weights[item] * (prices[item] - cost)
        records += weights[item]
        if values[item] >= 0 and seen[values[item]] == 0:
            seen[values[item]] = 1
            distinct += 1
    last = first
    for i in range(first, end):
        if distinct >= p:
            break
        item = members[i]
        last = i + 1
        if values[item] >= 0 and seen[values[item]] == 0:
            seen[values[item]] = 2 + item  # the record of a missing value
            distinct += 1
            records += 1
            total += prices[item] - cost
    if distinct >= p:
        for i in range(first, end):
            if records >= k:
                break
            item = members[i]
            left = weights[item]
            if values[item] >= 0 and seen[values[item]] == 2 + item:
                left -= 1
            take = min(left, k - records)
            records += take
            total += take * (prices[item] - cost)
    for i in range(begin, last):
        if values[members[i]] >= 0:
            seen[values[members[i]]] = 0
    return total if distinct >= p and records >= k else NOTHING


def _closed(members: Any, begin: Any, end: Any, codes: Any, level: Any, depth: Any, offsets: Any, maps: Any) -> Any:
    """Whether the members differ below the node they share, in every column so far.

    Otherwise the same records are members of a cheaper group, which is enumerated as well.
    """
    for c in range(depth + 1):
        if level[c] > 0:
            offset = offsets[c, level[c] - 1]
            node = maps[offset + codes[c, members[begin]]]
            same = True
            for i in range(begin + 1, end):
                if maps[offset + codes[c, members[i]]] != node:
                    same = False
                    break
            if same:
                return False
    return True


def _box_key(first: Any, codes: Any, level: Any, offsets: Any, maps: Any) -> Any:
    """A hash of a box's nodes, by which a later pass recognizes it; a wrong guess costs steps, not correctness."""
    low, high = 1, 1
    for c in range(codes.shape[0]):
        node = level[c] * 1000003 + maps[offsets[c, level[c]] + codes[c, first]] + 1
        low = (low * 48271 + node) % 2147483647
        high = (high * 69621 + node) % 2147483629
    return high * 2147483648 + low


def _grown(array: Any, needed: Any) -> Any:
    """The array, or a copy twice as long where it is too short."""
    if needed <= array.shape[0]:
        return array
    longer = np.empty(max(2 * array.shape[0], needed), dtype=array.dtype)
    longer[: array.shape[0]] = array
    return longer


def _part(
    members: Any, begin: Any, end: Any, row: Any, weights: Any, offset: Any, maps: Any, k: Any, target: Any,
    begins: Any, ends: Any, scratch: Any,
) -> Any:  # fmt: skip
    """Part members by their nodes at one level; those of nodes with k records are put into ``target``, in order."""
    counts, records, order = scratch
    nodes = 0
    for i in range(begin, end):
        item = members[i]
        node = maps[offset + row[item]]
        if counts[node] == 0:
            order[nodes] = node
            nodes += 1
        counts[node] += 1
        records[node] += weights[item]
    children, place = 0, begin
    for i in range(nodes):
        node = order[i]
        if records[node] >= k:
            begins[children] = place
            place += counts[node]
            ends[children] = place
            counts[node] = begins[children]
            children += 1
        else:
            counts[node] = -1
    if children:
        for i in range(begin, end):
            node = maps[offset + row[members[i]]]
            if counts[node] >= 0:
                target[counts[node]] = members[i]
                counts[node] += 1
    for i in range(nodes):
        counts[order[i]], records[order[i]] = 0, 0
    return children


def near_boxes(
    codes: Any, items: Any, prices: Any, levels: Any, fixed: Any, need: Any, n_values: Any, slack: Any, spread: Any,
    limit: Any,
) -> Any:  # fmt: skip
    """The boxes in which some class would exceed its cost if that were lower by ``slack`` for each record.

    ``levels`` are for column c and level l the map from leaf to node, ``maps[offsets[c, l] + leaf]``, and what the node
    costs, ``costs[...]``, at least ``floors[c, l]``; costs must not fall from a level to the next. ``fixed`` are the
    levels of the first columns: one task of the whole enumeration.

    Of each box, all members are listed whose price exceeds the cost, the best class, and what is within ``spread`` of
    it. Returns costs, keys, the price that no other member exceeds, starts and members, the members touched, and
    whether it came to an end within the limit of these.
    """
    weights, _ = items
    offsets, n_levels, maps, costs, floors = levels
    k, p = need
    columns, n = codes.shape
    buffers = np.empty((columns + 1, n), dtype=np.int32)
    for i in range(n):
        buffers[0, i] = i
    begins, ends = np.empty((columns, n), dtype=np.int32), np.empty((columns, n), dtype=np.int32)
    children, child = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    level = np.full(columns, -1, dtype=np.int64)
    begin, end = np.zeros(columns, dtype=np.int64), np.full(columns, n, dtype=np.int64)
    prefix, top = np.zeros(columns + 1), np.full(columns + 1, 1e300)
    width = 1
    for i in range(maps.shape[0]):
        width = max(width, maps[i] + 1)
    scratch = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    seen = np.zeros(n_values + 1, dtype=np.int64)
    box_costs, keys, rest = np.empty(64), np.empty(64, dtype=np.int64), np.empty(64)
    starts, found = np.zeros(65, dtype=np.int64), np.empty(1024, dtype=np.int32)
    boxes, work, d = 0, 0, 0
    while d >= 0 and work <= limit:
        if child[d] < children[d]:
            b, e = begins[d, child[d]], ends[d, child[d]]
            child[d] += 1
            group = buffers[d + 1]
            cost = prefix[d] + costs[offsets[d, level[d]] + codes[d, group[b]]]
            value = class_value(group, b, e, prices, items, cost - slack, need, seen)
            work += 1
            if value < 0.0 or not _closed(group, b, e, codes, level, d, offsets, maps):
                continue
            if d + 1 < columns:
                d += 1
                begin[d], end[d], prefix[d], level[d], children[d], child[d] = b, e, cost, -1, 0, 0
                top[d] = prices[group[b]]
                if p <= 1:  # the mean of the k dearest bounds that of every part
                    top[d] = cost - slack + value / k
                continue
            box_costs, keys = _grown(box_costs, boxes + 1), _grown(keys, boxes + 1)
            rest, starts = _grown(rest, boxes + 1), _grown(starts, boxes + 2)
            found = _grown(found, starts[boxes] + e - b)
            box_costs[boxes] = cost
            keys[boxes] = _box_key(group[b], codes, level, offsets, maps)
            kept, rest[boxes] = _list_members(
                group, b, e, prices, items, cost, need, spread, seen, found, starts[boxes]
            )
            starts[boxes + 1] = kept
            work += kept - starts[boxes]
            boxes += 1
            continue
        if d < fixed.shape[0]:
            level[d] = fixed[d] if level[d] < 0 else n_levels[d]
        else:
            level[d] += 1
        children[d], child[d] = 0, 0
        if level[d] >= n_levels[d]:
            d -= 1
        elif prefix[d] + floors[d, level[d]] - slack <= top[d]:
            work += end[d] - begin[d]
            children[d] = _part(
                buffers[d], begin[d], end[d], codes[d], weights, offsets[d, level[d]], maps, k, buffers[d + 1],
                begins[d], ends[d], scratch,
            )  # fmt: skip
    starts = starts[: boxes + 1].copy()
    return (
        box_costs[:boxes].copy(),
        keys[:boxes].copy(),
        rest[:boxes].copy(),
        starts,
        found[: starts[boxes]].copy(),
        work,
        d < 0,
    )


def _list_members(
    group: Any, begin: Any, end: Any, prices: Any, items: Any, cost: Any, need: Any, spread: Any, seen: Any, found: Any,
    place: Any,
) -> Any:  # fmt: skip
    """List the members of a box that matter now or after small changes; the end of the list and the rest's price."""
    weights, values = items
    k, p = need
    records, cut, rest = 0, NOTHING, NOTHING
    for i in range(begin, end):
        item = group[i]
        value = values[item] if p > 1 else -1
        if records < k or prices[item] > cost or prices[item] >= cut or (value >= 0 and seen[value] < 2):
            found[place] = item
            place += 1
            if value >= 0:
                seen[value] += 1
        elif rest == NOTHING:
            rest = prices[item]
        records += weights[item]
        if cut == NOTHING and records >= k:
            cut = prices[item] - spread
    if p > 1:
        for i in range(begin, end):
            if values[group[i]] >= 0:
                seen[values[group[i]]] = 0
    return place, rest


def least_costs(
    codes: Any, items: Any, levels: Any, fixed: Any, need: Any, n_values: Any, least: Any, limit: Any
) -> Any:
    """Lower ``least`` of each item to the cheapest box that could be a class with it: the nearest-neighbour bound.

    Returns the members touched, and whether it came to an end within the limit of these.
    """
    weights, values = items
    offsets, n_levels, maps, costs, _ = levels
    k, p = need
    columns, n = codes.shape
    buffers = np.empty((columns + 1, n), dtype=np.int32)
    for i in range(n):
        buffers[0, i] = i
    begins, ends = np.empty((columns, n), dtype=np.int32), np.empty((columns, n), dtype=np.int32)
    children, child = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    level = np.full(columns, -1, dtype=np.int64)
    begin, end = np.zeros(columns, dtype=np.int64), np.full(columns, n, dtype=np.int64)
    prefix = np.zeros(columns + 1)
    width = 1
    for i in range(maps.shape[0]):
        width = max(width, maps[i] + 1)
    scratch = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    seen = np.zeros(n_values + 1, dtype=np.int64)
    work, d, stamp = 0, 0, 0
    while d >= 0 and work <= limit:
        if child[d] < children[d]:
            b, e = begins[d, child[d]], ends[d, child[d]]
            child[d] += 1
            group = buffers[d + 1]
            cost = prefix[d] + costs[offsets[d, level[d]] + codes[d, group[b]]]
            gains = False
            for i in range(b, e):
                work += 1
                if least[group[i]] > cost:
                    gains = True
                    break
            if not gains:
                continue
            if p > 1:
                stamp += 1
                distinct = 0
                for i in range(b, e):
                    value = values[group[i]]
                    if value >= 0 and seen[value] != stamp:
                        seen[value] = stamp
                        distinct += 1
                if distinct < p:
                    continue
            if d + 1 < columns:
                d += 1
                begin[d], end[d], prefix[d], level[d], children[d], child[d] = b, e, cost, -1, 0, 0
                continue
            for i in range(b, e):
                least[group[i]] = min(least[group[i]], cost)
            work += e - b
            continue
        if d < fixed.shape[0]:
            level[d] = fixed[d] if level[d] < 0 else n_levels[d]
        else:
            level[d] += 1
        children[d], child[d] = 0, 0
        if level[d] >= n_levels[d]:
            d -= 1
        else:
            work += end[d] - begin[d]
            children[d] = _part(
                buffers[d], begin[d], end[d], codes[d], weights, offsets[d, level[d]], maps, k, buffers[d + 1],
                begins[d], ends[d], scratch,
            )  # fmt: skip
    return work, d < 0


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


def _add_class(
    members: Any, begin: Any, end: Any, prices: Any, items: Any, cost: Any, need: Any, seen: Any, amount: Any, load: Any
) -> None:
    """Add an amount to the load of each item for each of its records in the class that `class_value` is about."""
    weights, values = items
    k, p = need
    records = 0
    if p <= 1:
        for i in range(begin, end):
            item = members[i]
            take = min(weights[item], k - records)
            load[item] += take * amount
            records += take
            if records >= k:
                return
        return
    distinct, first = 0, end
    for i in range(begin, end):
        item = members[i]
        if prices[item] <= cost:
            first = i
            break
        load[item] += weights[item] * amount
        records += weights[item]
        if values[item] >= 0 and seen[values[item]] == 0:
            seen[values[item]] = 1
            distinct += 1
    for i in range(first, end):
        if distinct >= p:
            break
        item = members[i]
        if values[item] >= 0 and seen[values[item]] == 0:
            seen[values[item]] = 2 + item
            distinct += 1
            records += 1
            load[item] += amount
    for i in range(first, end):
        if records >= k:
            break
        item = members[i]
        left = weights[item]
        if values[item] >= 0 and seen[values[item]] == 2 + item:
            left -= 1
        take = min(left, k - records)
        records += take
        load[item] += take * amount
    for i in range(begin, end):
        if values[members[i]] >= 0:
            seen[values[members[i]]] = 0


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
    multiplier_step, price_step = 1.0 / (ratio * max(need)), ratio / most
    work = 0
    for step in range(steps):
        count = step % 10 == 0
        if count:
            binding[:] = 0.0
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
                _add_class(members, begin, end, leading, items, costs[b], need, seen, multiplier, load)
                if count:
                    _add_class(members, begin, end, leading, items, costs[b], need, seen, 1.0, binding)
            elif multiplier_step * value < -1.0:
                rests[b] = step + 6
        if count:
            price_step = ratio / (damping * min(most, max(np.sqrt(n), 1.0 + (binding / weights).max())))
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


def repair(boxes: Any, rest: Any, order: Any, items: Any, need: Any, n_values: Any, prices: Any) -> Any:
    """Lower prices box by box until no class of these boxes exceeds its cost; returns the members touched.

    The dearest members are capped: at the height at which what exceeds the cost equals what the others lack. Lowering
    prices never breaks another constraint, so boxes that held still hold. Members that are not listed had at most the
    price ``rest``, which is at most the cost: a class is completed with as many of these as it needs.
    """
    costs, starts, members = boxes
    weights, _ = items
    seen = np.zeros(n_values + 1, dtype=np.int64)
    work = 0
    for index in range(order.shape[0]):
        b = order[index]
        begin, end, cost = starts[b], starts[b + 1], costs[b]
        work += end - begin
        _sort_members(members, begin, end, prices)
        lack, excess = _lack(members, begin, end, prices, items, cost, need, rest[b], seen)
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
            if distinct >= p or prices[item] < rest:
                break
            if values[item] >= 0 and seen[values[item]] == 0:
                seen[values[item]] = 2 + item
                distinct += 1
                records += 1
                lack += cost - prices[item]
        missing = max(0, p - distinct)
        if missing > 0:  # by members that are not listed, whatever their values
            records += missing
            lack += missing * (cost - rest) if rest > NOTHING else -NOTHING
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
