"""The full-domain searches against an oracle that looks at every node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import lattice_oracle as oracle
from oracles.lattice_oracle import Label, Table
from shoal.errors import InfeasibleError
from shoal.models import AlpDif, KAnonymity
from shoal.search import ALGORITHMS
from shoal.search.lattice.incognito import all_minimal_nodes
from shoal.table.recoding import Recoding
from support.model_cases import COLUMN, RANDOM
from support.search_cases import Case, cases, levels_of, problem_of, released_labels, table_of

pytestmark = pytest.mark.slow

NON_MONOTONE = (
    "alp-dif",
    "t-closeness",
    "alpha-k-anonymity",
    "group-leakage",
    "entropy-l-diversity",
    "recursive-cl-diversity",
)

FULL_DOMAIN = ("greedy-lattice", "incognito", "optimal")


def run(name: str, case: Case) -> Recoding | None:
    """What an algorithm gives, or None where it says there is nothing."""
    problem, engine = problem_of(case)
    try:
        return ALGORITHMS[name].run(problem, engine).recoding
    except InfeasibleError:
        return None


def expected(table: Table, kept: dict[tuple[Label, ...], list[int]]) -> list[tuple[Label, ...] | None]:
    of_row = {row: name for name, rows in kept.items() for row in rows}
    return [of_row.get(row) for row in range(len(table.rows))]


def mixed(names: Sequence[str]) -> st.SearchStrategy[object]:
    return st.lists(st.sampled_from(names).flatmap(lambda name: RANDOM[name]), min_size=1, max_size=2).map(tuple)


@settings(max_examples=250)
@given(cases())
def test_incognito_finds_exactly_the_minimal_nodes(case: Case) -> None:
    problem, engine = problem_of(case)
    table = table_of(case)
    assert all_minimal_nodes(problem, engine) == oracle.minimal_nodes(table)


@settings(max_examples=120)
@given(cases(max_rows=15, models=mixed(NON_MONOTONE)))
def test_incognito_misses_no_minimal_node_of_models_that_are_not_monotone(case: Case) -> None:
    problem, engine = problem_of(case)
    assert all_minimal_nodes(problem, engine) == oracle.minimal_nodes(table_of(case))


@settings(max_examples=150)
@given(cases())
def test_incognito_releases_the_best_of_the_minimal_nodes(case: Case) -> None:
    table = table_of(case)
    best = oracle.best_node(table, case.metric, oracle.minimal_nodes(table))
    recoding = run("incognito", case)
    if best is None:
        assert recoding is None
    else:
        assert recoding is not None
        assert recoding.levels == levels_of(case, best[0])
        assert released_labels(recoding) == expected(table, oracle.judge(table, best[0]).kept)


@settings(max_examples=300)
@given(cases())
def test_optimal_finds_the_cheapest_node(case: Case) -> None:
    check_optimal(case)


@settings(max_examples=120)
@given(cases(max_rows=15, models=mixed(NON_MONOTONE)))
def test_optimal_finds_the_cheapest_node_of_models_that_are_not_monotone(case: Case) -> None:
    check_optimal(case)


@settings(max_examples=120)
@given(cases(models=mixed(("k-anonymity", "p-sensitive", "p-plus-alpha-sensitive"))), st.integers(1, 10))
def test_optimal_finds_the_cheapest_node_when_suppression_sharpens_the_bound(case: Case, budget: int) -> None:
    check_optimal(replace(case, budget=min(budget, len(case.rows))))


def check_optimal(case: Case) -> None:
    table = table_of(case)
    best = oracle.best_node(table, case.metric)
    problem, engine = problem_of(case)
    if best is None:
        with pytest.raises(InfeasibleError):
            ALGORITHMS["optimal"].run(problem, engine)
        return
    node, cost = best
    recoding = ALGORITHMS["optimal"].run(problem, engine).recoding
    names = dict.fromkeys(each for each in released_labels(recoding) if each is not None)
    kept = {name: [row for row, each in enumerate(released_labels(recoding)) if each == name] for name in names}
    assert oracle.cost(case.metric, table, oracle.Verdict(True, kept, frozenset())) == pytest.approx(cost, abs=1e-11)
    assert recoding.levels == levels_of(case, node)
    assert released_labels(recoding) == expected(table, oracle.judge(table, node).kept)


@settings(max_examples=200)
@given(cases())
def test_greedy_lattice_walks_wangs_path(case: Case) -> None:
    check_greedy(case)


@settings(max_examples=150)
@given(cases(max_rows=20, models=mixed(("alp-dif", "t-closeness", "k-anonymity"))), st.integers(1, 8))
def test_greedy_lattice_walks_both_phases(case: Case, budget: int) -> None:
    check_greedy(replace(case, budget=min(budget, len(case.rows)), models=(KAnonymity(2), *case.models)))


def check_greedy(case: Case) -> None:
    table = table_of(case)
    walk = oracle.greedy(table)
    problem, engine = problem_of(case)
    if walk.outcome is None:
        with pytest.raises(InfeasibleError):
            ALGORITHMS["greedy-lattice"].run(problem, engine)
        return
    outcome = ALGORITHMS["greedy-lattice"].run(problem, engine)
    assert outcome.search["path"] == [levels_of(case, node) for node in walk.path]
    assert released_labels(outcome.recoding) == expected(table, walk.outcome.kept)


@settings(max_examples=150)
@given(cases(max_rows=15, models=mixed(sorted(RANDOM))), st.integers(1, 8))
def test_no_finer_release_leaves_out_fewer_records_of_a_class_than_the_bound_says(case: Case, budget: int) -> None:
    """`Model.least_removed` lets a search rule out every node below, so it may never exceed what really goes."""
    case = replace(case, budget=min(budget, len(case.rows)))
    table = table_of(case)
    problem, engine = problem_of(case)
    nodes = oracle.ladder_nodes(table)
    satisfying = {node: each for node in nodes if (each := oracle.judge(table, node)).satisfied}
    for node in nodes:
        grouping = engine.classes(node)
        stats = engine.stats(grouping, problem.sensitive_columns)
        row_class = grouping.tuple_class[problem.table.row_tuple]
        bounds = [
            model.least_removed(stats.view(model.column), case.budget)
            for model in case.models
            if problem.merge_closed(model)
        ]
        for below, outcome in satisfying.items():
            if all(a <= b for a, b in zip(below, node, strict=True)):
                gone = np.bincount(row_class[sorted(outcome.suppressed)], minlength=grouping.n_classes)
                assert all((bound <= gone).all() for bound in bounds)


@settings(max_examples=60)
@given(cases(), st.randoms(use_true_random=False), st.sampled_from(FULL_DOMAIN))
def test_the_order_of_the_rows_changes_nothing(case: Case, random: object, name: str) -> None:
    order = list(range(len(case.rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    before, after = run(name, case), run(name, case.shuffled(order))
    if before is None:
        assert after is None
    else:
        assert after is not None
        assert np.array_equal(before.row_class[order], after.row_class)
        assert np.array_equal(before.nodes, after.nodes)
        assert before.levels == after.levels


def test_nodes_below_a_failing_one_are_found_when_the_model_is_not_monotone() -> None:
    """Merging two classes lowers the average leakage, and a class left as it was then exceeds it (Wang's Theorem 3)."""
    secrets = {"a1": ["HIV"] * 3 + ["Flu", "Asthma"], "a2": ["Flu", "Flu"], "b": ["HIV"] * 3 + ["Flu"]}
    case = Case(
        trees=({"*": {"a": {"a1": None, "a2": None}, "b": None}},),
        rows=tuple((leaf,) for leaf, values in secrets.items() for _ in values),
        sensitive={COLUMN: tuple(value for values in secrets.values() for value in values)},
        models=(AlpDif({"HIV": {"alp": 0.7, "dif": 0.1}}, sensitive=COLUMN),),
    )
    table = table_of(case)
    assert [oracle.judge(table, (step,)).satisfied for step in range(3)] == [True, False, True]
    for name in FULL_DOMAIN:
        recoding = run(name, case)
        assert recoding is not None
        assert recoding.levels == {"q0": 0}
