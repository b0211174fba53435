"""Kernels that look for steps which improve a partition; compiled where numba is, plain Python otherwise.

Everything is read-only here: a kernel proposes the best step of each class and what it would save, and the caller
tests the models, chooses steps that do not touch each other, and applies them. So the same classes always get the
same proposals, on however many threads.

A partition comes as flat arrays, ``classes``: ``codes[row, c]``; ``members[starts[a]:starts[a + 1]]``, the rows of
class ``a``; ``ends[a, c]``, the two smallest and the two largest leaf codes of the class in column ``c``, which tell
its box with or without any one of its rows; ``costs[a]``, what a record of the class costs.
"""

from typing import Any

import numpy as np

from shoal.search.kernels.jit import helper, jit

_PRICES = "Tuple((f8[::1], i4[::1], i4[::1], i8[:, ::1]))"
_CLASSES = "Tuple((i4[:, ::1], i8[::1], i8[::1], i4[:, :, ::1], f8[::1]))"
_FAR, _NONE = np.int64(1 << 30), np.int64(-1)  # typed: with a plain constant a helper would be compiled once more
_EACH = 16


@helper
def _untabled_cost(begin: Any, width: Any, low: Any, high: Any, prices: Any) -> Any:
    """The cost of a cell in a column without a table: of a range by its width, else of the lowest node above."""
    costs, last, parents, _ = prices
    if width == -1:
        return costs[begin + high - low]
    if width < 0:  # a run: where the base interval of each leaf begins, then where it ends
        return costs[begin - width + high] - costs[begin + low] if low < high else 0.0
    at = low
    while last[begin + at] < high:
        at = parents[begin + at]
    return costs[begin + at]


@helper
def cell_cost(c: Any, low: Any, high: Any, prices: Any) -> Any:
    """What a cell costs that covers the leaf codes from ``low`` to ``high`` of column ``c``.

    ``prices`` are the costs of all columns one after the other, the trees that large columns are climbed in, and for
    each column where its costs begin and how they are found: a table's row length, 0 for a tree, -1 for ranges,
    minus the number of leaves for runs of base intervals. Only the table is looked up here. The innermost loops look it
    up themselves: a call would take four times as long.
    """
    width = prices[3][c, 1]
    if width > 0:
        return prices[0][prices[3][c, 0] + low * width + high]
    return _untabled_cost(prices[3][c, 0], width, low, high, prices)


@jit(f"(i4[:, ::1], i8[::1], i8[::1], {_PRICES}, i8[::1], i4[:, :, ::1], f8[::1])")
def extremes(codes: Any, members: Any, starts: Any, prices: Any, chosen: Any, ends: Any, costs: Any) -> None:
    """Work out the two smallest and largest codes of the chosen classes, and what a record of each costs."""
    columns = codes.shape[1]
    for index in range(chosen.shape[0]):
        a = chosen[index]
        total = 0.0
        for c in range(columns):
            low, low2, high, high2 = _FAR, _FAR, _NONE, _NONE
            for i in range(starts[a], starts[a + 1]):
                code = np.int64(codes[members[i], c])
                if code < low:
                    low, low2 = code, low
                elif code < low2:
                    low2 = code
                if code > high:
                    high, high2 = code, high
                elif code > high2:
                    high2 = code
            ends[a, c, 0], ends[a, c, 1], ends[a, c, 2], ends[a, c, 3] = low, low2, high, high2
            if high >= 0:
                total += cell_cost(c, low, high, prices)
        costs[a] = total


@jit(f"(i4[:, :, ::1], i8[::1], {_PRICES}, f8[::1])")
def column_sums(ends: Any, sizes: Any, prices: Any, sums: Any) -> None:
    """Add up what the cells of each column cost over all records."""
    for a in range(sizes.shape[0]):
        if sizes[a] > 0:
            for c in range(sums.shape[0]):
                sums[c] += sizes[a] * cell_cost(c, np.int64(ends[a, c, 0]), np.int64(ends[a, c, 2]), prices)


