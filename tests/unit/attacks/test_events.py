"""Several known events of a person: figures by hand, by the definition, and from a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from oracles import known_records_oracle as oracle
from shoal.attacks.attackers import events
from shoal.attacks.attackers.events import KNOWN, _People
from shoal.errors import InfeasibleError
from support.attack_cases import found, policy_of, table_of

NAMES = ("patient", "month", "illness")
VISITS = [
    *[("ann", "1", "flu"), ("ann", "2", "flu"), ("ann", "3", "flu")],
    *[("bob", "1", "HIV"), ("bob", "3", "flu")],
    *[("cid", "2", "flu"), ("cid", "4", "flu")],
    *[("dee", "4", "HIV")],
]
COLUMNS = {
    "patient": {"role": "identifier"},
    "month": {"role": "quasi", "hierarchy": {"tree": {"spring": ["1", "2"], "summer": ["3", "4"]}}},
    "illness": {"role": "sensitive"},
}
RECORDS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=24)


def events_policy(**others: Any) -> shoal.Policy:
    asked = {"person": "patient", "privacy": [{"model": "k-anonymity", "k": 3}], **others}
    return policy_of(COLUMNS, **asked)


def test_figures_by_hand() -> None:
    """In seasons: Ann 2 in spring and 1 in summer, Bob and Cid 1 and 1, Dee 1 in summer."""
    release = shoal.anonymize(table_of(NAMES, VISITS), events_policy())
    assert release.evidence["levels"] == {"month": 1}
    result = found(release.facts, "events")
    assert [each["singled_out"] for each in result.details["known"]] == [0, 1, 1]  # Ann, by two in spring
    assert [each["singled_out"] for each in result.details["before"]] == [0, 2, 2]  # Ann and Cid; Bob fits with Ann
    assert [each["fewest"] for each in result.details["known"]] == [3, 1, 1]
    one, two, _ = result.details["known"]
    assert one["success"] == pytest.approx(((1 / 3 + 1 / 3 + 1 / 4) / 3 + 2 * (1 / 3 + 1 / 4) / 2 + 1 / 4) / 4)
    assert two["success"] == pytest.approx(((1 + 1 / 3 + 1 / 3) / 3 + 1 / 3 + 1 / 3 + 1 / 4) / 4)
    assert (one["chance"], two["chance"]) == pytest.approx((1 / 4, (1 / 3 * 3 + 1 / 4) / 4))
    assert (result.people, result.of_people, result.records, result.of, result.leak) == (1, 4, 3, 8, True)


def test_events_in_the_policy_stop_it_up_to_their_number() -> None:
    policy = events_policy(person={"column": "patient", "events": 2})
    release = shoal.anonymize(table_of(NAMES, VISITS), policy)
    assert release.evidence["levels"] == {"month": 2}
    assert [each["fewest"] for each in found(release.facts, "events").details["known"]] == [4, 3, 1]
    with pytest.raises(InfeasibleError):  # nobody but Ann has three records
        shoal.anonymize(table_of(NAMES, VISITS), events_policy(person={"column": "patient", "events": 3}))


def test_a_file_gives_the_same_figures_where_labels_do_not_overlap() -> None:
    table, policy = table_of(NAMES, VISITS), events_policy()
    release = shoal.anonymize(table, policy)
    again = found(shoal.attack(release.data, policy, original=table), "events")
    assert again.to_dict() == found(release.facts, "events").to_dict()


def test_it_is_not_tried_where_classes_cannot_be_told() -> None:
    people = [(f"p{n}", str(n % 4 + 1), "flu") for n in range(9)]
    policy = events_policy(algorithm={"name": "top-down"}, privacy=[{"model": "k-anonymity", "k": 3}])
    table, overlapping = table_of(NAMES, people), table_of(NAMES[1:], [("1", "flu")] * 3 + [("*", "flu")] * 6)
    result = found(shoal.attack(overlapping, policy, original=table), "events")
    assert (result.status, result.outcome) == ("not tried", "classes-overlap")


def test_without_a_person_or_an_original() -> None:
    table, policy = table_of(NAMES, VISITS), events_policy()
    release = shoal.anonymize(table, policy).data
    assert found(shoal.attack(release, policy), "events").outcome == "needs-original"
    anybody = policy_of(COLUMNS)
    assert not [each for each in shoal.attack(release, anybody, original=table).attacks if each.name == "events"]


@given(pairs=RECORDS, k=st.integers(2, 4))
def test_figures_are_those_of_the_definition(pairs: Sequence[tuple[int, int]], k: int) -> None:
    people = _people(pairs)
    records = oracle.by_person(pairs)
    for size in KNOWN:
        figures = people.figures(size, k)
        assert figures["singled_out"] == oracle.singled_out(records, size)
        assert figures["below_k"] == oracle.singled_out(records, size, k)
        assert figures["fewest"] == oracle.fewest(records, size)
        assert figures["success"] == pytest.approx(oracle.success(records, size))
        general = {person: ["*"] * len(each) for person, each in records.items()}
        assert figures["chance"] == pytest.approx(oracle.success(general, size))


@given(pairs=RECORDS)
def test_a_sample_of_everybody_gives_the_exact_figures(pairs: Sequence[tuple[int, int]]) -> None:
    exact = _people(pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "EXACT", 0)
        patch.setattr(events, "DRAWN_SETS", 10_000)
        drawn = _people(pairs)
    assert drawn.drawn
    for size in KNOWN:
        assert drawn.figures(size, 3) == pytest.approx(exact.figures(size, 3))


def test_a_sample_is_near_and_the_same_for_a_seed() -> None:
    random = np.random.default_rng(5)
    person, owner = random.integers(0, 800, 6000), random.integers(0, 30, 6000)
    exact = _People.of(owner, person, None, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "EXACT", 0)
        patch.setattr(events, "DRAWN_SETS", 10)
        drawn, again, other = (_People.of(owner, person, None, seed) for seed in (1, 1, 2))
    assert drawn.figures(3, 5) == again.figures(3, 5) != other.figures(3, 5)
    assert drawn.figures(3, 5)["people_looked_at"] == 500
    assert drawn.figures(3, 5)["success"] == pytest.approx(exact.figures(3, 5)["success"], rel=0.1)
    assert 0 < drawn.figures(3, 9)["below_k"] <= exact.figures(3, 9)["below_k"]


def _people(pairs: Sequence[tuple[int, int]]) -> _People:
    owner, person = (np.array(each) for each in zip(*pairs, strict=True))
    return _People.of(owner, person, None, 0)


def test_a_file_with_pseudonyms_is_attacked_like_the_release_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_PSEUDONYM_KEY", "k" * 32)
    columns = {**COLUMNS, "patient": {"role": "pseudonym"}}
    policy = policy_of(columns, person="patient", privacy=[{"model": "k-anonymity", "k": 2}], suppression=0.8)
    data = table_of(NAMES, [*VISITS, ("eve", "1", "HIV"), ("eve", "3", "flu"), ("fay", "3", "flu")])
    release = shoal.anonymize(data, policy)
    again = shoal.attack(release.table, policy, original=data)
    assert found(release.facts, "events").of_people == 5  # without Ann, who alone has three records
    for attack in ("events", "linkage", "homogeneity", "background"):
        assert found(again, attack) == found(release.facts, attack)
