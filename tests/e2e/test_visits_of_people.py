"""Visits of patients from end to end: k records may be one patient, who is told; with a person, k people are."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

import shoal
from shoal.pipeline.release import Release
from support.cli import Cli
from support.visits import HEADER, PATIENTS, VISITS, policy_of_visits, visits, write_visits

ONE_PATIENT = ("1970-08-02", "M")  # the patient with fifteen visits: an exact date of birth


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_visits(tmp_path / "visits.csv")
    for name, person in (("records", None), ("people", "subject_id")):
        policy = {
            **policy_of_visits(person),
            "data": "visits.csv",
            "output": f"{name}.csv",
        }
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(policy, sort_keys=False), encoding="utf-8")
    return tmp_path


def evidence_of(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / f"{name}.evidence.json").read_text(encoding="utf-8"))
    return content


def patients_by_class(release: Release) -> dict[tuple[str, ...], set[str]]:
    """Different patients of each class, counted one by one, by what the class shows."""
    found = defaultdict(set)
    recoding = release.recoding
    for row, cls in zip(visits(), recoding.row_class.tolist(), strict=True):
        labels = (each.labels[node] for each, node in zip(recoding.hierarchies, recoding.nodes[cls], strict=True))
        found[tuple(map(str, labels))].add(row[HEADER.index("subject_id")])
    return found


def test_a_release_of_five_records_per_class_shows_one_patient_and_says_so(folder: Path, cli: Cli) -> None:
    release = shoal.anonymize(folder / "visits.csv", folder / "records.yaml")
    assert release.evidence["verified"]
    assert len(patients_by_class(release)[ONE_PATIENT]) == 1
    assert sum(len(each) < 5 for each in patients_by_class(release).values()) == 3
    shown = cli("anonymize", folder / "records.yaml")
    assert shown.code == 0
    warning = evidence_of(folder, "records")["warnings"][0]
    assert warning == {
        "code": "several-records-per-person",
        "column": "subject_id",
        "people": PATIENTS,
        "records": VISITS,
        "people_with_several": 16,
        "largest": 15,
    }
    ready = "person: subject_id"
    assert ready in " ".join(shown.out.split())
    assert ready in (folder / "records.report.html").read_text(encoding="utf-8")
    assert "people" not in evidence_of(folder, "records")


def test_with_a_person_every_class_has_five_patients_and_all_figures_are_in_people(folder: Path, cli: Cli) -> None:
    release = shoal.anonymize(folder / "visits.csv", folder / "people.yaml")
    patients = patients_by_class(release)
    assert min(map(len, patients.values())) == 5
    assert ONE_PATIENT not in patients
    shown = cli("anonymize", folder / "people.yaml")
    assert shown.code == 0
    assert "warning" not in shown.out
    assert f"{PATIENTS} of {PATIENTS} people are in the release" in shown.out
    evidence = evidence_of(folder, "people")
    assert "warnings" not in evidence
    assert evidence["people"]["class_sizes"]["smallest"] == evidence["models"][0]["reached"]["k"] == 5
    assert evidence["people"]["records_per_person"] == {"median": 1.0, "largest": 15, "people_with_several": 16}
    assert "subject_id" not in (folder / "people.csv").read_text(encoding="utf-8").splitlines()[0]
    report = (folder / "people.report.html").read_text(encoding="utf-8")
    assert "Every class has at least k people" in report
    assert "The smallest class has 5 people" in report
    for row in visits():
        assert row[0] not in report  # nobody's number


def test_the_draft_of_visits_names_the_person_and_runs(folder: Path, cli: Cli) -> None:
    assert cli("init", folder / "visits.csv").code == 0
    assert yaml.safe_load((folder / "visits.yaml").read_text(encoding="utf-8"))["person"] == "subject_id"
    assert cli("anonymize", folder / "visits.yaml").code == 0
    assert evidence_of(folder, "visits-release")["people"]["people"] == PATIENTS


def test_a_streamed_release_warns_too(folder: Path, cli: Cli) -> None:
    shown = cli("anonymize", folder / "records.yaml", "--memory", "900MB", "--algorithm", "optimal")
    assert shown.code == 0, shown.err
    assert evidence_of(folder, "records")["warnings"][0]["people"] == PATIENTS


def test_evidence_with_a_warning_or_with_people_agrees_with_its_release(folder: Path, cli: Cli) -> None:
    for name in ("records", "people"):
        policy = folder / f"{name}.yaml"
        assert cli("anonymize", policy).code == 0
        audited = cli("verify", folder / f"{name}.csv", "--policy", policy, "--original", folder / "visits.csv")
        assert audited.code == 0, audited.out
        audited = cli("verify", folder / f"{name}.csv", "--policy", policy)
        assert audited.code == 0, audited.out


def test_the_release_that_shows_one_patient_does_not_pass_where_people_are_counted(folder: Path, cli: Cli) -> None:
    assert cli("anonymize", folder / "records.yaml").code == 0
    (folder / "records.evidence.json").unlink()
    judged = cli(
        "verify", folder / "records.csv", "--policy", folder / "people.yaml", "--original", folder / "visits.csv"
    )
    assert judged.code == 1, judged.out
    assert "FAIL  k-anonymity" in judged.out
