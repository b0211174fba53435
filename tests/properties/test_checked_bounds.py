"""The bound that a run states: what the verifier finds, never above the best release, and refused if too high."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import VerificationError
from shoal.io.source import Reading, TableSource
from shoal.metrics import METRICS, CellMetric
from shoal.pipeline import certificate
from shoal.pipeline.certificate import check_certificate, proven_bound
from shoal.pipeline.run import Job
from shoal.policy import Policy
from shoal.search.bounds import lower_bound
from shoal.search.bounds.lower_bound import LowerBound
from shoal.search.bounds.price_bound import price_bound
from shoal.search.engine import LocalEngine
from shoal.search.prices.solver import PriceBound, PriceSolver
from shoal.search.problem import Problem
from support.exact_optimum import TREES, SmallTable, exact_loss, leaves_of, relaxed_loss, small_tables

pytestmark = pytest.mark.slow
MEASURES = [name for name, metric in sorted(METRICS.items()) if isinstance(metric, CellMetric) and name != "loss"]
"""The measures that are means over cells; `loss` is not linear in them."""


NUMBER = st.sampled_from(leaves_of(TREES[1]))


def read(table: SmallTable, **algorithm: Any) -> tuple[Policy, Reading, Problem]:
    ranges = [table.names[column] for column in table.ranged]
    options = {"name": "mondrian", "ranges": ranges} if ranges else {"name": "greedy-clustering"}
    policy = table.policy(algorithm={**options, **algorithm})
    reading = TableSource(table.table, table.table.column_names).read(policy)
    return policy, reading, Job(policy).encode(reading).problem


def stated_bound(policy: Policy, reading: Reading, problem: Problem) -> LowerBound:
    engine = LocalEngine(problem.table, problem.ladders, problem.domains)
    found = proven_bound(policy, reading, problem, engine, {})
    assert found is not None
    return found


def checked(policy: Policy, reading: Reading, problem: Problem, proof: PriceBound, measure: str = "ncp") -> float:
    found = check_certificate(policy, reading, problem, proof, measure=measure)
    assert found is not None
    assert found.bound is not None
    assert found.unpriced == 0
    return found.bound


@settings(max_examples=60)
@given(small_tables(most_records=10))
def test_no_release_loses_less_than_the_stated_bound_which_is_that_of_the_verifier(table: SmallTable) -> None:
    best = exact_loss(table)
    assume(best is not None)
    assert best is not None
    policy, reading, problem = read(table)
    found = stated_bound(policy, reading, problem)
    assert found.ncp <= best + 1e-9
    if found.method == "neighbours":  # no prices, or beaten by the neighbours, whom the ranges are counted for
        assert (found.unchecked, bool(table.ranged)) == ("neighbours", True)
        return
    assert found.unchecked is None
    assert found.proof is not None
    assert found.ncp == checked(policy, reading, problem, found.proof.proof)
    assert found.ncp == pytest.approx(found.proof.bound, abs=1e-9)


@settings(max_examples=60)
@given(small_tables(most_records=10), st.data())
def test_forged_prices_prove_a_lower_bound_that_still_holds(table: SmallTable, data: st.DataObject) -> None:
    best, relaxed = exact_loss(table), relaxed_loss(table)
    assume(best is not None)
    assert best is not None
    assert relaxed is not None
    policy, reading, problem = read(table)
    proof = price_bound(problem)
    assert proof is not None
    factors = st.sampled_from([0.0, 0.5, 1.0, 1.1, 3.0])
    n = len(proof.proof.prices)
    forged = proof.proof.prices * np.array(data.draw(st.lists(factors, min_size=n, max_size=n)))
    found = checked(policy, reading, problem, replace(proof.proof, prices=forged, bound=1.0))
    assert found <= relaxed[0] + 1e-9
    assert found <= best + 1e-9


@settings(max_examples=30)
@given(small_tables(most_records=8))
def test_a_bound_that_its_prices_do_not_prove_is_refused(table: SmallTable) -> None:
    best = exact_loss(table)
    assume(best is not None and best > 0.01 and not table.ranged)
    policy, reading, problem = read(table)
    proof = price_bound(problem)
    assert proof is not None
    forged = replace(proof, proof=replace(proof.proof, prices=2.0 * proof.proof.prices, bound=2.0 * proof.proof.bound))
    assume(forged.bound > proof.bound + 1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lower_bound, "price_bound", lambda *_, **__: forged)
        with pytest.raises(VerificationError) as refused:
            stated_bound(policy, reading, problem)
    (check,) = refused.value.verification.failures
    assert check.name == "bound"
    assert check.facts["claimed"] == pytest.approx(forged.bound)
    assert check.facts["found"] <= best + 1e-9


@settings(max_examples=60)
@given(small_tables(most_records=9), st.sampled_from(MEASURES))
def test_prices_by_any_measure_of_cells_hold_and_are_confirmed(table: SmallTable, measure: str) -> None:
    table = replace(table, measure=measure, ranged=())
    best, relaxed = exact_loss(table), relaxed_loss(table)
    assume(best is not None)
    assert best is not None
    assert relaxed is not None
    policy, reading, problem = read(table, metric=measure)
    proof = PriceSolver(problem, compiled=False).run(work=3_000_000)
    assert proof.bound <= relaxed[0] + 1e-9
    assert relaxed[0] <= best + 1e-7
    assert checked(policy, reading, problem, proof, measure) == pytest.approx(max(proof.bound, 0.0), abs=1e-9)
    assert proof.bound >= 0.95 * relaxed[0] - 1e-9


def wide_table(records: int, columns: int) -> SmallTable:
    tree = {"*": {f"g{g}": {f"{g}{v}": None for v in range(4)} for g in range(4)}}
    draw = Random(columns)
    cells = [[f"{draw.randrange(4)}{draw.randrange(4)}" for _ in range(columns)] for _ in range(records)]
    return SmallTable((tree,) * columns, tuple((*row, "x") for row in cells), 2)


def test_a_bound_of_some_columns_names_them_and_is_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, reading, problem = read(wide_table(20, 6))
    monkeypatch.setattr("shoal.search.bounds.price_bound._COLUMNS", (3,))
    proof = price_bound(problem)
    assert proof is not None
    assert (proof.method, len(proof.columns)) == ("prices-of-some-columns", 3)
    free = set(problem.table.quasi) - set(proof.columns)
    proven = check_certificate(policy, reading, problem, proof.proof, free=free)
    assert proven is not None
    assert proven.bound == pytest.approx(proof.bound, abs=1e-9)
    assert set(proven.free_columns) == free


def test_a_bound_that_would_take_too_long_to_check_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, reading, problem = read(wide_table(20, 3))
    monkeypatch.setattr(certificate, "_LEAST_STEPS", 0)
    proof = price_bound(problem)
    assert proof is not None
    hurried = replace(proof, proof=replace(proof.proof, work=1))
    monkeypatch.setattr(lower_bound, "price_bound", lambda *_, **__: hurried)
    found = stated_bound(policy, reading, problem)
    assert (found.method, found.unchecked) == ("prices", "too-large")
    assert found.ncp == proof.bound
    assert (found.facts(0.5)["checked"], found.facts(0.5)["unchecked"]) == (False, "too-large")


def test_a_release_without_classes_has_no_bound() -> None:
    policy, reading, problem = read(wide_table(8, 2))
    engine = LocalEngine(problem.table, problem.ladders, problem.domains)
    assert proven_bound(policy, reading, problem, engine, {"guarantees": False}) is None


def test_a_run_states_the_checked_bound_in_its_evidence() -> None:
    table = wide_table(40, 3)
    bound = shoal.anonymize(table.table, table.policy(algorithm={"name": "greedy-clustering"})).evidence["bound"]
    assert (bound["method"], bound["checked"]) == ("prices", True)
    assert not {"unchecked", "columns"} & set(bound)
    policy, reading, problem = read(table)
    assert bound["ncp"] == pytest.approx(stated_bound(policy, reading, problem).ncp, abs=1e-11)
    assert bound["gap"] == pytest.approx(bound["reached"] / bound["ncp"] - 1)


@settings(max_examples=40)
@given(st.lists(st.tuples(NUMBER, NUMBER, st.just("x")), min_size=4, max_size=12), st.integers(2, 3))
def test_ranges_within_boundaries_are_not_refused_though_the_verifier_leaves_these_out(
    records: list[tuple[str, ...]], k: int
) -> None:
    table = SmallTable((TREES[1],) * 2, tuple(records), k, boundaries=(1, 1), ranged=(0, 1))
    policy, reading, problem = read(table)
    found = stated_bound(policy, reading, problem)
    assert found.unchecked in {None, "neighbours"}
    if found.unchecked is None:
        assert found.proof is not None
        assert found.ncp <= found.proof.bound + 1e-9
