"""`shoal risk` and `shoal.risk`: what an attacker could do with a table as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import shoal
from support.cli import Cli, snapshot

POPULATION = 30
"""Each record of the data, and strangers."""


def edit(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@pytest.fixture
def population(clinic: Path) -> Path:
    lines = (clinic / "patients.csv").read_text(encoding="utf-8").splitlines()
    people = [lines[0], *lines[1:], *lines[1:4], *(f"S{i},7{i % 10},Peru,99999,None,Z" for i in range(15))]
    path = clinic / "people.csv"
    path.write_text("\n".join(people) + "\n", encoding="utf-8")
    return path


def test_a_steward_reads_who_stands_out(cli: Cli, clinic: Path) -> None:
    before = snapshot(clinic)
    ran = cli("risk", clinic / "patients.csv", "--policy", clinic / "policy.yaml")
    assert ran.code == 0, ran.err
    assert max(map(len, ran.out.splitlines())) <= 120
    assert snapshot(clinic) == before


def test_the_json_has_every_subset(cli: Cli, clinic: Path) -> None:
    ran = cli("risk", clinic / "patients.csv", "--policy", clinic / "policy.yaml", "--max-columns", 9, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert len(found["subsets"]) == 7
    assert found["max_columns"] == 3
    assert found["quasi"] == ["age", "zipcode", "country"]
    assert sum(each["contribution"] for each in found["columns"]) == pytest.approx(found["uniques"])
    assert found["journalist"] is None
    assert found["marketer"] == {"expected_share_linked": 1.0, "upper_bound": True}
    assert found == shoal.risk(clinic / "patients.csv", clinic / "policy.yaml", max_columns=9).to_dict()


def test_what_is_not_shown_is_counted(cli: Cli, tmp_path: Path) -> None:
    cli("demo", "--out", tmp_path)
    ran = cli("risk", tmp_path / "hospital.csv", "--policy", tmp_path / "hospital.yaml")
    assert ran.code == 0, ran.err
    found = shoal.risk(tmp_path / "hospital.csv", tmp_path / "hospital.yaml")
    assert (len(found.subsets), sum(each.uniques > 0 for each in found.subsets)) == (41, 33)
    assert "and 31 more subsets" in ran.out
    assert found.records_with_missing


def test_a_release_is_a_table_like_any_other(cli: Cli, clinic: Path) -> None:
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    evidence = json.loads((clinic / "release.evidence.json").read_text(encoding="utf-8"))
    found = shoal.risk(clinic / "release.csv", clinic / "policy.yaml")
    assert (found.records, found.classes, found.k) == (evidence["released"], evidence["classes"], 4)
    assert found.prosecutor.highest == 0.25
    assert found.prosecutor.records_above_threshold == 4
    assert found.suppressed_rows == 0
    assert repr(found) == "<Risk: 12 records in 2 classes, 0 unique, k 4, average risk 0.1667, 33.3% above 0.2>"


def test_a_release_is_read_though_the_data_has_another_separator(cli: Cli, clinic: Path) -> None:
    data = clinic / "patients.csv"
    data.write_text(data.read_text(encoding="utf-8").replace(",", ";"), encoding="utf-8")
    policy = edit(clinic / "policy.yaml", "data: patients.csv", 'data: {path: patients.csv, separator: ";"}')
    assert cli("anonymize", policy).code == 0
    assert shoal.risk(clinic / "release.csv", policy).k == 4
    assert shoal.risk(data, policy).k == 1


def test_rows_of_stars_are_suppressed_records_and_not_counted(cli: Cli, clinic: Path) -> None:
    edit(clinic / "patients.csv", "Lea,35,USA", "Lea,35,Peru")
    policy = edit(clinic / "policy.yaml", "suppression: 0.05", "suppression: 0.1\nsuppressed: star")
    edit(policy, "Asia: [China, Japan, India]", "Asia: [China, Japan, India], South: [Peru]")
    edit(policy, "boundary: [America, Asia]", "boundary: [America, Asia, South]")
    assert cli("anonymize", policy).code == 0
    assert "1 row of *" in cli("risk", clinic / "release.csv", "--policy", policy).out
    found = shoal.risk(clinic / "release.csv", policy)
    assert (found.records, found.suppressed_rows) == (11, 1)
    assert found.k >= 3


def test_frames_give_the_same_as_files(clinic: Path) -> None:
    of_file = shoal.risk(clinic / "patients.csv", clinic / "policy.yaml").to_dict()
    assert shoal.risk(pd.read_csv(clinic / "patients.csv"), clinic / "policy.yaml").to_dict() == of_file
    assert shoal.risk(pl.read_csv(clinic / "patients.csv"), clinic / "policy.yaml").to_dict() == of_file
    assert shoal.risk(None, clinic / "policy.yaml").to_dict() == of_file


def test_neither_hierarchies_nor_models_need_fit(cli: Cli, clinic: Path) -> None:
    edit(clinic / "patients.csv", "Ann,27,USA", "Ann,27,Atlantis")
    edit(clinic / "policy.yaml", "k: 4", "k: 400")
    assert cli("anonymize", clinic / "policy.yaml").code == 2
    assert cli("risk", clinic / "patients.csv", "--policy", clinic / "policy.yaml").code == 0


def test_a_population_makes_the_journalist_known(cli: Cli, clinic: Path, population: Path) -> None:
    ran = cli("risk", clinic / "patients.csv", "--policy", clinic / "policy.yaml", "--population", population)
    assert ran.code == 0, ran.err
    found = shoal.risk(clinic / "patients.csv", clinic / "policy.yaml", population=population)
    assert found.population is not None
    assert found.population.records == POPULATION
    assert (found.population.records_absent, found.population.records_with_fewer) == (0, 0)
    assert found.journalist is not None
    assert found.journalist.average == found.marketer.expected_share_linked == pytest.approx((9 + 3 / 2) / 12)
    assert found.journalist.highest == 1.0


def test_records_that_the_population_lacks_are_counted(cli: Cli, clinic: Path, population: Path) -> None:
    edit(population, "Hal,42,India", "Hal,43,India")
    ran = cli("risk", clinic / "patients.csv", "--policy", clinic / "policy.yaml", "--population", population)
    assert "1 record (8.3%)" in ran.out
    found = shoal.risk(clinic / "patients.csv", clinic / "policy.yaml", population=population).population
    assert found is not None
    assert found.records_absent == 1


def test_a_sampling_fraction_gives_an_estimate(cli: Cli, clinic: Path) -> None:
    arguments = ("risk", clinic / "patients.csv", "--policy", clinic / "policy.yaml", "--sampling-fraction", 0.5)
    assert "Zayatz" in cli(*arguments).out
    found = json.loads(cli(*arguments, "--json").out)["population_uniques"]
    assert found["expected_population_uniques_in_the_table"] == 12
    assert found["sampling_fraction"] == 0.5


BAD = {
    "an unknown column": (("zipcode: ", "zipcod: "), (), "unknown-column"),
    "a threshold of nothing": (None, ("--threshold", 0), "bad-option"),
    "a threshold beyond 1": (None, ("--threshold", 1.5), "bad-option"),
    "a threshold that is no number": (None, ("--threshold", "nan"), "bad-option"),
    "no columns at all": (None, ("--max-columns", 0), ""),
    "a fraction beyond 1": (None, ("--sampling-fraction", 2), "bad-option"),
    "no such population": (None, ("--population", "nobody.csv"), "no-such-file"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_in_a_paragraph(case: str, cli: Cli, clinic: Path) -> None:
    change, options, code = BAD[case]
    if change:
        edit(clinic / "policy.yaml", *change)
    before = snapshot(clinic)
    ran = cli("risk", clinic / "patients.csv", "--policy", clinic / "policy.yaml", *options)
    assert ran.code == 2
    assert code in (ran.problems or (ran.error,))
    assert "Traceback" not in ran.err
    assert not ran.out
    assert snapshot(clinic) == before


def test_a_table_without_records_or_values_is_an_error(cli: Cli, clinic: Path) -> None:
    lines = (clinic / "patients.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (clinic / "empty.csv").write_text(lines[0], encoding="utf-8")
    assert cli("risk", clinic / "empty.csv", "--policy", clinic / "policy.yaml").error == "no-records"
    ageless = [lines[0], *(",".join([line.split(",")[0], "", *line.split(",")[2:]]) for line in lines[1:])]
    (clinic / "ageless.csv").write_text("".join(ageless), encoding="utf-8")
    ran = cli("risk", clinic / "ageless.csv", "--policy", clinic / "policy.yaml")
    assert ran.code == 2
    assert ran.problems == ("no-values",)
    assert "columns.age: " in ran.err


def test_a_population_without_a_quasi_identifier_or_with_other_values_is_an_error(
    cli: Cli, clinic: Path, population: Path
) -> None:
    arguments = ("risk", clinic / "patients.csv", "--policy", clinic / "policy.yaml", "--population", population)
    edit(population, "name,age", "name,years")
    assert cli(*arguments).error == "unknown-column"
    edit(population, "name,years,country", "name,age,country")
    lines = population.read_text(encoding="utf-8").splitlines()
    (population).write_text(
        "\n".join([lines[0], *(f"S{i},7{i % 10},Peru,99999,None,Z" for i in range(5))]) + "\n", encoding="utf-8"
    )
    assert cli(*arguments).error == "population-differs"


def test_without_a_policy_there_is_nothing_to_go_by(clinic: Path) -> None:
    with pytest.raises(shoal.errors.PolicyError, match=r"risk\(\) needs a policy"):
        shoal.risk(clinic / "patients.csv")
    with pytest.raises(shoal.errors.InputError, match="max_columns"):
        shoal.risk(clinic / "patients.csv", clinic / "policy.yaml", max_columns=True)
