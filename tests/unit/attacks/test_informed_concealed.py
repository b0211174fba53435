"""The informed adversary against releases that conceal: nobody but the owner knows the key, so little is learned."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.attacks.attack import AttackResult, Scene
from shoal.attacks.attackers.informed import Informed, refusals_of
from shoal.attacks.informed.exact import few_worlds, worlds_of
from shoal.attacks.informed.followed import FollowedVeto, followed_beliefs
from shoal.attacks.informed.knowledge import PriorKnowledge
from shoal.attacks.informed.possible_originals import PossibleOriginals
from shoal.attacks.verdict.advice import advice_for
from shoal.edits import apply_edits
from shoal.encode.conceal_key import CONCEAL_VARIABLE
from shoal.search.conceal import PART_REFUSED, REFUSED, Veto, as_marks, decoy_chances
from shoal.table.classes import Floats
from support.attack_cases import found, table_of
from support.informed_cases import (
    FULL_DOMAIN,
    LEFT_OUT,
    LOCAL,
    MASK,
    TWO,
    TWO_OF_SIX,
    by_decisions,
    known_of,
    policy_on,
    scene_of,
)

FLAT = {"flat": True}
LARGE = [("11", "HIV")] * 8 + [("11", "Flu")] * 14
"""With the others below, 2,006 people, of whom the 22 of one postal code are left out."""
for _place, _ill in {"12": 20, "13": 40, "21": 30, "22": 30}.items():
    LARGE += [(_place, "HIV")] * _ill + [(_place, "Flu")] * (496 - _ill)
SLOW = ["incognito", "top-down", "greedy-clustering"]
KEYS = [f"{number:02x}" * 32 for number in range(1, 4)]


def policy(hierarchy: Any, *privacy: Any, algorithm: str = "optimal", **others: Any) -> shoal.Policy:
    return policy_on(hierarchy, *privacy, algorithm={"name": algorithm, "conceal": True}, **others)


@pytest.fixture(params=KEYS)
def key(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(CONCEAL_VARIABLE, request.param)
    return str(request.param)


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("algorithm", FULL_DOMAIN)
def test_who_is_left_out_is_not_certain_to_have_the_illness(algorithm: str) -> None:
    result = Informed.run(scene_of(LEFT_OUT, policy(MASK, algorithm=algorithm, suppression=0.4)), "cond")
    assert (result.status, result.certain, result.details["method"]) == ("tried", 0, "exact")


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, *LOCAL])
def test_two_of_six_are_not_certain_to_have_the_illness(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONCEAL_VARIABLE, KEYS[0])
    result = Informed.run(scene_of(TWO_OF_SIX, policy(FLAT, algorithm=algorithm)), "cond")
    assert (result.status, result.certain, result.details["method"]) == ("tried", 0, "exact")


def estimated(scene: Scene, known: PriorKnowledge, keys: int) -> Floats:
    """The beliefs by running every world with so many keys."""
    parts = few_worlds(known)
    assert parts is not None
    worlds, expected, total = PossibleOriginals(scene, known), np.zeros(known.true.shape), 0.0
    for counts, prior in worlds_of(known, parts):
        hits = sum(worlds.explains(counts, Veto(b"%d" % number, given=True)) for number in range(keys))
        expected += prior * hits / keys * counts
        total += prior * hits / keys
    return np.asarray(expected / total)


@pytest.mark.parametrize(
    "algorithm",
    ["optimal", "greedy-lattice", "mondrian", *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW)],
)
def test_beliefs_are_those_of_worlds_that_are_run_with_many_keys(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONCEAL_VARIABLE, KEYS[0])
    scene = scene_of(TWO_OF_SIX, policy(FLAT, algorithm=algorithm))
    known = known_of(scene)
    parts = few_worlds(known)
    assert parts is not None
    beliefs = followed_beliefs(known, "cond", parts, PossibleOriginals(scene, known))
    assert beliefs is not None
    assert np.abs(beliefs.beliefs.expected - estimated(scene, known, 250)).max() < 0.25


def test_a_group_left_out_of_a_large_table_may_have_been_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONCEAL_VARIABLE, KEYS[0])
    limit = {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.3}, "sensitive": "cond"}
    scene = scene_of(LARGE, policy(MASK, TWO, limit, suppression=0.02))
    result = Informed.run(scene, "cond")
    assert result.details["method"] == "decisions"
    assert (result.leak, result.certain) == (False, 0)
    assert result.rate == pytest.approx(result.baseline, abs=0.001)
    # the group is a decoy with a known chance, and fails with the probability of a binomial distribution
    drawn = decoy_chances(np.array([22, 496, 496, 496, 496]))[0]
    chances = [comb(22, n) * (120 / 1984) ** n * (1864 / 1984) ** (22 - n) for n in range(23)]
    weights = [chance * (1 if n / 22 > 0.3 else drawn) for n, chance in enumerate(chances)]
    mean = sum(n * weight for n, weight in enumerate(weights)) / sum(weights) / 22
    assert result.details["largest_rise"] == pytest.approx(mean - 120 / 1984)


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, "mondrian", "top-down"])
def test_nothing_is_certain_from_single_decisions(algorithm: str) -> None:
    for people, hierarchy in ((TWO_OF_SIX, FLAT), (TWO_OF_SIX * 3, FLAT)):
        scene = scene_of(people, policy(hierarchy, algorithm=algorithm))
        result = by_decisions(scene)
        assert (result.status, result.certain) == ("tried", 0)


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, "mondrian", "top-down"])
def test_single_decisions_tell_no_more_than_all_worlds(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONCEAL_VARIABLE, KEYS[0])
    scene = scene_of(TWO_OF_SIX, policy(FLAT, algorithm=algorithm))
    all_worlds, decided = Informed.run(scene, "cond"), by_decisions(scene)
    assert decided.baseline is not None
    assert all_worlds.rate is not None
    assert decided.rate is not None
    assert decided.baseline < decided.rate <= all_worlds.rate + 1e-9


def test_each_kind_of_refusal_has_its_own_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONCEAL_VARIABLE, KEYS[0])
    scene = scene_of(LEFT_OUT, policy(MASK, suppression=0.4))
    known = known_of(scene)
    refusals = refusals_of(scene, known)
    assert refusals is not None
    assert refusals.failed_by_chance is not None
    left_out = known.tuples[known.owner < 0]
    assert refusals.failed_by_chance[left_out] == pytest.approx(decoy_chances(np.array([2, 2, 2]))[0])
    assert all(node.by_chance == REFUSED for node in refusals.nodes)
    scene = scene_of(TWO_OF_SIX, policy(FLAT, algorithm="mondrian"))
    refusals = refusals_of(scene, known_of(scene))
    assert refusals is not None
    assert refusals.uncut_by_chance is not None
    assert refusals.uncut_by_chance(4) == pytest.approx(REFUSED + 2 * PART_REFUSED)
    assert refusals.uncut_by_chance(8) == pytest.approx((REFUSED + 4 * PART_REFUSED) / 2)


def test_a_draw_that_is_compared_twice_stays_where_it_is() -> None:
    asked = FollowedVeto((False, True), 0)
    one = as_marks([7])
    assert not asked.refuses("group", one, chance=0.1).any()
    assert not asked.refuses("group", one, chance=0.05).any()  # it is above 0.1
    assert asked.refuses("group", one, chance=0.4).all()
    assert asked.refuses("group", one, chance=0.5).all()
    assert asked.chances == [0.1, pytest.approx(0.3 / 0.9)]


def test_the_key_changes_nothing_of_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = policy(MASK, suppression=0.4)
    monkeypatch.setenv(CONCEAL_VARIABLE, KEYS[0])
    table = table_of(["zip", "cond"], LEFT_OUT)
    release = shoal.anonymize(table, asked).table
    with_key = found(shoal.attack(release, asked, original=table), "informed")
    monkeypatch.delenv(CONCEAL_VARIABLE)
    without = found(shoal.attack(release, asked, original=table), "informed")
    assert with_key.status == "tried"
    assert with_key.to_dict() == without.to_dict()


def test_the_advised_edit_leaves_nothing_certain_on_a_small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONCEAL_VARIABLE, KEYS[0])
    table = table_of(["zip", "cond"], LEFT_OUT)
    before, changed = advised(table)
    after = found(shoal.attack(shoal.anonymize(table, changed).table, changed, original=table), "informed")
    assert (before.leak, before.certain, after.certain) == (True, 2, 0)


def test_the_advised_edit_stops_the_leak_on_a_large_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONCEAL_VARIABLE, KEYS[0])
    table = table_of(["zip", "cond"], LARGE)
    limit = {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.3}, "sensitive": "cond"}
    before, changed = advised(table, TWO, limit, suppression=0.02)
    after = found(shoal.attack(shoal.anonymize(table, changed).table, changed, original=table), "informed")
    assert (before.leak, after.status, after.leak) == (True, "tried", False)


def advised(table: pa.Table, *privacy: Any, suppression: float = 0.4) -> tuple[AttackResult, shoal.Policy]:
    """What the attack finds where nothing is concealed, and the policy with the edit that is advised."""
    plain = policy(MASK, *privacy, suppression=suppression).to_dict()
    asked = shoal.Policy.model_validate({**plain, "algorithm": {"name": "optimal"}})
    result = found(shoal.attack(shoal.anonymize(table, asked).table, asked, original=table), "informed")
    (edits,) = [each.edits for each in advice_for(asked, [result]) if each.code == "switch-option"]
    changed = shoal.Policy.model_validate(apply_edits(asked.to_dict(), edits))
    assert changed.algorithm.conceal
    return result, changed
