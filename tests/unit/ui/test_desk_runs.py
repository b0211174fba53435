"""What the page is told of finished runs, held against the files that the runs wrote."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from shoal.edits import PolicyEdit, apply_edits
from shoal.models import MODELS
from shoal.pipeline import anonymize
from shoal.pipeline.why.explain import Why
from shoal.policy import Policy
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.main import ANSWERS as ALL_ANSWERS
from shoal.ui.desk.table import open_example, open_upload
from shoal.ui.run.columns import _edges, _histogram, _numbers
from shoal.ui.run.main import run as do_run
from shoal.ui.server.workspace import OUT, STATUS, Workspace, write_bytes, write_json
from support.ui_desk import refused, save_policy

PEOPLE = """name,age,sex,city,illness,note
Ann,21,F,Oslo,Flu,=1+1
Bea,24,F,Bergen,Flu,-5
Cid,27,M,Oslo,HIV,@home
Dan,29,M,Oslo,Flu,fine
Eva,34,F,Bergen,HIV,fine
Fay,38,F,Oslo,Flu,fine
Gus,33,M,Bergen,Flu,+49
Hal,36,M,Bergen,HIV,fine
Ida,71,F,Oslo,Flu,fine
"""
POLICY = {
    "data": {"path": "people.csv"},
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"intervals": {"widths": [10, 40]}}, "boundary": 1},
        "sex": {"role": "quasi", "hierarchy": {"flat": True}, "boundary": 0},
        "city": {"role": "quasi", "hierarchy": {"flat": True}},
        "illness": {"role": "sensitive", "categories": {"Secret": ["HIV"], "Plain": ["Flu"]}, "publish": "both"},
        "note": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "algorithm": {"name": "optimal"},
    "suppression": 0.2,
    "output": "out.csv",
}


def quiet(_: str, __: float) -> None:
    """Nobody watches."""


def ran(desk: Desk, number: str, kind: str = "release", name: str = "") -> str:
    folder = desk.workspace.runs / number
    folder.mkdir(parents=True)
    write_bytes(folder / "policy.yaml", desk.workspace.policy.read_bytes())
    do_run(folder, desk.workspace, kind, quiet)
    write_json(folder / STATUS, {"kind": kind, "name": name, "state": "done", "started": 1.0})
    return number


def changed(desk: Desk, **changes: Any) -> None:
    save_policy(desk, {**desk.document(), **changes})


def new_desk(folder: Path) -> Desk:
    workspace = Workspace(folder)
    workspace.create()
    return Desk(workspace, 10_000)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Nine people; run 001 is a release, 002 its lattice, 003 one that publishes categories and stars."""
    desk = new_desk(tmp_path_factory.mktemp("people"))
    (desk.workspace.folder / "incoming").mkdir()
    (desk.workspace.folder / "incoming" / "people.csv").write_text(PEOPLE, encoding="utf-8")
    open_upload(desk, {"name": "people.csv"})
    save_policy(desk, POLICY)
    ran(desk, "001", name="first")
    ran(desk, "002", kind="lattice")
    columns = {**POLICY["columns"], "illness": {**POLICY["columns"]["illness"], "publish": "categories"}}  # type: ignore[index,dict-item]
    changed(desk, columns=columns, suppressed="star")
    ran(desk, "003")
    save_policy(desk, POLICY)
    return desk


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """The example; run 001 puts records into another order before it searches, 002 does not."""
    desk = new_desk(tmp_path_factory.mktemp("hospital"))
    open_example(desk, {})
    changed(desk, algorithm={"name": "greedy-lattice"})
    ran(desk, "002")
    changed(desk, algorithm={"name": "mondrian"})
    ran(desk, "001")
    return desk


def ask(desk: Desk, question: str, **asked: Any) -> dict[str, Any]:
    answer = ALL_ANSWERS[question](desk, asked)
    return json.loads(json.dumps(answer))  # type: ignore[no-any-return]  # what the page gets


