from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from oracles.lattice_oracle import Label
from shoal.errors import InfeasibleError
from shoal.models import DistinctLDiversity, KAnonymity, Model
from shoal.search.local.mondrian import mondrian
from shoal.search.search_result import SearchResult
from support.model_cases import COLUMN
from support.search_cases import Case, problem_of, released_labels

AGES = {"*": {"young": {"21": None, "25": None, "28": None}, "old": {"63": None, "67": None, "71": None}}}
PLACES = {"*": {"north": {"n1": None, "n2": None}, "south": None}}


def case_of(*rows: tuple[str, str], models: tuple[Model, ...] = (KAnonymity(2),), secrets: str = "") -> Case:
    names = {"F": "Flu", "H": "HIV", "C": "Cancer"}
    values = tuple(names[each] for each in secrets or "F" * len(rows))
    return Case((AGES, PLACES), rows, {COLUMN: values}, models)


def solve(case: Case) -> SearchResult:
    problem, engine = problem_of(case)
    return mondrian(problem, engine)


def released(case: Case) -> list[tuple[Label, ...] | None]:
    return released_labels(solve(case).recoding)


def test_a_table_worked_by_hand() -> None:
    """Of saved / divided^0.75, with ages of 1 for `*` and 0.4 for `young` and `old`, places of 1 and 0.5 for `north`.

    All ten: age at its children saves 10 · 0.6 = 6 and divides 6.73 (1.44); place saves 7 · 0.5 + 3 · 1 = 6.5 and
    divides 6.11 (1.67). The three of the south are final. The seven of the north: age saves 4 · 0.6 + 3 · 1.1 = 5.7 and
    divides 4.78 (1.76), place 4.7 and 4.19 (1.61). The old are final, the four young are cut by place (0.93, age 0.37).
    """
    case = case_of(
        ("21", "n1"), ("25", "n1"), ("28", "n2"), ("21", "n2"), ("25", "south"), ("28", "south"),
        ("63", "n1"), ("63", "n1"), ("67", "n1"), ("71", "south"),
    )  # fmt: skip
    assert released(case) == [
        ("young", "n1"), ("young", "n1"), ("young", "n2"), ("young", "n2"), ("*", "south"), ("*", "south"),
        ("old", "n1"), ("old", "n1"), ("old", "n1"), ("*", "south"),
    ]  # fmt: skip
    assert solve(case).search["classes"] == 4


def test_many_equal_records_keep_their_values_although_a_few_differ_from_them_in_one_column() -> None:
    """No column can be cut: one record is alone in each."""
    case = case_of(*[("21", "n1")] * 6, ("21", "n2"), ("25", "n1"))
    assert released(case) == [("21", "n1")] * 6 + [("young", "north")] * 2


def test_children_that_fail_stay_together_and_the_others_keep_their_values() -> None:
    case = case_of(*[("21", "n1")] * 2, ("25", "n1"), ("28", "n1"))
    assert released(case) == [("21", "n1"), ("21", "n1"), ("young", "n1"), ("young", "n1")]


def test_a_failing_rest_takes_in_the_smallest_child() -> None:
    case = case_of(("21", "n1"), *[("25", "n1")] * 2, *[("28", "n1")] * 3)
    assert Counter(released(case)) == {("young", "n1"): 3, ("28", "n1"): 3}


def test_a_class_is_cut_at_the_median_where_children_cannot_be_cut_off() -> None:
    """No first value occurs twice, so both halves are `*` there, but each has fewer places."""
    case = Case(
        trees=({"*": dict.fromkeys(("1", "2", "3", "4"))}, PLACES),
        rows=(("1", "n1"), ("2", "n1"), ("3", "n2"), ("4", "south")),
        sensitive={COLUMN: ("Flu",) * 4},
        models=(KAnonymity(2),),
    )
    assert released(case) == [("*", "n1"), ("*", "n1"), ("*", "*"), ("*", "*")]


def test_every_part_must_satisfy_every_model() -> None:
    case = case_of(
        *[("21", "n1")] * 2, *[("63", "n1")] * 2, models=(KAnonymity(2), DistinctLDiversity(2, sensitive=COLUMN)),
        secrets="FFHC",
    )  # fmt: skip
    assert released(case) == [("*", "n1")] * 4
    assert released(replace(case, sensitive={COLUMN: ("Flu", "HIV", "HIV", "Cancer")})) == [
        ("21", "n1"), ("21", "n1"), ("63", "n1"), ("63", "n1"),
    ]  # fmt: skip


def test_records_with_equal_quasi_identifiers_stay_together() -> None:
    case = case_of(*[("21", "n1")] * 6)
    assert np.array_equal(solve(case).recoding.row_class, [0] * 6)


def test_a_block_that_fails_is_left_out_or_refused() -> None:
    case = case_of(*[("21", "n1")] * 3, ("63", "n1"))
    bounded = replace(case, boundaries=(("young", "old"), None))
    with pytest.raises(InfeasibleError):
        solve(bounded)
    assert released(replace(bounded, budget=1)) == [("21", "n1")] * 3 + [None]
