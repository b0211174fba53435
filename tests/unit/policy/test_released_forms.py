"""Pseudonyms and relative dates in a policy: what is refused, and that a key is never shown."""

import json
from typing import Any

import pytest

from shoal import Policy
from shoal.errors import PolicyError

KEY = "a-key-that-nobody-may-see-5f2c9d81e7"


def content(**changes: Any) -> dict[str, Any]:
    columns = {
        "id": {"role": "pseudonym"},
        "born": {"role": "identifier"},
        "sex": {"role": "quasi"},
        "visit": {"role": "quasi", "relative": "first", "hierarchy": {"intervals": [7, 28]}},
        "leaves": {"role": "insensitive", "relative": "visit"},
        "illness": {"role": "sensitive"},
    }
    columns |= changes.pop("columns", {})
    whole = {"columns": columns, "person": "id", "privacy": [{"model": "k-anonymity", "k": 2}], **changes}
    return {key: value for key, value in whole.items() if value is not None}


def codes(**changes: Any) -> set[tuple[str, str]]:
    with pytest.raises(PolicyError) as error:
        Policy.model_validate(content(**changes))
    return {(problem.where, problem.code) for problem in error.value.problems}


def test_a_right_policy_says_what_is_linked_and_what_is_relative() -> None:
    policy = Policy.model_validate(content())
    assert policy.pseudonym == "id"
    assert policy.relative_columns == {"visit": "first", "leaves": "visit"}
    assert Policy.model_validate(policy.to_dict()) == policy


def test_without_person_a_pseudonym_is_refused_and_so_is_a_first_date() -> None:
    assert codes(person=None) == {
        ("columns.id.role", "pseudonym-without-person"),
        ("columns.visit.relative", "relative-without-person"),
    }


def test_a_pseudonym_of_somebody_else_is_refused() -> None:
    assert codes(person="born") == {("columns.id.role", "pseudonym-without-person")}


def test_there_is_one_pseudonym_for_all_columns_of_a_person() -> None:
    both = {"born": {"role": "pseudonym"}}
    assert codes(columns=both, person=["id", "born"]) == {("columns.born.role", "several-pseudonyms")}
    assert Policy.model_validate(content(person=["born", "id"])).person_columns == ("born", "id")


@pytest.mark.parametrize("name", ["top-down", "greedy-clustering", "mondrian"])
def test_algorithms_that_cannot_promise_linked_records_are_refused(name: str) -> None:
    assert codes(algorithm=name) == {("algorithm.name", "links-records")}


@pytest.mark.parametrize("name", ["optimal", "incognito", "greedy-lattice"])
def test_algorithms_with_one_level_per_column_are_accepted(name: str) -> None:
    Policy.model_validate(content(algorithm=name))


def test_what_would_join_or_compare_linked_records_is_refused() -> None:
    assert codes(recoding=True, registry="kept") == {
        ("registry", "links-records"),
        ("recoding", "recoding-with-person"),
    }


def test_a_cluster_releases_neither() -> None:
    assert codes(engine="spark") == {
        ("columns.id.role", "not-on-spark"),
        ("columns.visit.relative", "not-on-spark"),
        ("columns.leaves.relative", "not-on-spark"),
    }


def test_dates_are_relative_to_another_column_that_is_there() -> None:
    assert codes(columns={"leaves": {"role": "quasi", "relative": "leaves"}}) == {
        ("columns.leaves.relative", "relative-to-itself")
    }
    assert codes(columns={"leaves": {"role": "quasi", "relative": "visti"}}) == {
        ("columns.leaves.relative", "unknown-column")
    }


def test_days_have_no_calendar() -> None:
    dates = {"visit": {"role": "quasi", "relative": "first", "hierarchy": "dates"}}
    assert codes(columns=dates) == {("columns.visit.hierarchy", "relative-hierarchy")}


def test_the_keys_belong_to_their_roles() -> None:
    wrong = {"born": {"role": "identifier", "relative": "visit"}, "sex": {"role": "quasi", "key": {"env": "A"}}}
    assert codes(columns=wrong) == {("columns.born.relative", "wrong-role"), ("columns.sex.key", "wrong-role")}


@pytest.mark.parametrize(
    "key", [KEY, {"env": KEY}, {"value": KEY}, {"env": "A", "file": KEY}, [KEY], {"env": {KEY: 1}}, {"file": ""}]
)
def test_a_key_in_the_policy_is_refused_and_never_shown(key: object) -> None:
    with pytest.raises(PolicyError) as error:
        Policy.model_validate(content(columns={"id": {"role": "pseudonym", "key": key}}))
    assert {problem.code for problem in error.value.problems} == {"key-in-policy"}
    shown = str(error.value) + json.dumps([str(problem) for problem in error.value.problems])
    assert KEY not in shown


@pytest.mark.parametrize("key", [{"env": "MY_KEY"}, {"file": "keys/people.key"}])
def test_a_policy_says_where_the_key_is(key: dict[str, str]) -> None:
    policy = Policy.model_validate(content(columns={"id": {"role": "pseudonym", "key": key}}))
    assert policy.columns["id"].key == key
    assert Policy.model_validate(policy.to_dict()) == policy


def test_an_editor_knows_the_keys() -> None:
    text = json.dumps(Policy.model_json_schema())
    assert '"pseudonym"' in text
    assert '"relative"' in text
