"""The walk of `box_walk` in NumPy, column by column instead of box by box: for small tables, and without a compiler.

It visits all groups of one column at once and finds the same falls; what it leaves out of a group, and when a group
ends the walk, is argued there. Groups are rows of flat arrays: `group` and `item` of each member, sorted by both, so
that members of a group come by falling price.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
TOLERANCE = 1e-12
"""By how much a price may exceed what it should be: what is proven is less by as much."""
_AT_ONCE = 400_000  # members that are sorted together
_FEW_RUNGS = 12  # in a column with more, labels are not compared with cheaper ones


@dataclass(frozen=True, eq=False)
class _Records:
    """What is the same during a walk."""

    price: Floats
    count: Ints
    values: NDArray[np.int32]
    needed: Ints
    k: int


@dataclass(frozen=True, eq=False)
class _Level:
    """Groups that all have labels of the same columns."""

    group: Ints
    item: Ints
    cost: Floats  # of each group
    labels: Ints  # of each group, one for each column so far

    def restricted_to(self, members: NDArray[np.bool_]) -> _Level:
        """With some members only, and without groups that have none left."""
        left = np.zeros(len(self.cost), dtype=np.bool_)
        left[self.group[members]] = True
        number = np.cumsum(left) - 1
        return _Level(number[self.group[members]], self.item[members], self.cost[left], self.labels[left])


def walk(
    price: Any, count: Any, values: Any, needed: Any, k: int, labels: Any, firsts: Any, costs: Any, most_steps: int
) -> tuple[Floats, NDArray[np.int32], Ints]:
    """By how much each item's price has to fall, the box that exceeds its cost the most, and counts, as `box_walk`."""
    records, columns = _Records(price, count, values, needed, k), len(firsts) - 1
    falls, worst, largest = np.zeros(len(price)), np.full(columns, -1, dtype=np.int32), 0.0
    n, steps, boxes, exceeding = len(price), 0, 0, 0
    everything = _Level(np.zeros(n, np.int64), np.arange(n), np.zeros(1), np.zeros((1, 0), dtype=np.int64))
    waiting = [_relevant(everything, records)]
    while waiting and steps <= most_steps:
        level = waiting.pop()
        column = level.labels.shape[1]
        if column < columns:
            first, end = int(firsts[column]), int(firsts[column + 1])
            steps += len(level.item) * (end - first)
            parts = [_divided(level, records, labels, first, rung, costs) for rung in range(first, end)]
            waiting += _portions(_joined(parts))
            continue
        excess = _largest_excess(level, records)
        boxes, exceeding = boxes + len(excess), exceeding + int((excess > 0).sum())
        np.maximum.at(falls, level.item, excess[level.group])
        if excess.max(initial=0.0) > largest:
            largest, worst = float(excess.max()), level.labels[int(excess.argmax())].astype(np.int32)
    return falls, worst, np.array([steps, boxes, exceeding], dtype=np.int64)


def _divided(level: _Level, records: _Records, labels: Any, first: int, rung: int, costs: Any) -> _Level:
    """The parts of groups that have a label of one rung, as far as they matter."""
    own = labels[rung][level.item].astype(np.int64)
    has = own >= 0
    key = level.group[has] * len(costs) + own[has]
    order = np.argsort(key, kind="stable")
    item, key = level.item[has][order], key[order]
    new = np.ones(len(key), dtype=np.bool_)
    new[1:] = key[1:] != key[:-1]
    group, heads = np.cumsum(new) - 1, key[new]
    before, label = heads // len(costs), heads % len(costs)
    path = np.concatenate([level.labels[before], label[:, None]], axis=1)
    found = _relevant(_Level(group, item, level.cost[before] + costs[label], path), records)
    if rung - first > _FEW_RUNGS or not len(found.cost):
        return found
    needless = np.zeros(len(found.cost), dtype=np.bool_)
    start = np.searchsorted(found.group, np.arange(len(found.cost)))
    for other in range(first, rung):  # a cheaper label that holds all items of the part
        its = labels[other][found.item]
        differs = (its < 0) | (its != its[start][found.group])
        cheaper = costs[np.maximum(its[start], 0)] <= costs[found.labels[:, -1]]
        needless |= cheaper & (np.bincount(found.group, differs, minlength=len(needless)) == 0)
    return found.restricted_to(~needless[found.group])


