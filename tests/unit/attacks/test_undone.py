"""What generalization, categories and bins hide, and a published column gives back; sensitive columns that are keys."""

from __future__ import annotations

from typing import Any

import numpy as np

import shoal
from shoal.attacks.attack import AttackResult
from support.attack_cases import policy_of, table_of

K = [{"model": "k-anonymity", "k": 5}]
AGE = {"role": "quasi", "hierarchy": {"intervals": [10, 20]}, "boundary": ["[20, 40)", "[40, 60)"]}


def attacked(columns: dict[str, Any], rows: list[tuple[str, ...]], name: str) -> list[AttackResult]:
    table, policy = table_of(list(columns), rows), policy_of(columns, privacy=K, algorithm={"name": "optimal"})
    release = shoal.anonymize(table, policy)
    again = [each for each in shoal.attack(release.data, policy, original=table).attacks if each.name == name]
    recorded = [each for each in release.evidence["attacks"] if each["name"] == name]
    assert [each.to_dict() for each in again] == recorded
    return again


def people(n: int, seed: int = 0) -> list[tuple[str, ...]]:
    rng = np.random.default_rng(seed)
    return [
        (str(20 + int(rng.integers(0, 40))), str(rng.choice(list("abcd"))), str(rng.choice(["x", "y"])))
        for _ in range(n)
    ]


def test_the_exact_age_as_a_sensitive_column_undoes_the_generalized_one() -> None:
    columns = {"age": AGE, "age_at_visit": {"role": "sensitive"}, "illness": {"role": "sensitive"}}
    rows = [(age, age, illness) for age, _, illness in people(300)]
    (found,) = attacked(columns, rows, "undone")
    assert (found.leak, found.columns, found.details["hidden"]) == (True, ("age_at_visit",), "age")
    assert (found.certain, found.of, found.rate) == (300, 300, 1.0)


def test_a_second_sensitive_column_undoes_published_categories() -> None:
    groups = {"grave": ["HIV", "cancer"], "mild": ["flu", "cold"]}
    drug = {"HIV": "art", "cancer": "chemo", "flu": "tea", "cold": "rest"}
    rng = np.random.default_rng(0)
    illnesses = [str(rng.choice(list(drug))) for _ in range(200)]
    rows = [(age, illness, drug[illness]) for (age, *_), illness in zip(people(200), illnesses, strict=True)]
    columns = {
        "age": AGE,
        "illness": {"role": "sensitive", "categories": groups, "publish": "categories"},
        "drug": {"role": "sensitive"},
    }
    (found,) = attacked(columns, rows, "undone")
    assert (found.leak, found.columns, found.sensitive) == (True, ("drug",), "illness")
    assert (found.details["hidden"], found.certain) == ("illness", 200)


def test_columns_that_have_nothing_to_do_with_what_is_hidden_undo_nothing() -> None:
    columns = {"age": AGE, "ward": {"role": "insensitive"}, "illness": {"role": "sensitive"}}
    (found,) = attacked(columns, people(300), "undone")
    assert (found.leak, found.records, found.columns) == (False, 0, None)
    assert found.details["hidden_columns"] == ["age"]


def test_where_nothing_is_hidden_it_does_not_apply() -> None:
    columns = {"sex": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    (found,) = attacked(columns, [(sex, illness) for sex in "mf" for illness in "xy"] * 5, "undone")
    assert found.outcome == "nothing-hidden"


def test_a_record_number_declared_sensitive_is_a_key_and_an_illness_is_not() -> None:
    columns = {"age": AGE, "number": {"role": "sensitive"}, "illness": {"role": "sensitive"}}
    rows = [(age, str(1000 + index), illness) for index, (age, _, illness) in enumerate(people(100))]
    number, illness = attacked(columns, rows, "identifying-secret")
    assert (number.leak, number.records, number.of, number.columns) == (True, 100, 100, ("number",))
    assert (illness.leak, illness.records, illness.outcome) == (False, 0, "nothing")


def test_a_few_values_that_occur_once_make_no_key_and_are_counted() -> None:
    columns = {"age": AGE, "illness": {"role": "sensitive"}}
    rows = [(age, illness if index else "rare") for index, (age, _, illness) in enumerate(people(100))]
    (found,) = attacked(columns, rows, "identifying-secret")
    assert (found.outcome, found.records) == ("explained", 1)
