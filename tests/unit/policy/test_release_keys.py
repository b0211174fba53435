"""The keys ``registry`` and ``recoding``: what they accept, and what is said where they are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from shoal.errors import PolicyError
from shoal.evidence.describe import describe_policy
from shoal.pipeline.compare.compare import compare
from shoal.policy import Policy

COLUMNS: dict[str, Any] = {"age": {"role": "quasi", "hierarchy": {"intervals": [10]}}}


def policy(**keys: Any) -> Policy:
    return Policy(columns=COLUMNS, privacy=[{"model": "k-anonymity", "k": 2}], **keys)


def test_right_keys_are_kept_and_written_back(tmp_path: Path) -> None:
    made = policy(registry="releases", recoding=True)
    (tmp_path / "p.yaml").write_text(made.to_yaml(), encoding="utf-8")
    assert Policy.load(tmp_path / "p.yaml") == made
    jsonschema.validate(made.to_dict(), Policy.model_json_schema())
    assert (policy().registry, policy().recoding, policy(registry=None).registry) == (None, False, None)


@pytest.mark.parametrize(
    ("keys", "where", "words"),
    [
        ({"registry": 5}, "registry", "must be a path"),
        ({"registry": ["a"]}, "registry", "must be a path"),
        ({"recoding": "yes"}, "recoding", "must be true or false"),
        ({"recoding": 1}, "recoding", "must be true or false"),
        ({"registri": "x"}, "registri", "no such key"),
    ],
)
def test_wrong_keys_are_told_with_their_place(keys: Any, where: str, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy(**keys)
    (problem,) = caught.value.problems
    assert problem.where == where
    assert words in problem.message


def test_the_evidence_does_not_name_the_folder() -> None:
    assert "registry" not in describe_policy(policy(registry="/home/somebody/releases"))


def test_the_releases_of_a_comparison_are_not_remembered(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("age\n31\n32\n41\n42\n", encoding="utf-8")
    text = policy(data="d.csv", registry="releases", recoding=True).to_yaml()
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    compare(tmp_path / "p.yaml", ["optimal"], out=tmp_path / "c", releases=True)
    assert not (tmp_path / "releases").exists()
    for made in (tmp_path / "c" / "points").glob("*.yaml"):
        assert "registry" not in made.read_text(encoding="utf-8")
