"""Refining: every step saves exactly what it promises, keeps every model, and stays within its block."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.models import KAnonymity, PSensitive
from shoal.search import ALGORITHMS
from shoal.search.kernels import plain_refinement, refinement
from shoal.search.local.blocks import Blocks, Classes
from shoal.search.local.finish import cost_of, finish
from shoal.search.local.refinement import arrangement
from shoal.search.local.refinement.arrangement import Arrangement
from shoal.search.local.refinement.refine import KINDS, Steps, proposals, refine
from shoal.table.recoding import Recoding
from support.ranged_cases import ranged_cases
from support.search_cases import Case, blocks_of, cases, class_nodes

pytestmark = pytest.mark.slow

METRICS_OF_CELLS = ("ncp", "loss", "ntil", "precision")


def cost(blocks: Blocks, row_class: Classes) -> float:
    """What a partition costs in the problem's measure, coinciding classes or not."""
    return cost_of(blocks.problem, finish(blocks, row_class))


def priced(blocks: Blocks, row_class: Classes, weights: np.ndarray) -> float:
    """Sum of cell losses, from the definition: the loss of the lowest common ancestor of each class, in each column."""
    total = 0.0
    for each in np.unique(row_class[row_class >= 0]):
        rows = np.flatnonzero(row_class == each)
        for j, hierarchy in enumerate(blocks.problem.hierarchies):
            values = set(blocks.row_codes[rows, j].tolist())
            node = min(
                (
                    n
                    for n in range(len(hierarchy.labels))
                    if values <= set(range(hierarchy.first[n], hierarchy.last[n] + 1))
                ),
                key=lambda n: hierarchy.last[n] - hierarchy.first[n],
            )
            total += weights[j] * hierarchy.loss[node] * len(rows)
    return total


def some_partition(blocks: Blocks, draw: st.DataObject) -> Classes:
    """A partition whose classes satisfy: the blocks, or what an algorithm makes of them."""
    name = draw.draw(st.sampled_from(["blocks", "mondrian", "top-down", "greedy-clustering"]))
    if name == "blocks":
        return blocks.row_block.copy()
    problem = replace(blocks.problem, options={"faithful": name == "greedy-clustering"})
    engine = problem_of_ground(blocks)
    return ALGORITHMS[name].run(problem, engine).recoding.row_class


def problem_of_ground(blocks: Blocks):  # type: ignore[no-untyped-def]
    from shoal.search.engine import LocalEngine

    return LocalEngine(blocks.problem.table, blocks.problem.ladders, blocks.problem.domains)


@settings(max_examples=120)
@given(cases(), st.sampled_from(METRICS_OF_CELLS), st.data())
def test_every_round_lowers_the_chosen_measure_and_keeps_every_model_of_a_class(
    case: Case, metric: str, draw: st.DataObject
) -> None:
    blocks = blocks_of(replace(case, metric=metric, weights=()))
    start = some_partition(blocks, draw)
    before = cost_of(blocks.problem, recoded(blocks, start))
    for rounds in (1, 2, 5, None):
        refined = refine(blocks, start, rounds=rounds)
        after = cost_of(blocks.problem, recoded(blocks, refined.row_class))
        assert after < before + 1e-12 if refined.steps else abs(after - before) < 1e-12
        before = after if rounds == 1 else before
        count = int(refined.row_class.max()) + 1
        filled = np.unique(refined.row_class[refined.row_class >= 0])
        dense = np.searchsorted(filled, refined.row_class).astype(np.int32)
        dense[refined.row_class < 0] = -1
        assert blocks.holds(blocks.stats(dense, len(filled))).all(), (count, refined.steps)
        assert ((refined.row_class < 0) == (start < 0)).all()
        for each in filled:
            assert len(set(blocks.row_block[refined.row_class == each].tolist())) == 1
        before = cost_of(blocks.problem, recoded(blocks, start))


