"""The informed adversary: golden cases by hand, and every algorithm against all assignments of secrets."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from oracles import informed_oracle as oracle
from shoal.attacks.attack import AttackResult
from shoal.attacks.attackers.informed import Informed, refusals_of
from shoal.attacks.informed.decisions import decided_beliefs
from shoal.attacks.informed.exact import exact_beliefs, few_worlds
from shoal.attacks.informed.possible_originals import PossibleOriginals
from shoal.attacks.informed.witnesses import witnesses
from shoal.errors import InfeasibleError, PolicyError
from shoal.pipeline.run import make_release
from support.attack_cases import found, policy_of, table_of
from support.informed_cases import (
    FULL_DOMAIN,
    HALF,
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

WONG = [("11", "Flu")] * 5 + [("12", "HIV")] * 2 + [("21", "Flu")] * 3 + [("22", "Flu")] * 2
"""The situation of Wong et al. 2007: five and two records made one class because of the two."""


def informed(people: Sequence[Sequence[str]], asked: shoal.Policy) -> AttackResult:
    """What this attack alone finds on a release that has just been made."""
    return Informed.run(scene_of(people, asked), "cond")


def attacked(people: Sequence[Sequence[str]], asked: shoal.Policy) -> AttackResult:
    """What the attack finds on the release of a table, which it is handed with it."""
    table = table_of(["zip", "cond"], people)
    return found(shoal.attack(shoal.anonymize(table, asked).table, asked, original=table), "informed")


@pytest.mark.parametrize("algorithm", FULL_DOMAIN)
def test_who_is_left_out_without_need_has_the_illness(algorithm: str) -> None:
    result = attacked(LEFT_OUT, policy_on(MASK, algorithm=algorithm, suppression=0.4))
    assert (result.leak, result.certain, result.records, result.of) == (True, 2, 2, 6)
    assert (result.rate, result.baseline) == (pytest.approx(2 / 3), pytest.approx(1 / 2))
    assert (result.details["method"], result.details["suppressed_exposed"]) == ("exact", 2)


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_rows_of_stars_change_nothing(suppressed: str) -> None:
    result = attacked(LEFT_OUT, policy_on(MASK, suppression=0.4, suppressed=suppressed))
    assert (result.certain, result.records) == (2, 2)


@pytest.mark.parametrize("hierarchy", [{"flat": True}, {"tree": {"*": ["a", "b"]}}])
@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, *LOCAL])
def test_a_cut_that_was_not_made_gives_two_of_six_away(algorithm: str, hierarchy: Any) -> None:
    result = attacked(TWO_OF_SIX, policy_on(hierarchy, algorithm=algorithm))
    assert (result.leak, result.certain, result.rate) == (True, 6, 1.0)


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, "mondrian"])
def test_two_records_that_made_seven_alike_are_known_to_have_the_illness(algorithm: str) -> None:
    result = attacked(WONG, policy_on(MASK, algorithm=algorithm))
    assert (result.leak, result.certain) == (True, 7)


def test_nothing_follows_where_k_explains_the_level() -> None:
    result = attacked([*WONG[:-2], ("22", "Flu")], policy_on(MASK))
    assert (result.status, result.leak, result.rate) == ("tried", False, pytest.approx(result.baseline))


def test_a_value_that_only_those_left_out_have_is_known_from_the_policy() -> None:
    result = attacked([("11", "HIV"), ("11", "HIV"), *[("12", "Flu")] * 4], policy_on(MASK, suppression=0.4))
    assert (result.certain, result.details["suppressed_exposed"]) == (2, 2)


def test_secrets_that_no_model_reads_decide_nothing() -> None:
    result = attacked(LEFT_OUT, policy_on(MASK, TWO))
    assert (result.status, result.outcome) == ("not applicable", "secrets-not-read")


def test_the_order_of_rows_changes_nothing() -> None:
    asked = policy_on(MASK, suppression=0.4)
    assert attacked(LEFT_OUT, asked).to_dict() == attacked(LEFT_OUT[::-1], asked).to_dict()


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, *LOCAL])
def test_a_release_just_made_is_attacked_as_one_that_is_read(algorithm: str) -> None:
    asked = policy_on({"flat": True}, algorithm=algorithm)
    release = shoal.anonymize(table_of(["zip", "cond"], TWO_OF_SIX), asked)
    (made,) = [each for each in release.evidence["attacks"] if each["name"] == "informed"]
    read = attacked(TWO_OF_SIX, asked)
    assert (made["certain"], made["records"], made["outcome"]) == (read.certain, read.records, read.outcome)


PRIVACY: dict[str, tuple[list[Any], list[str]]] = {
    "half": ([HALF], ["HIV"]),
    "two values": ([{"model": "p-sensitive", "p": 2, "sensitive": "cond"}], []),
    "two or half": ([HALF, {"model": "p-sensitive", "p": 2, "sensitive": "cond"}], ["HIV"]),
    "close": ([{"model": "t-closeness", "t": 0.3, "sensitive": "cond"}], []),
    "entropy": ([{"model": "entropy-l-diversity", "l": 1.5, "sensitive": "cond"}], []),
}


def release_by(asked: shoal.Policy) -> oracle.Release:
    """What an algorithm releases of each person, by the public pipeline."""

    def released(people: Sequence[oracle.Person], secrets: Sequence[str]) -> list[oracle.Labels] | None:
        rows = [(*person, secret) for person, secret in zip(people, secrets, strict=True)]
        try:
            made = make_release(table_of(["zip", "cond"], rows), asked).record_recoding
        except (InfeasibleError, PolicyError):
            return None
        shown = [
            tuple(hierarchy.labels[node] for hierarchy, node in zip(made.hierarchies, nodes, strict=True))
            for nodes in made.nodes.tolist()
        ]
        return [shown[each] if each >= 0 else None for each in made.row_class.tolist()]

    return released


ANY_CASE = given(
    people=st.lists(
        st.tuples(st.sampled_from(["11", "12", "21"]), st.sampled_from(["HIV", "Flu", "Flu"])), min_size=4, max_size=6
    ),
    privacy=st.sampled_from(sorted(PRIVACY)),
    k=st.integers(1, 2),
    suppression=st.sampled_from([0, 0.4]),
)


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, *LOCAL])
@settings(max_examples=10)
@ANY_CASE
def test_beliefs_are_those_over_every_world_that_gives_the_release(
    algorithm: str, people: list[tuple[str, str]], privacy: str, k: int, suppression: float
) -> None:
    models, named = PRIVACY[privacy]
    k = max(k, *(model.get("p", 1) for model in models))
    asked = policy_on(MASK, {"model": "k-anonymity", "k": k}, *models, algorithm=algorithm, suppression=suppression)
    who, secrets = [(place,) for place, _ in people], [secret for _, secret in people]
    expected = oracle.believed(who, secrets, release_by(asked), named=named)
    assume(expected is not None)
    assert expected is not None
    result = informed(people, asked)
    if not expected.explaining:  # somebody left out has a value that nothing hints at
        assert (result.status, result.outcome) == ("not tried", "unexplained")
        return
    assert (result.rate, result.baseline) == (
        pytest.approx(float(expected.rate)),
        pytest.approx(float(expected.baseline)),
    )
    assert (result.certain, result.records) == (expected.certain, expected.exposed)


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, "mondrian", "top-down"])
@settings(max_examples=25)
@given(
    people=st.lists(
        st.tuples(st.sampled_from(["11", "12", "13", "14"]), st.sampled_from(["HIV", "Flu", "Flu"])),
        min_size=4,
        max_size=7,
    ),
    hierarchy=st.sampled_from([MASK, {"flat": True}, {"tree": {"*": {"A": ["11", "12"], "B": ["13", "14"]}}}]),
    privacy=st.sampled_from(sorted(PRIVACY)),
    k=st.integers(1, 2),
    suppression=st.sampled_from([0, 0.4]),
)
def test_what_follows_from_single_decisions_follows_from_all_worlds(
    algorithm: str, people: list[tuple[str, str]], hierarchy: Any, privacy: str, k: int, suppression: float
) -> None:
    models, _ = PRIVACY[privacy]
    k = max(k, *(model.get("p", 1) for model in models))
    asked = policy_on(
        hierarchy, {"model": "k-anonymity", "k": k}, *models, algorithm=algorithm, suppression=suppression
    )
    try:
        scene = scene_of(people, asked)
    except (InfeasibleError, PolicyError):
        assume(False)
    known = known_of(scene)
    parts = few_worlds(known)
    refusals = refusals_of(scene, known)
    assume(refusals is not None)
    assert parts is not None
    assert refusals is not None
    exact = exact_beliefs(known, "cond", parts, PossibleOriginals(scene, known))
    assume(exact is not None)
    assert exact is not None
    found = decided_beliefs(known, "cond", refusals, seed=0)
    assert found.reproduced
    decided = found.beliefs()
    assert (decided.least <= exact.least + 1e-9).all()
    impossible = np.isclose(decided.expected, 0) & (decided.margin is None)
    assert np.allclose(exact.expected[impossible], 0)


def test_a_group_left_out_of_a_large_table_is_believed_to_be_ill_more_often() -> None:
    people = [("11", "HIV")] * 8 + [("11", "Flu")] * 14
    for place, ill in {"12": 20, "13": 40, "21": 30, "22": 30}.items():
        people += [(place, "HIV")] * ill + [(place, "Flu")] * (496 - ill)
    limit = {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.3}, "sensitive": "cond"}
    scene = scene_of(people, policy_on(MASK, TWO, limit, suppression=0.02))
    all_worlds, decided = Informed.run(scene, "cond"), by_decisions(scene)
    assert (all_worlds.details["method"], decided.details["method"]) == ("exact", "decisions")
    chances = [comb(22, n) * (120 / 1984) ** n * (1864 / 1984) ** (22 - n) for n in range(23)]
    mean = sum(n * chance for n, chance in enumerate(chances) if n / 22 > 0.3) / sum(chances[7:]) / 22
    for result in (all_worlds, decided):
        assert (result.leak, result.records, result.of, result.certain) == (True, 8, 2006, 0)
        assert result.details["suppressed_exposed"] == 8
        assert result.details["largest_rise"] == pytest.approx(mean - 120 / 1984)


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, "mondrian"])
def test_decisions_alone_find_what_wong_found(algorithm: str) -> None:
    result = by_decisions(scene_of(WONG, policy_on(MASK, algorithm=algorithm)))
    assert (result.leak, result.certain, result.details["method"]) == (True, 7, "decisions")


def test_a_witness_proves_that_a_secret_is_open() -> None:
    people = [(place, cond) for place in ("11", "12", "21", "22") for cond in ("HIV", "Flu", "Flu", "Cold")]
    scene = scene_of(people, policy_on(MASK, {"model": "k-anonymity", "k": 8}, HALF, algorithm="greedy-clustering"))
    known = known_of(scene)
    found = witnesses(known, "cond", PossibleOriginals(scene, known), seed=0)
    assert found.open == found.people == len(people)


def test_without_a_witness_a_secret_stays_undecided() -> None:
    scene = scene_of(TWO_OF_SIX, policy_on({"flat": True}, algorithm="mondrian"))
    known = known_of(scene)
    assert witnesses(known, "cond", PossibleOriginals(scene, known), seed=0).open == 0


def test_a_large_table_that_is_clustered_is_searched_for_witnesses() -> None:
    people = [(f"{place}", ("HIV", "Flu", "Cold")[place % 3]) for place in range(10, 90)]
    result = informed(people, policy_on(MASK, {"model": "k-anonymity", "k": 8}, HALF, algorithm="greedy-clustering"))
    assert (result.leak, result.records, result.details["method"]) == (False, 0, "witnesses")
    assert 0 < result.details["open"] <= result.details["looked_at"]
    low, high = result.details["open_interval"]
    assert low - 1e-9 <= result.details["open"] / result.details["looked_at"] <= high + 1e-9


def test_a_small_group_of_a_large_class_is_found_to_have_failed() -> None:
    illnesses = ["HIV", *(f"illness {number}" for number in range(12))]
    people = [("11", illness) for illness in illnesses[1:] for _ in range(200)]
    people += [("12", "HIV")] * 10 + [("21", illness) for illness in illnesses[1:] for _ in range(200)]
    result = informed(people, policy_on(MASK, {"model": "k-anonymity", "k": 10}, HALF))
    assert result.details["method"] == "decisions"
    assert (result.leak, result.records, result.certain) == (True, 10, 0)
    assert result.details["largest_rise"] > 0.5


def test_where_people_are_counted_who_a_record_is_about_is_held() -> None:
    names = ["person", "zip", "cond"]
    columns = {
        "person": {"role": "identifier"},
        "zip": {"role": "quasi", "hierarchy": MASK},
        "cond": {"role": "sensitive"},
    }
    asked = policy_of(columns, privacy=[TWO, HALF], suppression=0.4, person="person")
    table = table_of(names, [(str(number), *each) for number, each in enumerate(LEFT_OUT)])
    (made,) = [each for each in shoal.anonymize(table, asked).evidence["attacks"] if each["name"] == "informed"]
    assert (made["certain"], made["details"]["method"]) == (2, "exact")


def test_several_sensitive_columns_are_dealt_together() -> None:
    names = ["zip", "cond", "ward"]
    columns = {
        "zip": {"role": "quasi", "hierarchy": MASK},
        "cond": {"role": "sensitive"},
        "ward": {"role": "sensitive"},
    }
    table = table_of(names, [(*each, ward) for each, ward in zip(LEFT_OUT, "EWEWWE", strict=True)])
    asked = policy_of(columns, privacy=[TWO, HALF], suppression=0.4)
    report = shoal.attack(shoal.anonymize(table, asked).table, asked, original=table)
    assert found(report, "informed", "cond").certain == 2
    assert found(report, "informed", "ward").outcome == "secrets-not-read"
    both = policy_of(
        columns,
        privacy=[TWO, HALF, {"model": "p-sensitive", "p": 1, "sensitive": "ward"}],
        suppression=0.4,
    )
    report = shoal.attack(shoal.anonymize(table, both).table, both, original=table)
    assert (found(report, "informed", "cond").certain, found(report, "informed", "ward").leak) == (2, False)


def test_a_release_that_the_program_does_not_make_is_not_explained() -> None:
    asked = policy_on(MASK, {"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 1, "sensitive": "cond"})
    table = table_of(["zip", "cond"], LEFT_OUT)
    coarser = table_of(["zip", "cond"], [(place[0] + "*", cond) for place, cond in LEFT_OUT])
    result = found(shoal.attack(coarser, asked, original=table), "informed")
    assert (result.status, result.outcome) == ("not tried", "not-reproduced")
