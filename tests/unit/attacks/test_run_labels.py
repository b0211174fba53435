"""Attackers read runs of base intervals: which values a label of an earlier release stands for, and which overlap."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.attacks.finer_labels import surroundings
from shoal.attacks.registry.signature import ReleasedQuasi, hierarchy_fingerprint, hierarchy_kind
from shoal.attacks.released_labels import UnreadableError, label_nodes, overlapping_labels, values_of_labels
from shoal.hierarchies import Intervals
from shoal.hierarchies.hierarchy import Label
from shoal.policy import Policy
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.stated_policy import stated

GRADES = ["7th", "8th", "9th", "10th", "11th", "12th"]
NUMBERS: tuple[Any, Any] = ({"intervals": [10, 20]}, {"step": 5})
DATES: tuple[Any, Any] = ({"dates": ["month", "year"]}, {"step": "1 month"})
ORDER: tuple[Any, Any] = ("flat", {"order": GRADES, "names": {"high school": ["9th", "12th"]}})
LISTED: tuple[Any, Any] = ({"tree": {"young": ["20", "22"], "old": ["31", "38"]}}, {"step": 5})


def policy(kind: tuple[Any, Any]) -> Policy:
    return Policy(
        columns={"q": {"role": "quasi", "hierarchy": kind[0]}},
        privacy=[{"model": "k-anonymity", "k": 2}],
        algorithm={"name": "mondrian", "ranges": {"q": kind[1]}},
    )


def released(asked: Policy, labels: list[Label]) -> ReleasedQuasi:
    return ReleasedQuasi("q", hierarchy_kind(asked, "q"), True, hierarchy_fingerprint(asked, "q"), tuple(labels))


def pairs(kind: tuple[Any, Any], labels: list[Label], values: list[Label], *, own: bool) -> set[tuple[Label, Label]]:
    """Each value with the labels that can stand for it, but for the root."""
    asked = policy(kind)
    found = values_of_labels(released(asked, labels), values, asked, own=own)
    lists = zip(values, found.lists(), strict=True)
    return {(value, labels[each]) for value, mine in lists for each in mine if labels[each] != "*"}


CASES: list[tuple[tuple[Any, Any], dict[Label, set[Label]], list[Label]]] = [
    (NUMBERS, {"[20, 35)": {"22", "34"}, "[30, 40)": {"34", "35"}, "*": set()}, ["22", "34", "35", None]),
    (LISTED, {"[20, 35)": {"22", "31"}, "old": {"31", "38"}}, ["22", "31", "38"]),
    (
        DATES,
        {"2020-11..2021-02": {"2020-11-01", "2021-02-28"}, "2021": {"2021-02-28"}},
        ["2020-10-31", "2020-11-01", "2021-02-28"],
    ),
    (ORDER, {"8th..10th": {"8th", "9th"}, "high school": {"9th", "12th"}}, ["8th", "9th", "12th"]),
]
"""Released labels, each with those of the values that it stands for; the root is left aside."""


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("kind", "expected", "values"), CASES)
def test_a_run_stands_for_the_values_in_it(
    kind: tuple[Any, Any], expected: dict[Label, set[Label]], values: list[Label], own: bool
) -> None:
    found = pairs(kind, list(expected), values, own=own)
    assert found == {(value, label) for label, inside in expected.items() for value in inside}


def test_a_listed_run_whose_order_is_gone_cannot_be_read() -> None:
    tree: tuple[Any, Any] = ({"tree": {"middle": GRADES[:2], "high": GRADES[2:]}}, {"order": "hierarchy"})
    now = policy(tree).changed(algorithm={"name": "mondrian"})
    with pytest.raises(UnreadableError) as unreadable:
        values_of_labels(released(now, ["8th..10th"]), ["8th"], now)
    assert unreadable.value.facts["code"] == "labels-gone"


@pytest.mark.parametrize(
    ("kind", "label", "other", "overlap"),
    [
        (NUMBERS, "[20, 35)", "[30, 45)", True),
        (NUMBERS, "[20, 35)", "[35, 45)", False),
        (NUMBERS, "[20, 35)", "34", True),
        (NUMBERS, "[20, 35)", "35", False),
        (DATES, "2020-11..2021-02", "2021-02..2021-03", True),
        (DATES, "2020-11..2021-02", "2021-03..2021-04", False),
        (DATES, "2020-11..2021-02", "2021-03-01", False),
        (ORDER, "7th..8th", "high school", False),
        (ORDER, "7th..9th", "high school", True),
    ],
)
def test_two_runs_overlap_where_they_share_a_base_interval(
    kind: tuple[Any, Any], label: str, other: str, overlap: bool
) -> None:
    labels = quasi_labels(stated(policy(kind)))["q"]
    one_way = overlapping_labels(labels, [label], labels, [other])
    back = overlapping_labels(labels, [other], labels, [label])
    assert bool(one_way.lengths[0]) == bool(back.lengths[0]) == overlap


def test_runs_of_a_release_become_nodes_over_the_values_that_are_there() -> None:
    hierarchy = Intervals(widths=(10, 20)).build(["22", "24", "31"], [1] * 3, "q").hierarchy
    labels: list[Label] = ["[20, 35)", "[20, 25)", "[30, 35)", "[40, 45)", "[21, 35)", "22"]
    extended, nodes = label_nodes(hierarchy, labels, "q", policy(NUMBERS))
    shown = [extended.labels[node] if node >= 0 else None for node in nodes]
    assert shown == [*labels[:3], None, None, "22"]
    assert [int(extended.spans[node]) for node in nodes[:3]] == [3, 2, 1]


def test_a_run_of_several_base_intervals_has_a_record_at_either_end() -> None:
    found = surroundings(policy(NUMBERS), "q", ["[20, 35)", "[25, 30)", "[20, 30)", "22"])
    assert [each.is_range for each in found] == [True, False, False, False]
    assert [each.is_value for each in found] == [False, False, False, True]
