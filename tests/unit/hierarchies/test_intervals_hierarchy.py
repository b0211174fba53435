from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hierarchy_checks import built, leaves, refused, rows
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies import Intervals


def test_widths_are_aligned_to_the_origin_and_not_to_the_data() -> None:
    result = built(Intervals(widths=(5, 10, 20)), ["39", "21", "-1", "40"])
    assert rows(result) == {
        "-1": ["[-5, 0)", "[-10, 0)", "[-20, 0)", "*"],
        "21": ["[20, 25)", "[20, 30)", "[20, 40)", "*"],
        "39": ["[35, 40)", "[30, 40)", "[20, 40)", "*"],
        "40": ["[40, 45)", "[40, 50)", "[40, 60)", "*"],
    }
    assert rows(built(Intervals(widths=(10,), origin=3), ["12", "13"])) == {
        "12": ["[3, 13)", "*"],
        "13": ["[13, 23)", "*"],
    }


def test_the_same_number_in_other_words_is_one_leaf() -> None:
    result = built(Intervals(widths=(10,)), ["39", "39.0", "039", "3.9e1", "+39", " 39", "-0", "0.50"])
    assert leaves(result) == ["0", "0.5", "39"]
    assert result.codes.tolist() == [2, 2, 2, 2, 2, 2, 0, 1]


def test_tenths_are_exact() -> None:
    result = built(Intervals(widths=(0.1, 0.5)), [repr(tenth / 10) for tenth in range(10)] + ["0.30000000000000004"])
    assert rows(result)["0.3"] == ["[0.3, 0.4)", "[0, 0.5)", "*"]
    assert rows(result)["0.7"] == ["[0.7, 0.8)", "[0.5, 1)", "*"]
    assert rows(result)["0.30000000000000004"] == ["[0.3, 0.4)", "[0, 0.5)", "*"]


@given(
    st.lists(st.decimals(-1000, 1000, places=3), min_size=1, max_size=20, unique=True),
    st.sampled_from(["0.1", "0.25", "3", "7.5"]),
)
def test_every_number_lies_in_its_interval_and_the_ends_are_multiples(numbers: list[Decimal], width: str) -> None:
    result = built(Intervals(widths=(width, str(Decimal(width) * 3))), [str(number) for number in numbers])
    for number, code in zip(numbers, result.codes, strict=True):
        assert Decimal(str(result.hierarchy.labels[code])) == number
        for level, size in ((1, Decimal(width)), (2, Decimal(width) * 3)):
            label = str(result.hierarchy.labels[result.hierarchy.levels[level, code]])
            low, high = (Decimal(end) for end in label[1:-1].split(", "))
            assert low <= number < high
            assert high - low == size
            assert low % size == 0


def test_bounds_clip_intervals_and_the_upper_bound_is_in() -> None:
    result = built(Intervals(widths=(5, 10), bounds=(18, 90)), ["18", "20", "89", "90"])
    assert rows(result) == {
        "18": ["[18, 20)", "[18, 20)", "*"],
        "20": ["[20, 25)", "[20, 30)", "*"],
        "89": ["[85, 90)", "[80, 90)", "*"],
        "90": ["[90, 90]", "[90, 90]", "*"],
    }
    assert rows(built(Intervals(widths=(10,), bounds=(0, 99)), ["95"]))["95"] == ["[90, 99]", "*"]
    refused(
        Intervals(widths=(5,), bounds=(18, 90)),
        ["17", "50", "91.5"],
        "values-outside-bounds",
        "2 values (9 records)",
        "[18, 90]",
        counts=[4, 1, 5],
    )


def test_cut_points_may_be_infinite_outside() -> None:
    cuts: list[list[int | float | str]] = [[-math.inf, 18, 40, 65, math.inf], [-math.inf, 18, 65, "inf"]]
    assert rows(built(Intervals(cuts=cuts), ["3", "18", "64.9", "65"])) == {
        "3": ["(-inf, 18)", "(-inf, 18)", "*"],
        "18": ["[18, 40)", "[18, 65)", "*"],
        "64.9": ["[40, 65)", "[18, 65)", "*"],
        "65": ["[65, inf)", "[65, inf)", "*"],
    }
    assert rows(built(Intervals(cuts=cuts[:1], bounds=(0, 120)), ["3", "70"])) == {
        "3": ["[0, 18)", "*"],
        "70": ["[65, 120]", "*"],
    }


def test_values_outside_the_cut_points_are_listed() -> None:
    source = Intervals(cuts=[[0, 18, 65, 100], [18, 100]])
    first, second = refused(source, ["-1", "5", "20", "100"], "values-outside-cuts", counts=[1, 2, 3, 4])
    assert first.facts == {"values": {"100": 4, "-1": 1}, "records": 5}
    assert second.facts == {"values": {"100": 4, "5": 2, "-1": 1}, "records": 7}


def test_a_level_of_one_interval_stands_below_the_root() -> None:
    assert rows(built(Intervals(widths=(1000,)), ["1", None])) == {"1": ["[0, 1000)", "*"], None: [None, "*"]}
    assert rows(built(Intervals(widths=(5, 10)), [None])) == {None: [None, None, "*"]}


def test_values_that_are_no_numbers_are_listed_with_their_records() -> None:
    strays = ["1,234", "abc", "NaN", "inf", "", "0x10", "1_000", "١", "1e999999999", "1e99999999999999999999"]
    (problem,) = refused(Intervals(widths=(5,)), ["39", *strays], "values-not-numbers")
    assert problem.facts == {"values": dict.fromkeys(strays, 1), "records": 10}


@pytest.mark.parametrize(
    ("declared", "code", "named"),
    [
        ({}, "widths-or-cuts", "neither"),
        ({"widths": (5,), "cuts": ((0, 5),)}, "widths-or-cuts", "both"),
        ({"widths": (5, 12)}, "widths-not-nested", "12"),
        ({"widths": (10, 5)}, "widths-not-nested", "10"),
        ({"widths": (5, 5)}, "widths-not-nested", "5"),
        ({"widths": (0,)}, "width-not-positive", "0"),
        ({"widths": (-5,)}, "width-not-positive", "-5"),
        ({"widths": ("five",)}, "not-a-number", "width 'five'"),
        ({"widths": (True,)}, "not-a-number", "width True"),
        ({"widths": (math.inf,)}, "not-a-number", "width inf"),
        ({"widths": (5,), "origin": math.nan}, "not-a-number", "origin nan"),
        ({"widths": (5,), "bounds": (10, 0)}, "bounds", "10"),
        ({"widths": (5,), "bounds": (10,)}, "bounds", "two"),
        ({"cuts": ((0, 10, 5),)}, "cuts-not-increasing", "level 1"),
        ({"cuts": ((0, 10), (10,))}, "cuts-not-increasing", "level 2"),
        ({"cuts": ((0, 10, 20), (0, 15, 20))}, "cuts-not-nested", "15"),
        ({"cuts": ((0, 10, 20), (0, math.inf))}, "cuts-not-nested", "inf"),
    ],
)
def test_a_declaration_that_does_not_nest_is_refused(declared: dict[str, Any], code: str, named: str) -> None:
    refused(Intervals(**declared), ["1"], code, named)


def test_every_problem_of_the_declaration_is_told_at_once() -> None:
    refused(Intervals(widths=("a", "b"), origin="c"), ["1"], "not-a-number", "'a'", "'b'", "'c'")


def test_long_numbers_stay_exact() -> None:
    value = "123456789012345678901234567890123456789.125"
    assert rows(built(Intervals(widths=("0.25",)), [value]))[value][0] == f"[{value[:-4]}, {value[:-4]}.25)"
