"""Ranges from the command line: ages of a small table, released by each local algorithm, verified, tampered with."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from support.cli import Cli, snapshot

pytestmark = pytest.mark.slow

ROWS = """age,zip,job,illness
21,1001,nurse,Flu
22,1001,nurse,HIV
24,1002,clerk,Flu
25,1002,clerk,Cancer
29,1001,nurse,Flu
31,1001,nurse,Asthma
33,1002,judge,Flu
38,1002,judge,HIV
41,1001,clerk,Cancer
44,1001,clerk,Flu
47,1002,nurse,Asthma
,1002,nurse,Flu
,1002,nurse,HIV
58,1001,judge,Flu
63,1001,judge,Cancer
"""
POLICY = """data: people.csv
columns:
  age: {{role: quasi, hierarchy: {{intervals: [5, 10, 20]}}{boundary}}}
  zip: {{role: quasi, hierarchy: {{mask: right}}}}
  job: {{role: quasi, hierarchy: {{tree: {{health: [nurse], law: [judge, clerk]}}}}}}
  illness: {{role: sensitive}}
privacy:
  - {{model: k-anonymity, k: 2}}
  - {{model: p-sensitive, p: 2}}
algorithm: {{name: {algorithm}, ranges: [age]}}
suppression: 0.2
output: release.csv
"""
ALGORITHMS = ["mondrian", "top-down", "greedy-clustering", "greedy-clustering, faithful: true"]
EACH = pytest.mark.parametrize("algorithm", ALGORITHMS)


def asked(folder: Path, algorithm: str, boundary: str = "") -> Path:
    (folder / "people.csv").write_text(ROWS, encoding="utf-8")
    path = folder / "policy.yaml"
    path.write_text(POLICY.format(algorithm=algorithm, boundary=boundary), encoding="utf-8")
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def original_ages(row: dict[str, str], people: list[dict[str, str]]) -> list[int]:
    """The ages of the people that a released record may stand for, as far as job and illness tell."""
    jobs = {"health": ["nurse"], "law": ["judge", "clerk"], "*": ["nurse", "judge", "clerk"]}.get(
        row["job"], [row["job"]]
    )
    return [int(p["age"]) for p in people if p["age"] and p["job"] in jobs and p["illness"] == row["illness"]]


def verify(cli: Cli, folder: Path) -> tuple[int, list[str]]:
    """The exit code, and the names of the failing checks."""
    ran = cli(
        "verify", folder / "release.csv", "--policy", folder / "policy.yaml", "--original", folder / "people.csv",
        "--json",
    )  # fmt: skip
    return ran.code, [check["name"] for check in json.loads(ran.out)["checks"] if not check["passed"]]


@EACH
def test_ages_are_released_as_ranges_and_verified(algorithm: str, cli: Cli, tmp_path: Path) -> None:
    ran = cli("anonymize", asked(tmp_path, algorithm))
    assert ran.code == 0, ran.err
    released, people = rows_of(tmp_path / "release.csv"), rows_of(tmp_path / "people.csv")
    ages = Counter(row["age"] for row in released)
    assert any("<=" in age for age in ages)
    assert not any("[" in age for age in ages), "an interval of the tree where a range was asked for"
    known = {int(person["age"]) for person in people if person["age"]}
    for row in released:
        if "<=" in row["age"]:
            low, high = map(int, row["age"].split("<="))
            assert {low, high} <= known
            assert any(low <= age <= high for age in original_ages(row, people))
    classes = Counter((row["age"], row["zip"], row["job"]) for row in released)
    assert min(classes.values()) >= 2
    assert verify(cli, tmp_path) == (0, [])
    assert cli("verify", tmp_path / "release.csv", "--policy", tmp_path / "policy.yaml").code == 0


@EACH
def test_ranges_lose_no_more_than_nodes(algorithm: str, cli: Cli, tmp_path: Path) -> None:
    measures = {}
    for ranges in ("[age]", "[]"):
        policy = asked(tmp_path, algorithm)
        policy.write_text(
            policy.read_text(encoding="utf-8").replace("ranges: [age]", f"ranges: {ranges}"), encoding="utf-8"
        )
        ran = cli("anonymize", policy, "--force", "--json")
        assert ran.code == 0, ran.err
        measures[ranges] = json.loads(ran.out)["measures"]
    assert measures["[age]"]["loss"] < measures["[]"]["loss"]
    assert measures["[age]"]["constraint_violations"] == 0


@EACH
def test_evidence_and_report_speak_of_the_ranges(algorithm: str, cli: Cli, tmp_path: Path) -> None:
    ran = cli("anonymize", asked(tmp_path, algorithm), "--json")
    evidence = json.loads(ran.out)
    column = evidence["columns"]["age"]
    released = {row["age"] for row in rows_of(tmp_path / "release.csv")}
    assert column["labels_released"] == len(released)
    assert (column["height"], column["hierarchy_values"]) == (4, 14)
    assert 0 < column["ncp"] < 1
    assert evidence["policy"]["algorithm"]["ranges"] == ["age"]
    assert evidence["levels"] is None
    page = (tmp_path / "release.report.html").read_text(encoding="utf-8")
    assert "ranges" in page


@EACH
@pytest.mark.parametrize(
    ("boundary", "change", "failing"),
    [
        ("", lambda low, high: f"{low + 1}<={high}", "truthfulness"),
        ("", lambda low, high: f"{low}<={high - 1}", "truthfulness"),
        (", boundary: 3", lambda low, high: f"{low}<={high + 20}", "boundaries"),
        (", boundary: 3", lambda low, high: f"{low - 20}<={high}", "boundaries"),
    ],
    ids=["low end", "high end", "beyond above", "beyond below"],
)
def test_a_tampered_range_fails(
    algorithm: str, boundary: str, change: object, failing: str, cli: Cli, tmp_path: Path
) -> None:
    assert cli("anonymize", asked(tmp_path, algorithm, boundary)).code == 0
    (tmp_path / "release.evidence.json").unlink()  # or its hash would tell at once
    rows = rows_of(tmp_path / "release.csv")
    target = next(row["age"] for row in rows if "<=" in row["age"])
    low, high = map(int, target.split("<="))
    text = (tmp_path / "release.csv").read_text(encoding="utf-8")
    (tmp_path / "release.csv").write_text(text.replace(target, change(low, high)), encoding="utf-8")  # type: ignore[operator]
    code, names = verify(cli, tmp_path)
    assert code == 1
    assert failing in names


@EACH
def test_a_range_in_a_column_that_is_not_asked_for_is_refused(algorithm: str, cli: Cli, tmp_path: Path) -> None:
    policy = asked(tmp_path, algorithm)
    assert cli("anonymize", policy).code == 0
    policy.write_text(policy.read_text(encoding="utf-8").replace(", ranges: [age]", ""), encoding="utf-8")
    code, names = verify(cli, tmp_path)
    assert code == 1
    assert "labels" in names


@pytest.mark.parametrize(
    ("ranges", "column"),
    [
        ("[job]", "job"),
        ("[age, age]", "age"),
        ("[illness]", "illness"),
        ("[agee]", "agee"),
    ],
)
@EACH
def test_a_column_that_cannot_become_ranges_is_told_and_nothing_is_written(
    algorithm: str, ranges: str, column: str, cli: Cli, tmp_path: Path
) -> None:
    policy = asked(tmp_path, algorithm)
    policy.write_text(
        policy.read_text(encoding="utf-8").replace("ranges: [age]", f"ranges: {ranges}"), encoding="utf-8"
    )
    before = snapshot(tmp_path)
    ran = cli("anonymize", policy, "--json")
    assert ran.code == 2
    (problem,) = json.loads(ran.out)["problems"]
    assert problem["where"] == f"algorithm.ranges.{column}"
    assert snapshot(tmp_path) == before
