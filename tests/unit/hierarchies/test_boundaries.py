from __future__ import annotations

from itertools import pairwise

import pytest
from hierarchy_checks import built
from hierarchy_strategies import trees
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies import Boundary, Hierarchy, HierarchyError, Intervals, Label, Tree, boundary_caps, capped_levels

WORLD = {"America": ["USA", "Canada"], "Asia": {"East": ["China", "Japan"], "South": ["India"]}, "Antarctica": None}


def world(*values: Label) -> Hierarchy:
    return built(Tree(WORLD), ["USA", *values]).hierarchy


def caps_of(hierarchy: Hierarchy, boundary: Boundary) -> dict[Label, Label]:
    caps = boundary_caps(hierarchy, boundary, "columns.x.boundary")
    assert caps.dtype == "int32"
    return {hierarchy.labels[leaf]: hierarchy.labels[node] for leaf, node in enumerate(caps)}


def test_a_boundary_caps_only_its_own_leaves() -> None:
    assert caps_of(world(), ["America"]) == {
        "USA": "America",
        "Canada": "America",
        "China": "*",
        "Japan": "*",
        "India": "*",
        "Antarctica": "*",
    }


def test_without_a_boundary_every_leaf_may_become_the_root() -> None:
    assert set(caps_of(world(), None).values()) == {"*"}
    assert set(caps_of(world(), []).values()) == {"*"}


def test_the_first_boundary_met_going_up_counts() -> None:
    for boundary in (["Asia", "East", "Japan"], ["Japan", "East", "Asia"]):
        caps = caps_of(world(), boundary)
        assert (caps["Japan"], caps["China"], caps["India"], caps["USA"]) == ("Japan", "East", "Asia", "*")


def test_of_two_nodes_over_the_same_values_the_lower_counts() -> None:
    hierarchy = built(Tree({"A": {"B": ["x"]}, "C": ["y"]}), ["x"]).hierarchy
    assert caps_of(hierarchy, ["A", "B"])["x"] == caps_of(hierarchy, ["B", "A"])["x"] == "B"


def test_a_level_as_boundary_caps_at_its_nodes() -> None:
    assert caps_of(world(), 2) == {
        "USA": "America",
        "Canada": "America",
        "China": "Asia",
        "Japan": "Asia",
        "India": "Asia",
        "Antarctica": "Antarctica",
    }
    assert all(leaf == cap for leaf, cap in caps_of(world(), 0).items())


def test_the_caps_of_a_level_are_a_copy() -> None:
    hierarchy = world()
    boundary_caps(hierarchy, 1, "x")[:] = 0
    assert hierarchy.levels[1].tolist() == world().levels[1].tolist()


def test_the_missing_value_can_be_a_boundary() -> None:
    assert caps_of(world(None), [None, "Asia"])[None] is None
    assert caps_of(world(None), ["Asia"])[None] == "*"
    assert set(caps_of(world(), [None]).values()) == {"*"}


def test_one_label_may_stand_alone_and_numbers_are_labels_in_a_list() -> None:
    assert caps_of(world(), "America") == caps_of(world(), ["America"])
    ages = built(Intervals(widths=(10,)), ["5", "7"]).hierarchy
    assert caps_of(ages, [5]) == {"5": "5", "7": "*"}  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("boundary", "code", "named"),
    [
        (["Amerika", "Asia"], "unknown-boundary", "Did you mean 'America'?"),
        (["Amerika", "Azia"], "unknown-boundary", "'Azia'"),
        (4, "unknown-level", "to 3 (the root)"),
        (-1, "unknown-level", "level -1"),
        (True, "unknown-boundary", "'true'"),
        ([["Asia"]], "unknown-boundary", "Asia"),
    ],
)
def test_a_boundary_that_the_hierarchy_lacks_is_refused(boundary: Boundary, code: str, named: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        boundary_caps(world(), boundary, "columns.x.boundary")
    assert named in str(caught.value)
    assert {(problem.where, problem.code) for problem in caught.value.problems} == {("columns.x.boundary", code)}


def labelled(hierarchy: Hierarchy, boundary: Boundary) -> tuple[list[list[Label]], tuple[int, ...]]:
    ladder = capped_levels(hierarchy, boundary_caps(hierarchy, boundary, "x"))
    assert ladder.nodes.dtype == "int32"
    return [[hierarchy.labels[node] for node in row] for row in ladder.nodes.tolist()], ladder.nominal


def test_capped_levels_stop_at_the_boundary_and_drop_what_repeats() -> None:
    assert labelled(world(), ["America", "East"]) == (
        [
            ["USA", "Canada", "China", "Japan", "India", "Antarctica"],
            ["USA", "Canada", "East", "East", "South", "Antarctica"],
            ["America", "America", "East", "East", "Asia", "Antarctica"],
            ["America", "America", "East", "East", "*", "*"],
        ],
        (0, 1, 2, 3),
    )
    assert labelled(world(), 1)[1] == (0, 1)
    assert labelled(world(), 0)[1] == (0,)


def test_a_level_that_changes_nothing_is_dropped_in_the_middle_too() -> None:
    hierarchy = built(Tree({"A": {"B": {"C": ["x", "y"]}}, "D": {"E": {"F": ["z"]}}}), ["x"]).hierarchy
    rows, nominal = labelled(hierarchy, ["C", "F"])
    assert (rows[-1], nominal) == (["C", "C", "F"], (0, 1))
    hierarchy = built(Tree({"A": [{"A": ["x", "y"]}], "B": {"B": ["z"]}}), ["x"]).hierarchy
    assert labelled(hierarchy, None)[1] == (0, 1, 3)


@given(trees(), st.data())
def test_capped_levels_stay_nested_whatever_the_boundary(nested: object, data: st.DataObject) -> None:
    hierarchy = Tree(nested).build([], [], "x").hierarchy
    boundary = data.draw(
        st.one_of(st.none(), st.integers(0, hierarchy.height), st.lists(st.sampled_from(hierarchy.labels), max_size=6))
    )
    caps = boundary_caps(hierarchy, boundary, "x")
    ladder = capped_levels(hierarchy, caps)
    rows = ladder.nodes.tolist()
    assert rows[0] == list(range(hierarchy.n_leaves))
    assert rows[-1] == caps.tolist()
    assert list(ladder.nominal) == sorted(set(ladder.nominal))
    for lower, upper in pairwise(rows):
        assert lower != upper
        image = dict(zip(lower, upper, strict=True))
        assert [image[node] for node in lower] == upper
    for leaf in range(hierarchy.n_leaves):
        path = hierarchy.path(leaf)
        allowed = path[: path.index(int(caps[leaf])) + 1]
        for row, nominal in zip(rows, ladder.nominal, strict=True):
            asked = int(hierarchy.levels[nominal, leaf])
            assert row[leaf] == (asked if asked in allowed else allowed[-1])


@given(trees(), st.data())
def test_the_cap_is_the_first_named_node_on_the_way_up(nested: object, data: st.DataObject) -> None:
    hierarchy = Tree(nested).build([], [], "x").hierarchy
    named = data.draw(st.lists(st.sampled_from(hierarchy.labels), max_size=6))
    caps = boundary_caps(hierarchy, named, "x")
    for leaf in range(hierarchy.n_leaves):
        met = [node for node in hierarchy.path(leaf) if hierarchy.labels[node] in named]
        assert caps[leaf] == (met[0] if met else hierarchy.root)
