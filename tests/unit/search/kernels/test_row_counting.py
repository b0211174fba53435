"""Counting distinct rows: the compiled kernel, its twin and a plain counter agree, whatever the batches."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.search.kernels import plain as _kernels_numpy
from shoal.search.kernels import row_counter as counting
from shoal.search.kernels.load import load_kernels
from shoal.search.kernels.row_counter import RowCounter

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # the hash wraps around on purpose
BATCHES = st.lists(st.lists(st.tuples(st.tuples(st.integers(0, 3), st.integers(0, 2)), st.integers(1, 4))), max_size=6)


def counted(batches: list[list[tuple[tuple[int, int], int]]], kernels: object) -> RowCounter:
    counter = RowCounter(2, kernels=kernels)  # type: ignore[arg-type]
    for batch in batches:
        rows = np.array([row for row, _ in batch], dtype=np.int32).reshape(-1, 2)
        counter.add(rows, np.array([weight for _, weight in batch], dtype=np.int64))
    return counter


@given(BATCHES)
def test_kernel_twin_and_counter_agree(batches: list[list[tuple[tuple[int, int], int]]]) -> None:
    expected: Counter[tuple[int, int]] = Counter()
    for batch in batches:
        for row, weight in batch:
            expected[row] += weight
    for kernels in (_kernels_numpy, load_kernels()):
        counter = counted(batches, kernels)
        found = dict(zip(map(tuple, counter.keys.tolist()), counter.counts.tolist(), strict=True))
        assert found == expected
        assert list(found) == list(expected)  # in the order of first appearance


@pytest.mark.parametrize("kernels", [_kernels_numpy, load_kernels()])
def test_a_counter_grows_beyond_its_first_room(kernels: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_FIRST", 4)
    draw = np.random.default_rng(5)
    rows = draw.integers(0, 40, (3000, 2)).astype(np.int32)
    counter = RowCounter(2, kernels=kernels)  # type: ignore[arg-type]
    for part in np.array_split(rows, 7):
        counter.add(part, np.ones(len(part), dtype=np.int64))
    assert dict(zip(map(tuple, counter.keys.tolist()), counter.counts.tolist(), strict=True)) == Counter(
        map(tuple, rows.tolist())
    )


def test_changing_to_the_compiled_kernel_on_the_way_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(2).integers(0, 9, (900, 3)).astype(np.int32)
    monkeypatch.setattr(counting, "_ROWS_BEFORE_LOADING", 300)
    counter = RowCounter(3)
    for part in np.array_split(rows, 9):
        counter.add(part, np.ones(len(part), dtype=np.int64))
    assert dict(zip(map(tuple, counter.keys.tolist()), counter.counts.tolist(), strict=True)) == Counter(
        map(tuple, rows.tolist())
    )
