"""Uniques of the population: each estimator against its definition, and against populations that are known."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracles import survey_oracle as oracle
from shoal.attacks.risk import population_uniques as module
from shoal.attacks.risk.population_uniques import Estimate, population_uniques

NAMES = ["Zayatz 1991", "Pitman (Hoshino 2001)", "SNB (Chen and Keller-McNulty 1998)"]
Ints = NDArray[np.int64]


def zayatz(sizes: Ints, fraction: float) -> Estimate:
    return population_uniques(sizes, fraction).estimates[0]


POPULATIONS = {
    "a few large classes and many small ones": lambda draw: draw.zipf(1.6, 60_000) % 40_000,
    "classes of even size": lambda draw: draw.integers(0, 20_000, 40_000),
    "skewed": lambda draw: draw.integers(0, 300, 60_000) * draw.integers(0, 300, 60_000),
}


def sampled_zayatz(shape: str, fraction: float) -> tuple[float, float]:
    """Uniques of a sample that are unique in the population, and how many are estimated: means of five samples."""
    draw = np.random.default_rng(11)
    _, member, sizes = np.unique(POPULATIONS[shape](draw), return_inverse=True, return_counts=True)
    true, estimated = [], []
    for _ in range(5):
        sample = np.bincount(member[draw.random(len(member)) < fraction], minlength=len(sizes))
        true.append(int(((sample == 1) & (sizes == 1)).sum()))
        estimated.append(zayatz(sample[sample > 0], fraction).expected_population_uniques_in_the_table)
    return float(np.mean(true)), float(np.mean(estimated))


@pytest.mark.parametrize("shape", POPULATIONS)
@pytest.mark.parametrize("fraction", [0.8, 0.9])
def test_population_uniques_are_estimated_well_from_large_samples(shape: str, fraction: float) -> None:
    true, estimated = sampled_zayatz(shape, fraction)
    assert estimated == pytest.approx(true, rel=0.12)


@pytest.mark.parametrize("shape", POPULATIONS)
def test_population_uniques_are_estimated_too_high_from_small_samples_as_is_said(shape: str) -> None:
    true, estimated = sampled_zayatz(shape, 0.1)
    assert estimated > true > 0


def test_who_has_everybody_knows_the_uniques() -> None:
    estimate = zayatz(np.array([1, 1, 1, 2, 5]), 1.0)
    assert estimate.probability_that_a_unique_is_unique_in_the_population == 1.0
    assert estimate.expected_population_uniques_in_the_table == 3.0
    assert zayatz(np.array([2, 3]), 0.5).expected_population_uniques_in_the_table == 0.0


def test_a_small_sample_of_singles_says_little() -> None:
    """Of classes 1, 1, 2, the likelihoods of leaving one record are π, π, 2π(1-π)."""
    estimate = zayatz(np.array([1, 1, 2]), 0.5)
    assert estimate.probability_that_a_unique_is_unique_in_the_population == pytest.approx(1 / (1 + 0.5))


def drawn(population: Ints, fraction: float, seed: int = 5) -> tuple[Ints, int]:
    """The class sizes of a sample, and how many of its uniques are unique in the population."""
    member = np.repeat(np.arange(len(population)), population)
    kept = member[np.random.default_rng(seed).random(len(member)) < fraction]
    sample = np.bincount(kept, minlength=len(population))
    return sample[sample > 0], int(((sample == 1) & (population == 1)).sum())


def pitman_population(people: int, theta: float, alpha: float) -> Ints:
    """People who enter one by one: a new class with probability (θ+uα)/(θ+i), else one of i people's, less α."""
    draw, sizes, owner = random.Random(3), [], []
    for i in range(people):
        if draw.random() * (i + theta) < theta + alpha * len(sizes):
            owner.append(len(sizes))
            sizes.append(1)
            continue
        found = owner[draw.randrange(i)]
        while draw.random() * sizes[found] >= sizes[found] - alpha:
            found = owner[draw.randrange(i)]
        owner.append(found)
        sizes[found] += 1
    return np.array(sizes)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3])
def test_pitman_comes_near_the_truth_in_a_population_of_its_own(fraction: float) -> None:
    population = pitman_population(60_000, 50, 0.6)
    sizes, true = drawn(population, fraction)
    found = population_uniques(sizes, fraction).estimates[1]
    assert found.expected_population_uniques_in_the_table == pytest.approx(true, rel=0.15)
    assert found.uniques_in_the_population == pytest.approx(int((population == 1).sum()), rel=0.15)


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.5])
def test_snb_comes_near_the_truth_in_a_population_of_its_own(fraction: float) -> None:
    population = 1 + np.random.default_rng(1).negative_binomial(0.7, 0.1, size=40_000)
    sizes, true = drawn(population, fraction)
    found = population_uniques(sizes, fraction).estimates[2]
    assert found.expected_population_uniques_in_the_table == pytest.approx(true, rel=0.15)


