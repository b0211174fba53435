"""NumPy twins of the kernels of the bound by prices, for small tables and for machines that numba has no build for.

They work on many groups of records at once: all parts of some groups by one more column, and all boxes of a step. What
they return is what `kernels.prices` says. Sums are added up in another order, so last digits may differ, and prices
begin with the nearest neighbours of each item, which cost no more than its cheapest box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.table.classes import Floats

NOTHING = -1e300  # the value of a class where there is none
STEPS = 25  # between two looks at all boxes, which take less time here than as many steps do
STEP = 3_000  # what a step costs beside its members, in members
TASKS = 1  # parts that an enumeration is cut into
_AT_ONCE = 400_000  # members that are parted together
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Members:
    """Members of groups, one group after the other, each in descending order of price."""

    group: Ints  # of each member
    item: Ints
    starts: Ints  # where each group begins

    @staticmethod
    def of(group: Ints, item: Ints) -> _Members:
        """Members that are sorted by group; groups are numbered anew."""
        new = np.ones(len(group), dtype=np.bool_)
        new[1:] = group[1:] != group[:-1]
        return _Members(np.cumsum(new) - 1, item, np.flatnonzero(new))

    def __len__(self) -> int:
        return len(self.starts)

    def of_groups(self, chosen: NDArray[np.bool_]) -> _Members:
        """Those of some groups."""
        kept = chosen[self.group]
        return _Members.of(self.group[kept], self.item[kept])

    def running(self, amounts: Any) -> Any:
        """The sum of amounts over the members of the group so far, this one included."""
        sums = np.cumsum(amounts)
        before = sums[self.starts] - amounts[self.starts]
        return sums - before[self.group]

    def total(self, amounts: Any) -> Any:
        """The sum of amounts of each group."""
        return np.bincount(self.group, amounts, minlength=len(self))


def _taken(members: _Members, prices: Floats, costs: Floats, items: Any, need: Any) -> tuple[Ints, NDArray[np.bool_]]:
    """How many records of each member are in the best class of its group, and which groups have a class at all."""
    weights, values = items
    k, p = need
    amount = weights[members.item]
    if p <= 1:
        before = members.running(amount) - amount
        return np.clip(k - before, 0, amount), members.total(amount) >= k
    above = prices > costs[members.group]
    first = _first_of_value(members, values)
    own = members.total(first & above)  # values among the records that are in any case
    number = members.running(first & ~above)
    for_value = first & ~above & (number <= (p - own)[members.group])
    taken = np.where(above, amount, for_value)
    short = np.maximum(k - members.total(taken), 0).astype(np.int64)
    left = amount - taken
    before = members.running(left) - left
    taken = taken + np.clip(short[members.group] - before, 0, left)
    return taken, (members.total(first) >= p) & (members.total(taken) >= k)


def _first_of_value(members: _Members, values: Any) -> NDArray[np.bool_]:
    """Which members are the dearest of their group that have their value."""
    value = values[members.item].astype(np.int64)
    order = np.argsort(members.group * (int(value.max(initial=0)) + 2) + value + 1, kind="stable")
    group, value = members.group[order], value[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (group[1:] != group[:-1]) | (value[1:] != value[:-1])
    first = np.empty(len(order), dtype=np.bool_)
    first[order] = new & (value >= 0)
    return first


def _values(members: _Members, prices: Floats, costs: Floats, items: Any, need: Any) -> tuple[Floats, Ints]:
    """The most that the prices of a class exceed its cost, for each group, and the records of each member in it."""
    own = prices[members.item]
    taken, some = _taken(members, own, costs, items, need)
    return np.where(some, members.total(taken * (own - costs[members.group])), NOTHING), taken


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of members at some depth of the search: what their nodes cost so far, and their levels."""

    members: _Members
    cost: Floats
    top: Floats  # no part of the group has a class of a higher mean price
    level: Ints  # ``level[g, c]``


