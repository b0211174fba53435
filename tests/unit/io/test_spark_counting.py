"""Codes of counted values, and the order of rows as a verification on the cluster needs it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.io.spark.check import _later, _stretches
from shoal.io.spark.counts import Codebook
from shoal.verification.canonical_text import text_column
from support.raises import raises

cells = st.none() | st.sampled_from(["", "a", "b", "B", "é", "𝄞", "\uffff"])


def test_a_value_that_was_not_counted_is_an_error() -> None:
    book = Codebook.of(pa.array(["a", None]))
    assert [book.labels[code] for code in book.encode(pa.array([None, "a"])).to_pylist()] == [None, "a"]
    with raises(DataError, "data-changed"):
        book.encode(pa.array(["b"]))


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
    assert [(each["file"], each["batch"], each["first"], each["last"], each["wrong"]) for each in found] == [
        ("1", 5, ["b"], ["a"], 1),
        ("2", 5, ["c"], ["b"], 1),
    ]
