"""The engine of one machine: the classes of any node, however they are reached."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import lattice_oracle as oracle
from shoal.hierarchies import Tree, capped_levels
from shoal.search.engine import DROPPED, Grouping, LocalEngine
from shoal.search.kernels import compiled as _kernels
from shoal.search.kernels import plain as _kernels_numpy
from shoal.search.kernels.load import load_kernels
from shoal.table.encoded import EncodedTable, encode_table
from support.search_cases import DOMAINS, Case, cases, problem_of, table_of

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # the hash wraps around on purpose


def partition(table: EncodedTable, grouping: Grouping) -> set[frozenset[int]]:
    """The rows of each class."""
    found = defaultdict(set)
    for row, tuple_ in enumerate(table.row_tuple):
        found[int(grouping.tuple_class[tuple_])].add(row)
    return {frozenset(rows) for rows in found.values()}


def engine_of(case: Case, kernels: ModuleType) -> tuple[EncodedTable, LocalEngine]:
    problem, _ = problem_of(case)
    return problem.table, LocalEngine(problem.table, problem.ladders, problem.domains, kernels=kernels)


@pytest.mark.parametrize("kernels", [_kernels, _kernels_numpy])
@settings(max_examples=40)
@given(case=cases(people=False), random=st.randoms(use_true_random=False))
def test_a_node_has_the_same_classes_rolled_up_and_from_scratch(kernels: ModuleType, case: Case, random: Any) -> None:
    plain = table_of(case)
    table, engine = engine_of(case, kernels)
    nodes = oracle.ladder_nodes(plain)
    for node in random.sample(nodes, min(len(nodes), 12)):
        rolled = engine.classes(node)
        fresh = engine_of(case, kernels)[1].classes(node)
        classes = oracle.classes_at(plain, node, range(len(plain.rows)))
        expected = {frozenset(rows) for rows in classes.values()}
        assert partition(table, rolled) == partition(table, fresh) == expected
        assert sorted(rolled.sizes.tolist()) == sorted(map(len, classes.values()))
        assert table.n_rows == rolled.sizes.sum()
        assert rolled.tuple_class[rolled.representatives].tolist() == list(range(rolled.n_classes))


@pytest.mark.parametrize("kernels", [_kernels, _kernels_numpy])
@settings(max_examples=30)
@given(case=cases(people=False), random=st.randoms(use_true_random=False))
def test_class_statistics_count_the_rows(kernels: ModuleType, case: Case, random: Any) -> None:
    plain = table_of(case)
    table, engine = engine_of(case, kernels)
    nodes = oracle.ladder_nodes(plain)
    for node in random.sample(nodes, min(len(nodes), 6)):
        grouping = engine.classes(node)
        stats = engine.stats(grouping, list(case.sensitive))
        row_class = grouping.tuple_class[table.row_tuple]
        for name, values in case.sensitive.items():
            histogram, known = stats.histograms[name], DOMAINS[name].values
            for each in range(grouping.n_classes):
                part = slice(histogram.starts[each], histogram.starts[each + 1])
                pairs = zip(histogram.values[part], histogram.counts[part], strict=True)
                counted = Counter(values[row] for row in np.flatnonzero(row_class == each))
                assert {known[value]: int(count) for value, count in pairs} == counted
                assert (np.diff(histogram.values[part]) > 0).all()


@settings(max_examples=40)
@given(case=cases(people=False), random=st.randoms(use_true_random=False))
def test_compiled_and_numpy_kernels_give_the_same_grouping(case: Case, random: Any) -> None:
    plain = table_of(case)
    _, compiled = engine_of(case, _kernels)
    _, twin = engine_of(case, _kernels_numpy)
    nodes = oracle.ladder_nodes(plain)
    for node in random.sample(nodes, min(len(nodes), 8)):
        one, other = compiled.classes(node), twin.classes(node)
        assert one.representatives.tolist() == other.representatives.tolist()
        assert one.sizes.tolist() == other.sizes.tolist()
        assert one.tuple_class.tolist() == other.tuple_class.tolist()


@settings(max_examples=40)
@given(case=cases(people=False), random=st.randoms(use_true_random=False))
def test_leaving_out_a_quasi_identifier_groups_by_the_others(case: Case, random: Any) -> None:
    plain = table_of(case)
    table, engine = engine_of(case, _kernels)
    options = [[DROPPED, *range(len(column.ladder))] for column in plain.columns]
    nodes = list(product(*options))
    for node in random.sample(nodes, min(len(nodes), 12)):
        found = defaultdict(set)
        for row in range(len(plain.rows)):
            levels = [max(step, 0) for step in node]
            cells = oracle.release(plain, tuple(levels), row)
            found[tuple(cell for cell, step in zip(cells, node, strict=True) if step != DROPPED)].add(row)
        assert partition(table, engine.classes(node)) == {frozenset(rows) for rows in found.values()}


def wide_engine(width: int, leaves: int, rows: int, kernels: ModuleType) -> tuple[EncodedTable, LocalEngine, Any]:
    """Many wide columns: far more combinations than 64 bits can number."""
    names = [str(leaf) for leaf in range(leaves)]
    hierarchy = Tree({f"g{leaf // 2}": names[leaf : leaf + 2] for leaf in range(0, leaves, 2)}).build(
        names, [1] * leaves, "wide"
    ).hierarchy  # fmt: skip
    ladder = capped_levels(hierarchy, np.full(leaves, hierarchy.root, dtype=np.int32))
    random = np.random.default_rng(5)
    codes = random.integers(0, leaves, size=(rows // 2, width)).astype(np.int32)
    codes = np.vstack([codes, codes])
    twins = np.arange(rows // 2, rows)
    codes[twins, twins % width] ^= 1  # each twin differs in one column, within a group of two
    quasi = {f"c{j}": (codes[:, j].copy(), leaves) for j in range(width)}
    table = encode_table(quasi, {}, rows)
    return table, LocalEngine(table, [ladder] * width, {}, kernels=kernels), codes


def by_hand(rows: Sequence[Sequence[int]]) -> set[frozenset[int]]:
    found = defaultdict(set)
    for place, row in enumerate(rows):
        found[tuple(int(cell) for cell in row)].add(place)
    return {frozenset(each) for each in found.values()}


@pytest.mark.parametrize("kernels", [_kernels, _kernels_numpy])
def test_more_combinations_than_64_bits_can_number_are_grouped_right(kernels: ModuleType) -> None:
    table, engine, codes = wide_engine(40, 1024, 200, kernels)
    bottom, middle = engine.classes([0] * 40), engine.classes([1] * 40)
    assert partition(table, bottom) == by_hand(codes)
    assert partition(table, middle) == by_hand(codes // 2)
    assert (bottom.n_classes, middle.n_classes) == (200, 100)
    mixed = [j % 2 for j in range(40)]
    assert partition(table, engine.classes(mixed)) == by_hand(codes // (1 + np.array(mixed)))
    assert engine.classes([2] * 40).n_classes == 1


@pytest.mark.parametrize("kernels", [_kernels, _kernels_numpy])
def test_a_key_space_too_large_for_a_lookup_table_is_grouped_right(kernels: ModuleType) -> None:
    table, engine, codes = wide_engine(4, 1000, 300, kernels)
    assert partition(table, engine.classes([1] * 4)) == by_hand(codes // 2)


def test_groupings_that_are_forgotten_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.search.engine._CACHED_GROUPINGS", 2)
    table, engine, codes = wide_engine(3, 8, 60, _kernels_numpy)
    for node in [(0, 0, 0), (0, 1, 1), (1, 1, 1), (0, 1, 0), (1, 1, 0)]:
        assert partition(table, engine.classes(node)) == by_hand(codes // (1 + np.array(node)))
    assert engine.checks == 5


def test_the_compiled_kernels_are_used_where_numba_is() -> None:
    assert load_kernels() is _kernels
