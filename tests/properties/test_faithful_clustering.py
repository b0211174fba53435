"""GreedyCPKA against its pseudocode, its promises against exhaustion and the oracles of the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from oracles import campan_oracle
from oracles import lattice_oracle as oracle
from oracles.lattice_oracle import Label
from shoal.errors import InfeasibleError
from shoal.models import (
    AlphaKAnonymity,
    EntropyLDiversity,
    KAnonymity,
    Model,
    RecursiveCLDiversity,
    TCloseness,
)
from shoal.search.local.blocks import Blocks, Classes, prepare
from shoal.search.local.finish import finish
from shoal.search.local.pk_clustering import faithful_clusters
from shoal.table.recoding import SUPPRESSED
from support.model_cases import COLUMN, RANDOM, VALUES
from support.search_cases import SECOND, Case, cases, class_nodes, problem_of, random_models, table_of

pytestmark = pytest.mark.slow

SUPERSET_CLOSED = (
    "k-anonymity",
    "p-sensitive",
    "distinct-l-diversity",
    "p-alpha-sensitive",
    "p-plus-alpha-sensitive",
)
LIMITS = ("alpha-k-anonymity", "group-leakage", "entropy-l-diversity", "recursive-cl-diversity", "t-closeness")

Weights = dict[str, float]


def models_of(names: Sequence[str]) -> st.SearchStrategy[Any]:
    """One to four models of these names on either column; `placed` drops those on a column that a case lacks."""
    one = st.sampled_from(names).flatmap(lambda name: RANDOM[name])
    either = st.tuples(one, st.sampled_from((COLUMN, SECOND))).map(
        lambda pair: replace(pair[0], sensitive=pair[1]) if pair[0].column else pair[0]  # type: ignore[call-arg]
    )
    return st.lists(either, min_size=1, max_size=4).map(tuple)


def placed(case: Case) -> Case:
    models: tuple[Model, ...] = tuple(m for m in case.models if m.column is None or m.column in case.sensitive)
    return replace(case, models=models, budget=len(case.rows))


def faithful_cases(names: Sequence[str], *, max_rows: int = 20) -> st.SearchStrategy[Case]:
    """Cases that may leave out as much as they must."""
    return cases(max_rows=max_rows, models=models_of(names), eased=False).map(placed)


@st.composite
def weights(draw: st.DrawFn) -> Weights:
    """None, or of one or both columns, the same or very different; never all 0."""
    some = st.sampled_from([0, 0.1, 0.2, 0.3, 1 / 3, 0.7, 1, 2, 1e-9, 0.1234567890123])
    given_ = draw(st.just({}) | st.dictionaries(st.sampled_from((COLUMN, SECOND)), some))
    return given_ if any(given_.values()) else {}


def known(case: Case, given_: Weights) -> Weights:
    named = {name: weight for name, weight in given_.items() if name in case.sensitive}
    return named if any(named.values()) else {}


def clustered(case: Case, seed: int, given_: Weights) -> tuple[Blocks, Classes] | None:
    problem, engine = problem_of(case)
    try:
        blocks = prepare(problem, engine)
    except InfeasibleError:
        return None
    return blocks, faithful_clusters(blocks, seed=seed, weights=known(case, given_))


def clusters_of(classes: Classes) -> list[list[int]]:
    return [np.flatnonzero(classes == each).tolist() for each in range(int(classes.max()) + 1)]


def check_against_the_pseudocode(case: Case, seed: int, given_: Weights) -> None:
    expected = campan_oracle.greedy_cpka(table_of(case), seed=seed, weights=known(case, given_))
    outcome = clustered(case, seed, given_)
    if outcome is None:
        assert not expected
        return
    event(f"{min(len(expected), 4)} clusters")
    assert clusters_of(outcome[1]) == [sorted(cl) for cl in expected]


@settings(max_examples=250)
@given(faithful_cases(("k-anonymity", "p-sensitive", "distinct-l-diversity")), st.integers(0, 2**32), weights())
def test_the_clusters_are_those_of_the_pseudocode(case: Case, seed: int, given_: Weights) -> None:
    check_against_the_pseudocode(case, seed, given_)


@settings(max_examples=250)
@given(faithful_cases((*SUPERSET_CLOSED, *LIMITS, *LIMITS), max_rows=16), st.integers(0, 2**32), weights())
def test_the_clusters_of_any_other_model_follow_the_same_steps(case: Case, seed: int, given_: Weights) -> None:
    check_against_the_pseudocode(case, seed, given_)


SOFT: st.SearchStrategy[Model] = st.one_of(
    st.builds(AlphaKAnonymity, st.sampled_from([0.5, 0.6, 2 / 3, 0.75]), sensitive=st.just(COLUMN)),
    st.builds(
        AlphaKAnonymity,
        st.dictionaries(st.sampled_from(VALUES[:3]), st.sampled_from([0.25, 0.4, 0.5, 0.6]), min_size=1, max_size=2),
        sensitive=st.just(COLUMN),
    ),
    st.builds(EntropyLDiversity, st.sampled_from([1.5, 1.8, 2]), sensitive=st.just(COLUMN)),
    st.builds(RecursiveCLDiversity, st.just(2), c=st.sampled_from([1, 1.5, 2, 3]), sensitive=st.just(COLUMN)),
    st.builds(
        TCloseness,
        st.sampled_from([0.3, 0.4, 0.5, 0.6]),
        distance=st.sampled_from(["equal", "ordered", "hierarchical"]),
        sensitive=st.just(COLUMN),
    ),
)
"""Limits that several clusters of a small block can meet, and that one more record can break."""


@settings(max_examples=250)
@given(
    cases(max_rows=24, models=st.tuples(st.builds(KAnonymity, st.integers(1, 4)), SOFT), eased=False).map(placed),
    st.integers(0, 2**32),
)
def test_what_dispersed_records_break_is_mended_by_the_cheapest_merges(case: Case, seed: int) -> None:
    check_against_the_pseudocode(replace(case, boundaries=()), seed, {})


@settings(max_examples=150)
@given(faithful_cases(SUPERSET_CLOSED, max_rows=6), st.integers(0, 9))
def test_no_release_leaves_out_fewer_records(case: Case, seed: int) -> None:
    """Campan Properties 5 and 6; in people, only of models that are closed for them."""
    if not all(model.closed_for_people for model in case.models):
        case = replace(case, person=None)
    fewest = campan_oracle.fewest_left_out(table_of(case))
    outcome = clustered(case, seed, {})
    if outcome is None:
        assert fewest == len(case.rows)
    else:
        assert np.count_nonzero(outcome[1] == SUPPRESSED) == fewest


@settings(max_examples=250)
@given(cases(max_rows=40).map(placed), st.integers(0, 9), weights())
def test_every_cluster_satisfies_and_keeps_within_the_boundaries(case: Case, seed: int, given_: Weights) -> None:
    outcome = clustered(case, seed, given_)
    assume(outcome is not None)
    assert outcome is not None
    blocks, classes = outcome
    table, clusters = table_of(case), clusters_of(classes)
    specs = [spec for spec in table.models if spec["model"] != "alp-dif"]
    good, _ = oracle.passes(table, specs, {(str(each),): rows for each, rows in enumerate(clusters)})
    assert all(good.values())
    nodes = class_nodes(blocks, classes, len(clusters))
    for rows, released in zip(clusters, nodes, strict=True):
        names = tuple(tree.labels[node] for tree, node in zip(blocks.problem.hierarchies, released, strict=True))
        assert oracle.measure("constraint_violations", table, {names: rows}) == 0
    assert (classes[np.asarray(blocks.row_block) < 0] == SUPPRESSED).all()
    assert (classes[np.asarray(blocks.row_block) >= 0] >= 0).all()


@settings(max_examples=200)
@given(cases(max_rows=40, models=random_models((COLUMN,))).map(placed), st.integers(0, 9))
def test_the_release_of_the_clusters_satisfies_every_model(case: Case, seed: int) -> None:
    """Clusters that release the same tuple are one class, and (alp, dif) looks at all of them together."""
    outcome = clustered(case, seed, {})
    assume(outcome is not None)
    assert outcome is not None
    recoding = finish(*outcome)
    released: dict[tuple[Label, ...], list[int]] = {}
    for row, each in enumerate(recoding.row_class):
        if each >= 0:
            cells = zip(recoding.hierarchies, recoding.nodes[each], strict=True)
            released.setdefault(tuple(tree.labels[node] for tree, node in cells), []).append(row)
    table = table_of(case)
    good, whole = oracle.passes(table, table.models, released)
    assert whole
    assert all(good.values())


@settings(max_examples=100)
@given(cases(max_rows=40).map(placed), st.integers(0, 9), weights(), st.integers(0, 2**20))
def test_shuffled_rows_give_the_same_clusters_up_to_interchangeable_records(
    case: Case, seed: int, given_: Weights, shuffle: int
) -> None:
    order = Random(shuffle).sample(range(len(case.rows)), len(case.rows))
    before, after = clustered(case, seed, given_), clustered(case.shuffled(order), seed, given_)
    if before is None or after is None:
        assert before is after
        return
    assert kinds(case, before[1]) == kinds(case.shuffled(order), after[1])


def kinds(case: Case, classes: Classes) -> list[Counter[tuple[Label, ...]]]:
    """The records of each cluster as what they say, in the order of the clusters."""
    records = [
        (*row, *secrets) for row, secrets in zip(case.rows, zip(*case.sensitive.values(), strict=True), strict=True)
    ]
    return [Counter(records[row] for row in rows) for rows in clusters_of(classes)]
