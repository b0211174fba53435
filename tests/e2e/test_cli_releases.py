"""Releases month by month: a registry that remembers them, a gate that closes, and new records by an old recoding."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.attacks.registry.folder import Registry
from shoal.evidence.evidence import evidence_problems
from support.cli import Cli, snapshot

pytestmark = pytest.mark.slow

HEADER = ["id", "home", "work", "illness"]
PEOPLE = [
    ["1", "a1", "a1", "HIV"],
    ["2", "a1", "b1", "flu"],
    ["3", "a2", "a1", "cold"],
    ["4", "a2", "b1", "gout"],
]
POLICY = """data: people.csv
columns:
  id:      {role: identifier}
  home:    {role: quasi, hierarchy: {tree: {A: [a1, a2], B: [b1, b2]}}}
  work:    {role: quasi, hierarchy: {tree: {A: [a1, a2], B: [b1, b2]}}}
  illness: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 2}
  - {model: p-sensitive, p: 2, sensitive: illness}
algorithm: {name: incognito, node: {home: HOME, work: WORK}}
output: NAME.csv
registry: releases
"""


def write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """Four people, and two policies: by home, and by work. Each is 2-diverse; both together reveal everybody."""
    write(tmp_path / "people.csv", PEOPLE)
    for name, home, work in (("january", 0, 2), ("february", 1, 0)):
        text = POLICY.replace("HOME", str(home)).replace("WORK", str(work)).replace("NAME", name)
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_release_that_reveals_beside_an_earlier_one_is_told_and_can_be_stopped(cli: Cli, town: Path) -> None:
    first = cli("anonymize", town / "january.yaml", "--as-of", "2026-01-31", "--fail-on", "composition>0")
    assert first.code == 0, first.err
    assert (town / "releases" / "2026-01-31-january.json").is_file()
    before = snapshot(town)
    stopped = cli("anonymize", town / "february.yaml", "--fail-on", "composition>0")
    assert stopped.code == 1
    assert stopped.error == "exposed"
    assert snapshot(town) == before
    told = cli("anonymize", town / "february.yaml", "--fail-on", "composition>0", "--json")
    assert told.code == 1
    error = json.loads(told.out)
    assert error["failed"][0]["records"] == 4
    assert error["composition"]["earlier"][0]["name"] == "2026-01-31-january"
    assert snapshot(town) == before
    allowed = cli("anonymize", town / "february.yaml", "--as-of", "2026-02-28", "--fail-on", "composition>4")
    assert allowed.code == 0
    assert "illness: 4 of 4 people" in allowed.out


def test_the_same_classes_again_are_not_flagged_and_are_one_entry(cli: Cli, town: Path) -> None:
    assert cli("anonymize", town / "january.yaml", "--as-of", "2026-01-31").code == 0
    before = snapshot(town / "releases")
    again = cli("anonymize", town / "january.yaml", "--force", "--as-of", "2026-02-28", "--fail-on", "composition>0")
    assert again.code == 0
    assert "illness: 0 of 4 people" in again.out
    assert "2026-01-31-january.json" in again.out
    assert snapshot(town / "releases") == before


def test_a_withdrawn_release_is_not_held_against_the_new_one(cli: Cli, town: Path) -> None:
    assert cli("anonymize", town / "january.yaml", "--as-of", "2026-01-31").code == 0
    options = ["--replaces", "2026-01-31-january", "--fail-on", "composition>0", "--as-of", "2026-02-28"]
    assert cli("anonymize", town / "february.yaml", *options).code == 0
    registry = Registry.open(town / "releases")
    assert [entry.name for entry in registry.entries] == ["2026-01-31-january", "2026-02-28-february"]
    assert [entry.name for entry in registry.current] == ["2026-02-28-february"]


def test_the_evidence_has_the_composition_among_its_attacks_and_no_path(cli: Cli, town: Path) -> None:
    cli("anonymize", town / "january.yaml", "--as-of", "2026-01-31")
    ran = cli("anonymize", town / "february.yaml", "--as-of", "2026-02-28", "--json")
    evidence = json.loads((town / "february.evidence.json").read_text(encoding="utf-8"))
    assert evidence_problems(evidence) == []
    found = evidence["composition"]
    assert found["results"] == [each for each in evidence["attacks"] if each["name"] == "composition"]
    assert found["earlier"][0]["date"] == "2026-01-31"
    assert str(town) not in (town / "february.evidence.json").read_text(encoding="utf-8")
    assert "registry" not in evidence["policy"]
    assert json.loads(ran.out)["paths"]["registry"].endswith("2026-02-28-february.json")


def test_python_tests_and_registers_alike(town: Path) -> None:
    january = shoal.publish(town / "january.yaml", as_of="2026-01-31")
    assert january.paths["registry"].name == "2026-01-31-january.json"
    release = shoal.anonymize(None, town / "february.yaml")
    assert release.evidence["composition"]["results"][0]["records"] == 4
    assert len(Registry.open(town / "releases").entries) == 1
    release.write(town / "february.csv", as_of="2026-02-28")
    assert [entry.date for entry in Registry.open(town / "releases").entries] == ["2026-01-31", "2026-02-28"]
    with pytest.raises(shoal.errors.ExposureError):
        shoal.publish(town / "february.yaml", out=town / "x.csv", registry=town / "releases", fail_on=["composition>0"],
                      replaces=["2026-02-28-february"])  # fmt: skip


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-on", "composition"], "condition-unreadable"),
        (["--fail-on", "compositon>0"], "condition-unknown-attack"),
        (["--as-of", "31.1.2026"], "not-a-date"),
        (["--replaces", "2026-01-31-januar"], "registry-no-entry"),
        (["--registry", "people.csv"], "registry-is-file"),
        (["--registry", "nowhere/releases"], "output-blocked"),
        (["--registry", "."], "registry-stray-file"),
    ],
)
def test_what_is_wrong_is_told_before_anything_changes(
    cli: Cli, town: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], code: str
) -> None:
    monkeypatch.chdir(town)
    assert cli("anonymize", "january.yaml", "--as-of", "2026-01-31").code == 0
    before = snapshot(town)
    ran = cli("anonymize", "february.yaml", *options)
    assert (ran.code, ran.error) == (2, code)
    assert "Traceback" not in ran.err
    assert snapshot(town) == before


def test_options_about_earlier_releases_ask_for_a_registry(cli: Cli, clinic: Path) -> None:
    for options in (["--fail-on", "composition>0"], ["--replaces", "x"], ["--as-of", "2026-01-31"]):
        ran = cli("anonymize", clinic / "policy.yaml", *options)
        assert ran.code == 2
        assert ran.error == "no-registry"


def test_a_registry_that_cannot_be_read_stops_the_run_before_the_search(cli: Cli, town: Path) -> None:
    assert cli("anonymize", town / "january.yaml", "--as-of", "2026-01-31").code == 0
    file = town / "releases" / "2026-01-31-january.json"
    file.write_bytes(file.read_bytes()[:50])
    before = snapshot(town)
    ran = cli("anonymize", town / "february.yaml", "--json")
    assert (ran.code, ran.error) == (2, "registry-entry-damaged")
    assert "2026-01-31-january.json" in json.loads(ran.out)["message"]
    assert snapshot(town) == before


def test_labels_that_can_no_longer_be_read_are_told_and_a_condition_on_them_is_an_error(cli: Cli, town: Path) -> None:
    assert cli("anonymize", town / "january.yaml", "--as-of", "2026-01-31").code == 0
    tree = "home:    {role: quasi, hierarchy: {tree: {A: [a1, a2], B: [b1, b2]}}}"
    policy = (town / "february.yaml").read_text(encoding="utf-8")
    assert tree in policy
    policy = policy.replace(tree, "home:    {role: quasi, hierarchy: flat}")
    (town / "february.yaml").write_text(policy, encoding="utf-8")
    gate = cli("anonymize", town / "february.yaml", "--fail-on", "composition>0")
    assert (gate.code, gate.error) == (2, "condition-not-tried")
    told = cli("anonymize", town / "february.yaml")
    assert told.code == 0
    assert "Not tried: 2026-01-31-january: the policy no longer declares the tree of home." in " ".join(
        told.out.split()
    )


def test_ctrl_c_leaves_neither_release_nor_entry(town: Path) -> None:
    """A run that is stopped while it writes: nothing but what was there."""
    before = snapshot(town)
    program = (
        "import sys, time, shoal.pipeline.run as w\n"
        "real = w.write_report\n"
        "def slow(evidence):\n    print('writing', flush=True)\n    time.sleep(30)\n    return real(evidence)\n"
        "w.write_report = slow\n"
        f"sys.argv = ['shoal', 'anonymize', {str(town / 'january.yaml')!r}]\n"
        "from shoal.cli.main import main\nmain()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert snapshot(town) == before


@pytest.fixture
def hospital(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo's patients in two months, the first of them released with its recoding."""
    monkeypatch.chdir(tmp_path)
    assert cli("demo", "--out", tmp_path).code == 0
    lines = (tmp_path / "hospital.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "january.csv").write_text("".join(lines[:901]), encoding="utf-8")
    (tmp_path / "february.csv").write_text("".join([lines[0], *lines[901:1051]]), encoding="utf-8")
    (tmp_path / "march.csv").write_text("".join([lines[0], *lines[1051:]]), encoding="utf-8")
    ran = cli("anonymize", "hospital.yaml", "--data", "january.csv", "--out", "released-january.csv", "--recoding",
              "--registry", "releases", "--as-of", "2026-01-31")  # fmt: skip
    assert ran.code == 0, ran.err
    return tmp_path


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_month_by_month(cli: Cli, hospital: Path) -> None:
    """January anonymized, February applied, everybody anonymized again in March: all in one registry."""
    february = cli("apply", "released-january.recoding.json", "--data", "february.csv", "--out",
                   "released-february.csv", "--registry", "releases", "--as-of", "2026-02-28")  # fmt: skip
    assert february.code == 0, february.err
    assert "2026-01-31-released-january (2026-01-31)" in february.out
    policy = shoal.Policy.load("hospital.yaml")
    part = shoal.verify("released-february.csv", policy, "february.csv")
    assert [check.name for check in part.failures] in ([], ["suppression"])
    both = rows(hospital / "released-january.csv") + rows(hospital / "released-february.csv")
    march = cli("apply", "released-february.recoding.json", "--data", "march.csv", "--union", "--out",
                "released-all.csv", "--registry", "releases", "--as-of", "2026-03-31")  # fmt: skip
    assert march.code == 0, march.err
    together = rows(hospital / "released-all.csv")
    evidence = json.loads((hospital / "released-all.evidence.json").read_text(encoding="utf-8"))
    assert evidence["applied"]["records_before"] == len(both)
    assert len(together) == len(both) + evidence["released"]
    shoal.verify("released-all.csv", policy).raise_if_failed()
    everybody = cli("anonymize", "hospital.yaml", "--out", "everybody.csv", "--registry", "releases",
                    "--as-of", "2026-04-30")  # fmt: skip
    assert everybody.code == 0
    names = [entry.name for entry in Registry.open("releases").entries]
    assert names == ["2026-01-31-released-january", "2026-02-28-released-february", "2026-03-31-released-all",
                     "2026-04-30-everybody"]  # fmt: skip
    assert names[2] in everybody.out


def test_every_withheld_record_is_counted_by_its_reason(cli: Cli, hospital: Path) -> None:
    odd = (hospital / "february.csv").read_text(encoding="utf-8").replace(",Canada,", ",Atlantis,")
    (hospital / "odd.csv").write_text(odd, encoding="utf-8")
    before = snapshot(hospital)
    ran = cli("apply", "released-january.recoding.json", "--data", "odd.csv")
    assert ran.code == 0, ran.err
    lost = odd.count(",Atlantis,")
    assert f"  withheld: {lost} records, country " in ran.out
    assert ran.out.count("  withheld: ") > 1
    assert "--out" in ran.out
    assert "Atlantis" not in ran.out
    assert snapshot(hospital) == before
    told = json.loads(cli("apply", "released-january.recoding.json", "--data", "odd.csv", "--json").out)
    reasons = told["applied"]["withheld"]
    assert sum(each["records"] for each in reasons) == told["suppressed"]
    assert reasons[0] == {"reason": "value", "records": lost, "column": "country", "what": "not in the hierarchy",
                          "values": 1}  # fmt: skip
    assert "Atlantis" not in json.dumps(told)


def test_values_of_withheld_records_are_shown_on_the_terminal_only_when_asked(cli: Cli, hospital: Path) -> None:
    shown = cli("apply", "released-january.recoding.json", "--data", "february.csv", "--show")
    assert shown.code == 0
    told = cli("apply", "released-january.recoding.json", "--data", "february.csv", "--json")
    listed = [line for line in shown.out.splitlines() if line[:1].isdigit()]
    assert len(listed) == json.loads(told.out)["suppressed"]
    number = int(listed[0].split()[0])
    record = rows(hospital / "february.csv")[number - 1]
    assert record["zipcode"] in listed[0]
    assert "k-anonymity" in listed[0]
    refused = cli("apply", "released-january.recoding.json", "--data", "february.csv", "--show", "--json")
    assert (refused.code, refused.error) == (2, "show-with-json")


def test_a_withdrawn_release_is_replaced_by_the_union(cli: Cli, hospital: Path) -> None:
    ran = cli("apply", "released-january.recoding.json", "--data", "february.csv", "--replaces", "--out", "all.csv",
              "--registry", "releases", "--as-of", "2026-02-28", "--fail-on", "composition>0")  # fmt: skip
    assert ran.code == 0, ran.err
    assert len(rows(hospital / "all.csv")) > len(rows(hospital / "released-january.csv")) + 100
    assert [entry.name for entry in Registry.open("releases").current] == ["2026-02-28-all"]
    careful = json.loads(cli("apply", "released-january.recoding.json", "--data", "february.csv", "--json").out)
    replaced = json.loads((hospital / "all.evidence.json").read_text(encoding="utf-8"))
    assert replaced["released"] > careful["released"]
    assert evidence_problems(replaced) == []


def test_row_order_hash_seed_and_format_change_nothing(cli: Cli, hospital: Path) -> None:
    lines = (hospital / "february.csv").read_text(encoding="utf-8").splitlines()
    (hospital / "turned.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n", encoding="utf-8")
    for name, data in (("one", "february.csv"), ("two", "turned.csv")):
        assert cli("apply", "released-january.recoding.json", "--data", data, "--out", f"{name}.csv").code == 0
    assert (hospital / "one.csv").read_bytes() == (hospital / "two.csv").read_bytes()
    command = [sys.executable, "-m", "shoal", "apply", "released-january.recoding.json", "--data", "turned.csv"]
    ran = subprocess.run([*command, "--out", "three.csv"], check=False, capture_output=True, cwd=hospital,
                         env={**os.environ, "PYTHONHASHSEED": "7", "LC_ALL": "C"})  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert (hospital / "three.csv").read_bytes() == (hospital / "one.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere.recoding.json", "--data", "february.csv"], "not-readable"),
        (["released-january.csv", "--data", "february.csv"], "no-policy"),
        (["hospital.yaml", "--data", "february.csv"], "not-a-recoding"),
        (["released-january.recoding.json", "--data", "nowhere.csv"], "no-such-file"),
        (["released-january.recoding.json", "--data", "released-january.csv"], "column-twice"),
        (["released-january.recoding.json", "--data", "february.csv", "--out", "part.txt"], "unknown-output-suffix"),
        (
            ["released-january.recoding.json", "--data", "february.csv", "--out", "hospital-release.csv"],
            "output-blocked",
        ),
        (
            ["released-january.recoding.json", "--data", "february.csv", "--out", "february.csv", "--force"],
            "output-blocked",
        ),
        (["released-january.recoding.json", "--data", "february.csv", "--out", "no/part.csv"], "output-blocked"),
        (["released-january.recoding.json", "--data", "february.csv", "--fail-on", "composition>0"], "no-registry"),
    ],
)
def test_bad_input_is_refused_and_nothing_changes(cli: Cli, hospital: Path, arguments: list[str], code: str) -> None:
    before = snapshot(hospital)
    ran = cli("apply", *arguments)
    assert ran.code == 2, ran.out
    assert "Traceback" not in ran.err
    assert (ran.problems or (ran.error,)) == (code,)
    assert snapshot(hospital) == before


def test_too_few_records_are_an_answer_with_exit_code_one(cli: Cli, hospital: Path) -> None:
    lines = (hospital / "february.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (hospital / "few.csv").write_text("".join(lines[:4]), encoding="utf-8")
    before = snapshot(hospital)
    ran = cli("apply", "released-january.recoding.json", "--data", "few.csv", "--out", "part.csv", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["withheld"][0]["model"] == "k-anonymity"
    assert ran.error == "withheld"
    assert snapshot(hospital) == before
