"""One step less generalization in one column: what it would make of a class, and what stands against it.

In a full-domain recoding the column goes one step down the lattice for all records, and the node is judged afresh. In a
local one only the class changes: its records go to the children of its node in the column, and the other columns stay
as they are; a part that then releases the same tuple as another class is one class with it. Two things are tried: that
all parts go, and that only some do while the others stay together as they were - the part of the record that is asked
about, or else the parts that hold by themselves. A range has no children: it is parted at the children of the lowest
node above it, each part released as the range of its own values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.hierarchies.ranges import RangedHierarchy, range_label
from shoal.metrics import ReleaseSummary
from shoal.search.diagnosis.failures import FinerPart, Split, judge, lacks
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import evaluate_stats
from shoal.search.lattice.nodes import Node, summarize
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Histogram, Mask
from shoal.table.recoding import Recoding

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Solution:
    """A recoding and the problem that it solves."""

    problem: Problem
    recoding: Recoding

    @cached_property
    def engine(self) -> LocalEngine:
        """Groups tuples at lattice nodes."""
        return LocalEngine(self.problem.table, self.problem.ladders, self.problem.domains)

    @cached_property
    def node(self) -> Node | None:
        """The lattice node of a full-domain recoding; None for a local one."""
        levels = self.recoding.levels
        if levels is None:
            return None
        named = zip(self.problem.table.quasi, self.problem.ladders, strict=True)
        return tuple(ladder.nominal.index(levels[name]) for name, ladder in named)

    @cached_property
    def stats(self) -> ClassStats:
        """Statistics of the released classes."""
        rows = np.flatnonzero(self.recoding.row_class >= 0)
        return self.stats_of(rows, self.recoding.row_class[rows].astype(np.int64), self.recoding.n_classes)

    @cached_property
    def measure(self) -> float:
        """What the search minimizes, of the release."""
        return self.problem.metric.of(ReleaseSummary.of(self.recoding))

    def stats_of(self, rows: Rows, owner: NDArray[np.int64], n_classes: int) -> ClassStats:
        """Statistics of the classes that some rows are in."""
        histograms = {
            name: Histogram.of(
                owner, self.problem.table.row_sensitive[name][rows], n_classes, len(self.problem.domains[name].values)
            )
            for name in self.problem.sensitive_columns
        }
        sizes = np.bincount(owner, minlength=n_classes).astype(np.int64)
        return ClassStats(sizes, histograms, self.problem.domains)

    def codes(self, rows: Rows, column: int) -> NDArray[np.int32]:
        """The leaf codes of some rows in a column."""
        found: NDArray[np.int32] = self.problem.table.codes[column][self.problem.table.row_tuple[rows]]
        return found


def finer(solution: Solution, rows: Rows, column: int, own: int | None = None) -> tuple[Split, ...]:
    """What one step less would make of the class of these rows; empty where the column is released as it is.

    ``own`` is the row that is asked about, if one is.
    """
    if solution.node is not None:
        return _step_down(solution, solution.node, rows, column, own) if solution.node[column] else ()
    at = int(solution.recoding.row_class[rows[0]])
    if solution.recoding.nodes[at, column] < solution.recoding.hierarchies[column].n_leaves:
        return ()
    return _parted(solution, at, rows, column, own)


def _step_down(solution: Solution, node: Node, rows: Rows, column: int, own: int | None) -> tuple[Split, ...]:
    problem, table = solution.problem, solution.problem.table
    lower = (*node[:column], node[column] - 1, *node[column + 1 :])
    grouping = solution.engine.classes(lower)
    stats = solution.engine.stats(grouping, problem.sensitive_columns)
    classes = grouping.tuple_class[table.row_tuple[rows]]
    values = problem.ladders[column].nodes[lower[column]][solution.codes(rows, column)]
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    at = classes[first].tolist()
    mine = None if own is None else int(values[rows == own][0])
    labels = problem.hierarchies[column].labels
    lacking = lacks(problem.models, stats, at)
    parts = [
        FinerPart(labels[value], int(count), int(stats.sizes[index]), lack, value == mine)
        for value, count, index, lack in zip(distinct.tolist(), counts, at, lacking, strict=True)
    ]
    judgement = judge(problem.models, stats, problem.budget)
    measure = None
    if judgement.holds:
        kept = evaluate_stats(problem.models, stats, problem.budget)[1]
        measure = problem.metric.of(summarize(problem, lower, grouping, kept))
    return (Split(tuple(parts), None, judgement, measure),)


@dataclass(frozen=True, eq=False)
class _Parting:
    """A class of a local recoding, parted in one column."""

    at: int  # the class
    rows: Rows
    part: NDArray[np.int64]  # the part that each row goes to
    labels: tuple[Label, ...]
    joined: tuple[int | None, ...]  # the other class that releases the tuple of each part already, if one does
    own: int | None  # the part of the record that is asked about

    @property
    def records(self) -> NDArray[np.int64]:
        """Rows of each part."""
        return np.bincount(self.part, minlength=len(self.labels)).astype(np.int64)

    @classmethod
    def of(cls, solution: Solution, at: int, rows: Rows, column: int, own: int | None) -> _Parting:
        hierarchy, node = solution.recoding.hierarchies[column], int(solution.recoding.nodes[at, column])
        codes = solution.codes(rows, column)
        distinct, part = np.unique(_children(hierarchy, node, codes), return_inverse=True)
        order = np.lexsort((codes, part))
        ends = np.searchsorted(part[order], np.arange(len(distinct) + 1))
        low, high = codes[order][ends[:-1]].tolist(), codes[order][ends[1:] - 1].tolist()
        found = [_released(hierarchy, node, *each) for each in zip(distinct.tolist(), low, high, strict=True)]
        twins = _twins(solution.recoding, at, column)
        joined = tuple(None if released is None else twins.get(released) for released, _ in found)
        mine = None if own is None else int(part[rows == own][0])
        return cls(at, rows, part.astype(np.int64), tuple(label for _, label in found), joined, mine)


def _children(hierarchy: Hierarchy, node: int, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The child of a node that each leaf lies under; of a range, the child of the lowest node above it."""
    above = int(hierarchy.parents[node]) if _is_range(hierarchy, node) else node
    leaves, place = np.unique(codes, return_inverse=True)
    paths = [hierarchy.path(leaf) for leaf in leaves.tolist()]
    return np.array([path[path.index(above) - 1] for path in paths], dtype=np.int64)[place]


