"""The parts of the page: which figures they have, in which order, and how these are drawn."""

from __future__ import annotations

from typing import Any

import pytest
from page_reader import Element, rows, section
from report_evidence import BY_WARD, attack, group, hospital, quasi, verdict

from shoal.evidence.evidence import evidence_problems
from shoal.models import MODELS
from shoal.present.report.page import write_report


def part(anchor: str, **changes: Any) -> Element:
    return section(write_report(hospital() | changes), anchor)


def cells(anchor: str, **changes: Any) -> list[list[str]]:
    found = rows(write_report(hospital() | changes), anchor)
    return [[cell.replace("\u00a0", " ") for cell in row] for row in found]


def test_the_evidence_of_these_tests_is_evidence() -> None:
    assert evidence_problems(hospital()) == []


def banner(**changes: Any) -> Element:
    (box,) = [each for each in part("summary", **changes).all("div") if "verdict" in str(each.attributes.get("class"))]
    return box


@pytest.mark.parametrize(
    ("decision", "class_"),
    [("publish", "verdict good"), ("publish-with-caveats", "verdict caution"), ("do-not-publish", "verdict")],
)
def test_the_banner_has_the_colour_of_the_verdict(decision: str, class_: str) -> None:
    assert banner(verdict=verdict(decision)).attributes["class"] == class_


def test_a_banner_is_never_better_than_the_facts_of_the_evidence() -> None:
    failing = [{"name": "truthfulness", "passed": False, "message": "3 records", "facts": {}}]
    models = [hospital()["models"][0] | {"holds": False}]
    for changes in ({"verified": False}, {"checks": failing}, {"models": models}):
        for judged in (verdict("publish"), verdict("publish-with-caveats"), verdict("do-not-publish"), None):
            assert banner(verdict=judged, **changes).attributes["class"] == "verdict"
    assert banner(verdict=None).attributes["class"] == "verdict caution"


def test_the_banner_has_every_reason_caveat_and_accepted_reason() -> None:
    grave = verdict("do-not-publish", reasons=[{"code": "certain", "leak": BY_WARD}])
    assert len(banner(verdict=grave).all("ul")) == 3  # why not, caveats, what to do
    assert len(banner().all("li")) == len(verdict()["caveats"])
    assert verdict()["accepted"][0]["reasons"][0] in banner().text


def test_each_model_has_a_row_with_what_is_required_and_reached_and_its_meaning_under_it() -> None:
    models = cells("requirements")[1:]
    assert len(models) == 2 * len(hospital()["models"])
    assert models[0] == ["k-anonymity", "k at least 5", "k = 6", "yes"]
    assert models[1][0].startswith(MODELS["k-anonymity"].summary)
    assert models[2][1:3] == ["p at least 2α at least 2", "p = 2α = 2.3333"]


def test_attackers_are_in_the_order_of_what_they_learn() -> None:
    found = [row for row in cells("attackers")[1:] if len(row) == 3]
    names = ["background", "linkage-insensitive", "homogeneity", "inference"]
    assert [row[0].endswith(name) for row, name in zip(found, names, strict=True)] == [True] * 4
    assert [row[1:] for row in found[:2]] == [["leak", "2,995 of 29,950 (10%)"], ["leak", "186 of 29,950 (0.6%)"]]
    assert found[2][1:] == ["nothing new", "0 of 29,950"]


def test_a_success_is_drawn_with_its_baseline_and_interval() -> None:
    plots = part("attackers").all("svg")
    marks = {each.attributes["class"]: each.attributes for each in plots[3].every() if "class" in each.attributes}
    assert marks["dot"]["cx"] == "31.00%"
    assert marks["baseline"]["x1"] == "30.00%"
    assert (marks["interval"]["x1"], marks["interval"]["x2"]) == ("29.00%", "33.00%")
    assert "interval" not in [each.attributes.get("class") for each in plots[0].every()]


def test_each_quasi_identifier_shows_level_labels_and_loss() -> None:
    assert cells("losses")[1:5] == [
        ["age", "2 of 5", "9 for 74", "13.2%"],
        ["zipcode", "3 of 5", "17 for 1,843", "less than 0.1%"],
        ["country", "0 of 2 (as it was)", "41 for 41", "0%"],
        ["education", "4 of 4 (nothing left)", "1 for 16", "100%"],
    ]
    assert cells("losses", levels=None)[1][1] == "5"


def test_the_loss_plot_draws_a_bar_as_long_as_the_loss() -> None:
    plot = part("losses").all("svg")[0]
    widths = [bar.attributes["width"] for bar in plot.all("rect") if bar.attributes["class"] == "bar"]
    assert [width for width in widths if width != "1"] == ["13.15%", "0.04%", "100.00%"]


def test_columns_before_and_after_have_bars_of_one_scale() -> None:
    (drawn,) = [each for each in part("losses").all("table") if each.attributes.get("class") == "pair"]
    assert [[cell.text for cell in row.children] for row in drawn.all("tr")] == [
        ["Value", "Before", "After"],
        ["[20, 30)", "12,000", "9,500"],
        ["[30, 40)", "9,000", "9,450"],
        ["(missing)", "950", "950"],
        ["others (10 values)", "8,000", "10,050"],
    ]
    first = [each.attributes for each in drawn.all("tr")[1].all("rect") if each.attributes["width"] != "1"]
    assert [(each["class"], each["x"], each["width"]) for each in first] == [
        ("bar", "0.00%", "100.00%"),
        ("bar", "0.00%", "33.33%"),
        ("hollow", "33.33%", "45.84%"),
    ]


def test_columns_that_lost_most_come_first() -> None:
    shown = {"level": 0, "least_hidden": 5, "groups": [group("a", 5, 0, 5.0)]}
    columns = hospital()["columns"] | {"education": quasi(4, 16, 1, 1.0) | {"distribution": shown}}
    captions = [each.text.partition(":")[0] for each in part("losses", columns=columns).all("caption")]
    assert captions[1:3] == ["education", "age"]


def test_measures_have_value_and_direction() -> None:
    found = cells("losses", measures={"precision": 0.6, "ncp": 0.25, "kl": 1.5})
    start = found.index(["Measure", "Value", "Range and direction"])
    assert found[start + 1] == ["Precision", "0.6", "0 to 1, more is better"]
    assert found[start + 3] == ["NCP (normalized certainty penalty)", "0.25", "0 to 1, less is better"]
    assert found[start + 5] == ["kl", "1.5", ""]


def test_the_table_of_sizes_counts_every_class_and_record() -> None:
    found = cells("class-sizes")[1:]
    by_size = hospital()["class_sizes"]["classes_by_size"]
    assert sum(int(row[1].replace(",", "")) for row in found) == sum(by_size.values())
    assert sum(int(row[2].replace(",", "")) for row in found) == sum(int(size) * n for size, n in by_size.items())


def test_only_leaks_have_a_remedy() -> None:
    quiet = part("advice", attacks=[attack("third-party")], verdict=verdict("publish", advice=[]))
    assert len(part("advice").all("h3")) == len(quiet.all("h3")) + 1


def test_the_search_shows_what_the_page_does_not_know() -> None:
    search = hospital()["search"] | {"rounds": 7, "seeds": list(range(200)), "best": {"age": 1}}
    found = cells("provenance", search=search)
    for row in (["rounds", "7"], ["seeds", "200 items, in the evidence file"], ["best", "age: 1"]):
        assert row in found
