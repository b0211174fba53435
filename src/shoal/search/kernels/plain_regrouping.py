"""Dissolving, splitting and gathering classes in NumPy: twins of the kernels of these names in `kernels.refinement`."""

from typing import Any

import numpy as np

from shoal.search.kernels.plain_costs import Floats, Indices, Prices, cell_costs, changed_costs, parts, rows_of

_EACH = 16


def _box_costs(low: Any, high: Any, prices: Prices) -> Any:
    """What a record costs in each of some boxes: one row per box, one column per column."""
    total = np.zeros(len(low))
    for c in range(low.shape[1]):
        total += cell_costs(c, low[:, c], high[:, c], prices)
    return total


def dissolutions(asking: Any, classes: Any, joins: Any, prices: Prices, gains: Any, targets: Any) -> None:
    """What each asking class would save by letting each of its rows, one after the other, join where it costs least."""
    codes, members, starts, ends, costs = classes
    for index, a in enumerate(asking.tolist()):
        rows = members[starts[a] : starts[a + 1]]
        left = costs[a] * len(rows)  # what joining may still add
        grown: dict[
            int, tuple[Any, Any, int, float]
        ] = {}  # the boxes, sizes and costs of classes that rows have joined
        for i, row in enumerate(rows.tolist()):
            near = [b for b in joins[row].tolist() if b >= 0 and b != a and starts[b + 1] > starts[b]]
            boxes = [
                grown.get(b) or (ends[b, :, 0], ends[b, :, 2], int(starts[b + 1] - starts[b]), costs[b]) for b in near
            ]
            best = -1
            if near:
                low = np.minimum([box[0] for box in boxes], codes[row]).astype(np.int64)
                high = np.maximum([box[1] for box in boxes], codes[row]).astype(np.int64)
                sizes = np.array([box[2] for box in boxes])
                cost = _box_costs(low, high, prices)
                added = cost * (sizes + 1) - np.array([box[3] for box in boxes]) * sizes
                best = int(np.argmin(added))
            if best < 0 or not added[best] < left:
                left = 0.0
                break
            left -= added[best]
            targets[index, i] = near[best]
            grown[near[best]] = low[best], high[best], int(sizes[best]) + 1, cost[best]
        gains[index] = left


def splits(asking: Any, classes: Any, least: Any, prices: Prices, gains: Any, cuts: Any) -> None:
    """The best cut of each asking class in two between codes of one column: what it saves, the column, the code."""
    codes, members, starts, _, costs = classes
    for index, a in enumerate(asking.tolist()):
        values = codes[members[starts[a] : starts[a + 1]]].astype(np.int64)
        size = len(values)
        now, count = costs[a] * size, np.arange(1, size + 1)
        step = np.arange(least, size - least + 1)
        for column in np.flatnonzero((values != values[0]).any(axis=0)).tolist():
            ordered = values[np.argsort(values[:, column], kind="stable")]
            below, above = (
                count * _box_costs(np.minimum.accumulate(rows), np.maximum.accumulate(rows), prices)
                for rows in (ordered, ordered[::-1])
            )
            gain = now - below[step - 1] - above[::-1][step]
            gain[ordered[step - 1, column] == ordered[step, column]] = -np.inf
            best = int(np.argmax(gain))
            if gain[best] > gains[index]:
                gains[index] = gain[best]
                cuts[index] = column, ordered[step[best], column]


def gatherings(asking: Any, classes: Any, near: Any, least: Any, prices: Prices, gains: Any, gathered: Any) -> None:
    """The best new class that can be gathered around a row of each asking class: what it saves, and its rows."""
    codes, members, starts, ends, costs = classes
    first, index = rows_of(asking, members, starts)
    a = asking[index]
    many = starts[a + 1] - starts[a] > _EACH
    tried = ~many
    tried[many] = changed_costs(ends, codes, a[many], first[many], None, prices) < costs[a[many]]
    first, index = first[tried], index[tried]
    for some in parts(np.arange(len(first)), 4 * int(least) * (near.shape[1] + 1)):
        rows, owners, cost = _gathered(asking[index[some]], first[some], classes, near, int(least), prices)
        complete = np.flatnonzero(np.isfinite(cost))
        rows, owners, at = rows[complete], owners[complete], index[some][complete]
        gain = -cost[complete] * least
        for j in range(least):
            new = np.flatnonzero(~(owners[:, :j] == owners[:, j, None]).any(axis=1))
            b = owners[new, j]
            gain[new] += costs[b] * (starts[b + 1] - starts[b])
            gain[new] -= _costs_without(b, rows[new], codes, members, starts, prices)
        for each in range(len(at)):
            if gain[each] > gains[at[each]]:
                gains[at[each]], gathered[at[each]] = gain[each], rows[each]


def _gathered(
    a: Indices, first: Indices, classes: Any, near: Any, least: int, prices: Prices
) -> tuple[Indices, Indices, Floats]:
    """New classes around some rows, from rows that their classes can spare: rows, their classes, and costs, or inf."""
    codes, members, starts, _, costs = classes
    sizes, count = np.diff(starts), len(first)
    rows, owners = np.zeros((count, least), dtype=np.int64), np.zeros((count, least), dtype=np.int64)
    rows[:, 0], owners[:, 0] = first, a
    low, high, cost = codes[first].astype(np.int64), codes[first].astype(np.int64), np.zeros(count)
    around = np.concatenate([a[:, None], near[a].astype(np.int64)], axis=1)
    one, place = np.nonzero((around >= 0) & (sizes[around] <= 4 * least) & (sizes[around] > least))
    owner = around[one, place]
    row, pair = rows_of(owner, members, starts)
    one, owner = one[pair], owner[pair]  # which row each candidate may be gathered with, and its class
    spare = sizes[owner] - least - (owner == a[one])
    free = row != first[one]
    for member in range(1, least):
        usable = np.flatnonzero(free & (spare > 0) & np.isfinite(cost[one]))
        who = one[usable]
        price = -costs[owner[usable]]
        for c in range(codes.shape[1]):
            code = codes[row[usable], c]
            price += least * cell_costs(c, np.minimum(low[who, c], code), np.maximum(high[who, c], code), prices)
        best = np.full(count, np.inf)
        np.minimum.at(best, who, price)
        cost[np.isinf(best)] = np.inf
        found, at = np.unique(who[price == best[who]], return_index=True)
        chosen = usable[np.flatnonzero(price == best[who])[at]]
        rows[found, member], owners[found, member] = row[chosen], owner[chosen]
        free[chosen] = False
        taken = np.full(count, -1, dtype=np.int64)
        taken[found] = owner[chosen]
        spare -= taken[one] == owner
        low[found], high[found] = (
            np.minimum(low[found], codes[row[chosen]]),
            np.maximum(high[found], codes[row[chosen]]),
        )
    kept = np.flatnonzero(np.isfinite(cost))
    cost[kept] = _box_costs(low[kept], high[kept], prices)
    return rows, owners, cost


def _costs_without(b: Indices, without: Indices, codes: Any, members: Any, starts: Any, prices: Prices) -> Floats:
    """What the rows of each class cost together without some of them, of which at least one is left."""
    row, index = rows_of(b, members, starts)
    kept = ~(without[index] == row[:, None]).any(axis=1)
    row, index = row[kept], index[kept]
    if not len(row):
        return np.zeros(len(b))
    first = np.searchsorted(index, np.arange(len(b)))
    low, high = (end.reduceat(codes[row].astype(np.int64), first) for end in (np.minimum, np.maximum))
    costs: Floats = _box_costs(low, high, prices) * np.diff(np.append(first, len(row)))
    return costs
