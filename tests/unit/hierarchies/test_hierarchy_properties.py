"""Properties of every kind: the tree is one, labels are unique, and the order of values does not matter."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable

import pytest
from hierarchy_checks import built, check, same
from hierarchy_strategies import trees
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies import Dates, Flat, HierarchySource, Intervals, Label, Levels, Mask, OrderedValues, Tree

WORDS = [f"{letter}{digit}" for letter in "abcd" for digit in "123"]
KINDS: dict[str, tuple[HierarchySource, st.SearchStrategy[str]]] = {
    "tree": (Tree({"A": WORDS[:3], "B": {"C": WORDS[3:5], "D": WORDS[5:]}}), st.sampled_from(WORDS)),
    "levels": (Levels([[word, word[1], "*"] for word in WORDS]), st.sampled_from(WORDS)),
    "order": (OrderedValues(WORDS), st.sampled_from(WORDS)),
    "flat": (Flat(), st.text(st.characters(codec="utf-8", exclude_characters="*"), max_size=5)),
    "widths": (Intervals(widths=(2, 10, "50")), st.decimals(-100, 100, places=2).map(str)),
    "cuts": (Intervals(cuts=[[-10, 0, 5, 10], [-10, 0, 10]]), st.floats(-10, 9.9).map(repr)),
    "mask right": (Mask(), st.text("ab1", max_size=6)),
    "mask left": (Mask(side="left", alphabet="ab1", steps=(2, 3)), st.text("ab1", max_size=6)),
    "dates": (Dates(("month", "half", "decade", "century")), st.dates().map(datetime.date.isoformat)),
    "times": (Dates(("hour", "day", "week")), st.datetimes().map(datetime.datetime.isoformat)),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_kind_builds_a_true_hierarchy_that_no_order_of_values_changes(kind: str, data: st.DataObject) -> None:
    source, texts = KINDS[kind]
    values: list[Label] = data.draw(st.lists(st.one_of(st.none(), texts), min_size=1, max_size=15, unique=True))
    result = built(source, values)
    places = list(range(len(values)))
    random.Random(data.draw(st.integers(0, 9))).shuffle(places)
    other = built(source, [values[place] for place in places])
    assert same(result, other)
    assert other.codes.tolist() == [result.codes[place] for place in places]


@given(trees())
def test_random_trees_build(nested: dict[str, object]) -> None:
    check(Tree(nested).build([], [], "x"))


@given(trees())
def test_a_leaf_in_an_uneven_tree_rises_only_when_its_parent_is_due(nested: dict[str, object]) -> None:
    hierarchy = Tree(nested).build([], [], "x").hierarchy
    (top,) = nested.values()

    def depths(node: object, above: int) -> dict[Label, int]:
        if not isinstance(node, dict):
            return {node: above}  # type: ignore[dict-item]
        return {
            leaf: depth
            for children in node.values()
            for each in children
            for leaf, depth in depths(each, above + 1).items()
        }

    found = {leaf: depth for each in top for leaf, depth in depths(each, 1).items()}  # type: ignore[attr-defined]
    assert hierarchy.height == max(found.values())
    for leaf in range(hierarchy.n_leaves):
        stays = hierarchy.height - found[hierarchy.labels[leaf]]
        assert set(hierarchy.levels[: stays + 1, leaf].tolist()) == {leaf}
        assert hierarchy.levels[stays + 1, leaf] != leaf


BIG: dict[str, tuple[Callable[[], HierarchySource], Callable[[int], str]]] = {
    "intervals": (lambda: Intervals(widths=(5, 10, 100)), str),
    "mask": (Mask, lambda number: f"{number * 7919 % 1_000_003:07d}"),
    "levels": (lambda: Levels([(str(n), f"a{n // 10}", f"b{n // 1000}", "*") for n in range(50_000)]), str),
}


@pytest.mark.parametrize("kind", BIG)
def test_fifty_thousand_values_are_not_too_many(kind: str) -> None:
    source, text = BIG[kind]
    values: list[Label] = [text(number) for number in range(50_000)]
    result = source().build(values, [1] * len(values), "x")
    assert result.hierarchy.n_leaves == 50_000
    assert [result.hierarchy.labels[code] for code in result.codes[:100]] == values[:100]
    assert (result.hierarchy.last - result.hierarchy.first + 1)[result.hierarchy.root] == 50_000