@helper
def changed_cost(ends: Any, codes: Any, a: Any, out: Any, into: Any, prices: Any, limit: Any) -> Any:
    """What a record of class ``a`` costs without row ``out`` and with row ``into`` (-1: none); stops at the limit."""
    cells, _, _, how = prices
    total = 0.0
    for c in range(codes.shape[1]):
        low, high = np.int64(ends[a, c, 0]), np.int64(ends[a, c, 2])
        if out >= 0:
            code = codes[out, c]
            if code == low:
                low = ends[a, c, 1]
            if code == high:
                high = ends[a, c, 3]
        if into >= 0:
            code = codes[into, c]
            low = min(low, code)
            high = max(high, code)
        if how[c, 1] > 0:
            total += cells[how[c, 0] + low * how[c, 1] + high]
        else:
            total += cell_cost(c, low, high, prices)
        if total >= limit:
            break
    return total


@helper
def _enter(cost: Any, item: Any, at: Any, best: Any, items: Any) -> None:
    """Enter an item among the cheapest, cheapest first, at an index that may be overwritten; of equals the first."""
    while at > 0 and best[at - 1] > cost:
        best[at], items[at] = best[at - 1], items[at - 1]
        at -= 1
    best[at], items[at] = cost, item


@helper
def _copy_boxes(piece: Any, ends: Any, boxes: Any) -> None:
    """The smallest and the largest code of some classes in each column, side by side."""
    for index in range(piece.shape[0]):
        for c in range(ends.shape[1]):
            boxes[index, c, 0], boxes[index, c, 1] = ends[piece[index], c, 0], ends[piece[index], c, 2]


@jit(f"(i8[::1], i8[::1], i4[:, :, ::1], {_PRICES}, i4[:, ::1])")
def nearest_classes(piece: Any, asking: Any, ends: Any, prices: Any, near: Any) -> None:
    """For each asking class of a piece the classes of the piece that would share the cheapest box with it."""
    cells, _, _, how = prices
    columns, width = ends.shape[1], near.shape[1]
    best, boxes = np.empty(width), np.empty((piece.shape[0], columns, 2), dtype=np.int64)
    _copy_boxes(piece, ends, boxes)
    for index in range(asking.shape[0]):
        a, found = asking[index], 0
        mine = ends[a]
        for other in range(piece.shape[0]):
            b = piece[other]
            if b == a:
                continue
            limit = best[width - 1] if found == width else np.inf
            cost = 0.0
            for c in range(columns):
                low, high = min(mine[c, 0], boxes[other, c, 0]), max(mine[c, 2], boxes[other, c, 1])
                if how[c, 1] > 0:
                    cost += cells[how[c, 0] + low * how[c, 1] + high]
                else:
                    cost += cell_cost(c, low, high, prices)
                if cost >= limit:
                    break
            if cost >= limit:
                continue
            _enter(cost, b, min(found, width - 1), best, near[a])
            found = min(found + 1, width)
        for rank in range(found, width):
            near[a, rank] = -1


