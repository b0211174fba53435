from __future__ import annotations

import datetime as dt
import math
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.errors import DataError
from shoal.io import FrameKind, canonical_text, frame_names, from_arrow, is_frame, to_arrow
from support.raises import raises

DATA = {"age": [39, 5, 39], "name": ["Ann", None, "Bo"]}
MORNING = dt.datetime.fromisoformat("2020-01-01T03:00:00")


def test_each_kind_comes_back_as_it_came() -> None:
    frames: list[tuple[Any, FrameKind, type]] = [
        (pa.table(DATA), FrameKind.ARROW, pa.Table),
        (pa.RecordBatch.from_pydict(DATA), FrameKind.ARROW, pa.Table),
        (pa.table(DATA).to_reader(), FrameKind.ARROW, pa.Table),
        (pd.DataFrame(DATA), FrameKind.PANDAS, pd.DataFrame),
        (pl.DataFrame(DATA), FrameKind.POLARS, pl.DataFrame),
        (pl.LazyFrame(DATA), FrameKind.POLARS, pl.DataFrame),
    ]
    for frame, kind, back in frames:
        assert is_frame(frame)
        assert frame_names(frame) == ["age", "name"]
        table, found = to_arrow(frame)
        assert found is kind
        assert table.to_pydict() == DATA
        assert type(from_arrow(table, found)) is back


def test_a_subclass_of_a_dataframe_is_a_dataframe() -> None:
    class Patients(pd.DataFrame):  # type: ignore[misc]  # pandas is untyped here
        pass

    table, kind = to_arrow(Patients(DATA))
    assert (kind, table.num_rows) == (FrameKind.PANDAS, 3)


def test_whatever_exports_an_arrow_stream_is_a_table() -> None:
    class Exporter:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table(DATA).__arrow_c_stream__(requested_schema)

    assert frame_names(Exporter()) == ["age", "name"]
    table, kind = to_arrow(Exporter())
    assert kind is FrameKind.ARROW
    assert table.to_pydict() == DATA


@pytest.mark.parametrize("wrong", [[1, 2], {"a": [1]}, "people.csv", None, pd.Series([1]), pl.Series([1]), 7])
def test_what_is_no_table_is_refused(wrong: object) -> None:
    assert not is_frame(wrong)
    with raises(DataError, "not-a-table", type(wrong).__name__):
        to_arrow(wrong)


def test_an_export_that_is_no_table_is_refused() -> None:
    with raises(DataError, "not-a-table"):
        to_arrow(pa.chunked_array([[1, 2]]))


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([10, 20, 30]),
        pd.Index(["x", "y", "z"], name="patient"),
        pd.Index([1, 1, 1]),
        pd.MultiIndex.from_tuples([(1, 2), (1, 3), (2, 2)], names=["a", "b"]),
        pd.Index([39, 5, 39], name="age"),
    ],
)
def test_the_index_never_enters(index: pd.Index) -> None:
    frame = pd.DataFrame(DATA).set_index(index)
    table, kind = to_arrow(frame)
    assert table.column_names == ["age", "name"]
    assert table.schema.metadata is None
    assert list(from_arrow(table, kind).index) == [0, 1, 2]


def test_the_unnamed_index_inside_an_arrow_table_never_enters() -> None:
    table = pa.Table.from_pandas(pd.DataFrame(DATA, index=[7, 8, 9]))
    assert "__index_level_0__" in table.column_names
    assert frame_names(table) == ["age", "name"]
    assert to_arrow(table)[0].column_names == ["age", "name"]
    assert to_arrow(table)[0].schema.metadata is None


def test_only_the_columns_asked_for_are_converted() -> None:
    bad = [object(), object()]
    pandas = pd.DataFrame({"ok": [1, 2], "bad": bad, "list": [[1], [2]]})
    polars = pl.DataFrame({"ok": [1, 2], "bad": pl.Series(bad, dtype=pl.Object), "list": [[1], [2]]})
    for frame in (pandas, polars, polars.lazy()):
        assert to_arrow(frame, ["ok"])[0].to_pydict() == {"ok": [1, 2]}
        for name in ("bad", "list"):
            with raises(DataError, "column-type", f"'{name}'"):
                to_arrow(frame, ["ok", name])


