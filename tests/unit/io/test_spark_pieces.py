"""Counted rows in pieces of equally many records, from which a cluster writes a release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal.io.spark.cluster import COUNT, in_pieces


@given(counts=st.lists(st.integers(1, 9), max_size=12), size=st.integers(1, 12))
def test_pieces_have_the_records_in_their_order(counts: list[int], size: int) -> None:
    rows = pa.table({"c0": pa.array(range(len(counts)), pa.int64()), "c1": pa.array([None] * len(counts), pa.string())})
    records = [row for row, count in enumerate(counts) for _ in range(count)]
    found = in_pieces(rows, np.array(counts, dtype=np.int64), size).to_pylist()
    assert [each["piece"] for each in found] == list(range(len(found)))
    assert [_records(each["rows"]) for each in found] == [
        records[start : start + size] for start in range(0, len(records), size)
    ]


def _records(rows: list[dict[str, Any]]) -> list[int]:
    return [row["c0"] for row in rows for _ in range(row[COUNT])]
