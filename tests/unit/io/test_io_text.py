from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.io import canonical_text, encode, to_arrow


def texts(values: list[object], kind: pa.DataType | None = None) -> list[str | None]:
    result = canonical_text(pa.array(values, kind))
    assert result.type == pa.string()
    found: list[str | None] = result.to_pylist()
    return found


def test_text_is_untouched() -> None:
    values: list[object] = ["39.0", " x ", "", None, "NaN", "é"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert texts(values, kind) == values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (39.0, "39"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (1e16, "10000000000000000"),
        (2.0**70, "1180591620717411303424"),
        (1e-7, "1e-07"),
        (math.nan, None),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_floats_are_written_like_the_number_they_are(value: float, text: str | None) -> None:
    assert texts([value]) == [text]


def test_narrow_floats_have_their_own_shortest_digits() -> None:
    assert texts([0.1, 39.0, None], pa.float32()) == ["0.1", "39", None]
    assert canonical_text(pa.array(np.array([0.1, 2], dtype=np.float16))).to_pylist() == ["0.1", "2"]


def test_integers_of_every_width() -> None:
    assert texts([2**64 - 1], pa.uint64()) == [str(2**64 - 1)]
    assert texts([-128, 7], pa.int8()) == ["-128", "7"]


def test_booleans_are_words() -> None:
    assert texts([True, False, None]) == ["true", "false", None]


def test_decimals_are_written_like_numbers() -> None:
    assert texts([Decimal("1.50"), Decimal("2.00"), Decimal("-0.00")]) == ["1.5", "2", "0"]
    assert texts([Decimal("0.0000001")]) == texts([1e-7])
    assert texts([Decimal("1234567890123456789.10")]) == ["1234567890123456789.1"]
    assert texts([Decimal("12.30")], pa.decimal32(5, 2)) == ["12.3"]
    assert texts([Decimal("9" * 60 + ".50")], pa.decimal256(70, 2)) == ["9" * 60 + ".5"]


def test_dates_are_iso() -> None:
    day = dt.date(2020, 1, 5)
    assert texts([day, None], pa.date32()) == ["2020-01-05", None]
    assert texts([day], pa.date64()) == ["2020-01-05"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_timestamp_is_written_alike_in_every_unit(unit: str) -> None:
    written = ["2020-01-05", "2020-01-05T13:00:00", "1969-12-31T23:59:59"]
    values: list[object] = [dt.datetime.fromisoformat(text) for text in written]
    assert texts(values, pa.timestamp(unit)) == written


def test_fractions_of_a_second_have_no_idle_zeros() -> None:
    assert texts([1_500], pa.timestamp("ms")) == ["1970-01-01T00:00:01.5"]
    assert texts([-1], pa.timestamp("ns")) == ["1969-12-31T23:59:59.999999999"]
    assert texts([1_020_000], pa.timestamp("us")) == ["1970-01-01T00:00:01.02"]


def test_a_time_zone_is_kept_as_its_offset() -> None:
    winter, summer = 1578182400, 1593561600
    assert texts([winter, summer], pa.timestamp("s", "Europe/Berlin")) == [
        "2020-01-05T01:00:00+01:00",
        "2020-07-01T02:00:00+02:00",
    ]
    assert texts([winter], pa.timestamp("s", "UTC")) == ["2020-01-05T00:00:00+00:00"]
    assert texts([winter], pa.timestamp("ms", "-03:30"))[0][-6:] == "-03:30"  # type: ignore[index]


def test_an_unknown_time_zone_is_an_error_of_the_data() -> None:
    with pytest.raises(DataError, match="Nowhere/At_All"):
        texts([0], pa.timestamp("s", "Nowhere/At_All"))


def test_times_of_day_are_iso() -> None:
    assert texts([dt.time(13, 0), dt.time(0, 0, 1, 500)], pa.time64("ns")) == ["13:00:00", "00:00:01.0005"]
    assert texts([dt.time(0)], pa.time32("s")) == ["00:00:00"]


def test_types_without_a_text_are_refused() -> None:
    for array in (pa.array([[1]]), pa.array([b"x"]), pa.array([1], pa.duration("s"))):
        with pytest.raises(DataError, match="no canonical text"):
            canonical_text(array)
        with pytest.raises(DataError, match="no canonical text"):
            encode(array)


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.null(), pa.float64(), pa.timestamp("s", "UTC")])
def test_an_empty_column_has_no_texts(kind: pa.DataType) -> None:
    for array in (pa.array([], kind), pa.chunked_array([], kind)):
        assert canonical_text(array).equals(pa.array([], pa.string()))
        labels, codes = encode(array)
        assert labels == []
        assert codes.dtype == np.int32
        assert len(codes) == 0


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.null(), pa.float64()])
def test_a_column_of_nothing_but_missing_values_has_one_value(kind: pa.DataType) -> None:
    labels, codes = encode(pa.nulls(3, kind))
    assert labels == [None]
    assert codes.tolist() == [0, 0, 0]
    assert canonical_text(pa.nulls(3, kind)).to_pylist() == [None] * 3


