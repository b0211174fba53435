"""A policy against a table: what is encoded how, and what is wrong with the data."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shoal.encode.resolve import data_problems, unknown_columns, used_columns
from shoal.errors import DataError, PolicyError
from shoal.policy import Policy
from shoal.table.distinct_rows import DistinctRows
from support.policy_cases import data_problems_of, hospital, load_text, resolved, small, table
from support.resolved import resolve


def sensitive(spec: dict[str, Any], values: list[Any], *models: dict[str, Any]) -> Any:
    """A sensitive column of these values, resolved."""
    content = {
        "columns": {"q": {"role": "quasi"}, "s": {"role": "sensitive", **spec}},
        "privacy": [{"model": "k-anonymity", "k": 1}, *models],
    }
    return resolved(content, q=["x"] * len(values), s=values).sensitive["s"]


def published(column: Any) -> list[Any]:
    """The published value of each row."""
    return [column.domain.values[code] for code in column.codes]


def quasi(spec: dict[str, Any], values: list[Any]) -> Any:
    """A quasi-identifier of these values, resolved."""
    content = {"columns": {"q": {"role": "quasi", **spec}}, "privacy": [{"model": "k-anonymity", "k": 1}]}
    return resolved(content, q=values).quasi["q"]


# --- the budget -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "records", "budget"),
    [(0.05, 60, 3), (0.29, 100, 29), (0.1, 30, 3), (0.7, 10, 7), (0.57, 100, 57), (0.05, 59, 2), (0, 9, 0), (1, 9, 9),
     (1e-05, 100_000, 1), (0.999, 10, 9), (0.3, 10, 3)],
)  # fmt: skip
def test_the_budget_is_the_share_of_the_records_rounded_down_exactly(share: float, records: int, budget: int) -> None:
    content = small(suppression=share, columns={"q": {"role": "quasi"}})
    assert resolved(content, q=["x"] * records).problem.budget == budget


# --- quasi-identifiers ------------------------------------------------------------------------------------------------


def test_a_row_has_the_leaf_of_its_value() -> None:
    column = quasi({"hierarchy": {"tree": {"B": ["z", "y"], "A": ["x", "w"]}}}, ["x", "z", None, "x", "y"])
    leaves = column.hierarchy.labels[: column.hierarchy.n_leaves]
    assert [leaves[code] for code in column.codes] == ["x", "z", None, "x", "y"]
    assert set(leaves) == {"z", "y", "x", "w", None}


def test_a_column_of_one_value_is_fine() -> None:
    column = quasi({}, ["x", "x"])
    assert column.codes.tolist() == [0, 0]
    assert column.hierarchy.labels == ("x", "*")


@pytest.mark.parametrize("values", [[5, 6, None], [5.0, 6.0, None], ["5", "6", None]])
def test_numbers_of_the_policy_are_the_values_of_the_data_whatever_their_type(values: list[Any]) -> None:
    column = quasi({"hierarchy": {"tree": {"odd": [5], "even": [6.0]}}}, values)
    leaves = column.hierarchy.labels[: column.hierarchy.n_leaves]
    assert [leaves[code] for code in column.codes] == ["5", "6", None]


def test_words_and_dates_of_the_policy_are_the_values_of_the_data(tmp_path: Path) -> None:
    text = """
