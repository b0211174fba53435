"""The option ``ranges``: which algorithms take it, and which columns it may name."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.ranges import RangeLabels
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


@pytest.mark.parametrize("name", sorted(set(ALGORITHMS) - {*LOCAL, "range"}))
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
