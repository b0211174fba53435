"""Distinct rows: combinations of values with their counts, the same however the records are cut into batches."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.io import DataSource, canonical_text, order_of_content, read_batches, read_table
from shoal.io.counting import DistinctRowCounter, count_rows
from shoal.io.formats import csv_file
from shoal.table.distinct_rows import DistinctRows
from support.raises import raises

TEXT = st.one_of(st.none(), st.sampled_from(["", "a", "b", "ä", "10", "9", 'A,\n"b"']))
NUMBER = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 1.5, -2.0, 10.0]))
TABLES = st.lists(st.tuples(TEXT, NUMBER, TEXT), max_size=30)


def table_of(rows: list[tuple[str | None, float | None, str | None]]) -> pa.Table:
    x, y, z = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table({"x": pa.array(x, pa.string()), "y": pa.array(y, pa.float64()), "b": pa.array(z, pa.string())})


def plain_count(table: pa.Table) -> Counter[tuple[str | None, ...]]:
    return Counter(zip(*(canonical_text(column).to_pylist() for column in table.columns), strict=True))


def plain_table(rows: DistinctRows) -> pa.Table:
    """The distinct rows in the types of the data."""
    return pa.table({name: column.of_type() for name, column in rows.columns.items()})


@given(TABLES, st.integers(1, 7))
def test_distinct_rows_are_counted(rows: list[tuple[str | None, float | None, str | None]], size: int) -> None:
    table = table_of(rows)
    cells = count_rows(table.to_batches(max_chunksize=size), table.column_names)
    shown = zip(*([column.labels[code] for code in column.codes] for column in cells.columns.values()), strict=True)
    assert dict(zip(shown, cells.counts.tolist(), strict=True)) == plain_count(table)
    assert cells.n_records == table.num_rows


@given(TABLES)
def test_unfolded_rows_are_the_records_in_the_order_of_their_content(
    rows: list[tuple[str | None, float | None, str | None]],
) -> None:
    table = table_of(rows)
    cells = count_rows([table.slice(start, 3) for start in range(0, max(len(rows), 1), 3)], table.column_names)
    ordered = table.take(pa.array(order_of_content(table)))
    unfolded = pa.array(np.repeat(np.arange(cells.n_rows), cells.counts))
    assert plain_table(cells).take(unfolded).equals(ordered)


@given(TABLES)
def test_a_table_in_memory_has_the_distinct_rows_of_a_stream_and_knows_those_of_its_records(
    rows: list[tuple[str | None, float | None, str | None]],
) -> None:
    table = table_of(rows)
    held, streamed = DistinctRows.of(table), count_rows([table], table.column_names)
    assert plain_table(held).equals(plain_table(streamed))
    assert held.counts.tolist() == streamed.counts.tolist()
    assert {name: column.labels for name, column in held.columns.items()} == {
        name: column.labels for name, column in streamed.columns.items()
    }
    assert held.of_record is not None
    assert plain_table(held).take(pa.array(held.of_record)).equals(table)


@given(TABLES, TABLES)
def test_rows_that_were_counted_elsewhere_are_added_with_their_counts(
    one: list[tuple[str | None, float | None, str | None]], other: list[tuple[str | None, float | None, str | None]]
) -> None:
    tables = [table_of(one), table_of(other)]
    counter = DistinctRowCounter(["x", "y", "b"])
    for table in tables:
        part = count_rows([table], table.column_names)
        counter.add(part.to_table(), part.counts)
    whole, cells = count_rows(tables, ["x", "y", "b"]), counter.finish()
    assert cells.to_table().equals(whole.to_table())
    assert cells.counts.tolist() == whole.counts.tolist()


@pytest.mark.parametrize("person", [("x",), ("y",), ("b", "x")])
@given(rows=TABLES, left_out=st.booleans())
def test_rows_of_people_are_those_of_a_table_in_memory(
    person: tuple[str, ...], rows: list[tuple[str | None, float | None, str | None]], left_out: bool
) -> None:
    table, names = table_of(rows), ["x", "y", "b"]
    others = [name for name in names if name not in person][:1] if left_out else []
    counter = DistinctRowCounter(names, person)
    for start in range(0, max(len(rows), 1), 3):
        if start == 3 or len(rows) <= 3:
            counter.leave_out(others)
        counter.add(table.slice(start, 3))
    streamed = counter.finish()
    held = DistinctRows.of(table.select([name for name in names if name not in others]), streamed.first)
    assert streamed.counts.tolist() == held.counts.tolist()
    assert list(streamed.columns) == list(held.columns)
    for name, column in held.columns.items():
        assert streamed.columns[name].labels == column.labels
        assert streamed.columns[name].codes.tolist() == column.codes.tolist()
        assert streamed.columns[name].values.equals(column.values)


def test_values_that_no_row_holds_are_no_labels() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 2, None], pa.int32()), pa.array(["a", "never", "b"]))
    cells = count_rows([pa.record_batch([column], names=["x"])], ["x"])
    assert cells.columns["x"].labels == ("a", "b", None)


def test_a_column_keeps_its_type() -> None:
    days = [datetime.date(2020, 1, 2), None, datetime.date(2019, 5, 6)]
    cells = count_rows([pa.table({"day": pa.array(days), "n": pa.array([3, 3, 4], pa.int16())})], ["day", "n"])
    assert cells.to_table().schema.types == [pa.date32(), pa.int16()]
    assert cells.columns["day"].labels == ("2019-05-06", "2020-01-02", None)


def test_parts_of_different_types_are_refused() -> None:
    counter = DistinctRowCounter(["x"])
    counter.add(pa.table({"x": pa.nulls(2)}))
    counter.add(pa.table({"x": [1, 2]}))
    with raises(DataError, "types-differ", "int64", "string"):
        counter.add(pa.table({"x": ["a"]}))


def test_a_column_can_be_left_out_on_the_way() -> None:
    table = pa.table({"x": ["a", "b", "a", "a"], "y": ["1", "2", "3", "1"]})
    counter = DistinctRowCounter(["x", "y"])
    counter.add(table)
    counter.leave_out(["y"])
    counter.add(table)
    cells = counter.finish()
    assert list(cells.columns) == ["x"]
    assert cells.counts.tolist() == [6, 2]


ODD = 'a,b\n1,"x\ny"\n"2",""\n,long long long long long long long long\n3,z\n'


@pytest.mark.parametrize("block", [4, 16, 64, 1 << 20])
def test_batches_of_a_text_file_are_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(csv_file, "_BATCH", block)
    monkeypatch.setattr(csv_file, "BLOCKS", (32, 64, 1 << 20))
    path = tmp_path / "odd.csv"
    path.write_text(ODD)
    source = DataSource(path)
    batches = list(read_batches(source, ["b", "a"]))
    joined = pa.concat_tables([pa.Table.from_batches([each]) for each in batches])
    assert [canonical_text(column).to_pylist() for column in joined.columns] == [
        canonical_text(column).to_pylist() for column in read_table(source, ["b", "a"]).columns
    ]


def test_a_quote_that_is_never_closed_is_found_in_batches_too(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text('a,b\n1,"x\n2,y\n')
    with raises(DataError, "unclosed-quote"):
        list(read_batches(DataSource(path), ["a"]))


def test_a_row_with_too_few_fields_is_named_in_batches_too(tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    path.write_text("a,b\n1,x\n2\n")
    with raises(DataError, "uneven-rows", "row 3"):
        list(read_batches(DataSource(path), ["a"]))


def test_marks_of_missing_values_are_missing_in_batches_too(tmp_path: Path) -> None:
    table = pa.table({"x": ["a", "?", None, "b"], "n": [1, -9, 3, None]})
    pq.write_table(table, tmp_path / "marks.parquet")
    source = DataSource(tmp_path / "marks.parquet", missing=("?", "-9"))
    joined = pa.Table.from_batches(list(read_batches(source, ["x", "n"])))
    assert joined.column("x").to_pylist() == ["a", None, None, "b"]
    assert joined.column("n").to_pylist() == [1, None, 3, None]
    assert read_table(source).to_pydict() == {name: joined.column(name).to_pylist() for name in ("x", "n")}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_text_in_utf_8_comes_through_whatever_the_pieces(tmp_path: Path, size: int) -> None:
    from shoal.io.formats.text_stream import TextStream

    path = tmp_path / "marked.csv"
    path.write_bytes("\ufeffä,€\n😀,\r\n".encode())
    with TextStream(DataSource(path), "end") as stream:
        read = b""
        while piece := stream.read(size):
            read += piece
    assert read.decode() == "ä,€\n😀,\r\nend\n"
