"""Earth mover's distances: the example of Li et al. 2007, edges, and what a column must have."""

from __future__ import annotations

import pytest

from shoal.models import TCloseness
from support.builders import domain_of, hierarchy_of, view_of

SALARIES = [f"{thousand}k" for thousand in range(3, 12)]
"""Nine salaries, each once in the table of the paper's example."""


def test_the_salary_example_of_li_et_al() -> None:
    rest = [each for each in SALARIES if each not in ("3k", "4k", "5k", "6k", "8k", "11k")]
    view = view_of([["3k", "4k", "5k"], ["6k", "8k", "11k"], rest], domain_of(SALARIES, ordered=True))
    ordered = TCloseness(0.1, distance="ordered", sensitive="condition").distances(view)
    assert ordered[0] == pytest.approx(0.375)
    assert ordered[1] == pytest.approx(1 / 6)
    equal = TCloseness(0.1, sensitive="condition").distances(view)
    assert equal == pytest.approx([2 / 3] * 3)


def test_a_hierarchical_distance_counts_the_height_of_the_common_ancestor() -> None:
    tree = {"digestive": {"stomach": ["ulcer", "gastritis"], "gut": ["ileus"]}, "lung": {"airway": ["asthma"]}}
    domain = domain_of([], tree=tree)
    model = TCloseness(0.1, distance="hierarchical", sensitive="condition")
    assert model.distances(view_of([["ulcer"], ["gastritis"]], domain)) == pytest.approx([1 / 6] * 2)
    assert model.distances(view_of([["ulcer"], ["ileus"]], domain)) == pytest.approx([1 / 3] * 2)
    assert model.distances(view_of([["ulcer"], ["asthma"]], domain)) == pytest.approx([1 / 2] * 2)


def test_a_class_like_the_whole_release_is_at_no_distance() -> None:
    tree = {"x": ["a", "b"], "y": ["c"]}
    view = view_of(["aabbc", "aaaabbbbcc"], domain_of([], ordered=True, tree=tree))
    for distance in ("equal", "ordered", "hierarchical"):
        model = TCloseness(0, distance=distance, sensitive="condition")
        assert model.holds(view).all()
        assert model.reached(view)["t"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_a_column_with_one_value_is_always_close(distance: str) -> None:
    view = view_of(["aa", "a"], domain_of([], ordered=True, tree={"x": ["a"]}))
    assert TCloseness(0, distance=distance, sensitive="condition").holds(view).all()


def test_the_missing_value_lies_where_the_order_puts_it() -> None:
    model = TCloseness(0.1, distance="ordered", sensitive="condition")
    classes = [["low"], [None, "high"]]
    first = view_of(classes, domain_of([None, "low", "high"], ordered=True))
    last = view_of(classes, domain_of(["low", "high", None], ordered=True))
    assert model.distances(first) == pytest.approx([1 / 3, 1 / 6])
    assert model.distances(last) == pytest.approx([1 / 2, 1 / 4])


def test_values_that_do_not_occur_leave_no_gap_in_the_order() -> None:
    model = TCloseness(0.1, distance="ordered", sensitive="condition")
    view = view_of([["low"], ["high"]], domain_of(["low", "mid", "high", "highest"], ordered=True))
    assert model.distances(view) == pytest.approx([0.5] * 2)


def test_the_whole_release_is_what_is_shown_so_suppression_changes_it() -> None:
    model, domain = TCloseness(0.2, sensitive="condition"), domain_of("ab")
    assert model.holds(view_of(["ab", "aaaa"], domain)).tolist() == [False, True]
    assert model.holds(view_of(["ab"], domain)).tolist() == [True]


def test_an_ordered_distance_needs_an_order_and_a_hierarchical_one_a_hierarchy() -> None:
    bare = domain_of("ab")
    assert TCloseness(0.1, sensitive="condition").domain_problems(bare) == []
    for distance, need in (("ordered", "no order"), ("hierarchical", "no hierarchy")):
        (problem,) = TCloseness(0.1, distance=distance, sensitive="condition").domain_problems(bare)
        assert problem.where == "distance"
        assert f"'condition' has {need}" in problem.message


def test_what_a_class_lacks_names_the_distance() -> None:
    view = view_of(["ab", "aaaa"], domain_of("ab"))
    (short,) = TCloseness(0.2, sensitive="condition").shortfalls(view, 0)
    assert (short.parameter, short.required, short.code) == ("t", 0.2, "above-maximum")
    assert short.reached == pytest.approx(1 / 3)


def test_the_helper_builds_an_uneven_tree_with_levels_counted_from_the_root() -> None:
    hierarchy = hierarchy_of({"x": {"y": ["a", "b"]}, "c": []})
    shown = [[hierarchy.labels[node] for node in level] for level in hierarchy.levels]
    assert shown == [["a", "b", "c"], ["y", "y", "c"], ["x", "x", "c"], ["*", "*", "*"]]
    assert hierarchy.subtree_heights.tolist() == [0, 0, 0, 1, 2, 3]
