"""A class of a local recoding, parted in one column: which parts could be released finer, and what the others lack.

The records of the class go to the children of its node in the column, and the other columns stay as they are; a part
that then releases the same tuple as another class is one class with it. Two things are tried: that all parts go, and
that only some do while the others stay together as they were - the part of the record that is asked about, or else the
parts that hold by themselves. A range has no children: it is parted at the children of the lowest node above it, each
part released as the range of its own values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.hierarchies.ranges import RangedHierarchy, range_label
from shoal.search.diagnosis.failures import FinerPart, Split, judge, lacks
from shoal.search.diagnosis.solution import Rows, Solution
from shoal.table.classes import ClassStats, Histogram, Mask
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class _Parting:
    """A class of a local recoding, parted in one column."""

    at: int
    """The class."""
    rows: Rows
    part: NDArray[np.int64]
    """The part that each row goes to."""
    labels: tuple[Label, ...]
    joined: tuple[int | None, ...]
    """The other class that releases the tuple of each part already, if one does."""
    own: int | None
    """The part of the record that is asked about."""

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


def parted(solution: Solution, at: int, rows: Rows, column: int, own: int | None) -> tuple[Split, ...]:
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