columns: {q: {role: quasi, hierarchy: {tree: {a: [NO, yes, 01234], b: [12:30, 2020-01-05, true], c: [null, 5]}}}}
privacy: [{model: k-anonymity, k: 1}]
"""
    values = ["NO", "yes", "01234", "12:30", "2020-01-05", "true", None, "5"]
    column = resolve(load_text(tmp_path, text), table(q=values)).quasi["q"]
    paths = [column.hierarchy.labels[column.hierarchy.levels[1, code]] for code in column.codes]
    assert paths == ["a", "a", "a", "b", "b", "b", "c", "c"]


def test_dates_of_the_data_are_the_texts_of_the_policy() -> None:
    days = [datetime.date(2020, 1, 5), datetime.date(2021, 1, 5)]
    column = quasi({"hierarchy": {"tree": {"old": ["2020-01-05"], "new": [datetime.date(2021, 1, 5)]}}}, days)
    assert [column.hierarchy.labels[column.hierarchy.levels[1, code]] for code in column.codes] == ["old", "new"]


@pytest.mark.parametrize(
    ("spec", "caps"),
    [
        ({}, {"x": "*", "y": "*", "z": "*"}),
        ({"boundary": ["A"]}, {"x": "A", "y": "A", "z": "*"}),
        ({"boundary": "B"}, {"x": "*", "y": "*", "z": "B"}),
        ({"boundary": ["A", "x"]}, {"x": "x", "y": "A", "z": "*"}),
        ({"boundary": 1}, {"x": "A", "y": "A", "z": "B"}),
        ({"boundary": 0}, {"x": "x", "y": "y", "z": "z"}),
        ({"boundary": [None]}, {"x": "*", "y": "*", "z": "*"}),
    ],
)
def test_a_boundary_caps_each_value(spec: dict[str, Any], caps: dict[str, str]) -> None:
    column = quasi({"hierarchy": {"tree": {"A": ["x", "y"], "B": ["z"]}}, **spec}, ["x", "y", "z"])
    labels = column.hierarchy.labels
    assert {labels[leaf]: labels[cap] for leaf, cap in enumerate(column.caps)} == caps


def test_the_ladders_stop_at_the_boundary() -> None:
    content = small(columns={"q": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}, "boundary": 2}})
    problem = resolved(content, q=["1", "7", "12"]).problem
    assert problem.shape == (3,)
    assert problem.ladders[0].nominal == (0, 1, 2)


def test_hierarchy_files_are_relative_to_the_policy(tmp_path: Path) -> None:
    (tmp_path / "levels.csv").write_text("x;A;*\ny;A;*\nz;B;*\n")
    (tmp_path / "tree.yaml").write_text("A: [x, y]\nB: [z]\n")
    text = """
columns:
  q: {role: quasi, hierarchy: {levels: levels.csv}}
  r: {role: quasi, hierarchy: {tree: tree.yaml}, boundary: [B]}
