"""Covering: kernels against their twins, bounds against the optimum, never more loss than the paper."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.metrics import METRICS, ReleaseSummary
from shoal.models import KAnonymity
from shoal.search.kernels import compiled as _kernels
from shoal.search.kernels import plain as _kernels_numpy
from shoal.search.local.cover import BoxCover
from shoal.search.local.greedy_clustering import greedy_clustering
from shoal.table.recoding import Recoding
from support.search_cases import Case, blocks_of, cases, class_nodes, problem_of

pytestmark = pytest.mark.slow


def ncp(recoding: Recoding) -> float:
    return METRICS["ncp"].of(ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, recoding.n_rows))


def with_k(case: Case, k: int) -> Case:
    return replace(case, models=(KAnonymity(k),), budget=0, metric="ncp", boundaries=(), weights=())


def partitions(rows: int, least: int) -> Iterator[list[int]]:
    """Every way to part so many rows into classes of at least so many."""

    def grow(owner: list[int], classes: int) -> Iterator[list[int]]:
        if len(owner) == rows:
            if all(owner.count(each) >= least for each in range(classes)):
                yield owner
            return
        for each in range(classes + 1):
            yield from grow([*owner, each], max(classes, each + 1))

    yield from grow([], 0)


@settings(max_examples=60)
@given(cases(), st.integers(2, 3))
def test_no_partition_loses_less_than_the_bound_and_none_less_than_the_best(case: Case, k: int) -> None:
    person = case.person and case.person[:6]
    few = {name: values[:6] for name, values in case.sensitive.items()}
    case = with_k(replace(case, rows=case.rows[:6], sensitive=few, person=person), k)
    assume(len(set(person or range(len(case.rows)))) >= k)
    blocks = blocks_of(case)
    cover = BoxCover(blocks)
    table = blocks.problem.table
    bounds = cover.lower_bounds(np.arange(table.n_tuples))
    cells = table.n_rows * len(blocks.problem.hierarchies)
    bound = float((bounds * table.counts).sum()) / cells
    best = min(
        ncp(
            Recoding(
                table.quasi,
                blocks.problem.hierarchies,
                np.array(owner, dtype=np.int32),
                class_nodes(blocks, np.array(owner, dtype=np.int32), max(owner) + 1),
            )
        )
        for owner in partitions(table.n_rows, k)
        if person is None
        or all(len({p for p, at in zip(person, owner, strict=True) if at == each}) >= k for each in owner)
    )
    found = ncp(greedy_clustering(*problem_of(case)).recoding)
    assert bound <= best + 1e-9
    assert best <= found + 1e-9


@settings(max_examples=80)
@given(cases())
def test_the_default_never_loses_more_than_the_paper_s_choices(case: Case) -> None:
    problem, engine = problem_of(replace(case, metric="ncp", weights=()))
    try:
        default = greedy_clustering(problem, engine).recoding
    except InfeasibleError:
        return
    faithful = greedy_clustering(replace(problem, options={**problem.options, "faithful": True}), engine).recoding
    assert default.suppressed == faithful.suppressed
    assert ncp(default) <= ncp(faithful) + 1e-9


@settings(max_examples=60)
@given(cases(), st.integers(1, 3))
def test_compiled_kernels_and_their_twins_find_the_same_classes(case: Case, k: int) -> None:
    blocks = blocks_of(with_k(case, k))
    found = []
    for kernels in (_kernels, _kernels_numpy):
        cover = BoxCover(blocks)
        cover.kernels = kernels
        tuples = np.arange(blocks.problem.table.n_tuples)
        bounds = cover.lower_bounds(tuples)
        found.append((bounds, cover.classes(tuples, bounds)))
    for one, other in zip(*found, strict=True):
        assert np.allclose(one, other)


def test_large_blocks_are_cut_and_every_piece_still_satisfies(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["shoal.search.local.greedy_clustering"]
    monkeypatch.setattr(module, "PIECE", 8)
    monkeypatch.setattr(module, "prices_may_guide", lambda _: False)
    leaves = [str(value) for value in range(40)]
    trees = ({"*": {f"g{g}": dict.fromkeys(leaves[g * 10 : g * 10 + 10]) for g in range(4)}},)
    case = Case(trees, tuple((leaf,) for leaf in leaves for _ in range(2)), {}, (KAnonymity(3),), metric="ncp")
    outcome = greedy_clustering(*problem_of(case))
    pieces = outcome.search["pieces"]
    assert isinstance(pieces, int)
    assert pieces > 1
    assert outcome.recoding.sizes.min() >= 3


@settings(max_examples=60)
@given(cases(), st.integers(1, 3))
def test_keys_that_boxes_may_share_find_the_same_classes(case: Case, k: int) -> None:
    blocks = blocks_of(with_k(case, k))
    found = []
    for limit in (2**62, 0):  # beyond the limit boxes may share a key, and are compared themselves
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("shoal.search.local.cover._KEY_LIMIT", limit)
            cover, tuples = BoxCover(blocks), np.arange(blocks.problem.table.n_tuples)
        bounds = cover.lower_bounds(tuples)
        found.append((bounds, cover.classes(tuples, bounds)))
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


@settings(max_examples=30)
@given(cases(), st.integers(1, 3))
def test_boxes_with_equal_keys_are_told_apart(case: Case, k: int) -> None:
    blocks = blocks_of(with_k(case, k))
    tuples, found = np.arange(blocks.problem.table.n_tuples), []
    for all_equal in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("shoal.search.local.cover._KEY_LIMIT", 0)
            cover = BoxCover(blocks)
            if all_equal:
                patch.setattr(_kernels, "_box_key", lambda *_: 0)
                for helper in ("_box_cost", "_same_box", "_slot_of"):  # cannot be called from outside kernels
                    patch.setattr(_kernels, helper, _interpreted(getattr(_kernels, helper)))
                cover.kernels = cast(ModuleType, SimpleNamespace(willing_groups=_interpreted(_kernels.willing_groups)))
            found.append(cover.classes(tuples))
    assert np.array_equal(*found)


def _interpreted(kernel: Any) -> Any:
    return getattr(kernel, "py_func", kernel)


def test_keys_wider_than_62_bits_part_the_same_records_as_the_definition() -> None:
    leaves = [str(value) for value in range(40)]
    trees = ({"*": dict.fromkeys(leaves)},) * 12  # 41 ** 12 boxes, 2 ** 12 nodes
    rows = tuple((leaf,) * 12 for leaf in leaves for _ in range(2))
    outcome = greedy_clustering(*problem_of(Case(trees, rows, {}, (KAnonymity(2),), metric="ncp")))
    assert outcome.recoding.n_classes == 40
    assert ncp(outcome.recoding) == 0
