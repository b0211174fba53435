from __future__ import annotations

import datetime

import yaml
from hierarchy_checks import built, leaves, refused, rows

from shoal.hierarchies import Tree

WORLD = {"America": ["USA", "Canada"], "Asia": {"East": ["China", "Japan"], "South": ["India"]}, "Antarctica": None}


def test_levels_are_counted_from_the_root_in_a_tree_of_uneven_depth() -> None:
    assert rows(built(Tree(WORLD), ["USA", "Japan"])) == {
        "USA": ["USA", "America", "*"],
        "Canada": ["Canada", "America", "*"],
        "China": ["East", "Asia", "*"],
        "Japan": ["East", "Asia", "*"],
        "India": ["South", "Asia", "*"],
        "Antarctica": ["Antarctica", "Antarctica", "*"],
    }


def test_values_that_the_data_lack_count_in_the_domain() -> None:
    hierarchy = built(Tree(WORLD), ["USA"]).hierarchy
    assert hierarchy.spans[hierarchy.root] == 6
    assert hierarchy.spans[hierarchy.by_label["Asia"]] == 3


def test_the_code_of_a_value_is_its_leaf_whatever_the_order_of_values() -> None:
    result = built(Tree(WORLD), ["Japan", "USA", "Japan"])
    assert [result.hierarchy.labels[code] for code in result.codes] == ["Japan", "USA", "Japan"]


def test_a_missing_value_hangs_under_the_root_unless_the_tree_places_it() -> None:
    assert rows(built(Tree(WORLD), ["USA", None]))[None] == [None, None, "*"]
    assert None not in leaves(built(Tree(WORLD), ["USA"]))
    assert rows(built(Tree({"known": ["a"], "unknown": ["?", None]}), ["a", None]))[None] == ["unknown", "*"]
    assert rows(built(Tree({"known": ["a"], None: None}), ["a"]))[None] == [None, "*"]


def test_one_name_on_top_is_the_root_only_with_something_under_it() -> None:
    assert built(Tree({"World": ["a", "b"]}), ["a"]).hierarchy.labels == ("a", "b", "World")
    assert built(Tree({"a": None}), ["a"]).hierarchy.labels == ("a", "*")
    assert built(Tree({"a": []}), ["a"]).hierarchy.labels == ("a", "*")
    assert built(Tree(["a", {"B": ["b"]}]), ["a"]).hierarchy.labels == ("a", "b", "B", "*")


def test_scalars_become_canonical_text() -> None:
    nested = yaml.safe_load("{numbers: [5, 5.5, 6.0, -1], truth: [true, false], dates: [2020-01-31], x: [null]}")
    assert leaves(built(Tree(nested), ["5", None])) == ["5", "5.5", "6", "-1", "true", "false", "2020-01-31", None]
    assert leaves(built(Tree([datetime.datetime.fromisoformat("2020-01-02 03:04:05"), 7]), ["7"])) == [
        "2020-01-02T03:04:05",
        "7",
    ]


def test_a_scalar_under_a_name_is_a_list_of_one() -> None:
    assert rows(built(Tree({"A": "a", "B": "b"}), ["a"])) == {"a": ["A", "*"], "b": ["B", "*"]}


def test_a_group_under_its_own_name_is_one_node() -> None:
    result = built(Tree({"Asia": {"Asia": ["China"]}, "Cuba": ["Cuba"]}), ["China"])
    assert result.hierarchy.labels == ("China", "Cuba", "Asia", "*")
    assert rows(result) == {"China": ["Asia", "Asia", "*"], "Cuba": ["Cuba", "Cuba", "*"]}


def test_a_group_declared_in_two_pieces_under_one_parent_is_contiguous() -> None:
    result = built(Tree({"A": [{"N": ["x"]}, "y", {"N": ["z"]}], "B": ["b"]}), ["x"])
    assert leaves(result) == ["x", "z", "y", "b"]


def test_a_value_with_two_parents_is_refused_with_both_named() -> None:
    refused(Tree({"A": ["x", "y"], "B": ["x"]}), ["x"], "two-parents", "'x'", "'A'", "'B'")
    built(Tree({"A": ["x", "x"], "B": ["y"]}), ["x"])


def test_a_label_of_two_nodes_is_refused() -> None:
    refused(
        Tree({"America": {"North": ["USA"]}, "Asia": {"North": ["China"]}}),
        ["USA"],
        "two-parents",
        "'North'",
        "America",
        "Asia",
    )
    refused(Tree({"P": {"Q": {"N": ["x"]}}, "R": {"N": ["y"]}}), ["x"], "label-used-twice", "'N'", "{'x'}", "{'y'}")
    refused(Tree({"A": [{"N": ["x"]}, "N"], "B": ["b"]}), ["x"], "label-used-twice", "'N'")
    refused(Tree({"A": ["*"], "B": ["b"]}), ["b"], "label-used-twice", "'*'")
    refused(Tree({"x": {"y": ["x"]}, "B": ["b"]}), ["x"], "label-used-twice", "'x'")


def test_values_that_the_tree_lacks_are_listed_with_their_records() -> None:
    code = "values-not-in-hierarchy"
    (few,) = refused(Tree(WORLD), ["USA", "Untied", "usa", "Japn"], code, "'USA'", "'Japan'", counts=[9, 2, 10, 5])
    assert few.facts == {"values": {"usa": 10, "Japn": 5, "Untied": 2}, "records": 17}
    (many,) = refused(Tree(WORLD), [f"v{i:02}" for i in range(13)], code, "'v08'", "4 more")
    assert len(many.facts["values"]) == 13
    assert "'v09'" not in many.message


def test_declarations_that_are_no_tree_are_refused() -> None:
    for nested in (None, "abc", 5):
        refused(Tree(nested), ["a"], "tree-shape")
    refused(Tree({}), ["a"], "tree-shape")
    refused(Tree([]), ["a"], "tree-shape")
    refused(Tree({"A": [["a", "b"]], "B": ["c"]}), ["c"], "tree-shape", "under * > A")
    refused(Tree({None: ["a"], "B": ["c"]}), ["c"], "tree-shape")
    refused(Tree({("a", "b"): ["c"], "d": {1, 2}}), ["c"], "tree-shape", "('a', 'b')", "{1, 2}")


def test_a_group_that_holds_itself_is_refused() -> None:
    refused(Tree(yaml.safe_load("&a {A: [x, *a], B: [y]}")), ["x"], "tree-shape")
