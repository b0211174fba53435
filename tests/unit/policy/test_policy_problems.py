"""Each thing that can be wrong with a policy: where it is said to be, what is said, and the fix."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.policy import Policy
from support.policy_cases import hospital, one_problem, problem_paths, problems_of, refusal, small

INTERNALS = re.compile(
    r"Input should|\w*Spec\b|function-|pydantic|https?://|dict\[|union|tag|<\w+>|NoneType|Traceback|valid (dict|string)"
)


@pytest.mark.parametrize(
    ("path", "near"),
    [
        (("dta",), "'data'"),
        (("columns", "age", "hierachy"), "'hierarchy'"),
        (("columns", "age", "hierarchy", "interval"), "'intervals'"),
        (("privacy", 1, "sensitve"), "'sensitive'"),
        (("algorithm", "sed"), "'seed'"),
    ],
)
def test_an_unknown_key_names_the_nearest_known_one(path: tuple[Any, ...], near: str) -> None:
    problem = one_problem(hospital(*path, to={}))
    written = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    assert problem.where == written
    assert "no such key" in problem.message
    assert f"Did you mean {near}?" in problem.fix
    assert "Known: " in problem.fix


@pytest.mark.parametrize(
    ("hierarchy", "where", "near"),
    [
        ({"intervals": {"width": [5]}}, "intervals.width", "widths"),
        ({"mask": {"sid": "left"}}, "mask.sid", "side"),
        ({"dates": {"unit": ["year"]}}, "dates.unit", "units"),
        ({"order": {"values": ["a"], "group": [2]}}, "order.group", "groups"),
        ({"levels": {"path": "x.csv", "seperator": ";"}}, "levels.seperator", "separator"),
    ],
)
def test_an_unknown_key_within_a_hierarchy_names_the_nearest(hierarchy: Any, where: str, near: str) -> None:
    problem = one_problem(hospital("columns", "age", "hierarchy", to=hierarchy))
    assert problem.where == f"columns.age.hierarchy.{where}"
    assert f"Did you mean {near!r}?" in problem.fix


def test_an_unknown_key_of_the_data_names_the_nearest() -> None:
    problem = one_problem(hospital("data", to={"path": "a.csv", "seperator": ";"}))
    assert problem.where == "data.seperator"
    assert "'separator'" in problem.fix


def test_an_unknown_key_of_a_limit_names_the_nearest() -> None:
    model = {"model": "alp-dif", "limits": {"HIV": {"alp": 0.5, "diff": 0.1}}}
    problem = one_problem(hospital("privacy", 1, to=model))
    assert problem.where == "privacy[1].limits.HIV.diff"
    assert "'dif'" in problem.fix


@pytest.mark.parametrize(
    ("path", "value", "near"),
    [
        (("privacy", 0, "model"), "k-anonimity", "k-anonymity"),
        (("algorithm", "name"), "incognitto", "incognito"),
        (("algorithm",), "optimall", "optimal"),
        (("algorithm", "metric"), "los", "loss"),
        (("columns", "name", "role"), "identifer", "identifier"),
        (("columns", "condition", "publish"), "category", "categories"),
        (("columns", "zipcode", "hierarchy"), "mas", "mask"),
        (("columns", "zipcode", "hierarchy", "mask"), "rigth", "right"),
        (("privacy", 1, "sensitive"), "conditoin", "condition"),
        (("suppressed",), "stars", "star"),
    ],
)
def test_an_unknown_name_brings_the_nearest_known_one(path: tuple[Any, ...], value: str, near: str) -> None:
    problem = one_problem(hospital(*path, to=value))
    assert f"Did you mean {near!r}?" in problem.fix
    assert repr(value) in problem.message


def test_an_unknown_calendar_unit_brings_the_nearest() -> None:
    problem = one_problem(hospital("columns", "age", "hierarchy", to={"dates": ["moth", "year"]}))
    assert problem.where == "columns.age.hierarchy"
    assert "'month'" in problem.fix


@pytest.mark.parametrize("value", ["5", "x", 4.5, 4.0, True, None, [4], {"a": 1}, math.nan, math.inf])
def test_k_is_a_whole_number(value: Any) -> None:
    problem = one_problem(hospital("privacy", 0, "k", to=value))
    assert problem.where == "privacy[0].k"
    assert "whole number" in problem.message


@pytest.mark.parametrize("value", [0, -1])
def test_k_is_one_or_more_and_no_other_complaint_follows(value: int) -> None:
    problem = one_problem(hospital("privacy", 0, "k", to=value))
    assert problem.where == "privacy[0].k"
    assert "1 or more" in problem.message


@pytest.mark.parametrize("value", ["x", "2", True, None, [2], {"a": 2}, math.nan, math.inf, -math.inf])
def test_alpha_is_a_number(value: Any) -> None:
    problem = one_problem(hospital("privacy", 1, "alpha", to=value))
    assert problem.where == "privacy[1].alpha"
    assert "number" in problem.message


def test_a_number_in_quotes_is_told_how_to_write_it() -> None:
    assert one_problem(hospital("privacy", 0, "k", to="5")).fix == "Write it without quotes: 5."
    assert one_problem(hospital("suppression", to="0.05")).fix == "Write it without quotes: 0.05."


@pytest.mark.parametrize(
    ("model", "where"),
    [
        ({"model": "p-alpha-sensitive", "p": 2, "alpha": -0.1}, "alpha"),
        ({"model": "p-plus-alpha-sensitive", "p": 0, "alpha": 1}, "p"),
        ({"model": "group-leakage", "p": 1, "alpha": {"hi": 0, "lo": 1}}, "alpha.hi"),
        ({"model": "group-leakage", "p": 1, "alpha": {"hi": 0.5, "lo": 1.5}}, "alpha.lo"),
        ({"model": "alpha-k-anonymity", "alpha": 0}, "alpha"),
        ({"model": "alpha-k-anonymity", "alpha": 1.5}, "alpha"),
        ({"model": "alpha-k-anonymity", "alpha": {"a": 2}}, "alpha.a"),
        ({"model": "alpha-k-anonymity", "alpha": {None: 2}}, "alpha.null"),
        ({"model": "alp-dif", "limits": {"a": {"alp": 1.5}}}, "limits.a.alp"),
        ({"model": "alp-dif", "limits": {None: {"dif": -1}}}, "limits.null.dif"),
        ({"model": "t-closeness", "t": 2}, "t"),
        ({"model": "distinct-l-diversity", "l": 0}, "l"),
        ({"model": "entropy-l-diversity", "l": 0.5}, "l"),
        ({"model": "recursive-cl-diversity", "l": 2, "c": 0}, "c"),
    ],
)
def test_a_parameter_out_of_range_is_told_with_its_place(model: dict[str, Any], where: str) -> None:
    content = small(privacy=[model])
    content["columns"]["s"]["unknown_counts"] = True
    problem = one_problem(content)
    assert problem.where == f"privacy[0].{where}"
    assert "must be" in problem.message


@pytest.mark.parametrize(
    ("model", "lacking"),
    [
        ("k-anonymity", ["k"]),
        ("p-sensitive", ["p"]),
        ("p-alpha-sensitive", ["p", "alpha"]),
        ("p-plus-alpha-sensitive", ["p", "alpha"]),
        ("group-leakage", ["p", "alpha"]),
        ("alp-dif", ["limits"]),
        ("distinct-l-diversity", ["l"]),
        ("entropy-l-diversity", ["l"]),
        ("recursive-cl-diversity", ["l", "c"]),
        ("alpha-k-anonymity", ["alpha"]),
        ("t-closeness", ["t"]),
    ],
)
def test_a_model_without_its_parameters_says_which_and_what_they_mean(model: str, lacking: list[str]) -> None:
    found = problems_of(small(privacy=[{"model": model}]))
    assert [problem.where for problem in found] == [f"privacy[0].{name}" for name in lacking]
    for problem, name in zip(found, lacking, strict=True):
        assert "is required" in problem.message
        assert re.fullmatch(rf"Add {name}: … \(.+\)\.", problem.fix)


@pytest.mark.parametrize(
    ("entry", "where"),
    [
        ("k-anonymity", "privacy[0]"),
        (None, "privacy[0]"),
        (5, "privacy[0]"),
        (["k-anonymity"], "privacy[0]"),
        ({}, "privacy[0]"),
        ({"modle": "k-anonymity", "k": 3}, "privacy[0]"),
        ({"model": 5}, "privacy[0].model"),
        ({"model": ["k-anonymity"]}, "privacy[0].model"),
        ({"model": {"k-anonymity": 3}}, "privacy[0].model"),
    ],
)
def test_an_entry_that_names_no_model_is_told(entry: Any, where: str) -> None:
    problem = one_problem(small(privacy=[entry]))
    assert problem.where == where
    assert "k-anonymity" in problem.fix


@pytest.mark.parametrize("value", [[], {}, {"model": "k-anonymity", "k": 3}, "k-anonymity", 5, None])
def test_privacy_is_a_list_of_models(value: Any) -> None:
    problem = one_problem(small(privacy=value))
    assert problem.where == "privacy"
    assert "k-anonymity" in problem.fix
    content = small()
    del content["privacy"]
    assert problem_paths(content) == ["privacy"]


@pytest.mark.parametrize("value", [{}, [], ["q", "s"], "q", 5, None])
def test_columns_are_a_mapping_with_at_least_one(value: Any) -> None:
    problem = one_problem(small(columns=value))
    assert problem.where == "columns"
    assert "role" in problem.fix


@pytest.mark.parametrize("value", [None, "quasi", 5, ["quasi"], True])
def test_a_column_is_a_mapping(value: Any) -> None:
    problem = one_problem(hospital("columns", "name", to=value))
    assert problem.where == "columns.name"
    assert "{role: quasi}" in problem.fix


@pytest.mark.parametrize("role", [["quasi", "sensitive"], ("quasi",)])
def test_a_column_has_one_role(role: Any) -> None:
    problem = one_problem(hospital("columns", "name", "role", to=role))
    assert problem.where == "columns.name.role"
    assert "one role" in problem.message


def test_a_column_without_a_role_is_told() -> None:
    problem = one_problem(hospital("columns", "name", to={}))
    assert (problem.where, problem.code) == ("columns.name.role", "missing-key")


@pytest.mark.parametrize(("name", "where"), [(None, "columns.null"), ((1, 2), "columns.[1, 2]")])
def test_a_column_has_a_name(name: Any, where: str) -> None:
    content = small()
    content["columns"][name] = {"role": "quasi"}
    assert one_problem(content).where == where


def test_two_spellings_of_one_column_are_refused() -> None:
    content = small()
    content["columns"] |= {5: {"role": "quasi"}, "5": {"role": "insensitive"}}
    problem = one_problem(content)
    assert problem.where == "columns.5"
    assert "twice" in problem.message


def test_a_policy_without_quasi_identifiers_hides_nobody() -> None:
    problem = one_problem(small(columns={"s": {"role": "sensitive"}}))
    assert problem.where == "columns"
    assert "quasi" in problem.message


@pytest.mark.parametrize("role", ["quasi", "identifier", "insensitive"])
def test_a_model_on_a_column_that_is_not_sensitive_is_refused(role: str) -> None:
    content = small(privacy=[{"model": "p-sensitive", "p": 2, "sensitive": "other"}])
    content["columns"]["other"] = {"role": role}
    problem = one_problem(content)
    assert problem.where == "privacy[0].sensitive"
    assert role in problem.message


def test_a_model_on_a_list_of_columns_tells_each_wrong_one() -> None:
    found = problems_of(small(privacy=[{"model": "p-sensitive", "p": 2, "sensitive": ["s", "q", "nope"]}]))
    assert [problem.where for problem in found] == ["privacy[0].sensitive"] * 2
    assert "'q'" in found[0].message
    assert "'nope'" in found[1].message


@pytest.mark.parametrize("value", [[], {"s": 1}, [["s"]], [None]])
def test_a_model_names_columns(value: Any) -> None:
    (where,) = problem_paths(small(privacy=[{"model": "p-sensitive", "p": 2, "sensitive": value}]))
    assert where.startswith("privacy[0].sensitive")


def test_a_sensitive_model_without_a_sensitive_column_does_not_pass_in_silence() -> None:
    content = small(columns={"q": {"role": "quasi"}}, privacy=[{"model": "p-sensitive", "p": 2}])
    problem = one_problem(content)
    assert problem.where == "privacy[0]"
    assert "needs a sensitive column" in problem.message


def test_a_wrong_parameter_is_told_once_however_many_columns_the_model_is_on() -> None:
    content = small(privacy=[{"model": "p-sensitive", "p": 0}])
    content["columns"]["t"] = {"role": "sensitive"}
    assert problem_paths(content) == ["privacy[0].p"]


def test_p_does_not_exceed_k() -> None:
    models = [{"model": "p-sensitive", "p": 4}, {"model": "k-anonymity", "k": 2}, {"model": "k-anonymity", "k": 3}]
    problem = one_problem(small(privacy=models))
    assert problem.where == "privacy[0].p"
    assert "k = 3" in problem.message
    assert "p <= 3" in problem.fix
    Policy.model_validate(small(privacy=[{"model": "p-sensitive", "p": 3}, *models[1:]]))


@pytest.mark.parametrize(
    "model",
    [{"model": "p-plus-alpha-sensitive", "p": 3, "alpha": 0}, {"model": "group-leakage", "p": 3, "alpha": {"hi": 0.5}}],
)
def test_p_does_not_exceed_the_number_of_categories(model: dict[str, Any]) -> None:
    problem = one_problem(small(privacy=[model]))
    assert problem.where == "privacy[0].p"
    assert "'s' has 2" in problem.message


def test_p_distinct_values_may_exceed_the_number_of_categories() -> None:
    Policy.model_validate(small(privacy=[{"model": "p-alpha-sensitive", "p": 3, "alpha": 1}]))


@pytest.mark.parametrize(
    "model",
    [
        {"model": "p-alpha-sensitive", "p": 2, "alpha": 1},
        {"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 1},
        {"model": "group-leakage", "p": 2, "alpha": {"hi": 0.5}},
    ],
)
def test_a_model_on_categories_needs_them(model: dict[str, Any]) -> None:
    content = small(privacy=[model])
    del content["columns"]["s"]["categories"]
    problem = one_problem(content)
    assert problem.where == "columns.s.categories"
    assert "most sensitive first" in problem.fix


def test_weights_need_two_categories() -> None:
    content = small(privacy=[{"model": "p-alpha-sensitive", "p": 1, "alpha": 1}])
    content["columns"]["s"]["categories"] = {"all": ["a", "b", "c"]}
    problem = one_problem(content)
    assert (problem.where, problem.code) == ("privacy[0].sensitive", "too-few-categories")


def test_a_limit_for_an_unknown_category_names_the_nearest() -> None:
    problem = one_problem(small(privacy=[{"model": "group-leakage", "p": 2, "alpha": {"hii": 0.5}}]))
    assert problem.where == "privacy[0].alpha"
    assert "'hi'" in problem.fix


def test_limits_do_not_decrease_with_sensitivity() -> None:
    problem = one_problem(small(privacy=[{"model": "group-leakage", "p": 2, "alpha": {"hi": 0.5, "lo": 0.4}}]))
    assert problem.where == "privacy[0].alpha"


@pytest.mark.parametrize("publish", ["categories", "both"])
def test_publishing_categories_needs_them(publish: str) -> None:
    content = small()
    content["columns"]["s"] = {"role": "sensitive", "publish": publish}
    problem = one_problem(content)
    assert problem.where == "columns.s.publish"
    assert "declares none" in problem.message


@pytest.mark.parametrize(
    ("categories", "where", "words"),
    [
        ({"hi": ["a", "b"], "lo": ["b"]}, "columns.s.categories", "'b' is listed in 'hi' and in 'lo'"),
        ({"hi": ["a", "a"], "lo": ["b"]}, "columns.s.categories", "'a' is listed 2 times in 'hi'"),
        ({"hi": [None], "lo": ["b", None]}, "columns.s.categories", "the missing value is listed in 'hi' and in 'lo'"),
        ({"hi": [5], "lo": ["5"]}, "columns.s.categories", "'5' is listed in 'hi' and in 'lo'"),
        ({"hi": [5, 5.0]}, "columns.s.categories", "'5' is listed 2 times"),
        ({"hi": [], "lo": ["b"]}, "columns.s.categories.hi", "no values"),
        ({}, "columns.s.categories", "no category"),
        (["a", "b"], "columns.s.categories", "must be a mapping"),
        ({"hi": "a", "lo": ["b"]}, "columns.s.categories.hi", "must be a list"),
        ({"hi": None, "lo": ["b"]}, "columns.s.categories.hi", "must be a list"),
        ({"hi": ["a", ["b"]]}, "columns.s.categories.hi[1]", "a single value"),
        ({"hi": ["a", {"b": 1}]}, "columns.s.categories.hi[1]", "a single value"),
        ({None: ["a"], "lo": ["b"]}, "columns.s.categories", "the category null"),
        ({5: ["a"], "5": ["b"]}, "columns.s.categories", "'5' is listed twice"),
    ],
)
def test_categories_hold_each_value_once(categories: Any, where: str, words: str) -> None:
    content = small()
    content["columns"]["s"]["categories"] = categories
    problem = one_problem(content)
    assert problem.where == where
    assert words in problem.message


@pytest.mark.parametrize(
    ("role", "key", "value"),
    [
        ("identifier", "hierarchy", "flat"),
        ("insensitive", "hierarchy", "flat"),
        ("sensitive", "boundary", 1),
        ("identifier", "boundary", 1),
        ("quasi", "categories", {"hi": ["a"]}),
        ("quasi", "publish", "values"),
        ("insensitive", "publish", "both"),
    ],
)
def test_a_key_of_another_role_is_refused(role: str, key: str, value: Any) -> None:
    content = small()
    content["columns"]["other"] = {"role": role, key: value}
    problem = one_problem(content)
    assert problem.where == f"columns.other.{key}"
    assert f"this one is {role}" in problem.message


@pytest.mark.parametrize(
    ("hierarchy", "where", "words"),
    [
        (5, "", "must be a mapping"),
        ([5, 10], "", "must be a mapping"),
        ({}, "", "exactly one kind of hierarchy (given: none)"),
        ({"flat": True, "mask": "right"}, "", "exactly one kind of hierarchy (given: mask, flat)"),
        ({"flat": False}, ".flat", "must be true"),
        ({"flat": 1}, ".flat", "must be true"),
        ({"intervals": 5}, ".intervals", "must be a mapping"),
        ({"intervals": []}, "", "neither widths nor cuts"),
        ({"intervals": [5, "10"]}, ".intervals[1]", "must be a number"),
        ({"intervals": [5, 12]}, "", "not a multiple"),
        ({"intervals": [-5]}, "", "not positive"),
        ({"intervals": [math.inf]}, ".intervals[0]", "finite"),
        ({"intervals": [[0, 5, "x"]]}, ".intervals[0][2]", "must be a number"),
        ({"intervals": [[0, 5, math.nan]]}, ".intervals[0][2]", "must be a number"),
        ({"intervals": [[0, 5], 5]}, ".intervals[1]", "must be a list"),
        ({"intervals": [[5, 0]]}, "", "increasing"),
        ({"intervals": {"widths": [5], "bounds": [0]}}, ".intervals.bounds", "two numbers"),
        ({"intervals": {"widths": [5], "bounds": [9, 0]}}, "", "wrong order"),
        ({"intervals": {"widths": [5], "origin": "x"}}, ".intervals.origin", "must be a number"),
        ({"mask": 5}, ".mask", "must be a mapping"),
        ({"mask": {"steps": [1, 2.5]}}, ".mask.steps[1]", "whole number"),
        ({"mask": {"steps": [2, 1]}}, "", "increasing"),
        ({"mask": {"alphabet": 7}}, ".mask.alphabet", "must be text"),
        ({"mask": {"alphabet": ""}}, "", "alphabet"),
        ({"dates": 5}, ".dates", "must be a mapping"),
        ({"dates": ["year", "month"]}, "", "year"),
        ({"order": "low"}, ".order", "must be a mapping"),
        ({"order": []}, "", "no values"),
        ({"order": ["a", ["b"]]}, ".order[1]", "a single value"),
        ({"order": ["a", "b", "a"]}, "", "more than once"),
        ({"order": {"values": ["a", "b"], "groups": [2, 3]}}, "", "multiple"),
        ({"levels": 5}, ".levels", "must be a mapping"),
        ({"levels": {"separator": ";"}}, ".levels.path", "is required"),
        ({"tree": 5}, ".tree", "nested mappings"),
        ({"tree": {}}, "", "empty"),
        ({"tree": {"A": ["x"], "B": ["y", "x"]}}, "", "'x' is listed under both 'A' and 'B'"),
        ({"tree": {"A": [["x"]]}}, "", "list within a list"),
        ({"tree": {5: ["x"], "5": ["y"]}}, ".tree", "'5' is listed twice"),
        ({"tree": {"A": [{1, 2}]}}, ".tree", "a single value"),
    ],
)
def test_a_wrong_hierarchy_is_told_where_it_stands(hierarchy: Any, where: str, words: str) -> None:
    content = small()
    content["columns"]["q"]["hierarchy"] = hierarchy
    problem = one_problem(content)
    assert problem.where == f"columns.q.hierarchy{where}"
    assert words in problem.message


@pytest.mark.parametrize("hierarchy", [{"order": ["*"]}, {"tree": ["*"]}, {"tree": {"*": ["x"]}}])
def test_a_hierarchy_is_not_refused_for_a_missing_value_that_the_data_may_not_have(hierarchy: Any) -> None:
    content = small()
    content["columns"]["q"]["hierarchy"] = hierarchy
    Policy.model_validate(content)


def test_a_tree_that_holds_itself_is_told() -> None:
    tree: dict[str, Any] = {"A": ["x"]}
    tree["B"] = tree
    content = small()
    content["columns"]["q"]["hierarchy"] = {"tree": tree}
    assert "holds itself" in one_problem(content).message


@pytest.mark.parametrize(
    ("boundary", "where", "words"),
    [
        ("Amrica", "", "'Amrica' is not in the hierarchy"),
        (["America", "Asien"], "", "'Asien' is not in the hierarchy"),
        (3, "", "level 3"),
        (-1, "", "0 or more"),
        ([], "", "empty"),
        ({"a": "b"}, "", "a single value"),
        (["America", ["Asia"]], "[1]", "a single value"),
        (1.5, "", "'1.5' is not in the hierarchy"),
        (True, "", "'true' is not in the hierarchy"),
    ],
)
def test_a_boundary_names_nodes_or_a_level_of_the_hierarchy(boundary: Any, where: str, words: str) -> None:
    problem = one_problem(hospital("columns", "country", "boundary", to=boundary))
    assert problem.where == f"columns.country.boundary{where}"
    assert words in problem.message


@pytest.mark.parametrize(("column", "level"), [("age", 5), ("country", 3)])
def test_a_level_above_the_root_says_which_there_are(column: str, level: int) -> None:
    problem = one_problem(hospital("columns", column, "boundary", to=level))
    assert f"to {level - 1} (the root)" in problem.fix
    Policy.model_validate(hospital("columns", column, "boundary", to=level - 1))


@pytest.mark.parametrize("value", [2, 1.0001, -0.1, "x", "5%", True, None, [0.1], math.nan, math.inf])
def test_suppression_is_a_share(value: Any) -> None:
    problem = one_problem(hospital("suppression", to=value))
    assert problem.where == "suppression"
    assert "number" in problem.message


@pytest.mark.parametrize("value", [0, 1, 0.5, 0.0])
def test_suppression_may_be_any_share(value: float) -> None:
    assert Policy.model_validate(hospital("suppression", to=value)).suppression == value


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (5, "data"),
        (["a.csv"], "data"),
        (True, "data"),
        ({}, "data.path"),
        ({"path": 5}, "data.path"),
        ({"path": None}, "data.path"),
        ({"path": "a", "separator": ";;"}, "data.separator"),
        ({"path": "a", "separator": ""}, "data.separator"),
        ({"path": "a", "separator": 5}, "data.separator"),
        ({"path": "a", "quote": "''"}, "data.quote"),
        ({"path": "a", "encoding": "utf9"}, "data.encoding"),
        ({"path": "a", "encoding": "base64"}, "data.encoding"),
        ({"path": "a", "missing": "?"}, "data.missing"),
        ({"path": "a", "missing": ["?", -9]}, "data.missing[1]"),
        ({"path": "a", "missing": [None]}, "data.missing[0]"),
    ],
)
def test_wrong_data_settings_are_told_with_their_place(data: Any, where: str) -> None:
    assert one_problem(hospital("data", to=data)).where == where


def test_a_missing_mark_that_is_a_number_is_told_to_be_quoted() -> None:
    assert "'-9'" in one_problem(hospital("data", to={"path": "a", "missing": [-9]})).fix


@pytest.mark.parametrize(
    ("algorithm", "where"),
    [
        (5, "algorithm"),
        (["optimal"], "algorithm"),
        ({"name": 5}, "algorithm.name"),
        ({"name": "optimal", "metric": 5}, "algorithm.metric"),
        ({"seed": "x"}, "algorithm.seed"),
        ({"seed": 1.5}, "algorithm.seed"),
        ({"name": "optimal", "weights": {"age": 1}}, "algorithm.weights"),
        ({"name": "optimal", "node": {"age": 1}}, "algorithm.node"),
        ({"name": "greedy-lattice", "metric": "loss"}, "algorithm.metric"),
        ({"name": "greedy-lattice", "weights": [1]}, "algorithm.weights"),
        ({"name": "greedy-lattice", "weights": {"age": 2}}, "algorithm.weights.age"),
        ({"name": "greedy-lattice", "weights": {"age": -0.1}}, "algorithm.weights.age"),
        ({"name": "greedy-lattice", "weights": {"age": "x"}}, "algorithm.weights.age"),
        ({"name": "greedy-lattice", "weights": {"condition": 1}}, "algorithm.weights.condition"),
        ({"name": "incognito", "node": {"agee": 1}}, "algorithm.node.agee"),
        ({"name": "incognito", "node": {"age": "x"}}, "algorithm.node.age"),
        ({"name": "incognito", "node": {"age": -1}}, "algorithm.node.age"),
        ({"name": "incognito", "node": {None: 1}}, "algorithm.node"),
    ],
)
def test_wrong_algorithm_options_are_told_with_their_place(algorithm: Any, where: str) -> None:
    assert one_problem(hospital("algorithm", to=algorithm)).where == where


@pytest.mark.parametrize("output", [5, ["a.csv"], True])
def test_the_output_is_a_path(output: Any) -> None:
    assert one_problem(hospital("output", to=output)).where == "output"


@pytest.mark.parametrize("content", [None, [], "policy", 5, ["columns"]])
def test_a_policy_is_a_mapping(content: Any) -> None:
    assert "a policy is a mapping" in one_problem(content).message


def test_unknown_keys_that_are_no_text_are_shown_as_the_policy_has_them() -> None:
    assert problem_paths(small() | {None: 1, 5: 2}) == ["null", "5"]


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["quasi", "flat"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.none() | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)


def _spots(content: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [above] if above else []
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return found + [spot for key, value in items for spot in _spots(value, (*above, key))]


@given(st.data())
def test_anything_in_any_place_is_accepted_or_refused_in_words_of_a_policy(data: st.DataObject) -> None:
    content = hospital()
    for _ in range(data.draw(st.integers(1, 3))):
        spot = data.draw(st.sampled_from(_spots(content)))
        at: Any = content
        for part in spot[:-1]:
            at = at[part]
        at[spot[-1]] = data.draw(junk)
    error = refusal(content)
    if error is None:
        policy = Policy.model_validate(content)
        assert Policy.model_validate(policy.to_dict()) == policy
        return
    assert error.problems
    for problem in error.problems:
        assert problem.message
        assert not INTERNALS.search(f"{problem.where} {problem.message.partition('(given')[0]} {problem.fix}")
