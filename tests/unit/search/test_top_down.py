from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from oracles import local_oracle
from oracles.lattice_oracle import Label
from shoal.errors import InfeasibleError
from shoal.models import AlphaKAnonymity, KAnonymity, Model, PAlphaSensitive, PSensitive
from shoal.search.local.top_down import top_down
from shoal.search.search_result import SearchResult
from support.model_cases import COLUMN
from support.search_cases import Case, problem_of, table_of

FLAT = {"*": {"a": None, "b": None, "c": None}}


def case_of(values: Mapping[str, Sequence[Label]], models: tuple[Model, ...], tree: object = FLAT) -> Case:
    """One quasi-identifier: the sensitive values that stand with each of its leaves."""
    return Case(
        trees=(tree,),  # type: ignore[arg-type]
        rows=tuple((leaf,) for leaf, secrets in values.items() for _ in secrets),
        sensitive={COLUMN: tuple(secret for secrets in values.values() for secret in secrets)},
        models=models,
    )


def sized(k: int, **sizes: int) -> Case:
    return case_of({leaf: ["Flu"] * size for leaf, size in sizes.items()}, (KAnonymity(k),))


def solve(case: Case) -> SearchResult:
    problem, engine = problem_of(case)
    return top_down(problem, engine)


def released(case: Case) -> Counter[tuple[Label, ...]]:
    """How often each original value is released as what: (original, released), one quasi-identifier."""
    recoding = solve(case).recoding
    (hierarchy,) = recoding.hierarchies
    labels = [hierarchy.labels[recoding.nodes[each, 0]] for each in recoding.row_class]
    return Counter((leaf, label) for (leaf,), label in zip(case.rows, labels, strict=True))


def kept_values(case: Case, label: str) -> list[str]:
    """The sensitive values of the records released as the label."""
    recoding = solve(case).recoding
    node = recoding.hierarchies[0].by_label[label]
    pairs = zip(recoding.row_class, case.sensitive[COLUMN], strict=True)
    return sorted(value for each, value in pairs if recoding.nodes[each, 0] == node and value is not None)


def test_children_that_hold_keep_their_values() -> None:
    assert released(sized(3, a=3, b=5)) == {("a", "a"): 3, ("b", "b"): 5}


def test_children_that_fail_stay_together_at_the_parent() -> None:
    assert released(sized(3, a=1, b=2, c=4)) == {("a", "*"): 1, ("b", "*"): 2, ("c", "c"): 4}


def test_the_parent_takes_from_a_child_that_can_spare_a_record() -> None:
    assert released(sized(3, a=2, b=3, c=4)) == {("a", "*"): 2, ("b", "b"): 3, ("c", "*"): 1, ("c", "c"): 3}


def test_the_largest_child_gives_first() -> None:
    assert released(sized(3, a=2, b=4, c=5)) == {("a", "*"): 2, ("b", "b"): 4, ("c", "*"): 1, ("c", "c"): 4}


def test_several_children_give_where_one_has_not_enough() -> None:
    assert released(sized(3, a=1, b=4, c=4)) == {
        ("a", "*"): 1, ("b", "*"): 1, ("b", "b"): 3, ("c", "*"): 1, ("c", "c"): 3,
    }  # fmt: skip


def test_a_whole_child_goes_back_where_none_can_spare_a_record() -> None:
    assert released(sized(3, a=2, b=3, c=3)) == {("a", "*"): 2, ("b", "*"): 3, ("c", "c"): 3}


def test_a_specialization_that_leaves_nothing_specialized_is_given_up() -> None:
    outcome = solve(sized(3, a=2, b=3))
    assert outcome.recoding.n_classes == 1
    assert outcome.search == {"rounds": 1, "classes": 1, "taken": 0}


def test_records_taken_are_counted() -> None:
    assert solve(sized(3, a=1, b=4, c=4)).search == {"rounds": 2, "classes": 3, "taken": 2}


def test_a_large_rest_takes_several_records_at_a_time_and_never_breaks_a_child() -> None:
    case = sized(62, a=20, b=200)
    taken = released(case)["b", "*"]
    assert taken == 43  # one at a time up to 32 records, then two, then three from 48 on: 20 + 43 is the first >= 62
    assert Counter((row[0], label) for row, (label,) in zip(case.rows, oracle_labels(case), strict=True)) == {
        ("a", "*"): 20, ("b", "*"): 43, ("b", "b"): 157,
    }  # fmt: skip


def oracle_labels(case: Case) -> list[tuple[Label, ...]]:
    found = local_oracle.top_down(table_of(case))
    assert found is not None
    return [each for each in found if each is not None]


def test_the_value_is_taken_that_is_enough_alone() -> None:
    """Cancer and Phthisis are lacking more, but weigh too little: one record with Flu is all that is needed."""
    case = case_of(
        {"a": ["HIV"], "b": ["Cancer"] * 6 + ["Phthisis"] * 5 + ["Flu"] * 4},
        (KAnonymity(2), PAlphaSensitive(2, alpha=1, sensitive=COLUMN)),
    )
    assert kept_values(case, "*") == ["Flu", "HIV"]


def test_a_child_does_not_give_what_it_needs_itself() -> None:
    case = case_of(
        {"a": ["HIV"], "b": ["HIV", "Flu", "Asthma"], "c": ["Flu", "Flu", "HIV", "HIV", "HIV"]},
        (KAnonymity(2), PSensitive(2, sensitive=COLUMN)),
    )
    assert kept_values(case, "*") == ["Flu", "HIV"]
    assert kept_values(case, "c") == ["Flu", "HIV", "HIV", "HIV"]


def test_shares_are_kept_on_both_sides() -> None:
    case = case_of(
        {"a": ["HIV", "HIV"], "b": ["HIV"] * 3 + ["Flu"] * 7},
        (AlphaKAnonymity({"HIV": 0.5}, sensitive=COLUMN),),
    )
    assert kept_values(case, "*") == ["Flu", "Flu", "HIV", "HIV"]
    assert kept_values(case, "b") == ["Flu"] * 5 + ["HIV"] * 3


def test_what_is_left_at_the_parent_is_tried_in_the_other_attributes() -> None:
    """The rest of the first attribute, one record each of a and b, shares x in the second."""
    case = Case(
        trees=(FLAT, {"*": {"x": None, "y": None}}),
        rows=(("a", "x"), ("b", "x"), ("c", "y"), ("c", "y"), ("c", "x"), ("c", "x")),
        sensitive={COLUMN: ("Flu",) * 6},
        models=(KAnonymity(2),),
    )
    recoding = solve(case).recoding
    labels = {
        tuple(hierarchy.labels[node] for hierarchy, node in zip(recoding.hierarchies, nodes, strict=True))
        for nodes in recoding.nodes
    }
    assert labels == {("*", "x"), ("c", "y"), ("c", "x")}


def test_records_of_different_blocks_never_meet() -> None:
    tree = {"*": {"left": {"a": None, "b": None}, "right": {"c": None, "d": None}}}
    case = case_of({"a": ["Flu"], "b": ["Flu"], "c": ["Flu"] * 2, "d": ["Flu"]}, (KAnonymity(2),), tree)
    bounded = replace(case, boundaries=(("left", "right"),))
    assert released(bounded) == {("a", "left"): 1, ("b", "left"): 1, ("c", "right"): 2, ("d", "right"): 1}
    with pytest.raises(InfeasibleError):
        solve(replace(bounded, models=(KAnonymity(3),)))
    outcome = solve(replace(bounded, models=(KAnonymity(3),), budget=2))
    assert outcome.recoding.row_class.tolist() == [-1, -1, 0, 0, 0]