def _is_range(hierarchy: Hierarchy, node: int) -> bool:
    return isinstance(hierarchy, RangedHierarchy) and node >= len(hierarchy.tree.labels)


def _released(hierarchy: Hierarchy, node: int, child: int, low: int, high: int) -> tuple[int | None, Label]:
    """The node and label of a part: the child, or of a range the part's own range; no node where no class has it."""
    if not _is_range(hierarchy, node):
        return child, hierarchy.labels[child]
    if low == high:
        return low, hierarchy.labels[low]
    label = range_label(hierarchy, low, high)
    return hierarchy.by_label.get(label), label


def _twins(recoding: Recoding, at: int, column: int) -> dict[int, int]:
    """The classes that release what a class does but for one column, by what they release there."""
    others = [j for j in range(recoding.nodes.shape[1]) if j != column]
    same = np.flatnonzero((recoding.nodes[:, others] == recoding.nodes[at, others]).all(axis=1))
    return {int(recoding.nodes[each, column]): int(each) for each in same if each != at}


def _parted(solution: Solution, at: int, rows: Rows, column: int, own: int | None) -> tuple[Split, ...]:
    """A class parted in one column, all of it and, where that fails, a part of it alone."""
    parting = _Parting.of(solution, at, rows, column, own)
    n_parts = len(parting.labels)
    whole = _split(solution, parting, np.ones(n_parts, dtype=np.bool_))
    if parting.own is not None:
        going = np.arange(n_parts) == parting.own
    else:
        going = np.array([not part.lacks for part in whole.parts], dtype=np.bool_)
    if whole.judgement.clean or going.all() or not going.any():
        return (whole,)
    return (whole, _split(solution, parting, going))


def _split(solution: Solution, parting: _Parting, going: Mask) -> Split:
    """The release with some parts of a class released finer and the others together as they were."""
    parts = np.flatnonzero(going).tolist()
    joined = [parting.joined[place] for place in parts]
    stats = _changed(solution, parting, going, parts, joined)
    models = solution.problem.models
    records, numbers = parting.records, list(range(len(parts) + (not going.all())))
    lacking = lacks(models, stats, numbers)
    described = [
        FinerPart(
            parting.labels[place], int(records[place]), int(stats.sizes[number]), lacking[number], place == parting.own
        )
        for number, place in enumerate(parts)
    ]
    rest = None
    if not going.all():
        staying = int(records[~going].sum())
        own = parting.own is not None and not going[parting.own]
        rest = FinerPart(None, staying, int(stats.sizes[len(parts)]), lacking[-1], own)
    allowed = solution.problem.budget - solution.recoding.suppressed
    return Split(tuple(described), rest, judge(models, stats, allowed))


def _changed(
    solution: Solution, parting: _Parting, going: Mask, parts: Sequence[int], joined: Sequence[int | None]
) -> ClassStats:
    """Statistics of the changed release: the parts that go first, then what stays, then all other classes."""
    number = np.full(len(parting.labels), len(parts), dtype=np.int64)
    number[going] = np.arange(len(parts))
    target = np.full(solution.recoding.n_classes + 1, -1, dtype=np.int64)  # the last for rows that are in no class
    for place, other in enumerate(joined):
        if other is not None:
            target[other] = place
    joining = np.flatnonzero(target[solution.recoding.row_class] >= 0)
    rows = np.concatenate([parting.rows, joining])
    owner = np.concatenate([number[parting.part], target[solution.recoding.row_class[joining]]])
    others = target[:-1] < 0
    others[parting.at] = False
    return _together(solution.stats_of(rows, owner, int(owner.max()) + 1), solution.stats.keep(others))


def _together(one: ClassStats, other: ClassStats) -> ClassStats:
    """The classes of both, one after the other."""
    histograms = {}
    for name, first in one.histograms.items():
        second = other.histograms[name]
        histograms[name] = Histogram(
            np.concatenate([first.starts, first.starts[-1] + second.starts[1:]]),
            np.concatenate([first.values, second.values]),
            np.concatenate([first.counts, second.counts]),
        )
    return ClassStats(np.concatenate([one.sizes, other.sizes]), histograms, one.domains)
