"""Visits with pseudonyms and relative dates over the command line: an awkward file, and a key that nobody may see."""

from __future__ import annotations

import csv
import datetime
import hashlib
import hmac
import io
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shoal.policy.yaml_text import dump_yaml
from support.cli import Cli, snapshot

KEY = "7he-k3y-that-nobody-may-see-anywhere-0"
PERSON, DIAGNOSIS = "Patient, ID", 'diagnosis "main"'
HEADER = [PERSON, "geboren", "sex", "région", "admitted", "left", DIAGNOSIS, "note"]
QUASI = ("sex", "région", "admitted")


def visits() -> list[list[str]]:
    """Names with separators and quotes, dates with and without a time, missing dates, values with line ends."""
    random, found = Random(4), []
    for person in range(80):
        first = datetime.date(2019, 12, 20) + datetime.timedelta(days=random.randrange(100))
        sex, region = random.choice("MF"), random.choice(["Île-de-France", "Provence; Alpes", "Nord"])
        for visit in range(random.choice([1, 1, 2, 3])):
            admitted = first + datetime.timedelta(days=visit * random.randrange(60))
            left = admitted + datetime.timedelta(days=random.randrange(9))
            diagnosis = random.choice(["flu", "HIV", "ulcer, gastric", "=cmd()", "broken\nbone"])
            found.append([
                f'P;{person:03d} "x"', "1970-01-02", sex, region, f"{admitted}T07:30" if visit == 1 else f"{admitted}",
                "NA" if random.random() < 0.1 else f"{left}", diagnosis, "b",
            ])  # fmt: skip
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOAL_PSEUDONYM_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";").writerows([HEADER, *visits()])
    (tmp_path / "visits.csv").write_text(text.getvalue(), encoding="utf-8", newline="")
    write_policy(tmp_path)
    return tmp_path


def write_policy(folder: Path, **changes: Any) -> Path:
    content = {
        "data": {"path": "visits.csv", "separator": ";", "missing": ["", "NA"]},
        "columns": {
            PERSON: {"role": "pseudonym"},
            "geboren": {"role": "identifier"},
            "sex": {"role": "quasi"},
            "région": {"role": "quasi"},
            "admitted": {"role": "quasi", "relative": "first", "hierarchy": {"intervals": [28, 364]}},
            "left": {"role": "insensitive", "relative": "admitted"},
            DIAGNOSIS: {"role": "sensitive"},
        },
        "person": PERSON,
        "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "p": 2, "sensitive": DIAGNOSIS}],
        "suppression": 0.2,
        "output": "release.csv",
    }
    path = folder / "visits.yaml"
    path.write_text(dump_yaml({**content, **changes}), encoding="utf-8")
    return path


def released(folder: Path, name: str = "release.csv") -> list[dict[str, str]]:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_people_hide_among_those_with_the_same_visits(cli: Cli, folder: Path) -> None:
    done = cli("anonymize", "visits.yaml")
    assert done.code == 0, done.err
    rows = released(folder)
    visits_of: dict[str, Counter[tuple[str, ...]]] = {}
    for row in rows:
        visits_of.setdefault(row[PERSON], Counter())[tuple(row[name] for name in QUASI)] += 1
    sharing = Counter(frozenset(own.items()) for own in visits_of.values())
    assert min(sharing.values()) >= 3
    for alike in sharing:
        people = {person for person, own in visits_of.items() if frozenset(own.items()) == alike}
        for labels, _ in alike:
            secrets = {r[DIAGNOSIS] for r in rows if r[PERSON] in people and tuple(r[name] for name in QUASI) == labels}
            assert len(secrets) >= 2


def test_pseudonyms_and_days_are_what_the_definition_says(cli: Cli, folder: Path) -> None:
    assert cli("anonymize", "visits.yaml").code == 0
    expected: Counter[tuple[str, str, str, str]] = Counter()
    for person, _, sex, _, admitted, left, diagnosis, _ in visits():
        code = hmac.new(KEY.encode(), person.encode(), hashlib.sha256).hexdigest()[:32]
        stay = (
            ""
            if left == "NA"
            else str((datetime.date.fromisoformat(left) - datetime.date.fromisoformat(admitted[:10])).days)
        )
        expected[code, sex, stay, diagnosis] += 1
    found = Counter((row[PERSON], row["sex"], row["left"], row[DIAGNOSIS]) for row in released(folder))
    assert found <= expected
    kept = {code for code, *_ in found}
    assert found == Counter({each: n for each, n in expected.items() if each[0] in kept}), "people go as a whole"


