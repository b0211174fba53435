"""The compiled kernels of grouping, counting and covering; see `kernels.jit` for how they are compiled."""

from typing import Any

import numpy as np

from shoal.search.kernels.jit import helper, jit

_LEVELS = "Tuple((i8[:, ::1], i8[:, ::1], i4[::1], f8[::1], b1))"
_SCRATCH = "Tuple((i8[::1], i4[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[::1]))"


@jit("(i4[:, ::1], i4[::1], i8[::1], i8[::1], i8[::1], i4[::1])")
def keys_of(codes: Any, items: Any, columns: Any, offsets: Any, strides: Any, maps: Any) -> Any:
    """Pack the generalized codes of some tuples into one number each; the caller has checked that it fits 63 bits."""
    keys = np.zeros(items.shape[0], dtype=np.int64)
    for c in range(columns.shape[0]):
        row, offset, stride = codes[columns[c]], offsets[c], strides[c]
        for i in range(items.shape[0]):
            keys[i] += maps[offset + row[items[i]]] * stride
    return keys


@jit("(i8[::1], i4[::1], i8[::1], i4[::1])")
def group_dense(keys: Any, items: Any, weights: Any, table: Any) -> Any:
    """Group equal keys with a lookup table (all -1 on entry and on return) as long as the key space."""
    n = keys.shape[0]
    ids = np.empty(n, dtype=np.int32)
    representatives = np.empty(n, dtype=np.int32)
    sizes = np.zeros(n, dtype=np.int64)
    count = 0
    for i in range(n):
        group = table[keys[i]]
        if group < 0:
            group = count
            table[keys[i]] = group
            representatives[group] = items[i]
            count += 1
        ids[i] = group
        sizes[group] += weights[i]
    for i in range(n):
        table[keys[i]] = -1
    return ids, representatives[:count].copy(), sizes[:count].copy()


@jit("(i8[::1], i4[::1], i8[::1], i4[::1])")
def group_hashed(keys: Any, items: Any, weights: Any, slots: Any) -> Any:
    """Group equal keys by open addressing in ``slots`` (a power of two, at least twice the keys; all -1 on entry)."""
    n = keys.shape[0]
    mask = slots.shape[0] - 1
    ids = np.empty(n, dtype=np.int32)
    representatives = np.empty(n, dtype=np.int32)
    sizes = np.zeros(n, dtype=np.int64)
    group_keys = np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        key = keys[i]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        index = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(mask))
        group = slots[index]
        while group >= 0 and group_keys[group] != key:
            index = (index + 1) & mask
            group = slots[index]
        if group < 0:
            group = count
            slots[index] = group
            group_keys[group] = key
            representatives[group] = items[i]
            count += 1
        ids[i] = group
        sizes[group] += weights[i]
    return ids, representatives[:count].copy(), sizes[:count].copy()


@jit("(i4[::1], i4[::1], i4[::1], i8[::1], i8)")
def histogram(tuple_class: Any, pair_tuple: Any, pair_value: Any, pair_count: Any, n_classes: Any) -> Any:
    """Sparse counts of a sensitive column by class, from (tuple, value, count) pairs that ascend by value."""
    n = pair_tuple.shape[0]
    bounds = np.zeros(n_classes + 1, dtype=np.int64)
    for i in range(n):
        bounds[tuple_class[pair_tuple[i]] + 1] += 1
    for c in range(n_classes):
        bounds[c + 1] += bounds[c]
    values = np.empty(n, dtype=np.int32)
    counts = np.empty(n, dtype=np.int64)
    ends = bounds[:-1].copy()  # where the next entry of each class goes
    for i in range(n):
        owner = tuple_class[pair_tuple[i]]
        end = ends[owner]
        if end > bounds[owner] and values[end - 1] == pair_value[i]:
            counts[end - 1] += pair_count[i]
        else:
            values[end] = pair_value[i]
            counts[end] = pair_count[i]
            ends[owner] = end + 1
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    written = 0
    for c in range(n_classes):  # close the gaps that merged entries left
        for entry in range(bounds[c], ends[c]):
            values[written] = values[entry]
            counts[written] = counts[entry]
            written += 1
        starts[c + 1] = written
    return starts, values[:written].copy(), counts[:written].copy()


@jit("(i4[::1], i4[::1], i8[::1], i8)")
def class_people(classes: Any, items: Any, starts: Any, n_classes: Any) -> Any:
    """How many people each class has. Person ``p`` has the items from ``starts[p]`` on; an item may be in no class."""
    counts = np.zeros(n_classes, dtype=np.int64)
    last = np.full(n_classes, -1, dtype=np.int32)  # who was counted last in each class
    for person in range(starts.shape[0] - 1):
        for i in range(starts[person], starts[person + 1]):
            owner = classes[items[i]]
            if owner >= 0 and last[owner] != person:
                last[owner] = person
                counts[owner] += 1
    return counts


