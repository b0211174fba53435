"""The evidence of a release: what its schema says, the same every time, and nothing of what must stay hidden."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import shoal
from e2e.conftest import POLICY, checked_json
from shoal.attacks.battery import ATTACKS
from shoal.evidence.evidence import VOLATILE, Evidence, evidence_problems, seal, without_volatile
from shoal.present.report.page import write_report
from shoal.search import ALGORITHMS
from support.cli import Cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

TOWN = """data: town.csv
columns:
  name: {role: identifier}
  zipcode: {role: quasi, hierarchy: {mask: right}}
  job: {role: quasi, hierarchy: flat}
  born: {role: quasi, hierarchy: {dates: [year, decade]}}
  pay: {role: quasi, hierarchy: {intervals: [10, 50]}}
  illness: {role: sensitive}
  ward: {role: insensitive}
privacy:
  - {model: k-anonymity, k: 5}
  - {model: p-sensitive, p: 2}
  - {model: t-closeness, t: 0.9}
algorithm: ALGORITHM
suppression: 0.03
output: release.csv
"""
HIDDEN = {
    "a suppressed record": ["70413", "astronaut", "1911-11-11", "98765", "Marburg", "Omega"],
    "an identifier": ["Name-17", "Name-Astronaut"],
    "a rare value that labels hide": ["12399", "1955-05-05"],
}
"""Values that must not be found in anything that is written, by whose they are."""


def town(folder: Path, algorithm: str) -> Path:
    """A table in which one record stands apart from all others, and one has a rare value of its own."""
    drawn = random.Random(5)
    rows = [
        f"Name-{number},123{drawn.randrange(10)}{drawn.randrange(5)},{drawn.choice(['baker', 'clerk'])},"
        f"{drawn.choice(['1950-01-01', '1951-02-03', '1952-03-04'])},{drawn.randrange(20, 60)},"
        f"{drawn.choice(['Flu', 'Asthma', 'Gout'])},{drawn.choice('AB')}"
        for number in range(120)
    ]
    rows[3] = "Name-3,12399,baker,1955-05-05,30,Flu,A"
    rows.insert(50, "Name-Astronaut,70413,astronaut,1911-11-11,98765,Marburg,Omega")
    (folder / "town.csv").write_text(
        "\n".join(["name,zipcode,job,born,pay,illness,ward", *rows]) + "\n", encoding="utf-8"
    )
    policy = TOWN.replace("ALGORITHM", algorithm)
    if algorithm not in {
        "optimal",
        "incognito",
        "greedy-lattice",
    }:  # a local recoding suppresses what a boundary keeps apart
        policy = policy.replace("mask: right}}", "mask: right}, boundary: 3}")
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    return folder / "policy.yaml"


def evidence_of(folder: Path, name: str = "release") -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / f"{name}.evidence.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - {"range"}))
def test_nothing_of_a_suppressed_record_an_identifier_or_a_hidden_value_is_written(
    cli: Cli, tmp_path: Path, algorithm: str
) -> None:
    policy = town(tmp_path, algorithm)
    ran = cli("anonymize", policy)
    assert ran.code == 0, ran.err
    evidence = evidence_of(tmp_path)
    assert evidence["suppressed"] >= 1
    for column in evidence["columns"].values():
        if column["role"] == "quasi":
            assert sum(group["before"] for group in column["distribution"]["groups"]) == evidence["released"]
    released = (tmp_path / "release.csv").read_text(encoding="utf-8")
    for whose, values in HIDDEN.items():
        for value in values:
            assert value not in released, f"{value} of {whose}: the case does not show what it should"
            for name in ("release.evidence.json", "release.report.html"):
                content = (tmp_path / name).read_text(encoding="utf-8")
                assert value not in content, f"{value} of {whose} stands in {name}"
    assert "Flu" in released


def test_a_value_is_named_once_enough_records_have_it(cli: Cli, tmp_path: Path) -> None:
    """The other side of the rule: what many have is shown, or the page would tell nothing."""
    policy = town(tmp_path, "optimal")
    assert cli("anonymize", policy).code == 0
    shown = {
        group["label"]
        for column in evidence_of(tmp_path)["columns"].values()
        for group in (column.get("distribution") or {"groups": []})["groups"]
    }
    assert {"baker", "clerk"} <= shown
    assert "baker" in (tmp_path / "release.report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("algorithm", ["optimal", "greedy-clustering"])
def test_two_runs_elsewhere_in_another_order_and_under_another_hash_seed_say_the_same(
    tmp_path: Path, algorithm: str
) -> None:
    found = []
    for place, environment in enumerate(
        ({"PYTHONHASHSEED": "1", "LC_ALL": "C"}, {"PYTHONHASHSEED": "2", "NUMBA_NUM_THREADS": "1"})
    ):
        folder = tmp_path / f"folder {place}"
        folder.mkdir()
        policy = town(folder, algorithm)
        header, *rows = (folder / "town.csv").read_text(encoding="utf-8").splitlines()
        random.Random(place).shuffle(rows)
        (folder / "town.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "shoal", "anonymize", str(policy)]
        subprocess.run(command, check=True, env={**os.environ, **environment}, capture_output=True)
        evidence = evidence_of(folder)
        assert evidence_problems(evidence) == []
        found.append((checked_json(without_volatile(evidence) | dict.fromkeys(VOLATILE, 0) | {"seconds_by_stage": {}}),
                      (folder / "release.csv").read_bytes()))  # fmt: skip
    assert found[0] == found[1]


def test_evidence_comes_back_from_its_file_and_gives_the_same_page(cli: Cli, clinic: Path) -> None:
    result = json.loads(cli("anonymize", clinic / "policy.yaml", "--json").out)
    evidence = evidence_of(clinic)
    assert {key: value for key, value in result.items() if key != "paths"} == evidence
    assert Evidence.read(evidence).to_dict() == evidence
    assert write_report(evidence) == (clinic / "release.report.html").read_text(encoding="utf-8")
    assert evidence["evidence_sha256"] == seal(evidence)


def test_every_attack_is_in_the_evidence_as_shoal_attack_reports_it(cli: Cli, clinic: Path) -> None:
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    evidence = evidence_of(clinic)
    report = shoal.attack(
        clinic / "release.csv", clinic / "policy.yaml", original=clinic / "patients.csv", seed=evidence["attack_seed"]
    )
    assert evidence["attacks"] == json.loads(json.dumps(report.to_dict()["attacks"]))
    listed = [name for name, each in ATTACKS.items() if not each.needs_person]
    assert list(dict.fromkeys(each["name"] for each in evidence["attacks"])) == listed
    assert evidence["seconds_by_stage"]["attack"] > 0


def test_a_release_made_in_python_has_the_same_evidence_as_one_of_the_command(cli: Cli, clinic: Path) -> None:
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    paths = shoal.anonymize(clinic / "patients.csv", clinic / "policy.yaml").write(clinic / "other.csv")
    assert without_volatile(json.loads(paths["evidence"].read_text(encoding="utf-8"))) == without_volatile(
        evidence_of(clinic)
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("output: release.csv", "suppressed: star\noutput: release.csv"),
        ("output: release.csv", "output: release.parquet"),
        ("publish: both", "publish: categories"),
        ("p-plus-alpha-sensitive, p: 2, alpha: 2", "group-leakage, p: 2, alpha: {Top Secret: 0.5}"),
        ("p-plus-alpha-sensitive, p: 2, alpha: 2", "alp-dif, limits: {HIV: {alp: 0.5, dif: 0.5}}"),
        ("p-plus-alpha-sensitive, p: 2, alpha: 2", "recursive-cl-diversity, l: 2, c: 3"),
        ("p-plus-alpha-sensitive, p: 2, alpha: 2", "alpha-k-anonymity, alpha: 0.6"),
        ("p-plus-alpha-sensitive, p: 2, alpha: 2", "entropy-l-diversity, l: 2"),
        ("  - {model: p-plus-alpha-sensitive, p: 2, alpha: 2, sensitive: condition}\n", ""),
        ("suppression: 0.05", "utility: {queries: 5}"),
    ],
)
def test_whatever_is_asked_the_evidence_is_valid_and_verified(cli: Cli, clinic: Path, old: str, new: str) -> None:
    assert old in POLICY
    (clinic / "policy.yaml").write_text(POLICY.replace(old, new), encoding="utf-8")
    ran = cli("anonymize", clinic / "policy.yaml", "--json")  # validated where it is written
    assert ran.code == 0, ran.err
    release = json.loads(ran.out)["paths"]["release"]
    checked = cli("verify", release, "--policy", clinic / "policy.yaml", "--original", clinic / "patients.csv")
    assert checked.code == 0, checked.out
    assert "ok    evidence-attacks" in checked.out


def test_the_range_method_has_evidence_without_a_bound(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("zip,age,job\n" + "".join(f"12{i % 2},{20 + i},x{i % 3}\n" for i in range(12)))
    (tmp_path / "p.yaml").write_text(
        "data: t.csv\ncolumns:\n  zip: {role: quasi, hierarchy: {mask: right}}\n"
        "  age: {role: quasi, hierarchy: {intervals: [5, 10]}}\n  job: {role: sensitive}\n"
        "privacy: [{model: k-anonymity, k: 3}]\n"
        "algorithm: {name: range, group: {zip: 1}, ranges: [age], safe: true}\noutput: r.csv\n"
    )
    assert cli("anonymize", tmp_path / "p.yaml").code == 0
    assert evidence_problems(evidence_of(tmp_path, "r")) == []
    checked = cli("verify", tmp_path / "r.csv", "--policy", tmp_path / "p.yaml", "--original", tmp_path / "t.csv")
    assert checked.code == 0, checked.out


def test_the_schema_of_the_evidence_is_printed_and_is_a_schema(cli: Cli) -> None:
    schema = json.loads(cli("schema", "--evidence").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["evidence_version"]["const"] == 1
    assert "columns" in json.loads(cli("schema").out)["properties"]
    assert json.loads(cli("schema").out) != schema


def test_evidence_that_is_none_is_told_where_it_is_not(cli: Cli, clinic: Path) -> None:
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    evidence = evidence_of(clinic)
    assert evidence_problems([]) == ["it is not a JSON object"]
    assert evidence_problems({**evidence, "evidence_version": 2})[0].startswith("evidence_version: ")
    assert evidence_problems({**evidence, "surprise": 1})[0].startswith("surprise: ")
    del evidence["bound"], evidence["checks"], evidence["models"], evidence["columns"], evidence["seed"]
    assert evidence_problems(evidence)[-1] == "and 2 more"


def test_every_key_is_documented_and_the_volatile_ones_are_named() -> None:
    documented = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    keys = re.findall(r"^\| `([a-z_0-9]+)` ", documented, re.MULTILINE)
    assert {each.name for each in fields(Evidence)} <= set(keys)
    volatile = documented.split("## Which facts differ from run to run")[1].split("\n## ")[0]
    assert set(re.findall(r"`([a-z_]+)`", volatile)) >= set(VOLATILE)