@jit(f"(i8[::1], i8[::1], {_CLASSES}, {_PRICES}, i4[:, ::1])")
def cheapest_joins(piece: Any, asking: Any, classes: Any, prices: Any, joins: Any) -> None:
    """For each row of the asking classes of a piece the classes of the piece that it costs least to join.

    What a row adds elsewhere must be less than its whole class costs now: no step could gain otherwise. ``joins`` has
    one row per row of the table, best first, -1 where there are no more.
    """
    codes, members, starts, ends, costs = classes
    cells, _, _, how = prices
    columns, width = codes.shape[1], joins.shape[1]
    best, mine = np.empty(width), np.empty(columns, dtype=np.int64)
    boxes = np.empty((piece.shape[0], columns, 2), dtype=np.int64)
    _copy_boxes(piece, ends, boxes)
    for index in range(asking.shape[0]):
        a = asking[index]
        budget = costs[a] * (starts[a + 1] - starts[a])
        for i in range(starts[a], starts[a + 1]):
            row = members[i]
            same = i > starts[a]
            for c in range(columns):
                same = same and mine[c] == codes[row, c]
                mine[c] = codes[row, c]
            for rank in range(width):
                joins[row, rank] = joins[members[i - 1], rank] if same else -1
                best[rank] = budget
            if same:
                continue
            for other in range(piece.shape[0]):
                b = piece[other]
                size = starts[b + 1] - starts[b]
                before = costs[b] * size
                limit = (best[width - 1] + before) / (size + 1)
                cost = 0.0
                for c in range(columns):
                    low, high = min(mine[c], boxes[other, c, 0]), max(mine[c], boxes[other, c, 1])
                    if how[c, 1] > 0:
                        cost += cells[how[c, 0] + low * how[c, 1] + high]
                    else:
                        cost += cell_cost(c, low, high, prices)
                    if cost >= limit:
                        break
                if cost >= limit or b == a:
                    continue
                _enter(cost * (size + 1) - before, b, width - 1, best, joins[row])


@helper
def _keep_best(gain: Any, a: Any, b: Any, out: Any, into: Any, gains: Any, steps: Any) -> None:
    """Enter an exchange among the best of its class, best first; of equals the first found."""
    at = gains.shape[0] - 1
    if gain <= gains[at]:
        return
    while at > 0 and gains[at - 1] < gain:
        gains[at] = gains[at - 1]
        for part in range(4):
            steps[at, part] = steps[at - 1, part]
        at -= 1
    gains[at] = gain
    steps[at, 0], steps[at, 1], steps[at, 2], steps[at, 3] = a, b, out, into


@jit(f"(i8[::1], {_CLASSES}, i4[:, ::1], i4[:, ::1], i8, {_PRICES}, f8[:, ::1], i8[:, :, ::1])")
def exchanges(
    asking: Any, classes: Any, near: Any, joins: Any, least: Any, prices: Any, gains: Any, steps: Any
) -> None:
    """The best exchanges of each asking class: a row moves where it costs little, or changes places with another.

    ``gains`` holds the least that counts on entry; ``steps`` are (class, other class, row out, row in or -1).
    """
    codes, members, starts, ends, costs = classes
    for index in range(asking.shape[0]):
        a = asking[index]
        size = starts[a + 1] - starts[a]
        if size == 1:
            continue
        now = costs[a] * size
        for i in range(size):
            out = members[starts[a] + i]
            without = changed_cost(ends, codes, a, out, _NONE, prices, np.inf)
            if size > least:
                left = now - without * (size - 1)
                for j in range(joins.shape[1]):
                    b = np.int64(joins[out, j])
                    floor = gains[index, gains.shape[1] - 1]
                    if b < 0 or left <= floor:
                        break
                    b_size = starts[b + 1] - starts[b]
                    if b_size == 0 or b == a:
                        continue  # found before it was dissolved, or before the row came here
                    limit = (costs[b] * b_size + left - floor) / (b_size + 1)
                    cost = changed_cost(ends, codes, b, _NONE, out, prices, limit)
                    if cost < limit:  # else the sum may have been broken off
                        gain = left + costs[b] * b_size - cost * (b_size + 1)
                        _keep_best(gain, a, b, out, _NONE, gains[index], steps[index])
            if without >= costs[a]:
                continue  # a row that saves nothing by leaving changes places only when another asks for it
            for neighbour in range(near.shape[1]):
                b = np.int64(near[a, neighbour])
                if b < 0:
                    break
                b_size = starts[b + 1] - starts[b]
                if b_size <= 1:
                    continue
                both = now + costs[b] * b_size
                for j in range(b_size):
                    into = members[starts[b] + j]
                    floor = gains[index, gains.shape[1] - 1]
                    limit = (both - floor) / size
                    cost = changed_cost(ends, codes, a, out, into, prices, limit)
                    if cost >= limit:
                        continue
                    limit = (both - floor - cost * size) / b_size
                    other = changed_cost(ends, codes, b, into, out, prices, limit)
                    if other < limit:
                        gain = both - cost * size - other * b_size
                        _keep_best(gain, a, b, out, into, gains[index], steps[index])


