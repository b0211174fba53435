"""Local recodings that release runs of base intervals, against their definition: the shortest run of each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import lattice_oracle as oracle
from oracles.lattice_oracle import Column, Label
from oracles.price_oracle import AllowedClass, optimum
from shoal.errors import InfeasibleError
from shoal.metrics import METRICS, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.models import KAnonymity
from shoal.search import ALGORITHMS
from shoal.search.bounds.price_bound import ncp_costs
from shoal.search.prices.solver import PriceSolver
from shoal.table.recoding import Recoding
from support.model_cases import COLUMN
from support.ranged_cases import ranged_cases
from support.search_cases import Case, problem_of, random_models, released_labels, rows_of_classes, table_of

pytestmark = pytest.mark.slow

LOCAL: dict[str, tuple[str, dict[str, Any]]] = {
    "mondrian": ("mondrian", {}),
    "top-down": ("top-down", {}),
    "greedy-clustering": ("greedy-clustering", {}),
    "greedy-clustering, faithful": ("greedy-clustering", {"faithful": True}),
}
EACH = pytest.mark.parametrize("name", LOCAL)


@st.composite
def run_cases(draw: st.DrawFn, **keys: Any) -> Case:
    """Random small problems whose numbers are released as runs, in steps of any width from any origin."""
    case = draw(ranged_cases(**keys))
    steps = st.fixed_dictionaries({"step": st.sampled_from([1, 2, 3, 5, 7, 2.5]), "origin": st.integers(-2, 2)})
    forms = {name: draw(steps | st.just({"order": "hierarchy"})) for name in case.options["ranges"]}
    return replace(case, options={**case.options, "ranges": forms})


def run(name: str, case: Case) -> Recoding | None:
    algorithm, options = LOCAL[name]
    problem, engine = problem_of(replace(case, options={**case.options, **options}))
    try:
        return ALGORITHMS[algorithm].run(problem, engine).recoding
    except InfeasibleError:
        return None


def text(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def shortest_run(form: Mapping[str, Any], column: Column, values: set[Label]) -> tuple[str, set[Label]]:
    """The shortest run that holds some numbers, and the values of the tree that lie in it, step by step."""
    declared = [value for value in column.paths if value is not None]
    if "order" in form:
        places = sorted(declared.index(value) for value in values if value is not None)
        inside = declared[places[0] : places[-1] + 1]
        return f"{inside[0]}..{inside[-1]}", set(inside)
    numbers = [float(value) for value in values if value is not None]
    low = high = float(form["origin"])
    while low > min(numbers):
        low -= form["step"]
    while low + form["step"] <= min(numbers):
        low += form["step"]
    high = low
    while high <= max(numbers):
        high += form["step"]
    return f"[{text(low)}, {text(high)})", {value for value in declared if low <= float(value) < high}


def under(column: Column, label: Label) -> set[Label]:
    return {value for value, path in column.paths.items() if label in path}


def expected(form: Mapping[str, Any] | None, column: Column, values: set[Label]) -> Label:
    """What a class of some values releases in a column."""
    paths = [column.paths[value] for value in values]
    node = next(each for each in paths[0] if all(each in path for path in paths))
    if form is None or None in values or len(values) == 1:
        return node
    label, inside = shortest_run(form, column, values)
    cap = column.cap(next(iter(values)))
    if not inside <= under(column, cap) or len(under(column, node)) < len(inside):
        return node
    same = len(under(column, node)) == len(inside)
    return node if same and "order" in form and node != "*" else label


@EACH
@settings(max_examples=60)
@given(case=run_cases(models=random_models([COLUMN])))
def test_a_class_is_released_as_the_shortest_run_that_holds_its_values_and_satisfies(name: str, case: Case) -> None:
    table, recoding = table_of(case), run(name, case)
    if recoding is None:
        assert not oracle.judge(table, oracle.top(table)).satisfied
        return
    classes = rows_of_classes(released_labels(recoding))
    assert len(classes) == recoding.n_classes
    for labels, rows in classes.items():
        for j, (column, label) in enumerate(zip(table.columns, labels, strict=True)):
            form = case.options["ranges"].get(case.names[j])
            assert label == expected(form, column, {case.rows[row][j] for row in rows})
    good, whole = oracle.passes(table, table.models, classes)
    assert all(good.values())
    assert whole


@EACH
@settings(max_examples=60)
@given(case=run_cases(models=random_models([COLUMN])))
def test_a_run_keeps_the_boundaries_and_what_it_loses_is_counted_by_its_values(name: str, case: Case) -> None:
    recoding = run(name, case)
    if recoding is None:
        return
    problem, _ = problem_of(case)
    codes = problem.table.codes[:, problem.table.row_tuple]
    assert count_violations(recoding, list(codes), problem.caps) == 0
    for j, (shown, tree) in enumerate(zip(recoding.hierarchies, problem.hierarchies, strict=True)):
        for each, node in enumerate(recoding.nodes[:, j].tolist()):
            mine = codes[j][recoding.row_class == each]
            assert shown.first[node] <= mine.min()
            assert mine.max() <= shown.last[node]
            values = shown.last[node] - shown.first[node] + 1
            assert shown.loss[node] == pytest.approx((values - 1) / max(tree.n_leaves - 1, 1))


def classes_of_runs(case: Case, k: int) -> Iterator[AllowedClass]:
    """Every class of k records or more that boundaries allow, with what it loses as runs."""
    table = table_of(case)
    for size in range(k, len(case.rows) + 1):
        for rows in combinations(range(len(case.rows)), size):
            values = [{case.rows[row][j] for row in rows} for j in range(len(table.columns))]
            pairs = list(zip(table.columns, values, strict=True))
            if all(len({column.cap(value) for value in own}) == 1 for column, own in pairs):
                lost = 0.0
                for j, (column, own) in enumerate(pairs):
                    form = case.options["ranges"].get(case.names[j])
                    label = expected(form, column, own)
                    inside = under(column, label) or shortest_run(form or {}, column, own)[1]
                    lost += (len(inside) - 1) / max(len(column.paths) - 1, 1)
                yield AllowedClass(frozenset(rows), size * lost / len(pairs))


@settings(max_examples=60)
@given(run_cases(), st.integers(1, 3), st.booleans())
def test_no_release_of_runs_loses_less_than_the_bound(case: Case, k: int, compiled: bool) -> None:
    case = replace(
        case, rows=case.rows[:6], sensitive={}, models=(KAnonymity(k),), metric="ncp", weights=(), person=None
    )
    best = optimum(len(case.rows), list(classes_of_runs(case, k)), case.budget)
    if best is not None:
        costs = ncp_costs(problem_of(case)[0])
        found = PriceSolver(problem_of(case)[0], costs=costs, compiled=compiled).run(work=50_000)
        assert found.bound <= best + 1e-9


def cost(metric: str, recoding: Recoding) -> float:
    summary = ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, recoding.n_rows)
    return METRICS[metric].cost(METRICS[metric].of(summary))


@pytest.mark.parametrize("name", ["mondrian", "top-down", "greedy-clustering, faithful"])
@settings(max_examples=60)
@given(case=run_cases(models=random_models([COLUMN])))
def test_a_release_in_runs_never_costs_more_than_one_in_nodes(name: str, case: Case) -> None:
    case = replace(case, metric="loss")
    runs, nodes = run(name, case), run(name, replace(case, options={}))
    assert (runs is None) == (nodes is None)
    if runs is not None and nodes is not None:
        assert cost("loss", runs) <= cost("loss", nodes) + 1e-12


@pytest.mark.parametrize("name", ["mondrian", "top-down"])
@settings(max_examples=30)
@given(case=run_cases(models=st.just((KAnonymity(2),))), random=st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_change_a_release_in_runs(name: str, case: Case, random: Random) -> None:
    order = random.sample(range(len(case.rows)), len(case.rows))
    before, after = run(name, case), run(name, case.shuffled(order))
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert Counter(zip(released_labels(before), case.rows, strict=True)) == Counter(
            zip(released_labels(after), case.shuffled(order).rows, strict=True)
        )
