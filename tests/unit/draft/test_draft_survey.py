"""A draft names the columns of households and of sampling weights, where names and values say so."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

import shoal
from shoal.draft import draft_facts, policy_text
from shoal.draft.profile import Profile
from shoal.draft.survey import names_household, survey_column


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("hh_id", True), ("hhid", True), ("HHID", True), ("household", True), ("householdNumber", True),
        ("Haushaltsnummer", True), ("household no", True), ("household_size", False), ("hh_income", False),
        ("patient_id", False), ("whhid", False),
    ],
)  # fmt: skip
def test_names_of_households(name: str, is_one: bool) -> None:
    assert names_household(name) == is_one


WEIGHTS = {"12.5": 2, "40": 2, "3": 1}
CASES = [
    ("hh_id", {"1": 2, "2": 1}, 0, False, "household"),
    ("hh_id", {"1": 1, "2": 1}, 0, False, None),  # everybody lives alone
    ("hh_id", {"1": 2, "2": 1}, 1, False, None),  # a run would stop at the missing one
    ("hh_id", {"1": 30, "2": 30}, 0, False, None),  # a kind of household
    ("household", {"single": 2, "family": 3}, 0, False, None),
    ("fnlwgt", WEIGHTS, 0, False, "weight"),
    ("design_weight", WEIGHTS, 0, False, "weight"),
    ("Hochrechnungsfaktor", WEIGHTS, 0, False, "weight"),
    ("weight", WEIGHTS, 0, False, None),  # may be that of a body
    ("weight", WEIGHTS, 0, True, "weight"),
    ("weight", {"12.5391": 1, "40": 2}, 0, False, "weight"),
    ("birth weight", WEIGHTS, 0, True, None),
    ("fnlwgt", {"0": 1, "40": 2}, 0, False, None),
    ("fnlwgt", {"-1": 1, "40": 2}, 0, False, None),
    ("fnlwgt", {"0.4": 1, "0.9": 2}, 0, False, None),  # normalized
    ("fnlwgt", {"many": 1, "40": 2}, 0, False, None),
    ("fnlwgt", WEIGHTS, 1, False, None),
]


@pytest.mark.parametrize(("name", "counts", "missing", "of_survey", "expected"), CASES)
def test_names_and_values_must_fit(
    name: str, counts: dict[str, int], missing: int, of_survey: bool, expected: str | None
) -> None:
    assert survey_column(Profile.of(name, counts, missing), of_survey=of_survey) == expected


def test_the_draft_runs_and_shows_both_risks(tmp_path: Path) -> None:
    draw = random.Random(1)
    lines = ["hh id,design weight,age,sex"]
    for home in range(60):
        members = range(draw.randint(1, 4))
        lines += [f"H{home},{1 + 90 * draw.random():.2f},{draw.randint(20, 40)},{draw.choice('fm')}" for _ in members]
    data = tmp_path / "survey.csv"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    facts = draft_facts(data)
    assert [(each.name, each.role, each.reasons) for each in facts.decisions[:2]] == [
        ("hh id", "identifier", ("household",)),
        ("design weight", "identifier", ("weight",)),
    ]
    text = policy_text(facts)
    content = yaml.safe_load(text)
    assert (content["household"], content["weight"]) == ("hh id", "design weight")
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    evidence = shoal.anonymize(None, tmp_path / "policy.yaml").evidence
    assert set(evidence["survey"]["after"]) == {"threshold", "individual", "households"}


def test_other_tables_have_neither(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("patient_id,weight,age\n1,70,30\n2,80.5,40\n3,60,50\n", encoding="utf-8")
    content = yaml.safe_load(policy_text(draft_facts(data)))
    assert not {"household", "weight"} & set(content)