def all_records(desk: Desk, run: str, **asked: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while True:
        answer = ask(desk, "before_after", run=run, offset=len(rows), limit=100, **asked)
        rows += answer["rows"]
        if len(rows) >= answer["found"]:
            return rows


def lines_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def texts(cells: list[str | None]) -> tuple[str, ...]:
    return tuple("" if cell is None else cell for cell in cells)


@pytest.mark.parametrize("run", ["001", "002"])
def test_what_is_shown_as_released_is_what_the_file_has(hospital: Desk, run: str) -> None:
    head, *file = lines_of(hospital.workspace.runs / run / OUT / "csv" / "hospital-release.csv")
    answer = ask(hospital, "before_after", run=run)
    assert [each["name"] for each in answer["after"]] == head
    rows = all_records(hospital, run)
    assert Counter(texts(row["after"]) for row in rows if row["after"]) == Counter(map(tuple, file))


@pytest.mark.parametrize("run", ["001", "002"])
def test_what_is_shown_as_original_is_the_record_of_that_number(hospital: Desk, run: str) -> None:
    head, *file = lines_of(hospital.workspace.table())
    rows = all_records(hospital, run)
    assert sorted(row["record"] for row in rows) == list(range(1, len(file) + 1))
    assert [each["name"] for each in ask(hospital, "before_after", run=run)["before"]] == head
    for row in rows:
        assert [cell or "?" for cell in texts(row["before"])] == [cell or "?" for cell in file[row["record"] - 1]]


def test_records_stand_by_class_and_those_left_out_last(hospital: Desk) -> None:
    rows = all_records(hospital, "002")
    order = [(row["class"] is None, row["class"] or 0, row["record"]) for row in rows]
    assert order == sorted(order)
    sizes = Counter(row["class"] for row in rows)
    assert all(row["size"] == sizes[row["class"]] for row in rows if row["class"])
    left_out = all_records(hospital, "002", **{"class": 0})
    assert left_out == [row for row in rows if row["class"] is None]
    assert left_out
    assert {row["class"] for row in all_records(hospital, "002", **{"class": 7})} == {7}


def test_records_are_found_by_any_part_of_an_original_value(people: Desk) -> None:
    found = all_records(people, "001", search="os")
    assert sorted(row["before"][0] for row in found) == ["Ann", "Cid", "Dan", "Fay", "Ida"]
    ages = {row["before"][1] for row in all_records(people, "001", search="3", column="age")}
    assert ages == {"34", "38", "33", "36"}
    assert all_records(people, "001", search="nobody") == []
    with refused("unknown-column"):
        ask(people, "before_after", run="001", search="x", column="ages")
    with refused("unknown-class"):
        ask(people, "before_after", run="001", **{"class": 99})


def test_a_cell_is_marked_where_it_says_less_than_the_value(people: Desk) -> None:
    answer = ask(people, "before_after", run="001")
    heads = [each["name"] for each in answer["after"]]
    assert heads == ["age", "sex", "city", "illness", "illness_category", "note"]
    for row in answer["rows"]:
        if row["after"] is None:
            assert row["before"][0] == "Ida"
            continue
        original = dict(zip([each["name"] for each in answer["before"]], row["before"], strict=True))
        for head, cell, less in zip(heads, row["after"], row["changed"], strict=True):
            assert less == (cell != original.get(head)), head


def test_a_star_release_and_published_categories_are_shown_as_they_are(people: Desk) -> None:
    answer = ask(people, "before_after", run="003")
    assert answer["starred"]
    place = [each["name"] for each in answer["after"]].index("illness")
    shown = {(row["before"][4], row["after"][place], row["changed"][place]) for row in answer["rows"] if row["after"]}
    assert shown == {("Flu", "Plain", True), ("HIV", "Secret", True)}


def test_classes_come_smallest_first_with_what_they_show(hospital: Desk) -> None:
    answer = ask(hospital, "classes", run="002", limit=100)
    sizes = [each["size"] for each in answer["listed"]]
    assert sizes == sorted(sizes)
    for each in answer["listed"][:5]:
        rows = all_records(hospital, "002", **{"class": each["class"]})
        assert len(rows) == each["size"]
        secrets = Counter(row["before"][9] for row in rows)
        told = each["secrets"]["condition"]
        assert told["values"] == len(secrets)
        assert secrets[told["most"]] == told["records"] == max(secrets.values())
        assert list(each["labels"].values()) == rows[0]["after"][:6]


def test_the_weakest_classes_of_the_evidence_lead_to_their_records(hospital: Desk) -> None:
    weakest = ask(hospital, "classes", run="002")["weakest"]
    assert {each["model"] for each in weakest} == {"k-anonymity", "p-plus-alpha-sensitive"}
    for each in weakest:
        rows = all_records(hospital, "002", **{"class": each["class"]})
        assert len(rows) == each["size"]
        assert rows[0]["after"][:6] == list(each["labels"].values())
    assert ask(hospital, "classes", run="002", offset=25)["weakest"] == []


def test_before_counts_every_record_and_after_those_released(hospital: Desk) -> None:
    for run in ("001", "002"):
        answer = ask(hospital, "distributions", run=run)
        released = answer["records"] - answer["suppressed"]
        assert answer["columns"][0]["name"] == "age"
        for column in answer["columns"]:
            bars = column.get("bars") or [
                {"before": before, "after": after, "sure": sure}
                for before, after, sure in zip(column["before"], column["after"], column["sure"], strict=True)
            ]
            missing = column.get("missing") or [0, 0]
            assert sum(bar["before"] for bar in bars) + missing[0] == answer["records"], column["name"]
            assert sum(bar["after"] for bar in bars) + missing[1] == pytest.approx(released), column["name"]
            assert all(bar["sure"] <= bar["after"] + 1e-6 for bar in bars)
        assert answer["not_released"] == ["patient_id", "name"]


def test_released_intervals_are_spread_evenly_over_their_width(hospital: Desk) -> None:
    column = ask(hospital, "distributions", run="001")["columns"][0]
    expected = [0.0] * len(column["before"])
    for row in all_records(hospital, "001"):
        if row["after"] is None:
            continue
        label = row["after"][0]
        low, high = (float(part) for part in label.strip("[)").split(", ")) if "," in label else (float(label),) * 2
        for place in range(len(expected)):
            start, end = column["edges"][place], column["edges"][place + 1]
            shared = max(0.0, min(high, end) - max(low, start))
            expected[place] += float(start <= low < end) if low == high else shared / (high - low)
    assert column["after"] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("values", "ends", "whole"),
    [
        ([17, 90], [10, 100], True),
        ([0.001, 0.002], [], False),
        ([5], [], True),
        ([-3, 1e6], [float("-inf"), float("inf")], True),
        ([20, 24], [0, 40], True),
    ],
)
def test_bins_are_few_and_hold_every_value_and_every_interval(
    values: list[float], ends: list[float], whole: bool
) -> None:
    edges = _edges(np.array(values, dtype=float), np.array(ends, dtype=float), whole=whole)
    finite = [end for end in ends if np.isfinite(end)]
    assert edges[0] <= min(values + finite)
    assert edges[-1] > max(values)
    assert edges[-1] >= max(values + finite)
    assert 1 <= len(edges) - 1 <= 25


