from __future__ import annotations

import pytest
from hierarchy_checks import built, leaves, refused, rows

from shoal.hierarchies import Dates


def test_a_date_becomes_month_quarter_year_and_decade() -> None:
    assert rows(built(Dates(), ["2020-03-01", "1999-12-31"])) == {
        "1999-12-31": ["1999-12", "1999-Q4", "1999", "1990s", "*"],
        "2020-03-01": ["2020-03", "2020-Q1", "2020", "2020s", "*"],
    }


def test_every_unit_has_a_label_of_its_own() -> None:
    units = ("hour", "day", "month", "quarter", "half", "year", "decade", "century")
    assert rows(built(Dates(units), ["2020-07-04 09:30"])) == {
        "2020-07-04T09:30:00": [
            "2020-07-04T09",
            "2020-07-04",
            "2020-07",
            "2020-Q3",
            "2020-H2",
            "2020",
            "2020s",
            "2000-2099",
            "*",
        ]
    }
    assert rows(built(Dates(("half", "century")), ["0099-06-30"])) == {"0099-06-30": ["0099-H1", "0000-0099", "*"]}


def test_weeks_are_iso_weeks() -> None:
    assert rows(built(Dates(("week",)), ["2020-12-31", "2021-01-03", "2021-01-04"])) == {
        "2020-12-31": ["2020-W53", "*"],
        "2021-01-03": ["2020-W53", "*"],
        "2021-01-04": ["2021-W01", "*"],
    }


def test_a_unit_finer_than_the_value_leaves_it_as_it_is() -> None:
    result = built(Dates(("hour", "day", "month")), ["2020-03-01", "2020-03-02"])
    assert result.hierarchy.labels == ("2020-03-01", "2020-03-02", "2020-03", "*")
    assert rows(result)["2020-03-01"] == ["2020-03-01", "2020-03-01", "2020-03", "*"]


def test_leaves_are_canonical_and_in_time_order() -> None:
    values: list[str | None] = [
        "2020-10-01T00:00:00.000",
        "2019-01-01 23:59",
        "20201001T00",
        None,
        "2020-10-01T00:00:01.5",
    ]
    result = built(Dates(("day",)), values)
    assert leaves(result) == ["2019-01-01T23:59:00", "2020-10-01T00:00:00", "2020-10-01T00:00:01.500000", None]
    assert result.codes.tolist() == [1, 0, 1, 3, 2]


def test_times_with_an_offset_count_by_the_date_as_written() -> None:
    result = built(Dates(("day",)), ["2020-01-01T00:30:00+01:00", "2019-12-31T23:30:00Z"])
    assert rows(result) == {
        "2019-12-31T23:30:00+00:00": ["2019-12-31", "*"],
        "2020-01-01T00:30:00+01:00": ["2020-01-01", "*"],
    }


def test_a_format_reads_other_ways_of_writing() -> None:
    result = built(Dates(("month",), format="%d.%m.%Y"), ["01.03.2020", "1.3.2020"])
    assert leaves(result) == ["2020-03-01"]
    assert leaves(built(Dates(("day",), format="%d/%m/%y %H:%M"), ["01/03/20 14:05"])) == ["2020-03-01T14:05:00"]


def test_a_format_without_day_makes_leaves_of_whole_months() -> None:
    assert rows(built(Dates(("day", "month", "year"), format="%m/%Y"), ["03/2020"])) == {
        "2020-03": ["2020-03", "2020-03", "2020", "*"]
    }
    assert rows(built(Dates(("week",), format="%m/%Y"), ["03/2020"])) == {"2020-03": ["2020-03", "*"]}
    assert rows(built(Dates(("month", "decade"), format="%Y"), ["1987"])) == {"1987": ["1987", "1980s", "*"]}


def test_values_that_are_no_dates_are_listed_with_their_records() -> None:
    strays = [
        "2020-02-30",
        "01.03.2020",
        "soon",
        "",
        "2020-03",
        "2020-W09",
        "2020-03-01x10:00",
        "2020-01-01T00:00:00.123456789",
    ]
    (problem,) = refused(Dates(), ["2020-02-28", *strays], "values-not-dates")
    assert problem.facts == {"values": dict.fromkeys(strays, 1), "records": 8}
    refused(Dates(format="%d.%m.%Y"), ["2020-03-01"], "values-not-dates", "%d.%m.%Y")


def test_dates_among_times_are_refused() -> None:
    refused(Dates(("day",)), ["2020-03-01", "2020-03-01T10:00"], "dates-and-times")


@pytest.mark.parametrize(
    ("units", "code"),
    [
        (("week", "month"), "units-not-nested"),
        (("month", "week"), "units-not-nested"),
        (("year", "month"), "units-not-nested"),
        (("month", "month"), "units-not-nested"),
        (("week", "week"), "units-not-nested"),
        (("mnth",), "unknown-unit"),
    ],
)
def test_units_that_do_not_nest_are_refused(units: tuple[str, ...], code: str) -> None:
    refused(Dates(units), ["2020-03-01"], code)


def test_days_and_hours_nest_in_weeks() -> None:
    assert rows(built(Dates(("hour", "day", "week")), ["2020-03-01T10:00"])) == {
        "2020-03-01T10:00:00": ["2020-03-01T10", "2020-03-01", "2020-W09", "*"]
    }


@pytest.mark.parametrize("form", ["%H:%M", "%Y-%Q", "%G-%m"])
def test_a_format_that_cannot_work_is_refused(form: str) -> None:
    refused(Dates(format=form), ["2020-03-01"], "date-format", form)
