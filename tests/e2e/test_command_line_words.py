"""What the command line says, and what it never overwrites."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import shoal
from e2e.conftest import PATIENTS, POLICY
from shoal.errors import MissingExtraError, VerificationError
from shoal.present.terminal import parameters
from support.cli import Cli, snapshot


def edit(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@pytest.mark.parametrize("out", ["patients.csv", "link.yaml", "patients.txt", "patients"])
def test_init_never_writes_over_its_data_nor_under_a_name_that_is_no_policy_s(out: str, cli: Cli, clinic: Path) -> None:
    (clinic / "link.yaml").symlink_to(clinic / "patients.csv")
    before = snapshot(clinic)
    ran = cli("init", clinic / "patients.csv", "--out", clinic / out, "--force")
    assert ran.code == 2
    assert out == "link.yaml" or ran.error == "policy-suffix"
    assert snapshot(clinic) == before


@pytest.mark.parametrize("data", [".", "..", "", "/"])
def test_init_of_a_folder_says_that_it_is_one(
    data: str, cli: Cli, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clinic)
    ran = cli("init", data)
    assert ran.code == 2
    assert ran.error == "folder"


def test_init_prints_a_command_that_can_be_pasted(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "daten von.2019.csv").write_text(PATIENTS, encoding="utf-8")
    ran = cli("init", tmp_path / "daten von.2019.csv")
    assert ran.code == 0, ran.err
    program, command, policy = shlex.split(ran.out.rpartition("run: ")[2])
    assert (program, command, policy) == ("shoal", "anonymize", str(tmp_path / "daten von.2019.yaml"))
    assert shoal.Policy.load(policy).output == "daten von.2019-release.csv"


def test_init_says_how_many_columns_its_draft_leaves_out(cli: Cli, tmp_path: Path) -> None:
    names = ["age", *(f"item{number}" for number in range(37))]
    rows = [",".join([str(row), *(str(row % 5) for _ in range(37))]) for row in range(20, 40)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *rows, ""]), encoding="utf-8")
    ran = cli("init", tmp_path / "wide.csv")
    assert ran.code == 0, ran.err
    policy = shoal.Policy.load(tmp_path / "wide.yaml")
    assert policy.names("quasi") == ["age"]
    assert "37 columns" in ran.out


def test_the_demo_runs_again_but_not_over_an_edited_file(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    assert cli("demo", "--out", folder).code == 0
    assert cli("demo", "--out", folder).code == 0
    edit(folder / "hospital.yaml", "k: 5", "k: 6")
    before = snapshot(folder)
    ran = cli("demo", "--out", folder)
    assert ran.code == 2
    assert ran.error == "edited"
    assert "hospital.yaml" in ran.err
    assert "hospital.csv" not in ran.err
    assert snapshot(folder) == before
    assert cli("demo", "--out", folder, "--force").code == 0
    assert "k: 5" in (folder / "hospital.yaml").read_text(encoding="utf-8")


def test_existing_outputs_name_both_ways_to_replace_them(cli: Cli, clinic: Path) -> None:
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    assert "--force (force=True in Python)" in cli("anonymize", clinic / "policy.yaml").err


def test_a_missing_folder_is_told_once(cli: Cli, clinic: Path) -> None:
    ran = cli("anonymize", clinic / "policy.yaml", "--out", clinic / "nodir" / "x.csv")
    assert ran.code == 2
    assert ran.err.count("nodir") == 1


def test_identifiers_and_columns_that_are_not_named_are_told_apart(cli: Cli, clinic: Path) -> None:
    edit(clinic / "policy.yaml", "  ward:      {role: insensitive}\n", "")
    ran = cli("anonymize", clinic / "policy.yaml")
    assert "  not released: name, ward (not in the policy: ward)\n" in ran.out
    evidence = json.loads((clinic / "release.evidence.json").read_text(encoding="utf-8"))
    assert evidence["not_released"] == ["name", "ward"]
    assert evidence["not_named"] == ["ward"]


def test_a_policy_error_is_json_too(cli: Cli, clinic: Path) -> None:
    edit(clinic / "policy.yaml", "zipcode: ", "zipcod: ")
    ran = cli("anonymize", clinic / "policy.yaml", "--json")
    found = json.loads(ran.out)
    assert ran.code == found["exit_code"] == 2
    assert found["error"] == "PolicyError"
    assert f"shoal: {found['message']}\n" == ran.err
    (problem,) = found["problems"]
    assert problem["where"] == "columns.zipcod"
    assert problem.keys() == {"code", "where", "message", "fix"}


def test_an_infeasible_policy_is_json_too_and_lines_in_words(cli: Cli, clinic: Path) -> None:
    edit(clinic / "policy.yaml", "alpha: 2", "alpha: 3")
    for command in ("anonymize", "lattice"):
        ran = cli(command, clinic / "policy.yaml", "--json")
        found = json.loads(ran.out)
        assert (ran.code, found["error"], found["exit_code"]) == (1, "InfeasibleError", 1)
        diagnosis = found["diagnosis"]
        assert diagnosis.keys() >= {"code", "records", "budget", "blockers", "reachable", "relaxations"}
        assert diagnosis["records"] == 12
        assert diagnosis["reachable"]["p-plus-alpha-sensitive(condition).alpha"] == 2
        paths = [edit["path"] for each in diagnosis["relaxations"] for edit in each["edits"]]
        assert ["suppression"] in paths
        assert ["columns", "country", "boundary"] in paths
        assert len(ran.err.splitlines()) > 5
        assert max(map(len, ran.err.splitlines())) < 160


def test_other_errors_are_json_too(cli: Cli, clinic: Path) -> None:
    (clinic / "patients.csv").unlink()
    found = json.loads(cli("anonymize", clinic / "policy.yaml", "--json").out)
    assert (found["error"], found["exit_code"]) == ("DataError", 2)
    assert "patients.csv" in found["message"]
    assert cli("anonymize", clinic / "policy.yaml").out == ""
    assert MissingExtraError("x", "pandas").to_dict()["install"] == 'pip install "shoal[pandas]"'


def test_a_verification_error_carries_its_checks(cli: Cli, clinic: Path) -> None:
    cli("anonymize", clinic / "policy.yaml")
    edit(clinic / "release.csv", "130**,Asthma", "130**,Phthisis")
    verification = shoal.verify(clinic / "release.csv", clinic / "policy.yaml", original=clinic / "patients.csv")
    with pytest.raises(VerificationError) as caught:
        verification.raise_if_failed()
    found = json.loads(json.dumps(caught.value.to_dict()))
    assert (found["error"], found["exit_code"]) == ("VerificationError", 1)
    assert {each["name"] for each in found["checks"] if not each["passed"]} >= {"truthfulness", "hash"}


def test_a_release_that_lacks_a_column_has_no_classes_to_count(cli: Cli, clinic: Path) -> None:
    cli("anonymize", clinic / "policy.yaml")
    edit(clinic / "release.csv", "zipcode", "zip")
    ran = cli("verify", clinic / "release.csv", "--policy", clinic / "policy.yaml")
    assert ran.code == 1
    assert "None" not in ran.out
    assert "does NOT hold (12 records)" in ran.out


def test_one_class_is_one_class(cli: Cli, clinic: Path) -> None:
    edit(clinic / "policy.yaml", ",\n              boundary: [America, Asia]", "")
    edit(clinic / "policy.yaml", "k: 4", "k: 12")
    assert " released in 1 class, 0 suppressed" in cli("anonymize", clinic / "policy.yaml").out
    assert "(12 records in 1 class)" in cli("verify", clinic / "release.csv", "--policy", clinic / "policy.yaml").out


def test_the_lattice_says_what_its_numbers_are(cli: Cli, clinic: Path) -> None:
    out = cli("lattice", clinic / "policy.yaml").out
    assert out.startswith("1 minimal node of ")
    header, row = out.splitlines()[-2:]
    assert "condition: homogeneity  condition: similarity" in header
    assert row.split()[-2:] == ["0", "0"]
    without = POLICY.replace("p-plus-alpha-sensitive, p: 2, alpha: 2", "p-sensitive, p: 2")
    start, end = without.index(", publish: both"), without.index("}}", without.index("Non Secret"))
    (clinic / "plain.yaml").write_text(without[:start] + without[end + 1 :], encoding="utf-8")
    assert cli("lattice", clinic / "plain.yaml").out.splitlines()[-1].split()[-1] == "-"


def test_limits_of_single_values_read_as_words() -> None:
    assert (
        parameters({"p": 2, "alpha": {"schlimm": 0.5, "": 0.25}})
        == "p = 2, alpha of schlimm = 0.5, alpha of (missing) = 0.25"
    )
    assert parameters({"limits": {"HIV": {"alp": 0.4, "dif": 0.2}}}) == "alp of HIV = 0.4, dif of HIV = 0.2"
    assert parameters({"c": None, "alpha[HIV]": 1 / 3}) == "c = unlimited, alpha of HIV = 0.3333"
    assert parameters({"t": 0.2, "distance": "equal"}) == "t = 0.2, distance = equal"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("arguments", [["schema"], ["--help"], ["anonymize", "none.yaml", "--json"]])
def test_a_full_disk_behind_stdout_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "shoal", *arguments],
            check=False,
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
        )
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1] == "shoal: standard output cannot be written: No space left on device."
    assert "Traceback" not in ran.stderr
    assert ran.stderr.count("shoal: ") == (2 if "--json" in arguments else 1)


def test_a_release_tells_its_counts(clinic: Path) -> None:
    release = shoal.anonymize(clinic / "patients.csv", shoal.Policy.load(clinic / "policy.yaml"))
    loss = release.evidence["measures"]["loss"]
    assert repr(release) == f"<Release: 12 of 12 records in 2 classes, 0 suppressed, loss {loss:.4f}>"
