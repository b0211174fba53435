"""What every built hierarchy must satisfy, written from the definitions and not from the builder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from shoal.errors import PolicyProblem
from shoal.hierarchies import BuiltHierarchy, HierarchyError, HierarchySource, Label


def built(source: HierarchySource, values: Sequence[Label], counts: list[int] | None = None) -> BuiltHierarchy:
    result = source.build(values, counts or [1] * len(values), "columns.x.hierarchy")
    check(result)
    for value, code in zip(values, result.codes.tolist(), strict=True):
        if value is None:
            assert result.hierarchy.labels[code] is None
    return result


def check(result: BuiltHierarchy) -> None:
    hierarchy = result.hierarchy
    nodes = range(len(hierarchy.labels))
    assert len(set(hierarchy.labels)) == len(hierarchy.labels)
    assert hierarchy.levels[0].tolist() == list(range(hierarchy.n_leaves))
    assert set(hierarchy.levels[-1].tolist()) == {hierarchy.root}
    assert hierarchy.parents[hierarchy.root] == -1
    below: dict[int, set[int]] = {node: set() for node in nodes}
    for leaf in range(hierarchy.n_leaves):
        path = hierarchy.path(leaf)
        assert path[-1] == hierarchy.root
        for node in path:
            below[node].add(leaf)
        row = hierarchy.levels[:, leaf].tolist()
        assert [node for place, node in enumerate(row) if place == 0 or row[place - 1] != node] == path
    for node in nodes:
        assert below[node] == set(range(hierarchy.first[node], hierarchy.last[node] + 1))
        parent = int(hierarchy.parents[node])
        if parent >= 0:
            assert hierarchy.spans[node] <= hierarchy.spans[parent]
    for lower, upper in pairwise(hierarchy.levels.tolist()):
        seen: dict[int, int] = {}
        assert all(seen.setdefault(one, other) == other for one, other in zip(lower, upper, strict=True))
    for array in (hierarchy.parents, hierarchy.first, hierarchy.last, hierarchy.levels, result.codes):
        assert array.dtype == "int32"
    assert hierarchy.spans.dtype == "float64"


def rows(result: BuiltHierarchy) -> dict[Label, list[Label]]:
    """Each leaf's label at level 1, 2, … up to the root."""
    hierarchy = result.hierarchy
    return {
        hierarchy.labels[column[0]]: [hierarchy.labels[node] for node in column[1:]]
        for column in hierarchy.levels.T.tolist()
    }


def leaves(result: BuiltHierarchy) -> list[Label]:
    return list(result.hierarchy.labels[: result.hierarchy.n_leaves])


def same(one: BuiltHierarchy, other: BuiltHierarchy) -> bool:
    return (
        one.hierarchy.labels == other.hierarchy.labels
        and one.hierarchy.parents.tolist() == other.hierarchy.parents.tolist()
        and one.hierarchy.levels.tolist() == other.hierarchy.levels.tolist()
        and one.hierarchy.spans.tolist() == other.hierarchy.spans.tolist()
    )


def refused(
    source: HierarchySource, values: Sequence[Label], code: str, *parts: str, counts: list[int] | None = None
) -> list[PolicyProblem]:
    """Build in vain: every problem has the code, and each part is named in one. Gives the problems."""
    with pytest.raises(HierarchyError) as caught:
        source.build(values, counts or [1] * len(values), "columns.x.hierarchy")
    problems = list(caught.value.problems)
    assert {(problem.where, problem.code) for problem in problems} == {("columns.x.hierarchy", code)}
    for part in parts:
        assert any(part in str(problem) for problem in problems), f"{part!r} is not in {problems}"
    return problems
