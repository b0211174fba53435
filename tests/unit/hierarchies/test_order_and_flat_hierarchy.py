from __future__ import annotations

from typing import Any

import pytest
from hierarchy_checks import built, leaves, refused, rows

from shoal.hierarchies import Flat, OrderedValues


def test_neighbours_join_in_doubling_groups_by_default() -> None:
    assert rows(built(OrderedValues(["a", "b", "c", "d", "e"]), ["a"])) == {
        "a": ["a..b", "a..d", "*"],
        "b": ["a..b", "a..d", "*"],
        "c": ["c..d", "a..d", "*"],
        "d": ["c..d", "a..d", "*"],
        "e": ["e", "e", "*"],
    }
    assert rows(built(OrderedValues(["low", "high"]), ["low"])) == {"low": ["*"], "high": ["*"]}
    assert rows(built(OrderedValues(["only"]), ["only"])) == {"only": ["*"]}


def test_group_sizes_may_be_declared() -> None:
    source = OrderedValues(["1", "2", "3", "4", "5", "6", "7"], groups=(3, 6, 12))
    assert rows(built(source, ["1"]))["2"] == ["1..3", "1..6", "*"]
    assert rows(built(source, ["1"]))["7"] == ["7", "7", "*"]
    assert rows(built(OrderedValues([1, 2], groups=()), ["1"])) == {"1": ["*"], "2": ["*"]}


def test_the_missing_value_may_have_a_place_in_the_order() -> None:
    assert rows(built(OrderedValues([None, "low", "mid", "high"]), ["low"]))[None] == ["(missing)..low", "*"]
    assert rows(built(OrderedValues(["low", "mid", "high"]), ["low", None]))[None] == [None, "*"]


def test_values_that_the_order_lacks_are_listed() -> None:
    refused(
        OrderedValues(["low", "mid"]),
        ["Low", "low"],
        "values-not-in-hierarchy",
        "'Low' (3 records; nearest known: 'low')",
        counts=[3, 1],
    )


@pytest.mark.parametrize(
    ("declared", "code", "named"),
    [
        ({"values": []}, "order-empty", ""),
        ({"values": ["a", "b", "a"]}, "order-values", "'a'"),
        ({"values": [1, "1"]}, "order-values", "'1'"),
        ({"values": ["a", ["b"]]}, "order-values", "['b']"),
        ({"values": ["a", "b"], "groups": (2, 3)}, "groups-not-nested", "[2, 3]"),
        ({"values": ["a", "b"], "groups": (1,)}, "groups-not-nested", "[1]"),
        ({"values": ["a", "b"], "groups": (2, 2)}, "groups-not-nested", "[2, 2]"),
        ({"values": ["a", "b"], "groups": (2.0,)}, "groups-not-nested", "[2.0]"),
        ({"values": ["a", "b", "a..b", "c"]}, "label-used-twice", "'a..b'"),
        ({"values": ["a", "b..c", "a..b", "c"]}, "label-used-twice", "'a..b..c'"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(declared: dict[str, Any], code: str, named: str) -> None:
    refused(OrderedValues(**declared), ["a"], code, named)


def test_a_flat_hierarchy_is_the_value_or_a_star() -> None:
    result = built(Flat(), ["b", None, "a"])
    assert rows(result) == {"a": ["*"], "b": ["*"], None: ["*"]}
    assert leaves(result) == ["a", "b", None]
    assert result.codes.tolist() == [1, 2, 0]


def test_a_star_among_other_values_is_refused() -> None:
    refused(Flat(), ["*", "a"], "label-used-twice", "'*'")


def test_a_column_without_any_value_is_refused() -> None:
    refused(Flat(), [], "no-values")
