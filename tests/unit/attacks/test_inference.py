"""Attribute inference: a rule that labels teach is found, and values that follow from nothing teach none."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.attacks.attack import AttackResult
from shoal.attacks.chance.permutation_tests import DEALINGS
from shoal.attacks.chance.statistics import difference, wilson
from support.attack_cases import found, policy_of, table_of

COLUMNS = {"place": {"role": "quasi"}, "age": {"role": "quasi"}, "illness": {"role": "sensitive"}}
NAMES = list(COLUMNS)


def attacked(rows: list[tuple[str, str, str]], seed: int = 0) -> AttackResult:
    return found(shoal.attack(table_of(NAMES, rows), policy_of(COLUMNS), seed=seed), "inference")


def smokers(n: int) -> list[tuple[str, str, str]]:
    """Illness follows the place in nine cases of ten: a fact about people, in the release or not."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(n):
        place, follows = str(rng.integers(0, 4)), rng.random() < 0.9
        rows.append((place, str(rng.integers(0, 3)), place if follows else str(rng.integers(0, 4))))
    return rows


def loners(n: int) -> list[tuple[str, str, str]]:
    """Everybody has labels of their own and an illness that follows from nothing: it can only be remembered."""
    rng = np.random.default_rng(0)
    return [(f"p{i}", f"a{i}", str(rng.integers(0, 4))) for i in range(n)]


@pytest.mark.parametrize("seed", range(5))
def test_a_rule_that_labels_teach_is_learned_far_above_the_base_rate(seed: int) -> None:
    estimate = attacked(smokers(600), seed)
    assert estimate.leak
    assert estimate.rate is not None
    assert estimate.rate > 0.85
    assert estimate.details["base_rate"] < 0.3
    assert estimate.baseline == pytest.approx(estimate.details["base_rate"], abs=0.05)
    assert estimate.records == round((estimate.rate - (estimate.baseline or 0)) * 600)
    assert estimate.p_value == pytest.approx(1 / (DEALINGS + 1))


@pytest.mark.parametrize("seed", range(5))
def test_values_that_can_only_be_remembered_teach_nothing_about_others(seed: int) -> None:
    estimate = attacked(loners(400), seed)
    assert (estimate.leak, estimate.records, estimate.outcome) == (False, 0, "nothing")


def test_values_that_depend_on_nothing_are_called_a_leak_as_seldom_as_the_level_says() -> None:
    leaks = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = [(str(rng.integers(0, 8)), str(rng.integers(0, 4)), str(rng.integers(0, 3))) for _ in range(100)]
        leaks += attacked(rows).leak
    assert leaks <= 7  # more than 7 of 60 have a chance of 1.3% at a level of 5%


def test_guesses_are_the_same_for_the_same_seed_whatever_the_order_of_rows() -> None:
    rows = smokers(300)
    assert attacked(rows) == attacked(rows[::-1])
    assert attacked(rows, 1) != attacked(rows, 2)


def test_one_value_leaves_nothing_to_guess() -> None:
    assert attacked([("a", "b", "flu")] * 5).status == "not applicable"


def test_intervals_are_those_of_wilson_and_newcombe() -> None:
    """Newcombe 1998: 56/70 and 48/80 differ by 0.2, (0.0524, 0.3339) by method 10; 81/263 is (0.2553, 0.3662)."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert difference((56, 70), (48, 80)) == pytest.approx((0.0524, 0.3339), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 20)[0] == 0.0
