"""Labels of earlier releases, read back from themselves: as the hierarchies that gave them would say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks.registry.signature import ReleasedQuasi, hierarchy_fingerprint, hierarchy_kind
from shoal.attacks.released_labels import UnreadableError, reads_as_now, values_of_labels
from shoal.hierarchies import Dates, Flat, HierarchySource, Intervals, Mask, OrderedValues, Tree

Label = str | None


def policy_of(hierarchy: Any) -> shoal.Policy:
    return shoal.Policy(
        columns={"q": {"role": "quasi", "hierarchy": hierarchy}}, privacy=[{"model": "k-anonymity", "k": 1}]
    )


def released(hierarchy: Any, labels: Sequence[Label], *, ranged: bool = False) -> ReleasedQuasi:
    policy = policy_of(hierarchy)
    return ReleasedQuasi("q", hierarchy_kind(policy, "q"), ranged, hierarchy_fingerprint(policy, "q"), tuple(labels))


def fits(column: ReleasedQuasi, values: Sequence[Label], policy: shoal.Policy) -> set[tuple[Label, Label]]:
    cover = values_of_labels(column, values, policy)
    return {
        (value, column.labels[label])
        for place, value in enumerate(values)
        for label in cover.others[cover.starts[place] : cover.starts[place + 1]]
    }


LEVELS = ["low", "mid", "high", None]
TREE = {"North": {"Far": ["a", "b"], "c": None}, "South": ["d", None]}
KINDS: dict[str, tuple[Any, HierarchySource, list[Label]]] = {
    "intervals": ({"intervals": [5, 10]}, Intervals(widths=[5, 10]), ["1", "4.5", "5", "9", "-3", "17", None]),
    "cuts": (
        {"intervals": [["-inf", 0, 10, "inf"], ["-inf", 10, "inf"]]},
        Intervals(cuts=[["-inf", 0, 10, "inf"], ["-inf", 10, "inf"]]),
        ["-8", "0", "9.9", "10", "25"],
    ),
    "bounds": (
        {"intervals": {"widths": [7], "bounds": [0, 20]}},
        Intervals(widths=[7], bounds=(0, 20)),
        ["0", "6", "7", "14", "20"],
    ),
    "mask": ({"mask": "right"}, Mask(), ["1424", "1425", "149", "2", "21", None]),
    "left mask": ({"mask": {"side": "left", "steps": [2]}}, Mask(side="left", steps=[2]), ["1424", "2424", "24"]),
    "dates": (
        {"dates": ["month", "quarter", "year", "decade"]},
        Dates(),
        ["2020-03-14", "2020-04-01", "2021-12-31", "2019-01-01", None],
    ),
    "weeks and hours": (
        {"dates": ["hour", "day", "week"]},
        Dates(units=["hour", "day", "week"]),
        ["2020-03-14T10:30:00", "2020-03-14T11:00:00", "2020-03-16T10:00:00"],
    ),
    "months": ({"dates": {"units": ["year"], "format": "%Y-%m"}}, Dates(units=["year"], format="%Y-%m"),
               ["2020-03", "2020-04", "2021-01"]),
    "flat": ("flat", Flat(), ["a", "b", None]),
    "tree": ({"tree": TREE}, Tree(TREE), ["a", "b", "c", "d", None]),
    "order": ({"order": LEVELS}, OrderedValues(LEVELS), ["low", "high", None]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(data=st.data())
def test_a_value_fits_the_labels_that_its_hierarchy_puts_above_it(kind: str, data: st.DataObject) -> None:
    """The earlier release was of other people, too: its labels are those of all values."""
    spec, source, values = KINDS[kind]
    built = source.build(values, [1] * len(values), "q")
    hierarchy = built.hierarchy
    leaves = [hierarchy.labels[code] for code in built.codes.tolist()]
    some = data.draw(st.lists(st.sampled_from(leaves), min_size=1, unique=True))
    labels = data.draw(st.lists(st.sampled_from(hierarchy.labels), min_size=1, unique=True))
    expected = {
        (value, label)
        for value in some
        for label in labels
        if hierarchy.covers(hierarchy.by_label[label], hierarchy.by_label[value])
    }
    assert fits(released(spec, labels), some, policy_of(spec)) == expected


@pytest.mark.parametrize("kind", ["intervals", "mask", "dates", "flat"])
def test_labels_that_tell_what_they_hold_need_no_declaration(kind: str) -> None:
    spec, source, values = KINDS[kind]
    hierarchy = source.build(values, [1] * len(values), "q").hierarchy
    column = released(spec, hierarchy.labels)
    other = policy_of({"tree": {"x": ["y"]}})
    leaves = hierarchy.labels[: hierarchy.n_leaves]
    assert fits(column, leaves, other) == fits(column, leaves, policy_of(spec))
    assert not reads_as_now(column, other)


def test_ranges_hold_numbers_between_ends_that_nobody_has_today() -> None:
    column = released({"intervals": [10]}, ["22<=30", "[20, 30)", "31", "*", None], ranged=True)
    found = fits(column, ["21", "25", "30", "31", None], policy_of({"intervals": [10]}))
    assert found == {
        ("21", "[20, 30)"), ("21", "*"), ("25", "22<=30"), ("25", "[20, 30)"), ("25", "*"), ("30", "22<=30"),
        ("30", "*"), ("31", "31"), ("31", "*"), (None, None), (None, "*"),
    }  # fmt: skip


def test_a_listed_label_without_its_declaration_cannot_be_read() -> None:
    column = released({"tree": TREE}, ["Far", "South"])
    with pytest.raises(UnreadableError, match="hierarchy-gone"):
        values_of_labels(column, ["a"], policy_of({"mask": "right"}))
    with pytest.raises(UnreadableError, match="labels-gone"):
        values_of_labels(column, ["a"], policy_of({"tree": {"North": ["a"], "South": ["d"]}}))
    grown = policy_of({"tree": {"North": {"Far": ["a", "b", "z"], "c": None}, "South": ["d", None]}})
    assert fits(column, ["a", "z", "d"], grown) == {("a", "Far"), ("z", "Far"), ("d", "South")}
    assert reads_as_now(column, grown)
    assert not reads_as_now(column, policy_of({"tree": TREE}))
