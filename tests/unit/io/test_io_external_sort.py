"""Rows that are sorted on disk come out as they would in memory; a table from counts has the bytes of all its rows."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.io import external_sort, in_order_of_cells, write, write_table, write_tables
from shoal.io.external_sort import SortedRuns
from shoal.io.formats import csv_file, parquet_file

CELL = st.one_of(st.none(), st.sampled_from(["", "a", "b", "aa", "ä", "10", "9"]))
ROWS = st.lists(st.tuples(CELL, CELL), max_size=60)


def table_of(rows: list[tuple[str | None, str | None]]) -> pa.Table:
    x, y = zip(*rows, strict=True) if rows else ((), ())
    return pa.table({"x": pa.array(x, pa.string()), "y": pa.array(y, pa.string())})


@given(ROWS, st.integers(1, 9), st.integers(1, 4), st.integers(1, 12))
def test_merged_runs_are_the_sorted_table(
    rows: list[tuple[str | None, str | None]], size: int, head: int, run: int
) -> None:
    table = table_of(rows)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(external_sort, "_ROWS_OF_ALL_HEADS", 3 * head)
        runs = SortedRuns(Path(folder), run=run, head=head)
        for start in range(0, table.num_rows, size):
            runs.add(table.slice(start, size))
        parts = list(runs.tables())
        merged = pa.concat_tables(parts) if parts else table
        assert merged.equals(in_order_of_cells(table))
        del parts, merged


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("group", [1, 3, 7, 1 << 20])
def test_a_table_from_counts_has_the_bytes_of_all_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, group: int
) -> None:
    monkeypatch.setattr(parquet_file, "_ROW_GROUP", group)
    monkeypatch.setattr(write, "_ROWS_AT_A_TIME", 4)
    monkeypatch.setattr(csv_file, "_ROWS", 4)
    table = pa.table({"x": ["a", "b", None, "c,d", "", "e"], "n": [1.0, 2.5, None, 3.0, 4.0, 5.0]})
    counts = np.array([3, 1, 2, 5, 1, 4])
    full = table.take(pa.array(np.repeat(np.arange(6), counts)))
    shares: list[float] = []
    write_table(table, tmp_path / f"counted{suffix}", counts, shares.append)
    write_table(full, tmp_path / f"full{suffix}")
    write_tables([full.slice(0, 2), full.slice(2, 9), full.slice(11)], tmp_path / f"parts{suffix}", full.schema)
    expected = (tmp_path / f"full{suffix}").read_bytes()
    assert (tmp_path / f"counted{suffix}").read_bytes() == expected
    assert (tmp_path / f"parts{suffix}").read_bytes() == expected
    assert shares == sorted(shares)
    assert shares[-1] == 1
