"""Spellings of one value over the command line: an awkward file, from its draft to the verified release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.policy.yaml_text import dump_yaml
from support.cli import Cli, snapshot

AWKWARD = """name;age;diagnosis
Ann;30;HIV
Bob;31;hiv
Cem;32;"HIV "
Dee;33;H.I.V.
Eva;34;"Flu; seasonal"
Fay;35;flu - SEASONAL
Gus;36;n/a
Hal;37;
Ida;38;"true"
Jon;39;TRUE
Kim;30;ＨＩＶ
Lou;31;Crohn’s disease
Max;32;crohns disease
Nia;33;"B-"
Ole;34;"B"
Pam;36;HIV
"""
SAME = {
    "HIV": ["H.I.V.", "HIV ", "hiv", "ＨＩＶ"],
    "Crohn’s disease": ["crohns disease"],
    "Flu; seasonal": ["flu - SEASONAL"],
    "TRUE": ["true"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(AWKWARD, encoding="utf-8")
    return tmp_path


def write_policy(folder: Path, **column: object) -> Path:
    content = {
        "data": {"path": "people.csv", "separator": ";", "missing": ["", "n/a"]},
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
            "diagnosis": {"role": "sensitive", **column},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "l": 3}],
        "algorithm": "optimal",
        "output": "release.csv",
    }
    path = folder / "policy.yaml"
    path.write_text(dump_yaml(content), encoding="utf-8")
    return path


def test_a_run_stops_with_the_mapping_and_changes_nothing(cli: Cli, folder: Path) -> None:
    policy = write_policy(folder)
    before = snapshot(folder)
    ran = cli("anonymize", policy)
    assert (ran.code, ran.problems) == (2, ("spellings-of-one-value",))
    assert snapshot(folder) == before
    ran = cli("anonymize", policy, "--json")
    (problem,) = json.loads(ran.out or ran.err)["problems"]
    assert problem["edits"][0] == {"path": ["columns", "diagnosis", "same"], "value": SAME}
    assert problem["facts"]["groups"][0] == {"HIV": 2, "H.I.V.": 1, "HIV ": 1, "hiv": 1, "ＨＩＶ": 1}


def test_the_mapping_lets_it_go_on_and_every_command_reads_it(cli: Cli, folder: Path) -> None:
    policy = write_policy(folder, same=SAME)
    assert cli("anonymize", policy).code == 0
    release = (folder / "release.csv").read_text(encoding="utf-8")
    assert release.count("HIV") == 6
    assert not any(spelling in release for spellings in SAME.values() for spelling in spellings if spelling != "HIV ")
    assert cli("verify", folder / "release.csv", "--policy", policy, "--original", folder / "people.csv").code == 0
    assert cli("attack", folder / "release.csv", "--policy", policy, "--original", folder / "people.csv").code == 0
    risk = json.loads(cli("risk", folder / "people.csv", "--policy", policy, "--json").out)
    assert next(each["distinct_values"] for each in risk["extra_columns"] if each["column"] == "diagnosis") == 7
    assert cli("why", policy, "--row", "2").code == 0


def test_a_draft_of_the_file_has_the_mapping(cli: Cli, folder: Path) -> None:
    assert cli("init", folder / "people.csv").code == 0
    draft = folder / "people.yaml"
    assert cli("anonymize", draft, "--out", folder / "draft.csv").code == 0
    evidence = json.loads((folder / "draft.evidence.json").read_text())
    assert evidence["columns"]["diagnosis"]["spellings_merged"] == 7
