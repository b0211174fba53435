"""Spellings of one sensitive value: which are alike, what a policy may say of them, and who reads the merged values."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.draft import draft_facts, policy_text
from shoal.edits import apply_edits
from shoal.encode.spellings import Spellings, fold
from shoal.errors import InputError, PolicyError
from shoal.io import write_table
from shoal.io.memory import Budget
from shoal.pipeline.why.explain import why
from shoal.policy.spec import ColumnSpec
from shoal.policy.yaml_text import flow_yaml, parse_yaml
from shoal.verification.spellings import letters_of

ALIKE = [
    ("HIV", "hiv"), ("HIV", "HIV "), ("HIV", "\tHiv\n"), ("HIV", "HIV\u00a0"), ("HIV", "H\u200bIV"), ("HIV", "ＨＩＶ"),
    ("H.I.V.", "HIV"), ("Hepatitis-B", "hepatitis  b"), ("Hepatitis B", "HepatitisB"), ("n/a", "N.A."),
    ("Straße", "STRASSE"), ("Crohn’s disease", "crohns disease"), ("type-1", "Type 1"), ("HIV (+)", "hiv+"),
    ("10 - 20", "10-20"), ("1  2", "1 2"), ("?", "? "), ("ﬂu", "Flu"), ("é", "e\u0301"),
    ("3000", "3000.0"), ("1.5", "1.50"), ("-0.1", " -0.10"),
]  # fmt: skip
DIFFERENT = [
    ("1.5", "15"), ("-5", "5"), ("1 2", "12"), ("1-2", "12"), ("2020-01-02", "20200102"), ("A+", "A-"), ("B-", "B"),
    ("HIV+", "HIV-"), ("HIV (-)", "HIV"), ("<5", ">5"), ("5%", "5"), ("HIV?", "HIV"), ("A*", "A"), ("C#", "C"),
    ("-", "--"), ("?", "-"), ("Zürich", "Zurich"), ("Flu", "Flue"), ("10", "1"), ("1.05", "1.5"), ("1.0.0", "1.0"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_spellings_that_are_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_values_that_differ_in_more_than_their_spelling(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def naive_fold(text: str) -> str:
    """The definition, character by character."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())

    def drops(character: str) -> bool:
        return unicodedata.category(character)[0] in ("P", "Z", "C") and character not in "%‰#&@*?"

    kept = [place for place, character in enumerate(plain) if not drops(character)]
    if not kept:
        return "".join(character for character in plain if not character.isspace())
    found = "-" if "-" in plain[: kept[0]] else ""
    for place, following in zip(kept, [*kept[1:], None], strict=True):
        found += plain[place]
        between = plain[place + 1 : following]
        if following is None:
            found += "-" if "-" in between else ""
        elif between and plain[place].isdigit() and plain[following].isdigit():
            found += "".join(character for character in between if not character.isspace()) or " "
    if re.fullmatch("-?[0-9]+[.][0-9]+", found):
        while found[-1] == "0":
            found = found[:-1]
        found = found.removesuffix(".")
    return found


texts = st.text(st.sampled_from("aAbB015 .-+?_,\u00a0\u200bßé\u0301/"), max_size=6)


@given(st.one_of(texts, st.text(max_size=6)))
def test_folding_follows_its_definition(text: str) -> None:
    assert fold(text) == naive_fold(text) == letters_of(text)


@given(st.dictionaries(st.one_of(texts, st.none()), st.integers(1, 5), max_size=12))
def test_groups_are_all_pairs_that_are_alike(values: Mapping[str | None, int]) -> None:
    found = Spellings.of("s", ColumnSpec(role="sensitive"), values.items())
    present = [value for value in values if value is not None]
    pairs = {frozenset((a, b)) for a in present for b in present if a != b and naive_fold(a) == naive_fold(b)}
    grouped = {frozenset((a, b)) for group in found.groups for a in group for b in group if a != b}
    assert grouped == pairs
    for group in found.groups:
        assert next(iter(group)) == min(group, key=lambda value: (-values[value], value))
    assert all(group[value] == values[value] for group in found.groups for value in group)
    if not found.groups:
        assert not found.problems()
        return
    for edit in found.edits:  # either way out leaves nothing to ask
        spec = ColumnSpec.model_validate({"role": "sensitive", str(edit.path[-1]): edit.value})
        merged: dict[str | None, int] = {}
        for value, records in values.items():
            key = value if value is None else spec.value_of.get(value, value)
            merged[key] = merged.get(key, 0) + records
        assert not Spellings.of("s", spec, merged.items()).groups


