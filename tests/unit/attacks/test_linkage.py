"""Linkage: crowds are what they are pair by pair, and insensitive columns that single people out are caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from oracles import attack_oracle as oracle
from shoal.attacks import linkable_records as linkage
from shoal.attacks.attack import AttackResult
from shoal.attacks.between_columns.narrowing import narrowings
from shoal.attacks.released_classes import Rows
from support.attack_cases import found, policy_of, table_of

TREE = {"America": ["USA", "Canada"], "Asia": ["China", "Japan"]}
CHAINS = {leaf: [leaf, group, "*"] for group, leaves in TREE.items() for leaf in leaves}
QUASI: dict[str, Any] = {"role": "quasi", "hierarchy": {"tree": TREE}}
COLUMNS = {"birth": QUASI, "home": QUASI, "illness": {"role": "sensitive"}}
NAMES = list(COLUMNS)
LEAVES = list(CHAINS)


@st.composite
def released(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """People, and each one's record under labels above their values; a few are suppressed."""
    people = draw(st.lists(st.tuples(st.sampled_from(LEAVES), st.sampled_from(LEAVES)), min_size=1, max_size=6))
    records = [tuple(draw(st.sampled_from(CHAINS[value])) for value in person) for person in people]
    kept = max(1, len(records) - draw(st.integers(0, 2)))
    return people, records[:kept]  # type: ignore[return-value]


@given(released(), st.integers(1, 4))
def test_crowds_are_what_assignments_of_all_people_allow(
    case: tuple[list[tuple[str, str]], list[tuple[str, str]]], k: int
) -> None:
    people, records = case
    original = table_of(NAMES, [(*person, "flu") for person in people])
    release = table_of(NAMES, [(*record, "flu") for record in records])
    policy = policy_of(COLUMNS, privacy=[{"model": "k-anonymity", "k": k}])
    estimate = found(shoal.attack(release, policy, original=original), "linkage")
    k = max(k, 2)
    fitting = [size for person in people if (size := oracle.crowd(person, records, [CHAINS, CHAINS]))]
    possible = [oracle.possible_crowd(place, people, records, [CHAINS, CHAINS]) for place in range(len(people))]
    possible = [size for size in possible if size]
    assert estimate.records == sum(size < k for size in possible)
    assert estimate.leak == (min(possible) < k)
    assert estimate.details["linked_with_certainty"] == possible.count(1)
    crowds = possible if estimate.details["matching_all_at_once"] == "done" else fitting
    assert estimate.of == len(crowds)
    assert estimate.details["fewest_candidates"] == min(crowds)
    assert estimate.rate == pytest.approx(sum(1 / size for size in crowds) / len(crowds))
    assert estimate.interval is None


def test_the_only_person_who_fits_a_record_is_linked_whatever_else_they_fit() -> None:
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}}}
    original = table_of(["age"], [(str(age),) for age in range(20, 30)])
    release = table_of(["age"], [("20",), *[("[20, 30)",)] * 9])
    estimate = found(shoal.attack(release, policy_of(columns), original=original), "linkage")
    assert (estimate.leak, estimate.records, estimate.details["linked_with_certainty"]) == (True, 1, 1)
    assert estimate.details["matching_all_at_once"] == "done"


def test_a_release_that_no_assignment_makes_and_one_with_too_many_pairs_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    original = table_of(NAMES, [("USA", "USA", "flu"), ("Canada", "USA", "flu"), ("China", "USA", "flu")])
    twice = table_of(NAMES, [("USA", "USA", "flu"), ("USA", "*", "flu"), ("*", "USA", "flu")])
    made = found(shoal.attack(twice, policy_of(COLUMNS), original=original), "linkage")
    assert made.details["matching_all_at_once"] == "impossible"
    monkeypatch.setattr(linkage, "MOST_PAIRS", 2)
    many = found(shoal.attack(twice, policy_of(COLUMNS), original=original), "linkage")
    assert many.details["matching_all_at_once"] == "too many pairs"


def release_of(k: int) -> tuple[Any, Any, shoal.Policy]:
    """Forty people in two classes, with a ward that has one person of its own."""
    rng = np.random.default_rng(5)
    people = [(str(rng.choice(LEAVES)), "USA", str(rng.choice(["a", "b"])), "flu") for _ in range(40)]
    people[0] = (people[0][0], "USA", "z", "flu")
    names = ["birth", "home", "ward", "illness"]
    columns = COLUMNS | {"ward": {"role": "insensitive"}}
    shown = [("America" if birth in TREE["America"] else "Asia", *rest) for birth, *rest in people]
    policy = policy_of(columns, privacy=[{"model": "k-anonymity", "k": k}])
    return table_of(names, shown), table_of(names, people), policy


def test_a_k_anonymous_release_gives_as_many_right_links_as_it_has_classes() -> None:
    release, original, policy = release_of(5)
    estimate = found(shoal.attack(release, policy, original=original), "linkage")
    assert not estimate.leak
    assert estimate.details["expected_right_links"] == pytest.approx(2)
    assert estimate.rate == estimate.baseline == pytest.approx(2 / 40)