def recoded(blocks: Blocks, row_class: Classes) -> Recoding:
    """A partition as it stands, coinciding classes apart: what refining counts."""

    filled = np.unique(row_class[row_class >= 0])
    dense = np.searchsorted(filled, row_class).astype(np.int32)
    dense[row_class < 0] = -1
    problem = blocks.problem
    return Recoding(problem.table.quasi, problem.hierarchies, dense, class_nodes(blocks, dense, len(filled)))


@settings(max_examples=120)
@given(cases(), st.data())
def test_every_step_saves_exactly_what_it_promises(case: Case, draw: st.DataObject) -> None:
    blocks = blocks_of(replace(case, metric="ncp", weights=()))
    state = Arrangement(blocks, some_partition(blocks, draw))
    state.price()
    state.find_neighbours(state.filled, 0)
    steps = proposals(state, state.filled)
    weights = np.ones(len(blocks.problem.hierarchies))
    before = priced(blocks, state.row_class, weights)
    for step in range(len(steps)):
        rows, targets = steps.moves(state, np.array([step]))
        changed = state.row_class.copy()
        changed[rows] = targets
        assert before - priced(blocks, changed, weights) == pytest.approx(steps.gain[step], abs=1e-9), KINDS[
            steps.kind[step]
        ]
        sizes = np.unique(changed[changed >= 0], return_counts=True)[1]
        assert sizes.min() >= min(state.least, state.sizes[state.filled].min())


@settings(max_examples=120)
@given(st.one_of(cases(), ranged_cases()), st.sampled_from(METRICS_OF_CELLS), st.sampled_from([0, 512]), st.data())
def test_refining_with_numpy_proposes_and_takes_the_same_steps(
    case: Case, metric: str, table_leaves: int, draw: st.DataObject
) -> None:
    """To the last bit of what each step saves: with a table of all pairs of values, and without."""
    blocks = blocks_of(replace(case, metric=metric, weights=()))
    start = some_partition(blocks, draw)
    limit, arrangement.TABLE_LEAVES = arrangement.TABLE_LEAVES, table_leaves
    try:
        states = [Arrangement(blocks, start, kernels=kernels) for kernels in (refinement, plain_refinement)]
        for state in states:
            state.price()
            state.find_neighbours(state.filled, 0)
        for name in ("ends", "costs", "near", "joins"):
            assert np.array_equal(*(getattr(state, name) for state in states)), name
        compiled, plain = (proposals(state, state.filled) for state in states)
        for name in ("kind", "gain", "bounds", "rows", "targets"):
            assert np.array_equal(getattr(compiled, name), getattr(plain, name)), name
        one, other = (refine(blocks, start, rounds=5, kernels=kernels) for kernels in (refinement, plain_refinement))
        assert np.array_equal(one.row_class, other.row_class)
        assert (one.steps, one.rounds, one.finished) == (other.steps, other.rounds, other.finished)
    finally:
        arrangement.TABLE_LEAVES = limit


def cell_cost(c: int, low: int, high: int, prices: arrangement.Prices) -> float:
    """What a kernel says that a cell costs: of a table of one record whose other cells cover their first value."""
    ends, sums = np.zeros((1, len(prices[3]), 4), dtype=np.int32), np.zeros(len(prices[3]))
    ends[0, c] = low, low, high, high
    refinement.column_sums(ends, np.ones(1, dtype=np.int64), prices, sums)
    return float(sums[c])


@settings(max_examples=60)
@given(ranged_cases(), st.booleans())
def test_columns_without_a_table_of_pairs_are_priced_alike(case: Case, ranges: bool) -> None:
    options = case.options if ranges else {**case.options, "ranges": ()}
    blocks = blocks_of(replace(case, metric="ncp", weights=(), options=options))
    columns = range(len(blocks.problem.hierarchies))
    tabled = arrangement.prices_of(blocks, columns)
    limit, arrangement.TABLE_LEAVES = arrangement.TABLE_LEAVES, 0
    try:
        climbed = arrangement.prices_of(blocks, columns)
    finally:
        arrangement.TABLE_LEAVES = limit
    for c in columns:
        leaves = blocks.problem.hierarchies[c].n_leaves
        missing = blocks.ranged[c].missing >= 0 if c in blocks.ranged else False
        for low in range(leaves):
            for high in range(low, leaves):
                one, other = (cell_cost(c, low, high, prices) for prices in (tabled, climbed))
                assert other == pytest.approx(one) or (missing and other >= one)