@jit("(i4[::1], i4[::1], i4[::1], i8[::1], i8, b1[::1], i8)")
def people_histogram(
    classes: Any, items: Any, values: Any, starts: Any, n_classes: Any, known: Any, units: Any
) -> Any:  # fmt: skip
    """How many people of each class have each value, and what they weigh there: ``units`` each, over all they have.

    Values that are not ``known`` share a weight apart; rows with the value -1 count nowhere. The rows are put class by
    class, people in order, so that one class after the other is counted in a short table.
    """
    width = known.shape[0]
    bounds = np.zeros(n_classes + 1, dtype=np.int64)
    for i in range(items.shape[0]):
        owner = classes[items[i]]
        if owner >= 0 and values[i] >= 0:
            bounds[owner + 1] += 1
    for c in range(n_classes):
        bounds[c + 1] += bounds[c]
    who, what = np.empty(bounds[-1], dtype=np.int32), np.empty(bounds[-1], dtype=np.int32)
    ends = bounds[:-1].copy()
    for person in range(starts.shape[0] - 1):
        for i in range(starts[person], starts[person + 1]):
            owner = classes[items[i]]
            if owner >= 0 and values[i] >= 0:
                who[ends[owner]], what[ends[owner]] = person, values[i]
                ends[owner] += 1
    room = min(bounds[-1], n_classes * width)
    found, counts, weights = np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int64)
    people, weighs = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    last = np.full(width, -1, dtype=np.int64)  # the group of rows, of one person in one class, that had a value last
    held, present = np.empty(width, dtype=np.int32), np.empty(width, dtype=np.int32)
    entries = np.zeros(n_classes + 1, dtype=np.int64)
    written = 0
    for c in range(n_classes):
        row, different = bounds[c], 0
        while row < bounds[c + 1]:
            first, n, n_known = row, 0, 0
            while row < bounds[c + 1] and who[row] == who[first]:
                value = what[row]
                if last[value] != first:
                    last[value] = first
                    held[n] = value
                    n += 1
                    n_known += known[value]
                row += 1
            if units % max(n_known, 1) or units % max(n - n_known, 1):  # one unit each for the first values
                held[:n].sort()
            before = 0  # known values so far
            for place in range(n):
                value = held[place]
                of, rank = (n_known, before) if known[value] else (n - n_known, place - before)
                before += known[value]
                if people[value] == 0:
                    present[different] = value
                    different += 1
                people[value] += 1
                weighs[value] += units // of + (rank < units % of)
        present[:different].sort()
        for place in range(different):
            value = present[place]
            found[written], counts[written], weights[written] = value, people[value], weighs[value]
            people[value], weighs[value] = 0, 0
            written += 1
        entries[c + 1] = written
    return entries, found[:written].copy(), counts[:written].copy(), weights[:written].copy()


@helper
def _box_cost(codes: Any, item: Any, node: Any, offsets: Any, costs: Any, limit: Any) -> Any:
    """What the box of a tuple at a node costs; may stop at the first sum beyond the limit."""
    cost = 0.0
    for c in range(codes.shape[0]):
        cost += costs[offsets[c, node[c]] + codes[c, item]]
        if cost > limit:
            break
    return cost


@helper
def _box_key(codes: Any, item: Any, node: Any, levels: Any) -> Any:
    """The box of a tuple at a node as one number: where boxes do not fit 62 bits, others may share it."""
    offsets, radices, maps, _, fits = levels
    key = np.int64(0)
    for c in range(codes.shape[0]):
        own = maps[offsets[c, node[c]] + codes[c, item]]
        if fits:
            key = key * radices[c, node[c]] + own
        else:
            mixed = (np.uint64(key) ^ np.uint64(own)) * np.uint64(0x9E3779B97F4A7C15)
            key = np.int64(mixed ^ (mixed >> np.uint64(32)))
    return key


@helper
def _same_box(codes: Any, item: Any, other: Any, node: Any, levels: Any) -> Any:
    """Whether two tuples have the same box at a node."""
    offsets, _, maps, _, _ = levels
    for c in range(codes.shape[0]):
        offset = offsets[c, node[c]]
        if maps[offset + codes[c, item]] != maps[offset + codes[c, other]]:
            return False
    return True