@given(st.dictionaries(st.text(min_size=1, max_size=4), st.lists(st.text(max_size=4), min_size=1, max_size=3)))
def test_the_mapping_of_a_message_reads_back(same: dict[str, list[str]]) -> None:
    try:
        json.dumps(same).encode()
        text = flow_yaml(same)
        text.encode()
    except UnicodeEncodeError:
        return
    if all(each.isprintable() or each.isascii() for each in (*same, *(one for many in same.values() for one in many))):
        assert parse_yaml(text, "a message") == same


def test_what_the_policy_says_is_kept_in_what_it_is_offered() -> None:
    spec = ColumnSpec.model_validate({"role": "sensitive", "same": {"HIV": ["aids virus"], "hiv": ["H"]}})
    found = Spellings.of("s", spec, {"HIV": 1, "hiv": 3, "Hiv": 2, "Flu": 1}.items())
    assert found.same == {"hiv": ["H", "Hiv", "HIV", "aids virus"]}
    said = ColumnSpec.model_validate({"role": "sensitive", "different": [["HIV", "hiv"]]})
    assert not Spellings.of("s", said, {"HIV": 1, "hiv": 3}.items()).groups
    more = Spellings.of("s", said, {"HIV": 1, "hiv": 3, "Hiv": 1}.items())
    assert [edit.to_dict() for edit in more.edits] == [
        {"path": ["columns", "s", "different"], "value": [["hiv", "HIV", "Hiv"]]}
    ]


def test_a_value_that_has_a_category_is_kept_before_a_more_frequent_one() -> None:
    spec = ColumnSpec.model_validate({"role": "sensitive", "categories": {"grave": ["HIV"], "light": ["Flu"]}})
    assert Spellings.of("s", spec, {"HIV": 1, "hiv": 9}.items()).same == {"HIV": ["hiv"]}


# --- the policy -----------------------------------------------------------------------------------------------------

PEOPLE = pa.table(
    {
        "age": [30, 31, 32, 33, 34, 35, 36, 37],
        "sex": ["f", "f", "f", "f", "m", "m", "m", "m"],
        "illness": ["HIV", "hiv", "HIV ", "Flu", "flu", "Flu", None, "Hiv"],
    }
)
SAME = {"HIV": ["HIV ", "Hiv", "hiv"], "Flu": ["flu"]}
CLEAN = PEOPLE.set_column(2, "illness", pa.array(["HIV", "HIV", "HIV", "Flu", "Flu", "Flu", None, "HIV"]))


