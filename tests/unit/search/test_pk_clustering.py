"""GreedyCPKA step by step, on tables small enough to follow by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from shoal.errors import PolicyError
from shoal.models import AlphaKAnonymity, DistinctLDiversity, KAnonymity, Model, PSensitive
from shoal.search.local import pk_clustering
from shoal.search.local.blocks import prepare
from shoal.search.local.pk_clustering import faithful_clusters
from support.model_cases import COLUMN, VALUES
from support.search_cases import SECOND, Case, problem_of

A = {"*": {"a1": None, "a2": None, "a3": None, "a4": None}}
B = {"*": {"low": {"b1": None, "b2": None}, "high": {"b3": None, "b4": None}}}
NEAR = {"*": {"a": None, "bc": {"b": None, "c": None}}}


def case_of(
    trees: Sequence[Mapping[str, Any]],
    rows: Sequence[tuple[Any, ...]],
    models: Sequence[Model],
    *,
    boundaries: tuple[Any, ...] = (),
    columns: Sequence[str] = (COLUMN,),
) -> Case:
    """Rows as quasi-identifiers and then sensitive values."""
    width = len(trees)
    secrets = {name: tuple(row[width + place] for row in rows) for place, name in enumerate(columns)}
    return Case(tuple(trees), tuple(tuple(row[:width]) for row in rows), secrets, tuple(models), len(rows), boundaries)


def classes_of(case: Case, *, seed: int = 0, weights: Mapping[str, float] | None = None) -> list[int]:
    classes: list[int] = faithful_clusters(prepare(*problem_of(case)), seed=seed, weights=weights or {}).tolist()
    return classes


def together(classes: Sequence[int]) -> set[frozenset[int]]:
    return {frozenset(row for row, each in enumerate(classes) if each == one) for one in set(classes) - {-1}}


def drawing(place: int, size: int) -> int:
    """A seed with which the record at a place of a block is drawn."""
    return next(seed for seed in range(1000) if int(Random(seed).random() * size) == place)


def test_with_k_1_and_p_1_every_record_is_a_cluster() -> None:
    rows = [("a1", "HIV"), ("a2", "HIV"), ("a2", "HIV"), ("a3", "Flu")]
    assert len(together(classes_of(case_of([A], rows, [KAnonymity(1)])))) == 4


@pytest.mark.parametrize("seed", range(4))
def test_without_p_a_cluster_takes_the_nearest_records_and_with_p_the_most_diverse(seed: int) -> None:
    rows = [("a1", "HIV"), ("a1", "HIV"), ("a2", "Flu"), ("a2", "Flu")]
    near = case_of([A], rows, [KAnonymity(2)])
    assert together(classes_of(near, seed=seed)) == {frozenset({0, 1}), frozenset({2, 3})}
    diverse = case_of([A], rows, [KAnonymity(2), PSensitive(2, sensitive=COLUMN)])
    assert together(classes_of(diverse, seed=seed)) == {frozenset({0, 2}), frozenset({1, 3})}


def test_of_the_most_diverse_records_the_one_of_least_loss_joins() -> None:
    rows = [("b1", "HIV"), ("b4", "Flu"), ("b3", "Phthisis"), ("b2", "Flu"), ("b4", "HIV"), ("b2", "HIV")]
    case = case_of([B], rows, [PSensitive(2, sensitive=COLUMN)])
    assert classes_of(case, seed=drawing(5, 6)) == [0, 2, 1, 0, 1, 2]


def test_the_largest_k_and_the_largest_p_count() -> None:
    rows = [(f"a{1 + n % 4}", VALUES[n % 3]) for n in range(24)]
    models = [KAnonymity(4), KAnonymity(2), PSensitive(2, sensitive=COLUMN), DistinctLDiversity(3, sensitive=COLUMN)]
    clusters = together(classes_of(case_of([A], rows, models)))
    assert min(len(each) for each in clusters) == 4
    assert min(len({rows[row][1] for row in each}) for each in clusters) == 3


def test_a_left_over_record_goes_where_the_whole_cluster_loses_least_not_where_it_adds_least() -> None:
    """FindBestCluster: the last record makes 3 · 1 of one cluster and 3 · 1/2 of the other; it adds 1 and 3/2."""
    rows = [("a1", "b2"), ("a2", "b2"), ("a4", "b1"), ("a4", "b1"), ("a4", "b2")]
    case = case_of([A, B], [(*row, "HIV") for row in rows], [KAnonymity(2)])
    assert classes_of(case) == [0, 0, 1, 1, 1]


def test_records_of_different_blocks_never_share_a_cluster_and_failing_blocks_are_out() -> None:
    rows = [("b1", "HIV"), ("b2", "HIV"), ("b3", "Flu"), ("b1", "Flu"), ("b2", "Flu")]
    case = case_of([B], rows, [KAnonymity(2)], boundaries=(("low", "high"),))
    classes = classes_of(case)
    assert classes[2] == -1
    assert together(classes) == {frozenset({0, 3}), frozenset({1, 4})}


@pytest.mark.parametrize(
    ("weights", "classes"),
    [
        ({COLUMN: 0.6, SECOND: 0.4}, [2, 1, 3, 0]),
        ({COLUMN: 0.4, SECOND: 0.6}, [3, 0, 2, 1]),
        ({SECOND: 1}, [1, 0, 2, 3]),
        ({}, [2, 1, 3, 0]),  # two values of the first column weigh 1/2, three of the second 1/3
    ],
)
def test_weights_decide_who_is_most_diverse(weights: Mapping[str, float], classes: list[int]) -> None:
    """With k = 1 the clusters are the seeds in their order, here after the first record."""
    rows = [("a1", "HIV", "HIV"), ("a1", "HIV", "Phthisis"), ("a1", "HIV", "Flu"), ("a1", "Phthisis", "HIV")]
    case = case_of([A], rows, [KAnonymity(1)], columns=(COLUMN, SECOND))
    assert classes_of(case, seed=drawing(0, 4), weights=weights) == classes


def test_only_the_ratio_of_the_weights_matters() -> None:
    random = Random(2)
    rows = [
        (random.choice(["a1", "a2", "a3"]), random.choice(VALUES[:2]), random.choice(VALUES[:4])) for _ in range(12)
    ]
    case = case_of([A], rows, [KAnonymity(2), PSensitive(2, sensitive=SECOND)], columns=(COLUMN, SECOND))
    once = classes_of(case, weights={COLUMN: 0.3, SECOND: 0.7})
    assert once == classes_of(case, weights={COLUMN: 3, SECOND: 7})
    assert once != classes_of(case, weights={COLUMN: 0.7, SECOND: 0.3})


@pytest.mark.parametrize(
    ("weights", "where", "code"),
    [
        ({"conditoin": 1}, "algorithm.weights.conditoin", "not-a-sensitive-column"),
        ({COLUMN: -0.5}, f"algorithm.weights.{COLUMN}", "weight-out-of-range"),
        ({COLUMN: float("nan")}, f"algorithm.weights.{COLUMN}", "weight-out-of-range"),
        ({COLUMN: 0}, "algorithm.weights", "weights-all-zero"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights: Mapping[str, float], where: str, code: str) -> None:
    case = case_of([A], [("a1", "HIV")], [KAnonymity(1)])
    with pytest.raises(PolicyError) as raised:
        classes_of(case, weights=weights)
    (problem,) = raised.value.problems
    assert (problem.where, problem.code) == (where, code)


def test_a_limit_that_the_kth_record_breaks_makes_the_cluster_grow_on() -> None:
    """Two of each are within the limit of a half; three records cannot be."""
    rows = [(leaf, value) for leaf in ("a1", "a2") for value in ("HIV", "HIV", "Flu", "Flu")]
    case = case_of([A], rows, [KAnonymity(3), AlphaKAnonymity(0.5, sensitive=COLUMN)])
    assert together(classes_of(case)) == {frozenset(range(4)), frozenset(range(4, 8))}


@pytest.mark.parametrize("seed", range(4))
def test_a_limit_that_a_dispersed_record_breaks_merges_its_cluster_with_the_nearest(seed: int) -> None:
    """Two clusters at a and b, one at c, and a second HIV left over there: 2 of 3, and with those at b 2 of 5."""
    rows = [("a", "Cancer"), ("a", "Asthma"), ("b", "Phthisis"), ("b", "Flu"), ("c", "HIV"), ("c", "HIV"), ("c", "Flu")]
    case = case_of([NEAR], rows, [KAnonymity(2), AlphaKAnonymity(0.5, sensitive=COLUMN)])
    assert together(classes_of(case, seed=seed)) == {frozenset({0, 1}), frozenset({2, 3, 4, 5, 6})}


def test_a_table_without_sensitive_columns_is_clustered_by_loss_alone() -> None:
    case = Case((B,), (("b1",), ("b3",), ("b2",), ("b4",)), {}, (KAnonymity(2),))
    assert classes_of(case) == [0, 1, 0, 1]


def test_the_seed_decides_the_draw() -> None:
    """The first cluster starts at the first record with another value than the one drawn."""
    rows = [("a1", "HIV"), ("a2", "Flu"), ("a3", "HIV"), ("a4", "Flu")]
    case = case_of([A], rows, [KAnonymity(1)])
    starts = [classes_of(case, seed=drawing(place, 4)).index(0) for place in range(4)]
    assert starts == [1, 0, 1, 0]


def test_numbers_beyond_64_bits_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(1)
    rows = [
        (random.choice(["a1", "a2", "a3"]), f"b{random.randint(1, 4)}", random.choice(VALUES[:4])) for _ in range(40)
    ]
    case = case_of([A, B], rows, [KAnonymity(3), PSensitive(3, sensitive=COLUMN)])
    plain = classes_of(case, seed=2, weights={COLUMN: 0.3})
    assert pk_clustering.InformationLoss.of(problem_of(case)[0].hierarchies, 40).heights[0].dtype == np.int64
    monkeypatch.setattr(pk_clustering, "INT64_LIMIT", 0)
    assert pk_clustering.InformationLoss.of(problem_of(case)[0].hierarchies, 40).heights[0].dtype == object
    assert classes_of(case, seed=2, weights={COLUMN: 0.3}) == plain


def test_progress_goes_to_the_end() -> None:
    told: list[tuple[str, float]] = []
    problem, engine = problem_of(
        case_of([B], [("b1", "HIV"), ("b3", "Flu")], [KAnonymity(1)], boundaries=(("low", "high"),))
    )
    object.__setattr__(problem, "progress", lambda stage, share: told.append((stage, share)))
    faithful_clusters(prepare(problem, engine), seed=0, weights={})
    assert told == [("clustering", 0.5), ("clustering", 1.0)]
