"""A recorded run: what it proves about another world, running the algorithm there finds as well."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from shoal.attacks.attackers.informed import Informed
from shoal.attacks.informed.knowledge import PriorKnowledge
from shoal.attacks.informed.possible_originals import PossibleOriginals
from shoal.attacks.informed.recorded_run import RecordedRun
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from shoal.search.problem import Problem
from shoal.table.recoding import Recoding
from support.informed_cases import MASK, known_of, policy_on, scene_of

FIVE = {"model": "k-anonymity", "k": 5}
MODELS: dict[str, dict[str, Any]] = {
    "share": {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.4}, "sensitive": "cond"},
    "values": {"model": "p-sensitive", "p": 3, "sensitive": "cond"},
    "distance": {"model": "t-closeness", "t": 0.15, "sensitive": "cond"},
    "leak": {"model": "alp-dif", "limits": {"HIV": {"alp": 0.4, "dif": 0.15}}, "sensitive": "cond"},
}
ILLNESSES = ("HIV", "Flu", "Cold", "Asthma")


def people(number: int = 450) -> list[tuple[str, str]]:
    """More people than a table may have for secrets to be read by the paper's clustering."""
    rng = np.random.default_rng(7)
    places = rng.integers(100, 200, size=number)
    return [(str(place), ILLNESSES[(place + int(rng.integers(0, 3))) % 4]) for place in places]


def run_on(problem: Problem, algorithm: str = "greedy-clustering") -> Recoding:
    """What an algorithm makes of a problem."""
    return ALGORITHMS[algorithm].run(problem, LocalEngine(problem.table, problem.ladders, problem.domains)).recoding


def problem_of(*models: Any, algorithm: str = "greedy-clustering", records: int = 450) -> Problem:
    """A problem with a row per record."""
    problem = known_of(scene_of(people(records), policy_on(MASK, *models, algorithm=algorithm))).problem
    return replace(problem, table=problem.table.unfolded())


def with_secrets_turned(problem: Problem, rows: Any) -> Problem:
    """The same problem where each of some rows has the secret of the next one; the rows stay where they are."""
    codes = problem.table.row_sensitive["cond"].copy()
    codes[rows] = np.roll(codes[rows], 1)
    table = problem.table
    pairs = np.unique(np.stack([codes, table.row_tuple]), axis=1, return_counts=True)
    (values, tuples), counts = pairs[0], pairs[1]
    counted = replace(table.pairs["cond"], tuples=tuples, values=values, counts=counts)
    return replace(problem, table=replace(table, row_sensitive={"cond": codes}, pairs={"cond": counted}))


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [("greedy-clustering", "leak"), ("optimal", "distance")],
)
def test_what_is_proven_comes_out_when_the_algorithm_is_run(algorithm: str, model: str) -> None:
    run = partial(run_on, algorithm=algorithm)
    problem = problem_of(FIVE, MODELS[model], algorithm=algorithm)
    recorded = RecordedRun.of(problem, run)
    assert recorded is not None
    assert recorded.recoding is not None
    true = run(problem)
    assert np.array_equal(recorded.recoding.row_class, true.row_class)
    assert np.array_equal(recorded.recoding.nodes, true.nodes)
    rng, proven, other_release = np.random.default_rng(1), 0, 0
    for turned in [2, 2, 3, 40] * 15:
        world = with_secrets_turned(problem, rng.choice(problem.table.n_rows, size=turned, replace=False))
        found = run(world)
        same = np.array_equal(found.row_class, true.row_class) and np.array_equal(found.nodes, true.nodes)
        assert recorded.covers(world.table.row_tuple)
        if recorded.repeats(world.table.row_sensitive):
            proven += 1
            assert same
        other_release += not same
    assert proven > 0
    assert other_release > 0  # else the test could not fail


@pytest.mark.parametrize("model", ["values", "share", "distance"])
def test_a_run_that_has_read_secrets_for_prices_or_for_carving_is_not_recorded(model: str) -> None:
    assert RecordedRun.of(problem_of(FIVE, MODELS[model]), run_on) is None


def test_nothing_is_proven_for_rows_in_another_order() -> None:
    problem = problem_of(FIVE, MODELS["leak"])
    recorded = RecordedRun.of(problem, run_on)
    assert recorded is not None
    table = problem.table
    assert recorded.covers(table.row_tuple)
    assert not recorded.covers(table.row_tuple[::-1])


@pytest.mark.parametrize(
    ("algorithm", "records"),
    [("top-down", 450), ("mondrian", 450), ("greedy-clustering", 300)],
)
def test_an_algorithm_that_asks_for_more_than_answers_is_not_recorded(algorithm: str, records: int) -> None:
    problem = problem_of(FIVE, MODELS["share"], algorithm=algorithm, records=records)
    assert RecordedRun.of(problem, partial(run_on, algorithm=algorithm)) is None


def witness_scene() -> tuple[Any, PriorKnowledge]:
    """A release of 450 people, and what is known of it."""
    scene = scene_of(people(), policy_on(MASK, FIVE, MODELS["leak"], algorithm="greedy-clustering"))
    return scene, known_of(scene)


def test_worlds_that_are_proven_to_explain_a_release_do() -> None:
    scene, known = witness_scene()
    recorded, run = PossibleOriginals(scene, known), PossibleOriginals(scene, known)
    assert recorded.reproduces()
    rng, proven = np.random.default_rng(3), 0
    for _ in range(40):
        counts = known.true.copy()
        cells = rng.choice(np.flatnonzero(known.owner == rng.choice(known.owner)), size=2)
        one, other = (rng.choice(np.flatnonzero(known.true[cell])) for cell in cells)
        np.add.at(counts, (cells[[0, 0, 1, 1]], [one, other, other, one]), [-1, 1, -1, 1])
        if recorded.proven(counts):
            proven += 1
            assert run.explains(counts)
    assert proven > 0
    assert (recorded.runs, run.runs) == (1, proven)


def test_more_people_are_looked_at_than_the_algorithm_is_run() -> None:
    scene, _ = witness_scene()
    details = Informed.run(scene, "cond").details
    assert details["method"] == "witnesses"
    assert details["looked_at"] > details["runs"]
