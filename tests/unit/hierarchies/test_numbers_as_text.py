"""Numbers and the labels of numbers are read back exactly as they are written."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from shoal.hierarchies import Intervals
from shoal.hierarchies.numbers_as_text import NumberSpan, range_ends, read_interval, read_number_or_interval, read_range


@pytest.mark.parametrize(
    ("label", "low", "high", "closed"),
    [
        ("[20, 30)", 20, 30, False),
        ("[90, 120]", 90, 120, True),
        ("[-0.5, 0.1)", Fraction(-1, 2), Fraction(1, 10), False),
        ("(-inf, 10)", -math.inf, 10, False),
        ("[60, inf)", 60, math.inf, False),
    ],
)
def test_an_interval_is_read_by_its_ends(label: str, low: float, high: float, closed: bool) -> None:
    assert read_interval(label) == NumberSpan(low, high, closed) == read_number_or_interval(label)


@pytest.mark.parametrize("label", [None, "", "*", "20", "22<=30", "[a, b)", "20, 30", "[20, 30) "])
def test_other_labels_are_no_intervals(label: str | None) -> None:
    assert read_interval(label) is None


def test_a_single_number_is_a_span_of_itself() -> None:
    assert read_number_or_interval("0.30") == NumberSpan(Fraction(3, 10), Fraction(3, 10), True)


def test_a_range_is_read_by_its_ends_as_written() -> None:
    assert range_ends("022<=30.0") == ("022", "30.0")
    assert read_range("022<=30.0") == NumberSpan(22, 30, True)
    assert read_range("low<=high") is None
    assert range_ends("[20, 30)") is None


def test_every_label_of_an_interval_hierarchy_is_read() -> None:
    source = Intervals(cuts=[["-inf", 0, 0.5, "inf"]], bounds=(-3, 9))
    labels = source.build(["-3", "0.25", "9"], [1, 1, 1], "here").hierarchy.labels[3:-1]
    assert all(read_interval(label) is not None for label in labels)
