"""Columns that tell a secret: found and named, by figures that agree with every dealing; chance is no leak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from oracles import column_oracle as oracle
from shoal.attacks.attack import AttackResult
from shoal.attacks.between_columns.column_readings import Knowledge, Secret, Target
from shoal.attacks.between_columns.column_tests import column_tests
from shoal.attacks.between_columns.guessed import over_all_records
from shoal.attacks.chance.permutation_tests import DEALINGS, in_spreads, joint_p_values
from shoal.attacks.chance.random_dealings import dealt_within
from shoal.attacks.chance.statistics import CHANCE
from support.attack_cases import policy_of, table_of

COLUMNS: dict[str, Any] = {
    "place": {"role": "quasi"},
    "decile": {"role": "insensitive"},
    "ward": {"role": "insensitive"},
    "risk": {"role": "sensitive"},
}


def results(rows: Sequence[Sequence[str | None]], columns: dict[str, Any], name: str = "columns") -> list[AttackResult]:
    report = shoal.attack(table_of(list(columns), rows), policy_of(columns))
    return [each for each in report.attacks if each.name == name]


def scored(n: int, seed: int = 0) -> list[tuple[str, str, str, str]]:
    """A score that determines its text, as in COMPAS: 1 to 4 is low, 5 to 7 medium, 8 to 10 high."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        decile = int(rng.integers(1, 11))
        text = "low" if decile < 5 else "medium" if decile < 8 else "high"
        found.append((f"p{rng.integers(0, 5)}", str(decile), f"w{rng.integers(0, 3)}", text))
    return found


def test_a_score_gives_its_text_away_for_everybody_and_is_named() -> None:
    (found,) = results(scored(400), COLUMNS)
    assert (found.leak, found.columns, found.sensitive) == (True, ("decile",), "risk")
    assert (found.certain, found.records, found.of, found.rate) == (400, 400, 400, 1.0)
    assert found.baseline is not None
    assert found.baseline < 0.7
    assert found.p_value is not None
    assert found.p_value <= CHANCE


def test_one_sensitive_column_that_determines_another_is_found_in_the_direction_that_it_does() -> None:
    columns = {**COLUMNS, "decile": {"role": "sensitive"}}
    found = {each.sensitive: each for each in results(scored(400), columns)}
    assert (found["risk"].columns, found["risk"].certain) == (("decile",), 400)
    assert found["decile"].columns == ("risk",)
    assert found["decile"].certain == 0
    assert found["decile"].rate is not None
    assert found["decile"].rate < 0.5


def test_two_columns_are_named_together_where_neither_tells_anything_alone() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(300):
        one, other = rng.integers(0, 2, size=2).tolist()
        rows.append((f"p{rng.integers(0, 4)}", str(one), str(other), "yes" if one != other else "no"))
    (found,) = results(rows, COLUMNS)
    assert (found.columns, found.certain) == (("decile", "ward"), 300)


def test_a_column_that_tells_a_category_and_no_value_is_found_by_the_category() -> None:
    rng = np.random.default_rng(2)
    illnesses = {"grave": [f"g{i}" for i in range(12)], "mild": [f"m{i}" for i in range(12)]}
    rows = []
    for _ in range(300):
        category = str(rng.choice(["grave", "mild"]))
        rows.append((f"p{rng.integers(0, 4)}", category[0], "w", str(rng.choice(illnesses[category]))))
    columns = {**COLUMNS, "risk": {"role": "sensitive", "categories": illnesses}}
    (found,) = results(rows, columns)
    assert (found.leak, found.columns, found.details["guessed"], found.certain) == (
        True,
        ("decile",),
        "categories",
        300,
    )


def test_numbers_that_go_together_and_are_all_different_are_found_by_tenths() -> None:
    rng = np.random.default_rng(3)
    pay = rng.choice(90_000, size=300, replace=False) + 10_000
    rows = [(f"p{rng.integers(0, 4)}", f"{each * 1.1:.1f}", "w", str(each)) for each in pay.tolist()]
    (found,) = results(rows, COLUMNS)
    assert (found.columns, found.details["guessed"], found.details["known_by"]) == (("decile",), "tenths", "tenths")
    assert found.rate is not None
    assert found.rate > 0.9


def test_one_column_of_many_is_found_although_others_make_a_few_records_certain_by_chance() -> None:
    rng = np.random.default_rng(6)
    names = [f"c{index}" for index in range(40)]
    columns = {
        "place": {"role": "quasi"},
        **{name: {"role": "insensitive"} for name in names},
        "risk": {"role": "sensitive"},
    }
    rows = []
    for _ in range(300):
        risk, widths = f"r{rng.integers(0, 4)}", rng.choice([2, 3, 10], size=40, replace=True)
        others = [str(rng.integers(0, width)) for width in widths]
        others[7] = risk if rng.random() < 0.6 else "none"
        rows.append((f"p{rng.integers(0, 6)}", *others, risk))
    found = results(rows, columns)[0]  # the worst
    assert (found.leak, found.columns) == (True, ("c7",))
    assert (found.certain or 0) > 100


def test_without_another_column_there_is_nothing_to_try() -> None:
    columns = {"place": {"role": "quasi"}, "risk": {"role": "sensitive"}}
    (found,) = results([("a", "x"), ("a", "y")], columns)
    assert (found.status, found.outcome) == ("not applicable", "no-other-column")


