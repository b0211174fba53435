"""The one builder of every hierarchy: from a table of labels, one row per level, to nodes in depth-first order.

A source says for each level which group each leaf belongs to and what the group is called. The builder checks that the
levels nest, orders the leaves so that every group is a range of codes, and gives one node to each set of values:
a group that repeats the label of the one group below it (``White;White;*``) is that same node, and the level stays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import TypeVar

import numpy as np

from shoal.errors import PolicyProblem
from shoal.formatting import listing
from shoal.hierarchies.hierarchy import ROOT_LABEL, BuiltHierarchy, FloatArray, Hierarchy, IntArray, Label
from shoal.hierarchies.problems import quoted, refuse, refuse_most

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Level:
    """One level: the group of each leaf, the label of each group, and how much of the domain each covers."""

    groups: IntArray
    labels: Sequence[Label]
    spans: FloatArray | None = None  # values of the domain that each group covers; ``None`` counts its leaves

    @staticmethod
    def of(labels: Iterable[Label]) -> Level:
        """Group leaves by label."""
        return Level.by(labels, lambda label: label)

    @staticmethod
    def by(keys: Iterable[Key], label: Callable[[Key], Label]) -> Level:
        """Group leaves by key; each distinct key is labelled once, and different keys have different labels."""
        index: dict[Key, int] = {}
        groups = np.fromiter((index.setdefault(key, len(index)) for key in keys), dtype=np.int32)
        return Level(groups, [label(key) for key in index])

    @staticmethod
    def root(n_leaves: int, label: Label = ROOT_LABEL) -> Level:
        """The level at which all leaves are one."""
        return Level(np.zeros(n_leaves, dtype=np.int32), [label])

    def with_missing(self, *, joins: bool) -> Level:
        """The level with the missing value as one more leaf: in the only group, or in a group of its own."""
        group = 0 if joins else len(self.labels)
        groups = np.append(self.groups, np.int32(group)).astype(np.int32)
        spans = self.spans
        if spans is not None:
            spans = spans + 1.0 if joins else np.append(spans, 1.0)
        return Level(groups, self.labels if joins else [*self.labels, None], spans)

    def reordered(self, order: IntArray) -> Level:
        """The level with its leaves in another order."""
        return Level(self.groups[order], self.labels, self.spans)


def levels_from_paths(paths: Sequence[Sequence[Label]]) -> list[Level]:
    """Levels from each leaf's labels up to the root (the leaf first), for trees of uneven depth.

    Levels are counted from the root: a leaf of depth d in a tree of height H stays itself up to level H - d.
    """
    height = max(len(path) for path in paths) - 1
    return [Level.of(path[max(0, level - height + len(path) - 1)] for path in paths) for level in range(height + 1)]


def distinct_leaves(paths: Iterable[Sequence[Label]], where: str) -> list[tuple[Label, ...]]:
    """Each leaf's path once; a leaf with two different paths has two parents, which is a problem."""
    known: dict[Label, tuple[Label, ...]] = {}
    problems = []
    for each in paths:
        path = tuple(each)
        before = known.setdefault(path[0], path)
        if before != path:
            one, other = next((a, b) for a, b in zip_longest(before, path) if a != b)
            message = f"the value {quoted(path[0])} is listed under both {quoted(one)} and {quoted(other)}."
            facts = {"value": path[0], "parents": (one, other)}
            problems.append(PolicyProblem(where, message, "Keep one of the two.", facts, code="two-parents"))
    refuse_most(problems, "values with two parents")
    return list(known.values())


def assemble(levels: Sequence[Level], where: str, *, missing: bool = False) -> Hierarchy:
    """Build the hierarchy of a table of levels; the first level is the leaves, each a group of its own.

    A root ``*`` is added where the last level has several groups. With ``missing`` the missing value is added unless
    it is declared: it hangs directly under the root, so that it stays itself at every level below.
    """
    table = list(levels)
    if len(table[-1].labels) > 1:
        table.append(Level.root(len(table[0].groups)))
    if missing and None not in table[0].labels:
        table = [*(level.with_missing(joins=False) for level in table[:-1]), table[-1].with_missing(joins=True)]
    if not len(table[0].groups):
        fix = "Give the column a value, or leave it out."
        refuse([PolicyProblem(where, "there is no value to build a hierarchy for.", fix, code="no-values")])
    _refuse_splits(table, where)
    order = _depth_first(table)
    return _nodes([level.reordered(order) for level in table], where)


