"""Bins, numbers as text, and YAML text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.formatting import data_size, duration, listing, number, percent, pluralize
from shoal.present.plots.bars import MOST_BARS, bin_sizes, shortened

SIZES = st.dictionaries(st.integers(1, 60) | st.integers(1, 10**9), st.integers(1, 10**6), min_size=1, max_size=30)


@given(SIZES)
def test_bins_follow_each_other_and_lose_no_class(sizes: dict[int, int]) -> None:
    bins = bin_sizes(sizes)
    assert len(bins) <= MOST_BARS
    assert (bins[0].low, bins[-1].high) == (min(sizes), max(sizes))
    assert all(first.high + 1 == second.low for first, second in pairwise(bins))
    assert all(each.low <= each.high for each in bins)
    assert sum(each.classes for each in bins) == sum(sizes.values())
    assert sum(each.records for each in bins) == sum(size * classes for size, classes in sizes.items())


def test_few_sizes_have_a_bar_each_and_gaps_stay_visible() -> None:
    assert [(each.label, each.classes) for each in bin_sizes({3: 2, 5: 1})] == [("3", 2), ("4", 0), ("5", 1)]


def test_sizes_within_a_factor_of_ten_have_bins_of_equal_width() -> None:
    labels = [each.label for each in bin_sizes({10: 1, 60: 1})]
    assert labels[:2] == ["10–14", "15–19"]
    assert labels[-1] == "60"


def test_widely_spread_sizes_have_growing_bins() -> None:
    labels = [each.label for each in bin_sizes({4: 1, 1500: 1})]
    assert labels == ["4", "5–9", "10–19", "20–49", "50–99", "100–199", "200–499", "500–999", "1,000–1,500"]


@given(st.floats(0, 1))
def test_only_nothing_is_0_percent_and_only_all_is_100(part: float) -> None:
    assert (percent(part) == "0%") == (part == 0)
    assert (percent(part) == "100%") == (part == 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (30_162, "30,162"),
        (0.284131, "0.2841"),
        (0.1 + 0.2, "0.3"),
        (9_412_733.0, "9,412,733"),
        (1_234_567.891, "1,234,567.891"),
        (0.00001234, "1.2e-05"),
    ],
)
def test_numbers_read_well(value: float, text: str) -> None:
    assert number(value) == text


def test_units_and_lists_read_well() -> None:
    assert [pluralize(1, "class"), pluralize(2, "class"), pluralize(1000, "record")] == [
        "1 class",
        "2 classes",
        "1,000 records",
    ]
    assert [duration(0.00001), duration(2.1), duration(42.26), duration(125.4)] == [
        "less than 0.001 s",
        "2.100 s",
        "42.3 s",
        "2 min 5 s",
    ]
    assert [data_size(512), data_size(268_000_000), data_size(20_000_000_000)] == ["512 bytes", "268 MB", "20.0 GB"]
    assert [listing([]), listing("a"), listing("ab"), listing("abc"), listing("abcd", 3)] == [
        "",
        "a",
        "a and b",
        "a, b and c",
        "a, b and 2 more",
    ]


def test_long_names_are_shortened_by_the_room_they_take() -> None:
    assert shortened("a" * 34) == "a" * 34
    assert shortened("a" * 35) == "a" * 34 + "…"
    assert shortened("東" * 18) == "東" * 17 + "…"
