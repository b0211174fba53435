"""The one builder of every hierarchy: from the groups of leaves at each level to nodes in depth-first order.

The builder checks that the levels nest, orders the leaves so that every group is a range of codes, and gives one node
to each set of values: a group that repeats the label of the one group below it (``White;White;*``) is that same node,
and the level stays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple, TypeVar

import numpy as np

from shoal.formatting import listing
from shoal.hierarchies.hierarchy import ROOT_LABEL, BuiltHierarchy, Hierarchy, IntArray, Label
from shoal.hierarchies.problems import Problems, quoted, refuse

Path = tuple[Label, ...]  # the labels of a leaf from itself up to the root
Key = TypeVar("Key", bound=Hashable)


class Level(NamedTuple):
    """The group of each leaf at one level, and the label of each group."""

    groups: IntArray
    labels: list[Label]

    @staticmethod
    def of(labels: Iterable[Label]) -> Level:
        """Group leaves by label."""
        return Level.by(labels, lambda label: label)

    @staticmethod
    def by(keys: Iterable[Key], label_of: Callable[[Key], Label]) -> Level:
        """Group leaves by key; each distinct key is labelled once."""
        index: dict[Key, int] = {}
        groups = np.array([index.setdefault(key, len(index)) for key in keys], dtype=np.int32)
        return Level(groups, [label_of(key) for key in index])

    @staticmethod
    def root(n_leaves: int, label: Label = ROOT_LABEL) -> Level:
        """The level at which all leaves are one group."""
        return Level(np.zeros(n_leaves, dtype=np.int32), [label])

    def joined(self, labels: Iterable[Label]) -> Level:
        """The level at which the groups that are given the same label are one."""
        above = Level.of(labels)
        return Level(above.groups[self.groups], above.labels)

    def with_missing(self) -> Level:
        """The level with one more leaf, the missing value, in a group of its own."""
        return Level(np.append(self.groups, np.int32(len(self.labels))), [*self.labels, None])


def levels_of_paths(paths: Sequence[Path]) -> list[Level]:
    """The levels of some paths, one for each leaf; a leaf with a shorter path stays itself at the lowest levels."""
    longest = max(len(path) for path in paths)
    return [Level.of([path[max(0, len(path) - depth)] for path in paths]) for depth in range(longest, 0, -1)]


def distinct_leaves(paths: Iterable[Path], where: str) -> list[Path]:
    """Each leaf's path once; a leaf with two different paths has two parents, which is a problem."""
    known: dict[Label, Path] = {}
    problems = Problems(where)
    for path in paths:
        before = known.setdefault(path[0], path)
        if before != path:
            one, other = next((a, b) for a, b in zip_longest(before, path) if a != b)
            message = f"the value {quoted(path[0])} is listed under both {quoted(one)} and {quoted(other)}."
            problems.add(message, "Keep one of the two.", code="two-parents", value=path[0], parents=(one, other))
    problems.refuse("values with two parents")
    return list(known.values())


def build(
    levels: Sequence[Level],
    values: Sequence[Label],
    where: str,
    *,
    leaf_of: Mapping[str, str] | None = None,
    span: Callable[[Label], float] | None = None,
) -> BuiltHierarchy:
    """Build the hierarchy of some levels, of which the first is the leaves, and find the leaf of each value.

    A root ``*`` is added where the last level has several groups. A missing value that is no leaf hangs under the
    root: it stays itself at every level below.

    ``leaf_of`` maps a value to its leaf's label where they differ; ``span`` counts the values of the domain that a
    group covers, which are its leaves otherwise.
    """
    table = list(levels)
    n_leaves = len(table[0].groups)
    if len(table[-1].labels) > 1:
        table.append(Level.root(n_leaves))
    if None in values and None not in table[0].labels:
        n_leaves += 1
        table = [*(level.with_missing() for level in table[:-1]), Level.root(n_leaves, table[-1].labels[0])]
    if not n_leaves:
        fix = "Give the column a value, or leave it out."
        refuse(where, "there is no value to build a hierarchy for.", fix, code="no-values")
    _refuse_splits(table, where)
    order = _depth_first(table)
    hierarchy = _nodes([Level(level.groups[order], level.labels) for level in table], span, where)
    code_of = {label: code for code, label in enumerate(hierarchy.labels[: hierarchy.n_leaves])}
    leaves = values if leaf_of is None else [None if value is None else leaf_of[value] for value in values]
    return BuiltHierarchy(hierarchy, np.array([code_of[leaf] for leaf in leaves], dtype=np.int32))