def test_the_rule_prefers_pitman_up_to_a_tenth_and_else_the_smaller_of_the_others() -> None:
    population = pitman_population(60_000, 50, 0.6)
    for fraction, among in ((0.05, [1]), (0.1, [1]), (0.3, [0, 2])):
        found = population_uniques(drawn(population, fraction)[0], fraction)
        figures = [each.expected_population_uniques_in_the_table for each in found.estimates]
        assert found.expected_population_uniques_in_the_table == min(figures[each] or 0 for each in among)
        assert found.estimator in {NAMES[each] for each in among}
    wide = 1 + np.random.default_rng(1).negative_binomial(0.7, 0.1, size=40_000)
    found = population_uniques(drawn(wide, 0.05)[0], 0.05)
    assert (found.estimates[1].outcome, found.estimator) == ("no-maximum", NAMES[0])
    assert population_uniques(drawn(wide, 0.3)[0], 0.3).estimator == NAMES[2]


@pytest.mark.parametrize(
    ("sizes", "pitman", "snb"),
    [
        ([1, 1, 1], "all-unique", "no-solution"),
        ([3, 2, 5], "no-uniques", "no-uniques"),
        ([7], "no-uniques", "no-uniques"),
        ([1], "all-unique", "no-solution"),
        ([1, 2, 2, 2], "no-maximum", "no-solution"),
    ],
)
def test_no_estimate_has_a_code_and_no_figures(sizes: list[int], pitman: str, snb: str) -> None:
    found = population_uniques(np.array(sizes), 0.1)
    assert [each.outcome for each in found.estimates] == ["estimated", pitman, snb]
    for each in found.estimates[1:]:
        assert each.expected_population_uniques_in_the_table is None
        assert each.uniques_in_the_population is None
    assert found.estimator == NAMES[0]


sizes_of = st.lists(st.integers(1, 30), min_size=1, max_size=60).map(np.array)


@given(sizes=sizes_of, fraction=st.sampled_from([0.001, 0.05, 0.1, 0.11, 0.5, 0.99, 1.0]))
def test_every_estimate_is_possible(sizes: Ints, fraction: float) -> None:
    found = population_uniques(sizes, fraction)
    uniques = int((sizes == 1).sum())
    for each in found.estimates:
        assert (each.outcome == "estimated") == (each.expected_population_uniques_in_the_table is not None)
        assert 0 <= (each.expected_population_uniques_in_the_table or 0) <= uniques + 1e-9
        assert 0 <= (each.probability_that_a_unique_is_unique_in_the_population or 0) <= 1 + 1e-9
    assert found.expected_population_uniques_in_the_table <= uniques + 1e-9


@settings(max_examples=25)
@given(sizes=st.lists(st.sampled_from([1, 1, 1, 2, 3, 5, 20]), min_size=4, max_size=25).map(np.array))
def test_pitman_is_at_the_highest_likelihood(sizes: Ints) -> None:
    sample = module._Sample.of(sizes, 0.1)
    found = population_uniques(sizes, 0.1).estimates[1]
    if found.outcome != "estimated":
        return
    low, high = module._LEAST_ALPHA, 1 - 1e-12
    alpha = module._root(lambda a: module._slope_of_alpha(sample, a, module._best_theta(sample, a)), low, high)
    theta = module._best_theta(sample, alpha)
    best = oracle.pitman_log_likelihood(sizes.tolist(), theta, alpha)
    for step in (0.02, 0.2):
        for other_alpha, other_theta in ((alpha - step, theta), (alpha + step, theta), (alpha, theta * (1 + step))):
            if 0 < other_alpha < 1 and other_theta > -other_alpha:
                assert oracle.pitman_log_likelihood(sizes.tolist(), other_theta, other_alpha) <= best + 1e-9
    expected = oracle.pitman_expected_uniques(round(sizes.sum() / 0.1), theta, alpha)
    assert found.uniques_in_the_population == pytest.approx(min(expected, sample.uniques / 0.1), rel=1e-6)


@pytest.mark.parametrize(("alpha", "beta", "fraction"), [(0.7, 0.1, 0.3), (2.0, 0.5, 0.1), (0.3, 0.05, 0.7)])
def test_snb_recovers_the_parameters_from_expected_counts(alpha: float, beta: float, fraction: float) -> None:
    """With class sizes of a sample that are exactly what is expected, all three equations hold at the parameters."""
    n, u, s_1, population_unique = oracle.snb_expected(10_000_000, alpha, beta, fraction)
    sample = module._Sample(np.array([1.0]), np.array([1.0]), round(n), round(u), round(s_1), fraction)
    assert module._snb(sample) == pytest.approx(population_unique, rel=1e-3)


@pytest.mark.parametrize("step", [-0.7, 0.3, 1.0])
def test_a_step_of_log_gamma_keeps_its_digits(step: float) -> None:
    near = [module._log_gamma_step(x, step) for x in (0.999_999e6, 1.000_001e6)]
    assert near[0] == pytest.approx(near[1], rel=1e-6)
    assert module._log_gamma_step(1e15, step) == pytest.approx(step * math.log(1e15), rel=1e-13)
    assert module._log_gamma_step(4.0, 1.0) == pytest.approx(math.log(4))


@pytest.mark.parametrize("x", [0.01, 0.5, 1.0, 3.3, 9.99, 10.0, 1e6])
def test_digamma_by_its_recurrence_and_its_integral(x: float) -> None:
    assert module._digamma(x + 1) == pytest.approx(module._digamma(x) + 1 / x, rel=1e-13)
    assert module._digamma(1.0) == pytest.approx(-0.5772156649015329, rel=1e-14)
