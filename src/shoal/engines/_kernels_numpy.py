"""The kernels in plain NumPy: for machines without numba, and the oracle that the compiled ones are tested against."""

from __future__ import annotations

from typing import Any

import numpy as np


def keys_of(codes: Any, items: Any, columns: Any, offsets: Any, strides: Any, maps: Any) -> Any:
    """Pack the generalized codes of some tuples into one number each; the caller has checked that it fits 63 bits."""
    keys = np.zeros(len(items), dtype=np.int64)
    for column, offset, stride in zip(columns, offsets, strides, strict=True):
        keys += maps[offset + codes[column][items]].astype(np.int64) * stride
    return keys


def group_dense(keys: Any, items: Any, weights: Any, table: Any) -> Any:  # noqa: ARG001 - same face as the compiled one
    """Group equal keys; groups are numbered by first appearance, as the compiled kernel does."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    ids = rank[inverse]
    sizes = np.zeros(len(order), dtype=np.int64)
    np.add.at(sizes, ids, weights)
    return ids, items[first[order]].astype(np.int32), sizes


def group_hashed(keys: Any, items: Any, weights: Any, slots: Any) -> Any:
    """Group equal keys; groups are numbered by first appearance, as the compiled kernel does."""
    return group_dense(keys, items, weights, slots)


def histogram(tuple_class: Any, pair_tuple: Any, pair_value: Any, pair_count: Any, n_classes: Any) -> Any:
    """Sparse counts of a sensitive column by class, from (tuple, value, count) pairs."""
    owner = tuple_class[pair_tuple].astype(np.int64)
    width = int(pair_value.max()) + 1 if len(pair_value) else 1
    keys, inverse = np.unique(owner * width + pair_value, return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, inverse, pair_count)
    starts = np.searchsorted(keys, np.arange(n_classes + 1, dtype=np.int64) * width)
    return starts.astype(np.int64), (keys % width).astype(np.int32), counts
