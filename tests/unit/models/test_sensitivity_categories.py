"""Sun's weights and distances, and what a model says when a column's categories do not serve it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shoal.models import GroupLeakage, Model, PAlphaSensitive, PPlusAlphaSensitive
from shoal.models.sensitivity import category_distance, category_weight, class_weight, weight_steps
from support.builders import domain_of, view_of

WEIGHTED = [PAlphaSensitive(2, alpha=1, sensitive="condition"), PPlusAlphaSensitive(2, alpha=1, sensitive="condition")]
LEAKAGE = GroupLeakage(2, alpha={"high": 0.5}, sensitive="condition")


def test_the_most_sensitive_category_weighs_nothing_and_the_least_one() -> None:
    assert [category_weight(i, 3) for i in (1, 2, 3)] == [0, Fraction(1, 2), 1]


def test_distance_has_no_direction() -> None:
    assert category_distance(2, 5, 5) == category_distance(5, 2, 5) == Fraction(3, 4)


def test_one_category_leaves_the_weight_undefined() -> None:
    with pytest.raises(ValueError, match="two categories or more, not for 1"):
        category_weight(1, 1)


@pytest.mark.parametrize("place", [0, 4])
def test_a_category_that_does_not_exist_has_no_weight(place: int) -> None:
    with pytest.raises(ValueError, match=f"no category {place} of 3"):
        category_weight(place, 3)


def test_weights_add_up_over_records_without_rounding() -> None:
    domain = domain_of("abcd", categories={"one": "a", "two": "b", "three": "c", "four": "d"})
    view = view_of(["bbcc", "aaad", "b" * 300], domain)
    assert weight_steps(view).tolist() == [6, 3, 300]
    assert [class_weight(view, index) for index in range(3)] == [2, 1, 100]
    assert PAlphaSensitive(1, alpha=2, sensitive="condition").holds(view).tolist() == [True, False, True]


@pytest.mark.parametrize("model", WEIGHTED, ids=repr)
def test_weights_need_two_categories_and_the_problem_says_so(model: Model) -> None:
    (problem,) = model.domain_problems(domain_of("ab", categories={"all": "ab"}))
    assert "undefined" in problem.message
    assert problem.code == "too-few-categories"


@pytest.mark.parametrize("model", [*WEIGHTED, LEAKAGE], ids=repr)
def test_a_column_without_categories_is_a_problem(model: Model) -> None:
    (problem,) = model.domain_problems(domain_of("ab"))
    assert problem.code == "no-categories"


@pytest.mark.parametrize("model", [*WEIGHTED, LEAKAGE], ids=repr)
def test_a_value_in_no_category_is_named(model: Model) -> None:
    domain = domain_of(["a", "b", "Gout", None], categories={"high": "a", "low": "b"})
    (problem,) = model.domain_problems(domain)
    assert (problem.code, problem.facts["values"]) == ("value-in-no-category", ("Gout", None))


def test_a_leakage_limit_needs_only_one_category() -> None:
    assert LEAKAGE.domain_problems(domain_of("a", categories={"high": "a"})) == []


def test_a_limit_for_an_unknown_category_suggests_the_nearest() -> None:
    domain = domain_of("ab", categories={"Top Secret": "a", "Secret": "b"})
    model = GroupLeakage(1, alpha={"Top Secret": 0.5, "Secrte": 0.8}, sensitive="condition")
    (problem,) = model.domain_problems(domain)
    assert problem.where == "alpha"
    assert "no category 'Secrte'" in problem.message
    assert "Did you mean 'Secret'?" in problem.fix


@pytest.mark.parametrize(
    ("alpha", "wrong"),
    [
        ({"high": 0.5, "middle": 0.4, "low": 1}, "'middle' (0.4) is below that of 'high' (0.5)"),
        ({"middle": 0.5}, "'middle' (0.5) is below that of 'high' (1)"),
        ({"high": 0.5, "low": 0.9}, "'low' (0.9) is below that of 'middle' (1)"),
    ],
)
def test_limits_do_not_decrease_towards_the_less_sensitive(alpha: dict[str, float], wrong: str) -> None:
    domain = domain_of("abc", categories={"high": "a", "middle": "b", "low": "c"})
    (problem,) = GroupLeakage(1, alpha=alpha, sensitive="condition").domain_problems(domain)
    assert wrong in problem.message


@pytest.mark.parametrize("alpha", [{"high": 0.5}, {"high": 0.5, "middle": 0.5}, {"low": 1, "middle": 0.7, "high": 0.2}])
def test_equal_limits_and_free_categories_are_legal(alpha: dict[str, float]) -> None:
    domain = domain_of("abc", categories={"high": "a", "middle": "b", "low": "c"})
    assert GroupLeakage(1, alpha=alpha, sensitive="condition").domain_problems(domain) == []