@jit(f"(i8[::1], {_CLASSES}, i4[:, ::1], {_PRICES}, f8[::1], i8[:, ::1])")
def dissolutions(asking: Any, classes: Any, joins: Any, prices: Any, gains: Any, targets: Any) -> None:
    """What each asking class would save by letting each of its rows, one after the other, join where it costs least."""
    codes, members, starts, ends, costs = classes
    cells, _, _, how = prices
    columns, most = codes.shape[1], targets.shape[1]
    low, high = np.empty((most, columns), dtype=np.int64), np.empty((most, columns), dtype=np.int64)
    grown, sizes, now = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most)
    for index in range(asking.shape[0]):
        a = asking[index]
        left = costs[a] * (starts[a + 1] - starts[a])  # what joining may still add
        count = 0  # classes that rows of this one have joined
        for i in range(starts[a + 1] - starts[a]):
            row = members[starts[a] + i]
            best, best_class, best_cost = left, _NONE, 0.0
            for j in range(joins.shape[1]):
                b = np.int64(joins[row, j])
                if b < 0:
                    break
                if b == a or starts[b + 1] == starts[b]:
                    continue
                at = 0
                while at < count and grown[at] != b:
                    at += 1
                size = sizes[at] if at < count else starts[b + 1] - starts[b]
                before = now[at] * size if at < count else costs[b] * size
                cost = 0.0
                for c in range(columns):
                    code = np.int64(codes[row, c])
                    bottom = min(np.int64(low[at, c] if at < count else ends[b, c, 0]), code)
                    top = max(np.int64(high[at, c] if at < count else ends[b, c, 2]), code)
                    if how[c, 1] > 0:
                        cost += cells[how[c, 0] + bottom * how[c, 1] + top]
                    else:
                        cost += cell_cost(c, bottom, top, prices)
                if cost * (size + 1) - before < best:
                    best, best_class, best_cost = cost * (size + 1) - before, b, cost
            if best_class < 0:
                left = 0.0
                break
            left -= best
            targets[index, i] = best_class
            at = 0
            while at < count and grown[at] != best_class:
                at += 1
            if at == count:
                grown[at], sizes[at] = best_class, starts[best_class + 1] - starts[best_class]
                for c in range(columns):
                    low[at, c], high[at, c] = ends[best_class, c, 0], ends[best_class, c, 2]
                count += 1
            sizes[at] += 1
            now[at] = best_cost
            for c in range(columns):
                low[at, c], high[at, c] = min(low[at, c], codes[row, c]), max(high[at, c], codes[row, c])
        gains[index] = left


@helper
def _sort(values: Any, order: Any, other: Any) -> None:
    """Put the indices of some values in ascending order of them, equal ones as they come; ``other`` is for working."""
    size, width = values.shape[0], 1
    for i in range(size):
        order[i] = i
    while width < size:  # merge neighbouring runs of this width
        for begin in range(0, size, 2 * width):
            middle, end = min(begin + width, size), min(begin + 2 * width, size)
            left, right = begin, middle
            for at in range(begin, end):
                if left < middle and (right == end or values[order[left]] <= values[order[right]]):
                    other[at] = order[left]
                    left += 1
                else:
                    other[at] = order[right]
                    right += 1
        for i in range(size):
            order[i] = other[i]
        width *= 2


