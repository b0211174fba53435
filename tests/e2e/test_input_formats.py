"""One table in every format that is read: the same release, byte for byte, by every command that reads data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import shoal
from e2e.conftest import PATIENTS, POLICY
from shoal.policy import Policy
from support.cli import Cli
from support.table_files import (
    rows_of,
    write_dta,
    write_ods,
    write_sas7bdat_of_patients,
    write_sav,
    write_xls,
    write_xlsx,
    write_xpt,
)

pytestmark = pytest.mark.slow

ROWS = rows_of(PATIENTS, numbers=["age"])
CODES = {
    "Flu": 1,
    "HIV": 2,
    "Cancer": 3,
    "Asthma": 4,
    "Hepatitis": 5,
    "Phthisis": 6,
    "Heart Disease": 7,
    "Indigestion": 8,
}


def labelled(path: Path) -> None:
    """Conditions as numbers with labels, as a survey keeps them."""
    place = ROWS[0].index("condition")
    coded = [[*row[:place], float(CODES[row[place]]), *row[place + 1 :]] for row in ROWS[1:]]
    names = {"condition": {code: name for name, code in CODES.items()}}
    write_sav(path, [ROWS[0], *coded], variable_value_labels=names)


FILES: dict[str, Callable[[Path], None]] = {
    "patients.xlsx": lambda path: write_xlsx(path, ROWS),
    "patients.xls": lambda path: write_xls(path, ROWS),
    "patients.ods": lambda path: write_ods(path, ROWS),
    "patients.sav": lambda path: write_sav(path, ROWS),
    "patients.zsav": lambda path: write_sav(path, ROWS),
    "labelled.sav": labelled,
    "patients.sas7bdat": write_sas7bdat_of_patients,
    "patients.xpt": lambda path: write_xpt(path, ROWS),
    "patients.dta": lambda path: write_dta(path, ROWS),
}


@pytest.mark.parametrize("name", FILES)
def test_a_table_gives_the_same_release_from_every_format(cli: Cli, clinic: Path, name: str) -> None:
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    FILES[name](clinic / name)
    (clinic / "other.yaml").write_text(
        POLICY.replace("patients.csv", name).replace("release.csv", "other.csv"), encoding="utf-8"
    )
    ran = cli("anonymize", clinic / "other.yaml")
    assert ran.code == 0, ran.err
    assert (clinic / "other.csv").read_bytes() == (clinic / "release.csv").read_bytes()
    facts = [json.loads((clinic / f"{each}.evidence.json").read_bytes()) for each in ("release", "other")]
    told = [
        {key: value for key, value in each.items() if key not in {"seconds", "seconds_by_stage", "peak_memory_bytes"}}
        for each in facts
    ]
    for each in told:
        del each["policy_sha256"], each["evidence_sha256"]
    assert told[0] == told[1]


@pytest.mark.parametrize("name", ["patients.xlsx", "labelled.sav"])
def test_every_command_reads_it(cli: Cli, clinic: Path, name: str) -> None:
    FILES[name](clinic / name)
    data, policy = clinic / name, clinic / "policy.yaml"
    assert cli("anonymize", policy, "--data", data, "--recoding").code == 0
    for arguments in (
        ["verify", clinic / "release.csv", "--policy", policy, "--original", data],
        ["attack", clinic / "release.csv", "--policy", policy, "--original", data],
        ["risk", data, "--policy", policy],
        ["why", policy, "--data", data, "--row", "1"],
        ["lattice", policy, "--data", data],
        ["compare", policy, "--algorithms", "optimal", "--data", data],
        ["apply", clinic / "release.recoding.json", "--data", data],
    ):
        ran = cli(*arguments)
        assert ran.code == 0, (arguments, ran.err)
        assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", FILES)
def test_a_draft_of_any_format_runs_as_it_is(cli: Cli, tmp_path: Path, name: str) -> None:
    FILES[name](tmp_path / name)
    ran = cli("init", tmp_path / name)
    assert ran.code == 0, ran.err
    drafted = (tmp_path / name).with_suffix(".yaml")
    data = Policy.load(drafted).data
    assert data is not None
    assert data.path == name
    assert data.sheet == ("Sheet1" if name.endswith(("xlsx", "xls", "ods")) else None)
    assert cli("anonymize", drafted).code in {0, 1}


def test_a_draft_is_of_the_sheet_that_is_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    write_xlsx(path, [["notes"], ["x"]], sheet="Read me", others={"Patients 2020": ROWS})
    for asked in ("Patients 2020", "2"):
        ran = cli("init", path, "--sheet", asked, "--force")
        assert ran.code == 0, ran.err
        policy = Policy.load(tmp_path / "book.yaml")
        assert policy.data is not None
        assert policy.data.sheet == "Patients 2020"
        assert set(policy.columns) == set(ROWS[0])
    missing = cli("init", path, "--sheet", "3", "--force")
    assert (missing.code, missing.error) == (2, "unknown-sheet")
    csv = tmp_path / "t.csv"
    csv.write_text(PATIENTS, encoding="utf-8")
    ran = cli("init", csv, "--sheet", "1")
    assert (ran.code, ran.error) == (2, "no-sheet")


def test_the_policy_names_the_sheet_and_the_evidence_does_not(clinic: Path) -> None:
    write_xlsx(clinic / "book.xlsx", [["other"], ["x"]], sheet="First", others={"Secret name": ROWS})
    content = POLICY.replace("data: patients.csv", "data: {path: book.xlsx, sheet: Secret name}")
    (clinic / "policy.yaml").write_text(content, encoding="utf-8")
    release = shoal.anonymize(None, clinic / "policy.yaml")
    assert release.evidence["released"] == 12
    assert "Secret name" not in json.dumps(release.evidence)


def test_a_sheet_of_what_is_no_workbook_is_a_problem_of_the_policy(cli: Cli, clinic: Path) -> None:
    spoiled = POLICY.replace("data: patients.csv", "data: {path: patients.csv, sheet: 0}")
    (clinic / "policy.yaml").write_text(spoiled, encoding="utf-8")
    assert cli("anonymize", clinic / "policy.yaml").problems == ("wrong-type",)
    (clinic / "policy.yaml").write_text(spoiled.replace("sheet: 0", "sheet: 1"), encoding="utf-8")
    assert cli("anonymize", clinic / "policy.yaml").problems == ("not-a-workbook",)


def test_a_broken_workbook_changes_nothing(cli: Cli, clinic: Path) -> None:
    (clinic / "patients.xlsx").write_bytes(b"no workbook")
    shutil.copy(clinic / "policy.yaml", clinic / "other.yaml")
    ran = cli("anonymize", clinic / "policy.yaml", "--data", clinic / "patients.xlsx")
    assert (ran.code, ran.error) == (2, "not-a-workbook")
    assert "Traceback" not in ran.err
    assert not (clinic / "release.csv").exists()
