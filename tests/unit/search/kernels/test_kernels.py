"""The compiled kernels against their NumPy twins and against plain dictionaries."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.search.kernels import compiled as _kernels
from shoal.search.kernels import plain as _kernels_numpy

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # the hash wraps around on purpose
KERNELS = [_kernels, _kernels_numpy]

keys = st.lists(st.integers(0, 12) | st.integers(2**60, 2**62), min_size=0, max_size=40)


def grouped_by_hand(values: list[int], weights: list[int]) -> tuple[list[int], list[int], list[int]]:
    order = {key: group for group, key in enumerate(dict.fromkeys(values))}
    ids = [order[key] for key in values]
    sizes = Counter[int]()
    for group, weight in zip(ids, weights, strict=True):
        sizes[group] += weight
    return ids, [values.index(key) for key in order], [sizes[group] for group in range(len(order))]


def arguments(values: list[int]) -> tuple[Any, Any, Any, list[int]]:
    weights = [1 + place % 5 for place in range(len(values))]
    items = np.arange(len(values), dtype=np.int32) + 7
    return np.array(values, dtype=np.int64), items, np.array(weights, dtype=np.int64), weights


def check(grouped: Any, values: list[int], weights: list[int]) -> None:
    ids, representatives, sizes = grouped
    by_hand = grouped_by_hand(values, weights)
    assert (ids.tolist(), (representatives - 7).tolist(), sizes.tolist()) == by_hand
    assert (ids.dtype, representatives.dtype, sizes.dtype) == (np.int32, np.int32, np.int64)


@pytest.mark.parametrize("kernels", KERNELS)
@settings(max_examples=60)
@given(values=keys)
def test_hashed_grouping_numbers_equal_keys_by_first_appearance(kernels: Any, values: list[int]) -> None:
    packed, items, weights, plain = arguments(values)
    slots = np.full(1 << max(4, (2 * len(values)).bit_length()), -1, dtype=np.int32)
    check(kernels.group_hashed(packed, items, weights, slots), values, plain)


@pytest.mark.parametrize("kernels", KERNELS)
@settings(max_examples=60)
@given(values=st.lists(st.integers(0, 12), max_size=40))
def test_dense_grouping_leaves_its_lookup_table_clean(kernels: Any, values: list[int]) -> None:
    packed, items, weights, plain = arguments(values)
    table = np.full(13, -1, dtype=np.int32)
    check(kernels.group_dense(packed, items, weights, table), values, plain)
    assert (table == -1).all()


@pytest.mark.parametrize("kernels", KERNELS)
@settings(max_examples=60)
@given(
    owners=st.lists(st.integers(0, 3), min_size=4, max_size=12),
    pairs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 11), st.integers(1, 4)), min_size=1, max_size=60),
)
def test_histograms_count_every_value_of_every_class(
    kernels: Any, owners: list[int], pairs: list[tuple[int, int, int]]
) -> None:
    distinct = {(value, tuple_ % len(owners)): count for value, tuple_, count in pairs}
    classes = sorted({owners[tuple_] for _, tuple_ in distinct})
    number = {owner: place for place, owner in enumerate(classes)}
    ordered = sorted(distinct)
    tuple_class = np.array([number.get(owner, 0) for owner in owners], dtype=np.int32)
    starts, values, counts = kernels.histogram(
        tuple_class,
        np.array([tuple_ for _, tuple_ in ordered], dtype=np.int32),
        np.array([value for value, _ in ordered], dtype=np.int32),
        np.array([distinct[pair] for pair in ordered], dtype=np.int64),
        len(classes),
    )
    expected = [Counter[int]() for _ in classes]
    for value, tuple_ in ordered:
        expected[number[owners[tuple_]]][value] += distinct[value, tuple_]
    found = [list(zip(values[a:b].tolist(), counts[a:b].tolist(), strict=True)) for a, b in pairwise(starts.tolist())]
    assert found == [sorted(each.items()) for each in expected]
    assert (starts.dtype, values.dtype, counts.dtype) == (np.int64, np.int32, np.int64)


@pytest.mark.parametrize("kernels", KERNELS)
def test_keys_are_the_mixed_radix_number_of_the_generalized_codes(kernels: Any) -> None:
    codes = np.array([[0, 1, 2, 3], [1, 0, 1, 0]], dtype=np.int32)
    maps = np.array([0, 0, 1, 1, 5, 9], dtype=np.int32)  # column 0: pairs of leaves; column 1: two far numbers
    found = kernels.keys_of(
        codes,
        np.array([3, 0, 2], dtype=np.int32),
        np.array([0, 1], dtype=np.int64),
        np.array([0, 4], dtype=np.int64),
        np.array([2**40, 1], dtype=np.int64),
        maps,
    )
    assert found.tolist() == [2**40 + 5, 9, 2**40 + 9]


def test_keys_that_collide_in_the_hash_table_stay_apart() -> None:
    values = [key << 32 for key in range(300)]  # equal low halves: many meet in the same slot
    packed, items, weights, plain = arguments(values)
    slots = np.full(1024, -1, dtype=np.int32)
    check(_kernels.group_hashed(packed, items, weights, slots), values, plain)
