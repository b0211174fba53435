"""A column before and after: counted right, and telling nothing of the values that a release hides."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.evidence.distribution import MOST, distribution
from shoal.evidence.evidence import Distribution
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import with_ranges
from support.builders import hierarchy_of

COUNTRIES = hierarchy_of({"America": ["USA", "Canada"], "Asia": ["China", "Japan", "India"], "Elsewhere": [None]})
FLAT = hierarchy_of([f"v{place:02}" for place in range(30)])

Records = list[tuple[int, int]]
"""For each released record its leaf and the node that it is released as."""


def shown(hierarchy: Hierarchy, records: Records, least: int) -> Distribution | None:
    before = np.bincount([leaf for leaf, _ in records], minlength=hierarchy.n_leaves)
    after = np.bincount([node for _, node in records], minlength=len(hierarchy.labels))
    return distribution(hierarchy, before=before, after=after, least_hidden=least)


def records_of(hierarchy: Hierarchy, *counted: tuple[str | None, str | None, int]) -> Records:
    return [
        (hierarchy.by_label[value], hierarchy.by_label[label]) for value, label, count in counted for _ in range(count)
    ]


def by_label(found: Distribution | None) -> dict[Any, tuple[int, int, float]]:
    assert found is not None
    return {each["label"] or each["kind"]: (each["before"], each["within"], each["after"]) for each in found["groups"]}


def test_a_label_over_several_groups_is_spread_over_the_values_that_occur() -> None:
    records = records_of(COUNTRIES, ("USA", "America", 9), ("Canada", "America", 3), ("China", "China", 4))
    assert by_label(shown(COUNTRIES, records, 3)) == {"USA": (9, 0, 6.0), "Canada": (3, 0, 6.0), "China": (4, 4, 4.0)}


def test_a_rare_value_that_a_label_hides_is_not_named() -> None:
    records = records_of(COUNTRIES, ("China", "Asia", 9), ("Japan", "Asia", 2), ("India", "Asia", 5), ("USA", "USA", 6))
    assert by_label(shown(COUNTRIES, records, 3)) == {
        "USA": (6, 6, 6.0),
        "China": (9, 0, 5.333333),
        "others": (7, 0, 10.666667),
    }


def test_records_released_as_they_are_do_not_hide_a_rare_one_that_is_not() -> None:
    """Nine are released as China, one of China as Asia: its count would tell what that one record is."""
    records = records_of(COUNTRIES, ("China", "China", 9), ("China", "Asia", 1), ("Japan", "Asia", 4))
    found = by_label(shown(COUNTRIES, records, 5))
    assert found == {"others": (14, 9, 14.0)}


def test_a_value_that_is_released_as_it_is_may_be_rare() -> None:
    """Where the release itself says so, nothing is told that it does not tell."""
    records = records_of(COUNTRIES, ("Japan", "Japan", 2), ("USA", "USA", 6))
    assert by_label(shown(COUNTRIES, records, 5)) == {"USA": (6, 6, 6.0), "Japan": (2, 2, 2.0)}


def test_the_missing_value_is_a_group_of_its_own() -> None:
    found = shown(COUNTRIES, records_of(COUNTRIES, (None, None, 3), ("USA", "USA", 3)), 2)
    assert found is not None
    assert [(each["kind"], each["label"]) for each in found["groups"]] == [("label", "USA"), ("missing", None)]


def test_of_many_values_without_a_hierarchy_the_largest_are_shown_and_the_rest_joined() -> None:
    records = [(leaf, leaf) for leaf in range(30) for _ in range(5 + leaf)]
    found = shown(FLAT, records, 5)
    assert found is not None
    assert found["level"] == 0
    assert len(found["groups"]) == MOST
    assert found["groups"][-1] | {"after": 0} == {
        "kind": "others", "label": None, "distinct_values": 30 - (MOST - 1), "within": sum(range(5, 5 + 30 - MOST + 1)),
        "before": sum(range(5, 5 + 30 - MOST + 1)), "after": 0,
    }  # fmt: skip
    assert [each["label"] for each in found["groups"][:-1]] == [f"v{place:02}" for place in range(31 - MOST, 30)]


def test_many_values_with_a_hierarchy_are_shown_at_the_first_level_with_few_groups() -> None:
    ages = hierarchy_of({f"{decade}0s": [f"{decade}{year}" for year in range(10)] for decade in range(2, 8)})
    found = shown(ages, [(leaf, leaf) for leaf in range(60) for _ in range(3)], 2)
    assert found is not None
    assert found["level"] == 1
    assert [each["label"] for each in found["groups"]] == ["20s", "30s", "40s", "50s", "60s", "70s"]


def test_where_a_level_shows_no_loss_the_largest_groups_below_it_are_shown_if_they_hold_most_records() -> None:
    tree = {f"g{place}": [f"v{place}{leaf}" for leaf in range(8)] for place in range(3)}
    regions = hierarchy_of(tree)
    as_regions = [(leaf, int(regions.parents[leaf])) for leaf in range(24) for _ in range(3)]
    even, skewed = shown(regions, as_regions, 2), shown(regions, [*as_regions, *([as_regions[0]] * 300)], 2)
    assert even is not None
    assert skewed is not None
    assert (even["level"], skewed["level"]) == (1, 0)
    assert (skewed["groups"][0]["before"], skewed["groups"][0]["after"]) == (303, 40.5)
    assert skewed["groups"][-1]["kind"] == "others"
    as_root = [(leaf, regions.root) for leaf, _ in as_regions]
    coarser = shown(regions, [*as_root, *([as_root[0]] * 300)], 2)
    assert coarser is not None
    assert coarser["level"] == 1, "here the level itself shows what is lost"


def test_where_too_few_records_stand_behind_a_column_nothing_is_shown() -> None:
    assert shown(COUNTRIES, records_of(COUNTRIES, ("USA", "America", 1), ("Japan", "Japan", 5)), 3) is None


def test_a_range_is_spread_over_its_values_alone() -> None:
    values = hierarchy_of({"low": ["1", "2"], "high": ["3", "4"]})
    ranged, nodes = with_ranges(values, np.array([[1, 2]], dtype=np.int32), "x")
    records = [(1, int(nodes[0])), (2, int(nodes[0])), (0, 0), (0, 0), (3, 3), (3, 3)]
    assert {label: each[2] for label, each in by_label(shown(ranged, records, 1)).items()} == {
        "1": 2.0, "2": 1.0, "3": 1.0, "4": 2.0,
    }  # fmt: skip


Tree = dict[str, dict[str, list[str]]]


@st.composite
def released(draw: st.DrawFn) -> tuple[Tree, list[tuple[str, str]], int]:
    """A tree, the value and the released label of each record, and how many make a least."""
    groups = draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=3), min_size=1, max_size=3))
    names = iter(range(1000))
    tree = {
        f"g{next(names)}": {f"h{next(names)}": [f"v{next(names)}" for _ in range(leaves)] for leaves in group}
        for group in groups
    }
    hierarchy = hierarchy_of(tree)
    leaves = draw(st.lists(st.integers(0, hierarchy.n_leaves - 1), min_size=1, max_size=40))
    records = [
        (str(hierarchy.labels[leaf]), str(hierarchy.labels[draw(st.sampled_from(hierarchy.path(leaf)))]))
        for leaf in leaves
    ]
    return tree, records, draw(st.integers(1, 6))


def in_codes(hierarchy: Hierarchy, records: list[tuple[str, str]]) -> Records:
    return [(hierarchy.by_label[value], hierarchy.by_label[label]) for value, label in records]


def groups_of(hierarchy: Hierarchy, found: dict[str, Any]) -> dict[int, int]:
    """For each leaf the group that it is counted in, by place; the others' place for those of no named group."""
    places = {each["label"]: place for place, each in enumerate(found["groups"]) if each["kind"] == "label"}
    others = next((place for place, each in enumerate(found["groups"]) if each["kind"] == "others"), -1)
    return {
        leaf: places.get(hierarchy.labels[hierarchy.levels[found["level"], leaf]], others)
        for leaf in range(hierarchy.n_leaves)
    }


