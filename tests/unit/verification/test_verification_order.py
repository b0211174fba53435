"""The order of a release's rows: that of their cells, so that it tells nothing of the original's."""

from __future__ import annotations

from collections.abc import Callable

import pandas
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from verification_tables import Row, as_it_stands, by_cells, failed

from shoal.io import in_order_of_cells
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.verification.read import read_release
from shoal.verification.release_checks import check_order

MakePolicy = Callable[..., Policy]
CELLS = st.sampled_from([None, "", "*", "9", "10", "-1", "a", "Z", "é", "\U0001f600", "\uffff"])


def test_a_release_in_the_order_of_the_original_fails(
    release: list[Row], original: pa.Table, make_policy: MakePolicy
) -> None:
    found = verify(as_it_stands(release), make_policy(), original)
    assert failed(found) == {"order"}
    assert "3 of 12 rows come before one that sorts ahead of them, the first in row 2" in str(found)
    assert "sort the rows by the text of their cells" in str(found)
    assert verify(as_it_stands(by_cells(release)), make_policy(), original).passed


@given(st.lists(st.tuples(CELLS, CELLS, CELLS)))
def test_the_order_is_that_of_python_texts_with_the_missing_last(rows: list[tuple[str | None, ...]]) -> None:
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate("bca")}
    table = pa.table(columns)
    expected = sorted(rows, key=lambda row: [(cell is None, cell or "") for cell in row])
    written = in_order_of_cells(table)
    assert list(zip(*(column.to_pylist() for column in written.columns), strict=True)) == expected
    assert check_order(read_release(written)).passed
    assert check_order(read_release(table)).passed == (rows == expected)


@given(st.lists(st.sampled_from([9, 10, -1, 2.5, 100, None]), min_size=1))
def test_numbers_stand_in_the_order_of_their_texts_whatever_their_type(values: list[float | None]) -> None:
    table = in_order_of_cells(pa.table({"x": pa.array(values, pa.float64())}))
    shown = [None if value is None else f"{value:g}" for value in table.column("x").to_pylist()]
    assert shown == sorted(shown, key=lambda text: (text is None, text or ""))
    assert check_order(read_release(table)).passed
    assert check_order(read_release(pa.table({"x": pa.array(shown, pa.string())}))).passed


class TestBesideTheCells:
    @pytest.fixture
    def frame(self, release: list[Row]) -> pandas.DataFrame:
        return pandas.DataFrame(by_cells(release))

    def test_a_count_from_0_is_no_value(self, frame: pandas.DataFrame, make_policy: MakePolicy) -> None:
        assert verify(frame, make_policy()).passed
        frame.index = pandas.Index(list(range(12)))
        assert verify(frame, make_policy()).passed

    @pytest.mark.parametrize(
        "labels",
        [
            [f"person {place}" for place in range(12)],
            list(range(11, -1, -1)),
            list(range(1, 13)),
            pandas.MultiIndex.from_arrays([range(12), range(12)]),
            pandas.RangeIndex(12, name="Ann Smith"),
        ],
    )
    def test_an_index_that_holds_values_is_found(
        self, frame: pandas.DataFrame, make_policy: MakePolicy, labels: object
    ) -> None:
        frame.index = labels  # type: ignore[assignment]
        assert failed(verify(frame, make_policy())) == {"baggage"}

    def test_attrs_and_a_name_of_the_columns_are_found(self, frame: pandas.DataFrame, make_policy: MakePolicy) -> None:
        named = frame.rename_axis(columns="Ann Smith")
        assert "(Ann Smith)" in str(verify(named, make_policy()))
        frame.attrs["source"] = "patients.csv"
        assert "it carries attrs (source)" in str(verify(frame, make_policy()))

    def test_row_labels_that_arrow_keeps_as_a_column_are_found(
        self, frame: pandas.DataFrame, make_policy: MakePolicy
    ) -> None:
        frame.index = pandas.Index([f"person {place}" for place in range(12)])
        kept = pa.Table.from_pandas(frame, preserve_index=True).replace_schema_metadata(None)
        assert failed(verify(kept, make_policy())) == {"baggage"}
