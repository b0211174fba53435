"""Slices of a table are short in rows and in bytes, and their borders follow from the rows alone."""

from __future__ import annotations

import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.io import DataSource, counting, external_sort, in_order_of_cells, read_batches, write
from shoal.io.bounded_slices import slice_bounds, text_sizes
from shoal.io.counting import DistinctRowCounter
from shoal.io.external_sort import SortedRuns
from shoal.io.formats import csv_file, parquet_file
from shoal.io.write import write_table, write_tables

COUNTED = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=20)


def greedy(sizes: list[int], rows: int, nbytes: int) -> list[tuple[int, int]]:
    """Row by row: a piece ends where one more row would be too many rows or bytes."""
    found, start, held = [], 0, 0
    for place, size in enumerate(sizes):
        if place > start and (place - start == rows or held + size > nbytes):
            found.append((start, place))
            start, held = place, 0
        held += size
    return [*found, (start, len(sizes))] if sizes else []


@given(COUNTED, st.integers(1, 7), st.integers(1, 25))
def test_a_piece_ends_where_one_more_row_would_be_too_much(rows: list[tuple[int, int]], most: int, nbytes: int) -> None:
    sizes, counts = (np.array([row[place] for row in rows], dtype=np.int64) for place in (0, 1))
    unfolded = np.repeat(sizes, counts)
    expected = greedy(unfolded.tolist(), most, nbytes)
    assert list(slice_bounds(sizes, rows=most, nbytes=nbytes, counts=counts)) == expected
    assert list(slice_bounds(unfolded, rows=most, nbytes=nbytes)) == expected


def test_the_size_of_a_row_is_that_of_its_texts_however_they_are_kept() -> None:
    texts = pa.array(["a", None, "äöü", ""])
    table = pa.table(
        {
            "plain": pa.chunked_array([texts.slice(0, 1), texts.slice(1)]),
            "large": texts.cast(pa.large_string()),
            "coded": texts.dictionary_encode(),
            "view": texts.cast(pa.string_view()),
            "number": [1, 2, 3, 4],
        }
    )
    assert text_sizes(table).tolist() == [4, 0, 24, 0]
    assert text_sizes(table.slice(2)).tolist() == [24, 0]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("nbytes", [1, 40, 100])
def test_long_texts_end_a_row_group_at_the_same_row_however_the_table_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, nbytes: int
) -> None:
    monkeypatch.setattr(parquet_file, "_BYTES_OF_A_GROUP", nbytes)
    monkeypatch.setattr(write, "_BYTES_AT_A_TIME", nbytes)
    monkeypatch.setattr(csv_file, "_BYTES", nbytes)
    table = pa.table({"x": ["a" * 30, "b" * 5, None, "c,d" * 9, "", "e"], "n": [1.0, 2.5, None, 3.0, 4.0, 5.0]})
    counts = np.array([3, 1, 2, 5, 1, 4])
    full = table.take(pa.array(np.repeat(np.arange(6), counts)))
    paths = [tmp_path / f"{name}{suffix}" for name in ("full", "counted", "parts")]
    write_table(full, paths[0])
    write_table(table, paths[1], counts)
    write_tables([full.slice(0, 2), full.slice(2, 9), full.slice(11)], paths[2], full.schema)
    assert len({path.read_bytes() for path in paths}) == 1
    if suffix == ".parquet":
        footer = pq.ParquetFile(paths[0]).metadata
        assert footer.num_row_groups == len(greedy(text_sizes(full).tolist(), 1 << 20, nbytes)) > 1


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_sort, "_BYTES_OF_A_RUN", 1000)
    monkeypatch.setattr(external_sort, "_BYTES_OF_A_HEAD", 100)
    monkeypatch.setattr(external_sort, "_BYTES_OF_ALL_HEADS", 600)
    monkeypatch.setattr(external_sort, "_RUNS_AT_ONCE", 3)


def long_texts(n: int) -> pa.Table:
    draw = np.random.default_rng(4)
    return pa.table({"x": [f"{place:03d}" + "x" * int(draw.integers(0, 90)) for place in draw.permutation(n)]})


