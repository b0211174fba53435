"""The lower bound: no release that satisfies its models loses less, on tables small enough to try every partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.metrics import METRICS, ReleaseSummary
from shoal.models import DistinctLDiversity, KAnonymity, Model, PSensitive
from shoal.search import ALGORITHMS
from shoal.search.bounds import lower_bound as bound
from shoal.search.bounds.lower_bound import LowerBound, lower_bound
from shoal.search.local.blocks import Blocks
from shoal.search.local.finish import finish
from shoal.table.recoding import SUPPRESSED, Recoding
from support.model_cases import COLUMN
from support.ranged_cases import ranged_cases
from support.search_cases import Case, cases, problem_of

pytestmark = pytest.mark.slow


def ncp(recoding: Recoding) -> float:
    return METRICS["ncp"].of(ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, recoding.n_rows))


def partitions(rows: int) -> Iterator[list[int]]:
    """Every way to part so many rows into classes, some of them left out (-1)."""

    def grow(owner: list[int], classes: int) -> Iterator[list[int]]:
        if len(owner) == rows:
            yield owner
            return
        for each in range(-1, classes + 1):
            yield from grow([*owner, each], max(classes, each + 1))

    yield from grow([], 0)


def least_possible(case: Case) -> float:
    """NCP of the best release of all: any classes within the blocks that satisfy, anything else left out."""
    problem, engine = problem_of(case)
    blocks = engine.classes(tuple(levels - 1 for levels in problem.shape)).tuple_class
    blocks = Blocks(problem, blocks, int(blocks.max()) + 1)
    best = 1.0
    for owner in partitions(len(case.rows)):
        classes = np.array(owner, dtype=np.int32)
        if (classes == SUPPRESSED).all():
            continue
        within = all(len(set(blocks.row_block[classes == each].tolist())) == 1 for each in set(owner) - {-1})
        if within and blocks.holds(blocks.stats(classes, max(owner) + 1)).all():
            best = min(best, ncp(finish(blocks, classes)))
    return best


def few_rows(case: Case, models: tuple[Model, ...]) -> Case:
    sensitive = {name: values[:6] for name, values in case.sensitive.items()}
    few = replace(case, rows=case.rows[:6], sensitive=sensitive, models=models, metric="ncp", weights=())
    return few if case.person is None else replace(few, person=case.person[:6])


@settings(max_examples=60)
@given(cases(), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_no_release_loses_less_than_the_bound(case: Case, k: int, p: int, distinct: bool) -> None:
    assume(COLUMN in case.sensitive)
    values: Model = DistinctLDiversity(l=p, sensitive=COLUMN) if distinct else PSensitive(p=p, sensitive=COLUMN)
    case = few_rows(case, (KAnonymity(k), values))
    found = lower_bound(*problem_of(case))
    assert not found.drawn
    assert found.ncp <= least_possible(case) + 1e-9


@settings(max_examples=40)
@given(ranged_cases(), st.integers(1, 3))
def test_no_release_of_ranges_loses_less_than_the_bound(case: Case, k: int) -> None:
    case = few_rows(case, (KAnonymity(k),))
    assert lower_bound(*problem_of(case)).ncp <= least_possible(case) + 1e-9


@settings(max_examples=60)
@given(cases())
def test_every_algorithm_stays_above_the_bound(case: Case) -> None:
    problem, engine = problem_of(replace(case, weights=()))
    for name in ("optimal", "top-down", "mondrian", "greedy-clustering"):
        try:
            outcome = ALGORITHMS[name].run(problem, engine)
        except InfeasibleError:
            return
        found = LowerBound.of(problem, engine, outcome.search)
        assert found is not None
        assert found.ncp <= ncp(outcome.recoding) + 1e-9


def test_the_bound_of_a_large_table_is_estimated_from_records_drawn_with_the_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leaves = [str(value) for value in range(30)]
    trees = ({"*": {f"g{g}": dict.fromkeys(leaves[g * 10 : g * 10 + 10]) for g in range(3)}},)
    rows = tuple((leaf,) for place, leaf in enumerate(leaves) for _ in range(1 + place % 4))
    problem, engine = problem_of(Case(trees, rows, {}, (KAnonymity(3),), metric="ncp"))
    exact = lower_bound(problem, engine)
    monkeypatch.setattr(bound, "PAIRS", 0)
    monkeypatch.setattr(bound, "FEWEST", 25)
    drawn = [lower_bound(problem, engine, seed=seed) for seed in range(200)]
    assert exact.looked_at == len(rows)
    assert all(each.drawn and each.looked_at == 25 for each in drawn)
    assert lower_bound(problem, engine, seed=3) == drawn[3]
    within = sum(abs(each.ncp - exact.ncp) <= each.error for each in drawn)
    assert within >= 180  # nineteen of twenty, and more since most of the table is drawn
    assert np.mean([each.ncp for each in drawn]) == pytest.approx(exact.ncp, rel=0.05)


def test_the_bound_of_records_with_too_few_others_is_that_of_suppressing_them() -> None:
    trees = ({"*": {"a": None, "b": None}},)
    case = Case(trees, (("a",), ("a",), ("b",)), {}, (KAnonymity(2),), budget=1, boundaries=(0,), metric="ncp")
    assert lower_bound(*problem_of(case)).ncp == pytest.approx(1 / 3)


def test_nothing_to_lose_has_no_ratio() -> None:
    facts = LowerBound(0.0, 4, drawn=False).facts(0.0)
    assert facts["ratio"] is None
    assert LowerBound(0.1, 4, drawn=False).facts(0.15)["ratio"] == pytest.approx(1.5)


def test_an_estimate_is_never_told_above_what_was_reached() -> None:
    facts = LowerBound(0.12, 100, drawn=True, error=0.03).facts(0.1)
    assert facts["ncp"] == 0.1
    assert facts["ncp_interval"] == [pytest.approx(0.07), 0.1]
    assert facts["ratio"] == 1.0