def test_an_insensitive_column_that_singles_people_out_as_chance_does_is_counted_and_no_leak() -> None:
    release, original, policy = release_of(5)
    estimate = found(shoal.attack(release, policy, original=original), "linkage-insensitive")
    assert (estimate.outcome, estimate.records, estimate.columns) == ("explained", 1, ("ward",))
    assert estimate.details["linked_with_certainty"] == 1
    assert estimate.details["expected_by_chance"] == pytest.approx(1, abs=0.5)
    assert estimate.rate is not None
    assert estimate.rate > (estimate.baseline or 0)


def linked(wards: list[list[str]], names: tuple[str, ...] = ("ward",)) -> list[AttackResult]:
    """The results on two classes of twenty with insensitive columns."""
    columns = COLUMNS | {name: {"role": "insensitive"} for name in names}
    births = ["America"] * 20 + ["Asia"] * 20
    people = [
        ("USA" if birth == "America" else "China", "USA", "flu", *rest)
        for birth, *rest in zip(births, *wards, strict=True)
    ]
    shown = [(birth, *person[1:]) for birth, person in zip(births, people, strict=True)]
    policy = policy_of(columns, privacy=[{"model": "k-anonymity", "k": 3}])
    report = shoal.attack(table_of(list(columns), shown), policy, original=table_of(list(columns), people))
    return [each for each in report.attacks if each.name == "linkage-insensitive"]


def test_a_column_that_narrows_down_more_people_than_chance_is_a_leak() -> None:
    """Each ward occurs four times, twice in each class: dealt at random, many would be together."""
    (estimate,) = linked([[f"w{index // 2}" for index in range(20)] * 2])
    assert (estimate.leak, estimate.records, estimate.columns) == (True, 40, ("ward",))
    assert estimate.p_value is not None
    assert estimate.p_value <= 0.05
    assert estimate.details["expected_by_chance"] < 35


def test_columns_are_ranked_by_the_people_that_each_narrows_down() -> None:
    rng = np.random.default_rng(0)
    wards = [[str(rng.integers(0, width)) for _ in range(40)] for width in (1, 12, 5)]
    (estimate,) = linked(wards, ("hall", "bed", "ward"))
    assert (estimate.leak, estimate.columns) == (False, ("bed", "ward"))
    by_column = estimate.details["by_column"]
    assert by_column["bed"]["records"] == estimate.records > by_column["ward"]["records"]
    assert estimate.details["by_all_columns"] > by_column["bed"]["records"]


def test_two_columns_are_named_where_no_single_one_narrows_anybody_down() -> None:
    halves = [list("ab" * 20), list("aabb" * 10), list("aaaabbbb" * 5)]
    (estimate,) = linked(halves, ("x", "y", "z"))
    assert (estimate.outcome, estimate.details["linked_by"]) == ("explained", ("x", "y", "z"))
    assert estimate.columns == ("x", "y", "z")


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=12), st.integers(2, 4))
def test_narrowed_records_are_those_counted_one_by_one(pairs: list[tuple[int, int]], k: int) -> None:
    owner, ward = (np.array(each, dtype=np.int64) for each in zip(*pairs, strict=True))
    column = (("a", "b", "c", "d"), ward.astype(np.int32))
    ones = np.ones(len(pairs), dtype=np.int64)
    rows = Rows((), (), np.zeros((0, 3), dtype=np.int32), owner, {}, {"ward": column}, ones)
    (estimate,) = narrowings(rows, k, 0)
    assert estimate.records == sum(pairs.count(each) < k for each in pairs)


def test_an_insensitive_value_that_no_record_shows_fits_none() -> None:
    release, original, policy = release_of(2)
    unseen = table_of(original.column_names, [("USA", "USA", "zz", "flu")])
    both = pa.concat_tables([original, unseen])
    report = shoal.attack(release, policy, original=both)
    assert found(report, "linkage").of == 41
    assert found(report, "linkage-insensitive").of == 40


def test_without_insensitive_columns_there_is_nothing_to_link_by_besides() -> None:
    rows = [("America", "*", "flu")] * 4
    original = table_of(NAMES, [("USA", "USA", "flu"), ("Canada", "USA", "flu")] * 2)
    report = shoal.attack(table_of(NAMES, rows), policy_of(COLUMNS), original=original)
    assert found(report, "linkage-insensitive").status == "not applicable"


def test_linking_needs_the_original_and_says_so() -> None:
    release, _, policy = release_of(5)
    report = shoal.attack(release, policy)
    for name in ("linkage", "linkage-insensitive", "downcoding", "informed"):
        estimate = found(report, name)
        assert (estimate.status, estimate.records) == ("not tried", None)
        assert estimate.outcome == "needs-original"


def test_a_sample_of_people_is_near_the_truth_and_the_same_for_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    people = [tuple(str(rng.choice(LEAVES)) for _ in range(2)) for _ in range(600)]
    records = [tuple(str(rng.choice(CHAINS[value])) for value in person) for person in people]
    original = table_of(NAMES, [(*person, "flu") for person in people])
    release = table_of(NAMES, [(*record, "flu") for record in records])
    policy = policy_of(COLUMNS, privacy=[{"model": "k-anonymity", "k": 2}])
    whole = found(shoal.attack(release, policy, original=original), "linkage")
    assert whole.interval is None
    monkeypatch.setattr(linkage, "VICTIMS", 10)
    drawn = [found(shoal.attack(release, policy, original=original, seed=seed), "linkage") for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]
    for estimate in drawn:
        assert estimate.details["people_looked_up"] == 10
        assert estimate.interval is not None
        low, high = estimate.interval
        assert low <= whole.rate <= high