def _refuse_splits(levels: Sequence[Level], where: str) -> None:
    """Every group must lie within one group of the next level."""
    problems = Problems(where)
    for number, (lower, upper) in enumerate(pairwise(levels)):
        above = np.zeros(len(lower.labels), dtype=np.int32)
        above[lower.groups] = upper.groups
        stray = np.flatnonzero(above[lower.groups] != upper.groups)
        groups, at = np.unique(lower.groups[stray], return_index=True)
        for group, leaf in zip(groups.tolist(), stray[at].tolist(), strict=True):
            label = lower.labels[group]
            one, other = sorted([upper.labels[above[group]], upper.labels[upper.groups[leaf]]], key=str)
            parents = f"{quoted(one)} and {quoted(other)} (level {number + 1})"
            message = f"{quoted(label)} (level {number}) lies under both {parents}."
            fix = "A group must lie within one group of the next level; give its parts different labels."
            problems.add(message, fix, code="two-parents", label=label, level=number, parents=(one, other))
    problems.refuse("groups that the next level splits")


def _depth_first(levels: Sequence[Level]) -> IntArray:
    """The order of leaves that makes every group contiguous and keeps the declared order otherwise."""
    indices = np.arange(len(levels[0].groups))
    keys = []
    for level in levels:
        earliest = np.full(len(level.labels), len(indices))
        np.minimum.at(earliest, level.groups, indices)
        keys.append(earliest[level.groups])
    return np.lexsort(keys).astype(np.int32)


def _nodes(levels: Sequence[Level], span: Callable[[Label], float] | None, where: str) -> Hierarchy:
    """Give each set of values its node, level by level; the leaves come in depth-first order."""
    n_leaves = len(levels[0].groups)
    labels = [levels[0].labels[group] for group in levels[0].groups.tolist()]
    first = last = np.arange(n_leaves, dtype=np.int32)
    spans = np.ones(n_leaves)
    rows = [first]
    for level in levels[1:]:
        starts = np.flatnonzero(np.diff(level.groups, prepend=-1)).astype(np.int32)
        ends = np.append(starts[1:] - 1, n_leaves - 1).astype(np.int32)
        names = [level.labels[group] for group in level.groups[starts].tolist()]
        below = rows[-1][starts]
        unary = (first[below] == starts) & (last[below] == ends)
        below_names = [labels[node] for node in below.tolist()]
        same_name = [name == below_name for name, below_name in zip(names, below_names, strict=True)]
        new = ~(unary & np.array(same_name, dtype=bool))
        nodes = np.where(new, len(labels) + np.cumsum(new) - 1, below).astype(np.int32)
        rows.append(np.repeat(nodes, ends - starts + 1))
        labels.extend(name for name, is_new in zip(names, new, strict=True) if is_new)
        first, last = np.append(first, starts[new]), np.append(last, ends[new])
        sizes = ends - starts + 1 if span is None else np.array([span(name) for name in names])
        spans = np.append(spans, sizes[new].astype(np.float64))
    _refuse_shared_labels(labels, first, last, where)
    parents = np.full(len(labels), -1, dtype=np.int32)
    for lower, upper in pairwise(rows):
        raised = lower != upper
        parents[lower[raised]] = upper[raised]
    return Hierarchy(tuple(labels), parents, first, last, np.array(rows, dtype=np.int32), spans)


def _refuse_shared_labels(labels: Sequence[Label], first: IntArray, last: IntArray, where: str) -> None:
    """A released label must name one set of values and no other."""
    node_of: dict[Label, int] = {}
    problems = Problems(where)
    for node, label in enumerate(labels):
        other = node_of.setdefault(label, node)
        if other == node:
            continue
        leaves = [[quoted(leaf) for leaf in labels[first[each] : last[each] + 1]] for each in (other, node)]
        one, two = (f"{{{listing(each, most=4)}}}" for each in leaves)
        message = f"the label {quoted(label)} would name two different nodes: {one} and {two}."
        fix = "Give one of the two another label."
        problems.add(message, fix, code="label-used-twice", label=label, nodes=(one, two))
    problems.refuse("labels that name two nodes")
