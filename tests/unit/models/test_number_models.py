"""(k, e)- and (ε, m)-anonymity on classes made by hand, at their limits, and on columns that do not have numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import model_oracles as oracle
from shoal.models import KE, AlpDif, EpsilonM, Model, PSensitive, TCloseness
from shoal.table.numbers import Numbers
from support.builders import domain_of, view_of

SALARIES = (
    ("3000", "3010", "3020"),
    ("3000", "5000", "9000"),
    ("3000", "3e3", "3000.0"),
    (None, None),
    ("3000", "5000", None),
)


def held(model: Model, *classes: tuple[str | None, ...]) -> list[bool]:
    values = dict.fromkeys(value for each in classes for value in each)
    return model.holds(view_of(classes, domain_of(values, column="salary"))).tolist()


@pytest.mark.parametrize(
    ("k", "e", "expected"),
    [
        (1, 0, [True, True, True, True, True]),
        (2, 0, [True, True, False, False, True]),
        (3, 20, [True, True, False, False, False]),
        (3, 20.0001, [False, True, False, False, False]),
        (1, 6000, [False, True, False, False, False]),
        (1, 1e30, [False] * 5),
    ],
)
def test_k_e_counts_different_numbers_and_what_they_span(k: int, e: float, expected: list[bool]) -> None:
    assert held(KE(k, e=e, sensitive="salary"), *SALARIES) == expected


@pytest.mark.parametrize(
    ("epsilon", "m", "relative", "expected"),
    [
        (9.999, 3, False, [True, True, False, False, False]),
        (10, 2, False, [False, True, False, False, True]),
        (2000, 2, False, [False, False, False, False, False]),
        (1999, 2, False, [False, True, False, False, True]),
        (0.4, 2, True, [False] * 5),  # 40% of 5000 reach 3000
        (0.399, 2, True, [False, True, False, False, True]),
        (1e30, 1, False, [True] * 5),
    ],
)
def test_epsilon_m_looks_around_every_number(epsilon: float, m: int, relative: bool, expected: list[bool]) -> None:
    assert held(EpsilonM(epsilon, m, relative=relative, sensitive="salary"), *SALARIES) == expected


def test_no_limit_is_missed_by_the_last_bit() -> None:
    assert 0.3 - 0.1 < 0.2  # in binary floating point
    assert held(KE(2, e=0.2, sensitive="salary"), ("0.1", "0.3")) == [True]
    assert held(EpsilonM(0.2, 2, sensitive="salary"), ("0.1", "0.3")) == [False]
    large = "100000000000000000000000000001"
    assert held(KE(2, e=1, sensitive="salary"), (large, large[:-1] + "0")) == [True]
    assert held(KE(2, e=2, sensitive="salary"), (large, large[:-1] + "0")) == [False]
    assert held(EpsilonM(0.5, 2, sensitive="salary"), (large, large[:-1] + "0")) == [True]


def test_the_ends_around_a_negative_number_change_places() -> None:
    assert held(EpsilonM(0.5, 2, relative=True, sensitive="salary"), ("-10", "-15")) == [False]
    assert held(EpsilonM(0.3, 2, relative=True, sensitive="salary"), ("-10", "-15")) == [True]
    assert held(EpsilonM(5, 2, relative=True, sensitive="salary"), ("0", "0.001")) == [False]


def test_a_missing_value_helps_no_class() -> None:
    for model in (KE(2, e=10, sensitive="salary"), EpsilonM(10, 2, sensitive="salary")):
        assert held(model, ("1", "5"), ("1", "5", None, None, None), ("1", "99", None)) == [False, False, True]


NUMBERS = st.sampled_from(["0", "-1", "0.1", "0.10", "2.5", "3e2", "300", "1e20"]) | st.none()


@given(
    st.lists(st.lists(NUMBERS, min_size=1, max_size=6), min_size=1, max_size=3),
    st.sampled_from([0, 0.1, 0.5, 1, 2.4, 1e20]),
    st.integers(1, 4),
    st.booleans(),
)
def test_both_models_agree_with_their_definitions(
    classes: list[list[str | None]], limit: float, count: int, relative: bool
) -> None:
    number = {value: value for each in classes for value in each if value is not None}
    if not number:
        return
    seen = view_of(classes, domain_of({value for each in classes for value in each}, column="salary"))
    by_span = KE(count, e=limit, sensitive="salary").holds(seen).tolist()
    assert by_span == oracle.k_e_holds(classes, count, limit, number)
    by_share = EpsilonM(limit, count, relative=relative, sensitive="salary").holds(seen).tolist()
    assert by_share == oracle.epsilon_m_holds(classes, limit, count, relative, number)


@pytest.mark.parametrize("model", [KE(2, e=1, sensitive="s"), EpsilonM(1, 2, sensitive="s")], ids=repr)
@pytest.mark.parametrize("values", [("1", "many"), ("[0, 5)", "[5, 10)"), (None,), ("1,000",)])
def test_a_column_that_does_not_have_numbers_is_refused(model: Model, values: tuple[str | None, ...]) -> None:
    (problem,) = model.domain_problems(domain_of(values, column="s"))
    assert problem.code == "values-not-numbers"
    assert problem.where == "sensitive"
    assert not PSensitive(2, sensitive="s").domain_problems(domain_of(values, column="s"))


def test_numbers_are_whole_at_a_common_scale() -> None:
    found = Numbers.of(["0.25", "3", None, "3.00", "-1e1"])
    assert found is not None
    assert found.scale == 100
    assert found.distinct.tolist() == [-1000, 25, 300]
    assert found.rank.tolist() == [1, 2, -1, 2, 0]


def test_only_models_that_know_which_values_are_near_say_so() -> None:
    assert PSensitive(2, sensitive="s").tells_near_values_apart
    assert TCloseness(0.2, sensitive="s").tells_near_values_apart
    assert not TCloseness(0.2, distance="ordered", sensitive="s").tells_near_values_apart
    assert not KE(2, e=1, sensitive="s").tells_near_values_apart


def test_a_class_that_may_be_judged_alone_is_whatever_merging_does() -> None:
    assert EpsilonM(1, 2, sensitive="s").judges_classes
    assert not AlpDif({"1": {"alp": 0.5, "dif": 0.1}}, sensitive="s").judges_classes