def test_a_column_that_is_fully_generalized_is_spread_over_all_that_is_drawn() -> None:
    numbers = _numbers(("1", "2", "9", None), np.array([4, 1, 1, 2]))
    assert numbers is not None
    told = _histogram(numbers, np.array([4, 1, 1, 2]), *(np.array([each]) for each in (-np.inf, np.inf, 6.0)))
    assert told["sure"] == [0] * len(told["before"])
    assert told["after"] == pytest.approx([6 / len(told["before"])] * len(told["before"]))
    assert sum(told["before"]) == 6


def test_why_is_what_the_release_says_itself(hospital: Desk) -> None:
    policy = Policy.load(hospital.workspace.runs / "001" / "policy.yaml")
    release = anonymize(hospital.workspace.table(), policy)
    for record in (1, 17, 1200):
        answer = ask(hospital, "why", run="001", record=record)
        facts = release.why(record)
        assert isinstance(facts, Why)
        assert (answer["class"], answer["size"]) == (facts.number, facts.size)
        assert [each["verdict"] for each in answer["columns"]] == [each.verdict for each in facts.columns]
        assert answer["head"] == str(facts).splitlines()[: len(answer["head"])]
        assert [each["column"] for each in answer["columns"]] in ([], list(policy.names("quasi")))
    assert ask(hospital, "why", run="001", **{"class": 3})["class"] == 3
    with refused("unknown-record"):
        ask(hospital, "why", run="001", record=1201)


def test_a_record_that_was_left_out_is_told_what_its_class_lacks(people: Desk) -> None:
    answer = ask(people, "why", run="001", record=9)
    assert answer["class"] is None
    assert answer["columns"] == []
    assert answer["summary"]