def test_results_do_not_depend_on_the_order_of_rows() -> None:
    rows = [(*each[:3], each[3] if index % 3 else "low") for index, each in enumerate(scored(120))]
    assert results(rows, COLUMNS) == results(rows[::-1], COLUMNS)


def test_leaks_are_ranked_and_what_chance_explains_is_none() -> None:
    rng = np.random.default_rng(4)
    rows = []
    for place, decile, _, text in scored(400):
        ward = text[0] if rng.random() < 0.5 else str(rng.choice(["l", "m", "h"]))
        rows.append((place, decile, ward, text))
    first, second = results(rows, COLUMNS)
    assert (first.columns, second.columns) == (("decile",), ("ward",))
    assert (first.records or 0) > (second.records or 0) > 0


def test_secrets_that_depend_on_nothing_are_called_a_leak_as_seldom_as_the_level_says() -> None:
    leaks = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = [tuple(f"{j}{rng.integers(0, 4)}" for j in range(4)) for _ in range(80)]
        leaks += any(each.leak for each in results(rows, COLUMNS))
    assert leaks <= 7  # more than 7 of 60 have a chance of 1.3% at a level of 5%


def test_records_of_one_person_are_no_independent_evidence() -> None:
    """Everybody has twenty records and one ward and illness of their own: eight people prove nothing."""
    rng = np.random.default_rng(5)
    columns = {**COLUMNS, "who": {"role": "identifier"}}
    people = [(f"n{i}", f"p{i % 2}", "d", f"w{i % 4 // 2}", str(rng.choice(["x", "y"]))) for i in range(8)]
    rows = [(*rest, who) for who, *rest in people for _ in range(20)]
    policy = policy_of(columns, person="who", privacy=[{"model": "k-anonymity", "k": 2}])
    release = shoal.anonymize(table_of(list(columns), rows), policy)
    assert not [each for each in release.evidence["attacks"] if each["name"] == "columns" and each["leak"]]
    alone = shoal.attack(release.data, policy).attacks  # a file does not say whose records these are
    assert [each.columns for each in alone if each.name == "columns" and each.leak]


record = st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("uvw"))


def coded(records: Sequence[oracle.Record]) -> tuple[Any, Knowledge, Target]:
    columns = [np.unique([str(each[j]) for each in records], return_inverse=True)[1].astype(np.int64) for j in range(3)]
    return columns[0], Knowledge(("known",), columns[1], 3), Target(columns[2], 3)


@given(st.lists(record, min_size=1, max_size=12))
def test_figures_are_those_counted_record_by_record(records: list[oracle.Record]) -> None:
    owner, known, target = coded(records)
    found = over_all_records(owner, np.ones(len(records), dtype=np.int64), target)(known, (1.0, 1.0, 1.0))
    assert found.belief == pytest.approx(float(oracle.belief(records)))
    assert found.certain == oracle.certain(records)
    assert found.from_class == pytest.approx(float(oracle.belief([(cls, "", secret) for cls, _, secret in records])))


@given(st.lists(record, min_size=2, max_size=6))
def test_what_chance_gives_is_the_mean_over_every_dealing(records: list[oracle.Record]) -> None:
    owner, known, target = coded(records)
    found = over_all_records(owner, np.ones(len(records), dtype=np.int64), target)(known, (1.0, 1.0, 1.0))
    every = list(oracle.dealings(records))
    assert found.by_chance == pytest.approx(float(sum(map(oracle.belief, every)) / len(every)))
    assert found.certain_by_chance == pytest.approx(sum(map(oracle.certain, every)) / len(every))


def test_p_values_are_near_those_of_every_dealing() -> None:
    """One column, seven records: 720 dealings of six in a class can all be made."""
    records = [("a", known, secret) for known, secret in zip("xxxyyy", "uuuvvv", strict=True)] + [("b", "x", "u")]
    owner, known, target = coded(records)
    weights = np.ones(len(records), dtype=np.int64)
    seen = []
    for seed in range(40):
        found = column_tests(owner, weights, [Secret("s", [target], [known])], seed=seed)["s"].strongest
        assert found is not None
        seen.append(found.p_value)
    every = list(oracle.dealings(records))
    reached = sum(oracle.belief(each) >= oracle.belief(records) for each in every) / len(every)
    assert reached == pytest.approx(0.1)
    assert float(np.mean(seen)) == pytest.approx((1 + DEALINGS * reached) / (DEALINGS + 1), abs=0.03)


def test_every_order_within_classes_is_as_likely() -> None:
    owner = np.array([0, 0, 0, 2, 2])
    orders = [tuple(each.tolist()) for each in dealt_within(owner, 6000, np.random.default_rng(0))]
    times = [orders.count(each) for each in set(orders)]
    assert len(times) == 12
    assert min(times) > 400
    assert all(set(each[:3]) == {0, 1, 2} for each in orders)


def test_figures_are_judged_by_the_largest_of_a_dealing() -> None:
    figures = np.array([[9.0, 5.0], [1.0, 5.0], [2.0, 6.0], [3.0, 4.0]])
    spreads = in_spreads(figures, counts=False)
    assert spreads[0].tolist() == pytest.approx([(9 - 2) / np.std([1, 2, 3]), 0.0])
    assert joint_p_values(spreads).tolist() == [0.25, 0.75]
    assert joint_p_values(spreads, np.full(3, np.inf)).tolist() == [1.0, 1.0]
