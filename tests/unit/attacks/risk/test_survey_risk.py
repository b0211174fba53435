"""The risk of records with weights and of households, against sums and products from the definitions."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracles import survey_oracle as oracle
from shoal.attacks.risk.survey import any_found, individual_risk
from shoal.errors import PolicyError

POLICY: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "hh": {"role": "identifier"},
        "w": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 1}],
    "household": "hh",
    "weight": "w",
}


@pytest.mark.parametrize("f", [1, 2, 3, 4, 7, 20, 49, 50, 51, 200])
@pytest.mark.parametrize("mean_weight", [1.0, 1.0001, 1.5, 1.999, 2.0, 2.001, 3.7, 25.0, 800.0])
def test_the_individual_risk_is_the_sum_of_its_series(f: int, mean_weight: float) -> None:
    (found,) = individual_risk(np.array([f]), np.array([f * mean_weight]))
    assert found == pytest.approx(oracle.individual_risk(f, f * mean_weight), rel=1e-9)


@pytest.mark.parametrize("f", [1, 2, 3, 10, 49, 50, 120, 300])
@pytest.mark.parametrize("mean_weight", [1.0000001, 1.7, 2.0, 2.5, 100.0, 1e4, 1e7, 1e12])
def test_no_digits_are_lost(f: int, mean_weight: float) -> None:
    (found,) = individual_risk(np.array([f]), np.array([f * mean_weight]))
    assert found == pytest.approx(oracle.individual_risk_in_many_digits(f, f * mean_weight), rel=1e-12)


def test_weights_below_the_records_count_as_the_records() -> None:
    assert individual_risk(np.array([4, 1]), np.array([3.0, 0.5])).tolist() == [0.25, 1.0]


@given(f=st.integers(1, 300), weights=st.lists(st.floats(1, 1e6), min_size=2, max_size=6).map(sorted))
def test_the_risk_is_at_most_the_prosecutors_and_falls_with_the_weight(f: int, weights: list[float]) -> None:
    found = individual_risk(np.full(len(weights), f), f * np.array(weights))
    assert (found <= (1 + 1e-12) / f).all()
    assert (found >= (1 - 1e-9) / (f * np.array(weights))).all()  # E[1/F] is at least 1/E[F], by Jensen
    assert (np.diff(found) <= 1e-15).all()


@given(
    members=st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from([0.0, 1e-12, 0.1, 0.5, 1 / 3, 1.0])), min_size=1, max_size=20
    )
)
def test_a_household_is_found_unless_every_member_is_missed(members: list[tuple[int, float]]) -> None:
    _, owner = np.unique([household for household, _ in members], return_inverse=True)
    found = any_found(owner, np.array([risk for _, risk in members]))
    expected = oracle.household_risks(owner.tolist(), [risk for _, risk in members])
    assert found.tolist() == pytest.approx([expected[each] for each in range(len(found))], rel=1e-12)


record = st.tuples(
    st.sampled_from("abc"), st.sampled_from("FM"), st.integers(0, 8), st.sampled_from([1.0, 1.5, 4.0, 37.25, 900.0])
)


@settings(max_examples=60)
@given(rows=st.lists(record, min_size=1, max_size=30), threshold=st.sampled_from([0.05, 0.2, 0.5]))
@pytest.mark.parametrize("named", [("household",), ("weight",), ("household", "weight")])
def test_the_figures_of_a_table(
    rows: list[tuple[str, str, int, float]], threshold: float, named: tuple[str, ...]
) -> None:
    policy = {key: value for key, value in POLICY.items() if key not in {"household", "weight"} - set(named)}
    found = shoal.risk(table(rows), policy, threshold=threshold).survey
    weights = [row[3] for row in rows] if "weight" in named else None
    risks = oracle.class_risks([row[:2] for row in rows], weights)
    assert found is not None
    assert (found.individual is None, found.households is None) == ("weight" not in named, "household" not in named)
    if found.individual is not None:
        assert found.individual.highest == pytest.approx(max(risks))
        assert found.individual.expected_reidentifications == pytest.approx(sum(risks))
        assert found.individual.average == pytest.approx(sum(risks) / len(rows))
        assert found.individual.population == pytest.approx(sum(row[3] for row in rows))
        assert found.individual.records_above_threshold == sum(risk > threshold + 1e-12 for risk in risks)
    if found.households is not None:
        homes = oracle.household_risks([row[2] for row in rows], risks)
        assert (found.households.households, found.households.weighted) == (len(homes), "weight" in named)
        assert found.households.expected_households_found == pytest.approx(sum(homes.values()))
        assert found.households.expected_records_in_them == pytest.approx(sum(homes[row[2]] for row in rows))
        assert found.households.highest == pytest.approx(max(homes.values()))
        assert found.households.average == pytest.approx(sum(homes.values()) / len(homes))
        assert found.households.households_above_threshold == sum(risk > threshold + 1e-12 for risk in homes.values())


def table(rows: list[tuple[str, str, int, float]]) -> pa.Table:
    age, sex, household, weight = zip(*rows, strict=True)
    return pa.table({"age": age, "sex": sex, "hh": household, "w": weight})


def test_the_options_take_the_place_of_the_policy() -> None:
    data = table([("a", "F", 1, 4.0), ("a", "F", 2, 6.0), ("b", "M", 2, 10.0)])
    data = data.append_column("v", pa.array([1, 1, 1])).append_column("home", pa.array(["x", "x", "x"]))
    found = shoal.risk(data, POLICY, household="home", weight="v").survey
    assert found is not None
    assert found.individual is not None
    assert found.households is not None
    assert (found.individual.column, found.individual.expected_reidentifications) == ("v", 2.0)
    assert (found.households.column, found.households.households, found.households.highest) == ("home", 1, 1.0)
    with pytest.raises(PolicyError) as error:
        shoal.risk(data, POLICY, weight="vv")
    assert [each.code for each in error.value.problems] == ["unknown-column"]


def test_the_order_of_the_records_changes_no_digit() -> None:
    draw = random.Random(4)
    people = [(draw.choice("abcdefgh"), draw.choice("FM"), draw.randrange(90)) for _ in range(500)]
    rows = [(*each, 1 + 300 * draw.random()) for each in people]
    found = shoal.risk(table(rows), POLICY).to_dict()
    for _ in range(5):
        draw.shuffle(rows)
        assert shoal.risk(table(rows), POLICY).to_dict() == found


@pytest.mark.parametrize("algorithm", ["optimal", "top-down", "greedy-clustering"])
def test_the_evidence_does_not_depend_on_the_order_either(algorithm: str) -> None:
    """Equal records of different households may go to different classes."""
    draw = random.Random(4)
    rows = [(str(draw.randint(20, 26)), draw.choice("FM"), i // 3, 1 + 300 * draw.random()) for i in range(60)]
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [2, 4, 8]}}, "w": {"role": "identifier"}}
    policy = {**POLICY, "columns": POLICY["columns"] | columns, "algorithm": algorithm}
    policy["privacy"] = [{"model": "k-anonymity", "k": 4}]
    evidence = shoal.anonymize(table(rows), policy).evidence["survey"]
    for _ in range(4):
        draw.shuffle(rows)
        assert shoal.anonymize(table(rows), policy).evidence["survey"] == evidence


def test_weights_give_the_sampling_fraction() -> None:
    data = table([("a", "F", 1, 4.0), ("a", "F", 2, 6.0), ("b", "M", 2, 10.0)])
    found = shoal.risk(data, POLICY)
    assert found.population_uniques is not None
    assert found.population_uniques.sampling_fraction == pytest.approx(3 / 20)
    given = shoal.risk(data, POLICY, sampling_fraction=0.5).population_uniques
    assert given is not None
    assert given.sampling_fraction == 0.5


BAD = {
    "text": ([1.0, "ten"], "bad-weight", 1),
    "zero": ([1.0, 0.0], "bad-weight", 1),
    "negative": ([-1.0, -2.0], "bad-weight", 2),
    "infinite": (["1", "inf"], "bad-weight", 1),
    "digits with underscores": (["1", "1_0"], "bad-weight", 1),
    "missing": ([5.0, None], "missing-weight", 1),
    "normalized": ([0.5, 0.7], "weights-below-records", None),
}


@pytest.mark.parametrize("case", BAD)
def test_weights_that_are_none_are_refused(case: str) -> None:
    weights, code, records = BAD[case]
    texts = [None if each is None else str(each) for each in weights]
    data = pa.table({"age": ["a", "b"], "sex": ["F", "F"], "hh": [1, 1], "w": pa.array(texts, pa.string())})
    with pytest.raises(PolicyError) as error:
        shoal.risk(data, POLICY)
    (problem,) = error.value.problems
    assert (problem.where, problem.code, problem.facts.get("records")) == ("weight", code, records)


def test_a_missing_household_is_refused() -> None:
    data = pa.table({"age": ["a", "b"], "sex": ["F", "F"], "hh": [1, None], "w": [1, 1]})
    with pytest.raises(PolicyError) as error:
        shoal.risk(data, POLICY)
    assert [(each.where, each.code) for each in error.value.problems] == [("household", "missing-household")]


def test_a_little_less_than_one_is_a_weight_after_adjustment() -> None:
    found = shoal.risk(table([("a", "F", 1, 0.8), ("a", "M", 2, 9.0)]), POLICY).survey
    assert found is not None
    assert found.individual is not None
    assert found.individual.highest == 1.0
    assert found.individual.records_with_small_weights == 1
    assert found.individual.expected_reidentifications == pytest.approx(1 + math.log(9) / 8)
