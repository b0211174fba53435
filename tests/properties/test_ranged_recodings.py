"""Local recodings that release ranges, against their definition: the tight range of each class, and never more lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import lattice_oracle as oracle
from oracles import local_oracle
from oracles.lattice_oracle import Table
from oracles.local_oracle import InRanges, Released
from shoal.errors import InfeasibleError
from shoal.metrics import METRICS, CellMetric, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.models import MODELS, KAnonymity
from shoal.search import ALGORITHMS
from shoal.search.local.blocks import class_extremes, prepare
from shoal.search.local.finish import merge_costs
from shoal.table.recoding import Recoding
from support.builders import common_ancestor
from support.model_cases import COLUMN, RANDOM
from support.ranged_cases import ranged_cases
from support.search_cases import Case, problem_of, random_models, released_labels, rows_of_classes, table_of

pytestmark = pytest.mark.slow

LOCAL = {
    "mondrian": ("mondrian", {}),
    "top-down": ("top-down", {}),
    "greedy-clustering": ("greedy-clustering", {}),
    "greedy-clustering, faithful": ("greedy-clustering", {"faithful": True}),
}
"""Every algorithm that takes ``ranges`` and partitions the records."""
EACH = pytest.mark.parametrize("name", LOCAL)
ON_A_CLASS = sorted(name for name, model in MODELS.items() if model.merge_closed)
on_a_class = st.lists(st.sampled_from(ON_A_CLASS).flatmap(lambda name: RANDOM[name]), min_size=1, max_size=2).map(tuple)


def run(name: str, case: Case) -> Recoding | None:
    algorithm, options = LOCAL[name]
    problem, engine = problem_of(replace(case, options={**case.options, **options}))
    try:
        return ALGORITHMS[algorithm].run(problem, engine).recoding
    except InfeasibleError:
        return None


def in_ranges(case: Case) -> Table:
    """What the oracle is asked: the columns of the option are released as ranges."""
    table = table_of(case)
    named = case.options["ranges"]
    columns = (
        InRanges(column.tree, column.boundary) if name in named else column
        for name, column in zip(case.names, table.columns, strict=True)
    )
    return replace(table, columns=tuple(columns))


def multiset(case: Case, found: Released) -> Counter[object]:
    return Counter(zip(found, case.rows, zip(*case.sensitive.values(), strict=True), strict=True))


def cost(metric: str, recoding: Recoding) -> float:
    summary = ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, recoding.n_rows)
    return METRICS[metric].cost(METRICS[metric].of(summary))


def test_every_algorithm_with_this_option_is_here() -> None:
    taking = {name for name, entry in ALGORITHMS.items() if "ranges" in entry.option_names}
    assert {algorithm for algorithm, _ in LOCAL.values()} == taking - {"auto", "range"}  # auto has others release them


@EACH
@settings(max_examples=100)
@given(case=ranged_cases(models=random_models([COLUMN])))
def test_a_class_is_released_as_the_tight_range_of_its_values_and_satisfies(name: str, case: Case) -> None:
    table = table_of(case)
    recoding = run(name, case)
    if recoding is None:
        assert not oracle.judge(table, oracle.top(table)).satisfied
        return
    classes = rows_of_classes(released_labels(recoding))
    assert len(classes) == recoding.n_classes
    for labels, rows in classes.items():
        for j, (column, label) in enumerate(zip(table.columns, labels, strict=True)):
            values = {case.rows[row][j] for row in rows}
            if case.names[j] in case.options["ranges"] and None not in values:
                numbers = sorted(int(value) for value in values if value is not None)
                assert label == (str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}<={numbers[-1]}")
            else:  # nodes of the tree, and where numbers and missing values are mixed the node as well
                paths = [column.paths[value] for value in values]
                assert label == next(each for each in paths[0] if all(each in path for path in paths))
    good, whole = oracle.passes(table, table.models, classes)
    assert all(good.values())
    assert whole


@EACH
@settings(max_examples=100)
@given(case=ranged_cases(models=random_models([COLUMN])))
def test_a_range_keeps_the_boundaries_and_loses_no_more_than_the_node_above_it(name: str, case: Case) -> None:
    recoding = run(name, case)
    if recoding is None:
        return
    problem, _ = problem_of(case)
    codes = problem.table.codes[:, problem.table.row_tuple]
    assert count_violations(recoding, list(codes), problem.caps) == 0
    for metric in METRICS.values():
        if isinstance(metric, CellMetric):
            for j, (ranged, plain) in enumerate(zip(recoding.hierarchies, problem.hierarchies, strict=True)):
                tight, nodes = metric.cell(ranged), metric.cell(plain)
                for each, node in enumerate(recoding.nodes[:, j]):
                    low, high = int(ranged.first[node]), int(ranged.last[node])
                    mine = codes[j][recoding.row_class == each]
                    assert (low, high) == (mine.min(), mine.max()) or node < len(plain.labels)
                    assert tight[node] <= nodes[common_ancestor(plain, mine.tolist())] + 1e-12


@settings(max_examples=200)
@given(case=ranged_cases(max_rows=30, models=on_a_class))
def test_mondrian_cuts_ranges_as_working_record_by_record_does(case: Case) -> None:
    expected = local_oracle.mondrian(in_ranges(case), case.metric)
    recoding = run("mondrian", case)
    assert (expected is None) == (recoding is None)
    if expected is not None and recoding is not None:
        assert multiset(case, released_labels(recoding)) == multiset(case, expected)


@settings(max_examples=100)
@given(case=ranged_cases(max_rows=30, models=on_a_class))
def test_top_down_specializes_by_the_trees_and_then_releases_ranges(case: Case) -> None:
    expected = local_oracle.top_down(in_ranges(case))
    recoding = run("top-down", case)
    assert (expected is None) == (recoding is None)
    if expected is not None and recoding is not None:
        assert multiset(case, released_labels(recoding)) == multiset(case, expected)


@pytest.mark.parametrize("name", ["mondrian", "top-down", "greedy-clustering, faithful"])
@settings(max_examples=100)
@given(case=ranged_cases(models=random_models([COLUMN])))
def test_a_release_in_ranges_never_costs_more_than_one_in_nodes(name: str, case: Case) -> None:
    ranged, plain = run(name, case), run(name, replace(case, options={}))
    assert (ranged is None) == (plain is None)
    if ranged is not None and plain is not None:
        assert ranged.suppressed == plain.suppressed
        assert cost(case.metric, ranged) <= cost(case.metric, plain) + 1e-12


IN_ANY_ORDER = [name for name, (algorithm, _) in LOCAL.items() if not ALGORITHMS[algorithm].works_on_records]
"""The algorithms to which the order of the rows is nothing; to the others the pipeline gives them in one order."""


@pytest.mark.parametrize("name", IN_ANY_ORDER)
@settings(max_examples=40)
@given(case=ranged_cases(models=st.just((KAnonymity(2),))), random=st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_change_a_release_in_ranges(name: str, case: Case, random: Random) -> None:
    order = random.sample(range(len(case.rows)), len(case.rows))
    before, after = run(name, case), run(name, case.shuffled(order))
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert Counter(zip(released_labels(before), case.rows, strict=True)) == Counter(
            zip(released_labels(after), case.shuffled(order).rows, strict=True)
        )


@settings(max_examples=60)
@given(case=ranged_cases(models=st.just((KAnonymity(1),))), random=st.randoms(use_true_random=False))
def test_merging_costs_what_the_sum_of_cell_losses_grows_by(case: Case, random: Random) -> None:
    blocks = prepare(*problem_of(replace(case, boundaries=(), budget=0)))
    numbers = [random.randrange(4) for _ in case.rows]
    row_class = np.unique(numbers, return_inverse=True)[1].astype(np.int32)
    count, sizes = int(row_class.max()) + 1, np.bincount(row_class)

    def lost(classes: np.ndarray, column: int) -> float:
        """The losses of a column, summed over the records, by the values of each class."""
        low, high = class_extremes(
            blocks, np.unique(classes, return_inverse=True)[1].astype(np.int32), len(set(classes))
        )
        each = np.unique(classes, return_counts=True)[1]
        ranged = blocks.ranged.get(column)
        if ranged is not None:
            hierarchy, nodes = ranged.released(low[:, column], high[:, column])
            return float((hierarchy.loss[nodes] * each).sum())
        hierarchy = blocks.problem.hierarchies[column]
        pairs = zip(low[:, column].tolist(), high[:, column].tolist(), strict=True)
        return float(
            sum(hierarchy.loss[common_ancestor(hierarchy, ends)] * n for ends, n in zip(pairs, each, strict=True))
        )

    low, high = class_extremes(blocks, row_class, count)
    others, columns = np.arange(1, count), range(len(blocks.problem.hierarchies))
    grown = [
        sum(lost(np.where(row_class == other, 0, row_class), j) - lost(row_class, j) for j in columns)
        for other in others
    ]
    losses = np.stack([blocks.losses(j, low[:, j], high[:, j]) for j in columns], axis=1)
    assert merge_costs(blocks, low, high, losses, sizes, 0, others) == pytest.approx(grown, abs=1e-9)
