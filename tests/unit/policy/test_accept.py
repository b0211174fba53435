"""Leaks that a policy accepts: what an entry must say, and that it stays in the policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import shoal
from shoal.attack_names import BUILT_IN, attack_names
from shoal.attacks.battery import ATTACKS
from shoal.errors import PolicyError
from shoal.models import MODELS

CONTENT: dict[str, Any] = {
    "columns": {"age": {"role": "quasi"}, "ward": {"role": "insensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}
WARD = {"attack": "linkage-insensitive", "column": "ward", "reason": "Nobody outside knows the ward."}


def problems(accept: Any) -> list[tuple[str, str]]:
    with pytest.raises(PolicyError) as caught:
        shoal.Policy.model_validate(CONTENT | {"accept": accept})
    return [(each.where, each.code) for each in caught.value.problems]


def test_the_names_that_policies_know_are_those_of_the_attacks() -> None:
    assert list(BUILT_IN) == list(ATTACKS)
    assert set(ATTACKS) <= set(attack_names())
    assert {name for model in MODELS.values() for name in model.stops} <= set(ATTACKS)


def test_an_entry_needs_a_known_attack_a_known_column_and_a_reason() -> None:
    wrong = {"attack": "linkage-insensitve", "column": "wrd", "reason": "  "}
    assert problems([wrong]) == [
        ("accept[0].reason", "blank-reason"),
        ("accept[0].attack", "unknown-attack"),
        ("accept[0].column", "unknown-column"),
    ]
    assert problems([{"attack": "linkage"}]) == [("accept[0].reason", "missing-key")]
    assert problems(["linkage"]) == [("accept[0]", "wrong-type")]
    assert problems({"attack": "linkage"}) == [("accept", "wrong-type")]
    assert problems([WARD | {"why": "x"}]) == [("accept[0].why", "unknown-key")]


def test_an_unknown_attack_suggests_the_nearest() -> None:
    with pytest.raises(PolicyError, match="'linkage-insensitive'"):
        shoal.Policy.model_validate(CONTENT | {"accept": [WARD | {"attack": "linkage-insensitiv"}]})


def test_the_same_cannot_be_accepted_twice() -> None:
    other = {"attack": "linkage-insensitive", "reason": "x"}
    assert problems([WARD, other, WARD | {"reason": "y"}]) == [("accept[2]", "listed-twice")]


def test_what_is_accepted_stays_in_the_policy(tmp_path: Path) -> None:
    policy = shoal.Policy.model_validate(CONTENT | {"accept": [WARD]})
    path = tmp_path / "policy.yaml"
    path.write_text(policy.to_yaml())
    assert shoal.Policy.load(path) == policy
    assert yaml.safe_load(policy.to_yaml())["accept"] == [WARD]
    assert policy.changed(suppression=0.1).accept == policy.accept
    assert shoal.Policy.model_validate(CONTENT).accept == []


def test_the_schema_knows_it() -> None:
    schema = Draft202012Validator(shoal.Policy.model_json_schema())
    assert not list(schema.iter_errors(CONTENT | {"accept": [WARD]}))
    assert list(schema.iter_errors(CONTENT | {"accept": [{"attack": "linkage"}]}))
