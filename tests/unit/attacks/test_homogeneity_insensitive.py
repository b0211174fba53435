"""Homogeneity by insensitive columns: what a ward tells of an illness, however mixed the classes are."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from oracles import attack_oracle as oracle
from support.attack_cases import found, policy_of, table_of

COLUMNS = {"sex": {"role": "quasi"}, "ward": {"role": "insensitive"}, "illness": {"role": "sensitive"}}
NAMES = list(COLUMNS)
NAME = "homogeneity-insensitive"


def test_a_ward_with_one_illness_gives_it_away_in_mixed_classes() -> None:
    rows = [(sex, ward, "HIV" if ward == "a" else "flu") for sex in "mf" for ward in "ab" for _ in range(20)]
    report = shoal.attack(table_of(NAMES, rows), policy_of(COLUMNS, privacy=[{"model": "k-anonymity", "k": 5}]))
    assert not found(report, "homogeneity").leak
    estimate = found(report, NAME)
    assert (estimate.leak, estimate.records, estimate.of, estimate.rate) == (True, 80, 80, 1.0)
    assert (estimate.certain, estimate.details["expected_by_chance"]) == (80, pytest.approx(0.0, abs=0.01))
    assert (estimate.columns, estimate.details["records_in_mixed_classes"]) == (("ward",), 80)
    assert estimate.details["by_value"] == {"HIV": 40, "flu": 40}


def test_what_the_classes_and_chance_tell_is_the_baseline() -> None:
    rows = [("m", "a", "flu"), ("m", "b", "flu"), ("f", "a", "flu"), ("f", "b", "HIV")]
    estimate = found(shoal.attack(table_of(NAMES, rows), policy_of(COLUMNS)), NAME)
    assert (estimate.leak, estimate.records, estimate.baseline) == (False, 4, 1.0)  # a ward of one is certain
    assert (estimate.outcome, estimate.details["records_in_mixed_classes"]) == ("explained", 2)
    assert estimate.details["expected_by_chance"] == pytest.approx(2)


def test_only_the_column_that_does_it_is_named() -> None:
    columns = {**COLUMNS, "bed": {"role": "insensitive"}, "meal": {"role": "insensitive"}}
    rows = [
        (sex, ward, "HIV" if ward == "a" else "flu", bed, meal)
        for sex in "mf" for ward in "ab" for bed in "xyz" for meal in "pq" for _ in range(3)
    ]  # fmt: skip
    estimate = found(shoal.attack(table_of(list(columns), rows), policy_of(columns)), NAME)
    assert (estimate.leak, estimate.columns, estimate.certain) == (True, ("ward",), 72)


def test_a_column_that_is_different_everywhere_makes_everybody_certain_as_chance_would() -> None:
    rows = [(sex, f"{sex}{index}", illness) for sex in "mf" for index, illness in enumerate(["HIV", "flu"] * 10)]
    estimate = found(shoal.attack(table_of(NAMES, rows), policy_of(COLUMNS)), NAME)
    assert (estimate.leak, estimate.outcome, estimate.records) == (False, "explained", 40)
    assert estimate.details["expected_by_chance"] == pytest.approx(40)


def test_without_insensitive_columns_it_does_not_apply() -> None:
    columns = {"sex": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    estimate = found(shoal.attack(table_of(list(columns), [("m", "flu")]), policy_of(columns)), NAME)
    assert estimate.status == "not applicable"


@given(st.lists(st.tuples(*[st.sampled_from("ab")] * 3), min_size=1, max_size=10))
def test_records_are_those_counted_one_by_one(rows: list[tuple[str, str, str]]) -> None:
    estimate = found(shoal.attack(table_of(NAMES, rows), policy_of(COLUMNS)), NAME)
    by_class, by_both = defaultdict(list), defaultdict(list)
    for sex, ward, illness in rows:
        by_class[sex].append(illness)
        by_both[sex, ward].append(illness)
    known, more = (oracle.certain_records(groups.values(), 0) for groups in (by_class, by_both))
    mixed = estimate.details["records_in_mixed_classes"]
    assert (estimate.records, mixed) == (more, more - known)
    assert estimate.baseline == pytest.approx((known + estimate.details.get("expected_by_chance", 0)) / len(rows))


def test_values_that_the_policy_leaves_free_are_listed_apart() -> None:
    asked = [{"model": "alpha-k-anonymity", "alpha": {"HIV": 0.5}, "sensitive": "illness"}]
    rows = [("m", "a", "flu")] * 2 + [("f", "a", "HIV"), ("f", "b", "flu")] * 20
    report = shoal.attack(table_of(NAMES, rows), policy_of(COLUMNS, privacy=asked))
    first, second = found(report, "homogeneity"), found(report, NAME)
    assert (first.details["by_value"], first.details["by_value_unprotected"]) == ({}, {"flu": 2})
    assert (second.details["by_value"], second.details["by_value_unprotected"]) == ({"HIV": 20}, {"flu": 22})
    assert (second.outcome, second.records, second.certain) == ("leak", 20, 20)