privacy: [{model: k-anonymity, k: 1}]
"""
    found = resolve(load_text(tmp_path, text), table(q=["x", "z"], r=["x", "z"]))
    for column in found.quasi.values():
        assert [column.hierarchy.labels[column.hierarchy.levels[1, code]] for code in column.codes] == ["A", "B"]


# --- sensitive columns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "order", "ordered"),
    [
        (["10", "9", "-1.5", "9"], ("-1.5", "9", "10"), True),
        (["10", None, "9"], ("9", "10", None), True),
        ([10, 9, 100], ("9", "10", "100"), True),
        ([1e3, 0.5, None], ("0.5", "1000", None), True),
        (["2020-02-01", "1999-12-31"], ("1999-12-31", "2020-02-01"), True),
        (["2020-02-01T10:00:00", "2020-02-01T09:30:00"], ("2020-02-01T09:30:00", "2020-02-01T10:00:00"), True),
        ([datetime.date(2020, 2, 1), datetime.date(1999, 12, 31)], ("1999-12-31", "2020-02-01"), True),
        (["b", "a", None], ("a", "b", None), False),
        (["10", "9", "x"], ("10", "9", "x"), False),
        (["1", "nan"], ("1", "nan"), False),
        (["1", "Infinity"], ("1", "Infinity"), False),
        (["2020-02-01", "2020-02-30"], ("2020-02-01", "2020-02-30"), False),
        (["2020-W05-1", "2020-W04-1"], ("2020-W04-1", "2020-W05-1"), False),
        (["x"], ("x",), False),
    ],
)
def test_values_are_in_their_natural_order(values: list[Any], order: tuple[Any, ...], ordered: bool) -> None:
    column = sensitive({}, values)
    assert column.domain.values == order
    assert column.domain.ordered is ordered
    assert column.domain.hierarchy is None
    assert column.category_codes is None
    assert [str(value) if value is not None else None for value in published(column)] == [
        None if value is None else str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in values
    ]


@pytest.mark.parametrize(
    ("hierarchy", "values", "order", "ordered"),
    [
        ({"order": ["low", "mid", "high"]}, ["high", "low", None], ("low", "mid", "high", None), True),
        ({"order": ["low", None, "high"]}, ["high", "low", None], ("low", None, "high"), True),
        ({"intervals": [5, 10]}, ["10", "9", None], ("9", "10", None), True),
        ({"dates": ["year"]}, ["2020-02-01", "1999-12-31"], ("1999-12-31", "2020-02-01"), True),
        ({"tree": {"B": ["y", "x"], "A": ["w"]}}, ["x", "w"], ("y", "x", "w"), False),
        ({"mask": "right"}, ["21", "11", "12"], ("11", "12", "21"), False),
        ("flat", ["b", "a"], ("a", "b"), False),
    ],
)
def test_a_hierarchy_brings_its_order_and_its_leaves_are_the_values(
    hierarchy: Any, values: list[Any], order: tuple[Any, ...], ordered: bool
) -> None:
    column = sensitive({"hierarchy": hierarchy, "unknown_counts": True}, values)
    assert column.domain.values == order
    assert column.domain.ordered is ordered
    if "mask" in hierarchy:  # how codes group depends on the longest one, so a mask tells no distances
        assert column.domain.hierarchy is None
    else:
        assert column.domain.hierarchy.labels[: len(order)] == order
    assert published(column) == values


@pytest.mark.parametrize("hierarchy", [None, {"intervals": [5, 10]}, {"order": ["9", "10"]}, {"tree": {"A": [9, 10]}}])
def test_unknown_values_are_published_after_all_others_and_need_no_hierarchy(hierarchy: Any) -> None:
    spec = {"unknown": ["n/a", "?", 99]} | ({} if hierarchy is None else {"hierarchy": hierarchy})
    values = ["10", "?", "9", None, "99", "10"]
    column = sensitive(spec, values)
    assert column.domain.values == ("9", "10", "99", "?", None)
    assert column.domain.unknown == {"?", "99", None}
    assert column.domain.known.tolist() == [True, True, False, False, False]
    assert published(column) == values


def test_an_unknown_value_may_be_a_leaf_of_the_hierarchy() -> None:
    column = sensitive({"unknown": ["?"], "hierarchy": {"tree": {"A": ["x", "?"], "B": ["y"]}}}, ["y", "?", "x", None])
    assert column.domain.values == ("x", "?", "y", None)
    assert column.domain.known.tolist() == [True, False, True, False]
    assert published(column) == ["y", "?", "x", None]


def test_levels_of_a_file_are_a_hierarchy_of_a_sensitive_column(tmp_path: Path) -> None:
    (tmp_path / "levels.csv").write_text("x;A\ny;B\n")
    text = """
