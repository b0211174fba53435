"""One step less generalization in one column: what it would make of a class, and what stands against it.

In a full-domain recoding the column goes one step down the lattice for all records, and the node is judged afresh. In a
local one only the class changes: its records go to the children of its node in the column; a part that then releases
the same tuple as another class is one class with it. Two things are tried: that all parts go, and that only some do
while the others stay together as they were - the part of the record that is asked about, or else the parts that hold by
themselves. A range is parted at the children of the lowest node above it, each part the range of its own values.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.ranges import RangedHierarchy
from shoal.search.diagnosis.failures import FinerPart, Split, judge, lacks
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import evaluate_stats
from shoal.search.lattice.nodes import Node, summarize
from shoal.search.local.ranged_columns import RangedColumn
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Histogram, Mask
from shoal.table.people import PeopleRows, people_stats, row_stats
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

    def stats_of(self, rows: Rows, owner: NDArray[np.int64], n_classes: int) -> ClassStats:
        """Statistics of the classes that some rows are in."""
        problem, columns = self.problem, self.problem.sensitive_columns
        return row_stats(problem.table, owner, n_classes, problem.domains, columns, rows=rows)

    def codes(self, rows: Rows, column: int) -> NDArray[np.int32]:
        """The leaf codes of some rows in a column."""
        found: NDArray[np.int32] = self.problem.table.codes[column][self.problem.table.row_tuple[rows]]
        return found


def finer(solution: Solution, rows: Rows, column: int, own: int | None = None) -> tuple[Split, ...]:
    """What one step less makes of the class of these rows (``own``: the one asked about); empty where there is none."""
    if solution.node is not None:
        return (_step_down(solution, solution.node, rows, column, own),) if solution.node[column] else ()
    at = int(solution.recoding.row_class[rows[0]])
    if solution.recoding.nodes[at, column] < solution.recoding.hierarchies[column].n_leaves:
        return ()
    parting = _part(solution, at, rows, column, own)
    n_parts = len(parting.labels)
    whole = _split(solution, parting, np.ones(n_parts, dtype=np.bool_))
    if parting.own is not None:
        going = np.arange(n_parts) == parting.own
    else:
        going = np.array([not part.lacks for part in whole.parts], dtype=np.bool_)
    if whole.judgement.clean or going.all() or not going.any():
        return (whole,)
    return (whole, _split(solution, parting, going))


def _step_down(solution: Solution, node: Node, rows: Rows, column: int, own: int | None) -> Split:
    """The release with one column one level lower for all records."""
    problem = solution.problem
    lower = (*node[:column], node[column] - 1, *node[column + 1 :])
    grouping = solution.engine.classes(lower)
    stats = solution.engine.stats(grouping, problem.sensitive_columns)
    values = problem.ladders[column].nodes[lower[column]][solution.codes(rows, column)]
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    at = grouping.tuple_class[problem.table.row_tuple[rows[first]]].tolist()
    mine = None if own is None else int(values[rows == own][0])
    labels = problem.hierarchies[column].labels
    parts = [
        FinerPart(labels[value], int(count), int(stats.records[index]), lack, value == mine)
        for value, count, index, lack in zip(
            distinct.tolist(), counts, at, lacks(problem.models, stats, at), strict=True
        )
    ]
    judgement, measure = judge(problem.models, stats, problem.budget), None
    if judgement.holds:
        kept = evaluate_stats(problem.models, stats, problem.budget)[1]
        measure = problem.metric.of(summarize(problem, lower, grouping, kept))
    return Split(tuple(parts), None, judgement, measure)


@dataclass(frozen=True, eq=False)
class _Parting:
    """A class of a local recoding, parted in one column."""

    at: int  # the class
    rows: Rows
    part: NDArray[np.intp]  # the part that each row goes to
    labels: tuple[Label, ...]
    joined: tuple[int | None, ...]  # the other class that releases the tuple of each part already, if one does
    own: int | None  # the part of the record that is asked about


def _part(solution: Solution, at: int, rows: Rows, column: int, own: int | None) -> _Parting:
    """A class parted at the children of its node; a range at those of the lowest node above it."""
    recoding = solution.recoding
    hierarchy, node = recoding.hierarchies[column], int(recoding.nodes[at, column])
    is_range = isinstance(hierarchy, RangedHierarchy) and node >= len(hierarchy.tree.labels)
    above = int(hierarchy.parents[node]) if is_range else node
    leaves, leaf_of = np.unique(solution.codes(rows, column), return_inverse=True)
    paths = [hierarchy.path(leaf) for leaf in leaves.tolist()]
    children, part = np.unique([path[path.index(above) - 1] for path in paths], return_inverse=True)
    nodes: list[int | None] = children.tolist()
    labels = [hierarchy.labels[child] for child in children]
    if is_range:  # each part is the range of its own values, which no class may have released
        for number in range(len(children)):
            inside = leaves[part == number]
            finer, shown = RangedColumn.of(solution.problem, column).released(inside[:1], inside[-1:])
            labels[number] = finer.labels[shown[0]]
            nodes[number] = hierarchy.by_label.get(labels[number])
    others = np.arange(recoding.nodes.shape[1]) != column
    alike = np.flatnonzero((recoding.nodes[:, others] == recoding.nodes[at, others]).all(axis=1)).tolist()
    class_of: dict[int | None, int] = {int(recoding.nodes[each, column]): each for each in alike if each != at}
    of_row = part[leaf_of]
    mine = None if own is None else int(of_row[rows == own][0])
    return _Parting(at, rows, of_row, tuple(labels), tuple(class_of.get(each) for each in nodes), mine)


def _split(solution: Solution, parting: _Parting, going: Mask) -> Split:
    """The release with some parts of a class released finer and the others together as they were."""
    recoding, models = solution.recoding, solution.problem.models
    parts, some_stay = np.flatnonzero(going).tolist(), not going.all()
    # the classes of the changed release: the parts that go first, then what stays, then all other classes
    number = np.full(len(going), len(parts), dtype=np.int64)
    number[going] = np.arange(len(parts))
    target = np.full(recoding.n_classes + 1, -1, dtype=np.int64)  # the last for rows that are in no class
    for index, part in enumerate(parts):
        if (other := parting.joined[part]) is not None:
            target[other] = index
    joining = np.flatnonzero(target[recoding.row_class] >= 0)
    owner = np.concatenate([number[parting.part], target[recoding.row_class[joining]]])
    others = target[:-1] < 0
    others[parting.at] = False
    changed = solution.stats_of(np.concatenate([parting.rows, joining]), owner, int(owner.max()) + 1)
    stats = _together(changed, solution.stats.restricted_to(others))
    lacking = lacks(models, stats, range(len(parts) + some_stay))
    records = np.bincount(parting.part, minlength=len(going))
    described = [
        FinerPart(parting.labels[part], int(records[part]), int(stats.records[index]), lack, part == parting.own)
        for index, (part, lack) in enumerate(zip(parts, lacking, strict=False))
    ]
    rest = None
    if some_stay:
        own = parting.own is not None and not going[parting.own]
        rest = FinerPart(None, int(records[~going].sum()), int(stats.records[len(parts)]), lacking[-1], own)
    return Split(tuple(described), rest, judge(models, stats, solution.problem.budget - recoding.suppressed))


def _together(one: ClassStats, other: ClassStats) -> ClassStats:
    """The classes of both, one after the other."""
    if isinstance(one.people, PeopleRows) and isinstance(other.people, PeopleRows):
        people, records = one.people.followed_by(other.people, one.n_classes), [one.records, other.records]
        return people_stats(people, np.concatenate(records), one.domains)
    histograms = {}
    for name, first in one.histograms.items():
        second = other.histograms[name]
        histograms[name] = Histogram(
            np.concatenate([first.starts, first.starts[-1] + second.starts[1:]]),
            np.concatenate([first.values, second.values]),
            np.concatenate([first.counts, second.counts]),
        )
    return ClassStats(np.concatenate([one.sizes, other.sizes]), histograms, one.domains)
