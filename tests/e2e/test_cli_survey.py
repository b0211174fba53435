"""Households and sampling weights from the command line to the report, with a file as survey institutes send them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import shoal
from support.cli import Cli, snapshot
from support.golden_files import check_golden

REGIONS = ("Nord", "Süd", "Süd-Ost; Land")


def survey_file(folder: Path, people: int = 60) -> Path:
    """Semicolons, quotes, a byte order mark, a name with a space, numbers with many digits, -9 for no answer."""
    lines = ["hh id;gewicht;age;region;job"]
    for i in range(people):
        weight = f"{1.5 + (i * 37 % 11) * 12.25:.10f}"
        age = "-9" if i % 19 == 7 else str(20 + 5 * (i * i % 13))
        lines.append(f'"H-{i // 3:03}";{weight};{age};"{REGIONS[i % 3]}";{"abcd"[i % 4]}')
    path = folder / "befragung.csv"
    path.write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    return path


POLICY = """data: {path: befragung.csv, separator: ";", missing: ["", "-9"]}
columns:
  hh id:   {role: identifier}
  gewicht: {role: insensitive}
  age:     {role: quasi, hierarchy: {intervals: [10, 20]}}
  region:  {role: quasi}
  job:     {role: sensitive}
privacy: [{model: k-anonymity, k: 4}]
algorithm: optimal
household: hh id
weight: gewicht
suppression: 0.1
output: release.csv
"""


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    survey_file(tmp_path)
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def evidence(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "release.evidence.json").read_text(encoding="utf-8"))
    return found


def test_what_is_printed_is_that_of_the_golden_file(
    cli: Cli, survey: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    monkeypatch.chdir(survey)
    monkeypatch.setenv("COLUMNS", "100")
    ran = cli("risk", "befragung.csv", "--policy", "policy.yaml")
    assert ran.code == 0, ran.err
    check_golden("cli/risk_survey.txt", ran.out, update=update_golden)


def test_the_json_is_what_python_returns(cli: Cli, survey: Path) -> None:
    ran = cli("risk", survey / "befragung.csv", "--policy", survey / "policy.yaml", "--json")
    found = json.loads(ran.out)
    assert found == shoal.risk(None, survey / "policy.yaml").to_dict()
    frame = pd.read_csv(survey / "befragung.csv", sep=";", dtype=str, encoding="utf-8-sig")
    assert found == shoal.risk(frame, survey / "policy.yaml").to_dict()
    assert found["survey"]["households"]["households"] == 20
    assert found["survey"]["individual"]["expected_reidentifications"] > 0
    assert len(found["population_uniques"]["estimates"]) == 3


def test_evidence_and_report_have_the_figures_before_and_after(cli: Cli, survey: Path) -> None:
    assert cli("anonymize", survey / "policy.yaml").code == 0
    found = evidence(survey)
    before, after = found["survey"]["before"], found["survey"]["after"]
    for part in ("individual", "households"):
        assert after[part]["average"] < before[part]["average"]
    released = pd.read_csv(survey / "release.csv")
    assert before["individual"]["population"] == pytest.approx(released["gewicht"].sum())
    assert "Households and sampling weights" in (survey / "release.report.html").read_text(encoding="utf-8")
    texts = [(survey / name).read_text(encoding="utf-8") for name in ("release.csv", "release.evidence.json")]
    assert not any("H-00" in text for text in texts), "an identifier stays out"
    measured = shoal.risk(survey / "release.csv", survey / "policy.yaml")
    assert measured.survey is not None
    assert measured.survey.individual is not None
    assert measured.survey.individual.average == pytest.approx(after["individual"]["average"], abs=1e-6)
    assert measured.not_in_the_table == ("hh id",)
    verified = cli("verify", survey / "release.csv", "--policy", survey / "policy.yaml", "--json")
    assert verified.code == 0, verified.err


def test_the_release_is_the_same_bytes_without_the_keys(cli: Cli, survey: Path) -> None:
    assert cli("anonymize", survey / "policy.yaml").code == 0
    first = (survey / "release.csv").read_bytes()
    text = POLICY.replace("household: hh id\nweight: gewicht\n", "")
    (survey / "policy.yaml").write_text(text, encoding="utf-8")
    assert cli("anonymize", survey / "policy.yaml", "--force").code == 0
    assert (survey / "release.csv").read_bytes() == first
    assert "survey" not in evidence(survey)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "greedy-clustering", "top-down"])
def test_every_way_of_recoding_gives_the_figures_of_its_classes(cli: Cli, survey: Path, algorithm: str) -> None:
    assert cli("anonymize", survey / "policy.yaml", "--algorithm", algorithm).code == 0
    found = evidence(survey)["survey"]
    of_release = shoal.risk(survey / "release.csv", survey / "policy.yaml").survey
    assert of_release is not None
    assert of_release.individual is not None
    assert of_release.individual.expected_reidentifications == pytest.approx(
        found["after"]["individual"]["expected_reidentifications"], abs=1e-4
    )
    assert found["after"]["households"]["expected_households_found"] > 0


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "greedy-clustering"])
@pytest.mark.parametrize("keys", ["household: hh id\nweight: gewicht\n", "household: hh id\n", "weight: gewicht\n"])
def test_streamed_records_have_the_same_figures(cli: Cli, survey: Path, algorithm: str, keys: str) -> None:
    text = POLICY.replace("household: hh id\nweight: gewicht\n", keys)
    (survey / "policy.yaml").write_text(text, encoding="utf-8")
    assert cli("anonymize", survey / "policy.yaml", "--algorithm", algorithm).code == 0
    held = evidence(survey)["survey"]
    ran = cli("anonymize", survey / "policy.yaml", "--algorithm", algorithm, "--memory", "600MB", "--force")
    assert ran.code == 0, ran.err
    assert evidence(survey)["survey"] == held
    assert "not_done" not in evidence(survey)


def test_several_files_are_one_survey(cli: Cli, survey: Path) -> None:
    head, *lines = (survey / "befragung.csv").read_text(encoding="utf-8-sig").splitlines()
    (survey / "parts").mkdir()
    for name, some in (("a", lines[:31]), ("b", lines[31:])):
        (survey / "parts" / f"{name}.csv").write_text("\n".join([head, *some]) + "\n", encoding="utf-8")
    assert cli("anonymize", survey / "policy.yaml").code == 0
    whole = evidence(survey)["survey"]
    arguments = ("--data", survey / "parts", "--out", survey / "release.csv", "--force")
    assert cli("anonymize", survey / "policy.yaml", *arguments).code == 0
    assert evidence(survey)["survey"] == whole


def applied(cli: Cli, survey: Path, *options: str, without: str = "") -> dict[str, Any]:
    """The evidence of the same people once more, as new records."""
    assert cli("anonymize", survey / "policy.yaml", "--recoding").code == 0
    frame = pd.read_csv(survey / "befragung.csv", sep=";", dtype=str, encoding="utf-8-sig")
    frame.drop(columns=[without] if without else []).to_csv(survey / "new.csv", sep=";", index=False)
    given = ("--data", survey / "new.csv", "--out", survey / "more.csv", *options)
    ran = cli("apply", survey / "release.recoding.json", *given)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads((survey / "more.evidence.json").read_text(encoding="utf-8"))
    return found


def test_new_records_have_figures_of_their_own(cli: Cli, survey: Path) -> None:
    found = applied(cli, survey)
    assert found["survey"] == evidence(survey)["survey"], "the same people"
    report = (survey / "more.report.html").read_text(encoding="utf-8")
    assert "the new records alone" in report
    assert "H-00" not in report


def test_new_records_need_no_household(cli: Cli, survey: Path) -> None:
    found = applied(cli, survey, without="hh id")
    assert "households" not in found["survey"]["after"]
    assert found["survey"]["after"]["individual"] == evidence(survey)["survey"]["after"]["individual"]
    assert "survey risk" in found["not_done"]


def test_the_households_of_a_release_that_is_replaced_are_not_known(cli: Cli, survey: Path) -> None:
    found = applied(cli, survey, "--replaces")
    assert "survey" not in found
    assert "survey risk" in found["not_done"]


def test_new_records_with_bad_weights_change_nothing(cli: Cli, survey: Path) -> None:
    assert cli("anonymize", survey / "policy.yaml", "--recoding").code == 0
    data = survey / "befragung.csv"
    text = data.read_text(encoding="utf-8")
    (survey / "new.csv").write_text(text.replace(";1.5000000000;", ";0;", 1), encoding="utf-8")
    before = snapshot(survey)
    given = ("--data", survey / "new.csv", "--out", survey / "more.csv")
    ran = cli("apply", survey / "release.recoding.json", *given)
    assert (ran.code, ran.problems) == (2, ("bad-weight",))
    assert snapshot(survey) == before


BAD = {
    "a weight of zero": (";1.5000000000;", ";0;", "bad-weight"),
    "a decimal comma": (";1.5000000000;", ";1,5;", "bad-weight"),
    "no household": ('"H-000";', '"";', "missing-household"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("command", ["risk", "anonymize", "anonymize --memory 600MB"])
def test_bad_values_stop_the_run_and_change_nothing(case: str, command: str, cli: Cli, survey: Path) -> None:
    old, new, code = BAD[case]
    data = survey / "befragung.csv"
    text = data.read_text(encoding="utf-8")
    assert old in text
    data.write_text(text.replace(old, new, 1), encoding="utf-8")
    before = snapshot(survey)
    arguments = [data, "--policy"] if command == "risk" else []
    name, *options = command.split()
    ran = cli(name, *arguments, survey / "policy.yaml", *options)
    assert (ran.code, ran.problems) == (2, (code,))
    assert "Traceback" not in ran.err
    assert snapshot(survey) == before


def test_an_option_that_names_no_column_is_an_error(cli: Cli, survey: Path) -> None:
    data = survey / "befragung.csv"
    ran = cli("risk", data, "--policy", survey / "policy.yaml", "--household", "hh_id", "--weight", "gewicht ")
    assert (ran.code, ran.problems) == (2, ("unknown-column", "unknown-column"))
