"""The desk's questions about hierarchies: what they make of the values, and files of them in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.errors import PolicyError, ShoalError
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import HierarchySpec
from shoal.ui.desk import document
from shoal.ui.desk import table as desk_table
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.hierarchy import export_hierarchy, hierarchy, import_hierarchy
from shoal.ui.server.workspace import Workspace
from support.ui_desk import refused, save_policy

CITIES = {"Ulm": 4, "Köln": 3, "Bonn": 2, "Wien": 1}
TREE = {"Süd": ["Ulm"], "Rhein": ["Köln", "Bonn"], "Wien": None}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with a small table: cities with a missing one, ages, days, codes."""
    workspace = Workspace(tmp_path / "session")
    workspace.create()
    rows = [city for city, records in CITIES.items() for _ in range(records)] + [""]
    lines = [f"{city},{20 + place},2024-{1 + place:02d}-15,A{place:03d}" for place, city in enumerate(rows)]
    (workspace.folder / "incoming").mkdir()
    text = "\n".join(["city,age,day,code", *lines]) + "\n"
    (workspace.folder / "incoming" / "people.csv").write_text(text, encoding="utf-8")
    desk = Desk(workspace, 1000)
    desk_table.open_upload(desk, {"name": "people.csv"})
    return desk


def declare(desk: Desk, column: str, spec: Any, **more: Any) -> None:
    content = desk.document()
    columns = {**content["columns"], column: {"role": "quasi", "hierarchy": spec, **more}}
    save_policy(desk, {**content, "columns": columns})


def test_levels_are_those_that_the_pipeline_builds(desk: Desk) -> None:
    declare(desk, "age", {"intervals": {"widths": [5, 10]}})
    told = hierarchy(desk, {"name": "age"})
    values = [str(20 + place) for place in range(11)]
    built = hierarchy_source(HierarchySpec.model_validate({"intervals": [5, 10]}), Path(), "").build(
        values, [1] * 11, ""
    )
    assert told["problems"] == []
    assert [level["groups"] for level in told["levels"]] == [len(set(row)) for row in built.hierarchy.levels.tolist()]
    assert told["levels"][1]["drawn"] == [["[20, 25)", 5], ["[25, 30)", 5], ["[30, 35)", 1]]
    assert [level["smallest"] for level in told["levels"]] == [1, 1, 1, 11]
    for example in told["examples"]:
        leaf = built.hierarchy.by_label[example["value"]]
        assert example["path"] == [built.hierarchy.labels[row[leaf]] for row in built.hierarchy.levels.tolist()]


def test_examples_stop_at_their_limit(desk: Desk) -> None:
    declare(desk, "city", {"tree": TREE}, boundary=["Rhein"])
    told = {each["value"]: each for each in hierarchy(desk, {"name": "city"})["examples"]}
    assert told["Ulm"]["path"] == ["Ulm", "Süd", "*"]
    assert not told["Ulm"]["limited"]
    bonn = hierarchy(desk, {"name": "city", "value": "Bonn"})["examples"]
    assert [(each["value"], each["path"], each["limited"]) for each in bonn] == [
        ("Bonn", ["Bonn", "Rhein", "Rhein"], True)
    ]


@pytest.mark.parametrize(
    ("boundary", "reach"),
    [(None, 2), (0, 0), (1, 1), (["Rhein"], 2), (["Süd", "Rhein", "Wien"], 2), (["Süd", "Rhein", "Wien", None], 1)],
)
def test_the_reach_of_limits_is_the_last_level_at_which_anything_changes(desk: Desk, boundary: Any, reach: int) -> None:
    declare(desk, "city", {"tree": TREE}, **({} if boundary is None else {"boundary": boundary}))
    assert hierarchy(desk, {"name": "city"})["reach"] == reach


def test_a_page_of_groups_is_searched_and_says_which_are_limits(desk: Desk) -> None:
    declare(desk, "code", {"mask": {"side": "right"}}, boundary=["A00*"])
    listed = hierarchy(desk, {"name": "code", "level": 1, "search": "a00"})["listed"]
    assert listed == {"level": 1, "found": 1, "offset": 0, "groups": [["A00*", 10, True]]}
    rest = hierarchy(desk, {"name": "code", "level": 0, "offset": 9})["listed"]
    assert [group[0] for group in rest["groups"]] == ["A009", "A010"]


