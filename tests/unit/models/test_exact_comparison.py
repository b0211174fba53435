"""Limits are the decimals a policy shows, and counts are compared with them over whole numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.models.comparison import at_most, below, exact, rounded_down, rounded_up

COUNTS = st.lists(st.tuples(st.integers(0, 10**12), st.integers(1, 10**12)), min_size=1, max_size=5)
LIMITS = st.floats(0, 10, allow_nan=False).map(exact) | st.fractions(0, 10, max_denominator=50)


def arrays(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([a for a, _ in pairs], dtype=np.int64), np.array([b for _, b in pairs], dtype=np.int64)


def test_a_limit_is_the_number_as_written() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact(np.float64(0.3)) == Fraction(3, 10)
    assert exact(2) == 2
    assert exact(1e-07) == Fraction(1, 10**7)
    assert exact(Fraction(1, 3)) == Fraction(1, 3)


def test_a_share_that_floating_point_would_misjudge_meets_its_limit_exactly() -> None:
    assert 3 * 0.1 > 0.3
    assert at_most(np.array([3]), np.array([10]), exact(0.3)).all()
    assert not below(np.array([3]), np.array([10]), exact(0.3)).any()


@pytest.mark.parametrize("size", [10**11 + 7, 3 * 10**11, 7 * 10**11 + 1, 10**12])
def test_products_beyond_64_bits_are_compared_and_do_not_wrap(size: int) -> None:
    limit = exact(0.1234567890123457)
    shares = np.array([0, size // 9, size // 8, size], dtype=np.int64)
    assert at_most(shares, np.full(4, size), limit).tolist() == [True, True, False, False]


@given(COUNTS, LIMITS)
def test_comparisons_are_those_of_fractions(pairs: list[tuple[int, int]], limit: Fraction) -> None:
    numerators, denominators = arrays(pairs)
    assert at_most(numerators, denominators, limit).tolist() == [Fraction(a, b) <= limit for a, b in pairs]
    assert below(numerators, denominators, limit).tolist() == [Fraction(a, b) < limit for a, b in pairs]


@given(COUNTS)
def test_rounding_goes_to_the_side_on_which_the_class_still_meets_it(pairs: list[tuple[int, int]]) -> None:
    pairs = [(min(a, b), b) for a, b in pairs]
    for (a, b), up, down in zip(pairs, rounded_up(*arrays(pairs)), rounded_down(*arrays(pairs)), strict=True):
        assert exact(down) <= Fraction(a, b) <= exact(up)
        assert exact(up) - exact(down) <= Fraction(1, 10**9)


@given(st.integers(0, 10**15), st.integers(1, 9))
def test_large_weights_are_rounded_down_too(steps: int, unit: int) -> None:
    (figure,) = rounded_down(np.array([steps]), unit)
    assert exact(figure) <= Fraction(steps, unit) < exact(figure) + 1


@pytest.mark.parametrize("compare", [at_most, below])
def test_nothing_compared_is_nothing(compare) -> None:
    none = np.zeros(0, dtype=np.int64)
    assert compare(none, none, exact(0.5)).tolist() == []
    assert rounded_up(none, none).tolist() == []