def test_the_same_ages_in_any_type_are_the_same_codes() -> None:
    ages = [39, 5, None, 39, 100]
    written = [None if age is None else str(age) for age in ages]
    columns = {
        "int64": pa.array(ages),
        "int8": pa.array(ages, pa.int8()),
        "float64": pa.array(ages, pa.float64()),
        "nan": pa.array([math.nan if age is None else float(age) for age in ages], from_pandas=False),
        "decimal": pa.array([None if age is None else Decimal(age) for age in ages], pa.decimal128(8, 3)),
        "text": pa.array(written),
        "dictionary": pa.array(written).dictionary_encode(),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3, 4, 5]), pa.array(ages)),
        "pandas": to_arrow(pd.DataFrame({"a": ages}))[0]["a"],
        "pandas nullable": to_arrow(pd.DataFrame({"a": pd.array(ages, dtype="Int64")}))[0]["a"],
        "pandas category": to_arrow(pd.DataFrame({"a": pd.Categorical(ages)}))[0]["a"],
        "pandas object": to_arrow(pd.DataFrame({"a": pd.Series(ages, dtype=object)}))[0]["a"],
        "polars": to_arrow(pl.DataFrame({"a": ages}))[0]["a"],
        "polars categorical": to_arrow(pl.DataFrame({"a": pl.Series(written, dtype=pl.Categorical)}))[0]["a"],
    }
    for name, column in columns.items():
        labels, codes = encode(column)
        assert labels == ["100", "39", "5", None], name
        assert codes.tolist() == [1, 2, 3, 1, 0], name
        assert canonical_text(column).to_pylist() == written, name


def test_the_same_days_in_any_type_are_the_same_codes() -> None:
    days = [dt.date(2020, 1, 5), None, dt.date(1999, 12, 31)]
    frame = pd.DataFrame({"d": pd.to_datetime(pd.Series(days))})
    columns = [
        pa.array(days),
        pa.array(["2020-01-05", None, "1999-12-31"]),
        to_arrow(frame)[0]["d"],
        to_arrow(pd.DataFrame({"d": pd.Series(days, dtype=object)}))[0]["d"],
        to_arrow(pl.DataFrame({"d": days}))[0]["d"],
    ]
    for column in columns:
        labels, codes = encode(column)
        assert labels == ["1999-12-31", "2020-01-05", None]
        assert codes.tolist() == [1, 2, 0]


def test_values_that_share_a_text_share_a_code() -> None:
    labels, codes = encode(pa.array([0.0, -0.0, 1.0]))
    assert labels == ["0", "1"]
    assert codes.tolist() == [0, 0, 1]


def test_texts_are_sorted_by_code_point() -> None:
    values = ["b", "B", "é", "\U0001f600", "\uffff", "10", "9"]
    assert encode(pa.array(values))[0] == sorted(values)


@given(st.lists(st.one_of(st.none(), st.text(max_size=3))), st.integers(1, 4))
def test_codes_lead_back_to_the_values_whatever_the_chunks(values: list[str | None], width: int) -> None:
    chunks = [pa.array(values[start : start + width], pa.string()) for start in range(0, len(values), width)]
    labels, codes = encode(pa.chunked_array(chunks, pa.string()))
    assert [labels[code] for code in codes] == values
    assert len(set(labels)) == len(labels)
    assert set(codes.tolist()) == set(range(len(labels)))
    assert canonical_text(pa.chunked_array(chunks, pa.string())).to_pylist() == values


@given(st.lists(st.floats()))
def test_a_float_is_read_back_from_its_text(values: list[float]) -> None:
    for value, text in zip(values, canonical_text(pa.array(values, pa.float64())).to_pylist(), strict=True):
        assert (text is None) if math.isnan(value) else float(text) == value


@given(st.permutations(["a", None, "b", "a", "c", "é"]))
def test_the_labels_do_not_depend_on_the_order_of_the_rows(values: list[str | None]) -> None:
    assert encode(pa.array(values))[0] == ["a", "b", "c", "é", None]
