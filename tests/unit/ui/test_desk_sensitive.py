"""The desk's question about a sensitive column, held against the definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from shoal.edits import PolicyEdit, apply_edits
from shoal.policy import Policy
from shoal.ui.desk import document
from shoal.ui.desk import table as desk_table
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.hierarchy import hierarchy
from shoal.ui.desk.review import review
from shoal.ui.desk.sensitive import sensitivity
from shoal.ui.server.workspace import Workspace
from support.ui_desk import refused, save_policy

ILLNESSES = ["HIV", "HIV", "Cancer", "Flu", "Flu", "Flu", "Asthma", ""]
CATEGORIES: dict[str, list[str | None]] = {"High": ["HIV", "Cancer"], "Mid": ["Asthma", None], "Low": ["Flu"]}


def open_table(folder: Path, values: list[str]) -> Desk:
    workspace = Workspace(folder / "session")
    workspace.create()
    (workspace.folder / "incoming").mkdir()
    lines = ["age,illness", *(f"{20 + place},{value}" for place, value in enumerate(values))]
    (workspace.folder / "incoming" / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    desk = Desk(workspace, 1000)
    desk_table.open_upload(desk, {"name": "people.csv"})
    return desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return open_table(tmp_path, ILLNESSES)


def declare(desk: Desk, privacy: list[dict[str, Any]] | None = None, **spec: Any) -> None:
    columns = {"age": {"role": "quasi", "hierarchy": {"flat": True}}, "illness": {"role": "sensitive", **spec}}
    asked = privacy or [{"model": "k-anonymity", "k": 2}]
    save_policy(desk, {"data": {"path": "people.csv"}, "columns": columns, "privacy": asked})


def test_weights_and_distances_of_categories_follow_their_definition(desk: Desk) -> None:
    declare(desk, categories=CATEGORIES)
    told = sensitivity(desk, {"name": "illness"})
    assert told["problems"] == []
    assert told["categories"]["names"] == ["High", "Mid", "Low"]
    assert [Fraction(weight) for weight in told["categories"]["weights"]] == [Fraction(i, 2) for i in range(3)]
    apart = [[Fraction(each) for each in row] for row in told["categories"]["apart"]]
    assert apart == [[Fraction(abs(i - j), 2) for j in range(3)] for i in range(3)]


def test_one_category_weighs_nothing(desk: Desk) -> None:
    declare(desk, categories={"All": ["HIV", "Cancer", "Asthma", "Flu", None]})
    assert sensitivity(desk, {"name": "illness"})["categories"] == {"names": ["All"], "weights": [], "apart": []}


def distances(desk: Desk, kind: str) -> dict[tuple[Any, Any], float]:
    told = sensitivity(desk, {"name": "illness", "distance": kind})["distances"]
    rows = zip(told["values"], told["apart"], strict=True)
    return {(one, other): apart for one, row in rows for other, apart in zip(told["values"], row, strict=True)}


def test_equal_and_hierarchical_distances_are_those_of_the_definition(desk: Desk) -> None:
    declare(desk, categories=CATEGORIES, unknown_counts=True)
    values = ["HIV", "Cancer", "Asthma", "Flu", None]
    category = {value: name for name, group in CATEGORIES.items() for value in group}
    pairs = list(product(values, values))
    assert distances(desk, "equal") == {pair: float(pair[0] != pair[1]) for pair in pairs}
    tree = {(a, b): 0.0 if a == b else 0.5 if category[a] == category[b] else 1.0 for a, b in pairs}
    assert distances(desk, "hierarchical") == pytest.approx(tree)


def test_ordered_distances_count_only_places_that_occur(desk: Desk) -> None:
    order = ["HIV", "Plague", "Cancer", "Asthma", None, "Flu"]
    declare(desk, hierarchy={"order": {"values": order}}, unknown_counts=True)
    place = {value: at for at, value in enumerate(value for value in order if value != "Plague")}
    expected = {(a, b): abs(place[a] - place[b]) / 4 for a, b in product(place, place)}
    assert distances(desk, "ordered") == pytest.approx(expected)


def test_unknown_values_have_no_distances(desk: Desk) -> None:
    declare(desk, unknown=["Flu"])
    known = ["Asthma", "Cancer", "HIV"]
    assert distances(desk, "equal") == {pair: float(pair[0] != pair[1]) for pair in product(known, known)}


def test_a_distance_that_the_column_does_not_have_says_why(desk: Desk) -> None:
    declare(desk)
    told = sensitivity(desk, {"name": "illness", "distance": "ordered"})["distances"]
    assert told["apart"] == []
    assert "has no order" in told["kinds"]["ordered"]
    assert "has no hierarchy" in told["kinds"]["hierarchical"]
    assert told["kinds"]["equal"] == ""
    with refused("unknown-distance"):
        sensitivity(desk, {"name": "illness", "distance": "far"})


def test_of_many_values_the_distances_from_one_are_told_nearest_first(tmp_path: Path) -> None:
    desk = open_table(tmp_path, [str(number) for number in range(21)])
    declare(desk)
    told = sensitivity(desk, {"name": "illness", "distance": "ordered", "value": "3"})["distances"]
    assert told["from"] == "3"
    assert told["count"] == 21
    assert told["values"][0] == "3"
    assert told["apart"][0] == pytest.approx([abs(int(value) - 3) / 20 for value in told["values"]])
    assert told["apart"][0] == sorted(told["apart"][0])


def test_a_value_in_no_category_is_a_problem(desk: Desk) -> None:
    declare(desk, categories={"High": ["HIV"], "Low": ["Flu", "Asthma"]})
    told = sensitivity(desk, {"name": "illness"})
    assert told["distances"] is None
    assert "'Cancer' (1 record)" in told["problems"][0]["message"]


def test_what_is_published_follows_from_the_models_when_nothing_is_said(desk: Desk) -> None:
    plus = {"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 1, "sensitive": "illness"}
    declare(desk, categories=CATEGORIES, privacy=[plus])
    told = sensitivity(desk, {"name": "illness"})
    assert told["publish"] == Policy.load(desk.workspace.policy).published("illness") == "categories"
    assert told["models"] == ["p-plus-alpha-sensitive"]
    assert told["distances"]["values"] == list(CATEGORIES)
    declare(desk, categories=CATEGORIES, privacy=[plus], publish="both")
    assert sensitivity(desk, {"name": "illness"})["publish"] == "both"


def test_models_that_are_right_count_where_another_is_wrong(desk: Desk) -> None:
    plus = {"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 1, "sensitive": "illness"}
    declare(desk, categories=CATEGORIES, privacy=[plus, {"model": "k-anonymity", "k": 0}])
    assert sensitivity(desk, {"name": "illness"})["models"] == ["p-plus-alpha-sensitive"]


def test_a_hierarchy_in_a_file_of_the_server_is_never_read(desk: Desk) -> None:
    declare(desk, hierarchy={"levels": {"path": "/etc/hostname"}})
    told = sensitivity(desk, {"name": "illness"})
    assert told["distances"] is None
    assert told["problems"][0]["code"] == "hierarchy-in-file"


def test_a_column_that_is_not_sensitive_is_refused(desk: Desk) -> None:
    declare(desk)
    with refused("not-sensitive"):
        sensitivity(desk, {"name": "age"})


def test_categories_named_by_numbers_keep_their_order_on_the_way_to_the_page_and_back() -> None:
    content = {"columns": {"illness": {"role": "sensitive", "categories": {"3": ["HIV"], "1": ["Flu"], "2": [None]}}}}
    page = document.to_page(content)
    assert page["columns"]["illness"]["categories"] == [["3", ["HIV"]], ["1", ["Flu"]], ["2", [None]]]
    back = document.from_page(page)
    assert back == content
    assert list(back["columns"]["illness"]["categories"]) == ["3", "1", "2"]


def test_two_categories_of_one_name_do_not_become_one_in_silence() -> None:
    page = {"columns": {"illness": {"role": "sensitive", "categories": [["1", ["HIV"]], ["1", ["Flu"]]]}}}
    problems = document.check_document(document.from_page(page)).problems
    assert any(each.where.startswith("columns.illness.categories") for each in problems)


def test_spellings_are_offered_and_one_edit_merges_them(tmp_path: Path) -> None:
    desk = open_table(tmp_path, ["HIV", "HIV", "hiv", "HIV ", "Flu", "Flu", ""])
    declare(desk, categories={"High": ["HIV"], "Low": ["Flu", None]}, hierarchy={"tree": {"v": ["HIV", "Flu"]}})
    told = sensitivity(desk, {"name": "illness"})
    (offered,) = [problem for problem in told["problems"] if problem["code"] == "spellings-of-one-value"]
    assert (offered["column"], [each["label"] for each in offered["edits"]]) == (
        "illness",
        ["Merge the spellings", "Keep them as different values"],
    )
    merge = [PolicyEdit.from_dict(each) for each in offered["edits"][0]["edits"]]
    save_policy(desk, apply_edits(desk.document(), merge))
    told = sensitivity(desk, {"name": "illness"})
    assert told["problems"] == []
    assert set(told["distances"]["values"]) == {"HIV", "Flu"}
    assert hierarchy(desk, {"name": "illness"})["problems"] == []
    assert review(desk, {"forecast": True})["problems"] == []
