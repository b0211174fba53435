"""Clustering guided by prices: the best classes of boxes, what joining costs, and releases near the best possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from random import Random
from types import ModuleType

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.price_oracle import allowed_classes, optimum
from shoal.errors import InfeasibleError
from shoal.models import KAnonymity, Model, PSensitive, TCloseness
from shoal.search.kernels import plain_prices, plain_refinement, prices, refinement
from shoal.search.local import joining
from shoal.search.local.blocks import Blocks, Classes, Indices, cell_metric
from shoal.search.local.diving import dive
from shoal.search.local.finish import cost_of
from shoal.search.local.greedy_clustering import greedy_clustering
from shoal.search.local.joining import cheapest_classes, placed
from shoal.search.prices.lattice import Lattice
from shoal.search.prices.solver import PriceSolver
from shoal.table.classes import Floats
from shoal.table.recoding import SUPPRESSED
from support.model_cases import COLUMN
from support.search_cases import Case, blocks_of, cases, class_nodes, problem_of, table_of

pytestmark = pytest.mark.slow
ROWS = 7


@st.composite
def guided_cases(draw: st.DrawFn) -> Case:
    """A few records, with k and values to count; some may be left out."""
    case = draw(cases())
    assume(COLUMN in case.sensitive)
    models: tuple[Model, ...] = (
        KAnonymity(draw(st.integers(1, 3))),
        PSensitive(p=draw(st.integers(1, 3)), sensitive=COLUMN),
    )
    budget = draw(st.sampled_from([0, len(case.rows) // 2]))
    return replace(case, models=models, budget=budget, metric="ncp", weights=(), person=None)


def drawn_prices(lattice: Lattice, data: st.DataObject) -> Floats:
    n = len(lattice.items.weights)
    return np.array(data.draw(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.4, 0.7, 1.0]), min_size=n, max_size=n)))


def all_boxes(lattice: Lattice, amounts: Floats) -> tuple[Floats, Indices, Indices]:
    found = lattice.near(amounts, slack=10.0, spread=10.0, limit=10**9)[0]
    return found.costs, found.starts, found.members


def taken(kernels: ModuleType, lattice: Lattice, amounts: Floats) -> tuple[list[tuple[int, ...]], list[int]]:
    """The entries that a kernel finds in all boxes, and the records that are left."""
    boxes, left = all_boxes(lattice, amounts), lattice.items.weights.copy()
    found = np.zeros((int(left.sum()), 3), dtype=np.int64)
    entries = kernels.take_classes(
        boxes, np.arange(len(boxes[0])), (left, lattice.items.values), lattice.need, lattice.n_values, amounts, found
    )
    return [tuple(entry) for entry in found[:entries].tolist()], left.tolist()


@settings(max_examples=60)
@given(guided_cases(), st.data())
def test_the_class_taken_from_a_box_is_the_best_one_that_its_records_make(case: Case, data: st.DataObject) -> None:
    few = {name: values[:ROWS] for name, values in case.sensitive.items()}
    lattice = Lattice.of(problem_of(replace(case, rows=case.rows[:ROWS], sensitive=few))[0])
    amounts = drawn_prices(lattice, data)
    costs, starts, members = all_boxes(lattice, amounts)
    left = Counter(dict(enumerate(lattice.items.weights.tolist())))
    entries, remaining = taken(prices, lattice, amounts)
    for box in range(len(costs)):
        own = {item: records for at, item, records in entries if at == box}
        inside = [item for item in members[starts[box] : starts[box + 1]].tolist() for _ in range(left[item])]
        values = [value_of(amounts, chosen, float(costs[box])) for chosen in allowed(lattice, inside)]
        assert bool(own) == bool(values)
        if own:
            chosen = [item for item, records in own.items() for _ in range(records)]
            assert value_of(amounts, chosen, float(costs[box])) == pytest.approx(max(values))
        left -= Counter(own)
    assert [left[item] for item in range(len(remaining))] == remaining


def allowed(lattice: Lattice, inside: list[int]) -> Iterator[tuple[int, ...]]:
    """Every choice of records that is a class."""
    k, p = lattice.need
    for size in range(max(k, 1), len(inside) + 1):
        for chosen in combinations(inside, size):
            distinct = {int(lattice.items.values[item]) for item in chosen} - {-1}
            if p <= 1 or len(distinct) >= p:
                yield chosen


def value_of(amounts: Floats, chosen: tuple[int, ...] | list[int], cost: float) -> float:
    return float(sum(amounts[item] - cost for item in chosen))


@settings(max_examples=60)
@given(guided_cases(), st.data())
def test_numpy_and_compiled_kernels_take_the_same_classes(case: Case, data: st.DataObject) -> None:
    lattice = Lattice.of(problem_of(case)[0])
    amounts = drawn_prices(lattice, data)
    assert taken(prices, lattice, amounts) == taken(plain_prices, lattice, amounts)


def some_classes(blocks: Blocks, data: st.DataObject) -> Classes:
    """A class within its block for some rows, none for the others."""
    n = len(blocks.row_block)
    drawn = np.array(data.draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n)))
    chosen = np.where((drawn >= 0) & (blocks.row_block >= 0), 2 * blocks.row_block + drawn, SUPPRESSED)
    distinct, number = np.unique(chosen, return_inverse=True)
    return (number - int(distinct[0] == SUPPRESSED)).astype(np.int32)


@settings(max_examples=60)
@given(cases(), st.data())
def test_what_joining_costs_is_the_growth_of_the_cost_of_the_class(case: Case, data: st.DataObject) -> None:
    blocks = feasible_blocks(case)
    row_class = some_classes(blocks, data)
    assume(row_class.max() >= 0)
    tuples = np.flatnonzero(blocks.tuple_block >= 0)
    chosen, added = cheapest_classes(blocks, tuples, row_class)
    for index, each in enumerate(tuples.tolist()):
        growths = dict(growths_of(blocks, row_class, each))
        if not growths:
            assert chosen[index] == -1
        else:
            assert added[index] == pytest.approx(min(growths.values()))
            assert growths[int(chosen[index])] == pytest.approx(min(growths.values()))


def growths_of(blocks: Blocks, row_class: Classes, joining_tuple: int) -> Iterator[tuple[int, float]]:
    """What a record of a tuple adds to each class of its block, by measuring the class with and without it."""
    row = int(np.flatnonzero(blocks.problem.table.row_tuple == joining_tuple)[0])
    for each in range(int(row_class.max()) + 1):
        rows = np.flatnonzero(row_class == each).tolist()
        if blocks.row_block[rows[0]] == blocks.row_block[row]:
            yield each, class_cost(blocks, [*rows, row]) - class_cost(blocks, rows)


def class_cost(blocks: Blocks, rows: list[int]) -> float:
    """What some rows cost together in one class, a row counted as often as it is listed."""
    problem, metric = blocks.problem, cell_metric(blocks.problem)
    owner = np.full(len(blocks.row_block), SUPPRESSED, dtype=np.int32)
    owner[rows] = 0
    (nodes,) = class_nodes(blocks, owner, 1)
    each = sum(
        metric.weight(h) * float(metric.cell(h)[node]) for h, node in zip(problem.hierarchies, nodes, strict=True)
    )
    return each * len(rows)


@settings(max_examples=60)
@given(cases(), st.data())
def test_numpy_and_compiled_kernels_join_alike(case: Case, data: st.DataObject) -> None:
    blocks = feasible_blocks(case)
    row_class, tuples = some_classes(blocks, data), np.flatnonzero(blocks.tuple_block >= 0)
    assume(row_class.max() >= 0)
    found = []
    for kernels in (refinement, plain_refinement):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(joining, "refining_kernels", lambda *_, **__: ("any",))
            patch.setattr(joining, "load_refining_kernels", lambda kernels=kernels: kernels)
            found.append(cheapest_classes(blocks, tuples, row_class))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


def feasible_blocks(case: Case) -> Blocks:
    try:
        return blocks_of(case)
    except InfeasibleError:
        assume(False)
        raise


@settings(max_examples=60)
@given(guided_cases(), st.booleans())
def test_classes_found_by_prices_hold_and_those_left_find_a_place(case: Case, compiled: bool) -> None:
    blocks = feasible_blocks(case)
    solver = PriceSolver(blocks.problem, compiled=compiled)
    solver.run(work=200_000)
    assume(solver.steps.scale > 0)
    row_class, _ = dive(blocks, solver.steps)
    if row_class.max() >= 0:
        assert blocks.holds(blocks.stats(row_class, int(row_class.max()) + 1)).all()
    assert (row_class[blocks.row_block == SUPPRESSED] == SUPPRESSED).all()
    ended = placed(blocks, row_class)
    assert ((ended >= 0) == (blocks.row_block >= 0)).all()
    kept = row_class >= 0
    assert (ended[kept] == row_class[kept]).all()


@settings(max_examples=30)
@given(guided_cases())
def test_prices_go_back_where_a_look_at_all_boxes_would_take_long(case: Case) -> None:
    solver = PriceSolver(feasible_blocks(case).problem, compiled=False)
    solver.run(work=200_000)
    steps = solver.steps
    assume(steps.scale > 0 and steps.last_look)
    before, rise = steps.point.copy(), (steps.highest() - steps.point).max()
    raised = before + 1000 * steps.scale
    steps.point[:], steps.prices[:] = raised, raised
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.search.prices.steps._SHORT", 0)
        steps.look_again(steps.scale)
    assert steps.looked
    assert ((before <= steps.point) & (steps.point <= raised)).all()
    went_back = bool((steps.point < raised).any())
    assert ((steps.highest() - steps.point).max() < 0.75 * rise) == went_back  # they rise less after that


def small_table(seed: int) -> Case:
    """Nine records with three quasi-identifiers of nine values in three groups."""
    random, groups = Random(seed), [[f"v{group}{at}" for at in range(3)] for group in range(3)]
    tree = {"*": {f"g{at}": dict.fromkeys(group) for at, group in enumerate(groups)}}
    leaves = [leaf for group in groups for leaf in group]
    rows = tuple((random.choice(leaves), random.choice(leaves), random.choice(leaves)) for _ in range(9))
    values = tuple(random.choice(["HIV", "Flu", "Asthma"]) for _ in range(9))
    k, p = ((2, 1), (3, 1), (2, 2))[seed % 3]
    models = KAnonymity(k), PSensitive(p=p, sensitive=COLUMN)
    return Case((tree,) * 3, rows, {COLUMN: values}, models, metric="ncp")


def test_guided_releases_are_within_a_percent_of_the_best_possible_ones_on_average() -> None:
    ratios = []
    for seed in range(45):
        case = small_table(seed)
        k, p = (max(getattr(model, least) for model in case.models) for least in ("least_records", "least_values"))
        classes = list(allowed_classes(table_of(case), k=k, p=p, values=case.sensitive[COLUMN]))
        best = optimum(len(case.rows), classes, 0)
        if best is not None:
            problem, engine = problem_of(case)
            ratios.append(cost_of(problem, greedy_clustering(problem, engine).recoding) / best)
    assert len(ratios) > 40
    assert min(ratios) > 1 - 1e-9
    assert sum(ratios) / len(ratios) < 1.01


@settings(max_examples=30)
@given(cases())
def test_time_for_refining_never_costs_more(case: Case) -> None:
    costs = []
    for options in ({}, {"refine": 0.01}):
        problem, engine = problem_of(replace(case, metric="ncp", weights=(), options=options))
        try:
            costs.append(cost_of(problem, greedy_clustering(problem, engine).recoding))
        except InfeasibleError:
            assume(False)
    assert costs[1] <= costs[0] + 1e-12


def test_prices_guide_models_that_are_closed_and_others_are_carved() -> None:
    counted = small_table(1)
    many = {COLUMN: counted.sensitive[COLUMN] * 60}  # so many that the partition of the paper is not tried
    counted = replace(counted, rows=tuple(row for row in counted.rows for _ in range(60)), sensitive=many)
    counted = replace(counted, models=(KAnonymity(80), PSensitive(p=2, sensitive=COLUMN)))
    distributed = replace(counted, models=(KAnonymity(80), TCloseness(t=0.3, sensitive=COLUMN)))
    assert greedy_clustering(*problem_of(counted)).search["mode"] == "prices"
    assert greedy_clustering(*problem_of(distributed)).search["mode"] == "carving"


def test_asking_for_smaller_classes_costs_no_more_where_models_refuse_small_ones() -> None:
    random, leaves = Random(5), [f"v{group}{at}" for group in range(5) for at in range(6)]
    tree = {"*": {f"g{group}": {leaf: None for leaf in leaves if leaf[1] == str(group)} for group in range(5)}}
    rows = tuple((random.choice(leaves), random.choice(leaves)) for _ in range(700))
    values = tuple("HIV" if random.random() < 0.02 * (1 + int(row[0][1])) else "Flu" for row in rows)
    costs = []
    for k in (2, 3, 5, 10):
        models = KAnonymity(k), TCloseness(t=0.2, sensitive=COLUMN)
        problem, engine = problem_of(Case((tree, tree), rows, {COLUMN: values}, models, metric="ncp"))
        costs.append(cost_of(problem, greedy_clustering(problem, engine).recoding))
    assert costs == sorted(costs)


def test_records_that_no_release_can_keep_get_no_class() -> None:
    groups = [[f"v{group}{at}" for at in range(5)] for group in range(4)]
    tree = {"*": {f"g{at}": dict.fromkeys(group) for at, group in enumerate(groups)}}
    boundary = tuple(tree["*"])
    left_out = 0
    for seed in range(20):
        random = Random(seed)
        rows = tuple((random.choice(random.choices(groups, [1, 1, 8, 8])[0]),) * 2 for _ in range(30))
        rows = tuple((first, random.choice(groups[int(first[1])])) for first, _ in rows)
        case = Case((tree, tree), rows, {}, (KAnonymity(3),), budget=20, boundaries=(boundary, boundary), metric="ncp")
        blocks = blocks_of(case)
        solver = PriceSolver(blocks.problem, compiled=False)
        solver.run(work=800_000)
        row_class = placed(blocks, dive(blocks, solver.steps)[0])
        assert ((row_class >= 0) == (blocks.row_block >= 0)).all()
        left_out += int((row_class < 0).sum())
    assert left_out > 10
