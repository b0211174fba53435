"""Unknown secrets over the command line: an awkward file, from its draft to the verified release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.policy.yaml_text import dump_yaml, parse_yaml
from support.cli import Cli, snapshot

AWKWARD = """name;age;diagnosis
Ann;30;HIV
Bob;31;HIV
Cem;32;"  ? "
Dee;33;HIV
Eva;34;
Fay;41;"Flu; seasonal"
Gus;42;HIV
Hal;43;keine Angabe
Ida;44;"Keine  Angabe"
Jon;44;UNKNOWN
"""
UNKNOWN = ["  ? ", "keine Angabe", "Keine  Angabe", "UNKNOWN"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(AWKWARD, encoding="utf-8")
    return tmp_path


def write_policy(folder: Path, **column: object) -> Path:
    content = {
        "data": {"path": "people.csv", "separator": ";"},
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"intervals": [10]}},
            "diagnosis": {"role": "sensitive", **column},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "l": 2}],
        "algorithm": "optimal",
        "output": "release.csv",
    }
    path = folder / "policy.yaml"
    path.write_text(dump_yaml(content), encoding="utf-8")
    return path


def ages(folder: Path) -> set[str]:
    lines = (folder / "release.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) == 10
    return {line.rpartition(")")[0] for line in lines}


def test_blank_secrets_no_longer_hide_that_a_class_has_one_secret(cli: Cli, folder: Path) -> None:
    old = write_policy(folder, unknown=UNKNOWN, unknown_counts=True, different=[UNKNOWN[1:3]])
    assert cli("anonymize", old).code == 0
    assert len(ages(folder)) == 2  # the thirties have HIV three times, and nothing else that is known
    attacked = cli("attack", folder / "release.csv", "--policy", old, "--json")
    assert next(each for each in json.loads(attacked.out)["attacks"] if each["name"] == "homogeneity")["records"] == 0
    new = write_policy(folder, unknown=UNKNOWN)
    verified = cli("verify", folder / "release.csv", "--policy", new, "--json")
    failed = {each["name"] for each in json.loads(verified.out)["checks"] if not each["passed"]}
    assert (verified.code, "distinct-l-diversity[diagnosis]" in failed) == (1, True)
    attacked = cli("attack", folder / "release.csv", "--policy", new, "--json")
    found = next(each for each in json.loads(attacked.out)["attacks"] if each["name"] == "homogeneity")
    assert (found["records"], found["of"], found["leak"]) == (3, 5, True)
    assert cli("anonymize", new, "--force").code == 0
    assert len(ages(folder)) == 1
    ran = cli("verify", folder / "release.csv", "--policy", new, "--original", folder / "people.csv")
    assert ran.code == 0, ran.out
    evidence = json.loads((folder / "release.evidence.json").read_text())
    assert evidence["columns"]["diagnosis"]["unknown"]["known_records"] == 5
    assert "unknown in 5 of 10 records" in (folder / "release.report.html").read_text(encoding="utf-8")
    assert cli("why", new, "--row", "2").code == 0


def test_a_spelling_of_an_unknown_value_stops_the_run_and_changes_nothing(cli: Cli, folder: Path) -> None:
    policy = write_policy(folder, unknown=["keine Angabe", "UNKNOWN"])
    before = snapshot(folder)
    ran = cli("anonymize", policy, "--json")
    assert (ran.code, snapshot(folder)) == (2, before)
    (problem,) = json.loads(ran.out or ran.err)["problems"]
    assert problem["code"] == "spellings-of-one-value"
    assert problem["edits"][0]["value"] == {"keine Angabe": ["Keine  Angabe"]}


def test_a_draft_of_the_file_lists_the_values_that_say_nothing(cli: Cli, folder: Path) -> None:
    assert cli("init", folder / "people.csv").code == 0
    text = (folder / "people.yaml").read_text(encoding="utf-8")
    assert parse_yaml(text, "people.yaml")["columns"]["diagnosis"]["unknown"] == sorted(UNKNOWN[1:])
    assert cli("anonymize", folder / "people.yaml", "--out", folder / "draft.csv").code == 0
    evidence = json.loads((folder / "draft.evidence.json").read_text())
    assert evidence["columns"]["diagnosis"]["unknown"]["known_records"] == 5
