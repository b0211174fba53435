"""Unknown secrets: what a policy may say of them, and that models, verifier, attacks and evidence read them alike."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.draft import draft_facts, policy_text
from shoal.encode.spellings import Spellings
from shoal.errors import InfeasibleError, InputError, PolicyError, WithheldError
from shoal.io import write_table
from shoal.policy.spec import ColumnSpec
from shoal.search.engine import LocalEngine
from support.attack_cases import found
from support.resolved import resolve

ONE_SECRET = ["HIV", "HIV", "HIV", None]
TWO_SECRETS = ["HIV", "Flu", "?", None]
PEOPLE = pa.table({"zip": ["1"] * 4 + ["2"] * 4, "illness": [*ONE_SECRET, *TWO_SECRETS]})


def policy_of(*models: dict[str, Any], k: int = 2, suppression: float = 1.0, **column: Any) -> shoal.Policy:
    columns = {"zip": {"role": "quasi"}, "illness": {"role": "sensitive", **column}}
    privacy = [{"model": "k-anonymity", "k": k}, *models]
    return shoal.Policy(columns=columns, privacy=privacy, algorithm="optimal", suppression=suppression)


def codes(**column: Any) -> set[str]:
    with pytest.raises(PolicyError) as raised:
        policy_of(**column)
    return {problem.code for problem in raised.value.problems}


# --- what a policy may say ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ({"unknown": []}, "wrong-type"),
        ({"unknown": [None]}, "wrong-type"),
        ({"unknown": [["?"]]}, "wrong-type"),
        ({"unknown_counts": "yes"}, "wrong-type"),
        ({"unknown": ["?"], "same": {"HIV": ["?"]}}, "unknown-spelling"),
        ({"role": "quasi", "unknown": ["?"]}, "wrong-role"),
        ({"role": "insensitive", "unknown_counts": True}, "wrong-role"),
    ],
)
def test_what_is_wrong_with_unknown_values_is_told(column: dict[str, Any], code: str) -> None:
    assert code in codes(**column)


def test_one_unknown_value_need_not_be_a_list_and_numbers_are_text() -> None:
    assert policy_of(unknown="?").columns["illness"].unknown == ["?"]
    assert policy_of(unknown=[99, "n/a"]).columns["illness"].unknown_values == {None, "99", "n/a"}
    counting = policy_of(unknown=["?"], unknown_counts=True).columns["illness"]
    assert (counting.unknown_values, counting.unknown_marks) == (frozenset(), {None, "?"})


@pytest.mark.parametrize(
    "model",
    [
        {"model": "alpha-k-anonymity", "alpha": {"?": 0.5}},
        {"model": "alpha-k-anonymity", "alpha": {None: 0.5}},
        {"model": "alp-dif", "limits": {"?": {"alp": 0.5}}},
    ],
)
def test_a_limit_on_an_unknown_value_would_limit_nothing(model: dict[str, Any]) -> None:
    with pytest.raises(PolicyError) as raised:
        policy_of(model, unknown=["?"])
    assert [problem.code for problem in raised.value.problems] == ["unknown-named"]
    assert policy_of(model, unknown=["?"], unknown_counts=True)


def test_spellings_of_unknown_values_need_no_merging_but_a_new_one_does() -> None:
    spec = ColumnSpec(role="sensitive", unknown=["n/a", "N.A."])
    assert not Spellings.of("s", spec, {"n/a": 1, "N.A.": 2, "HIV": 3}.items()).groups
    found = Spellings.of("s", spec, {"n/a": 1, "NA": 7, "HIV": 3}.items())
    assert found.groups == ({"n/a": 1, "NA": 7},)
    assert found.same == {"n/a": ["NA"]}  # merged into the unknown one, however rare
    same = {"n/a": ["NA", "N.A."]}
    assert ColumnSpec(role="sensitive", unknown=["n/a", "N.A."], same=same)
    assert policy_of(unknown=["n/a", "N.A."], same=same)


# --- models ---------------------------------------------------------------------------------------------------------


CATEGORIES = {"grave": ["HIV", "Cancer"], "light": ["Flu", "Cold"]}
GOLDEN = {  # by hand: which of the classes below hold
    "p-sensitive": ({"p": 2}, "--+-+"),
    "distinct-l-diversity": ({"l": 1}, "+-+++"),
    "entropy-l-diversity": ({"l": 1.8}, "--+--"),
    "recursive-cl-diversity": ({"l": 2, "c": 2}, "--+--"),
    "p-alpha-sensitive": ({"p": 1, "alpha": 1}, "--+-+"),
    "p-plus-alpha-sensitive": ({"p": 2, "alpha": 1}, "--+-+"),
    "group-leakage": ({"p": 1, "alpha": {"grave": 0.5}}, "--+--"),
    "alpha-k-anonymity": ({"alpha": 0.6}, "-++--"),
    "alp-dif": ({"limits": {"HIV": {"alp": 1, "dif": 0.1}}}, "-++++"),
    "t-closeness": ({"t": 0.25}, "-+--+"),
}
CLASSES = [
    ["HIV", "HIV", "HIV", None],  # one value, known in three records
    [None, "?", None, None],  # nothing is known
    ["HIV", "Flu", "?", None],  # two values, equally frequent
    ["Cancer", "Cancer", "?", "?"],  # one value, and not a protected one
    ["HIV", "HIV", "HIV", "Flu"],  # two values, one of them three times
]
"""Known over all: HIV 7 of 11 (the average leakage of HIV is (3 + 1/2 + 9/4) / 7 = 0.82), Cancer 2, Flu 2."""


@pytest.mark.parametrize("model", GOLDEN)
def test_each_model_judges_the_known_by_the_known(model: str) -> None:
    parameters, expected = GOLDEN[model]
    places = [str(place) for place, each in enumerate(CLASSES) for _ in each]
    table = pa.table({"zip": places, "illness": [value for each in CLASSES for value in each]})
    policy = policy_of({"model": model, **parameters}, unknown=["?"], categories=CATEGORIES, publish="values")
    problem = resolve(policy, table).problem
    engine = LocalEngine(problem.table, problem.ladders, problem.domains)
    view = engine.stats(engine.classes((0,)), ["illness"]).view("illness")
    assert "".join("+" if each else "-" for each in problem.models[-1].holds(view)) == expected
    release = table.sort_by([("zip", "ascending"), ("illness", "ascending")])
    (check,) = (each for each in shoal.verify(release, policy).checks if each.name.startswith(model))
    assert check.facts.get("failing_classes", 0) == expected.count("-")


def test_a_blank_secret_is_no_second_value() -> None:
    asked = {"model": "p-sensitive", "p": 2}
    release = shoal.anonymize(PEOPLE, policy_of(asked, unknown=["?"]))
    assert release.table.column("zip").to_pylist() == ["2"] * 4
    assert Counter(release.table.column("illness").to_pylist()) == Counter(TWO_SECRETS)
    old = shoal.anonymize(PEOPLE, policy_of(asked, unknown=["?"], unknown_counts=True))
    assert old.table.num_rows == 8
    (strict,) = (each for each in shoal.verify(old.table, release.policy).checks if not each.passed)
    assert (strict.name, strict.facts["fewest_values"]) == ("p-sensitive[illness]", 1)


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0 ", "\u200b"])
def test_a_secret_of_blanks_alone_stops_the_run_until_the_policy_says_what_it_is(blank: str) -> None:
    data = pa.table({"zip": ["1"] * 4, "illness": ["HIV", "HIV", "Flu", blank]})
    asked = {"model": "p-sensitive", "p": 3}
    with pytest.raises(PolicyError) as raised:
        shoal.anonymize(data, policy_of(asked, k=3, unknown=["?"]))
    (problem,) = raised.value.problems
    assert (problem.code, problem.facts) == ("blank-value", {"values": {blank: 1}})
    assert [edit.value for edit in problem.edits] == [["?", blank]]
    with pytest.raises(InfeasibleError):
        shoal.anonymize(data, policy_of(asked, k=3, unknown=["?", blank]))
    counted = policy_of(asked, k=3, unknown=[blank], unknown_counts=True)
    assert shoal.anonymize(data, counted).facts.released == 4


def test_why_there_is_no_release_is_told_by_the_known_values() -> None:
    asked = {"model": "p-sensitive", "p": 3}
    with pytest.raises(InfeasibleError) as raised:
        shoal.anonymize(PEOPLE, policy_of(asked, k=3, suppression=0.1, unknown=["?"]))
    diagnosis = raised.value.diagnosis.to_dict()
    (blocker,) = diagnosis["blockers"]
    assert blocker["examples"][0]["lacks"][0]["reached"] == diagnosis["reachable"]["p-sensitive(illness).p"] == 2
    assert shoal.anonymize(PEOPLE, policy_of(asked, k=3, suppression=0.1, unknown=["?"], unknown_counts=True))


# --- what is published, and the verifier ----------------------------------------------------------------------------


@pytest.mark.parametrize("publish", ["values", "categories", "both"])
def test_an_unknown_value_is_published_as_it_is_and_verified(publish: str) -> None:
    policy = policy_of({"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 1}, unknown=["?"], publish=publish,
                       categories=CATEGORIES)  # fmt: skip
    release = shoal.anonymize(PEOPLE, policy)
    shown = {"HIV": "grave", "Flu": "light"} if publish == "categories" else {}
    assert Counter(release.table.column("illness").to_pylist()) == Counter(
        shown.get(each, each) for each in TWO_SECRETS
    )
    if publish == "both":
        rows = zip(release.table["illness"].to_pylist(), release.table["illness_category"].to_pylist(), strict=True)
        assert dict(rows) == {"HIV": "grave", "Flu": "light", "?": None, None: None}
    for original in (None, PEOPLE):
        assert shoal.verify(release.table, policy, original=original).passed
    forged = {"categories": "light", "both": "Flu", "values": "Flu"}[publish]
    cells = [forged if each == "?" else each for each in release.table["illness"].to_pylist()]
    place = release.table.column_names.index("illness")
    wrong = release.table.set_column(place, "illness", pa.array(cells)).sort_by("illness")
    assert not shoal.verify(wrong, policy, original=PEOPLE).passed
    if publish == "both":
        place = release.table.column_names.index("illness_category")
        wrong = release.table.set_column(place, "illness_category", pa.array(["light"] * 4))
        assert "categories" in {each.name for each in shoal.verify(wrong, policy).checks if not each.passed}


# --- attacks --------------------------------------------------------------------------------------------------------


def test_homogeneity_looks_through_blank_secrets() -> None:
    release = pa.table({"zip": ["1"] * 4 + ["2"] * 4, "illness": [*ONE_SECRET, "?", "Flu", "HIV", None]})
    policy = policy_of(unknown=["?"], categories=CATEGORIES)
    report = shoal.attack(release, policy)
    one = found(report, "homogeneity")
    assert (one.records, one.of, one.classes, one.leak) == (3, 5, 1, True)
    assert one.details["by_value"] == {"HIV": 3}
    assert (found(report, "similarity").records, found(report, "similarity").of) == (3, 5)
    assert found(report, "background").of == found(report, "skewness").of == 5
    old = found(shoal.attack(release, policy_of(unknown_counts=True)), "homogeneity")
    assert (old.records, old.of, old.leak) == (0, 8, False)


def test_a_release_in_which_nothing_is_known_reveals_nothing() -> None:
    release = pa.table({"zip": ["1"] * 2, "illness": ["?", None]})
    attacks = shoal.attack(release, policy_of(unknown=["?"])).attacks
    on_column = [each.outcome for each in attacks if each.sensitive == "illness" and each.name != "composition"]
    assert set(on_column) == {"nothing-known", "no-insensitive-column", "needs-original"}


def test_releases_over_time_are_intersected_by_their_known_values() -> None:
    people = pa.table({"zip": ["1"] * 4, "illness": ["HIV", "Flu", None, None]})
    first = pa.table({"zip": ["1"] * 4, "illness": ["Cold", "HIV", None, None]})
    policy = policy_of()
    report = shoal.attack(people, policy, original=people, earlier=[(first, policy)])
    composed = found(report, "composition")
    assert (composed.records, composed.of) == (1, 2)  # HIV is in both; who has no known secret has none to lose
    counting = policy_of(unknown_counts=True)
    again = shoal.attack(people, counting, original=people, earlier=[(first, counting)])
    assert (found(again, "composition").records, found(again, "composition").of) == (0, 4)


# --- evidence -------------------------------------------------------------------------------------------------------


def test_the_evidence_has_both_readings(tmp_path: Path) -> None:
    asked = {"model": "p-sensitive", "p": 1}
    expected = {
        "records": 3, "known_records": 5, "classes_without_known": 0, "fewest_values": 1,
        "fewest_values_if_counted": 2, "single_value_records": 3, "single_value_records_if_counted": 0,
    }  # fmt: skip
    for counted in (False, True):
        release = shoal.anonymize(PEOPLE, policy_of(asked, unknown=["?"], unknown_counts=counted))
        assert release.evidence["columns"]["illness"]["unknown"] == {"counted": counted, **expected}
        records = release.evidence["exposure"]["illness"]["homogeneity"]["records"]
        assert records == (0 if counted else 3)
        text = release.report(tmp_path / f"{counted}.html").read_text()
        assert "unknown in 3 of 8 records" in text
    clean = PEOPLE.set_column(1, "illness", pa.array(["HIV", "Flu"] * 4))
    assert "unknown" not in shoal.anonymize(clean, policy_of(asked)).evidence["columns"]["illness"]


# --- every way that data comes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("publish", ["values", "categories", "both"])
def test_a_streamed_table_is_released_alike(tmp_path: Path, publish: str) -> None:
    write_table(PEOPLE, tmp_path / "people.csv")
    content = policy_of({"model": "p-sensitive", "p": 2}, unknown=["?"], publish=publish, categories=CATEGORIES)
    (tmp_path / "policy.yaml").write_text(json.dumps({"data": "people.csv", **content.to_dict()}))
    policy = shoal.Policy.load(tmp_path / "policy.yaml")
    held, streamed = (
        shoal.publish(policy, out=tmp_path / f"{name}.csv", memory=memory)
        for name, memory in (("held", None), ("streamed", "2GB"))
    )
    assert (tmp_path / "held.csv").read_bytes() == (tmp_path / "streamed.csv").read_bytes()
    facts = [json.loads(each.paths["evidence"].read_text()) for each in (held, streamed)]
    assert facts[0]["columns"]["illness"] == facts[1]["columns"]["illness"]
    assert facts[0]["attacks"] == facts[1]["attacks"]


def test_new_records_are_judged_by_their_known_values() -> None:
    release = shoal.anonymize(PEOPLE, policy_of({"model": "p-sensitive", "p": 2}, unknown=["?"]))
    new = pa.table({"zip": ["2"] * 5, "illness": ["HIV", "?", None, None, "HIV"]})
    with pytest.raises(WithheldError):
        shoal.apply(release, new)  # whoever subtracts one release from the other finds HIV
    new = pa.table({"zip": ["2"] * 4, "illness": ["HIV", "?", None, "Cancer"]})
    assert shoal.apply(release, new).table.num_rows == 4
    with pytest.raises(InputError) as raised:
        shoal.apply(release, new, policy=policy_of({"model": "p-sensitive", "p": 2}))
    assert raised.value.code == "another-policy"


# --- the draft ------------------------------------------------------------------------------------------------------


def test_a_draft_lists_values_that_say_nothing(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    lines = ["DE,HIV", "NA,Flu", "FR,NA", "DE,Unknown", "NA,keine Angabe", "FR,?", "DE,unknown ", "FR,HIV"] * 3
    data.write_text("country,diagnosis\n" + "\n".join(lines) + "\n", encoding="utf-8")
    path = tmp_path / "people.yaml"
    path.write_text(policy_text(draft_facts(data)), encoding="utf-8")
    policy = shoal.Policy.load(path)
    assert policy.columns["diagnosis"].unknown == ["NA", "Unknown", "keine Angabe", "unknown "]
    assert policy.columns["diagnosis"].same is None
    assert "?" in policy.data.missing
    release = shoal.publish(policy, out=tmp_path / "release.csv")
    evidence = json.loads(release.paths["evidence"].read_text())
    assert evidence["columns"]["diagnosis"]["unknown"]["known_records"] == 9
    data.write_text("age,diagnosis\n30,unknown\n31,unbekannt\n", encoding="utf-8")
    assert "unknown: [" not in policy_text(draft_facts(data))  # a column of nothing else is left as it is
