"""Downcoding: labels that other records narrow down, as told by trying every assignment of people to records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from oracles import attack_oracle as oracle
from shoal.attacks.attack import AttackResult
from shoal.attacks.attackers.downcoding import tightened
from shoal.hierarchies import Tree
from support.attack_cases import found, policy_of, table_of

TREE = {"*": {"America": {"North": ["USA", "Canada"], "South": ["Brazil"]}, "Asia": ["China", "Japan", "India"]}}
COLUMNS = {"country": {"role": "quasi", "hierarchy": {"tree": TREE}}, "illness": {"role": "sensitive"}}


def chains(node: Any, above: list[str]) -> dict[str | None, list[str]]:
    """For each value its labels up to the root."""
    if isinstance(node, list):
        return {leaf: [leaf, *above] for leaf in node}
    return {leaf: path for label, under in node.items() for leaf, path in chains(under, [label, *above]).items()}


CHAINS = chains(TREE, [])


def attacked(people: Sequence[str], labels: Sequence[str]) -> AttackResult:
    original = table_of(["country", "illness"], [(value, "flu") for value in people])
    release = table_of(["country", "illness"], [(label, "flu") for label in labels])
    return found(shoal.attack(release, policy_of(COLUMNS), original=original), "downcoding")


def test_siblings_that_take_up_a_value_narrow_the_others_down() -> None:
    """Both Americans of the USA are shown as such: the one who shows America is none of them."""
    estimate = attacked(["USA", "USA", "Canada", "Brazil", "China"], ["USA", "USA", "North", "America", "Asia"])
    assert estimate.leak
    assert estimate.details["by_column"] == {"country": {"records": 3, "labels": 3}}
    two = attacked(["USA", "USA", "Canada", "Japan", "China"], ["USA", "America", "America", "Asia", "Asia"])
    assert not two.leak


def test_a_label_with_a_single_value_left_hides_nothing() -> None:
    estimate = attacked(["Brazil", "Brazil", "China", "Japan"], ["South", "South", "Asia", "Asia"])
    assert (estimate.leak, estimate.records) == (True, 2)


def test_a_label_whose_people_are_all_in_one_branch_is_told_apart_from_what_records_give_away() -> None:
    estimate = attacked(["USA", "Canada", "USA", "China", "Japan"], ["America"] * 3 + ["Asia"] * 2)
    assert (estimate.leak, estimate.records) == (False, 0)
    assert estimate.rate == estimate.baseline == pytest.approx(3 / 5)
    assert estimate.details["records_with_branches_without_people"] == 3


def test_a_full_domain_release_with_people_in_every_branch_is_closed() -> None:
    people = ["USA", "Canada", "Brazil", "China", "Japan", "India"]
    estimate = attacked(people, ["America"] * 3 + ["Asia"] * 3)
    assert (estimate.leak, estimate.rate, estimate.baseline) == (False, 0.0, 0.0)


def test_suppressed_people_leave_it_open_who_is_behind_a_label() -> None:
    """One person of the USA is shown, one is not: the record that shows North may be either's or Canada's."""
    assert attacked(["USA", "USA", "Canada", "China", "Japan"], ["USA", "North", "Asia", "Asia"]).records == 0


def test_columns_with_ranges_are_left_out_and_said_so() -> None:
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10]}}, "illness": {"role": "sensitive"}}
    policy = policy_of(columns, algorithm={"name": "mondrian", "ranges": ["age"]})
    original = table_of(["age", "illness"], [(age, "flu") for age in ("21", "22", "23", "35")])
    release = table_of(["age", "illness"], [(age, "flu") for age in ("21<=23", "21<=23", "21<=23", "35")])
    estimate = found(shoal.attack(release, policy, original=original), "downcoding")
    assert (estimate.status, estimate.outcome) == ("not applicable", "only-ranges")
    both = columns | {"sex": {"role": "quasi"}}
    policy = policy_of(both, algorithm={"name": "mondrian", "ranges": ["age"]})
    names = ["age", "illness", "sex"]
    original = table_of(names, [(age, "flu", "m") for age in ("21", "22", "23", "35")])
    release = table_of(names, [(age, "flu", "m") for age in ("21<=23", "21<=23", "21<=23", "35")])
    estimate = found(shoal.attack(release, policy, original=original), "downcoding")
    assert estimate.details["columns_left_out_for_ranges"] == ["age"]


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Up to six people, each shown under a label above their value or not at all."""
    people = draw(st.lists(st.sampled_from([str(value) for value in CHAINS]), min_size=1, max_size=6))
    shown = [draw(st.sampled_from([None, *CHAINS[person]])) for person in people]
    return people, [label for label in shown if label is not None]


@given(releases())
def test_labels_are_narrowed_down_exactly_as_far_as_every_assignment_allows(case: tuple[list[str], list[str]]) -> None:
    people, labels = case
    leaves = sorted({*map(str, CHAINS)})
    built = Tree(TREE).build(leaves, [1] * len(leaves), "tree")
    hierarchy = built.hierarchy
    code = dict(zip(leaves, built.codes.tolist(), strict=True))
    counts = np.bincount([code[person] for person in people], minlength=hierarchy.n_leaves)
    records = np.zeros(len(hierarchy.labels), dtype=np.int64)
    for label, times in Counter(labels).items():
        records[hierarchy.by_label[label]] = times
    told = tightened(hierarchy, counts, records)
    for label, values in zip(labels, oracle.possible_values(CHAINS, people, labels), strict=True):
        expected = oracle.common_ancestor(CHAINS, values)
        assert hierarchy.labels[told[hierarchy.by_label[label]]] == expected


def test_the_original_must_be_that_of_the_release() -> None:
    release = pa.table({"country": ["China", "Atlantis"], "illness": ["flu", "flu"]})
    original = pa.table({"country": ["China", "Japan"], "illness": ["flu", "flu"]})
    with pytest.raises(shoal.errors.DataError, match="'Atlantis'"):
        shoal.attack(release, policy_of(COLUMNS), original=original)