def test_values_without_a_place_and_wrong_limits_are_told_in_words(desk: Desk) -> None:
    declare(desk, "city", {"tree": {"Süd": ["Ulm"]}})
    told = hierarchy(desk, {"name": "city"})
    assert not told["built"]
    assert "'Köln' (3 records)" in told["problems"][0]["message"]
    declare(desk, "city", {"tree": TREE}, boundary=["Nord"])
    told = hierarchy(desk, {"name": "city"})
    assert told["built"]
    assert [each["where"] for each in told["problems"]] == ["columns.city.boundary"]


def test_a_problem_elsewhere_in_the_policy_hides_no_hierarchy(desk: Desk) -> None:
    declare(desk, "city", {"tree": TREE})
    save_policy(desk, {**desk.document(), "privacy": [{"model": "k-anonymity", "k": -3}]})
    assert hierarchy(desk, {"name": "city"})["built"]


@pytest.mark.parametrize("spec", [{"levels": {"path": "/etc/hostname"}}, {"tree": "/etc/hostname"}])
def test_no_file_of_the_server_is_read(desk: Desk, spec: dict[str, Any]) -> None:
    declare(desk, "city", spec)
    told = hierarchy(desk, {"name": "city"})
    assert told["problems"][0]["code"] == "hierarchy-in-file"
    assert Path("/etc/hostname").read_text(encoding="utf-8").strip() not in str(told)


def test_each_kind_begins_with_what_suits_the_values(desk: Desk) -> None:
    declare(desk, "day", {"flat": True})
    assert hierarchy(desk, {"name": "day"})["proposals"]["dates"]["dates"]["units"] == ["month", "quarter"]
    assert "intervals" in hierarchy(desk, {"name": "age"})["proposals"]
    assert hierarchy(desk, {"name": "code"})["proposals"]["mask"] == {"mask": {"side": "right"}}


@pytest.mark.parametrize("form", ["csv", "yaml"])
@pytest.mark.parametrize(
    ("column", "spec"),
    [
        ("city", {"tree": TREE}),
        ("age", {"intervals": {"widths": [5, 10]}}),
        ("day", {"dates": {"units": ["month", "year"]}}),
        ("code", {"mask": {"side": "left"}}),
        ("city", {"order": {"values": ["Wien", "Ulm", "Bonn", "Köln"], "groups": [2]}}),
    ],
)
def test_what_is_exported_comes_back_with_the_same_levels(desk: Desk, column: str, spec: Any, form: str) -> None:
    declare(desk, column, spec)
    before = hierarchy(desk, {"name": column})
    sent = export_hierarchy(desk, {"name": column, "form": form})
    taken = import_hierarchy(desk, {"name": column, "file": sent["file"], "text": sent["text"]})
    assert taken["problems"] == []
    assert taken["lacking"]["count"] == taken["absent"]["count"] == 0
    declare(desk, column, {"tree": document.from_page(taken["tree"])})
    after = hierarchy(desk, {"name": column})
    assert [level["groups"] for level in after["levels"]] == [level["groups"] for level in before["levels"]]
    assert [each["path"] for each in after["examples"]] == [each["path"] for each in before["examples"]]


def test_an_import_is_told_with_what_it_lacks_and_nothing_changes(desk: Desk) -> None:
    before = desk.workspace.policy.read_bytes()
    text = "Ulm;Süd;D\nKöln;Rhein;D\nGraz;Ost;A\n"
    told = import_hierarchy(desk, {"name": "city", "file": "städte.csv", "text": text})
    assert told["lacking"] == {"values": [["Bonn", 2], ["Wien", 1]], "count": 2, "records": 3}
    assert told["absent"] == {"values": ["Graz"], "count": 1}
    assert told["tree"] == {"D": {"Süd": ["Ulm"], "Rhein": ["Köln"]}, "A": {"Ost": ["Graz"]}}
    assert desk.workspace.policy.read_bytes() == before