columns: {q: {role: quasi}, s: {role: sensitive, hierarchy: {levels: levels.csv}}}
privacy: [{model: p-sensitive, p: 1}]
"""
    column = resolve(load_text(tmp_path, text), table(q=["1", "1"], s=["y", "x"])).sensitive["s"]
    assert published(column) == ["y", "x"]
    assert column.domain.hierarchy is not None
    assert column.domain.hierarchy.height == 2


CATEGORIES = {"hi": ["HIV", "Cancer"], "mid": [None], "lo": ["Flu", "Cold"]}


def test_categories_are_a_hierarchy_of_two_levels() -> None:
    column = sensitive({"categories": CATEGORIES, "unknown_counts": True}, ["Flu", None, "HIV"])
    domain = column.domain
    assert published(column) == ["Flu", None, "HIV"]
    assert domain.categories == ("hi", "mid", "lo")
    of_value = dict(zip(domain.values, [domain.categories[place] for place in domain.category_of], strict=True))
    assert of_value == {"HIV": "hi", "Cancer": "hi", None: "mid", "Flu": "lo", "Cold": "lo"}
    hierarchy = domain.hierarchy
    assert hierarchy.height == 2
    assert {hierarchy.labels[node] for node in hierarchy.levels[1]} == {"hi", "mid", "lo"}
    assert not domain.ordered


def test_categories_serve_the_hierarchical_distance() -> None:
    model = {"model": "t-closeness", "t": 0.5, "distance": "hierarchical"}
    assert sensitive({"categories": CATEGORIES}, ["Flu", "HIV"], model).domain.hierarchy is not None


def test_published_categories_are_the_values_of_the_domain() -> None:
    spec = {"categories": CATEGORIES, "publish": "categories", "unknown_counts": True}
    column = sensitive(spec, ["Flu", None, "HIV", "Cold"])
    assert column.domain.values == column.domain.categories == ("hi", "mid", "lo")
    assert published(column) == ["lo", "mid", "hi", "lo"]
    assert column.domain.ordered
    assert column.domain.category_of.tolist() == [0, 1, 2]
    assert column.category_codes is None


def test_published_both_has_the_category_beside_the_value() -> None:
    spec = {"categories": CATEGORIES, "publish": "both", "unknown_counts": True}
    column = sensitive(spec, ["Flu", None, "HIV", "Cold"])
    assert published(column) == ["Flu", None, "HIV", "Cold"]
    assert [column.domain.categories[code] for code in column.category_codes] == ["lo", "mid", "hi", "lo"]


def test_an_unknown_value_has_no_category_and_is_published_as_it_is() -> None:
    spec = {"categories": {"hi": ["HIV"], "mid": [None], "lo": ["Flu"]}, "unknown": ["?"], "publish": "categories"}
    values = ["Flu", None, "HIV", "?"]
    column = sensitive(spec, values)
    assert published(column) == ["lo", None, "hi", "?"]
    assert column.domain.category_of.tolist() == [0, 1, 2, -1, -1]
    column = sensitive(spec | {"publish": "both"}, values)
    assert published(column) == values
    assert [(*column.domain.categories, None)[code] for code in column.category_codes] == ["lo", None, "hi", None]


def test_an_unknown_value_that_is_called_like_a_published_category_is_told() -> None:
    column = {"role": "sensitive", "categories": {"n/a": ["HIV"], "lo": ["Flu"]}, "unknown": ["n/a"]}
    content = small(columns={"q": {"role": "quasi"}, "s": column | {"publish": "categories"}})
    (problem,) = data_problems_of(content, q=["x"] * 2, s=["Flu", "HIV"])
    assert (problem.code, problem.where) == ("unknown-category", "columns.s.unknown")
    assert resolved(small(columns={"q": {"role": "quasi"}, "s": column}), q=["x"] * 2, s=["Flu", "HIV"])


def test_a_column_in_which_nothing_is_known_is_told() -> None:
    column = {"role": "sensitive", "unknown": ["?"]}
    content = small(columns={"q": {"role": "quasi"}, "s": column})
    (problem,) = data_problems_of(content, q=["x"] * 2, s=["?", None])
    assert (problem.code, problem.where) == ("no-values", "columns.s")


def test_published_values_have_no_category_beside_them() -> None:
    assert sensitive({"categories": CATEGORIES, "publish": "values"}, ["Flu"]).category_codes is None


def test_categories_are_published_by_default_where_only_p_plus_is_asked() -> None:
    model = {"model": "p-plus-alpha-sensitive", "p": 1, "alpha": 0}
    assert published(sensitive({"categories": CATEGORIES}, ["Flu", "HIV"], model)) == ["lo", "hi"]
    with_other = sensitive({"categories": CATEGORIES}, ["Flu", "HIV"], model, {"model": "p-sensitive", "p": 1})
    assert published(with_other) == ["Flu", "HIV"]


def test_a_category_holds_for_a_value_as_the_data_writes_it() -> None:
    spec = {"categories": {"hi": ["039"], "lo": ["40"]}, "hierarchy": {"intervals": [5]}, "publish": "both"}
    column = sensitive(spec, ["039", "40", "039"])
    assert column.domain.values == ("39", "40")
    assert column.category_codes.tolist() == [0, 1, 0]


def test_numbers_in_categories_are_the_values_of_the_data() -> None:
    column = sensitive({"categories": {"hi": [5], "lo": [6.0, 7]}}, [5, 6, 7])
    assert [column.domain.category_of[code] for code in column.codes] == [0, 1, 1]


# --- what is wrong with the data --------------------------------------------------------------------------------------


def test_values_that_a_tree_lacks_are_told_with_their_records() -> None:
    content = small(columns={"q": {"role": "quasi", "hierarchy": {"tree": {"A": ["USA"], "B": ["China"]}}}})
    (problem,) = data_problems_of(content, q=["USA", "Usa", "Usa", "Peru", None])
    assert problem.where == "columns.q.hierarchy"
    assert "'Usa' (2 records; nearest known: 'USA')" in problem.message
    assert "'Peru' (1 record)" in problem.message
    assert problem.facts["values"] == {"Usa": 2, "Peru": 1}


def test_values_in_no_category_are_told_with_their_records() -> None:
    content = small(
        columns={
            "q": {"role": "quasi"},
            "s": {"role": "sensitive", "categories": {"a": ["Flu"], "b": ["HIV"]}, "unknown_counts": True},
        }
    )
    spelled, problem = data_problems_of(content, q=["x"] * 6, s=["Flu", "flu", "flu", "HIV", None, "flu"])
    assert spelled.code == "spellings-of-one-value"
    assert problem.where == "columns.s.categories"
    assert "'flu' (3 records; nearest known: 'Flu')" in problem.message
    assert "the missing value (1 record)" in problem.message
    assert "null" in problem.fix
    assert problem.facts["values"] == {"flu": 3, None: 1}


@pytest.mark.parametrize("publish", ["values", "categories", "both"])
def test_a_missing_value_that_counts_needs_a_category_whatever_is_published(publish: str) -> None:
    column = {"role": "sensitive", "categories": {"a": ["Flu"], "b": ["HIV"]}, "publish": publish}
    content = small(columns={"q": {"role": "quasi"}, "s": column})
    assert resolved(content, q=["x"] * 2, s=["Flu", None])
    column["unknown_counts"] = True
    (problem,) = data_problems_of(content, q=["x"] * 2, s=["Flu", None])
    assert "the missing value (1 record)" in problem.message


def test_hierarchy_and_categories_of_one_column_are_both_told() -> None:
    column = {"role": "sensitive", "categories": {"a": ["Flu"]}, "hierarchy": {"tree": {"A": ["Flu"], "B": ["HIV"]}}}
    found = data_problems_of(small(columns={"q": {"role": "quasi"}, "s": column}), q=["x"] * 2, s=["Flu", "Cold"])
    assert [problem.where for problem in found] == ["columns.s.categories", "columns.s.hierarchy"]


def test_a_hierarchy_that_lists_a_value_of_no_category_is_told() -> None:
    column = {
        "role": "sensitive",
        "categories": {"a": ["Flu"], "b": ["Cold"]},
        "hierarchy": {"order": ["Flu", "HIV", "Cold"]},
    }
    (problem,) = data_problems_of(small(columns={"q": {"role": "quasi"}, "s": column}), q=["x"] * 2, s=["Flu", "Cold"])
    assert problem.where == "columns.s.hierarchy"
    assert "'HIV'" in problem.message


def test_one_value_in_two_categories_by_two_spellings_is_told() -> None:
    column = {"role": "sensitive", "categories": {"a": ["39"], "b": ["039"]}, "hierarchy": {"intervals": [5]}}
    (problem,) = data_problems_of(small(columns={"q": {"role": "quasi"}, "s": column}), q=["x"] * 2, s=["39", "039"])
    assert problem.where == "columns.s.categories"
    assert "two categories" in problem.message


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_a_column_without_any_value_is_a_problem(role: str) -> None:
    content = small(columns={"q": {"role": "quasi"}, "e": {"role": role}})
    (problem,) = data_problems_of(content, q=["x", "y"], e=pa.nulls(2, pa.string()).to_pylist())
    assert problem.where == "columns.e"
    assert "2 records" in problem.message
    assert "missing" in problem.fix


def test_an_insensitive_column_may_be_empty() -> None:
    resolved(small(columns={"q": {"role": "quasi"}, "e": {"role": "insensitive"}}), q=["x"], e=[None])


def test_values_that_are_no_numbers_are_told() -> None:
    content = small(columns={"q": {"role": "quasi", "hierarchy": {"intervals": [5]}}})
    (problem,) = data_problems_of(content, q=["5", "five", "7"])
    assert "'five' (1 record)" in problem.message


@pytest.mark.parametrize("boundary", [["12*"], 7])
def test_a_boundary_that_only_the_data_can_refute_is_told(boundary: Any) -> None:
    content = small(columns={"q": {"role": "quasi", "hierarchy": {"mask": "right"}, "boundary": boundary}})
    (problem,) = data_problems_of(content, q=["456", "457"])
    assert problem.where == "columns.q.boundary"


@pytest.mark.parametrize(
    ("model", "where"),
    [
        ({"model": "alpha-k-anonymity", "alpha": {"Flue": 0.5}}, "privacy[1].alpha"),
        ({"model": "alp-dif", "limits": {"Flue": {"alp": 0.5}}}, "privacy[1].limits"),
        ({"model": "t-closeness", "t": 0.5, "distance": "ordered"}, "privacy[1].distance"),
        ({"model": "t-closeness", "t": 0.5, "distance": "hierarchical"}, "privacy[1].distance"),
    ],
)
def test_a_model_that_does_not_fit_the_values_is_told_with_its_place(model: dict[str, Any], where: str) -> None:
    columns = {"q": {"role": "quasi"}, "s": {"role": "sensitive"}}
    content = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}, model]}
    (problem,) = data_problems_of(content, q=["x", "x"], s=["Flu", "HIV"])
    assert problem.where == where
    assert problem.fix


def test_limits_speak_of_categories_where_those_are_published() -> None:
    columns = {"q": {"role": "quasi"}, "s": {"role": "sensitive", "categories": CATEGORIES, "publish": "categories"}}
    content = {"columns": columns, "privacy": [{"model": "alpha-k-anonymity", "alpha": {"hi": 0.5}}]}
    resolved(content, q=["x"], s=["Flu"])
    content["privacy"] = [{"model": "alpha-k-anonymity", "alpha": {"Flu": 0.5}}]
    (problem,) = data_problems_of(content, q=["x"], s=["Flu"])
    assert problem.where == "privacy[0].alpha"


def test_every_problem_with_the_data_is_told_at_once() -> None:
    content = hospital()
    content["privacy"].append({"model": "t-closeness", "t": 0.5, "distance": "ordered"})
    rows = {"age": ["x", "5"], "zipcode": ["12", "1*"], "country": ["Peru", "USA"], "condition": ["Flu", "Cold"]}
    found = data_problems_of(content, **rows)
    assert [problem.where for problem in found] == [
        "columns.age.hierarchy",
        "columns.zipcode.hierarchy",
        "columns.country.hierarchy",
        "columns.condition.categories",
    ]


def test_a_column_that_the_table_lacks_is_not_passed_over() -> None:
    found = data_problems_of(hospital(), age=["5"], zipcode=["12"], condition=["Cold"])
    assert [problem.where for problem in found] == ["columns.country", "columns.condition.categories"]


def test_a_lacking_column_alone_is_enough_to_refuse() -> None:
    (problem,) = data_problems_of(small(), q=["x"])
    assert (problem.where, problem.message) == ("columns.s", "the data has no such column.")


def test_identifiers_need_not_be_in_the_table() -> None:
    rows = {"age": ["5"], "zipcode": ["12"], "country": ["USA"], "condition": ["Flu"]}
    assert list(resolved(hospital(), **rows).quasi) == ["age", "zipcode", "country"]


def test_a_table_without_records_is_refused() -> None:
    with pytest.raises(DataError, match="no records"):
        resolve(Policy(**small(columns={"q": {"role": "quasi"}})), table(q=[]))


def test_the_error_names_the_file_of_the_policy(tmp_path: Path) -> None:
    policy = load_text(tmp_path, "{columns: {q: {role: quasi}}, privacy: [{model: k-anonymity, k: 1}]}")
    with pytest.raises(PolicyError) as caught:
        resolve(policy, table(q=[None]))
    assert str(caught.value).startswith(str(tmp_path / "policy.yaml"))


def test_a_hierarchy_file_that_is_wrong_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "twice.yaml").write_text("A: [x]\nA: [y]\n")
    text = """
