"""`shoal attack` as a person calls it: what it says, what it fails on, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from e2e.conftest import PATIENTS, POLICY
from shoal.attacks.battery import ATTACKS
from support.cli import Cli, snapshot


@pytest.fixture
def released(cli: Cli, clinic: Path) -> Path:
    """The clinic with its release."""
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    return clinic


def attack(cli: Cli, folder: Path, *options: object) -> Any:
    return cli("attack", folder / "release.csv", "--policy", folder / "policy.yaml", *options)


def with_original(cli: Cli, folder: Path, *options: object) -> Any:
    return attack(cli, folder, "--original", folder / "patients.csv", *options)


def test_leaks_come_first_each_in_a_paragraph_and_what_was_not_made_last(cli: Cli, released: Path) -> None:
    before = snapshot(released)
    ran = with_original(cli, released)
    assert ran.code == 0, ran.err
    paragraphs = ran.out.split("\n\n")
    marks = [paragraph.split()[0] for paragraph in paragraphs[2:]]  # after the verdict and the summary
    assert marks == sorted(marks, key=["LEAK", "note", "ok", "-"].index)
    assert marks[0] == "LEAK"
    assert marks[-1] == "-"
    assert max(map(len, ran.out.split("\n\n", 1)[1].splitlines())) <= 100
    assert snapshot(released) == before


def test_json_has_every_attack_as_python_reports_it(cli: Cli, released: Path) -> None:
    ran = with_original(cli, released, "--seed", 7, "--rule-out", 2, "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert told["seed"] == 7
    assert "failed" not in told
    listed = [name for name, each in ATTACKS.items() if not each.needs_person]
    assert list(dict.fromkeys(each["name"] for each in told["attacks"])) == listed
    report = shoal.attack(
        released / "release.csv",
        released / "policy.yaml",
        original=released / "patients.csv",
        seed=7,
        ruled_out=2,
    )
    assert report.to_dict() == told


def test_without_the_original_what_needs_it_is_listed_as_not_tried(cli: Cli, released: Path) -> None:
    ran = attack(cli, released)
    assert ran.code == 0
    for name in ("linkage", "linkage-insensitive", "downcoding", "informed (condition)"):
        assert f"-     {name}: " in ran.out


def test_a_condition_that_is_exceeded_makes_the_run_fail(cli: Cli, released: Path) -> None:
    with (released / "release.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    place = rows[0].index("condition")
    for row in rows[1:]:
        row[place], row[place + 1] = "HIV", "Top Secret"
    rows[-1][place : place + 2] = ["Flu", "Non Secret"]
    with (released / "release.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    ran = attack(cli, released, "--fail-on", "similarity>0", "--fail-on", "homogeneity>90%")
    assert ran.code == 1
    assert [line.split(":")[0] for line in ran.out.splitlines()[-2:]] == ["FAIL  similarity>0", "ok    homogeneity>90%"]
    failed = attack(cli, released, "--fail-on", "similarity>0", "--json")
    assert failed.code == 1
    (told,) = json.loads(failed.out)["failed"]
    assert told == {"condition": "similarity>0", "name": "similarity", "sensitive": "condition", "records": 8, "of": 12}
    assert attack(cli, released, "--fail-on", "similarity>8").code == 0
    assert attack(cli, released, "--fail-on", "similarity>66%").code == 1
    assert attack(cli, released, "--fail-on", "similarity>67%").code == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-on", "similarty>0"], "condition-unknown-attack"),
        (["--fail-on", "similarity"], "condition-unreadable"),
        (["--fail-on", "linkage>0"], "condition-not-tried"),
        (["--earlier", "release.csv"], "earlier-policies"),
        (["--original", "nowhere.csv"], "no-such-file"),
        (["--rule-out", "0"], ""),  # usage, which the parser of the command line refuses
        (["--seed", "-1"], ""),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(
    cli: Cli, released: Path, options: list[str], code: str
) -> None:
    before = snapshot(released)
    ran = attack(cli, released, *options)
    assert (ran.code, ran.error) == (2, code)
    assert code or options[0] in ran.err
    assert "Traceback" not in ran.err
    assert snapshot(released) == before


def test_a_release_that_is_none_is_refused(cli: Cli, released: Path) -> None:
    for release, code in (
        (released / "nowhere.csv", "unreadable-file"),
        (released / "patients.csv", "release-columns"),
    ):
        ran = cli("attack", release, "--policy", released / "policy.yaml")
        assert (ran.code, ran.error) == (2, code)
    wrong = cli("attack", released / "release.csv", "--policy", released / "patients.csv", "--json")
    assert (wrong.code, wrong.problems) == (2, ("wrong-type",))
    assert json.loads(wrong.out)["exit_code"] == 2


def test_an_original_that_the_release_was_not_made_from_is_refused(cli: Cli, released: Path) -> None:
    other = released / "other.csv"
    other.write_text(PATIENTS.replace(",142", ",242"), encoding="utf-8")
    ran = attack(cli, released, "--original", other)
    assert (ran.code, ran.error) == (2, "release-not-of-original")


def test_an_earlier_release_of_the_same_people_is_held_against_this_one(cli: Cli, released: Path) -> None:
    """The first by zip code, the second by age: each hides four and more, both together few."""
    columns = POLICY.replace("k: 4", "k: 2").replace("p: 2, alpha: 2", "p: 2, alpha: 0")
    (released / "by-age.yaml").write_text(
        columns.replace("  zipcode:   {role: quasi, hierarchy: {mask: right}}\n", "").replace(
            "release.csv", "by-age.csv"
        ),
        encoding="utf-8",
    )
    assert cli("anonymize", released / "by-age.yaml").code == 0
    earlier = ["--earlier", released / "by-age.csv", "--earlier-policy", released / "by-age.yaml"]
    ran = with_original(cli, released, *earlier, "--json")
    assert ran.code == 0, ran.err
    (told,) = [each for each in json.loads(ran.out)["attacks"] if each["name"] == "composition"]
    assert told["status"] == "tried"
    assert told["of"] == 12
    assert told["details"]["misled"] == 0
    bounds = attack(cli, released, *earlier)
    assert bounds.code == 0
    assert " composition (condition): " in bounds.out


def test_the_same_seed_gives_the_same_words(cli: Cli, released: Path) -> None:
    first, second = (with_original(cli, released, "--seed", 3).out for _ in range(2))
    assert first == second
    lines = (released / "patients.csv").read_text(encoding="utf-8").splitlines()
    (released / "patients.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n", encoding="utf-8")
    assert with_original(cli, released, "--seed", 3).out == first


def test_on_the_demo_one_attacker_finds_something_and_the_verdict_has_caveats(cli: Cli, tmp_path: Path) -> None:
    assert cli("demo", "--out", tmp_path).code == 0
    told = cli(
        "attack", tmp_path / "hospital-release.csv", "--policy", tmp_path / "hospital.yaml", "--original",
        tmp_path / "hospital.csv", "--json",
    )  # fmt: skip
    leaks = [each for each in json.loads(told.out)["attacks"] if each["leak"]]
    assert [each["name"] for each in leaks] == ["skewness"]
    verdict = json.loads(told.out)["verdict"]
    assert verdict["decision"] == "publish-with-caveats"
    assert [each["code"] for each in verdict["caveats"]] == ["leak", "narrowed"]
    assert leaks[0]["p_value"] <= 0.05


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_evidence_with_several_results_of_an_attack_is_confirmed_with_and_without_the_original(
    algorithm: str, cli: Cli, tmp_path: Path
) -> None:
    """Exact ages beside age groups, and a ward and a bed that tell the illness: columns that leak have results each."""
    rng = np.random.default_rng(0)
    rows = ["age,exact,ward,bed,illness"]
    for _ in range(200):
        age, illness = int(rng.integers(20, 60)), str(rng.choice(["flu", "HIV", "cold"]))
        rows.append(f"{age},{age},{illness[0]},{illness[0] if rng.random() < 0.7 else 'x'},{illness}")
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    policy = {
        "data": "data.csv",
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}},
            "exact": {"role": "insensitive"},
            "ward": {"role": "insensitive"},
            "bed": {"role": "insensitive"},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 10}],
        "algorithm": algorithm,
        "output": "release.csv",
    }
    (tmp_path / "policy.yaml").write_text(json.dumps(policy), encoding="utf-8")
    assert cli("anonymize", tmp_path / "policy.yaml").code == 0
    evidence = json.loads((tmp_path / "release.evidence.json").read_text(encoding="utf-8"))
    leaking = [(each["name"], *each["columns"]) for each in evidence["attacks"] if each["leak"] and each.get("columns")]
    assert {("columns", "ward"), ("columns", "bed"), ("homogeneity-insensitive", "ward")} <= set(leaking)
    assert ("undone", "exact") in leaking
    asked = ("verify", tmp_path / "release.csv", "--policy", tmp_path / "policy.yaml")
    for command in (asked, (*asked, "--original", tmp_path / "data.csv")):
        told = cli(*command)
        assert told.code == 0, told.out
