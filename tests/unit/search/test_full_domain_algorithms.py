"""The full-domain algorithms on small tables worked out by hand, and their options."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError, PolicyError
from shoal.models import AlpDif, AlphaKAnonymity, KAnonymity, PSensitive, TCloseness
from shoal.search import ALGORITHMS
from shoal.search.evaluation import prunable_models
from shoal.search.lattice.incognito import all_minimal_nodes
from shoal.search.lattice.nodes import MOST_NODES, by_generality, check_size, minimal_nodes
from shoal.search.search_result import SearchResult
from support.model_cases import COLUMN
from support.search_cases import Case, problem_of

AGE = {"*": {"20s": {"21": None, "24": None}, "30s": {"33": None, "36": None}}}
SEX = {"*": {"F": None, "M": None}}
CASE = Case(
    trees=(AGE, SEX),
    rows=(("21", "F"), ("24", "F"), ("33", "M"), ("36", "M"), ("21", "F"), ("24", "M")),
    sensitive={COLUMN: ("HIV", "Flu", "HIV", "Flu", "Cancer", "Flu")},
    models=(KAnonymity(2),),
)


def solve(name: str, case: Case) -> SearchResult:
    problem, engine = problem_of(case)
    return ALGORITHMS[name].run(problem, engine)


def test_incognito_lists_every_minimal_node_by_hand() -> None:
    """Decades with sexes leave (20s, M) alone; decades without sexes hold, and so do sexes without ages."""
    problem, engine = problem_of(CASE)
    assert all_minimal_nodes(problem, engine) == [(1, 1), (2, 0)]
    outcome = solve("incognito", CASE)
    assert outcome.search["minimal_nodes"] == [{"q0": 1, "q1": 1}, {"q0": 2, "q1": 0}]
    assert outcome.search["nodes"] == 6


def test_one_suppressed_record_buys_a_finer_release() -> None:
    problem, engine = problem_of(replace(CASE, budget=1))
    assert all_minimal_nodes(problem, engine) == [(1, 0)]
    recoding = solve("optimal", replace(CASE, budget=1)).recoding
    assert recoding.levels == {"q0": 1, "q1": 0}
    assert np.flatnonzero(recoding.row_class == -1).tolist() == [5]


@pytest.mark.parametrize("levels", [{"q0": 1, "q1": 1}, {"q0": 2, "q1": 0}])
def test_incognito_releases_the_minimal_node_that_the_policy_picks(levels: dict[str, int]) -> None:
    recoding = solve("incognito", replace(CASE, options={"node": levels})).recoding
    assert recoding.levels == levels


def test_incognito_refuses_a_node_that_is_not_minimal_and_lists_those_that_are() -> None:
    with pytest.raises(PolicyError, match="is not a minimal node") as raised:
        solve("incognito", replace(CASE, options={"node": {"q0": 2, "q1": 1}}))
    assert "{'q0': 1, 'q1': 1}" in str(raised.value)
    assert raised.value.problems[0].where == "algorithm.node"


def test_optimal_follows_the_measure_where_measures_disagree() -> None:
    """Precision, a mean of ratios, loses (1 + 0)/2 at (2, 0) and (1/2 + 1)/2 at (1, 1). Sun's ratio of sums ties, two
    levels of three, and so do the heights: the first in column order is taken.
    """
    assert solve("optimal", replace(CASE, metric="precision")).recoding.levels == {"q0": 2, "q1": 0}
    assert solve("optimal", replace(CASE, metric="distortion_ratio")).recoding.levels == {"q0": 1, "q1": 1}


def test_a_boundary_shortens_the_lattice_and_levels_keep_their_declared_numbers() -> None:
    bounded = replace(CASE, boundaries=(("20s", "30s"), None))
    problem, engine = problem_of(bounded)
    assert problem.shape == (2, 2)
    assert all_minimal_nodes(problem, engine) == [(1, 1)]
    at_leaves = replace(CASE, boundaries=(0, None), models=(KAnonymity(1),))
    assert problem_of(at_leaves)[0].shape == (1, 2)


def test_greedy_lattice_raises_the_attribute_of_least_loss_first() -> None:
    """Loss (9): decades lose 1/4 a record, sexes 1/2; the decades go first, then the sexes, (1, 1) holds."""
    outcome = solve("greedy-lattice", CASE)
    assert outcome.search["path"] == [{"q0": 0, "q1": 0}, {"q0": 1, "q1": 0}, {"q0": 1, "q1": 1}]
    assert outcome.recoding.levels == {"q0": 1, "q1": 1}


def test_greedy_lattice_spends_the_generality_where_it_matters_least() -> None:
    """With W = 1 for sex its loss counts nothing: it is raised first; ties go to the first column."""
    path = solve("greedy-lattice", replace(CASE, weights=(0, 1))).search["path"]
    assert path == [{"q0": 0, "q1": 0}, {"q0": 0, "q1": 1}, {"q0": 1, "q1": 1}]
    ties = solve("greedy-lattice", replace(CASE, weights=(1, 1))).search["path"]
    assert ties[1] == {"q0": 1, "q1": 0}


def test_greedy_lattice_stops_once_few_enough_records_fail() -> None:
    outcome = solve("greedy-lattice", replace(CASE, budget=1))
    assert outcome.recoding.levels == {"q0": 1, "q1": 0}
    assert outcome.recoding.suppressed == 1


def test_greedy_lattice_suppresses_nothing_more_in_its_second_phase() -> None:
    limited = AlpDif({"HIV": {"alp": 0.4, "dif": 1}}, sensitive=COLUMN)
    outcome = solve("greedy-lattice", replace(CASE, budget=1, models=(KAnonymity(2), limited)))
    assert np.flatnonzero(outcome.recoding.row_class == -1).tolist() == [5]
    assert outcome.recoding.levels == {"q0": 2, "q1": 1}


def test_what_may_prune_depends_on_the_declarations_and_the_budget() -> None:
    models = (
        KAnonymity(2),
        AlphaKAnonymity(0.5, sensitive=COLUMN),
        TCloseness(0.5, sensitive=COLUMN),
        AlpDif({"HIV": {"alp": 1, "dif": 1}}, sensitive=COLUMN),
    )
    problem, _ = problem_of(CASE)
    assert prunable_models(problem, models) == models[:3]
    assert prunable_models(replace(problem, budget=1), models) == models[:1]


def test_where_people_are_counted_only_counting_models_may_prune() -> None:
    models = (KAnonymity(2), PSensitive(2, sensitive=COLUMN), AlphaKAnonymity(0.5, sensitive=COLUMN))
    problem, _ = problem_of(CASE)
    people = replace(problem, table=replace(problem.table, person=np.zeros(6, dtype=np.int32)))
    assert prunable_models(people, models) == models[:2]


@settings(max_examples=80)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_minimal_nodes_have_no_satisfying_node_below(shape: list[int], seed: int) -> None:
    satisfying = np.random.default_rng(seed).random(shape) < 0.3
    nodes = [node for node in product(*map(range, shape)) if satisfying[node]]
    minimal = [
        node for node in nodes
        if not any(other != node and all(a <= b for a, b in zip(other, node, strict=True)) for other in nodes)
    ]  # fmt: skip
    assert minimal_nodes(satisfying) == sorted(minimal, key=lambda node: (sum(node), node))


def test_nodes_come_least_general_first() -> None:
    assert list(by_generality((2, 3))) == [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (1, 2)]


@pytest.mark.parametrize("algorithm", ["incognito", "optimal"])
def test_a_lattice_too_large_to_search_is_refused_with_its_size(algorithm: str) -> None:
    problem: Any = SimpleNamespace(shape=(10,) * 9, table=SimpleNamespace(links=None))
    with pytest.raises(InputError, match="1,000,000,000 nodes") as raised:
        check_size(problem, algorithm)
    assert raised.value.code == "lattice-too-large"
    assert f"{MOST_NODES:,}" in str(raised.value)
    assert algorithm in str(raised.value)


@pytest.mark.parametrize(("links", "advised"), [(None, "greedy-clustering"), (object(), "greedy-lattice")])
def test_beyond_that_size_the_algorithm_is_advised_that_loses_least_there(links: object, advised: str) -> None:
    problem: Any = SimpleNamespace(shape=(3,) * 60, table=SimpleNamespace(links=links))
    with pytest.raises(InputError) as raised:
        check_size(problem, "optimal")
    algorithms = sorted(name for name in ALGORITHMS if f"algorithm {name} " in str(raised.value))
    assert algorithms == [advised]
    assert len(str(raised.value)) < 600  # not the 29 digits of the number of nodes


@pytest.mark.parametrize("algorithm", sorted(name for name, entry in ALGORITHMS.items() if not entry.needs))
def test_a_table_of_one_row_and_one_value_is_released_as_it_is(algorithm: str) -> None:
    tiny = Case(({"only": None},), (("only",),), {COLUMN: ("HIV",)}, (KAnonymity(1),))
    recoding = solve(algorithm, tiny).recoding
    assert recoding.row_class.tolist() == [0]
    assert [recoding.hierarchies[0].labels[node] for node in recoding.nodes[:, 0]] == ["only"]
