"""Dates as days since another date: a table worked out by hand, and a naive reading of random ones."""

import datetime

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Policy
from shoal.encode.relative_dates import rows_as_read
from shoal.errors import PolicyError
from shoal.table.distinct_rows import DistinctRows
from shoal.verification.relative_dates import in_days
from shoal.verification.stated_policy import stated

VISITS = pa.table(
    {
        "id": ["u", "v", "u", "u", "v", "w"],
        "born": ["1990-01-01", "1980-06-01", "1990-01-01", "1990-01-01", "1980-06-01", None],
        "in": ["2020-02-28", "2020-01-05", "2020-03-01", None, "2019-12-31T23:59", None],
        "out": ["2020-03-01", "2020-01-05", "2020-02-29", "2020-04-01", "2020-01-01T00:00", "2021-01-01"],
        "sex": ["F"] * 6,
    }
)
EXPECTED = {
    "in": [0, 5, 2, None, 0, None],  # since each one's first: u's is 2020-02-28, v's 2019-12-31
    "out": [2, 0, -1, None, 1, None],  # since the date in "in"; 2020 has a 29th of February
}


def policy_of(**roles: str) -> Policy:
    columns = {
        "id": {"role": "identifier"},
        "born": {"role": "identifier"},
        "in": {"role": roles.get("in", "insensitive"), "relative": "first"},
        "out": {"role": roles.get("out", "insensitive"), "relative": "in"},
        "sex": {"role": "quasi"},
    }
    content = {
        "columns": columns,
        "person": "id",
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "algorithm": "optimal",
    }
    return Policy.model_validate(content)


def days_of(table: pa.Table, policy: Policy) -> dict[str, list[int | None]]:
    rows = rows_as_read(DistinctRows.of(table), policy)
    assert rows.of_record is not None
    return {name: rows.columns[name].of_type(rows.of_record).to_pylist() for name in policy.relative_columns}


def test_a_table_by_hand() -> None:
    policy = policy_of()
    assert days_of(VISITS, policy) == EXPECTED
    columns = {name: VISITS.column(name).combine_chunks() for name in VISITS.column_names}
    again = in_days(columns, stated(policy))
    shown = {name: [None if day is None else str(day) for day in days] for name, days in EXPECTED.items()}
    assert {name: again[name].to_pylist() for name in EXPECTED} == shown, "by the verifier"


def test_dates_count_from_an_identifier_that_is_not_released() -> None:
    columns = {
        "born": {"role": "identifier"},
        "in": {"role": "insensitive", "relative": "born"},
        "sex": {"role": "quasi"},
    }
    content = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "algorithm": "optimal"}
    policy = Policy.model_validate(content)
    release = shoal.anonymize(VISITS, policy)
    days = (datetime.date(2020, 2, 28) - datetime.date(1990, 1, 1)).days
    assert release.table.column_names == ["in", "sex"]
    assert sorted(day for day in release.table["in"].to_pylist() if day is not None) == sorted(
        [
            days,
            days + 2,
            *[(datetime.date(*each) - datetime.date(1980, 6, 1)).days for each in ((2020, 1, 5), (2019, 12, 31))],
        ]
    )
    assert release.facts.verified


@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive"])
def test_every_role_releases_and_verifies_days(role: str) -> None:
    release = shoal.anonymize(VISITS, policy_of(out=role))
    assert release.facts.verified
    assert release.facts.columns["out"].relative == "in"
    assert "2020" not in str(release.table.to_pydict())


def test_arrow_dates_and_timestamps_are_read_like_text() -> None:
    days = [None if text is None else datetime.datetime.fromisoformat(text) for text in VISITS["in"].to_pylist()]
    table = VISITS.set_column(2, "in", pa.array(days, pa.timestamp("us")))
    assert days_of(table, policy_of()) == EXPECTED
    dates = [None if day is None else day.date() for day in days]
    assert days_of(VISITS.set_column(2, "in", pa.array(dates, pa.date32())), policy_of()) == EXPECTED


@pytest.mark.parametrize("text", ["28.02.2020", "2020-02-30", "2020-02", "2020-02-28 noon", "43889", "2020-02-28x"])
def test_what_is_no_date_is_a_problem_with_its_records(text: str) -> None:
    table = VISITS.set_column(2, "in", pa.array([text, *VISITS["in"].to_pylist()[1:]]))
    with pytest.raises(PolicyError) as error:
        shoal.anonymize(table, policy_of())
    assert [(each.where, each.code) for each in error.value.problems] == [("columns.in", "values-not-dates")]


def test_the_order_of_the_records_means_nothing() -> None:
    turned = VISITS.take(pa.array([5, 3, 1, 4, 2, 0]))
    policy = policy_of()
    assert shoal.anonymize(turned, policy).table.equals(shoal.anonymize(VISITS, policy).table)


DATES = st.one_of(st.none(), st.dates(datetime.date(1999, 1, 1), datetime.date(2001, 1, 1)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("uvw"), DATES, DATES), min_size=1, max_size=12))
def test_days_are_what_a_naive_reading_gives(
    events: list[tuple[str, datetime.date | None, datetime.date | None]],
) -> None:
    texts = [
        [None if day is None else day.isoformat() for day in column] for column in list(zip(*events, strict=True))[1:]
    ]
    table = pa.table(
        {
            "id": [who for who, _, _ in events],
            "in": pa.array(texts[0], pa.string()),
            "out": pa.array(texts[1], pa.string()),
        }
    )
    first: dict[str, datetime.date] = {}
    for who, day, _ in events:
        if day is not None:
            first[who] = min(day, first.get(who, day))
    expected = {
        "in": [None if day is None else (day - first[who]).days for who, day, _ in events],
        "out": [None if day is None or to is None else (to - day).days for _, day, to in events],
    }
    assert days_of(table, policy_of()) == expected
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    again = in_days(columns, stated(policy_of()))
    assert {
        name: [None if each is None else int(each) for each in again[name].to_pylist()] for name in expected
    } == expected
