"""Permutation tests and exact tails: as all dealings of tiny tables give them, and at their level."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import attack_oracle as oracle
from shoal.attacks.chance.permutation_tests import ENOUGH, p_values
from shoal.attacks.chance.random_dealings import (
    DRAWS,
    dealings,
    dealt_counts,
    dealt_within,
    distinct_values,
    drawn_dealings,
    generator_for,
)
from shoal.attacks.chance.statistics import holm, hypergeometric_tails


@given(
    st.integers(1, 40).flatmap(lambda total: st.tuples(st.just(total), st.integers(1, total), st.integers(0, total)))
)
def test_tails_are_the_exact_ones(case: tuple[int, int, int]) -> None:
    total, drawn, marked = case
    hits = np.arange(min(drawn, marked) + 2)
    found = hypergeometric_tails(hits, np.full_like(hits, drawn), np.full_like(hits, marked), total)
    exact = [float(oracle.tail(int(hit), drawn, marked, total)) for hit in hits]
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-300)


def test_the_tail_of_a_large_table_keeps_its_digits() -> None:
    figures = [np.array([number], dtype=np.int64) for number in (60, 500, 50_000)]
    exact = float(oracle.tail(60, 500, 50_000, 1_000_000))
    assert hypergeometric_tails(*figures, 1_000_000)[0] == pytest.approx(exact, rel=1e-6)


def test_holm_corrects_the_smallest_most() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_dealings_keep_the_values_and_where_asked_their_strata() -> None:
    codes, strata = np.array([0, 0, 1, 2, 2, 3]), np.array([0, 0, 0, 1, 1, 1])
    whole = np.concatenate(list(dealings(codes, 1)))
    assert whole.shape == (DRAWS, 6)
    assert (np.sort(whole, axis=1) == codes).all()
    assert len(np.unique(whole[:, 0])) == 4
    within = codes[np.array(list(dealt_within(strata, 50, generator_for(1, codes))))]
    assert (np.sort(within[:, :3], axis=1) == [0, 0, 1]).all()
    assert (np.sort(within[:, 3:], axis=1) == [2, 2, 3]).all()
    assert (np.concatenate(list(dealings(codes, 1))) == whole).all()


def test_drawing_some_records_is_dealing_all_and_looking_at_some() -> None:
    totals = np.array([3, 2, 1])
    hands = np.concatenate(list(drawn_dealings(totals, 2, 5, draws=6000)))
    both_first = float((hands == 0).all(axis=1).mean())
    assert both_first == pytest.approx(3 / 15, abs=0.02)
    assert np.concatenate(list(drawn_dealings(totals, 6, 5))).shape == (DRAWS, 6)


def test_counts_and_different_values_of_hands() -> None:
    hands = np.array([[0, 0, 1, 2], [2, 1, 1, 1]])
    counts = dealt_counts(hands, np.array([0, 0, 1, 1]), 2, 3)
    assert counts.tolist() == [[[2, 0, 0], [0, 1, 1]], [[0, 1, 1], [0, 2, 0]]]
    assert distinct_values(hands, np.array([0, 2]), 9).tolist() == [[1, 2], [2, 1]]
    assert distinct_values(hands, np.array([0, 2]), 1).tolist() == [[1, 1], [1, 1]]


@given(
    st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=9), min_size=1, max_size=5), st.sampled_from([1, 40, 400])
)
def test_different_values_are_counted_however_many_there_are(classes: list[list[int]], spread: int) -> None:
    sizes = [len(each) for each in classes]
    codes = np.array([spread * value for each in classes for value in each])
    found = distinct_values(codes[None, :], np.cumsum([0, *sizes[:-1]]), 4)
    assert found.tolist() == [[min(4, len(set(each))) for each in classes]]


def test_p_values_are_hits_over_dealings_and_never_zero() -> None:
    never = np.zeros((99, 1))
    assert p_values([1.0], [never])[0] == pytest.approx(1 / 100)
    some = never.copy()
    some[[3, 40, 41]] = 1.0
    assert p_values([1.0], [some[:50], some[50:]])[0] == pytest.approx(4 / 100)


def test_dealings_stop_when_enough_reach_what_was_observed() -> None:
    made = 0

    def dealt() -> Iterator[np.ndarray]:
        nonlocal made
        for _ in range(20):
            made += 20
            yield np.ones((20, 1))

    assert p_values([1.0], dealt())[0] == pytest.approx(ENOUGH / ENOUGH)
    assert made == 20


def permutation_test(codes: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], seed: int, draws: int) -> float:
    dealt = (statistic(hands)[:, None] for hands in dealings(codes, seed, draws=draws))
    return float(p_values([float(statistic(codes[None, :])[0])], dealt)[0])


def largest_share(hands: np.ndarray) -> np.ndarray:
    """How often the value 1 is in the first three records."""
    return np.asarray((hands[:, :3] == 1).sum(axis=1))


@pytest.mark.parametrize("codes", [[1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0], [1, 0, 0, 1, 1, 0]])
def test_p_values_are_those_of_all_dealings(codes: list[int]) -> None:
    given_codes = np.array(codes)
    every = np.array(list(permutations(codes)))
    exact = float((largest_share(every) >= largest_share(given_codes[None, :])).mean())
    found = [permutation_test(given_codes, largest_share, seed, draws=1999) for seed in range(20)]
    assert np.mean(found) == pytest.approx(exact, rel=0.15, abs=0.01)


def test_where_chance_alone_is_at_work_the_level_is_kept() -> None:
    random, reached = np.random.default_rng(3), []
    for seed in range(400):
        codes = random.permutation(np.repeat([0, 1], 30))
        reached.append(permutation_test(codes, lambda hands: hands[:, :20].sum(axis=1), seed, draws=199))
    assert 0.01 < np.mean(np.array(reached) <= 0.05) <= 0.05 + 1.65 * (0.05 * 0.95 / 400) ** 0.5


def test_other_records_are_dealt_in_other_orders_and_the_same_in_the_same() -> None:
    one, other = np.arange(50), np.arange(50)[::-1]
    drawn = [generator_for(seed, codes).permutation(50).tolist() for seed, codes in [(0, one), (0, other), (1, one)]]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]
    assert generator_for(0, one.copy()).permutation(50).tolist() == drawn[0]
