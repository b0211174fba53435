from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.errors import DataError
from shoal.io import DataSource, canonical_text, column_names, read_table, release_source
from support.raises import raises


def stored(path: Path, table: pa.Table) -> DataSource:
    pq.write_table(table, path)
    return DataSource(path)


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "T.PARQUET"])
def test_parquet_columns_keep_their_types(tmp_path: Path, name: str) -> None:
    source = stored(tmp_path / name, pa.table({"a": [1, None], "b": ["x", "y"], "c": [1.5, float("nan")]}))
    table = read_table(source, ["c", "a"])
    assert table.schema == pa.schema([("c", pa.float64()), ("a", pa.int64())])
    assert table.to_pydict() == {"c": [1.5, None], "a": [1, None]}


def test_dictionaries_are_decoded(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([1, None]), pa.array(["unused", "x"]))
    table = read_table(stored(tmp_path / "t.parquet", pa.table({"a": column})))
    assert table.schema == pa.schema([("a", pa.string())])
    assert table["a"].to_pylist() == ["x", None]


def test_missing_marks_hold_for_text_in_parquet_too(tmp_path: Path) -> None:
    stored(tmp_path / "t.parquet", pa.table({"a": ["?", "", "x"]}))
    path = tmp_path / "t.parquet"
    assert read_table(DataSource(path, missing=("?",)))["a"].to_pylist() == [None, "", "x"]
    assert read_table(DataSource(path))["a"].to_pylist() == ["?", None, "x"]
    assert read_table(release_source(path))["a"].to_pylist() == ["?", "", "x"]


def test_a_missing_mark_takes_no_number_but_its_own(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    whole = [2**53, 2**53 + 1, 7]
    floats = [2.0**53, 0.1, 1e22]
    columns = {"i": pa.array(whole), "u": pa.array(whole, pa.uint64()), "s": pa.array([7, 8, 9], pa.int8())}
    stored(path, pa.table({**columns, "f": floats, "g": pa.array(floats, pa.float32())}))
    read = read_table(DataSource(path, missing=("9007199254740992", "8.0", "0.1", "-1", "1e3", "300")))
    assert read["i"].to_pylist() == read["u"].to_pylist() == [None, 2**53 + 1, 7]
    assert read["s"].to_pylist() == [7, None, 9]
    assert read["f"].to_pylist() == [None, None, 1e22]
    assert read["g"].is_null().to_pylist() == [True, True, False]
    other = read_table(DataSource(path, missing=("9007199254740993", "0.10000000000000000001", "9" * 400)))
    assert other["i"].to_pylist() == [2**53, None, 7]
    assert other["f"].to_pylist() == floats


def test_floats_of_16_bits_are_read_with_their_own_digits(tmp_path: Path) -> None:
    halves = pa.array(np.array([0.1, 2.5, -0.0, np.nan, 65504], np.float16))
    stored(tmp_path / "t.parquet", pa.table({"h": pa.concat_arrays([halves, pa.nulls(1, pa.float16())])}))
    table = read_table(DataSource(tmp_path / "t.parquet", missing=("2.5",)))
    assert canonical_text(table["h"]).to_pylist() == ["0.1", None, "0", None, "65504", None]


def test_a_whole_number_of_32_bits_keeps_all_its_digits(tmp_path: Path) -> None:
    stored(tmp_path / "t.parquet", pa.table({"f": pa.array([2.0**30, 0.1], pa.float32())}))
    table = read_table(DataSource(tmp_path / "t.parquet"))
    assert canonical_text(table["f"]).to_pylist() == ["1073741824", "0.1"]


def test_the_unnamed_index_of_pandas_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2]}, index=[10, 20]).to_parquet(path)
    assert "__index_level_0__" in pq.read_schema(path).names
    assert column_names(DataSource(path)) == ["a"]
    table = read_table(DataSource(path))
    assert table.column_names == ["a"]
    assert table.schema.metadata is None


def test_only_the_columns_asked_for_can_be_of_a_wrong_type(tmp_path: Path) -> None:
    source = stored(tmp_path / "t.parquet", pa.table({"a": [1], "tags": [["x"]], "raw": [b"x"]}))
    assert read_table(source, ["a"]).to_pydict() == {"a": [1]}
    with raises(DataError, "column-type", "'tags'", "list<"):
        read_table(source)
    with raises(DataError, "column-type", "'raw'", "binary"):
        read_table(source, ["raw"])


def test_a_name_with_a_dot_is_one_column(tmp_path: Path) -> None:
    source = stored(tmp_path / "t.parquet", pa.table({"a": [{"b": 1}], "a.b": [2]}))
    assert read_table(source, ["a.b"]).to_pydict() == {"a.b": [2]}


def test_names_that_repeat_are_an_error(tmp_path: Path) -> None:
    source = stored(tmp_path / "t.parquet", pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with raises(DataError, "column-name-twice", "'a' (2 times)"):
        column_names(source)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1" + b"\0" * 20 + b"PAR1"])
def test_a_file_that_is_not_parquet_is_an_error_of_the_data(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(content)
    with raises(DataError, "not-parquet", "t.parquet"):
        read_table(DataSource(path))