def test_the_key_is_in_nothing_that_any_command_writes_or_says(cli: Cli, folder: Path) -> None:
    said = []
    for command in (
        ["anonymize", "visits.yaml"],
        ["anonymize", "visits.yaml", "--out", "again.parquet", "--json"],
        ["verify", "release.csv", "--policy", "visits.yaml", "--original", "visits.csv"],
        ["attack", "release.csv", "--policy", "visits.yaml", "--original", "visits.csv"],
        ["lattice", "visits.yaml"],
        ["why", "visits.yaml", "--row", "1"],
        ["risk", "visits.csv", "--policy", "visits.yaml"],
        ["compare", "visits.yaml", "--algorithms", "optimal,greedy-lattice"],
        ["anonymize", "visits.yaml", "--recoding", "--out", "joined.csv"],
        ["schema"],
    ):
        done = cli(*command)
        said += [done.out, done.err]
    assert not any(KEY in text for text in said)
    assert all(KEY.encode() not in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert not (folder / "joined.csv").exists()


@pytest.mark.parametrize("key", [None, "too-short-a-key"])
def test_without_a_key_nothing_is_written(
    cli: Cli, folder: Path, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOAL_PSEUDONYM_KEY")
    if key is not None:
        monkeypatch.setenv("SHOAL_PSEUDONYM_KEY", key)
    before = snapshot(folder)
    done = cli("anonymize", "visits.yaml")
    assert done.code == 2
    assert key is None or key not in done.err
    assert snapshot(folder) == before


def test_a_stream_and_memory_release_the_same_bytes(cli: Cli, folder: Path) -> None:
    assert cli("anonymize", "visits.yaml").code == 0
    assert cli("anonymize", "visits.yaml", "--memory", "2GB", "--out", "streamed.csv").code == 0
    assert (folder / "streamed.csv").read_bytes() == (folder / "release.csv").read_bytes()


@pytest.mark.usefixtures("folder")
def test_whoever_verifies_needs_no_key_but_sees_more_with_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("anonymize", "visits.yaml").code == 0
    check = ["verify", "release.csv", "--policy", "visits.yaml"]
    assert cli(*check).code == 0
    assert cli(*check, "--original", "visits.csv").code == 0
    monkeypatch.delenv("SHOAL_PSEUDONYM_KEY")
    assert cli(*check).code == 0
    assert cli(*check, "--original", "visits.csv").code == 0
    monkeypatch.setenv("SHOAL_PSEUDONYM_KEY", KEY[::-1])
    done = cli(*check, "--original", "visits.csv")
    assert done.code == 1
    assert "pseudonyms" in done.out


def changed(rows: list[dict[str, str]], how: str) -> None:
    """Spoil a release in one way; the rows are sorted again afterwards."""
    people = sorted({row[PERSON] for row in rows})
    if how == "two people under one pseudonym":
        for row in rows:
            row[PERSON] = people[0] if row[PERSON] == people[1] else row[PERSON]
    elif how == "one person under two pseudonyms":
        mine = next(own for person in people if len(own := [row for row in rows if row[PERSON] == person]) > 1)
        mine[0][PERSON] = "0" * 32
    elif how == "an identifier":
        rows[0][PERSON] = visits()[0][0]
    elif how == "no pseudonym":
        rows[0][PERSON] = ""
    elif how == "another day":
        next(row for row in rows if row["left"] not in {"", "99"})["left"] = "99"


@pytest.mark.parametrize("with_key", [True, False])
@pytest.mark.parametrize(
    "how",
    [
        "two people under one pseudonym",
        "one person under two pseudonyms",
        "an identifier",
        "no pseudonym",
        "another day",
    ],
)
def test_the_verifier_sees_every_change(
    cli: Cli, folder: Path, how: str, with_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("anonymize", "visits.yaml").code == 0
    rows = released(folder)
    changed(rows, how)
    with (folder / "spoiled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: [(value == "", value) for value in row.values()]))
    if not with_key:
        monkeypatch.delenv("SHOAL_PSEUDONYM_KEY")
    done = cli("verify", "spoiled.csv", "--policy", "visits.yaml", "--original", "visits.csv")
    assert done.code == 1, done.out
    assert not any("FAIL" in line and "order" in line for line in done.out.splitlines())


def test_a_survey_of_days_is_not_streamed(cli: Cli, folder: Path) -> None:
    write_policy(folder, household="geboren")
    assert cli("anonymize", "visits.yaml", "--out", "held.csv").code == 0
    before = snapshot(folder)
    done = cli("anonymize", "visits.yaml", "--memory", "2GB", "--out", "streamed.csv")
    assert (done.code, done.error) == (2, "survey-of-days")
    assert snapshot(folder) == before
