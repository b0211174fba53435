"""`shoal why` and `release.why`: why a record was generalized so far, and what blocks less."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.pipeline.why.explain import Why
from shoal.pipeline.why.find import Matches
from support.cli import Cli, snapshot


def edit(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_nothing_is_written_and_lines_fit_a_terminal(cli: Cli, clinic: Path) -> None:
    before = snapshot(clinic)
    for algorithm in ("optimal", "mondrian"):
        ran = cli("why", clinic / "policy.yaml", "--row", 5, "--algorithm", algorithm)
        assert ran.code == 0, ran.err
        assert max(map(len, ran.out.splitlines())) <= 110
    assert snapshot(clinic) == before


def test_a_local_answer_names_the_parts_and_what_they_lack(cli: Cli, clinic: Path) -> None:
    ran = cli("why", clinic / "policy.yaml", "--row", 5, "--algorithm", "mondrian", "--json")
    country = json.loads(ran.out)["columns"][-1]
    parts = {part["value"]: part for part in country["finer"][0]["parts"]}
    assert (parts["China"]["records"], parts["China"]["own"]) == (1, True)
    assert "k-anonymity" in [lack["model"] for lack in parts["China"]["lacks"]]
    assert (parts["India"]["records"], parts["India"]["own"]) == (2, False)


def test_the_json_says_the_same(cli: Cli, clinic: Path) -> None:
    found = json.loads(cli("why", clinic / "policy.yaml", "--row", 5, "--json").out)
    assert found["values"] == {"age": "41", "zipcode": "13053", "country": "China"}
    assert found["size"] == 4
    assert found["suppressed"] is False
    assert {column["verdict"] for column in found["columns"]} <= {"blocked", "as it is", "open", "open at a price"}
    release = shoal.anonymize(clinic / "patients.csv", clinic / "policy.yaml")
    answer = release.why(5)
    assert isinstance(answer, Why)
    assert json.loads(json.dumps(answer.to_dict())) == found
    assert repr(answer).startswith("<Why: record 5 in a class of 4: age ")


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "greedy-clustering", "top-down"])
def test_a_record_is_the_one_that_stands_there_in_the_data(algorithm: str, clinic: Path) -> None:
    frame = pd.read_csv(clinic / "patients.csv")
    policy = shoal.Policy.load(clinic / "policy.yaml").changed(algorithm={"name": algorithm})
    release = shoal.anonymize(frame.iloc[::-1], policy)
    for place in range(len(frame)):
        answer = release.why(place + 1)
        assert isinstance(answer, Why)
        assert answer.values["age"] == str(frame["age"].iloc[len(frame) - 1 - place])
        found = release.why(where={"age": np.int64(frame["age"].iloc[len(frame) - 1 - place])})
        assert isinstance(found, Why)
        assert found.record == place + 1


def test_a_written_release_can_say_why_too(clinic: Path) -> None:
    published = shoal.publish(clinic / "policy.yaml")
    assert isinstance(published.release.why(1), Why)


def test_a_class_is_counted_in_the_order_of_the_release(cli: Cli, clinic: Path) -> None:
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    rows = pd.read_csv(clinic / "release.csv", dtype=str)
    classes = list(dict.fromkeys(zip(rows["age"], rows["zipcode"], rows["country"], strict=True)))
    for number, cells in enumerate(classes, start=1):
        found = json.loads(cli("why", clinic / "policy.yaml", "--class", number, "--json").out)
        assert tuple(found["released"].values()) == cells
        assert found["record"] is None
        assert found["values"] == {}


def test_values_name_a_record_or_several_with_their_classes(cli: Cli, clinic: Path) -> None:
    one = cli("why", clinic / "policy.yaml", "--where", "age=41", "--where", "zipcode=13053")
    assert "Record 5: " in one.out
    several = cli("why", clinic / "policy.yaml", "--where", "zipcode=14248")
    assert several.code == 0
    assert "2 records" in several.out
    found = json.loads(cli("why", clinic / "policy.yaml", "--where", "zipcode=14248", "--json").out)
    assert found["records"] == sum(each["matching"] for each in found["classes"]) == 2


def test_values_may_be_as_released(cli: Cli, clinic: Path) -> None:
    found = json.loads(cli("why", clinic / "policy.yaml", "--where", "country=Asia", "--json").out)
    assert found["records"] == 4
    assert [each["size"] for each in found["classes"]] == [4]


def test_a_record_that_was_left_out_is_told_what_its_class_lacks(cli: Cli, clinic: Path) -> None:
    edit(clinic / "patients.csv", "Lea,35,USA", "Lea,35,Peru")
    policy = edit(clinic / "policy.yaml", "suppression: 0.05", "suppression: 0.1")
    edit(policy, "Asia: [China, Japan, India]", "Asia: [China, Japan, India], South: [Peru]")
    edit(policy, "boundary: [America, Asia]", "boundary: [America, Asia, South]")
    for algorithm in ("optimal", "mondrian"):
        found = json.loads(cli("why", policy, "--row", 12, "--algorithm", algorithm, "--json").out)
        assert (found["suppressed"], found["algorithm"]) == (True, algorithm)
        boundary = found["left_out"][-1]
        assert (boundary["where"], boundary["class"]["country"], boundary["size"]) == ("boundary", "South", 1)
        assert "k-anonymity" in [lack["model"] for lack in boundary["lacks"]]
    found = json.loads(cli("why", policy, "--row", 12, "--json").out)
    assert found["suppressed"] is True
    assert [each["where"] for each in found["left_out"]] == ["release", "boundary"]
    listed = json.loads(cli("why", policy, "--where", "zipcode=14248", "--json").out)
    assert [each["matching"] for each in listed["classes"] if each["class"] is None] == [1]


BAD: dict[str, tuple[tuple[Any, ...], str]] = {
    "a row that is not there": (("--row", 13), "unknown-record"),
    "row zero": (("--row", 0), "unknown-record"),
    "a class that is not there": (("--class", 99), "unknown-class"),
    "an unknown column": (("--where", "agee=4"), "not-a-quasi-identifier"),
    "a column of another role": (("--where", "ward=A"), "not-a-quasi-identifier"),
    "no such value": (("--where", "age=99"), "no-such-record"),
    "values that do not meet": (("--where", "age=41", "--where", "zipcode=14248"), "no-such-record"),
    "nobody without a value": (("--where", "age="), "no-such-record"),
    "nothing asked": ((), ""),
    "two things asked": (("--row", 1, "--class", 1), ""),
    "no sign": (("--where", "age"), ""),
    "a column twice": (("--where", "age=41", "--where", "age=42"), ""),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_questions_are_answered_in_a_paragraph(case: str, cli: Cli, clinic: Path) -> None:
    options, code = BAD[case]
    before = snapshot(clinic)
    ran = cli("why", clinic / "policy.yaml", *options)
    assert ran.code == 2
    assert ran.err.startswith("shoal: ")
    assert "Traceback" not in ran.err
    assert not ran.out
    if code:
        assert json.loads(cli("why", clinic / "policy.yaml", *options, "--json").out)["code"] == code
    assert snapshot(clinic) == before


def test_an_infeasible_policy_says_so_as_ever(cli: Cli, clinic: Path) -> None:
    edit(clinic / "policy.yaml", "alpha: 2", "alpha: 3")
    ran = cli("why", clinic / "policy.yaml", "--row", 1)
    assert ran.code == 1
    assert json.loads(cli("why", clinic / "policy.yaml", "--row", 1, "--json").out)["code"] == "infeasible"


@pytest.mark.parametrize("given", [{}, {"record": 1, "in_class": 1}, {"record": True}, {"where": {"age": [1]}}])
def test_python_refuses_what_is_no_question(given: dict[str, Any], clinic: Path) -> None:
    release = shoal.anonymize(clinic / "patients.csv", clinic / "policy.yaml")
    with pytest.raises(shoal.errors.InputError):
        release.why(**given)


def test_several_matches_are_an_answer_in_python(clinic: Path) -> None:
    release = shoal.anonymize(clinic / "patients.csv", clinic / "policy.yaml")
    found = release.why(where={"zipcode": "14248"})
    assert isinstance(found, Matches)
    assert repr(found) == "<Matches: 2 records in 1 class>"


def test_a_column_may_have_the_sign_in_its_name(cli: Cli, clinic: Path) -> None:
    edit(clinic / "patients.csv", "name,age,", "name,a=b,")
    edit(clinic / "policy.yaml", "  age: ", "  a=b: ")
    assert "Record 5: a=b 41" in cli("why", clinic / "policy.yaml", "--where", "a=b=41").out
