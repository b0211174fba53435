from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hierarchy_checks import built, same
from hierarchy_strategies import trees
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies import (
    BuiltHierarchy,
    Dates,
    Flat,
    Hierarchy,
    HierarchyError,
    HierarchySource,
    Intervals,
    Label,
    Levels,
    Mask,
    Tree,
    read_levels,
    to_levels_csv,
    to_nested,
)

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="*\ufeff"), min_size=1, max_size=5)


def through_csv(hierarchy: Hierarchy, folder: Path) -> BuiltHierarchy:
    path = folder / "levels.csv"
    path.write_bytes(to_levels_csv(hierarchy).encode())
    return read_levels(path).build([], [], "x")


def through_yaml(hierarchy: Hierarchy) -> BuiltHierarchy:
    return Tree(yaml.safe_load(yaml.safe_dump(to_nested(hierarchy), sort_keys=False))).build([], [], "x")


def test_a_table_of_levels_is_written_as_arx_reads_it() -> None:
    hierarchy = built(Levels([["a;1", "A", "*"], ["b", "A", "*"]]), ["b", None]).hierarchy
    assert to_levels_csv(hierarchy) == '"a;1";A;*\nb;A;*\n;;*\n'


def test_nested_groups_are_written_as_one_would_write_them() -> None:
    world = {"America": ["USA", "Canada"], "Asia": {"East": ["China"], "South": ["India"]}, "Antarctica": None}
    assert to_nested(built(Tree(world), ["USA"]).hierarchy) == world
    assert to_nested(built(Tree({"World": ["a", "b"]}), ["a"]).hierarchy) == {"World": ["a", "b"]}
    assert to_nested(built(Flat(), ["a", None]).hierarchy) == ["a", None]
    assert to_nested(built(Tree({"*": {"A": ["a"]}}), ["a"]).hierarchy) == {"*": {"A": ["a"]}}


def test_every_level_survives_where_groups_repeat_or_no_value_changes(tmp_path: Path) -> None:
    cases: list[tuple[HierarchySource, list[Label]]] = [
        (Levels([["a", "A", "A", "*"], ["b", "b", "B", "*"]]), ["a"]),
        (Levels([["a", "a", "A", "*", "*"], ["b", "b", "B", "*", "*"]]), ["a"]),
        (Dates(("hour", "day", "month")), ["2020-01-01", "2020-02-01", None]),
        (Tree({"a": ["a"]}), ["a"]),
    ]
    for source, values in cases:
        result = built(source, values)
        assert same(result, through_csv(result.hierarchy, tmp_path))
        assert same(result, through_yaml(result.hierarchy))


@pytest.mark.parametrize("source", [Intervals(widths=(0.5, 1)), Mask(), Flat(), Mask(side="left", steps=(2,))])
def test_built_kinds_survive_writing(source: Intervals | Mask | Flat, tmp_path: Path) -> None:
    values: list[Label] = ["1", "12", "120", "0.25", None]
    result = built(source, values)
    assert same(result, through_csv(result.hierarchy, tmp_path))
    assert same(result, through_yaml(result.hierarchy))


@given(trees())
def test_random_trees_survive_both_forms(tmp_path_factory: pytest.TempPathFactory, nested: object) -> None:
    result = Tree(nested).build([], [], "x")
    assert same(result, through_csv(result.hierarchy, tmp_path_factory.getbasetemp()))
    assert same(result, through_yaml(result.hierarchy))


@given(st.lists(TEXTS, min_size=1, max_size=6, unique=True))
def test_any_text_survives_both_forms(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    result = built(Flat(), [*texts])
    assert same(result, through_csv(result.hierarchy, tmp_path_factory.getbasetemp()))
    assert same(result, Tree(to_nested(result.hierarchy)).build([], [], "x"))


def test_empty_text_cannot_be_told_from_missing_in_a_table() -> None:
    with pytest.raises(HierarchyError) as caught:
        to_levels_csv(built(Flat(), ["", "a"]).hierarchy)
    assert [problem.code for problem in caught.value.problems] == ["empty-text-as-value"]