def test_columns_come_in_the_order_asked_for() -> None:
    for frame in (pd.DataFrame(DATA), pl.DataFrame(DATA), pa.table(DATA)):
        assert to_arrow(frame, ["name", "age"])[0].column_names == ["name", "age"]
        with raises(DataError, "unknown-column", "'agee'", "'age'"):
            to_arrow(frame, ["agee"])


def test_names_that_repeat_are_an_error() -> None:
    for frame in (pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])):
        with raises(DataError, "column-name-twice", "'a' (2 times)"):
            to_arrow(frame)


def test_names_that_are_not_text_are_an_error() -> None:
    with raises(DataError, "column-name-not-text", "column 2 is 7 (int)"):
        to_arrow(pd.DataFrame([[1, 2]], columns=["a", 7]))
    with raises(DataError, "column-name-levels", "2 levels"):
        to_arrow(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])))
    with raises(DataError, "unnamed-column", "column 1"):
        to_arrow(pl.DataFrame({"": [1]}))


@pytest.mark.parametrize(
    "values",
    [
        [1, "a"],
        ["a", 1],
        ["1", 2.5],
        [True, 1],
        [1, True],
        [dt.date(2020, 1, 1), MORNING],
        [MORNING, dt.date(2020, 1, 1)],
        [MORNING, dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
        [dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
        [Decimal("1.5"), 2.5],
        ["a", b"a"],
        [np.bool_(True), "a"],
    ],
)
def test_an_object_column_of_mixed_types_is_refused_in_any_order(values: list[object]) -> None:
    for order in (values, values[::-1], [None, *values, float("nan")]):
        with raises(DataError, "column-type", "'mix'"):
            to_arrow(pd.DataFrame({"mix": pd.Series(order, dtype=object)}))


def test_categories_of_mixed_types_are_refused() -> None:
    with raises(DataError, "column-type", "'mix'", "number, text"):
        to_arrow(pd.DataFrame({"mix": pd.Categorical([1, "a"])}))


def test_an_object_column_of_one_type_is_read() -> None:
    columns: dict[str, list[object]] = {
        "text": ["a", None],
        "text and nan": ["a", float("nan")],
        "text and NA": ["a", pd.NA],
        "whole and broken": [1, 2.5],
        "yes": [True, None],
        "day": [dt.date(2020, 1, 1), pd.NaT],
        "nothing": [None, None],
    }
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    assert to_arrow(frame)[0].to_pydict() == {
        "text": ["a", None],
        "text and nan": ["a", None],
        "text and NA": ["a", None],
        "whole and broken": [1.0, 2.5],
        "yes": [True, None],
        "day": [dt.date(2020, 1, 1), None],
        "nothing": [None, None],
    }


def test_nanoseconds_in_an_object_column_are_kept() -> None:
    moment = pd.Timestamp("2020-01-01T00:00:00.000000001")
    table, _ = to_arrow(pd.DataFrame({"t": pd.Series([moment, None], dtype=object)}))
    assert canonical_text(table["t"]).to_pylist() == ["2020-01-01T00:00:00.000000001", None]


def test_numbers_too_large_for_arrow_are_refused_by_column() -> None:
    with raises(DataError, "column-type", "'n'"):
        to_arrow(pd.DataFrame({"n": pd.Series([2**70], dtype=object)}))


def test_sparse_columns_are_read() -> None:
    assert to_arrow(pd.DataFrame({"s": pd.arrays.SparseArray([0, 0, 1])}))[0].to_pydict() == {"s": [0, 0, 1]}


@pytest.mark.parametrize(
    "values",
    [
        pd.period_range("2020", periods=2, freq="D"),
        pd.interval_range(0, 2),
        pd.to_timedelta([1, 2], unit="s"),
        np.array([1j, 2j]),
    ],
)
def test_types_without_a_single_value_are_refused_by_column(values: Any) -> None:
    with raises(DataError, "column-type", "'odd'"):
        to_arrow(pd.DataFrame({"odd": values}))


def test_nan_is_null_in_every_kind() -> None:
    values = [1.5, math.nan]
    frames = [
        pd.DataFrame({"x": values}),
        pl.DataFrame({"x": values}),
        pa.table({"x": values}),
        pa.table({"x": pa.array(values, pa.float32())}),
        pa.table({"x": pa.array(values).dictionary_encode()}),
    ]
    for frame in frames:
        assert to_arrow(frame)[0].to_pydict() == {"x": [1.5, None]}


def test_categories_become_values() -> None:
    unused = pa.DictionaryArray.from_arrays(pa.array([1, None]), pa.array(["unused", "x"]))
    views = pa.DictionaryArray.from_arrays(pa.array([1, None]), pa.array(["unused", "x"], pa.string_view()))
    frames = [
        pd.DataFrame({"c": pd.Categorical(["x", None], categories=["unused", "x"])}),
        pl.DataFrame({"c": pl.Series(["x", None], dtype=pl.Categorical)}),
        pl.DataFrame({"c": pl.Series(["x", None], dtype=pl.Enum(["unused", "x"]))}),
        pa.table({"c": unused}),
        pa.table({"c": views}),
        pa.table({"c": pa.chunked_array([unused, unused.slice(2)])}),
    ]
    for frame in frames:
        table, _ = to_arrow(frame)
        assert table["c"].type in (pa.string(), pa.large_string())
        assert table["c"].to_pylist() == ["x", None]


def test_missing_marks_become_null_in_texts_and_in_numbers_that_a_mark_writes() -> None:
    frame = pd.DataFrame({"a": ["?", "x"], "n": [1, 2], "f": [0.5, 1.0], "b": [True, False]})
    table, _ = to_arrow(frame, missing=("?", "1"))
    assert table.to_pydict() == {"a": [None, "x"], "n": [None, 2], "f": [0.5, None], "b": [True, False]}


def test_integers_with_a_missing_value_do_not_become_floats_in_pandas() -> None:
    frame = from_arrow(pa.table({"n": [5, None], "m": [5, 6], "b": [True, None]}), FrameKind.PANDAS)
    assert frame["n"].dtype == "Int64"
    assert frame["m"].dtype == "int64"
    assert frame["b"].dtype == "boolean"
    assert frame["n"].astype(str).tolist()[0] == "5"


def test_a_table_of_no_rows_keeps_its_columns() -> None:
    for frame in (pd.DataFrame(DATA).iloc[:0], pl.DataFrame(DATA).clear(), pa.table(DATA).slice(0, 0)):
        table, kind = to_arrow(frame)
        assert (table.num_rows, table.column_names) == (0, ["age", "name"])
        assert len(from_arrow(table, kind)) == 0
        assert to_arrow(from_arrow(table, kind))[0].column_names == ["age", "name"]


def python(script: str) -> str:
    source = str(Path(__file__).parents[3] / "src")
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONPATH": source}
    )
    return run.stdout.strip()


def test_importing_io_imports_neither_pandas_nor_polars_nor_parquet() -> None:
    script = "import sys, shoal.io; print(sorted({'pandas', 'polars', 'pyarrow.parquet'} & set(sys.modules)))"
    assert python(script) == "[]"


def test_everything_works_where_pandas_and_polars_are_not_installed(tmp_path: Path) -> None:
    script = f"""
import sys
class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name in ("pandas", "polars"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NotInstalled())
from pathlib import Path
import pyarrow as pa
import shoal.io as io
table, kind = io.to_arrow(pa.table({{"a": [1.0, None], "b": ["x", "y"]}}))
for name in ("out.csv", "out.parquet"):
    path = Path({str(tmp_path)!r}) / name
    io.write_table(io.from_arrow(table, kind), path)
    print(io.encode(io.read_table(io.release_source(path))["a"])[0])
"""
    assert python(script) == "['1', None]\n['1', None]"
