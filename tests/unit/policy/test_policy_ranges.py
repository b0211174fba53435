"""The option ``ranges``: which algorithms take it, and which columns it may name."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.ranges import RangeLabels
from shoal.verification.runs import RunLabels
from shoal.verification.stated_policy import stated
from support.policy_cases import hospital, problems_of

LOCAL = ["mondrian", "top-down", "greedy-clustering"]


def with_ranges(name: str, ranges: Any, **options: Any) -> dict[str, Any]:
    return hospital("algorithm", to={"name": name, "ranges": ranges, **options})


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("ranges", [["age"], []])
def test_local_algorithms_take_ranges(name: str, ranges: list[str]) -> None:
    policy = Policy.model_validate(with_ranges(name, ranges))
    assert policy.algorithm.ranges == ranges
    assert {column for column, kind in quasi_labels(stated(policy)).items() if isinstance(kind, RangeLabels)} == set(
        ranges
    )


def test_the_faithful_form_takes_ranges_too() -> None:
    assert Policy.model_validate(with_ranges("greedy-clustering", ["age"], faithful=True)).algorithm.ranges == ["age"]


@pytest.mark.parametrize("name", sorted(set(ALGORITHMS) - {*LOCAL, "auto", "range"}))
def test_full_domain_algorithms_do_not(name: str) -> None:
    (problem,) = problems_of(with_ranges(name, ["age"]))
    assert problem.where == "algorithm.ranges"
    assert "no such option" in problem.message


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("column", ["condition", "name", "agee"])
def test_only_a_quasi_identifier_can_be_released_as_ranges(name: str, column: str) -> None:
    (problem,) = problems_of(with_ranges(name, ["age", column]))
    assert problem.where == f"algorithm.ranges.{column}"
    assert "not a quasi-identifier" in problem.message
    assert column != "agee" or "'age'" in problem.fix


@pytest.mark.parametrize("ranges", ["age", {"age": True}, [5], [None]])
def test_ranges_are_a_list_of_columns(ranges: Any) -> None:
    (problem,) = problems_of(with_ranges("mondrian", ranges))
    assert problem.where.startswith("algorithm.ranges")


RUNS = {"age": {"step": 5}}


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize(
    "ranges",
    [
        RUNS,
        {"age": {"step": 2.5, "origin": 1}},
        {"age": "free"},
        {"age": "free", "country": {"order": ["USA", "Canada", "China", "Japan", "India"]}},
        {"country": {"order": "hierarchy", "names": {"North America": ["USA", "Canada"]}}},
    ],
)
def test_a_mapping_says_how_columns_are_divided_and_is_kept_as_written(name: str, ranges: dict[str, Any]) -> None:
    policy = Policy.model_validate(with_ranges(name, ranges))
    assert policy.algorithm.ranges == ranges
    assert policy.to_dict()["algorithm"]["ranges"] == ranges
    assert Policy.model_validate(policy.to_dict()) == policy
    kinds = quasi_labels(stated(policy))
    assert {column for column in ranges if isinstance(kinds[column], RangeLabels)} == {
        column for column, form in ranges.items() if form == "free"
    }
    assert {column for column in kinds if isinstance(kinds[column], RunLabels)} == {
        column for column, form in ranges.items() if form != "free"
    }


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"step": 0}, "range-step"),
        ({"step": -5}, "range-step"),
        ({"step": float("inf")}, "out-of-range"),
        ({"step": True}, "wrong-type"),
        ({"step": "five"}, "range-step"),
        ({"step": "0 months"}, "range-step"),
        ({"step": [5, 10]}, "wrong-type"),
        ({"step": 5, "names": {"all": ["1", "2"]}}, "names-without-order"),
        ({"step": "1 month", "origin": 3}, "range-step"),
        ({"step": 5, "order": ["1", "2"]}, "step-or-order"),
        ({}, "wrong-type"),
        ({"width": 5}, "wrong-type"),
        ({"order": ["low"]}, "wrong-type"),
        ({"order": ["low", "low"]}, "range-order"),
        ({"order": ["low", None]}, "range-order"),
        ({"order": ["low", "mid", "high"], "names": {"rest": ["high", "mid"]}}, "range-names"),
        ({"order": ["low", "mid", "high"], "names": {"low": ["mid", "high"]}}, "range-names"),
        ({"order": ["low", "mid"], "names": {"a": ["low", "mid"], "b": ["low", "mid"]}}, "range-names"),
        (5, "wrong-type"),
    ],
)
def test_a_form_that_divides_nothing_is_refused(form: Any, code: str) -> None:
    (problem,) = problems_of(with_ranges("mondrian", {"age": form}))
    assert (problem.where, problem.code) == ("algorithm.ranges.age", code)


@pytest.mark.parametrize(
    ("column", "form"),
    [
        ("age", {"step": "1 month"}),
        ("age", {"order": ["1", "2"]}),
        ("age", {"order": "hierarchy"}),
        ("zipcode", {"step": 100}),
        ("zipcode", {"order": ["1", "2"]}),
        ("country", {"step": "1 year"}),
    ],
)
def test_a_form_must_fit_the_hierarchy_of_its_column(column: str, form: Any) -> None:
    (problem,) = problems_of(with_ranges("mondrian", {column: form}))
    assert (problem.where, problem.code) == (f"algorithm.ranges.{column}", "range-form")


def test_the_schema_knows_both_forms() -> None:
    algorithm = Policy.model_json_schema()["$defs"]["AlgorithmSpec"]["anyOf"][1]
    forms = {each["type"] for each in algorithm["properties"]["ranges"]["oneOf"]}
    assert forms == {"array", "object"}