@given(released())
def test_no_group_hides_few_records_and_every_record_is_counted_once(
    case: tuple[Tree, list[tuple[str, str]], int],
) -> None:
    tree, texts, least = case
    hierarchy = hierarchy_of(tree)
    records = in_codes(hierarchy, texts)
    found = shown(hierarchy, records, least)
    assume(found is not None)
    assert found is not None
    group = groups_of(hierarchy, found)
    occurring = {leaf for leaf, _ in records}
    before, within, hidden = Counter[int](), Counter[int](), Counter[int]()
    after: dict[int, float] = dict.fromkeys(range(len(found["groups"])), 0.0)
    for leaf, node in records:
        before[group[leaf]] += 1
        named = int(hierarchy.levels[found["level"], leaf])
        if named in hierarchy.path(leaf)[hierarchy.path(leaf).index(node) :]:
            within[group[leaf]] += 1
            after[group[leaf]] += 1
        else:
            hidden[group[leaf]] += 1
            under = [each for each in occurring if node in hierarchy.path(each)]
            for each in under:
                after[group[each]] += 1 / len(under)
    assert -1 not in before
    assert all(count >= least for count in hidden.values())
    for place, told in enumerate(found["groups"]):
        assert (told["before"], told["within"]) == (before[place], within[place])
        assert abs(told["after"] - after[place]) < 1e-5
    assert sum(told["before"] for told in found["groups"]) == len(records)


@given(released())
def test_a_value_that_only_suppressed_records_have_changes_nothing(
    case: tuple[Tree, list[tuple[str, str]], int],
) -> None:
    """It is in the hierarchy, and that must not be seen: the same comes out of the tree without such values."""
    tree, records, least = case
    occurring = {value for value, _ in records}
    kept = {
        name: {inner: [leaf for leaf in leaves if leaf in occurring] for inner, leaves in group.items()}
        for name, group in tree.items()
    }
    without = {name: {inner: leaves for inner, leaves in group.items() if leaves} for name, group in kept.items()}
    pruned = hierarchy_of({name: group for name, group in without.items() if group})
    whole = hierarchy_of(tree)
    assert shown(whole, in_codes(whole, records), least) == shown(pruned, in_codes(pruned, records), least)
