"""The l-diversity family at the edges of its definitions."""

from __future__ import annotations

import math

import pytest

from shoal.models import DistinctLDiversity, EntropyLDiversity, PSensitive, RecursiveCLDiversity
from support.builders import view_of


@pytest.mark.parametrize("n", range(1, 40))
def test_l_equally_frequent_values_are_entropy_l_diverse(n: int) -> None:
    view = view_of([[f"v{i}" for i in range(n)] * 7])
    assert EntropyLDiversity(n, sensitive="condition").holds(view).all()
    assert not EntropyLDiversity(n + 1e-6, sensitive="condition").holds(view).any()


def test_a_single_value_is_entropy_1_diverse_whatever_its_count() -> None:
    view = view_of([["a"] * size for size in (1, 3, 7, 10, 49, 1000)])
    assert EntropyLDiversity(2, sensitive="condition").reached(view) == {"l": 1}


def test_l_may_be_fractional_for_entropy() -> None:
    view = view_of([["a", "a", "b"]])
    assert EntropyLDiversity(1.8, sensitive="condition").holds(view).all()
    assert not EntropyLDiversity(1.9, sensitive="condition").holds(view).any()
    (short,) = EntropyLDiversity(2, sensitive="condition").shortfalls(view, 0)
    assert short.reached == pytest.approx(math.exp(0.6365141682948128))


def test_recursive_diversity_is_strict() -> None:
    view = view_of([["a", "a", "b"]])
    assert not RecursiveCLDiversity(2, c=2, sensitive="condition").holds(view).any()
    assert RecursiveCLDiversity(2, c=2.0001, sensitive="condition").holds(view).all()


def test_recursive_diversity_drops_the_most_frequent_values_first() -> None:
    view = view_of([["a"] * 5 + ["b"] * 3 + ["c"] * 2 + ["d"]])
    assert RecursiveCLDiversity(3, c=2, sensitive="condition").holds(view).all()  # 5 < 2 (2 + 1)
    assert not RecursiveCLDiversity(4, c=2, sensitive="condition").holds(view).any()  # 5 > 2 · 1


def test_a_class_with_fewer_than_l_values_fails_whatever_c_is() -> None:
    view = view_of([["a", "b"]])
    model = RecursiveCLDiversity(3, c=10**9, sensitive="condition")
    assert not model.holds(view).any()
    assert model.reached(view)["c"] == math.inf
    (short,) = model.shortfalls(view, 0)
    assert (short.parameter, short.reached, short.required, short.code) == ("l", 2, 3, "below-minimum")


def test_recursive_1_diversity_always_holds() -> None:
    view = view_of([["a"] * 9, ["a", "b"]])
    assert RecursiveCLDiversity(1, c=0.001, sensitive="condition").holds(view).all()


def test_what_a_class_lacks_for_recursive_diversity() -> None:
    view = view_of([["a"] * 4 + ["b", "c"]])
    rank, ratio = RecursiveCLDiversity(2, c=1.5, sensitive="condition").shortfalls(view, 0)
    assert (rank.parameter, rank.reached, rank.required) == ("l", 1, 2)
    assert (ratio.parameter, ratio.required, ratio.code) == ("c", 1.5, "above-maximum")
    assert ratio.reached == pytest.approx(2)


def test_distinct_diversity_is_p_sensitivity_and_counts_the_missing_value() -> None:
    view = view_of([["a", None], ["a", "a"]])
    for model in (DistinctLDiversity(2, sensitive="condition"), PSensitive(2, sensitive="condition")):
        assert model.holds(view).tolist() == [True, False]
        (short,) = model.shortfalls(view, 1)
        assert (short.quantity, short.reached, short.required, short.column) == ("distinct values", 1, 2, "condition")