@jit(f"(i8[::1], {_CLASSES}, i8, {_PRICES}, f8[::1], i8[:, ::1])")
def splits(asking: Any, classes: Any, least: Any, prices: Any, gains: Any, cuts: Any) -> None:
    """The best cut of each asking class in two between codes of one column: what it saves, the column, the code."""
    codes, members, starts, _, costs = classes
    cells, _, _, how = prices
    columns = codes.shape[1]
    for index in range(asking.shape[0]):
        a = asking[index]
        begin, size = starts[a], starts[a + 1] - starts[a]
        now = costs[a] * size
        values, order, other = (np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64))
        below, above = np.empty(size), np.empty(size)
        low, high = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
        for column in range(columns):
            for i in range(size):
                values[i] = codes[members[begin + i], column]
            _sort(values, order, other)
            if values[order[0]] == values[order[size - 1]]:
                continue
            for side in range(2):
                for c in range(columns):
                    low[c], high[c] = _FAR, _NONE
                for step in range(size):
                    row = members[begin + order[step if side == 0 else size - 1 - step]]
                    cost = 0.0
                    for c in range(columns):
                        low[c] = min(low[c], codes[row, c])
                        high[c] = max(high[c], codes[row, c])
                        if how[c, 1] > 0:
                            cost += cells[how[c, 0] + low[c] * how[c, 1] + high[c]]
                        else:
                            cost += cell_cost(c, low[c], high[c], prices)
                    if side == 0:
                        below[step] = cost * (step + 1)
                    else:
                        above[size - 1 - step] = cost * (step + 1)
            for step in range(least, size - least + 1):
                if values[order[step - 1]] != values[order[step]]:
                    gain = now - below[step - 1] - above[step]
                    if gain > gains[index]:
                        gains[index] = gain
                        cuts[index, 0], cuts[index, 1] = column, values[order[step]]


@helper
def _gather(a: Any, first: Any, classes: Any, near: Any, least: Any, prices: Any, rows: Any, owners: Any) -> Any:
    """A new class around a row of ``a`` from rows that their classes can spare; what a record of it costs, or inf.

    Each further row is the one that raises the cost least, counted against what it costs where it is.
    """
    codes, members, starts, _, costs = classes
    cells, _, _, how = prices
    columns, width = codes.shape[1], near.shape[1]
    low, high = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
    for c in range(columns):
        low[c] = high[c] = codes[first, c]
    rows[0], owners[0] = first, a
    total = 0.0
    for count in range(1, least):
        best, best_row, best_owner = np.inf, _NONE, _NONE
        for neighbour in range(-1, width):
            b = a if neighbour < 0 else np.int64(near[a, neighbour])
            if b < 0:
                break
            spare = starts[b + 1] - starts[b] - least
            for member in range(count):
                if owners[member] == b:
                    spare -= 1
            if spare <= 0 or starts[b + 1] - starts[b] > 4 * least:
                continue
            for i in range(starts[b], starts[b + 1]):
                row = members[i]
                known = False
                for member in range(count):
                    known = known or rows[member] == row
                if known:
                    continue
                cost = -costs[b]
                for c in range(columns):
                    bottom, top = min(low[c], codes[row, c]), max(high[c], codes[row, c])
                    if how[c, 1] > 0:
                        cost += least * cells[how[c, 0] + bottom * how[c, 1] + top]
                    else:
                        cost += least * cell_cost(c, bottom, top, prices)
                    if cost >= best:
                        break
                if cost < best:
                    best, best_row, best_owner = cost, row, b
        if best_row < 0:
            return np.inf
        rows[count], owners[count] = best_row, best_owner
        for c in range(columns):
            low[c] = min(low[c], codes[best_row, c])
            high[c] = max(high[c], codes[best_row, c])
    for c in range(columns):
        total += cell_cost(c, low[c], high[c], prices)
    return total


