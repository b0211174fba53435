from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, OutputError
from shoal.io import DataSource, read_table, release_source, write_table, writer_of
from support.raises import raises


def csv_bytes(folder: Path, table: pa.Table) -> bytes:
    write_table(table, folder / "out.csv")
    return (folder / "out.csv").read_bytes()


def test_csv_has_quotes_only_where_they_are_needed(tmp_path: Path) -> None:
    table = pa.table({"plain": ["é x"], "comma, here": ["a,b"], "q": ['say "hi"'], "n": ["1\n2"], "r": ["1\r2"]})
    assert csv_bytes(tmp_path, table).decode() == ('plain,"comma, here",q,n,r\né x,"a,b","say ""hi""","1\n2","1\r2"\n')


def test_a_missing_value_and_an_empty_text_stay_apart(tmp_path: Path) -> None:
    table = pa.table({"a": [None, "", "x"], "b": ["1", None, ""]})
    assert csv_bytes(tmp_path, table) == b'a,b\n,1\n"",\nx,""\n'
    assert read_table(release_source(tmp_path / "out.csv")).equals(table)
    assert read_table(DataSource(tmp_path / "out.csv"))["a"].to_pylist() == [None, None, "x"]


def test_values_are_written_as_their_canonical_text(tmp_path: Path) -> None:
    table = pa.table({"x": [39.0, 0.5, None], "b": [True, False, None], "n": pa.nulls(3)})
    assert csv_bytes(tmp_path, table) == b"x,b,n\n39,true,\n0.5,false,\n,,\n"


def test_a_table_of_no_rows_is_its_header(tmp_path: Path) -> None:
    assert csv_bytes(tmp_path, pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})) == b"a,b\n"


def test_many_rows_are_written_in_order_whatever_the_chunks(tmp_path: Path) -> None:
    values = [str(number) for number in range(150_000)]
    chunks = pa.chunked_array([values[:70_001], values[70_001:]])
    assert csv_bytes(tmp_path, pa.table({"a": chunks})) == ("a\n" + "".join(f"{v}\n" for v in values)).encode()


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_the_same_table_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    values = ["x", None, "y"] * 1000
    one = pa.table({"a": pa.chunked_array([values])}, metadata={"from": "patients.csv"})
    two = pa.table({"a": pa.chunked_array([values[:500], values[500:]])})
    three = pa.table({"a": pa.array(values).dictionary_encode()})
    written = set()
    for table in (one, two, three):
        write_table(table, tmp_path / name)
        written.add((tmp_path / name).read_bytes())
    assert len(written) == 1


def test_parquet_carries_the_table_and_nothing_else(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["x", "x"], categories=["secret", "x"])}, index=["row-one", "row-two"])
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(
        {b"pandas": b"index row-one", b"source": b"patients.csv"}
    )
    path = tmp_path / "out.parquet"
    write_table(table, path)
    content = path.read_bytes()
    for leak in (b"secret", b"row-one", b"patients", b"pandas"):
        assert leak not in content
    assert set(pq.read_metadata(path).metadata or {}) <= {b"ARROW:schema"}
    assert pq.read_schema(path).metadata is None
    assert pq.read_table(path).to_pydict() == {"a": ["x", "x"]}


def test_parquet_of_some_rows_holds_no_value_of_the_others(tmp_path: Path) -> None:
    table = pa.table({"a": ["secret", "x", "y"]}).slice(1)
    write_table(table, tmp_path / "out.pq")
    assert b"secret" not in (tmp_path / "out.pq").read_bytes()


def test_parquet_keeps_types_and_nulls(tmp_path: Path) -> None:
    table = pa.table({"n": [1, None], "t": ["", None], "z": pa.array([0, None], pa.timestamp("us", "Europe/Berlin"))})
    write_table(table, tmp_path / "out.parquet")
    assert read_table(release_source(tmp_path / "out.parquet")).equals(table)


@pytest.mark.parametrize("name", ["out.tsv", "out.csv.gz", "out", "out.xlsx"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with raises(OutputError, "unknown-output-suffix", ".csv, .parquet and .pq"):
        write_table(pa.table({"a": [1]}), tmp_path / name)
    with raises(OutputError, "unknown-output-suffix", name):
        writer_of(Path(name))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error_of_the_output(tmp_path: Path) -> None:
    for name in ("out.csv", "out.parquet"):
        with raises(OutputError, "not-writable"):
            write_table(pa.table({"a": [1]}), tmp_path / "none" / name)


def test_nested_columns_are_refused(tmp_path: Path) -> None:
    with raises(DataError, "column-type", "'a'"):
        write_table(pa.table({"a": [[1]]}), tmp_path / "out.csv")


anything = st.text(st.characters(codec="utf-8"), max_size=5)
names = anything.filter(lambda name: bool(name.strip()) and "\0" not in name)
cells = st.one_of(st.none(), anything, st.text(st.sampled_from(',;"\n\r\ufeff 1'), max_size=5))


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    headers = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    height = draw(st.integers(0, 6))
    columns = [draw(st.lists(cells, min_size=height, max_size=height)) for _ in headers]
    return pa.table([pa.array(column, pa.string()) for column in columns], names=headers)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@given(table=tables())
def test_a_written_table_is_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, name: str, table: pa.Table
) -> None:
    path = tmp_path_factory.mktemp("round") / name
    write_table(table, path)
    assert read_table(release_source(path)).equals(table)


@given(table=tables())
def test_the_standard_library_reads_what_is_written(tmp_path_factory: pytest.TempPathFactory, table: pa.Table) -> None:
    path = tmp_path_factory.mktemp("round") / "out.csv"
    write_table(table, path)
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == table.column_names
    assert [row or [""] for row in rows] == [[cell or "" for cell in row.values()] for row in table.to_pylist()]
