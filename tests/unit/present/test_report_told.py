"""What each attacker gets, what was lost where, how far from the least, and what to change."""

from __future__ import annotations

from typing import Any

import pytest
from page_reader import Element, rows, section
from report_evidence import attack, distribution, group, hospital, weakest

from shoal.attacks.catalog import ATTACKS as NAMES
from shoal.evidence import evidence_problems
from shoal.present import write_report
from shoal.present.report.attack_words import ATTACKS


def part(anchor: str, **changes: Any) -> Element:
    return section(write_report(hospital() | changes), anchor)


def said(anchor: str, **changes: Any) -> str:
    return part(anchor, **changes).text.replace("\u00a0", " ")


def test_the_evidence_of_these_tests_is_evidence() -> None:
    assert evidence_problems(hospital()) == []


def test_every_attack_has_its_words() -> None:
    assert set(ATTACKS) == set(NAMES)
    for words in ATTACKS.values():
        assert words.remedy.endswith(".")


def test_the_summary_says_what_was_asked_who_gets_something_and_what_was_lost() -> None:
    text = said("verdict")
    assert "k-anonymity: k = 5 (6 reached) holds" in text
    assert "(p⁺, α)-sensitivity on condition: p = 2 (2 reached), α = 2 (2.33333 reached) holds" in text
    assert "α of Top Secret = 0.5 (0.5 reached)" in text
    assert "Attackers: 2 of 4 attacks get something – Ruling values out (condition); Linking by insens" in text
    assert "Detail lost: 28.4% (NCP), about 1.7 times the least any release could lose." in text
    quiet = said("verdict", attacks=[attack("homogeneity", "condition")])
    assert "Attackers: of 1 attack not one gets more than could be known without the release." in quiet


def test_attackers_stand_in_the_order_of_what_they_get() -> None:
    heads = [row[0] for row in rows(write_report(hospital()), "attackers")[1:] if len(row) == 3]
    assert heads == [
        "Ruling values out (condition)background",
        "Linking by insensitive columns toolinkage-insensitive",
        "A class with one value gives it away (condition)homogeneity",
        "Learning from all records (income)inference",
    ]
    found = rows(write_report(hospital()), "attackers")
    assert found[1][1:] == ["leak", "2,995 of 29,950 (10%)"]
    assert found[5][1:] == ["nothing new", "0 of 29,950"]


def test_a_success_stands_beside_its_baseline_in_words_and_in_a_plot() -> None:
    attackers = part("attackers")
    assert "Success 15.7%, baseline 4.1%: what the overall frequencies alone give." in attackers.text
    assert "Success 31% (95% interval 29% to 33%), baseline 30%:" in attackers.text
    assert "5 records; 15.7% would be right." in attackers.text
    plot = attackers.all("svg")[3]
    marks = {each.attributes["class"]: each.attributes for each in plot.every() if "class" in each.attributes}
    assert marks["dot"]["cx"] == "31.00%"
    assert marks["baseline"]["x1"] == "30.00%"
    assert (marks["interval"]["x1"], marks["interval"]["x2"]) == ("29.00%", "33.00%")
    assert "interval" not in [each.attributes.get("class") for each in attackers.all("svg")[0].every()]


def test_an_attack_that_was_not_made_says_why_and_is_no_row() -> None:
    attackers = part("attackers")
    (unmade,) = attackers.all("li")
    assert unmade.text == "Joining earlier releases. Not tried: no earlier release was given."
    assert "holds no attacks" in said("attackers", attacks=[])


def test_columns_stand_before_and_after_with_bars_of_one_scale() -> None:
    (drawn,) = [each for each in part("lost").all("table") if each.attributes.get("class") == "pair"]
    assert drawn.all("caption")[0].text == "age: 74 values, released as 9 labels"
    cells = [[cell.text for cell in row.children] for row in drawn.all("tr")]
    assert cells == [
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
    assert "hides fewer than 5 records" in part("lost").text


def test_columns_that_lost_most_come_first_and_those_without_a_distribution_are_named() -> None:
    columns = hospital()["columns"]
    columns["education"]["distribution"] = {"level": 0, "crowd": 5, "groups": [group("a", 5, 0, 5.0)]}
    columns["zipcode"]["distribution"] = None
    lost = part("lost", columns=columns)
    assert [each.text.partition(":")[0] for each in lost.all("caption")[1:3]] == ["education", "age"]
    assert "Not shown, for too few records would stand behind it: zipcode, country" in lost.text


def test_small_shares_of_records_are_not_shown_as_none() -> None:
    columns = hospital()["columns"]
    columns["age"]["distribution"] = distribution() | {"groups": [group("a", 7, 0, 6.96), group("b", 1, 0, 0.04)]}
    lost = part("lost", columns=columns)
    assert [each.text for each in lost.all("span") if each.text in {"7", "7.0", "1", "under 0.1"}] == [
        "7", "7.0", "1", "under 0.1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.0, "as little as any release could lose"),
        (1.023, "1.02 times the least any release could lose"),
        (1.7003, "1.7 times the least any release could lose"),
        (41.3, "41 times the least any release could lose"),
    ],
)
def test_the_distance_from_the_bound_is_told_in_words(ratio: float, words: str) -> None:
    bound = hospital()["bound"] | {"ratio": ratio, "estimated": False}
    text = said("lost", bound=bound)
    assert f"it loses {words}." in text
    assert "estimate from" not in text
    assert f"it loses about {words}." in said("lost", bound=bound | {"estimated": True})


