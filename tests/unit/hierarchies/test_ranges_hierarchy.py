"""Ranges as nodes beside a hierarchy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies import Hierarchy, HierarchyError, Intervals, Tree
from shoal.hierarchies.ranges import ancestors, with_ranges
from shoal.metrics import METRICS, CellMetric
from support.builders import common_ancestor

AGES = ["20", "22", "24", "27", "31", "38"]
WHERE = "columns.age.hierarchy"


def ages(values: list[str | None] | None = None) -> Hierarchy:
    given = AGES if values is None else values
    return Intervals(widths=(5, 10)).build(given, [1] * len(given), WHERE).hierarchy


def pairs(*ends: tuple[int, int]) -> np.ndarray:
    return np.array(ends, dtype=np.int32).reshape(-1, 2)


def test_a_range_is_labelled_by_its_ends_and_holds_the_leaves_between_them() -> None:
    ranged, nodes = with_ranges(ages(), pairs((1, 3), (0, 5)), WHERE)
    assert [ranged.labels[node] for node in nodes] == ["22<=27", "20<=38"]
    assert [(ranged.first[node], ranged.last[node]) for node in nodes] == [(1, 3), (0, 5)]
    assert ranged.by_label["22<=27"] == nodes[0]
    assert ranged.covers(int(nodes[0]), 2)
    assert not ranged.covers(int(nodes[0]), 0)


def test_the_nodes_and_levels_of_the_hierarchy_stay() -> None:
    tree = ages()
    ranged, nodes = with_ranges(tree, pairs((1, 3)), WHERE)
    count = len(tree.labels)
    assert ranged.labels[:count] == tree.labels
    assert nodes.tolist() == [count]
    for name in ("parents", "first", "last", "spans"):
        assert getattr(ranged, name)[:count].tolist() == getattr(tree, name).tolist()
    assert ranged.levels.tolist() == tree.levels.tolist()
    assert (ranged.n_leaves, ranged.height, ranged.root) == (tree.n_leaves, tree.height, tree.root)
    assert ranged.node_levels[:count].tolist() == tree.node_levels.tolist()
    assert ranged.subtree_heights[:count].tolist() == tree.subtree_heights.tolist()


@pytest.mark.parametrize(
    ("ends", "above"), [((0, 2), "[20, 25)"), ((0, 1), "[20, 25)"), ((1, 3), "[20, 30)"), ((3, 4), "*")]
)
def test_a_range_counts_its_own_values_and_stands_as_high_as_the_lowest_node_above_it(
    ends: tuple[int, int], above: str
) -> None:
    ranged, (node,) = with_ranges(ages(), pairs(ends), WHERE)
    parent = ranged.by_label[above]
    assert ranged.parents[node] == parent
    assert ranged.node_levels[node] == ranged.node_levels[parent]
    assert ranged.subtree_heights[node] == ranged.subtree_heights[parent]
    covered = ends[1] - ends[0] + 1
    assert ranged.spans[node] == covered
    assert ranged.loss[node] == (covered - 1) / (len(AGES) - 1)


@pytest.mark.parametrize("metric", [each for each in METRICS.values() if isinstance(each, CellMetric)], ids=type)
def test_a_range_costs_no_less_than_its_values_and_no_more_than_the_node_above_it(metric: CellMetric) -> None:
    ranged, nodes = with_ranges(ages(), pairs((0, 1), (1, 3), (2, 5)), WHERE)
    cost = metric.cell(ranged)
    for node in nodes:
        assert cost[0] <= cost[node] <= cost[ranged.parents[node]]


def test_equal_ranges_are_one_node_and_a_range_of_one_value_is_the_value() -> None:
    ranged, nodes = with_ranges(ages(), pairs((1, 3), (2, 2), (1, 3), (4, 4)), WHERE)
    assert [ranged.labels[node] for node in nodes] == ["22<=27", "24", "22<=27", "31"]
    assert len(ranged.labels) == len(ages().labels) + 1


def test_without_a_range_the_hierarchy_is_the_same() -> None:
    tree = ages()
    for given_pairs in (pairs(), pairs((2, 2))):
        ranged, nodes = with_ranges(tree, given_pairs, WHERE)
        assert ranged is tree
        assert nodes.tolist() == given_pairs[:, 0].tolist()


def test_a_label_that_a_node_has_already_is_refused() -> None:
    tree = Tree({"20<=29": ["20", "25", "29"], "30<=39": ["30"]}).build(["20"], [1], WHERE).hierarchy
    with pytest.raises(HierarchyError) as caught:
        with_ranges(tree, pairs((0, 2), (0, 1)), WHERE)
    (problem,) = caught.value.problems
    assert problem.where == WHERE
    assert problem.facts["label"] == "20<=29"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).map(sorted), max_size=8))
def test_labels_stay_unique_and_each_names_its_own_leaves(ends: list[list[int]]) -> None:
    ranged, nodes = with_ranges(ages(), pairs(*map(tuple, ends)), WHERE)
    assert len(set(ranged.labels)) == len(ranged.labels) == len(ranged.spans) == len(ranged.parents)
    assert [[ranged.first[node], ranged.last[node]] for node in nodes] == ends
    for node in nodes:
        parent = ranged.parents[node]
        assert ranged.first[parent] <= ranged.first[node]
        assert ranged.last[node] <= ranged.last[parent]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted), max_size=12))
def test_the_ancestor_of_a_range_is_the_lowest_node_that_holds_both_its_ends(ends: list[list[int]]) -> None:
    tree = ages([*AGES, None])
    low, high = pairs(*map(tuple, ends)).T
    assert ancestors(tree, low, high).tolist() == [common_ancestor(tree, each) for each in ends]