def _joined(parts: list[_Level]) -> _Level:
    """The groups of several levels as one."""
    shift = np.cumsum([0, *(len(part.cost) for part in parts[:-1])])
    group = np.concatenate([part.group + more for part, more in zip(parts, shift, strict=True)])
    item, cost, labels = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("item", "cost", "labels")
    )
    return _Level(group, item, cost, labels)


def _portions(level: _Level) -> list[_Level]:
    """The groups in portions of bounded size."""
    if len(level.item) <= _AT_ONCE:
        return [level] if len(level.item) else []
    part = np.searchsorted(level.group, np.arange(len(level.cost))) // _AT_ONCE
    return [level.restricted_to(part[level.group] == each) for each in np.unique(part)]


def _relevant(level: _Level, records: _Records) -> _Level:
    """The groups in which some class exceeds the cost, each without items of which no class would."""
    if not len(level.item):
        return level
    number, own = len(level.cost), records.count[level.item]
    worth = records.price[level.item] - level.cost[level.group]
    start = np.searchsorted(level.group, np.arange(number))
    before = _running(own, start, level.group) - own
    large = np.bincount(level.group, own, minlength=number) >= records.k
    if not len(records.needed):
        taken = np.clip(records.k - before, 0, own)
        exceeds = large & (np.bincount(level.group, taken * worth, minlength=number) > records.k * TOLERANCE)
    else:
        exceeds = large
        for value, least in zip(records.values, records.needed.tolist(), strict=True):
            best, _ = _best_class(level, value[level.item], own, worth, start, records.k, least)
            exceeds = exceeds & (best > records.k * TOLERANCE)
    fewer = np.clip(records.k - 1 - before, 0, own)  # of k records any one makes room
    taken = fewer if not len(records.needed) else np.where(worth > 0, own, fewer)
    others = np.bincount(level.group, taken * worth, minlength=number)
    return level.restricted_to(exceeds[level.group] & (worth + others[level.group] > 0))


def _largest_excess(level: _Level, records: _Records) -> Floats:
    """By how much the mean price of a class of each box can exceed its cost, at the most (Dinkelbach 1967)."""
    least, own = np.full(len(level.cost), np.inf), records.count[level.item]
    start = np.searchsorted(level.group, np.arange(len(level.cost)))
    required = list(zip(records.values, records.needed.tolist(), strict=True)) if len(records.needed) else []
    for value, p in required or [(np.full(len(records.price), -1), 0)]:
        excess = np.zeros(len(level.cost))
        for attempt in range(101):
            worth = records.price[level.item] - (level.cost + excess)[level.group]
            total, sizes = _best_class(level, value[level.item], own, worth, start, records.k, p)
            more = total > records.k * TOLERANCE
            if not more.any():
                break
            excess[more] += total[more] / (
                sizes[more] if attempt < 100 else records.k
            )  # in the end, more than any mean
        least = np.minimum(least, excess)
    return least


def _best_class(level: _Level, value: Any, own: Any, worth: Floats, start: Ints, k: int, p: int) -> tuple[Floats, Ints]:
    """The largest sum of what records are worth over classes of k records and p values, and how many records it has.

    Below 0 where there is no such class.
    """
    number, above = len(level.cost), worth > 0
    order = np.lexsort((np.arange(len(value)), value, level.group))
    first = np.zeros(len(value), dtype=np.bool_)
    first[order[0]] = True
    first[order[1:]] = (level.group[order[1:]] != level.group[order[:-1]]) | (value[order[1:]] != value[order[:-1]])
    first &= value >= 0
    known = np.bincount(level.group, first & above, minlength=number)
    further = first & ~above
    chosen = further & (_running(further, start, level.group) <= (p - known)[level.group])
    taken = np.where(above, own, chosen)
    left, lacking = own - taken, k - np.bincount(level.group, taken, minlength=number)
    room = _running(left, start, level.group) - left
    taken = taken + np.clip(lacking[level.group] - room, 0, left)
    enough = np.bincount(level.group, first, minlength=number) >= p
    enough &= np.bincount(level.group, taken, minlength=number) >= k
    sizes = np.bincount(level.group, taken, minlength=number).astype(np.int64)
    return np.where(enough, np.bincount(level.group, taken * worth, minlength=number), -1.0), sizes


def _running(amounts: Any, start: Ints, group: Ints) -> Any:
    """Sums of amounts from the first member of each group on."""
    sums = np.cumsum(amounts)
    return sums - (sums[start] - amounts[start])[group]
