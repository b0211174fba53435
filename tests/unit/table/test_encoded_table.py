"""Rows collapse to distinct tuples with counts, and nothing is lost or mixed up on the way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.table.encoded import EncodedTable, combine_codes, encode_table

Rows = list[tuple[int, ...]]


def columns(rows: Rows, width: int) -> list[np.ndarray[tuple[int], np.dtype[np.int32]]]:
    return [np.array([row[j] for row in rows], dtype=np.int32) for j in range(width)]


def encoded(rows: Rows, secrets: list[int], radix: int = 5) -> EncodedTable:
    quasi = {f"q{j}": (column, radix) for j, column in enumerate(columns(rows, 2))}
    return encode_table(quasi, {"s": np.array(secrets, dtype=np.int32)}, len(rows))


tables = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30)


@settings(max_examples=80)
@given(tables)
def test_tuples_are_the_distinct_rows_in_ascending_order_with_their_counts(given_rows: Rows) -> None:
    rows, secrets = [row[:2] for row in given_rows], [row[2] for row in given_rows]
    table = encoded(rows, secrets)
    counted = Counter(rows)
    assert [tuple(each) for each in table.codes.T.tolist()] == sorted(counted)
    assert table.counts.tolist() == [counted[each] for each in sorted(counted)]
    assert [tuple(table.codes[:, each].tolist()) for each in table.row_tuple] == rows
    assert (table.n_rows, table.n_tuples) == (len(rows), len(counted))


@settings(max_examples=80)
@given(tables)
def test_pairs_count_each_sensitive_value_of_each_tuple(given_rows: Rows) -> None:
    rows, secrets = [row[:2] for row in given_rows], [row[2] for row in given_rows]
    table = encoded(rows, secrets)
    pairs = table.pairs["s"]
    found = {
        (tuple(table.codes[:, place].tolist()), value): count
        for place, value, count in zip(pairs.tuples, pairs.values.tolist(), pairs.counts.tolist(), strict=True)
    }
    assert found == Counter(zip(rows, secrets, strict=True))
    order = list(zip(pairs.values.tolist(), pairs.tuples.tolist(), strict=True))
    assert order == sorted(order)
    assert table.row_sensitive["s"].tolist() == secrets


@settings(max_examples=80)
@given(tables, st.sets(st.integers(0, 24)))
def test_leaving_out_tuples_is_encoding_the_other_rows(given_rows: Rows, left_out: set[int]) -> None:
    rows, secrets = [row[:2] for row in given_rows], [row[2] for row in given_rows]
    table = encoded(rows, secrets)
    kept = np.array([place not in left_out for place in range(table.n_tuples)])
    stays = [bool(kept[each]) for each in table.row_tuple]
    part = table.keep_tuples(kept)
    if not any(stays):
        assert (part.n_rows, part.n_tuples) == (0, 0)
        return
    again = encoded(
        [row for row, stay in zip(rows, stays, strict=True) if stay],
        [secret for secret, stay in zip(secrets, stays, strict=True) if stay],
    )
    assert part.codes.tolist() == again.codes.tolist()
    assert part.counts.tolist() == again.counts.tolist()
    assert part.row_tuple.tolist() == again.row_tuple.tolist()
    assert part.row_sensitive["s"].tolist() == again.row_sensitive["s"].tolist()
    for name in ("tuples", "values", "counts"):
        assert getattr(part.pairs["s"], name).tolist() == getattr(again.pairs["s"], name).tolist()


def test_a_table_without_quasi_identifiers_is_one_tuple() -> None:
    table = encode_table({}, {"s": np.array([1, 0, 1], dtype=np.int32)}, 3)
    assert (table.n_tuples, table.counts.tolist(), table.row_tuple.tolist()) == (1, [3], [0, 0, 0])
    assert table.codes.shape == (0, 1)


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 9) | st.integers(2**30, 2**31 - 1)] * 5), min_size=1, max_size=25))
def test_packed_keys_keep_order_and_difference_beyond_64_bits(rows: Rows) -> None:
    """Five columns of 2³¹ values have 2¹⁵⁵ combinations; wrapped keys would merge rows that differ."""
    keys, space = combine_codes(columns(rows, 5), [2**31] * 5)
    assert int(keys.max()) < space <= 2**62
    assert int(keys.min()) >= 0
    for one, key in zip(rows, keys.tolist(), strict=True):
        for other, other_key in zip(rows, keys.tolist(), strict=True):
            assert (one < other) == (key < other_key)


@pytest.mark.parametrize("width", [1, 30])
def test_rows_that_differ_only_in_the_last_of_many_columns_stay_apart(width: int) -> None:
    rows = [(*[999_999] * (width - 1), last) for last in (0, 1, 999_999, 1)]
    quasi = {f"q{j}": (column, 1_000_000) for j, column in enumerate(columns(rows, width))}
    assert encode_table(quasi, {}, 4).counts.tolist() == [1, 2, 1]