@helper
def _slot_of(codes: Any, item: Any, node: Any, levels: Any, epoch: Any, table: Any) -> Any:
    """Where the box of a tuple stands, or could stand, in an open-addressing table; slots of an old epoch are empty.

    ``table`` are the epochs and groups of the slots, and the key and one tuple of each group. Where boxes may share a
    key, the boxes themselves are compared.
    """
    slot_epoch, slot_group, group_key, group_item = table
    key = _box_key(codes, item, node, levels)
    mask = slot_group.shape[0] - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(mask))
    while slot_epoch[slot] == epoch:
        group = slot_group[slot]
        if group_key[group] == key and (levels[4] or _same_box(codes, item, group_item[group], node, levels)):
            break
        slot = (slot + 1) & mask
    return slot, key


@jit(f"(i8, i4[:, ::1], i8[::1], i8[::1], i8[::1], f8[::1], i4[:, ::1], f8[::1], {_LEVELS}, i8, i8, {_SCRATCH})")
def willing_groups(
    first: Any, codes: Any, counts: Any, items: Any, others: Any, limits: Any, nodes: Any, floors: Any, levels: Any,
    least: Any, epoch: Any, scratch: Any,
) -> Any:  # fmt: skip
    """From lattice node ``first`` on, the next node at which enough tuples share a box that one is willing to pay.

    A tuple of ``items`` is willing when its box costs no more than its limit. ``others``, which may be none, are
    counted in the boxes of willing tuples too. ``floors`` is the least that a box costs at each node. Returns the
    node's index (or the number of nodes when there is none), how many tuples are in the boxes, how many boxes there
    are, and the epoch reached; tuples, their boxes and the boxes' records are left in the last arrays of ``scratch``.
    """
    offsets, radices, maps, costs, _ = levels
    slot_epoch, slot_group, group_key, group_item, chosen, ids, sizes = scratch
    table = slot_epoch, slot_group, group_key, group_item
    most = np.int64(1)
    for c in range(radices.shape[0]):
        for level in range(radices.shape[1]):
            most = max(most, radices[c, level])
    marked = np.zeros(most, dtype=np.int64)
    for index in range(first, nodes.shape[0]):
        epoch += 1
        node, floor, found, groups, enough = nodes[index], floors[index], 0, 0, False
        telling = 0  # the column that tells most boxes apart
        for c in range(1, codes.shape[0]):
            if radices[c, node[c]] > radices[telling, node[telling]]:
                telling = c
        telling_offset = offsets[telling, node[telling]]
        for i in range(items.shape[0]):
            item = items[i]
            limit = limits[item]
            if limit < floor or _box_cost(codes, item, node, offsets, costs, limit) > limit:
                continue
            slot, key = _slot_of(codes, item, node, levels, epoch, table)
            if slot_epoch[slot] != epoch:
                slot_epoch[slot], slot_group[slot] = epoch, groups
                group_key[groups], group_item[groups], sizes[groups] = key, item, 0
                groups += 1
                marked[maps[telling_offset + codes[telling, item]]] = epoch
            group = slot_group[slot]
            chosen[found], ids[found] = item, group
            found += 1
            sizes[group] += counts[item]
            enough = enough or sizes[group] >= least
        for i in range(others.shape[0] if groups else 0):
            item = others[i]
            limit = limits[item]
            if marked[maps[telling_offset + codes[telling, item]]] != epoch:
                continue
            if limit >= floor and _box_cost(codes, item, node, offsets, costs, limit) <= limit:
                continue  # counted above
            slot, _ = _slot_of(codes, item, node, levels, epoch, table)
            if slot_epoch[slot] == epoch:
                group = slot_group[slot]
                chosen[found], ids[found] = item, group
                found += 1
                sizes[group] += counts[item]
                enough = enough or sizes[group] >= least
        if enough:
            return index, found, groups, epoch
    return nodes.shape[0], 0, 0, epoch


@jit(f"(i4[:, ::1], i8[::1], i8[::1], f8[::1], i4[:, ::1], f8[::1], f8[::1], {_LEVELS}, i8, {_SCRATCH})")
def least_boxes(
    codes: Any, counts: Any, items: Any, bounds: Any, nodes: Any, floors: Any, cheapest: Any, levels: Any, least: Any,
    scratch: Any,
) -> None:  # fmt: skip
    """Lower the bounds of some tuples to the cost of the cheapest box that has enough records of them.

    ``cheapest`` is the least that a box costs at each node or at any later one: a tuple whose bound is lower is done.
    """
    offsets, _, _, costs, _ = levels
    _, _, _, _, chosen, ids, sizes = scratch
    asking = np.empty(items.shape[0], dtype=np.int64)
    index, epoch = np.int64(0), np.int64(0)  # typed: with plain zeros the kernel would be compiled once more
    while index < nodes.shape[0]:
        asked = 0
        for i in range(items.shape[0]):
            if bounds[items[i]] >= cheapest[index]:
                asking[asked] = items[i]
                asked += 1
        index, found, _, epoch = willing_groups(
            index, codes, counts, asking[:asked], items, bounds, nodes, floors, levels, least, epoch, scratch
        )
        for i in range(found):
            if sizes[ids[i]] >= least:
                item = chosen[i]
                bounds[item] = min(bounds[item], _box_cost(codes, item, nodes[index], offsets, costs, np.inf))
        index += 1


