"""Composition: what two releases leave together, person by person, and class by class without the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from oracles import attack_oracle as oracle
from shoal.attacks.attack import AttackResult
from shoal.attacks.attackers import composition as attack_earlier
from support.attack_cases import found, policy_of, table_of

TREE = {"A": ["a1", "a2"], "B": ["b1", "b2"]}
CHAINS = {leaf: [leaf, group, "*"] for group, leaves in TREE.items() for leaf in leaves}
QUASI: dict[str, Any] = {"role": "quasi", "hierarchy": {"tree": TREE}}
SECRET: dict[str, Any] = {"role": "sensitive"}
COLUMNS = {"home": QUASI, "work": QUASI, "illness": SECRET}
NAMES = list(COLUMNS)
TWO = [{"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2, "sensitive": "illness"}]
PEOPLE = [("a1", "a1", "HIV"), ("a1", "b1", "flu"), ("a2", "a1", "cold"), ("a2", "b1", "gout")]
"""By home {HIV, flu} and {cold, gout}, by work {HIV, cold} and {flu, gout}."""


def attacked(
    rows: Sequence[Sequence[str]],
    before: Sequence[Sequence[str]],
    people: Sequence[Sequence[str]] | None,
    *,
    earlier_columns: dict[str, Any] | None = None,
    names: Sequence[str] = NAMES,
) -> AttackResult:
    policy = policy_of(COLUMNS, privacy=TWO)
    other = policy_of(earlier_columns or COLUMNS, privacy=TWO)
    original = None if people is None else table_of(NAMES, people)
    earlier = [(table_of(names, before), other)]
    return found(shoal.attack(table_of(NAMES, rows), policy, original=original, earlier=earlier), "composition")


BY_HOME = [(home, "*", illness) for home, _, illness in PEOPLE]
BY_WORK = [("*", work, illness) for _, work, illness in PEOPLE]


def test_two_releases_that_keep_their_promises_break_them_together() -> None:
    estimate = attacked(BY_HOME, BY_WORK, PEOPLE)
    assert estimate.leak
    assert (estimate.records, estimate.of, estimate.rate, estimate.baseline) == (4, 4, 1.0, 0.0)
    assert estimate.details["values_promised"] == 2
    assert estimate.details["fewer_than_promised"] == 4
    assert estimate.details["earlier_releases"] == 1


def test_what_one_release_tells_alone_is_the_baseline() -> None:
    alone = [*PEOPLE, ("b1", "a2", "gout"), ("b1", "a2", "gout")]
    shown = [[(home, "*", illness) for home, _, illness in alone], [("*", work, illness) for _, work, illness in alone]]
    estimate = attacked(shown[0], shown[1], alone)
    assert estimate.details["certain_by_one_release_alone"] == 2
    assert (estimate.records, estimate.rate, estimate.baseline) == (4, 1.0, pytest.approx(1 / 3))


def test_the_same_release_twice_tells_nothing_more() -> None:
    estimate = attacked(BY_HOME, BY_HOME, PEOPLE)
    assert (estimate.leak, estimate.records) == (False, 0)
    assert estimate.outcome == "nothing"


def test_without_the_original_there_are_bounds() -> None:
    pinned = attacked([("a1", "*", "HIV"), ("a1", "*", "flu")], [("a1", "*", "HIV"), ("a1", "*", "cold")], None)
    assert pinned.leak
    assert pinned.details == {"at_least": 2, "at_most": 2}
    apart = attacked([("a1", "*", "HIV"), ("a1", "*", "flu")], [("b1", "*", "HIV"), ("b1", "*", "cold")], None)
    assert apart.details == {"at_least": 0, "at_most": 0}
    surely = attacked(BY_HOME, BY_WORK, None)
    assert surely.details == {"at_least": 4, "at_most": 4}
    before = [("*", "a1", "HIV"), ("*", "a1", "cold"), ("*", "b1", "HIV"), ("*", "b1", "flu")]
    unsure = attacked(BY_HOME[:2], before, None)
    assert unsure.details == {"at_least": 0, "at_most": 2}
    assert not unsure.leak


def test_whoever_was_not_in_the_earlier_release_loses_nothing() -> None:
    """The earlier release is about people of a2; the others fit none of its classes."""
    before = [("a2", "*", "cold"), ("a2", "*", "gout")]
    estimate = attacked(BY_HOME, before, PEOPLE)
    assert (estimate.leak, estimate.of) == (False, 2)


def test_of_several_earlier_releases_each_counts_for_those_in_it() -> None:
    """By work for everybody, and one more about a2 alone that tells nothing new."""
    policy = policy_of(COLUMNS, privacy=TWO)
    original = table_of(NAMES, PEOPLE)
    other = [("a2", "*", "cold"), ("a2", "*", "gout")]
    earlier = [(table_of(NAMES, rows), policy) for rows in (BY_WORK, other)]
    report = shoal.attack(table_of(NAMES, BY_HOME), policy, original=original, earlier=earlier)
    assert found(report, "composition").records == 4
    assert found(report, "composition").details["earlier_releases"] == 2


def test_an_earlier_release_with_other_secrets_misleads_and_exposes_nobody() -> None:
    before = [(home, "*", "mumps") for home, _, _ in PEOPLE]
    estimate = attacked(BY_HOME, before, PEOPLE)
    assert (estimate.leak, estimate.records) == (False, 0)
    assert estimate.details["misled"] == 4


def test_a_published_category_stands_for_all_its_values() -> None:
    groups = {"Grave": ["HIV"], "Middling": ["gout"], "Light": ["flu", "cold"]}
    columns = COLUMNS | {"illness": {"role": "sensitive", "publish": "categories", "categories": groups}}
    before = [("a1", "*", "Middling"), ("a1", "*", "Light"), ("a2", "*", "Grave"), ("a2", "*", "Light")]
    estimate = attacked(BY_HOME, before, PEOPLE, earlier_columns=columns)
    # of {HIV, flu} and {gout, flu, cold} flu is left, of {cold, gout} and {HIV, flu, cold} cold
    assert estimate.leak
    assert (estimate.records, estimate.details["misled"]) == (2, 2)


def test_earlier_releases_are_asked_for_and_one_without_the_secret_does_not_apply() -> None:
    policy = policy_of(COLUMNS, privacy=TWO)
    report = shoal.attack(table_of(NAMES, BY_HOME), policy)
    assert found(report, "composition").status == "not tried"
    other = policy_of({"home": QUASI, "work": QUASI, "job": SECRET})
    earlier = [(table_of(["home", "work", "job"], BY_WORK), other)]
    assert found(shoal.attack(table_of(NAMES, BY_HOME), policy, earlier=earlier), "composition").status == (
        "not applicable"
    )


def test_a_sample_of_people_estimates_with_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack_earlier, "VICTIMS", 3)
    estimate = attacked(BY_HOME, BY_WORK, PEOPLE)
    assert estimate.details["people_looked_up"] == 3
    assert estimate.interval is not None
    bounded = attacked(BY_HOME * 3, BY_WORK, None)
    assert bounded.interval is None  # two classes are no sample


labels = st.sampled_from(list(CHAINS))
persons = st.lists(st.tuples(labels, labels, st.sampled_from(["HIV", "flu", "cold"])), min_size=1, max_size=8)


@st.composite
def two_releases(draw: st.DrawFn) -> tuple[list[tuple[str, str, str]], list[Any], list[Any]]:
    people = draw(persons)
    made = []
    for _ in range(2):
        rows = [
            (*(draw(st.sampled_from(CHAINS[value])) for value in person[:2]), person[2])
            for person in people
            if draw(st.integers(0, 5))
        ]
        made.append(rows or [("*", "*", people[0][2])])
    return people, made[0], made[1]


@given(two_releases())
def test_exposed_are_those_whom_the_intersection_of_candidates_tells(
    case: tuple[list[tuple[str, str, str]], list[Any], list[Any]],
) -> None:
    people, rows, before = case
    both = [[((home, work), illness) for home, work, illness in each] for each in (rows, before)]
    exposed = certain = tried = 0
    for home, work, illness in people:
        sets = [oracle.candidates((home, work), each, [CHAINS, CHAINS]) for each in both]
        if not all(sets):
            continue
        tried += 1
        left = set.intersection(*sets)
        certain += left == {illness}
        exposed += left == {illness} and all(len(each) > 1 for each in sets)
    estimate = attacked(rows, before, people)
    assert (estimate.of, estimate.records) == (tried, exposed)
    assert estimate.details["certain_by_all_together"] == certain


@given(two_releases())
def test_the_bounds_without_the_original_hold_for_people_in_both_releases(
    case: tuple[list[tuple[str, str, str]], list[Any], list[Any]],
) -> None:
    """Everybody in both: those whom the original tells exposed by certain classes lie between the bounds."""
    people, _, _ = case
    rows = [(home, "*", illness) for home, _, illness in people]
    before = [("*", CHAINS[work][1], illness) for _, work, illness in people]
    bound = attacked(rows, before, None).details
    truth = attacked(rows, before, people).records
    assert bound["at_least"] <= truth <= bound["at_most"]


def test_an_earlier_policy_that_does_not_fit_the_original_is_named() -> None:
    other = {"home": {"role": "quasi", "hierarchy": {"tree": {"A": ["a1"]}}}, "illness": SECRET}
    with pytest.raises(shoal.errors.PolicyError, match=r"columns\.home\.hierarchy"):
        attacked(BY_HOME, [("a1", "flu")], PEOPLE, earlier_columns=other, names=["home", "illness"])


def test_values_are_read_as_the_data_writes_them() -> None:
    """Dates in a format of their own: a hierarchy knows them by other texts than the data has."""
    born = {"role": "quasi", "hierarchy": {"dates": {"units": ["month", "year"], "format": "%d.%m.%Y"}}}
    policy = policy_of({"born": born, "illness": SECRET}, privacy=TWO)
    names = ["born", "illness"]
    people = table_of(names, [("05.01.2006", "HIV"), ("06.01.2006", "flu"), ("07.02.2006", "cold")])
    now = table_of(names, [("2006-01", "HIV"), ("2006-01", "flu"), ("2006-02", "cold")])
    before = table_of(names, [("2006", "HIV"), ("2006", "cold"), ("2006-01-06", "flu")])
    estimate = found(shoal.attack(now, policy, original=people, earlier=[(before, policy)]), "composition")
    assert (estimate.of, estimate.details["misled"]) == (3, 0)
