"""Visits of patients over the command line: released by people, verified with and without the original."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.io import memory as budget
from shoal.policy.location import quoted
from shoal.policy.yaml_text import dump_yaml
from support.cli import Cli, snapshot
from support.postgres import Server

NAMES = ["clinic", "patient", "age", "sex", "diagnosis", "ward"]
DIAGNOSES = ["HIV", "hiv", "Flu; seasonal", 'so-called "cold"', "n/a", ""]
COLUMNS: dict[str, dict[str, Any]] = {
    "clinic": {"role": "identifier"},
    "patient": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20, 40]}},
    "sex": {"role": "quasi"},
    "diagnosis": {"role": "sensitive", "same": {"HIV": ["hiv"]}, "unknown": ["n/a"]},
    "ward": {"role": "insensitive"},
}
OVERLAPPING = [("25", "HIV"), ("25", "Flu"), ("52", "Flu"), ("25", "HIV")]
PRIVACY = [{"model": "k-anonymity", "k": 5}, {"model": "p-sensitive", "p": 2, "sensitive": "diagnosis"}]


def visits() -> list[list[str]]:
    """An awkward table: people of two clinics share numbers, one has 15 visits, spellings differ, cells are blank."""
    chosen = random.Random(7)
    rows = [["Süd", "1", "44", "x", chosen.choice(DIAGNOSES), ""] for _ in range(15)]
    for number in range(1, 60):
        age, sex = str(20 + 7 * number % 60), "fm"[number % 2]
        for _ in range(chosen.randint(1, 4)):
            ward = chosen.choice(["W 1", "W,2", ""])
            rows.append([chosen.choice(["Nord", "Süd"]), str(number), age, sex, chosen.choice(DIAGNOSES), ward])
    chosen.shuffle(rows)
    return rows


def write(path: Path, rows: list[list[str]], names: list[str] = NAMES) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([names, *rows])
    return path


def read(path: Path) -> list[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [tuple(row) for row in csv.reader(file)]


def policy_file(folder: Path, name: str = "policy.yaml", **keys: Any) -> Path:
    content = {
        "data": {"path": "visits.csv", "separator": ";"},
        "columns": COLUMNS,
        "person": ["clinic", "patient"],
        "privacy": PRIVACY,
        "algorithm": "optimal",
        "suppression": 0.2,
        "output": "release.csv",
    }
    (folder / name).write_text(dump_yaml(content | keys), encoding="utf-8")
    return folder / name


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "visits.csv", visits())
    policy_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def people_of_classes(release: Path) -> dict[tuple[str, ...], set[tuple[str, str]]]:
    """Whose records may be in each class of a full-domain release: every original fits one class."""
    fits = defaultdict(set)
    for label in {row[:2] for row in read(release)[1:]}:
        for clinic, patient, age, sex, *_ in visits():
            low, _, high = label[0].strip("[)").partition(", ")
            if (label[0] == "*" or int(low) <= int(age) < int(high)) and label[1] in {sex, "*"}:
                fits[label].add((clinic, patient))
    return fits


def checks_of(text: str) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(text)["checks"]}


def test_a_release_by_people_is_verified_with_the_original(folder: Path, cli: Cli) -> None:
    assert cli("anonymize", "policy.yaml").code == 0
    assert min(map(len, people_of_classes(folder / "release.csv").values())) >= 5
    ran = cli("verify", "release.csv", "--policy", "policy.yaml", "--original", "visits.csv", "--json")
    checks = checks_of(ran.out)
    assert ran.code == 0
    assert checks["people"]["facts"]["counted"]
    assert checks["k-anonymity"]["facts"]["counted"] == "people"
    assert checks["evidence-figures"]["passed"]
    assert checks["evidence-attacks"]["passed"]


@pytest.mark.usefixtures("folder")
def test_without_the_original_it_says_that_people_were_not_counted(cli: Cli) -> None:
    cli("anonymize", "policy.yaml")
    ran = cli("verify", "release.csv", "--policy", "policy.yaml", "--json")
    assert ran.code == 0
    assert checks_of(ran.out)["people"]["facts"]["reason"] == "no-original"
    assert checks_of(ran.out)["k-anonymity"]["facts"]["counted"] == "records"
    words = cli("verify", "release.csv", "--policy", "policy.yaml").out
    assert "the policy holds" not in words.splitlines()[-1]


def test_an_original_without_the_person_is_an_error(folder: Path, cli: Cli) -> None:
    cli("anonymize", "policy.yaml")
    write(folder / "others.csv", [row[2:] for row in visits()], NAMES[2:])
    before = snapshot(folder)
    ran = cli("verify", "release.csv", "--policy", "policy.yaml", "--original", "others.csv")
    assert ran.code == 2
    assert snapshot(folder) == before


def test_a_release_by_records_does_not_pass_by_people(folder: Path, cli: Cli) -> None:
    """Fifteen visits of one patient are a class of fifteen records, and of one person."""
    policy_file(folder, "records.yaml", person=None, output="records.csv")
    assert cli("anonymize", "records.yaml").code == 0
    assert any(len(people) == 1 for people in people_of_classes(folder / "records.csv").values())
    (folder / "records.evidence.json").unlink()
    assert cli("verify", "records.csv", "--policy", "policy.yaml").code == 0  # by records alone
    ran = cli("verify", "records.csv", "--policy", "policy.yaml", "--original", "visits.csv", "--json")
    assert ran.code == 1
    assert [name for name, check in checks_of(ran.out).items() if not check["passed"]] == ["k-anonymity"]
    assert checks_of(ran.out)["k-anonymity"]["facts"]["smallest_class"] == 1


def test_a_record_moved_to_another_class_is_found(folder: Path, cli: Cli) -> None:
    cli("anonymize", "policy.yaml")
    header, *rows = read(folder / "release.csv")
    other = next(row for row in rows if row[:2] != rows[0][:2])
    rows[0] = (*other[:2], *rows[0][2:])
    with (folder / "moved.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [header, *sorted(rows, key=lambda row: [(not c, c) for c in row])]
        )
    ran = cli("verify", "moved.csv", "--policy", "policy.yaml", "--original", "visits.csv", "--json")
    assert ran.code == 1
    assert not checks_of(ran.out)["people"]["passed"]


def test_where_the_classes_overlap_it_says_that_it_cannot_be_decided(folder: Path, cli: Cli) -> None:
    """A class of all ages beside one of the twenties: somebody of 25 may be in either."""
    rows = [["Nord", str(n), age, "f", dx, "W"] for n, (age, dx) in enumerate(OVERLAPPING)]
    write(folder / "few.csv", rows)
    policy_file(folder, privacy=[{"model": "k-anonymity", "k": 2}])
    released = ["*,f,Flu,W", "*,f,HIV,W", '"[20, 30)",f,Flu,W', '"[20, 30)",f,HIV,W']
    (folder / "overlap.csv").write_text("\n".join(["age,sex,diagnosis,ward", *released, ""]))
    command = ("verify", "overlap.csv", "--policy", "policy.yaml", "--original", "few.csv")
    ran = cli(*command, "--json")
    assert ran.code == 1
    facts = checks_of(ran.out)["people"]["facts"]
    assert (facts["counted"], facts["reason"], facts["records"]) == (False, "several-classes", 2)
    words = cli(*command).out
    assert "does NOT hold" not in words
    assert "cannot be decided" in words


@pytest.mark.parametrize("suppressed", ["drop", "star"])
@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "greedy-clustering"])
def test_a_stream_is_verified_by_people_too(
    folder: Path, algorithm: str, suppressed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = policy_file(folder, algorithm=algorithm, suppressed=suppressed)
    held = shoal.publish(policy, out=folder / "held.csv")
    streamed = shoal.publish(policy, out=folder / "streamed.csv", memory="1GB")
    monkeypatch.setattr(budget, "_BY_ITSELF", 1)  # insensitive columns are not counted, where that can be
    monkeypatch.setattr(budget, "TEXT_STREAMED", 1)
    sorted_ = shoal.publish(policy, out=folder / "sorted.csv")
    released = [each.paths["release"].read_bytes() for each in (held, streamed, sorted_)]
    assert released[0] == released[1] == released[2]
    facts = [
        next(check["facts"] for check in each.release.evidence["checks"] if check["name"] == "people")
        for each in (held, streamed, sorted_)
    ]
    assert facts[0]["counted"]
    assert facts[0] == facts[1] == facts[2]


@pytest.mark.postgres
def test_a_database_is_verified_by_people_too(folder: Path, cli: Cli) -> None:
    with Server.start() as server:
        server.run(f"CREATE TABLE visits ({', '.join(f'{quoted(name)} text' for name in NAMES)})")
        for row in visits():
            cells = ", ".join("NULL" if not cell else "'" + cell.replace("'", "''") + "'" for cell in row)
            server.run(f"INSERT INTO visits VALUES ({cells})")
        policy = policy_file(folder, data={"path": f"{server.url}#visits"}, output=f"{server.url}#released")
        ran = cli("anonymize", policy, "--evidence", "released.evidence.json")
        assert ran.code == 0, ran.err
        evidence = json.loads((folder / "released.evidence.json").read_text())
        (check,) = [each for each in evidence["checks"] if each["name"] == "people"]
        assert check["facts"]["counted"]
        cli("anonymize", policy_file(folder, "file.yaml"))
        assert evidence["released"] == len(read(folder / "release.csv")) - 1
