"""Refinement: what a search tells about the values behind its labels, against all originals that give the release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracles import refinement_oracle as oracle
from oracles.refinement_oracle import Labels, Pairs
from shoal.attacks.attack import AttackResult
from shoal.attacks.finer_labels import surroundings
from shoal.search import ALGORITHMS
from shoal.search.local.cuts import largest_after_borrowing
from support.attack_cases import found, policy_of, table_of
from support.refinement_cases import attacked, recoded_pairs

Tree = dict[str, Any]
NESTED: Tree = {"*": {"A": ["a", "b", "c"], "B": ["d", "e"]}}
FOUR: Tree = {"*": ["a", "b", "c", "d"]}
THREE: Tree = {"*": ["a", "b", "c"]}
TWO: Tree = {"*": ["x", "y"]}
NUMBERS: Tree = {"*": {"low": ["1", "2"], "high": ["3", "4", "5"]}}
SEARCHED = sorted(
    name for name, algorithm in ALGORITHMS.items() if algorithm.search != "one-result" and not algorithm.chooses
)


def chains_of(tree: Any, above: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """For each value its labels up to the root."""
    if isinstance(tree, list):
        return {leaf: (leaf, *above) for leaf in tree}
    return {leaf: path for label, under in tree.items() for leaf, path in chains_of(under, (label, *above)).items()}


def trees_policy(trees: Sequence[Tree], k: int, algorithm: Any, **others: Any) -> shoal.Policy:
    columns = {f"q{j}": {"role": "quasi", "hierarchy": {"tree": tree}} for j, tree in enumerate(trees)}
    return policy_of(columns, privacy=[{"model": "k-anonymity", "k": k}], algorithm=algorithm, **others)


def attack_values(tree: Tree, k: int, algorithm: str, values: str, **others: Any) -> AttackResult:
    """The attack on the release of one column, a letter per record."""
    policy = trees_policy([tree], k, algorithm, **others)
    release = shoal.anonymize(table_of(["q0"], [(value,) for value in values]), policy)
    return found(shoal.attack(release.table, policy), "refinement")


CASES = [([NESTED], 2, 5), ([FOUR], 2, 6), ([FOUR], 3, 8), ([THREE, TWO], 2, 4)]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", SEARCHED)
@pytest.mark.parametrize(("trees", "k", "records"), CASES)
def test_what_is_certain_is_so_in_every_original(trees: list[Tree], k: int, records: int, algorithm: str) -> None:
    policy, columns = trees_policy(trees, k, algorithm), [chains_of(tree) for tree in trees]
    groups = oracle.by_release(columns, records, partial(recoded_pairs, policy))
    assert sum(map(len, groups.values())) > 10
    for release, tables in groups.items():
        released, concluded, numbers = attacked(policy, release)
        for (labels, j), known in oracle.certain_counts(columns, tables).items():
            index = numbers[labels]
            size = int(released.sizes[index])
            for below, counts in known.items():
                least, most = concluded[j].bounds(index, size, below)
                assert least <= counts.least, (release, labels, below)
                assert counts.most <= most, (release, labels, below)
            cells = int(concluded[j].certain(released.sizes)[index])
            assert concluded[j].placed_by_labels[index] <= cells <= oracle.certain_cells(known, size)


@pytest.mark.parametrize(("algorithm", "tree", "k", "records"), [
    ("mondrian", FOUR, 3, 7), ("top-down", THREE, 3, 7), ("optimal", NESTED, 2, 5), ("incognito", NESTED, 2, 4),
])  # fmt: skip
def test_on_some_domains_it_finds_all_there_is(algorithm: str, tree: Tree, k: int, records: int) -> None:
    policy, columns = trees_policy([tree], k, algorithm), [chains_of(tree)]
    cells = 0
    for release, tables in oracle.by_release(columns, records, partial(recoded_pairs, policy)).items():
        released, concluded, numbers = attacked(policy, release)
        for (labels, j), known in oracle.certain_counts(columns, tables).items():
            index = numbers[labels]
            exact = oracle.certain_cells(known, int(released.sizes[index]))
            assert concluded[j].certain(released.sizes)[index] == exact, (release, labels)
            cells += exact
    assert cells


@st.composite
def searched_tables(draw: st.DrawFn) -> tuple[shoal.Policy, list[Labels]]:
    """A policy with or without a model on a secret, boundaries, ranges and improvements, and the rows of a table."""
    trees = draw(st.lists(st.sampled_from([NESTED, FOUR, THREE, TWO, NUMBERS]), min_size=1, max_size=3))
    columns: dict[str, Any] = {f"q{j}": {"role": "quasi", "hierarchy": {"tree": tree}} for j, tree in enumerate(trees)}
    if trees[0] is NESTED and draw(st.booleans()):
        columns["q0"]["boundary"] = ["A", "B"]
    privacy: list[Any] = [{"model": "k-anonymity", "k": draw(st.integers(1, 4))}]
    values = [sorted(chains_of(tree)) for tree in trees]
    if draw(st.booleans()):
        columns["illness"], values = {"role": "sensitive"}, [*values, ["flu", "cold", "HIV"]]
        privacy.append({"model": "distinct-l-diversity", "l": 2, "sensitive": "illness"})
    algorithm: dict[str, Any] = {"name": draw(st.sampled_from([name for name in SEARCHED if "cluster" not in name]))}
    if ALGORITHMS[algorithm["name"]].scope == "local":
        if draw(st.integers(0, 4)) == 0:
            algorithm["refine"] = 0
        if draw(st.booleans()):
            algorithm["ranges"] = [f"q{j}" for j, tree in enumerate(trees) if tree is NUMBERS]
    suppression = draw(st.sampled_from([0.0, 0.0, 0.4]))
    policy = policy_of(columns, privacy=privacy, algorithm=algorithm, suppression=suppression)
    rows = draw(st.lists(st.tuples(*map(st.sampled_from, values)), min_size=1, max_size=24))
    return policy, rows


def contradictions(policy: shoal.Policy, pairs: Pairs) -> list[Any]:
    """Conclusions about a release that the original it was made from contradicts."""
    names = policy.names("quasi")
    columns = [chains_of(policy.columns[name].hierarchy.tree) for name in names]  # type: ignore[union-attr]
    released, concluded, numbers = attacked(policy, frozenset(Counter(labels for _, labels in pairs).items()))
    wrong = []
    for (labels, j), known in oracle.certain_counts(columns, [pairs]).items():
        index = numbers[labels]
        for below, counts in known.items():
            least, most = concluded[j].bounds(index, int(released.sizes[index]), below)
            if not least <= counts.least <= most:
                wrong.append((names[j], labels, below, counts, least, most))
    return wrong


@given(searched_tables())
@settings(max_examples=150)
def test_no_conclusion_contradicts_the_original(case: tuple[shoal.Policy, list[Labels]]) -> None:
    policy, rows = case
    pairs = recoded_pairs(policy, rows)
    assert not pairs or not contradictions(policy, pairs)


def test_a_class_of_2k_records_that_was_not_specialized_has_less_than_k_of_every_value() -> None:
    """Eight records of four values, k = 3: with three of a value it would have a class, so there are two of each."""
    estimate = attack_values(FOUR, 3, "top-down", "aabbccdd")
    assert (estimate.leak, estimate.records, estimate.certain) == (True, 8, 8)
    assert estimate.details["by_column"]["q0"] == {"cells": 8, "narrowed": 0, "placed": 8, "placed_by_labels": 0}
    seven = attack_values(FOUR, 3, "top-down", "aabbccd")  # one or two of each
    assert (seven.rate, seven.records) == (pytest.approx(4 / 7), 4)


def test_a_value_with_a_class_of_its_own_is_not_behind_the_label_beside_it() -> None:
    estimate = attack_values(FOUR, 3, "mondrian", "aaaabcd")
    assert (estimate.leak, estimate.records, estimate.of, estimate.rate) == (True, 3, 3, 1.0)
    assert estimate.details["by_column"]["q0"]["narrowed"] == 3
    assert estimate.details["guesses"] == {"cells": 3, "right_at_least": pytest.approx(1 / 3), "right_at_most": 2 / 3}


def test_a_small_class_may_have_borrowed_records_of_a_value_with_a_class_of_its_own() -> None:
    """Of b and c one record each is left over and takes an a; of more left-over records none is an a."""
    borrowed = attack_values(FOUR, 3, "top-down", "aaaabc")
    assert borrowed.details["by_column"]["q0"]["narrowed"] == 0
    enough = attack_values(FOUR, 3, "top-down", "aaaabbcc")
    assert enough.details["by_column"]["q0"]["narrowed"] == 4
    assert attack_values(THREE, 3, "top-down", "aaaabbbbc").details["by_column"]["q0"]["placed"] == 1


def test_the_only_class_that_can_be_divided_explains_a_full_domain_level() -> None:
    estimate = attack_values({"*": {"A": ["a", "b"], "C": ["c"]}}, 2, "optimal", "aabcc")
    assert (estimate.leak, estimate.records) == (True, 2)
    two = attack_values({"*": {"A": ["a", "b"], "C": ["c", "d"]}}, 2, "optimal", "aabccd")
    assert (two.leak, two.records, two.rate) == (False, 0, 0.0)


def test_what_tight_labels_say_is_the_baseline() -> None:
    """Two values under a label both occur, and so do both ends of a range: that is no leak."""
    estimate = attack_values(TWO, 2, "greedy-clustering", "xyy")
    assert (estimate.outcome, estimate.rate, estimate.baseline) == ("nothing", estimate.baseline, pytest.approx(2 / 3))
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10]}}}
    privacy = [{"model": "k-anonymity", "k": 3}]
    policy = policy_of(columns, privacy=privacy, algorithm={"name": "mondrian", "ranges": ["age"]})
    release = shoal.anonymize(table_of(["age"], [(age,) for age in ("21", "22", "29")]), policy)
    ranged = found(shoal.attack(release.table, policy), "refinement")
    assert (ranged.leak, ranged.rate, ranged.baseline) == (False, pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_a_model_on_secrets_may_explain_a_class_that_was_not_divided() -> None:
    columns = {"q0": {"role": "quasi", "hierarchy": {"tree": FOUR}}, "illness": {"role": "sensitive"}}
    privacy = [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "l": 2, "sensitive": "illness"}]
    policy = policy_of(columns, privacy=privacy, algorithm="top-down")
    rows = [(value, "flu" if value < "c" else "HIV") for value in "aabbccdd"]
    estimate = found(shoal.attack(shoal.anonymize(table_of(list(columns), rows), policy).table, policy), "refinement")
    assert (estimate.outcome, estimate.details["concluded_from"]) == ("nothing", ["tight-labels"])


def test_improved_classes_say_only_what_their_labels_do() -> None:
    policy = trees_policy([FOUR], 3, {"name": "top-down", "refine": 0})
    release = shoal.anonymize(table_of(["q0"], [(value,) for value in "aabbccdd"]), policy)
    estimate = found(shoal.attack(release.table, policy), "refinement")
    assert (estimate.leak, estimate.details["concluded_from"]) == (False, ["tight-labels"])


def test_it_is_made_only_where_the_search_chose_the_labels() -> None:
    assert attack_values(FOUR, 1, "mondrian", "aabb").outcome == "nothing-generalized"
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10]}}, "zip": {"role": "quasi"}}
    algorithm = {"name": "range", "group": {"zip": 0}, "ranges": ["age"], "safe": True}
    policy = policy_of(columns, algorithm=algorithm)
    release = table_of(["age", "zip"], [("21<=29", "1"), ("21<=29", "1")])
    estimate = found(shoal.attack(release, policy), "refinement")
    assert (estimate.status, estimate.outcome) == ("not applicable", "nothing-chosen")
    counted = policy_of({"q": {"role": "quasi"}, "p": {"role": "identifier"}}, person="p")
    people = found(shoal.attack(table_of(["q"], [("*",), ("*",)]), counted), "refinement")
    assert (people.status, people.outcome) == ("not tried", "people-counted")


def test_a_release_that_the_declared_values_cannot_give_is_taken_for_its_labels_alone() -> None:
    """Seven records over three values, k = 3: one value has three and would have been set apart."""
    policy = trees_policy([THREE], 3, "top-down")
    estimate = found(shoal.attack(table_of(["q0"], [("*",)] * 7), policy), "refinement")
    assert (estimate.leak, estimate.rate) == (False, 0.0)


@pytest.mark.parametrize(("hierarchy", "label", "finer", "path"), [
    ({"tree": NESTED}, "A", ("a", "b", "c"), ("A", "*")),
    ({"tree": NESTED}, "*", ("A", "B", None), ("*",)),
    ({"tree": {"*": {"A": ["a", "b"], "c": None}}}, "*", ("A", "c", None), ("*",)),
    ({"intervals": [5, 10]}, "[20, 30)", ("[20, 25)", "[25, 30)"), ("[20, 30)", "*")),
    ({"intervals": [5, 10]}, "[20, 25)", None, ("[20, 25)", "[20, 30)", "*")),
    ({"intervals": [5, 10]}, "*", None, ("*",)),
    ({"intervals": {"widths": [10], "bounds": [5, 30]}}, "*",
     ("[5, 10)", "[10, 20)", "[20, 30)", "[30, 30]", None), ("*",)),
    ({"intervals": {"cuts": [["-inf", 18, 30, 65, "inf"], ["-inf", 30, "inf"]]}}, "(-inf, 30)",
     ("(-inf, 18)", "[18, 30)"), ("(-inf, 30)", "*")),
    ({"order": ["low", "mid", "high"]}, "low..mid", ("low", "mid"), ("low..mid", "*")),
    ({"mask": "right"}, "021**", None, ("021**", "02***", "0****")),
    ({"dates": ["month", "year"]}, "2020-05", None, ("2020-05", "2020", "*")),
    ({"dates": ["month", "year"]}, "2020", None, ("2020", "*")),
])  # fmt: skip
def test_labels_around_a_label(
    hierarchy: Any, label: str, finer: tuple[str | None, ...] | None, path: tuple[str, ...]
) -> None:
    """One that shows a missing value has it under the root."""
    policy = policy_of({"q": {"role": "quasi", "hierarchy": hierarchy}})
    given, missing = surroundings(policy, "q", [label, None])
    assert (given.finer, given.path, given.is_value) == (finer, path, False)
    assert missing.is_value


@given(st.integers(2, 200), st.integers(1, 199))
def test_a_rest_that_borrows_stops_soon_after_k(k: int, rest: int) -> None:
    size = min(rest, k - 1)
    while size < k:
        size += 1 if size + 1 >= k else max(size // 16, 1)
    assert size <= largest_after_borrowing(k)