columns:
  a: {role: quasi, hierarchy: {tree: nowhere.yaml}}
  b: {role: quasi, hierarchy: {tree: twice.yaml}}
  c: {role: quasi, hierarchy: {levels: nowhere.csv}}
privacy: [{model: k-anonymity, k: 1}]
"""
    with pytest.raises(PolicyError) as caught:
        resolve(load_text(tmp_path, text), table(a=["x"], b=["x"], c=["x"]))
    found = caught.value.problems
    assert [problem.where for problem in found] == [f"columns.{name}.hierarchy" for name in "abc"]
    assert "nowhere.yaml" in found[0].message
    assert "line 2" in found[1].message
    assert "nowhere.csv" in found[2].message


# --- columns ----------------------------------------------------------------------------------------------------------


def test_every_column_but_identifiers_is_read() -> None:
    assert used_columns(Policy(**hospital())) == ["age", "zipcode", "country", "condition"]


def test_an_unknown_column_names_the_nearest_and_the_hint() -> None:
    columns = Policy(**small()).columns
    found = unknown_columns(columns, ["Q", "s", "t"], "is the separator ';'?")
    assert [problem.where for problem in found] == ["columns.q"]
    assert "Known: Q, s, t." in found[0].fix
    assert found[0].fix.endswith("Is the separator ';'?")


@pytest.mark.parametrize("held", ["data", "policy"])
def test_a_column_that_the_release_would_have_twice_is_refused(held: str) -> None:
    content = small()
    content["columns"]["s"]["publish"] = "both"
    names = ["q", "s", "s_category"]
    if held == "policy":
        content["columns"]["s_category"] = {"role": "insensitive"}
    (problem,) = unknown_columns(Policy(**content).columns, names, "")
    assert problem.where == "columns.s.publish"
    assert "s_category" in problem.message


def test_data_problems_pass_over_columns_that_the_table_lacks() -> None:
    policy = Policy(**hospital())
    found = data_problems(policy.columns, policy.models_with_paths(), DistinctRows.of(table(age=["x"])), Path())
    assert [problem.where for problem in found] == ["columns.age.hierarchy"]
    assert data_problems(policy.columns, policy.models_with_paths(), DistinctRows.of(table(age=["5"])), Path()) == []