@pytest.mark.usefixtures("narrow")
def test_what_is_sorted_and_merged_at_once_is_bounded_in_bytes() -> None:
    table = long_texts(400)
    with TemporaryDirectory() as folder:
        runs = SortedRuns(Path(folder))
        runs.add(table)
        files = list(Path(folder).iterdir())
        assert len(files) > 9
        for path in files:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            with pa.OSFile(str(path)) as source:
                assert pa.ipc.open_file(source).read_all().nbytes < 3000
        parts = list(runs.tables())
        assert max(part.nbytes for part in parts) < 3000
        assert pa.concat_tables(parts).equals(in_order_of_cells(table))
        assert len(list(Path(folder).iterdir())) <= 3
        del parts


@pytest.mark.usefixtures("narrow")
def test_a_column_without_values_in_some_files_has_the_type_of_the_others() -> None:
    number, nothing = pa.table({"x": [3, 1] * 90}), pa.table({"x": pa.nulls(200)})
    for first, second in ((number, nothing), (nothing, number)):
        with TemporaryDirectory() as folder:
            runs = SortedRuns(Path(folder), run=50)
            for table in (first, second, second.slice(0, 0)):
                runs.add(table)
            assert runs.schema == number.schema
            merged = pa.concat_tables(list(runs.tables()))
            assert merged.column("x").to_pylist() == [1] * 90 + [3] * 90 + [None] * 200
            del merged


def test_two_types_of_a_column_cannot_be_sorted() -> None:
    with TemporaryDirectory() as folder:
        runs = SortedRuns(Path(folder))
        runs.add(pa.table({"x": [3]}))
        with pytest.raises(DataError, match="'x' has the type int64 in one part of the data and string in another"):
            runs.add(pa.table({"x": ["a"]}))


def test_the_type_of_a_column_is_checked_after_it_is_left_out_of_the_cells() -> None:
    counter = DistinctRowCounter(["a", "n"])
    counter.add(pa.table({"a": [1], "n": pa.array(["x"]).dictionary_encode()}))
    counter.leave_out(["n"])
    counter.add(pa.table({"a": [1], "n": pa.nulls(1)}))
    counter.add(pa.table({"a": [1], "n": ["y"]}))
    with pytest.raises(DataError, match="'n' has the type string in one part of the data and int64 in another"):
        counter.add(pa.table({"a": [1], "n": [2]}))
    assert counter.finish().counts.tolist() == [3]


def test_long_texts_count_as_often_as_they_are_held() -> None:
    counter = DistinctRowCounter(["a"])
    counter.add(pa.table({"a": [f"{place}" + "x" * 3000 for place in range(100)]}))
    assert counter.dictionary_bytes > 8 * 300_000
    long = DistinctRowCounter(["a", "b"])
    for place in range(50):
        long.add(pa.table({"a": ["x" * 3000], "b": [place]}))
    assert long.dictionary_bytes > 50 * 2900


def test_more_distinct_text_than_an_array_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MOST_TEXT", 5000)
    counter = DistinctRowCounter(["a"])
    counter.add(pa.table({"a": ["x" * 3000]}))
    counter.add(pa.table({"a": ["x" * 3000]}))
    with pytest.raises(DataError, match="'a' has more than 2 GiB of distinct text"):
        counter.add(pa.table({"a": ["y" * 3000]}))


@pytest.mark.parametrize("distinct", [400, 3])
def test_batches_of_a_parquet_file_are_bounded_in_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, distinct: int
) -> None:
    monkeypatch.setattr(parquet_file, "_BYTES", 2000)
    table = pa.table({"x": [f"{place % distinct}" + "x" * 90 for place in range(400)], "n": list(range(400))})
    pq.write_table(table, tmp_path / "t.parquet")
    shares: list[float] = []
    read = list(read_batches(DataSource(tmp_path / "t.parquet"), ["x", "n"], shares.append))
    assert max(int(text_sizes(batch).sum()) for batch in read) <= 2000
    assert pa.concat_tables([pa.table({"x": each.column("x").cast(pa.string()), "n": each.column("n")})
                             for each in read]).equals(table)  # fmt: skip
    assert shares == sorted(shares)
    assert max(shares[:-1]) < 1 == shares[-1]
