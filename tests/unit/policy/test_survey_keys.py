"""The keys ``household`` and ``weight``: what they accept, and what is said where they are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

import shoal
from shoal.errors import PolicyError
from shoal.policy import Policy

CONTENT: dict[str, Any] = {
    "columns": {
        "home": {"role": "identifier"},
        "w": {"role": "insensitive"},
        "age": {"role": "quasi"},
        "7": {"role": "quasi"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "algorithm": "optimal",
}
TABLE = pa.table({"home": ["x", "x", "y"], "w": [2, 3, 4], "age": [1, 1, 1], "7": [0, 0, 0]})


@pytest.mark.parametrize("keys", [{"household": "home"}, {"weight": "w"}, {"household": "home", "weight": 7}])
def test_right_keys_are_kept_and_written_back(keys: dict[str, Any], tmp_path: Path) -> None:
    made = Policy.model_validate({**CONTENT, **keys})
    (tmp_path / "p.yaml").write_text(made.to_yaml(), encoding="utf-8")
    assert Policy.load(tmp_path / "p.yaml") == made
    assert {key: str(value) for key, value in keys.items()} == {key: getattr(made, key) for key in keys}
    jsonschema.validate({**made.to_dict(), **keys}, Policy.model_json_schema())


def test_without_the_keys_nothing_is_said_of_them() -> None:
    made = Policy.model_validate({**CONTENT, "household": None})
    assert made.household is made.weight is None
    assert not {"household", "weight"} & set(made.to_dict())
    assert "survey" not in shoal.anonymize(TABLE, made).evidence


@pytest.mark.parametrize(
    ("keys", "problems"),
    [
        ({"household": "hme"}, [("household", "unknown-column")]),
        ({"household": "hme", "weight": "v"}, [("household", "unknown-column"), ("weight", "unknown-column")]),
        ({"household": ["home"]}, [("household", "wrong-type")]),
        ({"weight": {"column": "w"}}, [("weight", "wrong-type")]),
        ({"household": "w", "weight": "w"}, [("weight", "listed-twice")]),
        ({"houshold": "home"}, [("houshold", "unknown-key")]),
    ],
)
def test_wrong_keys_are_problems_with_their_place(keys: dict[str, Any], problems: list[tuple[str, str]]) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.model_validate({**CONTENT, **keys})
    assert [(each.where, each.code) for each in caught.value.problems] == problems


def test_weights_are_checked_before_the_search() -> None:
    bad = TABLE.set_column(1, "w", pa.array(["2", "x", None]))
    with pytest.raises(PolicyError) as caught:
        shoal.anonymize(bad, {**CONTENT, "household": "home", "weight": "w"})
    assert [(each.where, each.code) for each in caught.value.problems] == [("weight", "missing-weight")]


def test_neither_column_changes_the_release() -> None:
    plain = shoal.anonymize(TABLE, CONTENT)
    surveyed = shoal.anonymize(TABLE, {**CONTENT, "household": "home", "weight": "w"})
    assert surveyed.data.equals(plain.data)
    assert "home" not in surveyed.data.column_names
