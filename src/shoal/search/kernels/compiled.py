"""The compiled kernels, and the only file that knows numba.

Compiled code is cached per user. Where the folder of this file cannot be written and no home is writable, numba
would fail at import: `_use_cache` finds a private folder first, and without one the kernels compile in memory.
Serial and ``nogil``: independent nodes run on threads, and ``parallel=True`` costs seconds of compiling.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numba
import numpy as np

from shoal.search.kernels import cache_folder


def _use_cache() -> bool:
    """Whether compiled code can be kept; points numba at a private folder when none is configured."""
    folder = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else cache_folder()
    if folder is None:
        return False
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            numba.config.CACHE_DIR = str(folder)
            return True
    except OSError:
        return False


jit = numba.njit(cache=_use_cache(), nogil=True, boundscheck=False)


@jit
def keys_of(codes: Any, items: Any, columns: Any, offsets: Any, strides: Any, maps: Any) -> Any:
    """Pack the generalized codes of some tuples into one number each; the caller has checked that it fits 63 bits."""
    keys = np.zeros(items.shape[0], dtype=np.int64)
    for c in range(columns.shape[0]):
        row, offset, stride = codes[columns[c]], offsets[c], strides[c]
        for i in range(items.shape[0]):
            keys[i] += maps[offset + row[items[i]]] * stride
    return keys


@jit
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


@jit
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


@jit
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


@jit
def _box_cost(codes: Any, item: Any, node: Any, offsets: Any, costs: Any, limit: Any) -> Any:
    """What the box of a tuple at a node costs; may stop at the first sum beyond the limit."""
    cost = 0.0
    for c in range(codes.shape[0]):
        cost += costs[offsets[c, node[c]] + codes[c, item]]
        if cost > limit:
            break
    return cost


@jit
def _box_key(codes: Any, item: Any, node: Any, offsets: Any, radices: Any, maps: Any) -> Any:
    """The box of a tuple at a node as one number; the caller has checked that it fits 62 bits."""
    key = 0
    for c in range(codes.shape[0]):
        key = key * radices[c, node[c]] + maps[offsets[c, node[c]] + codes[c, item]]
    return key


@jit
def _slot_of(key: Any, epoch: Any, slot_epoch: Any, slot_group: Any, group_key: Any) -> Any:
    """Where a key stands, or could stand, in an open-addressing table; slots of an old epoch are empty."""
    mask = slot_group.shape[0] - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(mask))
    while slot_epoch[slot] == epoch and group_key[slot_group[slot]] != key:
        slot = (slot + 1) & mask
    return slot


@jit
def _group_at(
    node: Any, floor: Any, codes: Any, counts: Any, items: Any, others: Any, limits: Any, offsets: Any, radices: Any,
    maps: Any, costs: Any, least: Any, epoch: Any, marked: Any, slot_epoch: Any, slot_group: Any, group_key: Any,
    chosen: Any, ids: Any, sizes: Any,
) -> Any:  # fmt: skip
    """The boxes of a node that some tuple is willing to pay: how many tuples, how many boxes, and whether one suffices.

    A tuple of ``items`` is willing when its box costs no more than its limit. ``others``, which may be none, are
    counted in the boxes of willing tuples too. ``floor`` is the least that a box of the node costs. Tuples, their boxes
    and the boxes' records are left in ``chosen``, ``ids`` and ``sizes``.
    """
    telling = 0  # the column that tells most boxes apart
    for c in range(1, codes.shape[0]):
        if radices[c, node[c]] > radices[telling, node[telling]]:
            telling = c
    telling_offset = offsets[telling, node[telling]]
    found = 0
    groups = 0
    enough = False
    for i in range(items.shape[0]):
        item = items[i]
        limit = limits[item]
        if limit < floor or _box_cost(codes, item, node, offsets, costs, limit) > limit:
            continue
        key = _box_key(codes, item, node, offsets, radices, maps)
        slot = _slot_of(key, epoch, slot_epoch, slot_group, group_key)
        if slot_epoch[slot] != epoch:
            slot_epoch[slot] = epoch
            slot_group[slot] = groups
            group_key[groups] = key
            sizes[groups] = 0
            groups += 1
            marked[maps[telling_offset + codes[telling, item]]] = epoch
        group = slot_group[slot]
        chosen[found] = item
        ids[found] = group
        found += 1
        sizes[group] += counts[item]
        enough = enough or sizes[group] >= least
    if groups == 0:
        return found, groups, enough
    for i in range(others.shape[0]):
        item = others[i]
        if marked[maps[telling_offset + codes[telling, item]]] != epoch:
            continue
        if limits[item] >= floor and _box_cost(codes, item, node, offsets, costs, limits[item]) <= limits[item]:
            continue  # counted above
        key = _box_key(codes, item, node, offsets, radices, maps)
        slot = _slot_of(key, epoch, slot_epoch, slot_group, group_key)
        if slot_epoch[slot] == epoch:
            group = slot_group[slot]
            chosen[found] = item
            ids[found] = group
            found += 1
            sizes[group] += counts[item]
            enough = enough or sizes[group] >= least
    return found, groups, enough


@jit
def willing_groups(
    first: Any, codes: Any, counts: Any, items: Any, others: Any, limits: Any, nodes: Any, floors: Any, offsets: Any,
    radices: Any, maps: Any, costs: Any, least: Any, epoch: Any, slot_epoch: Any, slot_group: Any, group_key: Any,
    chosen: Any, ids: Any, sizes: Any,
) -> Any:  # fmt: skip
    """From lattice node ``first`` on, the next node at which enough tuples share a box that one is willing to pay.

    ``floors`` is the least that a box costs at each node. Returns the node's index (or the number of nodes when there
    is none), how many tuples are in the boxes, how many boxes there are, and the epoch reached.
    """
    marked = np.zeros(radices.max(), dtype=np.int64)
    for index in range(first, nodes.shape[0]):
        epoch += 1
        found, groups, enough = _group_at(
            nodes[index], floors[index], codes, counts, items, others, limits, offsets, radices, maps, costs, least,
            epoch, marked, slot_epoch, slot_group, group_key, chosen, ids, sizes,
        )  # fmt: skip
        if enough:
            return index, found, groups, epoch
    return nodes.shape[0], 0, 0, epoch


@jit
def least_boxes(
    codes: Any, counts: Any, items: Any, bounds: Any, nodes: Any, floors: Any, cheapest: Any, offsets: Any,
    radices: Any, maps: Any, costs: Any, least: Any,
) -> None:  # fmt: skip
    """Lower the bounds of some tuples to the cost of the cheapest box that has enough records of them.

    ``cheapest`` is the least that a box costs at each node or at any later one: a tuple whose bound is lower is done.
    """
    n = codes.shape[1]
    slots = 16
    while slots < 2 * n:
        slots *= 2
    slot_epoch, slot_group = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int32)
    group_key, chosen = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    ids, sizes = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    marked = np.zeros(radices.max(), dtype=np.int64)
    asking = items.copy()
    left = asking.shape[0]
    for index in range(nodes.shape[0]):
        if index % 64 == 0:
            kept = 0
            for i in range(left):
                if bounds[asking[i]] >= cheapest[index]:
                    asking[kept] = asking[i]
                    kept += 1
            left = kept
        found, _, enough = _group_at(
            nodes[index], floors[index], codes, counts, asking[:left], items, bounds, offsets, radices, maps, costs,
            least, index + 1, marked, slot_epoch, slot_group, group_key, chosen, ids, sizes,
        )  # fmt: skip
        if enough:
            for i in range(found):
                if sizes[ids[i]] >= least:
                    item = chosen[i]
                    cost = _box_cost(codes, item, nodes[index], offsets, costs, np.inf)
                    bounds[item] = min(bounds[item], cost)


@jit
def best_joins(
    codes: Any, items: Any, budgets: Any, owner: Any, weights: Any, box_nodes: Any, box_costs: Any,
    box_sizes: Any, tree_offsets: Any, first: Any, last: Any, parents: Any, node_costs: Any,
) -> Any:  # fmt: skip
    """For each item the class that it costs least to join, and what that adds; -1 where nothing is below its budget.

    The trees of all columns stand one after the other in ``first``, ``last``, ``parents`` and ``node_costs``. An item
    never joins its own class; a class of size 0 is gone.
    """
    columns = codes.shape[0]
    best_class = np.full(items.shape[0], -1, dtype=np.int32)
    best_added = budgets.copy()
    for i in range(items.shape[0]):
        item = items[i]
        weight = weights[item]
        for box in range(box_sizes.shape[0]):
            size = box_sizes[box]
            if size == 0 or box == owner[item]:
                continue
            before = box_costs[box] * size
            limit = (best_added[i] + before) / (size + weight)
            cost = 0.0
            for c in range(columns):
                tree = tree_offsets[c]
                leaf = codes[c, item]
                node = box_nodes[box, c]
                while leaf < first[tree + node] or leaf > last[tree + node]:
                    node = parents[tree + node]
                cost += node_costs[tree + node]
                if cost >= limit:
                    break
            added = cost * (size + weight) - before
            if cost < limit and added < best_added[i] - 1e-12:  # of equals the first, however sums are rounded
                best_added[i] = added
                best_class[i] = box
    return best_class, best_added


@jit
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


@jit
def count_rows(rows: Any, weights: Any, start: Any, keys: Any, counts: Any, used: Any, slots: Any) -> Any:
    """Count rows of codes from ``start`` on among the keys so far; ends early where a new key finds no room.

    ``slots`` is a power of two, at least twice as long as ``keys``. Returns where it ended and how many keys there are.
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
    return rows.shape[0], used


@jit
def place_rows(keys: Any, used: Any, slots: Any) -> None:
    """Put the keys so far into a new table of slots, all -1 on entry."""
    for i in range(used):
        slots[_slot_of_row(keys, i, keys, slots)] = i
