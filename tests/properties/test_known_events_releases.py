"""Releases under ``events``: whichever algorithm made them, k people fit any known records; no node is missed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shoal
from oracles import known_records_oracle as oracle
from shoal.encode.resolve import resolve
from shoal.errors import InfeasibleError
from shoal.io.source import read_distinct
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from shoal.search.lattice.incognito import all_minimal_nodes
from support.attack_cases import table_of

pytestmark = pytest.mark.slow

NAMES = ("patient", "age", "month", "illness")
VISITS = st.lists(
    st.tuples(
        st.integers(0, 7).map(str), st.integers(1, 4).map(str), st.integers(1, 4).map(str), st.sampled_from("xyz")
    ),
    min_size=4,
    max_size=26,
)
Rows = Sequence[tuple[str, str, str, str]]


def policy_for(algorithm: str, k: int, events: int, suppression: float = 0, **others: Any) -> shoal.Policy:
    options: dict[str, Any] = {"name": algorithm}
    if algorithm == "range":
        options |= {"group": {"month": 2}, "ranges": ["age"], "safe": True}
    return shoal.Policy(
        columns={
            "patient": {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"intervals": [2]}},
            "month": {"role": "quasi", "hierarchy": {"tree": {"a": ["1", "2"], "b": ["3", "4"]}}},
            "illness": {"role": "sensitive"},
        },
        person={"column": "patient", "events": events},
        privacy=[{"model": "k-anonymity", "k": k}, *others.pop("models", ())],
        algorithm=options,
        suppression=suppression,
        **others,
    )


def classes_of(rows: Rows, policy: shoal.Policy) -> list[tuple[int, str]]:
    """The class and the person of each released record."""
    release = shoal.anonymize(table_of(NAMES, rows), policy)
    owner = release.result.record_recoding.row_class.tolist()
    return [(cls, row[0]) for cls, row in zip(owner, rows, strict=True) if cls >= 0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.filter_too_much])  # many have no release
@given(
    rows=VISITS,
    k=st.integers(2, 3),
    events=st.integers(2, 3),
    suppression=st.sampled_from([0, 0.2]),
    models=st.sampled_from([(), ({"model": "t-closeness", "t": 0.6},)]),
)
def test_k_people_fit_any_known_records(
    algorithm: str, rows: Rows, k: int, events: int, suppression: float, models: Sequence[Any]
) -> None:
    try:
        pairs = classes_of(rows, policy_for(algorithm, k, events, suppression, models=models))
    except InfeasibleError:
        assume(False)
    assert oracle.fewest(oracle.by_person(pairs), events) >= k
    assert len(pairs) >= (1 - suppression) * len(rows)


@settings(max_examples=40)
@given(rows=VISITS, k=st.integers(2, 3), events=st.integers(2, 3))
def test_the_minimal_nodes_are_those_of_the_definition(rows: Rows, k: int, events: int) -> None:
    policy = policy_for("incognito", k, events)
    problem = resolve(policy, read_distinct(table_of(NAMES, rows), policy, NAMES)[0]).problem
    engine = LocalEngine(problem.table, problem.ladders, problem.domains)
    satisfying = set()
    for node in itertools.product(*map(range, problem.shape)):
        owner = engine.classes(node).tuple_class[problem.table.row_tuple]
        weights = np.ones(len(owner), dtype=int) if problem.table.weights is None else problem.table.weights
        assert problem.table.person is not None
        pairs = np.repeat(np.stack([owner, problem.table.person], axis=1), weights, axis=0)
        if oracle.fewest(oracle.by_person(map(tuple, pairs.tolist())), events) >= k:
            satisfying.add(node)
    for node in satisfying:  # what holds at a node holds above it
        raised = ((*node[:j], node[j] + 1, *node[j + 1 :]) for j in range(len(node)))
        assert all(
            each in satisfying for each in raised if all(a < b for a, b in zip(each, problem.shape, strict=True))
        )
    minimal = {
        node
        for node in satisfying
        if not any(other != node and all(a <= b for a, b in zip(other, node, strict=True)) for other in satisfying)
    }
    assert set(all_minimal_nodes(problem, engine)) == minimal
