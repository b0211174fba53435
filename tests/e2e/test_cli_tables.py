"""Linked tables over the command line: patients, their visits, and the drugs of these visits."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from oracles import linked_tables_oracle as oracle
from shoal.policy.yaml_text import dump_yaml
from support.cli import Cli, snapshot

KEY = "7he-k3y-that-nobody-may-see-anywhere-0"
QUASI = ("sex", "born", "ward")
HAVING = {"diagnosis": ["visits"], "drug": ["drugs"]}


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def write_tables(folder: Path, seed: int = 3, people: int = 60) -> None:
    """Patients of whom some have no visit, and visits of which some have no drug or no diagnosis."""
    random, patients, visits, drugs = Random(seed), [], [], []
    for person in range(people):
        patients.append([f"P-{person}", random.choice("MF"), 1950 + random.randrange(4)])
        for _ in range(random.choice([0, 1, 1, 2])):
            visit = f"V{len(visits)}"
            diagnosis = random.choice(["flu", "HIV", "ulcer", ""])
            visits.append([visit, f"P-{person}", random.choice("AB"), diagnosis])
            drugs += [[visit, random.choice(["aspirin", "ibuprofen", "none"])] for _ in range(random.choice([0, 1, 1]))]
    random.shuffle(visits)
    write(folder / "patients.csv", ["patient", "sex", "born"], patients)
    write(folder / "visits.csv", ["visit", "patient", "ward", "diagnosis"], visits)
    write(folder / "drugs.csv", ["visit", "drug"], drugs)


def policy(**changes: Any) -> dict[str, Any]:
    content = {
        "tables": {
            "patients": {"data": "patients.csv", "columns": ["patient", "sex", "born"]},
            "visits": {
                "data": "visits.csv",
                "columns": ["patient", "ward", "diagnosis"],
                "join": {"patient": "patients"},
            },
            "drugs": {"data": "drugs.csv", "columns": ["drug"], "join": {"visit": "visits"}},
        },
        "person": "patient",
        "columns": {
            "patient": {"role": "pseudonym"},
            "sex": {"role": "quasi"},
            "born": {"role": "quasi", "hierarchy": {"intervals": [2, 4]}},
            "ward": {"role": "quasi"},
            "diagnosis": {"role": "sensitive"},
            "drug": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "suppression": 0.3,
        "output": "released",
    }
    return content | changes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOAL_PSEUDONYM_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    (tmp_path / "policy.yaml").write_text(dump_yaml(policy()), encoding="utf-8")
    return tmp_path


def test_the_tables_are_released_together_and_verified_from_their_files(folder: Path, cli: Cli) -> None:
    done = cli("anonymize", "policy.yaml")
    assert (done.code, "table visits: " in done.out) == (0, True)
    assert sorted(path.name for path in (folder / "released").iterdir()) == [
        "drugs.csv", "patients.csv", "release.evidence.json", "release.report.html", "visits.csv",
    ]  # fmt: skip
    evidence = json.loads((folder / "released" / "release.evidence.json").read_text(encoding="utf-8"))
    records = oracle.read(folder / "released", ["patients", "visits", "drugs"])
    assert sum(table["released"] for table in evidence["tables"].values()) == evidence["released"] == len(records)
    assert {table: sum(name == table for name, _ in records) for table in evidence["tables"]} == {
        table: facts["released"] for table, facts in evidence["tables"].items()
    }
    assert oracle.fewest_people(records, "patient", QUASI) >= 3
    assert cli("verify", "released", "--policy", "policy.yaml").code == 0
    assert cli("verify", "released", "--policy", "policy.yaml", "--original", ".").code == 0
    assert not [path for path in folder.rglob("*") if path.is_file() and KEY in path.read_text(encoding="utf-8")]


def test_a_run_repeats_and_does_not_replace_a_release_unasked(folder: Path, cli: Cli) -> None:
    cli("anonymize", "policy.yaml")
    first = snapshot(folder / "released")
    assert cli("anonymize", "policy.yaml").code == 2
    assert snapshot(folder / "released") == first
    assert cli("anonymize", "policy.yaml", "--force").code == 0
    tables = ("patients.csv", "visits.csv", "drugs.csv")
    assert {name: snapshot(folder / "released")[name] for name in tables} == {name: first[name] for name in tables}


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8", newline="")


@pytest.mark.parametrize("table", ["patients", "visits", "drugs"])
def test_a_record_that_is_taken_out_of_a_table_is_noticed(folder: Path, cli: Cli, table: str) -> None:
    cli("anonymize", "policy.yaml")
    (folder / "released" / "release.evidence.json").unlink()
    path = folder / "released" / f"{table}.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:1] + lines[2:]), encoding="utf-8", newline="")
    assert cli("verify", "released", "--policy", "policy.yaml", "--original", ".").code == 1


def test_a_record_of_somebody_else_and_a_table_that_is_not_there_are_noticed(folder: Path, cli: Cli) -> None:
    cli("anonymize", "policy.yaml")
    (folder / "released" / "release.evidence.json").unlink()
    people = sorted({row["patient"] for table, row in oracle.read(folder / "released", ["visits"])})
    changed(folder / "released" / "visits.csv", people[0], people[-1])
    assert cli("verify", "released", "--policy", "policy.yaml", "--original", ".").code == 1
    (folder / "released" / "visits.csv").unlink()
    assert "there is no file of the table visits" in cli("verify", "released", "--policy", "policy.yaml").out


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("visit,drug\nV0,aspirin\nV99999,aspirin\n", "join-leads-nowhere"),
        ("visit,drug\n,aspirin\n", "join-leads-nowhere"),
    ],
)
def test_a_join_that_leads_nowhere_stops_the_run_and_leaves_nothing(
    folder: Path, cli: Cli, text: str, code: str
) -> None:
    (folder / "drugs.csv").write_text(text, encoding="utf-8")
    before = snapshot(folder)
    done = cli("anonymize", "policy.yaml")
    assert (done.code, done.error) == (2, code)
    assert snapshot(folder) == before


def test_a_key_that_leads_to_several_people_stops_the_run(folder: Path, cli: Cli) -> None:
    with (folder / "visits.csv").open("a", encoding="utf-8", newline="") as file:
        file.write("V0,P-59,A,flu\r\nV0,P-58,A,flu\r\n")
    assert cli("anonymize", "policy.yaml").error == "join-to-several-people"
    assert not (folder / "released").exists()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_tables_hold_by_a_naive_recount(folder: Path, cli: Cli, seed: int) -> None:
    write_tables(folder, seed, people=40 + 5 * seed)
    asked = [{"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2, "sensitive": ["diagnosis", "drug"]}]
    algorithm = ["optimal", "incognito", "greedy-lattice"][seed % 3]
    content = policy(privacy=asked, suppression=0.6, algorithm=algorithm)
    (folder / "policy.yaml").write_text(dump_yaml(content), encoding="utf-8")
    done = cli("anonymize", "policy.yaml")
    assert done.code in {0, 3}
    if done.code == 3:
        assert not (folder / "released").exists()
        return
    records = oracle.read(folder / "released", ["patients", "visits", "drugs"])
    assert oracle.fewest_people(records, "patient", QUASI) >= 2
    having = {column: tables for column, tables in HAVING.items() if any(name in tables for name, _ in records)}
    assert min(oracle.fewest_values(records, "patient", QUASI, having).values(), default=2) >= 2