def test_a_table_of_levels_with_a_value_twice_is_refused_with_both_places(desk: Desk) -> None:
    asked = {"name": "city", "file": "twice.csv", "text": "Ulm;Süd\nUlm;Nord\n"}
    with pytest.raises(PolicyError, match=r"twice\.csv has 1 problem:\n.*'Ulm' is listed under both 'Süd' and 'Nord'"):
        import_hierarchy(desk, asked)


def test_a_tree_with_a_value_twice_is_shown_with_its_problem(desk: Desk) -> None:
    told = import_hierarchy(desk, {"name": "city", "file": "t.yaml", "text": "tree: {A: [Ulm], B: [Ulm, Köln]}"})
    assert "is listed under both 'A' and 'B'" in told["problems"][0]["message"]
    assert told["tree"] == {"A": ["Ulm"], "B": ["Ulm", "Köln"]}


@pytest.mark.parametrize(
    ("file", "text"),
    [("a.csv", ""), ("a.csv", "Ulm\nBonn\n"), ("a.csv", 'Ulm;"Süd\n'), ("a.yaml", "just a text"), ("a.yaml", "a: [")],
)
def test_what_is_no_hierarchy_is_refused_by_its_name(desk: Desk, file: str, text: str) -> None:
    with pytest.raises(ShoalError) as raised:
        import_hierarchy(desk, {"name": "city", "file": file, "text": text})
    assert file in str(raised.value)
    assert raised.value.exit_code == 2


def test_groups_named_by_numbers_keep_their_order_for_the_page(desk: Desk) -> None:
    told = import_hierarchy(desk, {"name": "city", "file": "n.csv", "text": "Ulm;9\nKöln;1\nBonn;1\nWien;5\n"})
    assert told["tree"] == [{"9": ["Ulm"]}, {"1": ["Köln", "Bonn"]}, {"5": ["Wien"]}]
    declare(desk, "city", {"tree": document.from_page(told["tree"])})
    paths = hierarchy(desk, {"name": "city", "value": "Bonn"})["examples"][0]["path"]
    assert paths == ["Bonn", "1", "*"]
    declare(desk, "city", {"tree": {"9": ["Ulm"], "1": ["Köln", "Bonn", "Wien"]}})
    page = document.to_page(desk.document())
    assert page["columns"]["city"]["hierarchy"]["tree"] == [{"9": ["Ulm"]}, {"1": ["Köln", "Bonn", "Wien"]}]


def test_a_column_that_is_not_there_is_an_error(desk: Desk) -> None:
    with refused("unknown-column"):
        hierarchy(desk, {"name": "town"})
    with refused("unknown-format"):
        export_hierarchy(desk, {"name": "city", "form": "xml"})


def test_another_missing_mark_is_seen_at_once(desk: Desk) -> None:
    declare(desk, "city", {"tree": {"Süd": ["Ulm"], "Rhein": ["Köln", "Bonn"]}})
    assert not hierarchy(desk, {"name": "city"})["built"]
    content = desk.document()
    save_policy(desk, {**content, "data": {"path": "people.csv", "missing": ["", "Wien"]}})
    assert hierarchy(desk, {"name": "city"})["built"]


def test_relative_dates_are_shown_in_days(desk: Desk) -> None:
    """Each city has its records one month apart; Ulm has four of them."""
    content = desk.document()
    columns = {
        **content["columns"],
        "city": {"role": "identifier"},
        "day": {"role": "quasi", "relative": "first", "hierarchy": {"intervals": {"widths": [50]}}},
    }
    spans = {**content, "columns": columns, "person": "city", "data": {"path": "people.csv", "missing": ["never"]}}
    save_policy(desk, spans)
    found = hierarchy(desk, {"name": "day"})
    assert found["problems"] == []
    assert found["levels"][1]["drawn"] == [["[0, 50)", 8], ["[50, 100)", 3]]
    values = desk_table.column(desk, {"name": "day"})
    assert values["kind"] == "whole numbers"
    assert dict(values["values"])["0"] == 5
    assert values["histogram"] is not None
