"""Conditions on dates: what is a date, and which dates a condition asks for."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import PolicyProblem
from shoal.utility.columns import Domain
from shoal.utility.queries import read_queries

DAYS = ("2023-12-31", "2024-02-29", "2024-03-01", "2024-03-15", "2024-03-31", "2024-04-01", None)


def asked(condition: Any, days: tuple[str | None, ...] = DAYS) -> tuple[list[str | None], list[PolicyProblem]]:
    domain = Domain("day", days, "dates", np.arange(float(len(days))))
    (query,), problems = read_queries([{"day": condition}], {"day": domain})
    return [day for day, wanted in zip(days, query["day"], strict=True) if wanted], problems


@pytest.mark.parametrize(
    ("condition", "days"),
    [
        (["2024-02", "2024-03"], DAYS[1:5]),
        (["2024-03-15", "2024-03"], DAYS[3:5]),
        (["2024-03", "2024-03-15"], DAYS[2:4]),
        (["2024", "2024-02"], DAYS[1:2]),
        (["2023", "2024"], DAYS[:6]),
        ("2024-03", DAYS[2:5]),
        ("2024-03-15", DAYS[3:4]),
        ("2024-07-01", ()),
    ],
)
def test_dates_compare_as_far_as_they_are_written(condition: Any, days: tuple[str, ...]) -> None:
    assert asked(condition) == (list(days), [])


@pytest.mark.parametrize("condition", ["2024-03-15T10", ["2024-03-15T10:30", "2024-03-15T10:59:59.5"]])
def test_times_compare_in_the_same_way(condition: Any) -> None:
    times = ("2024-03-15T09:59:00", "2024-03-15T10:30:00", "2024-03-15T11:00:00")
    assert asked(condition, times) == ([times[1]], [])


@pytest.mark.parametrize(
    "text", ["banana", "2024-13", "2024-1", "2024-02-30", "2024-", "0000", "2024-03-15T25", "24-03-15", "\u0662024"]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    for condition in (text, [text, "2024-03-01"], ["2024-03-01", text], [text, text]):
        days, problems = asked(condition)
        assert days == []
        assert len(problems) == 1
        assert repr(text) in problems[0].message


def test_a_stretch_that_begins_after_its_end_is_refused() -> None:
    for ends in (["2024-04", "2024-03-31"], ["2024-03-02", "2024-03-01"], ["2025", "2024-12"]):
        assert asked(ends)[1][0].code == "range-reversed"


@given(st.lists(st.dates(datetime.date(1999, 1, 1), datetime.date(2002, 1, 1)), min_size=2, max_size=2).map(sorted),
       st.dates(datetime.date(1999, 1, 1), datetime.date(2002, 1, 1)))  # fmt: skip
def test_whole_dates_are_what_the_calendar_says(ends: list[datetime.date], day: datetime.date) -> None:
    found, problems = asked([end.isoformat() for end in ends], (day.isoformat(),))
    assert not problems
    assert bool(found) == (ends[0] <= day <= ends[1])
