"""Minimality: what follows from a level that k does not explain, against every world that fits the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from oracles import attack_oracle as oracle
from shoal.attacks.attack import AttackResult
from shoal.errors import InfeasibleError
from shoal.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    GroupLeakage,
    Model,
    PAlphaSensitive,
    PPlusAlphaSensitive,
    PSensitive,
)
from support.attack_cases import found, policy_of, table_of
from support.builders import domain_of, view_of

TREE = {"*": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}
ABOVE = {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}
HALF = {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.5}, "sensitive": "illness"}


def columns() -> dict[str, Any]:
    return {"place": {"role": "quasi", "hierarchy": {"tree": TREE}}, "illness": {"role": "sensitive"}}


def released(people: Sequence[tuple[str, str]], *privacy: dict[str, Any], **others: Any) -> tuple[Any, Any]:
    policy = policy_of(columns(), privacy=privacy, **others)
    release = shoal.anonymize(table_of(["place", "illness"], people), policy)
    return release, policy


def attacked(people: Sequence[tuple[str, str]], *privacy: dict[str, Any], **others: Any) -> AttackResult:
    release, policy = released(people, *privacy, **others)
    original = table_of(["place", "illness"], people)
    return found(shoal.attack(release.table, policy, original=original), "minimality")


WONG = [("a1", "flu")] * 5 + [("a2", "HIV")] * 2 + [("b1", "flu")] * 3 + [("b2", "flu")] * 2
"""The situation of the paper: five and two records made one class because of the two."""


def test_two_records_that_made_seven_alike_are_known_to_have_the_illness() -> None:
    estimate = attacked(WONG, {"model": "k-anonymity", "k": 2}, HALF)
    assert estimate.leak
    assert (estimate.records, estimate.of) == (2, 12)
    told = estimate.details["by_column"]["place"]
    shares = {"largest_share_in_group": 1.0, "largest_share_in_class": pytest.approx(5 / 7)}
    assert told["by_sensitive"]["illness"] == shares


def test_nothing_follows_where_k_explains_the_level() -> None:
    people = [*WONG, ("b2", "flu")]
    people.remove(("b2", "flu"))
    people.remove(("b2", "flu"))
    estimate = attacked(people, {"model": "k-anonymity", "k": 2}, HALF)
    assert (estimate.leak, estimate.records) == (False, 0)
    assert estimate.details["by_column"]["place"]["explained_by_k"]


def test_nothing_follows_where_several_groups_can_have_failed() -> None:
    people = [*WONG, ("b1", "HIV"), ("b2", "HIV")]
    estimate = attacked(people, {"model": "k-anonymity", "k": 2}, HALF)
    assert (estimate.leak, estimate.records) == (False, 0)
    assert estimate.details["by_column"]["place"]["groups_that_can_fail"] == 2


@pytest.mark.parametrize(
    ("others", "privacy", "reason"),
    [
        ({"algorithm": "mondrian"}, HALF, "not-least-general"),
        ({}, {"model": "k-anonymity", "k": 2}, "no-sensitive-model"),
        ({"suppression": 0.2}, HALF, "records-suppressed"),
    ],
)
def test_without_ground_for_a_conclusion_it_does_not_apply(others: Any, privacy: Any, reason: str) -> None:
    estimate = attacked(WONG, {"model": "k-anonymity", "k": 2}, privacy, **others)
    assert (estimate.status, estimate.leak) == ("not applicable", False)
    assert estimate.outcome == reason


def test_a_model_that_cannot_be_judged_by_counts_leads_to_no_conclusion() -> None:
    entropy = {"model": "entropy-l-diversity", "l": 1.5, "sensitive": "illness"}
    estimate = attacked(WONG[:7], {"model": "k-anonymity", "k": 2}, entropy)
    assert (estimate.status, estimate.records) == ("tried", 0)
    assert estimate.details["by_column"]["place"]["groups_that_can_fail"] == 2


FAILING: dict[str, tuple[dict[str, Any], Callable[[Sequence[Any]], bool]]] = {
    "half": (HALF, lambda secrets: secrets.count("HIV") * 2 > len(secrets)),
    "two": ({"model": "p-sensitive", "p": 2, "sensitive": "illness"}, lambda secrets: len(set(secrets)) < 2),
    "three": ({"model": "distinct-l-diversity", "l": 3, "sensitive": "illness"}, lambda secrets: len(set(secrets)) < 3),
}


@given(
    st.lists(
        st.tuples(st.sampled_from(list(ABOVE)), st.sampled_from(["HIV", "flu", "flu", "cold"])), min_size=2, max_size=9
    ),
    st.sampled_from(sorted(FAILING)),
    st.integers(1, 3),
)
def test_whatever_is_concluded_holds_in_every_world_that_fits(people: list[tuple[str, str]], name: str, k: int) -> None:
    privacy, fails = FAILING[name]
    assume(any(secret == "HIV" for _, secret in people))
    k = max(k, {"half": 1, "two": 2, "three": 3}[name])
    try:
        release, policy = released(people, {"model": "k-anonymity", "k": k}, privacy)
    except InfeasibleError:
        assume(False)
    estimate = found(shoal.attack(release.table, policy, original=table_of(["place", "illness"], people)), "minimality")
    level = release.recoding.levels["place"]
    if level == 0:
        assert estimate.records == 0
        return
    group = {leaf: leaf if level == 1 else above for leaf, above in ABOVE.items()}
    owner = {leaf: above if level == 1 else "*" for leaf, above in ABOVE.items()}
    classes = [[(group[p], s) for p, s in people if owner[p] == each] for each in sorted({owner[p] for p, _ in people})]
    known = {each for _, each in oracle.must_fail(classes, fails)}
    sizes = {each: sum(group[place] == each for place, _ in people) for each in set(group.values())}
    if min(size for size in sizes.values() if size) < k:
        assert estimate.records == 0
    else:
        assert estimate.records == 0 or estimate.records in {sizes[each] for each in known}
        if len(known) == 1 and estimate.details["by_column"]["place"]["groups_that_can_fail"] == 1:
            assert estimate.records == sizes[next(iter(known))]


VALUES = ["HIV", "cancer", "flu", "cold"]
CATEGORIES = {"Grave": ["HIV", "cancer"], "Light": ["flu"], "None": ["cold"]}
MODELS: list[Model] = [
    PSensitive(2, sensitive="illness"),
    PSensitive(3, sensitive="illness"),
    DistinctLDiversity(2, sensitive="illness"),
    AlphaKAnonymity(0.5, sensitive="illness"),
    AlphaKAnonymity({"HIV": 0.4}, sensitive="illness"),
    PAlphaSensitive(2, alpha=1, sensitive="illness"),
    PPlusAlphaSensitive(2, alpha=1.5, sensitive="illness"),
    GroupLeakage(2, alpha={"Grave": 0.5, "Light": 0.75}, sensitive="illness"),
]


@given(st.lists(st.sampled_from(VALUES), min_size=1, max_size=6), st.integers(1, 6), st.sampled_from(MODELS))
def test_a_part_can_fail_exactly_if_some_choice_of_secrets_does(secrets: list[str], size: int, model: Model) -> None:
    size = min(size, len(secrets))
    domain = domain_of(VALUES, column="illness", categories=CATEGORIES)
    parts = {tuple(sorted(part)) for part in combinations(secrets, size)}
    expected = any(not model.holds(view_of([part], domain))[0] for part in parts)
    told = model.part_could_fail(view_of([secrets], domain), np.zeros(1, dtype=np.int64), np.array([size]))
    assert bool(told[0]) is expected


def test_a_part_can_always_fail_a_model_that_is_not_about_counts() -> None:
    view = view_of([["HIV", "flu", "cold"]], domain_of(VALUES, column="illness"))
    model = EntropyLDiversity(1.1, sensitive="illness")
    assert model.part_could_fail(view, np.zeros(1, dtype=np.int64), np.array([3])).all()


def test_the_order_of_rows_changes_nothing() -> None:
    release, policy = released(WONG, {"model": "k-anonymity", "k": 2}, HALF)
    turned = [shoal.attack(release.table, policy, original=table_of(["place", "illness"], rows)).to_dict()
              for rows in (WONG, WONG[::-1])]  # fmt: skip
    assert turned[0] == turned[1]
