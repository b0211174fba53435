"""Codes packed where the cells lie and unpacked on the driver; order and counts as a verification asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.io.spark.check import _later, _stretches
from shoal.io.spark.cluster import COUNT
from shoal.io.spark.counts import Codebook, _keys_of, _packed_batch, unpacked
from shoal.verification.canonical_text import text_column

cells = st.none() | st.sampled_from(["", "a", "b", "B", "é", "𝄞", "\uffff"])


@dataclass
class Collected:
    """What a frame of Spark gives to the driver."""

    table: pa.Table

    def toArrow(self) -> pa.Table:  # noqa: N802  Spark's own name
        return self.table


def book(column: list[Any], size: int) -> Codebook:
    values = pa.array(list(dict.fromkeys(column)), pa.string())
    return Codebook(values, np.arange(len(values), dtype=np.int32), size)


@given(
    rows=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=20),
    sizes=st.tuples(*[st.sampled_from([8, 1 << 20, 1 << 31, 1 << 61])] * 3),
)
def test_packed_codes_are_unpacked_as_they_were(rows: list[tuple[Any, ...]], sizes: tuple[int, ...]) -> None:
    columns = {f"q{place}": [row[place] for row in rows] for place in range(3)}
    books = {name: book(column, size) for (name, column), size in zip(columns.items(), sizes, strict=True)}
    arrays = [pa.array(column, pa.string()) for column in columns.values()]
    counts = pa.array(range(1, len(rows) + 1), pa.int64())
    batch = pa.RecordBatch.from_arrays([*arrays, counts], [*columns, COUNT])
    packed = _packed_batch(batch, tuple(columns), books, _keys_of(books))
    codes, weights = unpacked(Collected(pa.Table.from_batches([packed])), books)
    assert weights.tolist() == counts.to_pylist()
    for name, column in columns.items():
        assert [books[name].values[code].as_py() for code in codes[name]] == column


def test_columns_that_outgrow_a_key_get_another() -> None:
    books = {name: book(["a"], 1 << 40) for name in ("x", "y", "z")}
    assert _keys_of(books) == [["x"], ["y"], ["z"]]


def test_a_value_that_was_not_counted_is_an_error() -> None:
    with pytest.raises(DataError, match="changed while it was read"):
        book(["a"], 1).encode(pa.array(["b"]))


@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=20))
def test_rows_out_of_order_are_counted_as_python_compares_them(rows: list[tuple[Any, ...]]) -> None:
    def key(row: tuple[Any, ...]) -> list[tuple[bool, str]]:
        return [(cell is None, cell or "") for cell in row]

    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(2)]
    expected = [key(one) > key(two) for one, two in pairwise(rows)]
    assert _later(columns).tolist() == expected


def test_a_stretch_ends_with_its_file() -> None:
    batch = pa.RecordBatch.from_pydict(
        {"r0": ["b", "a", "c", "b"], "file": ["1", "1", "2", "2"], "start": pa.array([0, 0, 0, 0], pa.int64())}
    )
    found = [each.to_pylist()[0] for each in _stretches(batch, 5, ["q"], text_column)]
    assert [(each["file"], each["place"], each["first"], each["last"], each["wrong"]) for each in found] == [
        ("1", 5, ["b"], ["a"], 1),
        ("2", 5, ["c"], ["b"], 1),
    ]
