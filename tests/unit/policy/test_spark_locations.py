"""Places of Spark's as one text, and what is known of Spark where it is not installed."""

from __future__ import annotations

import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, InputError
from shoal.io.spark.cluster import is_spark_frame, session_of
from shoal.policy.spark_location import SparkLocation
from support.raises import raises

words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
options = st.lists(st.tuples(words, words), max_size=3).map(tuple)


@given(path=words, given_options=options)
def test_a_path_reads_back_from_its_address(path: str, given_options: tuple[tuple[str, str], ...]) -> None:
    location = SparkLocation("csv", path, None, given_options)
    found = SparkLocation.of(location.address)
    assert found == location or path.startswith("table:")


def test_a_table_reads_back_from_its_address() -> None:
    location = SparkLocation("delta", None, "clinic.patients", (("versionAsOf", "3"),))
    assert location.address == "spark:delta:table:clinic.patients?versionAsOf=3"
    assert SparkLocation.of(location.address) == location


@pytest.mark.parametrize("text", ["patients.csv", "postgresql://host/base#t", "/spark/x.parquet", "s3://spark:x"])
def test_other_places_are_none_of_sparks(text: str) -> None:
    assert SparkLocation.of(text) is None


@pytest.mark.parametrize("text", ["spark:", "spark:parquet:", "spark::/x", "spark:parquet:table:"])
def test_half_an_address_is_refused(text: str) -> None:
    with raises(DataError, "unreadable-address"):
        SparkLocation.of(text)


def test_other_tables_are_no_frames_of_spark() -> None:
    class DataFrame:
        pass

    assert not any(is_spark_frame(each) for each in (DataFrame(), pa.table({}), None, "x"))


def test_without_pyspark_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r"shoal\[spark\]"):
        session_of({})
