"""The key ``utility``: what it accepts, and what is said where it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

import shoal
from shoal.errors import PolicyError
from shoal.policy import Policy

COLUMNS: dict[str, Any] = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [10]}},
    "joined": {"role": "quasi", "hierarchy": {"dates": ["month"]}},
    "town": {"role": "quasi"},
    "income": {"role": "sensitive"},
}
TABLE = pa.table(
    {
        "name": ["a", "b", "c", "d"],
        "age": [31, 32, 33, 34],
        "joined": ["2020-01-05", "2020-01-06", "2020-02-01", "2020-02-02"],
        "town": ["X", "X", "Y", "Y"],
        "income": ["low", "high", "low", "high"],
    }
)


def policy(utility: Any) -> Policy:
    return Policy(columns=COLUMNS, privacy=[{"model": "k-anonymity", "k": 2}], algorithm="optimal", utility=utility)


RIGHT: list[dict[str, Any]] = [
    {"target": "income"},
    {"target": "town", "test": 0.5, "seed": 7, "sample": 100},
    {"queries": 200},
    {"queries": [{"age": [30, 39], "town": "X"}, {"income": ["low", "high"]}, {"age": None}]},
]


@pytest.mark.parametrize("utility", RIGHT)
def test_a_right_task_is_kept_and_written_back(utility: dict[str, Any], tmp_path: Path) -> None:
    made = policy(utility)
    (tmp_path / "p.yaml").write_text(made.to_yaml(), encoding="utf-8")
    assert Policy.load(tmp_path / "p.yaml") == made
    jsonschema.validate({**made.to_dict(), "utility": utility}, Policy.model_json_schema())


def test_without_the_key_there_is_no_task() -> None:
    assert policy(None).utility is None
    assert "utility" not in policy(None).to_dict()
    assert "utility" not in shoal.anonymize(TABLE, policy(None)).evidence


@pytest.mark.parametrize(
    ("utility", "where", "words"),
    [
        ({}, "utility", "neither a target nor queries"),
        ("income", "utility", "must be a mapping"),
        ({"targt": "income"}, "utility.targt", "no such key"),
        ({"target": "incme"}, "utility.target", "unknown column 'incme'"),
        ({"target": "name"}, "utility.target", "never released"),
        ({"target": "income", "test": 0}, "utility.test", "between 0 and 1"),
        ({"target": "income", "test": 1}, "utility.test", "between 0 and 1"),
        ({"target": "income", "test": 2}, "utility.test", "from 0 to 1"),
        ({"target": "income", "seed": -1}, "utility.seed", "0 or more"),
        ({"target": "income", "sample": 50}, "utility.sample", "at least 100"),
        ({"queries": 0}, "utility.queries", "1 or more"),
        ({"queries": "many"}, "utility.queries", "whole number"),
        ({"queries": []}, "utility.queries", "empty list"),
        ({"queries": [{}]}, "utility.queries[0]", "name at least one column"),
        ({"queries": [{"age": []}]}, "utility.queries[0].age", "empty list"),
        ({"queries": [{"age": 3}, {"shoe": 3}]}, "utility.queries[1].shoe", "unknown column"),
        ({"queries": [{"age": {"low": 3}}]}, "utility.queries[0].age", "single value"),
    ],
)
def test_a_wrong_task_is_told_with_its_place(utility: Any, where: str, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy(utility)
    (problem,) = caught.value.problems
    assert problem.where == where
    assert words in problem.message


@pytest.mark.parametrize(
    ("utility", "where", "code"),
    [
        ({"queries": [{"town": "Z"}]}, "utility.queries[0].town", "unknown-value"),
        ({"queries": [{"age": [30]}]}, "utility.queries[0].age", "range-form"),
        ({"queries": [{"age": ["a", "b"]}]}, "utility.queries[0].age", "not-numbers"),
        ({"queries": [{"age": [40, 30]}]}, "utility.queries[0].age", "range-reversed"),
        ({"queries": [{"joined": ["2021", "2020"]}]}, "utility.queries[0].joined", "range-reversed"),
        ({"queries": [{"age": "young"}]}, "utility.queries[0].age", "unknown-value"),
        ({"target": "income", "test": 0.1}, "utility.test", "test-empty"),
    ],
)
def test_a_task_that_the_data_cannot_have_is_told_before_the_search(utility: Any, where: str, code: str) -> None:
    with pytest.raises(PolicyError) as caught:
        shoal.anonymize(TABLE, policy(utility))
    (problem,) = caught.value.problems
    assert problem.where == where
    assert problem.code == code


def test_a_target_has_classes() -> None:
    table = pa.table(
        {**{name: TABLE.column(name).to_pylist() * 20 for name in TABLE.column_names}, "age": [*range(20, 100)]}
    )
    with pytest.raises(PolicyError, match="'age' has 80 different values in the data; a target must have 2 to 50"):
        shoal.anonymize(table, policy({"target": "age"}))
    constant = table.set_column(table.column_names.index("town"), "town", [["X"] * 80])
    with pytest.raises(PolicyError, match="'town' has 1 different"):
        shoal.anonymize(constant, policy({"target": "town"}))
