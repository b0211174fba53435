"""The kernels in plain NumPy: for short searches, where compiled code would take longer to load than it saves, for
machines without numba, and as the twin that the compiled ones are tested against. Same results, number for number.

Counts are summed as float64, which is exact up to 2^53 records.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def keys_of(codes: Any, items: Any, columns: Any, offsets: Any, strides: Any, maps: Any) -> Any:
    """Pack the generalized codes of some tuples into one number each; the caller has checked that it fits 63 bits."""
    keys = np.zeros(len(items), dtype=np.int64)
    for column, offset, stride in zip(columns, offsets, strides, strict=True):
        keys += maps[offset + codes[column][items]].astype(np.int64) * stride
    return keys


def group_dense(keys: Any, items: Any, weights: Any, table: Any) -> Any:
    """Group equal keys with a lookup table as long as the key space; groups are numbered by first appearance."""
    indices = np.arange(len(keys), dtype=np.int32)
    table[keys[::-1]] = indices[::-1]  # of equal keys the last one written, so the first one there, stays
    first = table[keys]
    table[keys] = -1
    return _numbered(first, first == indices, items, weights)


def group_hashed(keys: Any, items: Any, weights: Any, slots: Any) -> Any:  # noqa: ARG001 - same face as the compiled one
    """Group equal keys by sorting them; groups are numbered by first appearance."""
    _, indices, inverse = np.unique(keys, return_index=True, return_inverse=True)
    first = indices[inverse]
    return _numbered(first, first == np.arange(len(keys)), items, weights)


def _numbered(first: Any, is_first: Any, items: Any, weights: Any) -> Any:
    """Groups from the index of each key's first appearance."""
    number = np.cumsum(is_first, dtype=np.int32) - 1
    ids = number[first].astype(np.int32)
    sizes = np.bincount(ids, weights=weights, minlength=int(is_first.sum())).astype(np.int64)
    return ids, items[is_first].astype(np.int32), sizes


def histogram(tuple_class: Any, pair_tuple: Any, pair_value: Any, pair_count: Any, n_classes: Any) -> Any:
    """Sparse counts of a sensitive column by class, from (tuple, value, count) pairs."""
    owner = tuple_class[pair_tuple].astype(np.int64)
    width = int(pair_value.max()) + 1 if len(pair_value) else 1
    keys, inverse = np.unique(owner * width + pair_value, return_inverse=True)
    counts = np.bincount(inverse, weights=pair_count, minlength=len(keys)).astype(np.int64)
    starts = np.searchsorted(keys, np.arange(n_classes + 1, dtype=np.int64) * width)
    return starts.astype(np.int64), (keys % width).astype(np.int32), counts


def willing_groups(
    first: Any, codes: Any, counts: Any, items: Any, others: Any, limits: Any, nodes: Any, floors: Any, offsets: Any,
    radices: Any, maps: Any, costs: Any, least: Any, epoch: Any, slot_epoch: Any, slot_group: Any, group_key: Any,
    chosen: Any, ids: Any, sizes: Any,
) -> Any:  # fmt: skip
    """From lattice node ``first`` on, the next node at which enough tuples share a box that one is willing to pay."""
    del slot_epoch, slot_group, group_key  # the compiled kernel's scratch
    for index in range(first, len(nodes)):
        levels = list(enumerate(nodes[index]))

        def cost(tuples: Any, levels: Any = levels) -> Any:
            return sum(costs[offsets[c, level] + codes[c][tuples]] for c, level in levels)

        def key(tuples: Any, levels: Any = levels) -> Any:
            keys = np.zeros(len(tuples), dtype=np.int64)
            for c, level in levels:
                keys = keys * radices[c, level] + maps[offsets[c, level] + codes[c][tuples]]
            return keys

        willing = items[(limits[items] >= floors[index]) & (cost(items) <= limits[items])]
        unwilling = others[(limits[others] < floors[index]) | (cost(others) > limits[others])]
        beside = unwilling[np.isin(key(unwilling), key(willing))]
        members = np.concatenate([willing, beside])
        if not len(willing):
            continue
        grouped, _, records = group_hashed(key(members), members, counts[members], None)
        if records.max() >= least:
            chosen[: len(members)], ids[: len(members)], sizes[: len(records)] = members, grouped, records
            return index, len(members), len(records), epoch
    return len(nodes), 0, 0, epoch


def best_joins(
    codes: Any, items: Any, budgets: Any, owner: Any, weights: Any, box_nodes: Any, box_costs: Any,
    box_sizes: Any, tree_offsets: Any, first: Any, last: Any, parents: Any, node_costs: Any,
) -> Any:  # fmt: skip
    """For each item the class that it costs least to join, and what that adds; -1 where nothing is below its budget."""
    best_class = np.full(len(items), -1, dtype=np.int32)
    best_added = budgets.copy()
    for i, item in enumerate(items):
        cost = np.zeros(len(box_sizes))
        for c, tree in enumerate(tree_offsets):
            node = box_nodes[:, c] + tree
            leaf = codes[c, item]
            while (short := np.flatnonzero((leaf < first[node]) | (leaf > last[node]))).size:
                node[short] = parents[node[short]] + tree
            cost += node_costs[node]
        added = cost * (box_sizes + weights[item]) - box_costs * box_sizes
        added[(box_sizes == 0) | (np.arange(len(box_sizes)) == owner[item])] = np.inf
        best = int(np.argmax(added <= added.min() + 1e-12)) if len(added) else -1  # of equals the first
        if best >= 0 and added[best] < best_added[i] - 1e-12:
            best_class[i], best_added[i] = best, added[best]
    return best_class, best_added


def count_rows(rows: Any, weights: Any, start: Any, keys: Any, counts: Any, used: Any, slots: Any) -> Any:  # noqa: ARG001
    """Count rows of codes among the keys so far, by sorting; counts none of them where new keys find no room."""
    joined = np.concatenate([keys[:used], rows[start:]])
    order = np.lexsort(joined.T[::-1]) if joined.shape[1] else np.arange(len(joined))
    ranked = joined[order]
    new = np.ones(len(joined), dtype=np.bool_)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    group = np.empty(len(joined), dtype=np.int64)
    group[order] = np.cumsum(new) - 1
    first = np.full(int(new.sum()), len(joined), dtype=np.int64)
    np.minimum.at(first, group, np.arange(len(joined)))
    if len(first) > len(keys):
        return start, used
    appearing = np.argsort(first, kind="stable")
    number = np.empty(len(first), dtype=np.int64)
    number[appearing] = np.arange(len(first))
    keys[used : len(first)] = joined[first[appearing[used:]]]
    counts[used : len(first)] = 0
    found = np.bincount(number[group[used:]], weights=weights[start:], minlength=len(first))
    counts[: len(first)] += found.astype(np.int64)
    return len(rows), len(first)


def place_rows(keys: Any, used: Any, slots: Any) -> None:
    """Nothing: the twin sorts and needs no slots."""