@helper
def _cost_without(b: Any, rows: Any, codes: Any, members: Any, starts: Any, prices: Any) -> Any:
    """What the rows of class ``b`` cost together without some of them, and how many there are then."""
    columns = codes.shape[1]
    low, high = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
    for c in range(columns):
        low[c], high[c] = _FAR, _NONE
    count = 0
    for i in range(starts[b], starts[b + 1]):
        gone = False
        for j in range(rows.shape[0]):
            gone = gone or rows[j] == members[i]
        if gone:
            continue
        count += 1
        for c in range(columns):
            low[c] = min(low[c], codes[members[i], c])
            high[c] = max(high[c], codes[members[i], c])
    total = 0.0
    for c in range(columns):
        total += cell_cost(c, low[c], high[c], prices)
    return total * count


@jit(f"(i8[::1], {_CLASSES}, i4[:, ::1], i8, {_PRICES}, f8[::1], i8[:, ::1])")
def gatherings(asking: Any, classes: Any, near: Any, least: Any, prices: Any, gains: Any, gathered: Any) -> None:
    """The best new class that can be gathered around a row of each asking class: what it saves, and its rows.

    In a class of more than `_EACH` rows only those are tried that widen its box.
    """
    codes, members, starts, ends, costs = classes
    rows, owners = np.empty(least, dtype=np.int64), np.empty(least, dtype=np.int64)
    for index in range(asking.shape[0]):
        a = asking[index]
        many = starts[a + 1] - starts[a] > _EACH
        for i in range(starts[a], starts[a + 1]):
            if many and changed_cost(ends, codes, a, members[i], _NONE, prices, costs[a]) >= costs[a]:
                continue
            cost = _gather(a, members[i], classes, near, least, prices, rows, owners)
            if cost == np.inf:
                continue
            gain = -cost * least
            for j in range(least):
                b = owners[j]
                seen = False
                for earlier in range(j):
                    seen = seen or owners[earlier] == b
                if not seen:
                    gain += costs[b] * (starts[b + 1] - starts[b])
                    gain -= _cost_without(b, rows, codes, members, starts, prices)
            if gain > gains[index]:
                gains[index] = gain
                for j in range(least):
                    gathered[index, j] = rows[j]


@jit("(i8[::1], i8[::1], i8[::1], i8, b1[::1])")
def independent_steps(order: Any, bounds: Any, touched: Any, n_classes: Any, accepted: Any) -> None:
    """Of some steps, in order, those that touch no class that an earlier one touches."""
    used = np.zeros(n_classes, dtype=np.bool_)
    for index in range(order.shape[0]):
        step = order[index]
        free = True
        for i in range(bounds[step], bounds[step + 1]):
            free = free and not used[touched[i]]
        accepted[step] = free
        if free:
            for i in range(bounds[step], bounds[step + 1]):
                used[touched[i]] = True


@jit(f"(i4[:, ::1], i4[::1], Tuple((i4[:, :, ::1], i4[::1], i8[::1], f8[::1])), {_PRICES}, f8[::1], i8[::1])")
def cheapest_classes(codes: Any, block: Any, classes: Any, prices: Any, least: Any, chosen: Any) -> None:
    """For each of some records the class of its block that it would cost least to join, and what that adds.

    ``classes`` are their ends, blocks, sizes and costs.
    """
    cells, _, _, how = prices
    ends, class_block, sizes, costs = classes
    for i in range(codes.shape[0]):
        for a in range(sizes.shape[0]):
            if class_block[a] != block[i]:
                continue
            before, cost = costs[a] * sizes[a], 0.0
            limit = (least[i] + before) / (sizes[a] + 1)
            for c in range(codes.shape[1]):
                code = np.int64(codes[i, c])
                low, high = min(np.int64(ends[a, c, 0]), code), max(np.int64(ends[a, c, 2]), code)
                if how[c, 1] > 0:
                    cost += cells[how[c, 0] + low * how[c, 1] + high]
                else:
                    cost += cell_cost(c, low, high, prices)
                if cost >= limit:
                    break
            if cost < limit:
                least[i], chosen[i] = cost * (sizes[a] + 1) - before, a
