"""Campan's information loss over whole numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.search.local.pk_clustering import InformationLoss
from support.builders import common_ancestor, hierarchy_of

FLAT = hierarchy_of(["x", "y"])
DEEP = hierarchy_of({"left": {"inner": ["a", "b"], "c": []}, "right": ["d", "e"], "f": []})
"""Uneven: heights 1 under inner and right, 2 under left, 3 in all."""


def share(loss: InformationLoss, whole: int) -> Fraction:
    """A loss as Def. 10 has it; the root of a tree loses 1."""
    return Fraction(int(whole), int(loss.heights[0][loss.hierarchies[0].root]))


def node(tree: Hierarchy, label: str) -> int:
    return tree.by_label[label]


def test_a_class_loses_the_height_under_its_nodes_over_that_of_the_tree() -> None:
    loss = InformationLoss.of((DEEP, FLAT), 10)
    nodes = np.array(
        [[node(DEEP, a), node(FLAT, b)] for a, b in [("a", "x"), ("inner", "x"), ("left", "*"), ("right", "y")]]
    )
    assert [share(loss, each) for each in loss.of_nodes(nodes)] == [0, Fraction(1, 3), Fraction(5, 3), Fraction(1, 3)]


def test_joining_says_what_each_leaf_would_make_of_a_class() -> None:
    loss = InformationLoss.of((DEEP,), 10)
    by_leaf = {
        label: share(loss, each)
        for label, each in zip(DEEP.labels[: DEEP.n_leaves], loss.joining(0, node(DEEP, "inner")), strict=True)
    }
    third = Fraction(1, 3)
    assert by_leaf == {"a": third, "b": third, "c": 2 * third, "d": 1, "e": 1, "f": 1}


def test_a_tree_of_one_value_loses_nothing() -> None:
    zero = np.zeros(1, dtype=np.int32)
    one = Hierarchy(("only",), np.array([-1], dtype=np.int32), zero, zero, zero.reshape(1, 1), np.ones(1))
    loss = InformationLoss.of((one, FLAT), 10)
    nodes = np.array([[0, node(FLAT, "*")]], dtype=np.int32)
    assert loss.of_nodes(nodes)[0] == loss.heights[1][FLAT.root]
    assert loss.joined(nodes, np.array([0, 0], dtype=np.int32))[0].tolist() == nodes.tolist()


leaves = st.sets(st.integers(0, DEEP.n_leaves - 1), min_size=1)


@given(st.lists(leaves, min_size=1, max_size=4), leaves)
def test_joined_classes_release_the_lowest_common_ancestor_of_all_their_values(
    classes: list[set[int]], one: set[int]
) -> None:
    loss = InformationLoss.of((DEEP,), 10)
    nodes = np.array([[common_ancestor(DEEP, list(each))] for each in classes], dtype=np.int32)
    joined, lost = loss.joined(nodes, np.array([common_ancestor(DEEP, list(one))], dtype=np.int32))
    assert joined[:, 0].tolist() == [common_ancestor(DEEP, list(each | one)) for each in classes]
    assert lost.tolist() == loss.of_nodes(joined).tolist()
