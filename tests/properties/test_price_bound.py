"""The bound by prices: never above the best release, and equal to the linear relaxation once it has settled."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.price_oracle import AllowedClass, allowed_classes, optimum, relaxed_optimum
from shoal.models import DistinctLDiversity, KAnonymity, Model, PSensitive
from shoal.search.bounds.price_bound import ncp_costs, price_bound
from shoal.search.kernels import prices
from shoal.search.prices import work as amounts
from shoal.search.prices.lattice import Boxes, Lattice
from shoal.search.prices.solver import PriceBound, PriceSolver
from shoal.table.classes import Floats
from support.model_cases import COLUMN
from support.ranged_cases import ranged_cases
from support.search_cases import Case, cases, problem_of, table_of

pytestmark = pytest.mark.slow
ROWS = 7
WORK = 5_000  # members touched, on tables this small
ENOUGH = 1_000_000  # until prices have settled


@st.composite
def small_cases(draw: st.DrawFn) -> Case:
    """A few records, with k, values to count, a suppression budget, boundaries and one of two measures."""
    case = draw(cases())
    assume(COLUMN in case.sensitive)
    k, p = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    values: Model = PSensitive(p=p, sensitive=COLUMN)
    if draw(st.booleans()):
        values = DistinctLDiversity(l=p, sensitive=COLUMN)
    return replace(
        case,
        rows=case.rows[:ROWS],
        sensitive={name: column[:ROWS] for name, column in case.sensitive.items()},
        models=(KAnonymity(k), values),
        budget=draw(st.integers(0, 3)),
        metric=draw(st.sampled_from(["ncp", "precision"])),
        weights=(),
        person=None,
    )


def needed(case: Case) -> tuple[int, int]:
    return max(model.least_records for model in case.models), max(model.least_values for model in case.models)


def classes_of(case: Case) -> list[AllowedClass]:
    k, p = needed(case)
    values = tuple(None if value in case.unknown else repr(value) for value in case.sensitive[COLUMN])
    return list(allowed_classes(table_of(case), k=k, p=p, values=values, measure=case.metric))


def solved(case: Case, work: int = WORK) -> PriceBound:
    return PriceSolver(problem_of(case)[0], compiled=work >= ENOUGH).run(work=work)


@settings(max_examples=60)
@given(small_cases(), st.integers(0, WORK))
def test_no_release_costs_less_than_the_bound_after_any_work(case: Case, work: int) -> None:
    best = optimum(len(case.rows), classes_of(case), case.budget)
    assume(best is not None)
    assert best is not None
    assert solved(case, work).bound <= best + 1e-9


@settings(max_examples=40)
@given(small_cases())
def test_the_bound_settles_at_the_optimum_of_the_linear_relaxation(case: Case) -> None:
    best = relaxed_optimum(len(case.rows), classes_of(case), case.budget)
    assume(best is not None)
    assert best is not None
    found = solved(case, ENOUGH).bound
    assert found <= best + 1e-9
    assert found >= 0.98 * best - 1e-9


@settings(max_examples=40)
@given(small_cases())
def test_no_class_has_prices_above_its_cost(case: Case) -> None:
    """The certificate by its definition, over every class and every record that may be suppressed."""
    proof = solved(case)
    price = _price_of_rows(case, proof)
    for each in classes_of(case):
        assert sum(price[row] for row in each.records) <= each.cost + 1e-9
    assert all(each <= 1 + proof.suppression_price + 1e-9 for each in price)
    certain = set(range(len(price))).difference(*(each.records for each in classes_of(case)))
    spent = max(case.budget, len(certain)) * proof.suppression_price
    assert proof.bound == pytest.approx((sum(price) - spent) / len(price))


def _price_of_rows(case: Case, proof: PriceBound) -> list[float]:
    items = zip(proof.items.tuples.tolist(), proof.items.values.tolist(), proof.prices.tolist(), strict=True)
    known = {(of_tuple, value): price for of_tuple, value, price in items}
    problem, _ = problem_of(case)
    codes, domain = problem.table.row_sensitive[COLUMN].tolist(), problem.domains[COLUMN]
    values = [code if needed(case)[1] > 1 and domain.known[code] else -1 for code in codes]
    return [known[pair] for pair in zip(problem.table.row_tuple.tolist(), values, strict=True)]


@settings(max_examples=20)
@given(small_cases())
def test_more_work_never_lowers_the_bound(case: Case) -> None:
    found = [solved(case, work).bound for work in (100, 1000, 3000, 9000)]
    assert found == sorted(found)


@settings(max_examples=20)
@given(small_cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(case: Case, random: Random) -> None:
    order = list(range(len(case.rows)))
    random.shuffle(order)
    one, other = solved(case), solved(case.shuffled(order))
    assert one.bound == other.bound
    assert np.array_equal(one.prices, other.prices)


@settings(max_examples=20)
@given(small_cases(), st.integers(1, 2))
def test_fewer_columns_prove_a_lower_bound_that_still_holds(case: Case, columns: int) -> None:
    best = optimum(len(case.rows), classes_of(case), case.budget)
    assume(best is not None)
    assert best is not None
    problem, _ = problem_of(case)
    found = PriceSolver(problem, columns=columns, compiled=False).run(work=5000)
    assert found.bound <= best + 1e-9


@settings(max_examples=30)
@given(ranged_cases(), st.integers(1, 3))
def test_no_release_of_ranges_loses_less_than_the_bound(case: Case, k: int) -> None:
    case = replace(
        case, rows=case.rows[:6], sensitive={}, models=(KAnonymity(k),), metric="ncp", weights=(), person=None
    )
    case = replace(case, budget=len(case.rows), boundaries=())
    found = price_bound(problem_of(case)[0], work=5000)
    ranged = frozenset(case.names.index(name) for name in case.options["ranges"])
    best = optimum(len(case.rows), list(allowed_classes(table_of(case), k=k, ranged=ranged)), case.budget)
    assert found is not None
    assert best is not None
    assert found.bound <= best + 1e-9


def test_a_pair_within_the_limit_and_a_triple_that_is_not() -> None:
    """k = p = 2 at a cost of 5, prices 10 and 9 for one value, 0 for the other: pairs are fine, all three are not."""
    class_value = getattr(prices.class_value, "py_func", prices.class_value)
    amounts, weights = np.array([10.0, 9.0, 0.0]), np.ones(3, dtype=np.int64)
    values, seen = np.array([0, 0, 1], dtype=np.int32), np.zeros(3, dtype=np.int64)
    members = np.arange(3, dtype=np.int32)
    assert class_value(members, 0, 3, amounts, (weights, values), 5.0, (2, 2), seen) == pytest.approx(4.0)
    assert class_value(members[[0, 2]], 0, 2, amounts, (weights, values), 5.0, (2, 2), seen) == pytest.approx(0.0)
    assert not seen.any()


def test_equal_records_share_a_box_that_costs_nothing() -> None:
    trees = ({"*": {"a": None, "b": None}},)
    rows = (("a",), ("a",), ("a",), ("b",))
    case = Case(trees, rows, {}, (KAnonymity(2),), metric="ncp")
    found = solved(case, ENOUGH)
    # the b needs one a with it: both lose everything, the other two nothing
    assert found.bound == pytest.approx(0.5, abs=1e-3)
    assert found.prices[1] == pytest.approx(2.0, abs=1e-2)  # what the b costs, its own cell and that of an a


def test_nothing_has_to_be_lost_where_all_records_are_alike() -> None:
    trees = ({"*": {"a": None, "b": None}},)
    problem, _ = problem_of(Case(trees, (("a",),) * 3, {}, (KAnonymity(3),), metric="ncp"))
    found = price_bound(problem)
    assert found is not None
    assert found.bound == pytest.approx(0.0, abs=1e-9)


def test_a_table_of_wide_keys_has_a_bound() -> None:
    leaves = [str(value) for value in range(40)]
    tree = {"*": {f"g{g}": dict.fromkeys(leaves[g * 10 : g * 10 + 10]) for g in range(4)}}
    rows = tuple(tuple(leaves[(7 * row + 3 * row * j) % 40] for j in range(15)) for row in range(12))
    case = Case((tree,) * 15, rows, {}, (KAnonymity(2),), metric="ncp")
    problem, _ = problem_of(case)
    found = price_bound(problem, work=200_000)
    assert found is not None
    assert found.method in {"prices", "prices-of-some-columns"}
    assert 0 < found.bound <= 1


def test_costs_of_ranges_are_those_of_two_neighbours() -> None:
    tree = {"*": {"x": {"1": None, "2": None}, "y": {"3": None, "4": None, "5": None}}}
    case = Case((tree,), (("1",), ("5",)), {}, (KAnonymity(2),), metric="ncp", options={"ranges": ["q0"]})
    problem, _ = problem_of(case)
    leaves = problem.hierarchies[0].n_leaves
    assert ncp_costs(problem)[0][:leaves].tolist() == [0.0] * leaves
    assert ncp_costs(problem)[0][leaves:].tolist() == pytest.approx([0.25] * 3)


def test_work_is_chosen_by_the_table_and_the_policy_alone() -> None:
    trees = ({"*": {"a": None, "b": None}},)
    case = Case(trees, (("a",), ("b",)), {}, (KAnonymity(2),))
    plain, refined = problem_of(case)[0], problem_of(replace(case, options={"refine": 10}))[0]
    assert amounts.is_small(plain)
    assert amounts.price_work(plain) == amounts.SMALL_WORK + 1  # a quarter of two tuples in a lattice of two nodes
    assert not amounts.is_small(refined)
    assert amounts.price_work(refined) == amounts.WORK + 10 * amounts.WORK_PER_SECOND
    large = problem_of(replace(case, models=(KAnonymity(20),), options={"refine": 10}))[0]
    assert amounts.price_work(large) == 2 * amounts.WORK + 10 * amounts.WORK_PER_SECOND
    assert amounts.guiding_work(large) < amounts.price_work(large)


def twins(case: Case) -> tuple[Lattice, Lattice]:
    problem, _ = problem_of(case)
    return Lattice.of(problem, compiled=True), Lattice.of(problem, compiled=False)


@settings(max_examples=40)
@given(small_cases(), st.data())
def test_numpy_and_compiled_kernels_find_the_same_boxes(case: Case, data: st.DataObject) -> None:
    one, other = twins(case)
    amounts = st.lists(st.floats(0, 2), min_size=len(one.items.weights), max_size=len(one.items.weights))
    prices, slack = np.array(data.draw(amounts)), data.draw(st.sampled_from([0.0, 0.1, 0.5]))
    found = [each.near(prices, slack=slack, spread=slack, limit=10**9) for each in (one, other)]
    assert found[0][2]
    assert found[1][2]
    assert described(found[0][0]) == described(found[1][0])


def described(boxes: Boxes) -> list[tuple[float, int, float, tuple[int, ...]]]:
    members = np.split(boxes.members, boxes.starts[1:-1])
    listed = [tuple(each.tolist()) for each in members][: len(boxes.costs)]
    return sorted(zip(boxes.costs.tolist(), boxes.keys.tolist(), boxes.rest.tolist(), listed, strict=True))


@settings(max_examples=40)
@given(small_cases())
def test_nearest_neighbours_cost_no_more_than_the_cheapest_box(case: Case) -> None:
    one, other = twins(case)
    boxes, neighbours = one.nearest(10**9)[0], other.nearest(10**9)[0]
    assert (neighbours <= boxes + 1e-12).all()
    assert (np.isfinite(neighbours) == np.isfinite(boxes)).all()


@settings(max_examples=40)
@given(small_cases(), st.data())
def test_numpy_and_compiled_kernels_step_and_repair_alike(case: Case, data: st.DataObject) -> None:
    one, other = twins(case)
    n, budget = len(one.items.weights), float(case.budget)
    start = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    boxes = one.near(start, slack=0.3, spread=0.3, limit=10**9)[0]
    items, prices = (one.items.weights, one.items.values), list[list[Floats]]()
    for kernels in (one.kernels, other.kernels):
        b = len(boxes.costs)
        state = np.zeros(b), start.copy(), start.copy(), np.zeros(n), np.zeros(b), np.zeros(n)
        chosen = boxes.costs, boxes.starts, boxes.members.copy()
        suppression = 1.0, budget, np.zeros(1)
        sizes = 0.5, 150.0, 1.0
        kernels.price_steps(chosen, items, one.need, one.n_values, state, start + 2.0, suppression, sizes, 5)
        repaired, order = start.copy(), np.arange(b)
        chosen = boxes.costs, boxes.starts, boxes.members.copy()
        kernels.repair(chosen, boxes.rest, order, items, one.need, one.n_values, repaired)
        prices.append([*state[:5], repaired])
    for these, those in zip(*prices, strict=True):
        assert these == pytest.approx(those, abs=1e-9)


@settings(max_examples=40)
@given(small_cases())
def test_bounds_with_and_without_compiling_hold_alike(case: Case) -> None:
    best = optimum(len(case.rows), classes_of(case), case.budget)
    assume(best is not None)
    assert best is not None
    for compiled in (True, False):
        found = PriceSolver(problem_of(case)[0], compiled=compiled).run(work=100_000)
        assert found.bound <= best + 1e-9
