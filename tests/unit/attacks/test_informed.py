"""The informed adversary: golden cases by hand, and every algorithm against all assignments of secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from oracles import informed_oracle as oracle
from shoal.attacks.attack import AttackResult, Scene
from shoal.attacks.attackers.informed import Informed
from shoal.attacks.original_people import original_scene
from shoal.attacks.released_classes import released_scene, rows_of_recoding
from shoal.errors import InfeasibleError, PolicyError
from shoal.pipeline.run import make_release
from support.attack_cases import found, policy_of, table_of

TWO = {"model": "k-anonymity", "k": 2}
HALF = {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.5}, "sensitive": "cond"}
MASK = {"mask": "right"}
LEFT_OUT = [("11", "HIV"), ("11", "HIV"), ("12", "HIV"), ("12", "Flu"), ("21", "HIV"), ("21", "Flu")]
"""Two people of 11 are left out although two are enough for k: both have HIV."""
TWO_OF_SIX = [("a", "HIV")] * 2 + [("b", "Flu")] * 4
"""Everybody becomes alike, and only because both a have HIV."""
WONG = [("11", "Flu")] * 5 + [("12", "HIV")] * 2 + [("21", "Flu")] * 3 + [("22", "Flu")] * 2
"""The situation of Wong et al. 2007: five and two records made one class because of the two."""
FULL_DOMAIN = ["optimal", "incognito", "greedy-lattice"]
LOCAL = ["mondrian", "top-down", "greedy-clustering"]


def policy(hierarchy: Any, *privacy: Any, **others: Any) -> shoal.Policy:
    columns = {"zip": {"role": "quasi", "hierarchy": hierarchy}, "cond": {"role": "sensitive"}}
    return policy_of(columns, privacy=privacy or (TWO, HALF), **others)


def informed(people: Sequence[Sequence[str]], asked: shoal.Policy) -> AttackResult:
    """What this attack alone finds on a release that has just been made."""
    made = make_release(table_of(["zip", "cond"], people), asked)
    rows = rows_of_recoding(asked, made.rows, made.resolved, made.recoding)
    released = released_scene(rows, asked)
    original = original_scene(released, asked, made.rows, made.resolved, made.recoding)
    return Informed.run(Scene(asked, rows, released, original, recoding=made.recoding), "cond")


def attacked(people: Sequence[Sequence[str]], asked: shoal.Policy) -> AttackResult:
    """What the attack finds on the release of a table, which it is handed with it."""
    table = table_of(["zip", "cond"], people)
    return found(shoal.attack(shoal.anonymize(table, asked).table, asked, original=table), "informed")


@pytest.mark.parametrize("algorithm", FULL_DOMAIN)
def test_who_is_left_out_without_need_has_the_illness(algorithm: str) -> None:
    result = attacked(LEFT_OUT, policy(MASK, algorithm=algorithm, suppression=0.4))
    assert (result.leak, result.certain, result.records, result.of) == (True, 2, 2, 6)
    assert (result.rate, result.baseline) == (pytest.approx(2 / 3), pytest.approx(1 / 2))
    assert (result.details["method"], result.details["suppressed_exposed"]) == ("exact", 2)


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_rows_of_stars_change_nothing(suppressed: str) -> None:
    result = attacked(LEFT_OUT, policy(MASK, suppression=0.4, suppressed=suppressed))
    assert (result.certain, result.records) == (2, 2)


@pytest.mark.parametrize("hierarchy", [{"flat": True}, {"tree": {"*": ["a", "b"]}}])
@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, *LOCAL])
def test_a_cut_that_was_not_made_gives_two_of_six_away(algorithm: str, hierarchy: Any) -> None:
    result = attacked(TWO_OF_SIX, policy(hierarchy, algorithm=algorithm))
    assert (result.leak, result.certain, result.rate) == (True, 6, 1.0)


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, "mondrian"])
def test_two_records_that_made_seven_alike_are_known_to_have_the_illness(algorithm: str) -> None:
    result = attacked(WONG, policy(MASK, algorithm=algorithm))
    assert (result.leak, result.certain) == (True, 7)


def test_nothing_follows_where_k_explains_the_level() -> None:
    result = attacked([*WONG[:-2], ("22", "Flu")], policy(MASK))
    assert (result.status, result.leak, result.rate) == ("tried", False, pytest.approx(result.baseline))


def test_a_value_that_only_those_left_out_have_is_known_from_the_policy() -> None:
    result = attacked([("11", "HIV"), ("11", "HIV"), *[("12", "Flu")] * 4], policy(MASK, suppression=0.4))
    assert (result.certain, result.details["suppressed_exposed"]) == (2, 2)


def test_secrets_that_no_model_reads_decide_nothing() -> None:
    result = attacked(LEFT_OUT, policy(MASK, TWO))
    assert (result.status, result.outcome) == ("not applicable", "secrets-not-read")


def test_the_order_of_rows_changes_nothing() -> None:
    asked = policy(MASK, suppression=0.4)
    assert attacked(LEFT_OUT, asked).to_dict() == attacked(LEFT_OUT[::-1], asked).to_dict()


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, *LOCAL])
def test_a_release_just_made_is_attacked_as_one_that_is_read(algorithm: str) -> None:
    asked = policy({"flat": True}, algorithm=algorithm)
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


@pytest.mark.parametrize("algorithm", [*FULL_DOMAIN, *LOCAL])
@settings(max_examples=10)
@given(
    people=st.lists(
        st.tuples(st.sampled_from(["11", "12", "21"]), st.sampled_from(["HIV", "Flu", "Flu"])), min_size=4, max_size=6
    ),
    privacy=st.sampled_from(sorted(PRIVACY)),
    k=st.integers(1, 2),
    suppression=st.sampled_from([0, 0.4]),
)
def test_beliefs_are_those_over_every_world_that_gives_the_release(
    algorithm: str, people: list[tuple[str, str]], privacy: str, k: int, suppression: float
) -> None:
    models, named = PRIVACY[privacy]
    k = max(k, *(model.get("p", 1) for model in models))
    asked = policy(MASK, {"model": "k-anonymity", "k": k}, *models, algorithm=algorithm, suppression=suppression)
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
