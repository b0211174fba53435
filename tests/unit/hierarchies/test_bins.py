"""Bins of sensitive numbers: how they are written and ordered, and which of them overlap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies import HierarchyError
from shoal.hierarchies.bins import bin_labels, in_order, overlapping
from shoal.verification.intervals import IntervalLabels

VALUES = ["3010", "-0.5", None, "1e3", "999.999"]


def test_a_width_cuts_at_its_multiples_and_points_where_they_are() -> None:
    assert bin_labels(1000, VALUES, [1] * 5, "x") == ["[3000, 4000)", "[-1000, 0)", None, "[1000, 2000)", "[0, 1000)"]
    by_points = ["[1000, inf)", "(-inf, 0)", None, "[1000, inf)", "[0, 1000)"]
    assert bin_labels([0, 1000], VALUES, [1] * 5, "x") == by_points
    assert in_order(by_points) == ("(-inf, 0)", "[0, 1000)", "[1000, inf)", None)


@pytest.mark.parametrize(
    ("bins", "values", "code"),
    [
        (0, ["1"], "width-not-positive"),
        ([5, 5], ["1"], "cuts-not-increasing"),
        (10, ["1", "many"], "values-not-numbers"),
    ],
)
def test_wrong_bins_and_values_that_are_no_numbers_are_problems(bins: float, values: list[str], code: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        bin_labels(bins, values, [1] * len(values), "columns.s.bins")
    assert [problem.code for problem in caught.value.problems] == [code]


NUMBERS = st.decimals(-50, 50, places=2).map(str)
BINS = st.sampled_from([0.1, 1, 2.5, 7, [0], [-3.5, 4], [1, 2, 3]])


@given(BINS, st.lists(NUMBERS, min_size=1, max_size=8, unique=True))
def test_the_verifier_works_out_the_same_bins(bins: float | list[float], values: list[str]) -> None:
    labels = IntervalLabels.of_bins(bins)
    shown = bin_labels(bins, values, [1] * len(values), "x")
    assert [labels.bin_of(value) for value in values] == shown
    assert all(labels.is_bin(str(label)) for label in shown)
    assert not any(labels.is_bin(value) for value in values)


@given(BINS, BINS, st.lists(NUMBERS, min_size=1, max_size=8, unique=True))
def test_bins_overlap_where_a_number_lies_in_both(
    one: float | list[float], other: float | list[float], values: list[str]
) -> None:
    first = bin_labels(one, values, [1] * len(values), "x")
    second = bin_labels(other, values, [1] * len(values), "x")
    found = dict(zip(first, overlapping(first, second), strict=True))
    raw = dict(zip(values, overlapping(values, second), strict=True))
    for value, mine, its in zip(values, first, second, strict=True):
        assert its in found[mine]
        assert raw[value] == [its]


def test_what_lies_in_no_bin_stands_for_itself() -> None:
    assert overlapping(["7", None, "[10, 20)", "text"], ["[0, 5)", "[20, 30)"]) == [
        ["7"],
        [None],
        ["[10, 20)"],
        ["text"],
    ]


@pytest.mark.parametrize("label", ["[0, 999)", "0", "[0, 1000]", "(0, 1000)", "[0,1000)", "text", "[-1000, 0)x", ""])
def test_a_text_that_is_no_bin_is_told_from_one(label: str) -> None:
    assert not IntervalLabels.of_bins(1000).is_bin(label)
