"""The kernels in plain NumPy: for short searches, where compiled code would take longer to load than it saves, for
machines without numba, and as the twin that the compiled ones are tested against. Same results, number for number.

Counts are summed as float64, which is exact up to 2^53 records.
"""

from typing import Any

import numpy as np

from shoal.table import people
from shoal.table.classes import Histogram
from shoal.table.encoded import combine_codes


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
    found = Histogram.of(owner, pair_value, n_classes, width, pair_count)
    return found.starts, found.values, found.counts


def class_people(classes: Any, items: Any, starts: Any, n_classes: Any) -> Any:
    """How many people each class has. Person ``p`` has the items from ``starts[p]`` on; an item may be in no class."""
    owner, person, kept = _owners(classes, items, starts)
    return people.class_people(owner[kept], person[kept], n_classes)


def people_histogram(
    classes: Any, items: Any, values: Any, starts: Any, n_classes: Any, known: Any, units: Any
) -> Any:  # fmt: skip
    """How many people of each class have each value, and what they weigh there: ``units`` each, over all they have."""
    owner, person, kept = _owners(classes, items, starts)
    kept &= values >= 0
    found = people.people_histogram(owner[kept], person[kept], values[kept], n_classes, known, units)
    return found.starts, found.values, found.counts, found.weights


def _owners(classes: Any, items: Any, starts: Any) -> Any:
    """The class and the person of each item, and which items are in a class."""
    owner = classes[items].astype(np.int64)
    return owner, np.repeat(np.arange(len(starts) - 1), np.diff(starts)), owner >= 0


def willing_groups(
    first: Any, codes: Any, counts: Any, items: Any, others: Any, limits: Any, nodes: Any, floors: Any, levels: Any,
    least: Any, epoch: Any, scratch: Any,
) -> Any:  # fmt: skip
    """From lattice node ``first`` on, the next node at which enough tuples share a box that one is willing to pay."""
    offsets, radices, maps, costs, _ = levels
    *_, chosen, ids, sizes = scratch
    for index in range(first, len(nodes)):
        levels = list(enumerate(nodes[index]))

        def cost(tuples: Any, levels: Any = levels) -> Any:
            return sum(costs[offsets[c, level] + codes[c][tuples]] for c, level in levels)

        willing = items[(limits[items] >= floors[index]) & (cost(items) <= limits[items])]
        unwilling = others[(limits[others] < floors[index]) | (cost(others) > limits[others])]
        both = np.concatenate([willing, unwilling])
        columns = [maps[offsets[c, level] + codes[c][both]] for c, level in levels]
        keys, _ = combine_codes(columns, [int(radices[c, level]) for c, level in levels])
        inside = np.isin(keys, keys[: len(willing)])
        members = both[inside]
        if not len(willing):
            continue
        grouped, _, records = group_hashed(keys[inside], members, counts[members], None)
        if records.max() >= least:
            chosen[: len(members)], ids[: len(members)], sizes[: len(records)] = members, grouped, records
            return index, len(members), len(records), epoch
    return len(nodes), 0, 0, epoch


def count_rows(
    rows: Any, weights: Any, start: Any, keys: Any, counts: Any, used: Any, slots: Any, ids: Any  # noqa: ARG001
) -> Any:  # fmt: skip
    """Count rows of codes among the keys so far, by sorting; counts none of them where new keys find no room."""
    joined = np.concatenate([keys[:used], rows[start:]])
    order = np.lexsort(joined.T[::-1]) if joined.shape[1] else np.arange(len(joined))
    new = np.ones(len(joined), dtype=np.bool_)
    new[1:] = (np.diff(joined[order], axis=0) != 0).any(axis=1)
    group, first = np.empty(len(joined), dtype=np.int64), order[new]
    group[order] = np.cumsum(new) - 1
    if len(first) > len(keys):
        return start, used
    appearing = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[appearing] = np.arange(len(first))
    keys[used : len(first)] = joined[first[appearing[used:]]]
    counts[used : len(first)] = 0
    ids[start:] = number[group[used:]]
    found = np.bincount(ids[start:], weights=weights[start:], minlength=len(first))
    counts[: len(first)] += found.astype(np.int64)
    return len(rows), len(first)


def fill_slots(keys: Any, used: Any, slots: Any) -> None:
    """Nothing: the twin sorts and needs no slots."""
