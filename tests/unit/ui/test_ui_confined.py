"""A policy on the page reaches nothing but the session's own table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.errors import PolicyError
from shoal.policy.yaml_text import dump_yaml
from shoal.ui.desk import document
from shoal.ui.server.confined import load_confined

POLICY: dict[str, Any] = {
    "data": {"path": "people.csv"},
    "columns": {"age": {"role": "quasi", "hierarchy": "flat"}, "zip": {"role": "quasi"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": "release.csv",
}


def with_age(hierarchy: Any) -> dict[str, Any]:
    return {**POLICY, "columns": {**POLICY["columns"], "age": {"role": "quasi", "hierarchy": hierarchy}}}


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        (with_age({"levels": "/etc/passwd"}), "columns.age.hierarchy"),
        (with_age({"tree": "../other/tree.yaml"}), "columns.age.hierarchy"),
        ({**POLICY, "data": "/etc/passwd.csv"}, "data"),
        ({**POLICY, "data": "../other.csv"}, "data"),
        ({**POLICY, "data": {"postgresql": "postgresql://localhost/db", "table": "people"}}, "data"),
        ({**POLICY, "output": "postgresql://localhost/db#people"}, "output"),
        ({**POLICY, "registry": "releases"}, "registry"),
        ({**POLICY, "engine": "spark"}, "engine"),
    ],
)
def test_what_lies_outside_is_a_problem(tmp_path: Path, changed: dict[str, Any], where: str) -> None:
    assert [each.where for each in document.problems_of(changed)] == [where]
    file = tmp_path / "policy.yaml"
    file.write_text(dump_yaml(changed))
    with pytest.raises(PolicyError):
        load_confined(file)


def test_the_table_of_the_session_is_none(tmp_path: Path) -> None:
    assert not document.problems_of(POLICY)
    file = tmp_path / "policy.yaml"
    file.write_text(dump_yaml(POLICY))
    assert load_confined(file).names("quasi") == ["age", "zip"]
