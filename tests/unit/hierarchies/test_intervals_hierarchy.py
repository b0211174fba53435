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
    text = refused(source, ["-1", "5", "20", "100"], "outside the cut points of level 1, [0, 100)", counts=[1, 2, 3, 4])
    assert "2 values (5 records)" in text
    assert "level 2, [18, 100): '100' (4 records), '5' (2 records), '-1' (1 record)" in text


def test_a_level_of_one_interval_stands_below_the_root() -> None:
    assert rows(built(Intervals(widths=(1000,)), ["1", None])) == {"1": ["[0, 1000)", "*"], None: [None, "*"]}
    assert rows(built(Intervals(widths=(5, 10)), [None])) == {None: [None, None, "*"]}


def test_values_that_are_no_numbers_are_listed_with_their_records() -> None:
    strays = ["1,234", "abc", "NaN", "inf", "", "0x10", "1_000", "١", "1e999999999", "1e99999999999999999999"]
    text = refused(Intervals(widths=(5,)), ["39", *strays], "10 values (10 records) of the data are not numbers")
    assert all(repr(stray) in text for stray in strays)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({}, "neither widths nor cuts"),
        ({"widths": (5,), "cuts": ((0, 5),)}, "both widths and cuts"),
        ({"widths": (5, 12)}, "the width 12 is not a multiple of the width 5"),
        ({"widths": (10, 5)}, "the width 5 is not a multiple of the width 10"),
        ({"widths": (5, 5)}, "not a multiple"),
        ({"widths": (0,)}, "the width 0 is not positive"),
        ({"widths": (-5,)}, "not positive"),
        ({"widths": ("five",)}, "the width 'five' is not a number"),
        ({"widths": (True,)}, "the width True is not a number"),
        ({"widths": (math.inf,)}, "the width inf is not a number"),
        ({"widths": (5,), "origin": math.nan}, "the origin nan is not a number"),
        ({"widths": (5,), "bounds": (10, 0)}, "wrong order"),
        ({"widths": (5,), "bounds": (10,)}, "bounds are two numbers"),
        ({"cuts": ((0, 10, 5),)}, "level 1 are not two or more increasing"),
        ({"cuts": ((0, 10), (3,))}, "level 2 are not two or more increasing"),
        ({"cuts": ((0, 10, 20), (0, 15, 20))}, "the cut points 15 of level 2 are not among those of level 1"),
        ({"cuts": ((0, 10, 20), (0, math.inf))}, "the cut points inf of level 2"),
    ],
)
def test_a_declaration_that_does_not_nest_is_refused(declared: dict[str, Any], message: str) -> None:
    refused(Intervals(**declared), ["1"], message)


def test_every_problem_of_the_declaration_is_told_at_once() -> None:
    refused(Intervals(widths=("a", "b"), origin="c"), ["1"], "'a'", "'b'", "'c'")


def test_long_numbers_stay_exact() -> None:
    value = "123456789012345678901234567890123456789.125"
    assert rows(built(Intervals(widths=("0.25",)), [value]))[value][0] == f"[{value[:-4]}, {value[:-4]}.25)"
