"""Clustering by neighbours: kernels against their definitions, and what holds of every release made by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.models import KAnonymity
from shoal.search.evaluation import evaluate_stats
from shoal.search.kernels import load, neighbours, plain_neighbours
from shoal.search.kernels.plain_costs import cell_costs
from shoal.search.lattice.nodes import walks_whole_lattice
from shoal.search.local import near_tuples
from shoal.search.local.blocks import Blocks, Codes, dearest_first
from shoal.search.local.cover import BoxCover
from shoal.search.local.finish import cost_of, finish
from shoal.search.local.greedy_clustering import NEIGHBOURS, greedy_clustering
from shoal.search.local.neighbours import NeighbourCover, neighbours_by_block
from shoal.search.local.refinement.arrangement import Arrangement, prices_of
from support.search_cases import Case, blocks_of, cases, problem_of

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_lattice_is_walked_whole() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.search.local.blocks.walks_whole_lattice", lambda *_, **__: False)
        yield


def pair_costs(cover: BoxCover) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """What the box of each two tuples costs, by definition."""
    n = cover.codes.shape[1]
    one, other = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    low, high = (
        np.minimum(cover.codes[:, one], cover.codes[:, other]),
        np.maximum(*cover.codes[:, [one, other]].swapaxes(0, 1)),
    )
    return cover.box_costs(low, high).reshape(n, n)


def wide(case: Case, k: int) -> Blocks:
    return blocks_of(
        replace(case, models=(KAnonymity(k),), budget=0, metric="ncp", boundaries=(), weights=(), person=None)
    )


@pytest.mark.parametrize("compiled", [False, True])
@settings(max_examples=30)
@given(case=cases(), number=st.integers(1, 4))
def test_the_nearest_tuples_are_those_with_the_cheapest_common_boxes(
    case: Case, number: int, *, compiled: bool
) -> None:
    blocks = wide(case, 1)
    cover = BoxCover(blocks)
    codes, prices = np.ascontiguousarray(cover.codes.T), prices_of(blocks, dearest_first(blocks.problem))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_tuples, "_IN_A_LEAF", 1)
        patch.setattr(near_tuples, "ROWS_BEFORE_LOADING", 0 if compiled else 2000)
        near = near_tuples.nearest(blocks, codes, np.arange(len(codes)), prices, number)
    costs = pair_costs(cover)
    for tuple_, found in enumerate(near):
        others = np.sort(np.delete(costs[tuple_], tuple_))[:number]
        assert np.allclose(costs[tuple_][found[found >= 0]], others)
        assert len({tuple_, *found[found >= 0].tolist()}) == 1 + len(others)


@settings(max_examples=40)
@given(cases(), st.integers(2, 5))
def test_groups_grow_by_the_neighbour_that_raises_their_cost_least(case: Case, least: int) -> None:
    blocks = wide(case, 1)
    cover = BoxCover(blocks)
    codes, prices = np.ascontiguousarray(cover.codes.T), prices_of(blocks, dearest_first(blocks.problem))
    seeds = np.arange(len(codes))
    near = near_tuples.nearest(blocks, codes, seeds, prices, max(len(codes) - 1, 1))
    grown = []
    for kernel in (neighbours.grow_groups, plain_neighbours.grow_groups):
        members, costs = np.empty((len(codes), least), dtype=np.int32), np.empty(len(codes))
        kernel(codes, cover.weights, seeds, near, least, prices, members, costs)
        grown.append((members, costs))
    for seed, (own, cost) in enumerate(zip(*grown[0], strict=True)):
        group, possible = _grown(cover, seed, near[seed], least)
        assert possible == np.isfinite(cost)
        if possible:
            assert own[own >= 0].tolist() == group
            assert np.isclose(cost, _cost(cover, group))
            assert np.array_equal(own, grown[1][0][seed])
    assert np.array_equal(grown[0][1], grown[1][1])


def _cost(cover: BoxCover, group: list[int]) -> float:
    codes = cover.codes[:, group]
    return float(cover.box_costs(codes.min(axis=1, keepdims=True), codes.max(axis=1, keepdims=True))[0])


def _grown(cover: BoxCover, seed: int, near: Codes, least: int) -> tuple[list[int], bool]:
    """The group around a tuple by definition, and whether it has enough records."""
    group, others = [seed], [int(other) for other in near if other >= 0]
    while int(cover.weights[group].sum()) < least and others:
        costs = [_cost(cover, [*group, other]) for other in others]
        chosen = next(i for i, cost in enumerate(costs) if cost <= min(costs) + 1e-12)
        group.append(others.pop(chosen))
    return group, int(cover.weights[group].sum()) >= least


@pytest.mark.parametrize("compiled", [False, True])
@settings(max_examples=30)
@given(case=cases(), k=st.integers(2, 4))
def test_classes_of_neighbours_are_large_enough_and_leave_none_out(case: Case, k: int, *, compiled: bool) -> None:
    blocks = wide(case, k)
    cover = BoxCover(blocks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "ROWS_BEFORE_LOADING", 0 if compiled else 2000)
        patch.setattr(near_tuples, "ROWS_BEFORE_LOADING", 0 if compiled else 2000)
        for tuples, near in neighbours_by_block(blocks, near_tuples.near_tuples(blocks)):
            found = NeighbourCover(cover).classes(tuples, near)
            assert (found >= 0).all()
            assert (np.bincount(found, weights=cover.weights[tuples]) >= k).all()


@settings(max_examples=40)
@given(cases(), st.integers(1, 3))
def test_refining_finds_the_classes_of_near_tuples(case: Case, k: int) -> None:
    blocks = wide(case, k)
    table = blocks.problem.table
    near = near_tuples.near_tuples(blocks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "ROWS_BEFORE_LOADING", 0)
        among, pieces = Arrangement(blocks, table.row_tuple, near=near), Arrangement(blocks, table.row_tuple)
    for state in (among, pieces):
        state.find_neighbours(state.filled, 0)
    assert (near[:, -1] < 0).all()  # so that all others are near
    for row, (one, other) in enumerate(zip(among.joins, pieces.joins, strict=True)):
        costs = [[_joining(among, row, int(b)) for b in found if b >= 0] for found in (one, other)]
        assert np.allclose(*costs)


def _joining(state: Arrangement, row: int, b: int) -> float:
    """What a row adds by joining a class, by definition."""
    rows = [*state.rows_of(np.array([b])).tolist(), row]
    low, high = state.codes[rows].min(axis=0), state.codes[rows].max(axis=0)
    cost = sum(float(cell_costs(c, *ends, state.prices)) for c, ends in enumerate(zip(low, high, strict=True)))
    return cost * len(rows) - float(state.costs[b]) * (len(rows) - 1)


@settings(max_examples=40)
@given(cases())
def test_every_model_holds(case: Case) -> None:
    problem, engine = problem_of(replace(case, metric="ncp", weights=()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.search.local.greedy_clustering.prices_may_guide", lambda _: False)
        try:
            outcome = greedy_clustering(problem, engine)
        except InfeasibleError:
            return
    blocks = blocks_of(replace(case, metric="ncp", weights=()))
    stats = blocks.stats(outcome.recoding.row_class, outcome.recoding.n_classes)
    assert evaluate_stats(problem.models, replace(stats, reference=None), 0)[0]


@pytest.mark.parametrize(
    ("shape", "tuples", "on_values", "whole"),
    [
        ((2, 3, 4), 10**6, False, True),
        ((2, 3, 4), 10**6, True, True),
        ((15,) * 8, 10, False, False),
        ((3,) * 60, 10, False, False),
        ((10,) * 5, 100, False, True),
        ((10,) * 5, 100, True, False),
        ((10,) * 5, 10**5, False, False),
    ],
)
def test_a_lattice_is_walked_whole_where_its_nodes_and_tuples_are_few(
    shape: tuple[int, ...], tuples: int, *, on_values: bool, whole: bool
) -> None:
    assert walks_whole_lattice(shape, tuples, on_values=on_values) is whole


@pytest.mark.parametrize(("columns", "leaves", "levels"), [(60, 4, 1), (8, 32, 5), (22, 8, 3)])
def test_many_columns_and_long_ladders_are_released_and_near_records_stay_together(
    columns: int, leaves: int, levels: int
) -> None:
    draw = np.random.default_rng(columns)
    kinds = draw.integers(0, leaves, (12, columns))
    codes = np.repeat(kinds, 4, axis=0)
    codes[np.arange(48), draw.integers(0, columns, 48)] = draw.integers(0, leaves, 48)
    names = [f"{value:05b}" for value in range(leaves)]
    tree = _binary(names, levels)
    rows = tuple(tuple(names[code] for code in row) for row in codes.tolist())
    case = Case((tree,) * columns, rows, {}, (KAnonymity(3),), metric="ncp")
    problem, engine = problem_of(case)
    outcome = greedy_clustering(problem, engine)
    assert outcome.recoding.sizes.min() >= 3
    assert outcome.search["mode"] in {NEIGHBOURS, "prices"}  # which of them starts cheaper; never "cover"
    by_kind = finish(blocks_of(case), np.repeat(np.arange(12), 4).astype(np.int32))
    assert cost_of(problem, outcome.recoding) <= cost_of(problem, by_kind) + 1e-9
    if columns > 8:  # with few columns a record may be nearer to others than to its kind
        assert np.array_equal(outcome.recoding.row_class[::4].repeat(4), outcome.recoding.row_class)


def test_records_that_remain_join_their_neighbours_rather_than_each_other() -> None:
    values = [f"{kind}{value}" for kind in "abc" for value in range(4)]
    tree = {"*": {kind: dict.fromkeys(value for value in values if value[0] == kind) for kind in "abc"}}
    rows = tuple((value, value) for value in values)  # three kinds of four records, of which three make a class
    cover = BoxCover(blocks_of(Case((tree, tree), rows, {}, (KAnonymity(3),), metric="ncp")))
    ((tuples, near),) = neighbours_by_block(cover.blocks, near_tuples.near_tuples(cover.blocks))
    found = NeighbourCover(cover).classes(tuples, near)
    assert [len(set(found[start : start + 4].tolist())) for start in (0, 4, 8)] == [1, 1, 1]
    assert len(set(found.tolist())) == 3


def _binary(names: list[str], levels: int) -> dict[str, object]:
    """Names by their first bits, so many levels under the root."""
    step = max(len(names) >> 1, 1)

    def grown(some: list[str], width: int, left: int) -> dict[str, object]:
        if left == 0 or width <= 1:
            return dict.fromkeys(some)
        parts = [some[at : at + width // 2] for at in range(0, len(some), width // 2)]
        return {f"{part[0]}-{part[-1]}/{left}": grown(part, width // 2, left - 1) for part in parts}

    return {"*": grown(names, 2 * step, levels - 1)}