def test_files_are_told_with_their_size_and_hash_and_the_commands_that_make_them(people: Desk) -> None:
    answer = ask(people, "run_files", run="001")
    folder = people.workspace.runs / "001" / OUT
    assert [form["form"] for form in answer["forms"]] == ["csv", "parquet"]
    for form in answer["forms"]:
        assert {file["what"] for file in form["files"]} == {"release", "evidence", "report", "policy"}
        for file in form["files"]:
            content = (folder / form["form"] / file["name"]).read_bytes()
            assert file["bytes"] == len(content)
            assert file["sha256"] == hashlib.sha256(content).hexdigest()
    assert answer["forms"][0]["make"] == "shoal anonymize policy.yaml --out out.csv"
    assert answer["forms"][1]["check"] == "shoal verify out.parquet --policy policy.yaml --original people.csv"


def test_cells_that_look_like_formulas_are_pointed_out_and_numbers_are_not(people: Desk) -> None:
    assert ask(people, "run_files", run="001")["formulas"] == [{"column": "note", "cells": 2, "example": "=1+1"}]


def test_the_report_of_a_run_is_given_section_by_section(people: Desk) -> None:
    answer = ask(people, "about_run", run="001", sections=["verdict", "nothing"])
    assert list(answer) == ["verdict"]
    assert 'class="verdict' in answer["verdict"]
    assert set(ask(people, "about_run", run="001")) == {"verdict", "attackers", "sizes", "limitations", "remedies"}


def test_each_attack_that_leaks_has_the_changes_that_would_stop_it(people: Desk) -> None:
    answer = ask(people, "about_run", run="001", sections=["attackers"])
    assert len(answer["remedies"]) == answer["attackers"].count(">leak<") > 0
    document = yaml.safe_load((people.workspace.runs / "001" / "policy.yaml").read_text())
    changes = [change for remedy in answer["remedies"] for change in remedy["changes"]]
    assert changes
    for change in changes:
        edits = [PolicyEdit.from_dict(each) for each in change["edits"]]
        assert not edits or Policy.model_validate(apply_edits(Policy.model_validate(document).to_dict(), edits))
        assert change["label"]
        assert change["model"] is None or change["model"] in MODELS


def test_a_plot_has_every_finished_release_by_the_figures_asked_for(hospital: Desk) -> None:
    answer = ask(hospital, "runs_plot", across="ncp", up="highest")
    assert [point["run"] for point in answer["points"]] == ["001", "002"]
    for point in answer["points"]:
        evidence = json.loads((hospital.workspace.runs / point["run"] / OUT / "evidence.json").read_text())
        assert point["across"] == evidence["measures"]["ncp"]
        assert point["up"] == pytest.approx(1 / evidence["class_sizes"]["smallest"])
        assert f"run {point['run']}" in answer["figure"]
    assert any(point["rank"] == 1 for point in answer["points"])
    beside = {str(int(point["run"])) for point in answer["points"]}
    assert beside <= set(re.findall(r"<text[^>]*>([^<]*)</text>", answer["figure"])), "each point has its run's number"
    with refused("unknown-measure"):
        ask(hospital, "runs_plot", across="beauty")


def test_the_lattice_is_drawn_and_a_minimal_node_of_it_becomes_the_policy(people: Desk) -> None:
    answer = ask(people, "lattice_svg", run="002")
    assert not answer["changed"]
    assert answer["minimal"]
    assert all(f'data-node="{node["id"]}"' in answer["figure"] for node in answer["minimal"])
    levels = answer["minimal"][0]["levels"]
    edits = [PolicyEdit.from_dict(each) for each in ask(people, "pick_node", run="002", levels=levels)["edits"]]
    release = anonymize(people.workspace.table(), Policy.model_validate(apply_edits(POLICY, edits)))
    assert release.evidence["levels"] == levels
    with refused("policy"):
        ask(people, "pick_node", run="002", levels=dict.fromkeys(levels, 0))


def test_a_lattice_says_when_the_policy_is_another_now(people: Desk) -> None:
    changed(people, privacy=[{"model": "k-anonymity", "k": 3}])
    try:
        assert ask(people, "lattice_svg", run="002")["changed"]
    finally:
        save_policy(people, POLICY)


def test_a_run_that_is_not_there_or_has_no_release_is_told_so(people: Desk) -> None:
    with refused("unknown-run"):
        ask(people, "before_after", run="099")
    with refused("no-release"):
        ask(people, "classes", run="002")
    with refused("no-lattice"):
        ask(people, "lattice_svg", run="001")
    with refused("unknown-run"):
        ask(people, "why", run="../001", record=1)