def policy_of(privacy: list[dict[str, Any]] | None = None, algorithm: str = "optimal", **column: Any) -> dict[str, Any]:
    return {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
            "sex": {"role": "quasi"},
            "illness": {"role": "sensitive", **column},
        },
        "privacy": privacy or [{"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2}],
        "algorithm": {"name": algorithm},
    }


@pytest.mark.parametrize(("column", "code"), [
    ({"same": {"HIV": ["hiv"], "AIDS": ["hiv"]}}, "spelling-twice"),
    ({"same": {"HIV": ["hiv", "hiv"]}}, "spelling-twice"),
    ({"same": {"HIV": ["hiv"], "hiv": ["h"]}}, "spelling-of-a-spelling"),
    ({"same": {"HIV": []}}, "wrong-type"),
    ({"same": {"HIV": [None]}}, "wrong-type"),
    ({"same": {None: ["hiv"]}}, "wrong-type"),
    ({"same": ["hiv"]}, "wrong-type"),
    ({"different": ["hiv"]}, "wrong-type"),
    ({"different": [["hiv"]]}, "wrong-type"),
    ({"different": [["HIV", None]]}, "wrong-type"),
    ({"different": [["HIV", "HIV"]]}, "same-and-different"),
    ({"same": {"HIV": ["hiv"]}, "different": [["HIV", "hiv"]]}, "same-and-different"),
    (
        {"same": {"HIV": ["hiv"]}, "privacy": [{"model": "alpha-k-anonymity", "alpha": {"hiv": 0.5}}]},
        "spelling-named",
    ),
    ({"same": {"HIV": ["hiv"]}, "categories": {"a": ["HIV", "Flu", None], "b": ["hiv"]}}, "value-in-two-categories"),
])  # fmt: skip
def test_what_contradicts_itself_is_a_problem(column: dict[str, Any], code: str) -> None:
    with pytest.raises(PolicyError) as raised:
        shoal.Policy.model_validate(policy_of(**column))
    assert [problem.code for problem in raised.value.problems] == [code]


def test_the_keys_are_for_sensitive_columns() -> None:
    content = policy_of()
    content["columns"]["sex"] |= {"same": {"f": ["F"]}, "different": [["m", "M"]]}
    with pytest.raises(PolicyError) as raised:
        shoal.Policy.model_validate(content)
    assert [problem.code for problem in raised.value.problems] == ["wrong-role", "wrong-role"]


def test_a_value_among_its_own_spellings_and_values_that_do_not_occur_are_accepted() -> None:
    release = shoal.anonymize(
        PEOPLE, policy_of(same={"HIV": ["HIV", *SAME["HIV"], "H.I.V."], "Flu": ["flu"], "X": ["x"]})
    )
    assert release.table.equals(shoal.anonymize(CLEAN, policy_of()).table)


def test_a_key_that_no_record_has_is_published() -> None:
    release = shoal.anonymize(PEOPLE, policy_of(same={"Influenza": ["Flu", "flu"], "HIV": SAME["HIV"]}))
    assert set(release.table.column("illness").to_pylist()) == {"Influenza", "HIV", None}


def test_numbers_are_merged_in_their_type_where_they_can_be() -> None:
    numbers = PEOPLE.set_column(2, "illness", pa.array([1, 2, 2, 3, 3, 1, None, 9]))
    kept = shoal.anonymize(numbers, policy_of(same={9: [3]})).table
    assert kept.schema.field("illness").type == pa.int64()
    assert sorted(kept.column("illness").drop_null().to_pylist()) == [1, 1, 2, 2, 9, 9, 9]
    worded = shoal.anonymize(numbers, policy_of(same={"much": [3, 9]})).table
    assert sorted(worded.column("illness").drop_null().to_pylist()) == ["1", "1", "2", "2", "much", "much", "much"]


# --- a run ----------------------------------------------------------------------------------------------------------


def test_spellings_of_one_value_stop_a_run_and_each_edit_lets_it_go_on() -> None:
    with pytest.raises(PolicyError) as raised:
        shoal.anonymize(PEOPLE, policy_of())
    (problem,) = raised.value.problems
    assert problem.code == "spellings-of-one-value"
    assert problem.where == "columns.illness.same"
    assert problem.facts == {"groups": [{"HIV": 1, "HIV ": 1, "Hiv": 1, "hiv": 1}, {"Flu": 2, "flu": 1}]}
    same, different = problem.edits
    assert same.value == SAME
    (told,) = raised.value.to_dict()["problems"]
    assert told["edits"] == [same.to_dict(), different.to_dict()]
    assert told["facts"] == problem.facts
    merged = shoal.anonymize(PEOPLE, apply_edits(policy_of(), [same]))
    assert merged.table.equals(shoal.anonymize(CLEAN, policy_of()).table)
    apart = shoal.anonymize(PEOPLE, apply_edits(policy_of(), [different]))
    assert set(apart.table.column("illness").to_pylist()) == set(PEOPLE.column("illness").to_pylist())


def test_the_missing_value_and_its_marks_are_not_spellings_of_anything() -> None:
    marked = PEOPLE.set_column(2, "illness", pa.array(["n/a", "N/A", "HIV", "Flu", "Flu", "HIV", None, ""]))
    content = policy_of() | {"data": {"path": "people.csv", "missing": ["", "n/a", "N/A"]}}
    assert shoal.anonymize(marked, content).table.num_rows == PEOPLE.num_rows
    with pytest.raises(PolicyError):
        shoal.anonymize(marked, policy_of())


def test_spellings_count_once_in_every_model() -> None:
    one_secret = pa.table({"age": [30, 31, 32], "sex": ["f"] * 3, "illness": ["HIV", "hiv", "HIV "]})
    for model in ({"model": "p-sensitive", "p": 2}, {"model": "entropy-l-diversity", "l": 2}):
        with pytest.raises(shoal.errors.InfeasibleError):
            shoal.anonymize(one_secret, policy_of([model], same={"HIV": ["hiv", "HIV "]}))
        assert shoal.anonymize(one_secret, policy_of([model], different=[["HIV", "hiv", "HIV "]]))


def test_categories_and_a_hierarchy_are_about_the_merged_values() -> None:
    categories = {"grave": ["HIV"], "light": ["Flu", None]}
    for publish in ("values", "categories", "both"):
        keys = {"categories": categories, "publish": publish, "hierarchy": {"tree": {"v": ["HIV", "Flu"]}}}
        release = shoal.anonymize(PEOPLE, policy_of(same=SAME, **keys))
        assert release.table.equals(shoal.anonymize(CLEAN, policy_of(**keys)).table)


def test_the_evidence_counts_what_was_merged_and_names_no_spelling(tmp_path: Path) -> None:
    release = shoal.anonymize(PEOPLE, policy_of(same=SAME, different=[["B", "b"]]))
    facts = release.evidence["columns"]["illness"]
    unknown = facts.pop("unknown")
    assert facts == {"role": "sensitive", "published": "values", "spellings_merged": 4, "records_merged": 4}
    assert (unknown["records"], unknown["counted"]) == (PEOPLE["illness"].null_count, False)
    assert '"hiv"' not in json.dumps(release.evidence)
    assert "4 spellings merged" in release.report(tmp_path / "report.html").read_text()
    assert "spellings_merged" not in shoal.anonymize(CLEAN, policy_of()).evidence["columns"]["illness"]


# --- the verifier ---------------------------------------------------------------------------------------------------


def failed(release: pa.Table, policy: dict[str, Any], original: pa.Table | None = PEOPLE) -> set[str]:
    return {check.name for check in shoal.verify(release, policy, original=original).checks if not check.passed}


def test_the_verifier_reads_the_mapping_by_itself() -> None:
    asked = shoal.Policy.model_validate(policy_of(same=SAME))
    release = shoal.anonymize(PEOPLE, asked).table
    assert not failed(release, asked)
    assert not failed(release, asked, original=None)
    cells = release.column("illness").to_pylist()
    spelled = ["hiv" if place == cells.index("HIV") else cell for place, cell in enumerate(cells)]
    unmerged = release.set_column(2, "illness", pa.array(spelled)).sort_by(
        [(name, "ascending") for name in release.column_names]
    )
    assert "spellings" in failed(unmerged, asked, original=None)
    assert "truthfulness" in failed(unmerged, asked)
    other = shoal.Policy.model_validate(policy_of(same={"Flu": ["flu", "hiv"]}, different=[["HIV", "HIV ", "Hiv"]]))
    assert "truthfulness" in failed(release, other)


def test_the_verifier_fails_spellings_that_nobody_has_looked_at() -> None:
    apart = shoal.anonymize(PEOPLE, policy_of(different=[["HIV", "HIV ", "Hiv", "hiv"], ["Flu", "flu"]]))
    assert failed(apart.table, shoal.Policy.model_validate(policy_of()), original=None) == {"spellings"}
    assert not failed(apart.table, apart.policy, original=None)
    names = {check["name"] for check in shoal.anonymize(CLEAN, policy_of()).evidence["checks"]}
    assert "spellings" not in names


# --- everybody who reads the data -----------------------------------------------------------------------------------


def test_risk_attack_why_and_utility_read_the_merged_values() -> None:
    asked, clean = (shoal.Policy.model_validate(policy_of(**column)) for column in ({"same": SAME}, {}))
    assert shoal.risk(PEOPLE, asked) == shoal.risk(CLEAN, clean)
    release = shoal.anonymize(PEOPLE, asked)
    attacked, other = (
        shoal.attack(release.table, asked, original=PEOPLE),
        shoal.attack(release.table, clean, original=CLEAN),
    )
    assert attacked.to_dict() == other.to_dict()
    assert release.evidence["attacks"] == shoal.anonymize(CLEAN, clean).evidence["attacks"]
    assert why(asked, PEOPLE, record=2).to_dict() == why(clean, CLEAN, record=2).to_dict()
    task = {"utility": {"queries": [{"illness": "HIV"}]}}
    counted = [shoal.anonymize(table, {**policy_of(**column), **task}).evidence["utility"]
               for table, column in ((PEOPLE, {"same": SAME}), (CLEAN, {}))]  # fmt: skip
    assert counted[0] == counted[1]


@pytest.mark.parametrize("uncounted", [False, True])
@pytest.mark.parametrize("publish", ["values", "both"])
def test_streamed_records_are_merged_alike(
    tmp_path: Path, publish: str, uncounted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = policy_of(same=SAME, publish=publish, categories={"grave": ["HIV"], "light": ["Flu", None]})
    content["columns"]["note"] = {"role": "insensitive"}
    write_table(PEOPLE.append_column("note", pa.array([f"n{place}" for place in range(8)])), tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(json.dumps({"data": "people.csv", **content}))
    policy = shoal.Policy.load(tmp_path / "policy.yaml")
    held = shoal.publish(policy, out=tmp_path / "held.csv")
    if uncounted:
        monkeypatch.setattr(Budget, "leaves_out", lambda _, counter, __: "note" in counter.names)
    streamed = shoal.publish(policy, out=tmp_path / "streamed.csv", memory="2GB")
    assert (tmp_path / "held.csv").read_bytes() == (tmp_path / "streamed.csv").read_bytes()
    facts = [json.loads(each.paths["evidence"].read_text())["columns"]["illness"] for each in (held, streamed)]
    assert facts[0] == facts[1]
    (tmp_path / "asked.yaml").write_text(json.dumps({"data": "people.csv", **policy_of()}))
    with pytest.raises(PolicyError) as raised:
        shoal.publish(shoal.Policy.load(tmp_path / "asked.yaml"), out=tmp_path / "not.csv", memory="2GB")
    assert raised.value.problems[0].edits[0].value == SAME
    assert not (tmp_path / "not.csv").exists()


# --- new records ----------------------------------------------------------------------------------------------------


def test_new_records_with_new_spellings_stop_until_the_policy_names_them() -> None:
    release = shoal.anonymize(CLEAN, policy_of([{"model": "k-anonymity", "k": 2}]))
    new = pa.table({"age": [30, 31, 33], "sex": ["f", "f", "f"], "illness": ["hiv", "hiv", "Flu"]})
    with pytest.raises(PolicyError) as raised:
        shoal.apply(release, new)
    (problem,) = raised.value.problems
    assert problem.code == "spellings-of-one-value"
    assert problem.facts == {"groups": [{"HIV": 0, "hiv": 2}]}  # what is published stays
    edited = apply_edits(release.policy.to_dict(), problem.edits[:1])
    applied = shoal.apply(release, new, policy=shoal.Policy.model_validate(edited))
    assert sorted(applied.table.column("illness").to_pylist()) == ["Flu", "HIV", "HIV"]
    assert applied.evidence["columns"]["illness"]["records_merged"] == 2


def test_what_is_published_is_not_merged_by_new_records() -> None:
    release = shoal.anonymize(CLEAN, policy_of([{"model": "k-anonymity", "k": 2}]))
    edited = apply_edits(release.policy.to_dict(), [])
    edited["columns"]["illness"]["same"] = {"AIDS": ["HIV"]}
    with pytest.raises(InputError) as raised:
        shoal.apply(release, PEOPLE, policy=shoal.Policy.model_validate(edited))
    assert raised.value.code == "published-value-merged"


# --- the draft ------------------------------------------------------------------------------------------------------


def test_a_draft_merges_spellings_and_runs(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    write_table(
        pa.table({**{name: PEOPLE.column(name) for name in ("age", "sex")}, "diagnosis": PEOPLE.column("illness")}),
        data,
    )
    path = tmp_path / "people.yaml"
    path.write_text(policy_text(draft_facts(data)), encoding="utf-8")
    policy = shoal.Policy.load(path)
    assert policy.columns["diagnosis"].same == SAME
    shoal.publish(policy, out=tmp_path / "release.csv")
    clean = tmp_path / "clean.csv"
    write_table(pa.table({"age": CLEAN.column("age"), "diagnosis": CLEAN.column("illness")}), clean)
    assert "same:" not in policy_text(draft_facts(clean))
