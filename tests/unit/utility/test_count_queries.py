"""Count queries: estimates by the definition, exact where nothing is generalized, drawn as the paper draws them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from utility_cases import COUNTRIES, SECRETS, cells_of, policy_of, released, rows, table_of

import shoal
from oracles.utility_oracle import expected_count
from shoal.utility.columns import Domain
from shoal.utility.queries import Query, all_generalized, answer, compare_answers, draw_queries

conditions = st.fixed_dictionaries(
    {},
    optional={
        "age": st.sets(st.integers(20, 45), min_size=1).map(lambda ages: {str(age) for age in ages}),
        "country": st.sets(st.sampled_from(COUNTRIES), min_size=1),
        "condition": st.sets(st.sampled_from(SECRETS), min_size=1),
        "ward": st.sets(st.sampled_from("AB"), min_size=1),
    },
).filter(bool)


def query_of(wanted: dict[str, Any], domains: dict[str, Domain]) -> Query:
    return {name: np.array([label in values for label in domains[name].labels]) for name, values in wanted.items()}


@settings(max_examples=60)
@given(rows, st.integers(1, 6), st.sampled_from(["optimal", "mondrian", "top-down"]), conditions)
def test_an_estimate_is_the_expected_count_over_all_values_under_the_labels(
    drawn: Any, k: int, algorithm: str, wanted: dict[str, Any]
) -> None:
    case = released(drawn, k, algorithm)
    present = case.originals["age"].domain.labels
    query = query_of(wanted, {name: column.domain for name, column in case.originals.items()})
    true = expected_count(cells_of(case.table, present), wanted)
    estimate = expected_count(cells_of(case.made.table, present), wanted)
    assert answer(query, case.originals) == pytest.approx(float(true))
    assert answer(query, case.released) == pytest.approx(float(estimate))
    (answered,) = compare_answers([query], case.originals, case.released, len(drawn))
    assert answered.records == true
    assert answered.error == pytest.approx(float(abs(estimate - true)) / max(float(true), 0.001 * len(drawn)))


@given(rows, conditions)
def test_a_release_that_generalizes_nothing_answers_exactly(drawn: Any, wanted: dict[str, Any]) -> None:
    case = released(drawn, 1, "optimal")
    query = query_of(wanted, {name: column.domain for name, column in case.originals.items()})
    assert compare_answers([query], case.originals, case.released, len(drawn))[0].error == 0


def test_a_class_counts_for_its_share_of_the_values_asked_for() -> None:
    case = released([(30, "USA", "Flu", "A"), (30, "Canada", "Flu", "A"), (30, "Canada", "HIV", "B")], 3, "optimal")
    domains = {name: column.domain for name, column in case.originals.items()}
    assert answer(query_of({"country": {"USA"}}, domains), case.released) == pytest.approx(3 / 2)
    assert answer(query_of({"country": {"USA"}, "condition": {"Flu"}}, domains), case.released) == pytest.approx(1)


def test_with_every_quasi_identifier_at_its_root_only_the_domain_is_known() -> None:
    case = released([(30, "USA", "Flu", "A"), (40, "Japan", "HIV", "A")], 1, "optimal")
    domains = {name: column.domain for name, column in case.originals.items()}
    blurred = all_generalized(case.originals, ["age", "country"])
    assert answer(query_of({"age": {"30"}, "country": {"USA"}}, domains), blurred) == pytest.approx(2 / 2 / 5)


def domain(size: int, *, ordered: bool) -> Domain:
    numbers = np.append(np.arange(size - 1.0), np.nan) if ordered else None
    labels = tuple(None if ordered and place == size - 1 else str(place) for place in range(size))
    return Domain("x", labels, "numbers" if ordered else "categories", numbers)


@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(2, 60))
def test_random_queries_ask_for_a_twentieth_of_the_combinations_and_one_quasi_identifier(
    seed: int, one: int, other: int
) -> None:
    domains = {"a": domain(one, ordered=True), "b": domain(other, ordered=False), "c": domain(5, ordered=False)}
    for query in draw_queries(domains, ["a", "b"], ["c"], 20, np.random.default_rng(seed)):
        assert set(query) & {"a", "b"}
        share = 0.05 ** (1 / len(query))
        for name, wanted in query.items():
            size = one - 1 if name == "a" else domains[name].size
            assert wanted.sum() == np.ceil(size * share)
        if "a" in query:
            asked = np.flatnonzero(query["a"])
            assert (np.diff(asked) == 1).all()
            assert one - 1 not in asked, "the missing value has no neighbours"


def test_queries_are_drawn_from_the_seed_and_do_not_depend_on_the_order_of_rows() -> None:
    drawn = [(20 + place % 7, COUNTRIES[place % 5], SECRETS[place % 3], "AB"[place % 2]) for place in range(40)]
    found = [
        shoal.anonymize(table_of(order), policy_of(4, "mondrian", utility={"queries": 30, "seed": seed})).evidence
        for order, seed in ((drawn, 1), (drawn[::-1], 1), (drawn, 2))
    ]
    assert found[0]["utility"] == found[1]["utility"]
    assert found[0]["utility"] != found[2]["utility"]
    errors = found[0]["utility"]["queries"]
    assert errors["count"] == 30 == sum(each["queries"] for each in errors["bins"])
    assert errors["sanity_bound"] == pytest.approx(0.04)


LISTED = [
    ({"age": [30, 34]}, 2),
    ({"age": 31}, 1),
    ({"age": "[30, 35)", "country": "Asia"}, 1),
    ({"age": [99, 120]}, 0),
    ({"age": 99}, 0),
    ({"age": None}, 1),
    ({"country": ["USA", "East"]}, 3),
    ({"condition": "HIV", "ward": ["A", "B"]}, 2),
    ({"joined": ["2020-02", "2020-03"]}, 2),
    ({"joined": "2020-02-01"}, 1),
    ({"joined": "2020-02"}, 1),
]


@pytest.mark.parametrize(("query", "records"), LISTED)
def test_a_listed_query_counts_what_it_says(query: dict[str, Any], records: int) -> None:
    table = table_of(
        [(30, "USA", "HIV", "A"), (31, "Japan", "HIV", "B"), (36, "China", "Flu", "A"), (None, "India", "Flu", "A")]
    ).append_column("joined", [["2020-01-05", "2020-02-01", "2020-03-31", "2021-02-01"]])
    joined = {"role": "quasi", "hierarchy": {"dates": ["month", "year"]}}
    policy = policy_of(1, "optimal")
    policy = policy.changed(columns={**policy.to_dict()["columns"], "joined": joined}, utility={"queries": [query]})
    (found,) = shoal.anonymize(table, policy).evidence["utility"]["queries"]["listed"]
    assert (found["records"], found["estimate"]) == (records, records)
