"""The compiled kernels, and the only file that knows numba.

Compiled code is cached per user. Where the folder of this file cannot be written and no home is writable, numba
would fail at import: `_cache_dir` finds a private folder first, and without one the kernels compile in memory.
Serial and ``nogil``: independent nodes run on threads, and ``parallel=True`` costs seconds of compiling.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numba
import numpy as np


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _use_cache() -> bool:
    """Whether compiled code can be kept; points numba at a private folder when it has been told of none."""
    if numba.config.CACHE_DIR:
        return _writable(Path(numba.config.CACHE_DIR))
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(base) if base else Path.home() / ".cache") / "shoal" / "kernels"
    except RuntimeError:  # no home folder at all
        return False
    if not _writable(folder):
        return False
    numba.config.CACHE_DIR = str(folder)
    return True


_jit = numba.njit(cache=_use_cache(), nogil=True, boundscheck=False)

EMPTY = np.int32(-1)


@_jit
def keys_of(codes: Any, items: Any, columns: Any, offsets: Any, strides: Any, maps: Any) -> Any:
    """Pack the generalized codes of some tuples into one number each; the caller has checked that it fits 63 bits."""
    keys = np.zeros(items.shape[0], dtype=np.int64)
    for c in range(columns.shape[0]):
        row, offset, stride = codes[columns[c]], offsets[c], strides[c]
        for i in range(items.shape[0]):
            keys[i] += maps[offset + row[items[i]]] * stride
    return keys


@_jit
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


@_jit
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
        place = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(mask))
        group = slots[place]
        while group >= 0 and group_keys[group] != key:
            place = (place + 1) & mask
            group = slots[place]
        if group < 0:
            group = count
            slots[place] = group
            group_keys[group] = key
            representatives[group] = items[i]
            count += 1
        ids[i] = group
        sizes[group] += weights[i]
    return ids, representatives[:count].copy(), sizes[:count].copy()


@_jit
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