def test_an_estimated_bound_says_how_sure_it_is() -> None:
    text = said("lost")
    assert "loses 28.4% of the detail (NCP), and none under these models can lose less than 16.7%" in text
    assert "an estimate from 2,000 records, with 95% certainty between 16% and 17.4%" in text


def test_a_bound_of_nothing_and_no_bound_are_told_apart() -> None:
    assert "which says nothing about the best" in said("lost", bound=hospital()["bound"] | {"ncp": 0.0, "ratio": None})
    search = {key: value for key, value in hospital()["search"].items() if key != "refined"}
    assert "How far from" not in said("lost", bound=None, search=search)


def test_refining_is_told_from_before_to_after() -> None:
    text = said("lost")
    assert "from 0.2811 to 0.2627 by the measure loss, in 15 steps and 4 rounds, until nothing improved it" in text
    timed = hospital()["search"]
    timed["refined"]["ended"] = "time"
    assert "another run may end elsewhere" in said("lost", search=timed)
    assert "another run may end elsewhere" in said("made", search=timed)


def test_what_could_be_stricter_at_no_cost_is_told_rounded_to_the_weaker_side() -> None:
    text = said("advice")
    assert "k-anonymity: k = 5 was asked and 6 is reached. It could be 6 at no cost: this release has it." in text
    assert "α = 2 was asked and 2.3333 is reached. It could be 2.3333 at no cost" in text
    assert "t = 0.2 was asked and 0.1833 is reached. It could be 0.1833 at no cost" in text
    assert "α of Secret = 0.6 was asked and 0.5715 is reached" in text
    assert "p = 2 was asked" not in text


def test_what_is_at_its_limit_is_told_with_its_classes() -> None:
    assert "3 classes have exactly p = 2. Asking for more would change the release" in said("advice")
    models = [hospital()["models"][0] | {"reached": {"k": 5}, "weakest": {"k": weakest(5, classes_at_limit=1)}}]
    assert "1 class has exactly k = 5." in said("advice", models=models)


def test_the_columns_that_cost_most_are_named_with_their_share_of_the_loss() -> None:
    text = said("advice")
    assert "education carries 88.3% of all detail lost; 100% of its own is gone. It tells nothing any more" in text
    assert "age carries 11.6% of all detail lost; 13.2% of its own is gone." in text
    assert "Records left out count as lost in every column: 2.5% of all detail lost." in text
    assert "212 of the 1,508 records that may be left out were." in text


def test_a_boundary_and_a_budget_of_nothing_are_pointed_out() -> None:
    policy = hospital()["policy"] | {"suppression": 0, "columns": {"age": {"boundary": 2}}}
    text = said("advice", policy=policy)
    assert "A boundary keeps age from being blurred further" in text
    assert "no record may be left out" in text


def test_each_leak_has_a_remedy_and_only_leaks_have() -> None:
    text = said("advice")
    assert "Linking by insensitive columns too: make those columns quasi-identifiers" in text
    assert "A class with one value gives it away" not in text


def test_the_next_command_asks_around_what_was_asked() -> None:
    assert "shoal compare POLICY --algorithms incognito,mondrian,greedy-clustering --k 2,5,10" in said("advice")
    assert "A local one" in said("advice")
    assert "A local one" not in said("advice", levels=None)


def test_how_to_repeat_and_to_check_is_told() -> None:
    text = said("made")
    assert "shoal anonymize POLICY" in text
    assert "shoal verify RELEASE --policy POLICY --original DATA" in text
    assert "byte for byte" in text