@helper
def _slot_of_row(rows: Any, at: Any, keys: Any, slots: Any) -> Any:
    """Where a row of codes stands, or could stand, in an open-addressing table of the keys counted so far."""
    mask = np.uint64(slots.shape[0] - 1)
    mixed = np.uint64(0)
    for c in range(rows.shape[1]):
        mixed = (mixed ^ np.uint64(rows[at, c])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    slot = np.int64(mixed & mask)
    while slots[slot] >= 0:
        key = slots[slot]
        c = 0
        while c < rows.shape[1] and keys[key, c] == rows[at, c]:
            c += 1
        if c == rows.shape[1]:
            break
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    return slot


@jit("(i4[:, ::1], i8[::1], i8, i4[:, ::1], i8[::1], i8, i4[::1], i4[::1])")
def count_rows(rows: Any, weights: Any, start: Any, keys: Any, counts: Any, used: Any, slots: Any, ids: Any) -> Any:
    """Count rows of codes from ``start`` on among the keys so far; ends early where a new key finds no room.

    ``slots`` is a power of two, at least twice as long as ``keys``. Returns where it ended and how many keys there are;
    the key of each row is left in ``ids``.
    """
    for i in range(start, rows.shape[0]):
        slot = _slot_of_row(rows, i, keys, slots)
        key = slots[slot]
        if key < 0:
            if used == keys.shape[0]:
                return i, used
            key = used
            slots[slot] = key
            for c in range(rows.shape[1]):
                keys[key, c] = rows[i, c]
            counts[key] = 0
            used += 1
        counts[key] += weights[i]
        ids[i] = key
    return rows.shape[0], used


@jit("(i4[:, ::1], i8, i4[::1])")
def fill_slots(keys: Any, used: Any, slots: Any) -> None:
    """Put the keys so far into a new table of slots, all -1 on entry."""
    for i in range(used):
        slots[_slot_of_row(keys, i, keys, slots)] = i


@helper
def _slot_of_text(data: Any, begin: Any, length: Any, store: Any, ends: Any, slots: Any) -> Any:
    """Where a text stands, or could stand, in an open-addressing table of the texts numbered so far."""
    mask = np.uint64(slots.shape[0] - 1)
    mixed = np.uint64(0xCBF29CE484222325)
    for i in range(begin, begin + length):
        mixed = (mixed ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & mask)
    while slots[slot] >= 0:
        text = slots[slot]
        if ends[text + 1] - ends[text] == length:
            i = 0
            while i < length and store[ends[text] + i] == data[begin + i]:
                i += 1
            if i == length:
                break
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    return slot


@jit("(u1[::1], i4[::1], i8, u1[::1], i8[::1], i8, i4[::1], i4[::1])")
def number_texts(
    data: Any, offsets: Any, start: Any, store: Any, ends: Any, used: Any, slots: Any, codes: Any
) -> Any:  # fmt: skip
    """Number texts from ``start`` on by first appearance; ends early where a new one finds no room.

    ``slots`` is a power of two, at least twice as long as there is room for texts. Returns where it ended and how many
    texts there are.
    """
    for i in range(start, codes.shape[0]):
        begin, length = offsets[i], offsets[i + 1] - offsets[i]
        slot = _slot_of_text(data, begin, length, store, ends, slots)
        text = slots[slot]
        if text < 0:
            if used == ends.shape[0] - 1 or ends[used] + length > store.shape[0]:
                return i, used
            text = used
            slots[slot] = text
            for b in range(length):
                store[ends[text] + b] = data[begin + b]
            ends[text + 1] = ends[text] + length
            used += 1
        codes[i] = text
    return codes.shape[0], used


@jit("(u1[::1], i8[::1], i8, i4[::1])")
def fill_text_slots(store: Any, ends: Any, used: Any, slots: Any) -> None:
    """Put the texts so far into a new table of slots, all -1 on entry."""
    for i in range(used):
        slots[_slot_of_text(store, ends[i], ends[i + 1] - ends[i], store, ends, slots)] = i