@settings(max_examples=60)
@given(ranged_cases())
def test_refining_lowers_the_loss_of_ranges_too(case: Case) -> None:
    blocks = blocks_of(replace(case, metric="ncp", weights=()))
    start = finish(blocks, blocks.row_block.copy())
    refined = refine(blocks, start.row_class)
    assert refined.finished
    after = cost(blocks, refined.row_class)
    assert after <= cost_of(blocks.problem, start) + 1e-12


def test_each_kind_of_step_is_found() -> None:
    """Tables that leave one thing to do: split a class, dissolve one, move, swap, and gather what others spare."""
    tree = {"*": {f"g{g}": dict.fromkeys(str(10 * g + i) for i in range(6)) for g in range(4)}}

    def refined(groups: list[list[str]], k: int) -> dict[str, int]:
        rows = tuple((value,) for group in groups for value in group)
        case = Case((tree,), rows, {}, (KAnonymity(k),), metric="ncp")
        owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups]).astype(np.int32)
        return refine(blocks_of(case), owner, rounds=1).steps

    assert "split" in refined([["0", "0", "10", "10"]], 2)
    assert "move" in refined([["0", "0", "10"], ["10", "10"]], 2)
    assert "swap" in refined([["0", "10"], ["10", "0"]], 2)
    assert "dissolve" in refined([["0", "10"], ["0", "0"], ["10", "10"]], 2)
    assert "gather" in refined([["0", "0", "10"], ["1", "1", "10"], ["2", "2", "10"]], 2)


def test_a_step_that_would_break_a_model_is_not_taken() -> None:
    tree = {"*": {"a": None, "b": None}}
    rows = (("a",), ("b",), ("a",), ("b",))
    secrets = ("Flu", "HIV", "Flu", "HIV")
    owner = np.array([0, 0, 1, 1], dtype=np.int32)
    case = Case(
        (tree,), rows, {"condition": secrets}, (KAnonymity(2), PSensitive(p=2, sensitive="condition")), metric="ncp"
    )
    assert not refine(blocks_of(case), owner).steps
    assert refine(blocks_of(replace(case, models=(KAnonymity(2),))), owner).steps == {"swap": 1}


def test_no_time_means_no_round() -> None:
    case = Case(({"*": {"a": None, "b": None}},), (("a",), ("b",)) * 4, {}, (KAnonymity(2),), metric="ncp")
    blocks = blocks_of(case)
    refined = refine(blocks, blocks.row_block.copy(), deadline=time.monotonic())
    assert (refined.rounds, refined.steps, refined.finished) == (0, {}, False)


def test_steps_that_touch_the_same_class_are_not_taken_together() -> None:
    tree = {"*": dict.fromkeys("abcdef")}
    rows = tuple((value,) for value in "aabbccddeeff")
    blocks = blocks_of(Case((tree,), rows, {}, (KAnonymity(2),), metric="ncp"))
    state = Arrangement(blocks, np.array([0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5], dtype=np.int32))
    state.price()
    state.find_neighbours(state.filled, 0)
    steps = proposals(state, state.filled)
    chosen = steps.independent(state, np.ones(len(steps), dtype=np.bool_))
    touched: list[int] = []
    for step in chosen:
        rows_of, targets = Steps.moves(steps, state, np.array([step]))
        touched += {*state.row_class[rows_of].tolist(), *(each for each in targets.tolist() if each < len(state.costs))}
    assert len(touched) == len(set(touched))
    assert len(chosen) == 3
