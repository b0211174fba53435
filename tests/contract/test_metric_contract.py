"""What holds of every measure, whatever it measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import lattice_oracle as oracle
from shoal.metrics import METRICS, CellMetric, Metric, ReleaseSummary
from shoal.models import KAnonymity
from shoal.search.lattice.nodes import cell_bounds, summarize
from support.model_cases import COLUMN
from support.search_cases import Case, cases, problem_of, table_of

pytestmark = pytest.mark.slow

EVERY = sorted(METRICS)
CELL = [name for name in EVERY if isinstance(METRICS[name], CellMetric)]
NEVER_CHEAPER_BY_SUPPRESSING = [*CELL, "discernibility", "suppressed"]
"""Suppressing a large class lowers the average class size, and a suppressed cell violates no boundary."""

some_cases = cases(max_rows=12, models=st.just((KAnonymity(1),)))


def at(case: Case, node: oracle.Node, kept: list[bool] | None = None) -> ReleaseSummary:
    problem, engine = problem_of(case)
    grouping = engine.classes(node)
    mask = np.ones(grouping.n_classes, dtype=np.bool_)
    for place in range(min(len(mask), len(kept or []))):
        mask[place] = (kept or [])[place]
    return summarize(problem, node, grouping, mask)


def any_node(case: Case, pick: float) -> oracle.Node:
    nodes = oracle.ladder_nodes(table_of(case))
    return nodes[int(pick * (len(nodes) - 1))]


picks = st.floats(0, 1)
masks = st.lists(st.booleans(), max_size=12)


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=40)
@given(case=some_cases, pick=picks, kept=masks)
def test_a_measure_equals_the_oracle_and_stays_within_its_bounds(
    name: str, case: Case, pick: float, kept: list[bool]
) -> None:
    metric, table, node = METRICS[name], table_of(case), any_node(case, pick)
    problem, engine = problem_of(case)
    grouping = engine.classes(node)
    mask = np.array([kept[place] if place < len(kept) else True for place in range(grouping.n_classes)])
    value = metric.of(summarize(problem, node, grouping, mask))
    row_class = grouping.tuple_class[problem.table.row_tuple]
    classes: dict[tuple[oracle.Label, ...], list[int]] = {}
    for row, each in enumerate(row_class):
        if mask[each]:
            classes.setdefault(oracle.release(table, node, row), []).append(row)
    assert value == pytest.approx(oracle.measure(name, table, classes), abs=1e-12)
    assert metric.minimum - 1e-12 <= value
    assert metric.maximum is None or value <= metric.maximum + 1e-12


@pytest.mark.parametrize("name", CELL)
@settings(max_examples=40)
@given(case=some_cases, pick=picks)
def test_generalizing_never_lowers_a_cost_made_of_cells(name: str, case: Case, pick: float) -> None:
    metric, node, top = METRICS[name], any_node(case, pick), oracle.top(table_of(case))
    before = metric.cost(metric.of(at(case, node)))
    for axis, level in enumerate(node):
        if level < top[axis]:
            higher = (*node[:axis], level + 1, *node[axis + 1 :])
            assert metric.cost(metric.of(at(case, higher))) >= before - 1e-12


@pytest.mark.parametrize("name", NEVER_CHEAPER_BY_SUPPRESSING)
@settings(max_examples=40)
@given(case=some_cases, pick=picks, kept=masks)
def test_suppressing_never_lowers_a_cost(name: str, case: Case, pick: float, kept: list[bool]) -> None:
    metric, node = METRICS[name], any_node(case, pick)
    assert metric.cost(metric.of(at(case, node, kept))) >= metric.cost(metric.of(at(case, node))) - 1e-12


@pytest.mark.parametrize("name", CELL)
@settings(max_examples=40)
@given(case=some_cases, pick=picks, kept=masks)
def test_the_bound_that_a_search_trusts_is_a_cost_and_below_every_cost(
    name: str, case: Case, pick: float, kept: list[bool]
) -> None:
    metric = METRICS[name]
    assert isinstance(metric, CellMetric)
    problem, _ = problem_of(case)
    node = any_node(case, pick)
    bound = cell_bounds(problem, metric)[node]
    assert bound == pytest.approx(metric.cost(metric.of(at(case, node))), abs=1e-12)
    assert bound <= metric.cost(metric.of(at(case, node, kept))) + 1e-12


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=15)
@given(case=some_cases, pick=picks, order=st.randoms(use_true_random=False))
def test_the_order_of_the_classes_does_not_matter(name: str, case: Case, pick: float, order: object) -> None:
    release = at(case, any_node(case, pick))
    places = list(range(len(release.sizes)))
    order.shuffle(places)  # type: ignore[attr-defined]
    shuffled = replace(release, nodes=release.nodes[places], sizes=release.sizes[places])
    assert METRICS[name].of(shuffled) == pytest.approx(METRICS[name].of(release), abs=1e-12)


@pytest.mark.parametrize("metric", [METRICS[name] for name in EVERY], ids=EVERY)
def test_a_measure_declares_what_it_is(metric: Metric) -> None:
    assert METRICS[metric.name] is metric
    assert metric.source
    assert (type(metric).__doc__ or "").strip()
    assert metric.maximum is None or metric.maximum > metric.minimum


@pytest.mark.parametrize("name", EVERY)
def test_a_better_value_costs_less(name: str) -> None:
    metric = METRICS[name]
    worse, better = (0.25, 0.75) if metric.higher_is_better else (0.75, 0.25)
    assert metric.cost(better) < metric.cost(worse)


@pytest.mark.parametrize("name", [name for name in EVERY if name not in ("suppressed", "constraint_violations")])
def test_a_measure_prefers_the_original_to_a_table_of_stars(name: str) -> None:
    tree = {"*": {"a": None, "b": None}}
    case = Case((tree,), (("a",), ("b",)), {COLUMN: ("HIV", "Flu")}, (KAnonymity(1),))
    metric = METRICS[name]
    assert metric.cost(metric.of(at(case, (0,)))) < metric.cost(metric.of(at(case, (1,))))


def test_the_average_class_size_may_fall_by_suppressing() -> None:
    """Why a search may not prune on it."""
    case = Case(
        trees=({"*": {"a": None, "b": None}},),
        rows=(("a",), ("a",), ("a",), ("b",)),
        sensitive={COLUMN: ("HIV",) * 4},
        models=(KAnonymity(1),),
    )
    metric = METRICS["average_class_size"]
    assert metric.of(at(case, (0,), [False, True])) < metric.of(at(case, (0,)))
