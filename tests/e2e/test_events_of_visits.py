"""Known events from end to end, on a seeded table of visits: whom one, two and three of them single out, and whom a
release under ``events`` leaves."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

import shoal
from oracles import known_records_oracle as oracle
from support.cli import Cli, snapshot

pytestmark = pytest.mark.slow

K = 4
POLICY = """\
data: {{path: visits.csv, separator: "|", missing: ["", "?"]}}
columns:
  Nr.: {{role: identifier}}
  "sex ": {{role: quasi}}
  born: {{role: quasi, hierarchy: {{intervals: [20, 40]}}}}
  month:
    role: quasi
    hierarchy: {{tree: {{H1: {{Q1: [1, 2, 3], Q2: [4, 5, 6]}}, H2: {{Q3: [7, 8, 9], Q4: [10, 11, 12]}}}}}}
  illness: {{role: sensitive}}
person: {person}
privacy: [{{model: k-anonymity, k: 4}}]
algorithm: {algorithm}
suppression: {suppression}
output: {output}.csv
"""
Visit = tuple[str, str, str, str, str]


def visits() -> list[Visit]:
    """521 visits of 200 people: some come every month, some twice on the same day, two cells are unknown."""
    chosen, rows = random.Random(13), []
    for number in range(200):
        sex, born = chosen.choice(["f", "m", "?"] if number % 40 == 0 else ["f", "m"]), 1930 + 5 * chosen.randrange(14)
        often = 9 if number % 50 == 0 else chosen.choice([1, 1, 2, 3, 4])
        for _ in range(often):
            visit = (f"no {number:03}", sex, str(born), str(chosen.randrange(1, 13)), chosen.choice(["flü", "a|b", ""]))
            rows += [visit] * (2 if chosen.random() < 0.1 else 1)
    chosen.shuffle(rows)
    return rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with (tmp_path / "visits.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="|")
        writer.writerows([("Nr.", "sex ", "born", "month", "illness"), *visits()])
    return tmp_path


def written(folder: Path, output: str, person: str, algorithm: str = "optimal", suppression: float = 0) -> Path:
    policy = folder / f"{output}.yaml"
    text = POLICY.format(person=person, algorithm=algorithm, suppression=suppression, output=output)
    policy.write_text(text, encoding="utf-8")
    return policy


def run(cli: Cli, folder: Path, output: str, person: str) -> Any:
    ran = cli("anonymize", written(folder, output, person))
    assert ran.code == 0, ran.err
    return json.loads((folder / f"{output}.evidence.json").read_text(encoding="utf-8"))


def events_of(evidence: Any) -> Any:
    return next(each for each in evidence["attacks"] if each["name"] == "events")


def test_whom_one_two_and_three_visits_single_out_before_and_after(cli: Cli, folder: Path) -> None:
    original = oracle.by_person((visit[1:4], visit[0]) for visit in visits())
    released = {m: events_of(run(cli, folder, f"m{m}", f"{{column: Nr., events: {m}}}")) for m in (1, 2, 3)}
    for each in released.values():
        assert figures(each, "before", "singled_out") == [83, 131, 135]
        assert figures(each, "before", "singled_out") == [oracle.singled_out(original, m) for m in (1, 2, 3)]
    assert {m: figures(each, "known", "singled_out") for m, each in released.items()} == {
        1: [0, 0, 8],
        2: [0, 0, 2],
        3: [0, 0, 0],
    }
    assert {m: figures(each, "known", "below_k") for m, each in released.items()} == {
        1: [0, 3, 48],
        2: [0, 0, 14],
        3: [0, 0, 0],
    }
    assert [each["leak"] for each in released.values()] == [True, True, False]
    assert released[3]["rate"] < released[2]["rate"] < released[1]["rate"] < 0.2
    assert released[1]["details"]["before"][-1]["success"] > 0.8


def figures(attack: Any, when: str, figure: str) -> list[int]:
    """A figure for one, two and three known records."""
    return [each[figure] for each in attack["details"][when]]


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "greedy-clustering"])
@pytest.mark.parametrize("suppression", [0, 0.1])
def test_k_people_fit_any_two_visits(algorithm: str, suppression: float, folder: Path) -> None:
    policy = written(folder, "p", "{column: Nr., events: 2}", algorithm, suppression)
    release = shoal.anonymize(folder / "visits.csv", shoal.Policy.load(policy))
    owner = release.result.record_recoding.row_class.tolist()
    pairs = [(cls, visit[0]) for cls, visit in zip(owner, visits(), strict=True) if cls >= 0]
    assert oracle.fewest(oracle.by_person(pairs), 2) >= K
    model = next(each for each in release.evidence["models"] if each["model"] == "known-events")
    assert model["asked"] == {"k": K, "events": 2}
    assert model["reached"] == {"k": oracle.fewest(oracle.by_person(pairs), 2), "events": 2}


def test_the_written_release_gives_the_same_figures(cli: Cli, folder: Path) -> None:
    made = events_of(run(cli, folder, "two", "{column: Nr., events: 2}"))
    ran = cli(
        "attack", folder / "two.csv", "--policy", folder / "two.yaml", "--original", folder / "visits.csv", "--json"
    )
    assert events_of(json.loads(ran.out)) == made
    assert "no 0" not in (folder / "two.csv").read_text(encoding="utf-8")


def test_what_cannot_be_promised_is_refused_and_nothing_changes(cli: Cli, folder: Path) -> None:
    policy = folder / "p.yaml"
    text = POLICY.format(person="{column: Nr., events: 2}", algorithm="optimal", suppression=0, output="out")
    policy.write_text(text.replace("k-anonymity, k: 4", "p-sensitive, p: 2"), encoding="utf-8")
    before = snapshot(folder)
    ran = cli("anonymize", policy)
    assert (ran.code, ran.problems) == (2, ("events-without-k",))
    policy.write_text(text.replace("k: 4", "k: 190").replace("events: 2", "events: 3"), encoding="utf-8")
    before |= snapshot(folder)
    ran = cli("anonymize", policy)
    assert (ran.code, ran.error) == (1, "infeasible")
    assert snapshot(folder) == before