def near_boxes(
    codes: Any, items: Any, prices: Any, levels: Any, fixed: Any, need: Any, n_values: int, slack: float, spread: float,
    limit: int,
) -> tuple[Floats, Ints, Ints, int, int, bool]:  # fmt: skip
    """The boxes in which some class would exceed its cost if that were lower by ``slack`` for each record."""
    columns, n = codes.shape
    everything = _Members(np.zeros(n, dtype=np.int64), np.arange(n), np.zeros(min(n, 1), dtype=np.int64))
    empty = np.zeros((len(everything), 0), dtype=np.int64)
    waiting = [_Groups(everything, np.zeros(len(everything)), np.full(len(everything), np.inf), empty)]
    figures, ints, listed = [np.zeros((0, 2))], [np.zeros((0, 2), dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    work, end = 0, 0
    while waiting and work <= limit:
        groups = waiting.pop()
        depth = groups.level.shape[1]
        if depth < columns:
            found, touched = _parts(groups, depth, codes, items, prices, levels, fixed, need, slack)
            waiting += reversed(_batches(found))
            work += touched
            continue
        facts, ends, members = _listed(groups, prices, items, need, spread)
        keys = _box_keys(groups, codes, levels)
        figures.append(facts)
        ints.append(np.stack([keys, ends + end], axis=1))
        listed.append(members)
        end += len(members)
        work += len(members)
    boxes = sum(map(len, figures))
    joined = np.concatenate(figures).ravel(), np.concatenate(ints).ravel(), np.concatenate(listed)
    return *joined, boxes, work, not waiting


def _parts(
    groups: _Groups, c: int, codes: Any, items: Any, prices: Any, levels: Any, fixed: Any, need: Any, slack: float
) -> tuple[_Groups, int]:
    """The parts of groups by one more column at each of its levels, and the members touched."""
    offsets, n_levels, maps, costs, floors = levels
    weights, (k, p), members = items[0], need, groups.members
    leaf, touched = codes[c][members.item], 0
    found, parents, cost, level = list[Ints](), list[Ints](), list[Floats](), list[Ints]()
    new = 0
    for each in [int(fixed[c])] if c < len(fixed) else range(int(n_levels[c])):
        possible = groups.cost + floors[c, each] - slack <= groups.top
        kept = possible[members.group] if not possible.all() else slice(None)
        group, item, own = members.group[kept], members.item[kept], leaf[kept]
        touched += len(group)
        node = maps[offsets[c, each] + own].astype(np.int64)
        width = int(node.max(initial=0)) + 1
        key = group * width + node
        records = np.bincount(key, weights[item], minlength=0) if len(key) else np.zeros(0)
        large = records[key] >= k
        item, key = item[large], key[large]
        order = np.argsort(key, kind="stable")
        part = _Members.of(key[order], item[order])
        first = part.item[part.starts]
        found += [part.group + new, part.item]
        parents.append(key[order][part.starts] // width)
        cost.append(groups.cost[parents[-1]] + costs[offsets[c, each] + codes[c][first]])
        level.append(np.full(len(part), each))
        new += len(part)
    parent = np.concatenate(parents)
    path = np.concatenate([groups.level[parent], np.concatenate(level)[:, None]], axis=1)
    all_costs = np.concatenate(cost)
    together = _Members.of(np.concatenate(found[::2]), np.concatenate(found[1::2]))
    value, _ = _values(together, prices, all_costs - slack, items, need)
    touched += len(together)
    kept = value >= 0
    top = all_costs - slack + value / k if p <= 1 else prices[together.item[together.starts]]
    result = _Groups(together.of_groups(kept), all_costs[kept], top[kept], path[kept])
    kept = _closed(result, codes, offsets, maps)
    return _Groups(result.members.of_groups(kept), result.cost[kept], result.top[kept], result.level[kept]), touched


def _closed(groups: _Groups, codes: Any, offsets: Any, maps: Any) -> NDArray[np.bool_]:
    """Which groups differ below the node they share, in every column so far."""
    members, closed = groups.members, np.ones(len(groups.cost), dtype=np.bool_)
    if not len(closed):
        return closed
    for c in range(groups.level.shape[1]):
        level = groups.level[:, c]
        below = offsets[c][np.maximum(level - 1, 0)]
        node = maps[below[members.group] + codes[c][members.item]]
        differs = node != node[members.starts][members.group]
        closed &= (level == 0) | (np.bincount(members.group, differs, minlength=len(closed)) > 0)
    return closed


def _batches(groups: _Groups) -> list[_Groups]:
    """The same groups in portions that are not too large."""
    members = groups.members
    if len(members.item) <= _AT_ONCE:
        return [groups] if len(groups.cost) else []
    batch = np.append(members.starts, len(members.item))[:-1] // _AT_ONCE
    return [
        _Groups(members.of_groups(batch == each), *(a[batch == each] for a in (groups.cost, groups.top, groups.level)))
        for each in np.unique(batch)
    ]


def _listed(groups: _Groups, prices: Any, items: Any, need: Any, spread: float) -> tuple[Floats, Ints, Ints]:
    """Cost and rest of each box, where its members end, and these: those that matter now or after small changes."""
    members, (weights, values), (k, p) = groups.members, items, need
    own, amount = prices[members.item], weights[members.item]
    records = members.running(amount)
    enough = records >= k
    full = np.zeros(len(groups.cost))
    full[members.group[::-1][enough[::-1]]] = own[::-1][enough[::-1]] - spread  # of the first with k: written last
    kept = (records - amount < k) | (own > groups.cost[members.group]) | (own >= full[members.group])
    if p > 1:
        value = values[members.item].astype(np.int64)
        order = np.argsort(members.group * (int(value.max(initial=0)) + 2) + value + 1, kind="stable")
        same = _Members.of(members.group[order] * (int(value.max(initial=0)) + 2) + value[order] + 1, order)
        kept = _two_of_each_value(kept, same, value)
    rest = np.full(len(groups.cost), NOTHING)
    rest[members.group[::-1][~kept[::-1]]] = own[::-1][~kept[::-1]]
    ends = np.cumsum(np.bincount(members.group, kept, minlength=len(groups.cost))).astype(np.int64)
    return np.stack([groups.cost, rest], axis=1), ends, members.item[kept]


def _two_of_each_value(kept: NDArray[np.bool_], same: _Members, value: Ints) -> NDArray[np.bool_]:
    """What is kept, and the dearest of each value as long as fewer than two are kept before them."""
    listed = kept[same.item]
    place = same.running(np.ones(len(listed), dtype=np.int64))
    result = kept.copy()
    result[same.item] = listed | ((place <= 2) & (value[same.item] >= 0))
    return result


def _box_keys(groups: _Groups, codes: Any, levels: Any) -> Ints:
    """A hash of each box's nodes."""
    offsets, _, maps, _, _ = levels
    first = groups.members.item[groups.members.starts]
    low, high = np.ones(len(first), dtype=np.int64), np.ones(len(first), dtype=np.int64)
    for c in range(codes.shape[0]):
        level = groups.level[:, c]
        node = level * 1000003 + maps[offsets[c][level] + codes[c][first]] + 1
        low = (low * 48271 + node) % 2147483647
        high = (high * 69621 + node) % 2147483629
    return high * 2147483648 + low


def least_costs(
    codes: Any, items: Any, levels: Any, need: Any, n_values: int, least: Any, limit: int
) -> tuple[int, bool]:
    """Lower ``least`` of each item to what a class with it costs at least: reaching k records, and p values."""
    (weights, values), (k, p) = items, need
    columns, n = codes.shape
    if n * n > limit:
        return n * n, False
    distinct, column = np.unique(values, return_inverse=True)
    repeats = np.minimum(weights, k)
    tables = [_pair_costs(codes[c], levels, c) for c in range(columns)]
    rows = max(1, _AT_ONCE // max(n, 1))
    for begin in range(0, n, rows):
        chosen = slice(begin, begin + rows)
        costs = np.zeros((len(least[chosen]), n))
        for at, table in tables:
            costs += table[at[chosen]][:, at]
        reached = np.full(len(costs), np.inf)
        if repeats.sum() >= k:
            every = np.repeat(costs, repeats, axis=1) if repeats.max() > 1 else costs
            reached = np.partition(every, k - 1, axis=1)[:, k - 1]
        if p > 1:
            nearest = np.full((len(distinct), len(costs)), np.inf)
            np.minimum.at(nearest, column, costs.T)
            nearest = nearest[distinct >= 0].T
            enough = nearest.shape[1] >= p
            reached = np.maximum(reached, np.partition(nearest, p - 1, axis=1)[:, p - 1] if enough else np.inf)
        least[chosen] = np.minimum(least[chosen], reached)
    return n * n, True


def _pair_costs(codes: Any, levels: Any, c: int) -> tuple[Ints, Floats]:
    """The place of each item among the leaves of a column, and the cost of the lowest node above each two of them."""
    offsets, n_levels, maps, costs, _ = levels
    leaves, at = np.unique(codes, return_inverse=True)
    table = np.full((len(leaves), len(leaves)), np.inf)
    for level in reversed(range(int(n_levels[c]))):
        node = maps[offsets[c, level] + leaves]
        table = np.where(node[:, None] == node[None, :], costs[offsets[c, level] + leaves][:, None], table)
    return at, table


def price_steps(
    boxes: Any, items: Any, need: Any, n_values: int, state: Any, highest: Any, suppression: Any, sizes: Any, steps: int
) -> int:  # fmt: skip
    """Primal-dual steps on some boxes, all of them in every step; returns the members touched."""
    costs, starts, listed = boxes
    weights = items[0]
    multipliers, prices, leading, price_sum, multiplier_sum, dropped = state
    suppression_cost, budget, suppression_price = suppression
    ratio, most, damping = sizes
    n, group = len(prices), np.repeat(np.arange(len(costs)), np.diff(starts))
    members = _Members(group, listed.astype(np.int64), starts[:-1])
    multiplier_step, price_step = 1.0 / (ratio * max(need)), ratio / most
    for step in range(steps):
        own = leading[members.item]
        span = float(own.max(initial=0.0) - own.min(initial=0.0)) + 1.0
        members = _Members(group, members.item[np.argsort(group * span - own, kind="stable")], starts[:-1])
        value, taken = _values(members, leading, costs, items, need)
        multipliers[:] = np.maximum(0.0, multipliers + multiplier_step * value)
        load = np.bincount(members.item, taken * multipliers[group], minlength=n).astype(np.float64, copy=False)
        if step % 10 == 0:
            binding = np.bincount(members.item, taken * (multipliers > 0)[group], minlength=n)
            binds = max(np.sqrt(n), 1.0 + float((binding / weights).max(initial=0.0)))
            price_step = ratio / (damping * min(most, binds))
        if budget > 0:
            over = leading - suppression_cost - suppression_price[0]
            dropped[:] = np.minimum(weights, np.maximum(0.0, dropped + over / ratio))
            load += dropped
            excess = float(dropped.sum()) - budget
            suppression_price[0] = max(0.0, suppression_price[0] + ratio / (10.0 + 2.0 * budget) * excess)
        before = prices.copy()
        prices[:] = np.minimum(highest, before + price_step * (1.0 - load / weights))
        leading[:] = 2.0 * prices - before
        price_sum += prices
        multiplier_sum += multipliers
    return steps * (STEP + n + len(listed))


def take_classes(
    boxes: Any, order: Any, items: Any, need: Any, n_values: int, prices: Any, found: Any
) -> int:  # fmt: skip
    """Take the best class of what is left in each of some boxes, one after the other; how many entries were found."""
    costs, starts, members = boxes
    (left, values), (k, p), entries = items, need, 0
    for b in order.tolist():
        own = members[starts[b] : starts[b + 1]].astype(np.int64)
        own = own[left[own] > 0]
        own = own[np.lexsort((own, -prices[own]))]
        above = prices[own] > costs[b]
        taken = np.where(above, left[own], 0)
        if p > 1:
            _, first = np.unique(values[own], return_index=True)
            first = np.sort(first[values[own[first]] >= 0])
            missing = first[~above[first]][: max(p - int(above[first].sum()), 0)]
            taken[missing] = 1
            if above[first].sum() + len(missing) < p:
                continue
        rest = left[own] - taken
        taken += np.clip(max(k - int(taken.sum()), 0) - (np.cumsum(rest) - rest), 0, rest)
        if taken.sum() < k:
            continue
        chosen = np.flatnonzero(taken)
        entry = slice(entries, entries + len(chosen))
        found[entry, 0], found[entry, 1], found[entry, 2] = b, own[chosen], taken[chosen]
        entries += len(chosen)
        left[own] -= taken
    return entries


def repair(boxes: Any, rest: Any, order: Any, items: Any, need: Any, n_values: int, prices: Any) -> int:
    """Lower prices box by box until no class of these boxes exceeds its cost; returns the members touched."""
    costs, starts, members = boxes
    weights, values = (each.tolist() for each in items)
    work, now, before = 0, prices.tolist(), prices.tolist()
    for b in order.tolist():
        cost, begin, end = float(costs[b]), int(starts[b]), int(starts[b + 1])
        work += end - begin
        left = float(rest[b])
        highest = {item: max(now[item], min(left, before[item])) for item in members[begin:end].tolist()}
        own = sorted(highest, key=lambda item: (-highest[item], item))
        dear = [item for item in own if now[item] > cost]
        excess = sum(weights[item] * (now[item] - cost) for item in dear)
        lack = _lack(own, len(dear), highest, weights, values, cost, need, left)
        if excess <= lack:
            continue
        above, total, height = 0, 0.0, cost
        for place, item in enumerate(dear):  # cap the dearest 1, 2, … items: the first cap that the next one lies below
            above += weights[item]
            total += weights[item] * (now[item] - cost)
            height = cost + max(0.0, lack - (excess - total)) / above
            if height >= (now[own[place + 1]] if place + 1 < len(own) else cost):
                break
        for item in dear:
            now[item] = min(now[item], height)
    prices[:] = now
    return work


def _lack(
    own: list[int], dear: int, prices: dict[int, float], weights: list[int], values: list[int], cost: float, need: Any,
    rest: float,
) -> float:  # fmt: skip
    """By how much the cheapest completion of a class falls short of its cost; without end where there is none."""
    k, p = need
    records = sum(weights[item] for item in own[:dear])
    seen = {values[item] for item in own[:dear] if values[item] >= 0}
    lack, for_value = 0.0, set[int]()
    if p > 1:
        for item in own[dear:]:
            if len(seen) >= p:
                break
            if values[item] >= 0 and values[item] not in seen:
                seen.add(values[item])
                for_value.add(item)
                lack += cost - prices[item]
        records += len(for_value)
        if len(seen) < p:  # the box has no other values
            lack += -NOTHING
    for item in own[dear:]:
        if records >= k or prices[item] < rest:
            break
        take = min(weights[item] - (item in for_value), k - records)
        records += take
        lack += take * (cost - prices[item])
    if records < k:
        lack += (k - records) * (cost - rest) if rest > NOTHING else -NOTHING
    return lack
