"""Columns that begin higher: the same labels above, the boundary kept, and measures by all values."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.hierarchies import boundary_caps, capped_levels
from shoal.io.spark.counts import CoarseColumn, _column, in_full
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.table.recoding import Recoding

KINDS: dict[str, tuple[Any, list[Any], Any]] = {
    "intervals": ({"intervals": [5, 10, 20]}, [18, 21, 24, 33, 47, None], None),
    "intervals to a boundary": ({"intervals": [5, 10, 20]}, [18, 21, 24, 33, 47, None], 2),
    "mask": ({"mask": "right"}, ["10115", "10117", "20095", "8033"], None),
    "dates": ({"dates": ["month", "year"]}, ["2020-01-03", "2020-01-09", "2021-02-01"], None),
    "uneven tree": ({"tree": {"A": {"B": ["x", "y"]}, "C": ["z"], "w": None}}, ["x", "y", "z", "w"], ["B", "C", "w"]),
}


def policy_of(hierarchy: Any, boundary: Any) -> shoal.Policy:
    column = {"role": "quasi", "hierarchy": hierarchy, **({} if boundary is None else {"boundary": boundary})}
    return shoal.Policy(columns={"q": column}, privacy=[{"model": "k-anonymity", "k": 2}])


def steps_of(kind: str) -> list[CoarseColumn]:
    hierarchy, values, boundary = KINDS[kind]
    column = _column("q", pa.array(values), policy_of(hierarchy, boundary))
    steps = [column]
    while steps[-1].can_rise:
        steps.append(replace(steps[-1], step=steps[-1].step + 1))
    return steps


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_of_the_hierarchy_says_the_same(kind: str) -> None:
    for coarse in steps_of(kind)[1:]:
        declared = coarse.declared()
        policy = policy_of(declared["hierarchy"], declared.get("boundary"))
        labels = coarse.labels.to_pylist()
        source = hierarchy_source(policy.columns["q"].hierarchy, policy.path("."), "q")
        built = source.build(labels, [1] * len(labels), "q")
        caps = boundary_caps(built.hierarchy, policy.columns["q"].boundary, "q")
        ladder = capped_levels(built.hierarchy, caps)
        for value, leaf in enumerate(coarse.leaves.tolist()):
            below = {coarse.hierarchy.labels[node] for node in coarse.ladder.nodes[coarse.step :, leaf]}
            above = {built.hierarchy.labels[node] for node in ladder.nodes[:, built.codes[value]]}
            assert above == below


@pytest.mark.parametrize("kind", KINDS)
def test_a_coarsened_column_still_tells_values_apart(kind: str) -> None:
    steps = steps_of(kind)
    assert len(steps) > 1
    assert all(len(coarse.book().labels) > 1 for coarse in steps)
    assert all(len(one.book().labels) >= len(two.book().labels) for one, two in pairwise(steps))


def test_cells_are_raised_as_the_hierarchy_says() -> None:
    coarse = steps_of("intervals")[1]
    assert coarse.raised(pa.array([21, 24, None, 18])).to_pylist() == ["[20, 25)", "[20, 25)", None, "[15, 20)"]
    assert coarse.level == 1


def test_measures_and_levels_count_from_the_values_of_the_data() -> None:
    coarse = steps_of("intervals")[1]
    declared = coarse.declared()
    policy = policy_of(declared["hierarchy"], None)
    labels = coarse.labels.to_pylist()
    source = hierarchy_source(policy.columns["q"].hierarchy, policy.path("."), "q")
    built = source.build(labels, [1] * len(labels), "q")
    nodes = np.unique(built.hierarchy.levels[1])[:, None].astype(np.int32)
    recoding = Recoding(("q",), (built.hierarchy,), np.zeros(1, dtype=np.int32), nodes, {"q": 1})
    full = in_full(recoding, {"q": coarse})
    labels = full.hierarchies[0].labels
    assert [labels[node] for node in full.nodes[:, 0]] == [built.hierarchy.labels[node] for node in nodes[:, 0]]
    assert full.levels == {"q": 2}
