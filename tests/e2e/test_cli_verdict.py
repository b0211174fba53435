"""The verdict as a person meets it: the first line, what is accepted, and gates that stand on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.errors import ExposureError
from support.cli import Cli, snapshot

PATIENTS = "age,ward,condition\n" + "".join(
    f"{age},{ward},{condition}\n"
    for age in (21, 22, 41, 42)
    for ward, condition in [("North", "Flu")] * 4 + [("South", "Asthma")] * 4
)
POLICY = """data: patients.csv
columns:
  age: {role: quasi, hierarchy: {intervals: [20]}}
  ward: {role: insensitive}
  condition: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 8}
  - {model: p-sensitive, p: 2, sensitive: condition}
algorithm: optimal
output: release.csv
"""
ACCEPT = """accept:
  - {attack: columns, column: ward, reason: "Nobody outside knows the ward."}
  - {attack: homogeneity-insensitive, column: ward, reason: "Nobody outside knows the ward."}
  - {attack: linkage-insensitive, column: ward, reason: "Nobody outside knows the ward."}
"""
FIRST = {
    "publish": "Publish.",
    "publish-with-caveats": "Publish with caveats.",
    "do-not-publish": "Do not publish.",
}


def make(folder: Path, policy: str) -> Path:
    (folder / "patients.csv").write_text(PATIENTS)
    path = folder / "policy.yaml"
    path.write_text(policy)
    return path


CLEAN = POLICY.replace("  ward: {role: insensitive}\n", "")
THREE = [(CLEAN, "publish"), (POLICY + ACCEPT, "publish-with-caveats"), (POLICY, "do-not-publish")]


@pytest.fixture(params=THREE, ids=[decision for _, decision in THREE])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    policy, decision = request.param
    return make(tmp_path, policy), decision


def decision_of(path: Path) -> Any:
    return json.loads(path.read_text())["verdict"]["decision"]


def test_the_first_line_is_the_verdict_whatever_it_is_and_the_exit_code_0(cli: Cli, case: tuple[Path, str]) -> None:
    policy, decision = case
    ran = cli("anonymize", policy)
    assert ran.code == 0, ran.err
    first, *rest = ran.out.splitlines()
    assert first.startswith(FIRST[decision])
    assert any(line.startswith("Verified") for line in rest)
    assert decision_of(policy.parent / "release.evidence.json") == decision
    found = cli(
        "verify", policy.parent / "release.csv", "--policy", policy, "--original", policy.parent / "patients.csv"
    )
    assert found.code == 0, found.out
    assert found.out.splitlines()[0] == first
    attacked = cli(
        "attack", policy.parent / "release.csv", "--policy", policy, "--original", policy.parent / "patients.csv"
    )
    assert attacked.code == 0
    assert attacked.out.splitlines()[0] == first


def test_a_gate_on_the_verdict_lets_caveats_pass_and_a_strict_one_does_not(cli: Cli, case: tuple[Path, str]) -> None:
    policy, decision = case
    release, original = policy.parent / "release.csv", policy.parent / "patients.csv"
    assert cli("anonymize", policy).code == 0
    for condition, fails in (("verdict", {"do-not-publish"}), ("verdict>publish-with-caveats", {"do-not-publish"}),
                             ("verdict > publish", {"do-not-publish", "publish-with-caveats"})):  # fmt: skip
        expected = int(decision in fails)
        options = ("--policy", policy, "--original", original, "--fail-on", condition)
        assert cli("attack", release, *options).code == expected
        assert cli("verify", release, *options).code == expected
        before = snapshot(policy.parent)
        ran = cli(
            "anonymize", policy, "--out", policy.parent / f"{condition[:9]}.csv", "--fail-on", condition, "--force"
        )
        assert ran.code == expected
        assert (snapshot(policy.parent) == before) is bool(expected), "nothing is written"
        assert not expected or ran.error == "exposed"


def test_json_has_the_verdict_and_what_a_gate_refused(cli: Cli, tmp_path: Path) -> None:
    policy = make(tmp_path, POLICY)
    told = json.loads(cli("anonymize", policy, "--json").out)
    assert told["verdict"]["decision"] == "do-not-publish"
    assert [each["code"] for each in told["verdict"]["reasons"]]
    options = ("--policy", policy, "--original", tmp_path / "patients.csv")
    for command in ("attack", "verify"):
        found = json.loads(cli(command, tmp_path / "release.csv", *options, "--fail-on", "verdict", "--json").out)
        assert found["verdict"]["decision"] == "do-not-publish"
        assert found["failed"] == [{"condition": "verdict", "name": "verdict", "decision": "do-not-publish"}]
    refused = json.loads(cli("anonymize", policy, "--force", "--fail-on", "verdict", "--json").out)
    assert refused["verdict"]["decision"] == "do-not-publish"
    with pytest.raises(ExposureError):
        shoal.publish(policy, force=True, fail_on=["verdict"])
    release = shoal.publish(policy, force=True).release
    assert release.verdict is not None
    assert release.verdict.decision == "do-not-publish"


def test_what_is_accepted_stands_in_the_evidence_and_the_report_with_its_reason(cli: Cli, tmp_path: Path) -> None:
    policy = make(tmp_path, POLICY + ACCEPT)
    assert cli("anonymize", policy).code == 0
    verdict = json.loads((tmp_path / "release.evidence.json").read_text())["verdict"]
    assert {each["leak"]["attack"] for each in verdict["accepted"]} == {
        "columns",
        "homogeneity-insensitive",
        "linkage-insensitive",
    }
    assert {reason for each in verdict["accepted"] for reason in each["reasons"]} == {"Nobody outside knows the ward."}
    assert "Nobody outside knows the ward." in (tmp_path / "release.report.html").read_text()


def test_a_verdict_that_does_not_follow_from_its_evidence_is_found(cli: Cli, tmp_path: Path) -> None:
    from shoal.evidence.evidence import seal

    policy = make(tmp_path, POLICY)
    assert cli("anonymize", policy).code == 0
    path = tmp_path / "release.evidence.json"
    content = json.loads(path.read_text())
    content["verdict"] |= {"decision": "publish", "reasons": []}
    content["evidence_sha256"] = seal(content)
    path.write_text(json.dumps(content))
    ran = cli("verify", tmp_path / "release.csv", "--policy", policy)
    assert ran.code == 1
    assert [line.split()[1] for line in ran.out.splitlines() if line.startswith("FAIL")] == ["evidence-verdict:"]
    assert ran.out.startswith("Do not publish.")


def test_without_the_original_what_was_not_tried_is_a_caveat(cli: Cli, tmp_path: Path) -> None:
    policy = make(tmp_path, CLEAN)
    assert cli("anonymize", policy).code == 0
    report = shoal.attack(tmp_path / "release.csv", policy)
    assert report.verdict is not None
    assert report.verdict.decision == "publish-with-caveats"
    assert {each.code for each in report.verdict.caveats} == {"not-tried"}


def test_a_release_that_was_changed_is_not_to_be_published(cli: Cli, tmp_path: Path) -> None:
    policy = make(tmp_path, CLEAN)
    assert cli("anonymize", policy).code == 0
    release = tmp_path / "release.csv"
    release.write_text("\n".join(release.read_text().splitlines()[:-3]) + "\n")
    ran = cli("attack", release, "--policy", policy, "--original", tmp_path / "patients.csv", "--json")
    found = json.loads(ran.out)["verdict"]
    assert (found["decision"], found["models_hold"]) == ("do-not-publish", False)


@pytest.mark.parametrize("condition", ["verdict>5", "verdict>do-not-publish", "verdicts"])
def test_a_condition_that_is_none_is_refused(cli: Cli, tmp_path: Path, condition: str) -> None:
    ran = cli("anonymize", make(tmp_path, CLEAN), "--fail-on", condition)
    assert ran.code == 2
    assert ran.error in {"condition-unreadable", "condition-unknown-attack"}


def test_a_comparison_has_the_verdict_of_every_point(cli: Cli, tmp_path: Path) -> None:
    policy = make(tmp_path, POLICY)
    ran = cli("compare", policy, "--algorithms", "optimal", "--k", "8,16", "--json")
    assert ran.code == 0, ran.err
    assert {each["verdict"]["decision"] for each in json.loads(ran.out)["points"]} == {"do-not-publish"}
