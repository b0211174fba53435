"""The JSON Schema of a policy accepts what `Policy` accepts, short forms included, and flags slips."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from policy_strategies import policies

from shoal.policy import Policy
from support.policy_cases import hospital, small

SCHEMA = Policy.model_json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def flagged(content: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(content)]


def column(**keys: Any) -> dict[str, Any]:
    content = small()
    content["columns"]["q"] |= keys
    return content


def test_the_schema_is_a_schema_and_json() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert SCHEMA["title"] == "Shoal policy"


def test_the_example_of_the_documentation_is_accepted() -> None:
    assert flagged(hospital()) == []


@pytest.mark.parametrize(
    "content",
    [
        hospital(
            "data", to={"path": "a.csv", "separator": ";", "encoding": "latin-1", "quote": "", "missing": ["?", ""]}
        ),
        hospital("algorithm", to="optimal"),
        hospital("algorithm", to={"name": "greedy-lattice", "weights": {"age": 1}}),
        hospital("suppression", to=1),
        column(hierarchy="flat"),
        column(hierarchy="mask"),
        column(hierarchy="dates"),
        column(hierarchy={"flat": True}),
        column(hierarchy={"intervals": [5, 10]}),
        column(hierarchy={"intervals": [[0, 18, 65], [0, 65]]}),
        column(hierarchy={"intervals": [["-inf", 18, "inf"]]}),
        column(hierarchy={"intervals": {"widths": [5], "origin": 1, "bounds": [0, 120]}}),
        column(hierarchy={"mask": "left"}),
        column(hierarchy={"mask": {"side": "left", "alphabet": "digits", "steps": [1, 3]}}),
        column(hierarchy={"tree": {"A": ["x", 5, None], "B": {"C": ["y"]}}}),
        column(hierarchy={"tree": "tree.yaml"}),
        column(hierarchy={"levels": "levels.csv"}),
        column(hierarchy={"levels": {"path": "levels.csv", "separator": ";"}}),
        column(hierarchy={"dates": "year"}),
        column(hierarchy={"dates": ["month", "year"]}),
        column(hierarchy={"dates": {"units": ["year"], "format": "%Y"}}),
        column(hierarchy={"order": ["low", 5, None]}),
        column(hierarchy={"order": {"values": ["low", "high"], "groups": [2]}}),
        column(hierarchy={"tree": {"A": ["x"], "B": ["y"]}}, boundary="A"),
        column(hierarchy={"tree": {"A": ["x"], "B": ["y"]}}, boundary=["A", "B"]),
        column(boundary=1),
        small(privacy=[{"model": "alpha-k-anonymity", "alpha": 0.5}]),
        small(privacy=[{"model": "alpha-k-anonymity", "alpha": {"a": 0.5}, "sensitive": ["s"]}]),
        small(privacy=[{"model": "alp-dif", "limits": {"a": {"alp": 0.5}}}]),
    ],
)
def test_what_a_policy_accepts_the_schema_accepts(content: dict[str, Any]) -> None:
    Policy.model_validate(copy.deepcopy(content))
    assert flagged(content) == []


@pytest.mark.parametrize(
    "content",
    [
        hospital() | {"dta": 1},
        hospital("columns", "age", "hierachy", to="flat"),
        hospital("columns", "age", "hierarchy", to={"maks": "right"}),
        hospital("columns", "age", "hierarchy", to={"mask": {"sid": "left"}}),
        hospital("columns", "age", "hierarchy", to={}),
        hospital("columns", "age", "hierarchy", to={"flat": True, "mask": "right"}),
        hospital("columns", "age", "hierarchy", to="maks"),
        hospital("columns", "age", "hierarchy", to={"mask": "rihgt"}),
        hospital("columns", "age", "role", to="quas"),
        hospital("columns", "age", to={}),
        hospital("columns", to={}),
        hospital("privacy", to=[]),
        hospital("privacy", 0, "k", to="4"),
        hospital("privacy", 0, "k", to=4.5),
        hospital("privacy", 0, "k", drop=True),
        hospital("privacy", 0, "kk", to=4),
        hospital("privacy", 0, "model", to="k-anonimity"),
        hospital("privacy", 1, "sensitive", to=[]),
        hospital("algorithm", "sed", to=4),
        hospital("data", to={"path": "a.csv", "sep": ";"}),
        hospital("suppression", to=2),
        hospital("suppressed", to="gone"),
        hospital("columns", drop=True),
    ],
)
def test_slips_are_flagged(content: dict[str, Any]) -> None:
    assert flagged(content)


@given(policies())
def test_every_right_policy_passes(content: dict[str, Any]) -> None:
    def text_keys(value: Any) -> Any:
        if isinstance(value, dict):
            return {"null" if key is None else str(key): text_keys(each) for key, each in value.items()}
        return [text_keys(each) for each in value] if isinstance(value, list) else value

    Policy.model_validate(content)
    assert flagged(text_keys(content)) == []
    assert flagged(text_keys(Policy.model_validate(content).to_dict())) == []