def build(
    levels: Sequence[Level], values: Sequence[Label], leaves: Mapping[str, str] | None, where: str
) -> BuiltHierarchy:
    """Assemble, and find the leaf of each value; ``leaves`` maps a value to its leaf's label where they differ."""
    hierarchy = assemble(levels, where, missing=None in values)
    code_of = {label: code for code, label in enumerate(hierarchy.labels[: hierarchy.n_leaves])}
    labels = values if leaves is None else [None if value is None else leaves[value] for value in values]
    return BuiltHierarchy(
        hierarchy, np.fromiter((code_of[label] for label in labels), dtype=np.int32, count=len(values))
    )


def _refuse_splits(table: Sequence[Level], where: str) -> None:
    """Every group must lie within one group of the next level."""
    problems = []
    for number, (lower, upper) in enumerate(pairwise(table)):
        above = np.zeros(len(lower.labels), dtype=np.int32)
        above[lower.groups] = upper.groups
        stray = np.flatnonzero(above[lower.groups] != upper.groups)
        groups, at = np.unique(lower.groups[stray], return_index=True)
        for group, leaf in zip(groups.tolist(), stray[at].tolist(), strict=True):
            parents = sorted([upper.labels[above[group]], upper.labels[upper.groups[leaf]]], key=str)
            message = (
                f"{quoted(lower.labels[group])} (level {number}) lies under both "
                f"{quoted(parents[0])} and {quoted(parents[1])} (level {number + 1})."
            )
            fix = "A group must lie within one group of the next level; give its parts different labels."
            facts = {"label": lower.labels[group], "level": number, "parents": tuple(parents)}
            problems.append(PolicyProblem(where, message, fix, facts, code="two-parents"))
    refuse_most(problems, "groups that the next level splits")


def _depth_first(table: Sequence[Level]) -> IntArray:
    """The order of leaves that makes every group contiguous and keeps the declared order otherwise."""
    indices = np.arange(len(table[0].groups))
    keys = []
    for level in table:
        earliest = np.full(len(level.labels), len(indices))
        np.minimum.at(earliest, level.groups, indices)
        keys.append(earliest[level.groups])
    return np.lexsort(keys).astype(np.int32)


def _nodes(table: Sequence[Level], where: str) -> Hierarchy:
    """Give each set of values its node, level by level; the leaves come in depth-first order."""
    n_leaves = len(table[0].groups)
    labels = [table[0].labels[group] for group in table[0].groups.tolist()]
    first = last = np.arange(n_leaves, dtype=np.int32)
    spans = np.ones(n_leaves)
    rows = [first]
    for level in table[1:]:
        starts = np.flatnonzero(np.diff(level.groups, prepend=-1)).astype(np.int32)
        ends = np.append(starts[1:] - 1, n_leaves - 1).astype(np.int32)
        groups = level.groups[starts]
        names = [level.labels[group] for group in groups.tolist()]
        below = rows[-1][starts]
        unary = (first[below] == starts) & (last[below] == ends)
        repeats = [alone and labels[node] == name for alone, node, name in zip(unary, below, names, strict=True)]
        new = ~np.array(repeats, dtype=bool)
        nodes = np.where(new, len(labels) + np.cumsum(new) - 1, below).astype(np.int32)
        rows.append(np.repeat(nodes, ends - starts + 1))
        labels.extend(name for name, is_new in zip(names, new, strict=True) if is_new)
        first, last = np.append(first, starts[new]), np.append(last, ends[new])
        sizes = (ends - starts + 1).astype(np.float64) if level.spans is None else level.spans[groups]
        spans = np.append(spans, sizes[new])
    _refuse_shared_labels(labels, first, last, where)
    parents = np.full(len(labels), -1, dtype=np.int32)
    for lower, upper in pairwise(rows):
        raised = lower != upper
        parents[lower[raised]] = upper[raised]
    return Hierarchy(tuple(labels), parents, first, last, np.array(rows, dtype=np.int32), spans)


def _refuse_shared_labels(labels: Sequence[Label], first: IntArray, last: IntArray, where: str) -> None:
    """A released label must name one set of values and no other."""
    node_of: dict[Label, int] = {}
    problems = []
    for node, label in enumerate(labels):
        other = node_of.setdefault(label, node)
        if other == node:
            continue
        sets = [_set_text(labels, int(first[each]), int(last[each])) for each in (other, node)]
        message = f"the label {quoted(label)} would name two different nodes: {sets[0]} and {sets[1]}."
        fix, facts = "Give one of the two another label.", {"label": label, "nodes": (sets[0], sets[1])}
        problems.append(PolicyProblem(where, message, fix, facts, code="label-used-twice"))
    refuse_most(problems, "labels that name two nodes")


def _set_text(labels: Sequence[Label], first: int, last: int) -> str:
    """A set of leaves for a message."""
    return "{" + listing([quoted(label) for label in labels[first : last + 1]], most=4) + "}"
