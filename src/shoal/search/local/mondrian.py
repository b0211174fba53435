"""Strict multidimensional partitioning over the trees: cut each class, attribute by attribute, while its parts hold.

K. LeFevre, D. J. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006. The attribute of largest
normalized extent (the NCP of the class's lowest common ancestor; ties in column order) that allows a cut is cut:

- into the children of that ancestor; children that fail the models are kept together as one part, which takes in the
  smallest of the others where it fails itself, and at least two parts must result;
- where that is not possible, in two at the median of the leaf codes, which are in the order of the hierarchy.

An attribute that is released as ranges is as wide as its range, and the tree matters less: missing values, which are in
no range, are cut off first, then the class is cut in two at the median, and at the children only where that fails. The
partition that is made without ranges is made too, and of the two, both in ranges, the one that costs less is released:
ranges never cost more than nodes would.

What becomes of a class depends on its own records alone, so sets of classes may be cut by remote workers.

Every part satisfies every model, and a class that no attribute can cut is final. Records with equal quasi-identifiers
stay together, unless refining is asked for.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.search.engine import LocalEngine, RemoteWorkers
from shoal.search.local.blocks import Blocks, prepare
from shoal.search.local.cuts import Cut, absorb, cut_classes, numbered, rests
from shoal.search.local.finish import cost_of, finish, refine_if_asked
from shoal.search.local.partition import Codes, Entries, Indices, RecordKinds, RecordSpace, record_space
from shoal.search.problem import Problem, SearchResult, no_progress
from shoal.table.classes import Mask
from shoal.table.encoded import EncodedTable


@dataclass(frozen=True, eq=False)
class ClassSet:
    """Some classes: their kinds, numbered anew, and their entries."""

    kinds: RecordKinds
    entries: Entries


def class_sets(space: RecordSpace, active: Entries, number: int) -> list[tuple[ClassSet, Indices]]:
    """The classes in so many sets of about the same number of entries, and the kinds of each set in the space."""
    lengths = np.diff(np.append(active.starts, len(active.kind)))
    loads = [(0, index) for index in range(min(number, active.n_classes))]
    owner = np.empty(active.n_classes, dtype=np.int64)
    for each in np.lexsort((np.arange(active.n_classes), -lengths)).tolist():
        load, index = heapq.heappop(loads)
        owner[each] = index
        heapq.heappush(loads, (load + int(lengths[each]), index))
    return [_block(space, active.of(owner == index)) for index in range(len(loads))]


def _block(space: RecordSpace, entries: Entries) -> tuple[ClassSet, Indices]:
    mine, kind = np.unique(entries.kind, return_inverse=True)
    kinds = space.kinds
    few = replace(
        kinds,
        codes=np.ascontiguousarray(kinds.codes[:, mine]),
        counts=kinds.counts[mine],
        block=kinds.block[mine],
        secret=kinds.secret[mine],
        row_kind=np.zeros(0, dtype=np.int64),
    )
    return ClassSet(few, replace(entries, kind=kind)), mine


def without_records(blocks: Blocks) -> Blocks:
    """What is known of the whole table, without its records: it is sent along with the work."""
    table = blocks.problem.table
    none = np.zeros(0, dtype=np.int32)
    empty = EncodedTable(
        quasi=table.quasi,
        codes=np.zeros((len(table.quasi), 0), dtype=np.int32),
        counts=np.zeros(0, dtype=np.int64),
        row_tuple=none,
        row_sensitive={},
        pairs={},
        weights=np.array([table.n_rows], dtype=np.int64),
    )
    bare = Blocks(replace(blocks.problem, table=empty, progress=no_progress), none, blocks.n_blocks)
    vars(bare)["reference"] = blocks.reference
    vars(bare)["ranged"] = blocks.ranged
    return bare


_TIE_DIGITS = 9  # costs that agree in this many digits are equal: of equal partitions the one by ranges is released
_Way = Callable[[RecordSpace, Entries, Indices, Indices, Codes], Cut]
"""Cuts the classes of some entries in the chosen attribute of each class, given the nodes of all classes."""


def mondrian(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Cut the blocks until no class can be cut any more; with ranges, in both ways."""
    blocks = prepare(problem, engine)
    space = record_space(blocks)
    cuts = {"ranges": blocks, "trees": blocks.without_ranges} if blocks.ranged else {"trees": blocks}
    tried = []
    for index, (way, each) in enumerate(cuts.items()):
        final_classes, rounds = _partition(replace(space, blocks=each), index / len(cuts), 1 / len(cuts), engine.remote)
        recoding = finish(*space.row_classes(final_classes))
        facts: dict[str, Any] = {"rounds": rounds, "classes": recoding.n_classes}
        tried.append(SearchResult(recoding, {**facts, "cuts": way} if blocks.ranged else facts))
    problem.progress("cutting classes", 1.0)
    best = min(tried, key=lambda outcome: round(cost_of(problem, outcome.recoding), _TIE_DIGITS))
    return refine_if_asked(blocks, best.recoding, best.search)


def _partition(
    space: RecordSpace, done: float, share: float, remote: RemoteWorkers | None = None, active: Entries | None = None
) -> tuple[list[Entries], int]:
    """Cut until every class is final: the final classes, and in how many rounds.

    ``share`` of the whole progress is made here, after what is ``done``.
    """
    problem = space.blocks.problem
    active, final_classes, rounds = space.start() if active is None else active, list[Entries](), 0
    while active.n_classes:
        if remote is not None and active.n_classes >= remote.blocks and len(active.kind) >= remote.least:
            others, more = _elsewhere(space, active, remote)
            return [*final_classes, *others], rounds + more
        problem.progress("cutting classes", min(done, 1.0))
        final, active = _round(space, active)
        final_classes.append(final)
        done += share * int(final.count.sum()) / problem.table.n_rows
        rounds += 1
    return final_classes, rounds


@dataclass(frozen=True, eq=False)
class _Cutting:
    """The rest of a partition, set by set: what is sent to the workers."""

    blocks: Blocks

    def __call__(self, classes: ClassSet) -> tuple[list[Entries], int]:
        return _partition(RecordSpace(self.blocks, classes.kinds), 0.0, 0.0, active=classes.entries)


def _elsewhere(space: RecordSpace, active: Entries, remote: RemoteWorkers) -> tuple[list[Entries], int]:
    """Have sets of classes cut by the workers: the final classes of all, and in how many rounds."""
    sets = class_sets(space, active, remote.blocks)
    answers = remote(_Cutting(without_records(space.blocks)), [each for each, _ in sets])
    final_classes = [
        replace(entries, kind=mine[entries.kind])
        for (_, mine), (parts, _) in zip(sets, answers, strict=True)
        for entries in parts
    ]
    return final_classes, max(rounds for _, rounds in answers)


def _round(space: RecordSpace, active: Entries) -> tuple[Entries, Entries]:
    """Cut every class that can be cut, once: the classes that are final, and the parts of the others."""
    low, high, nodes = space.ranges(active)
    by_extent = np.argsort(-space.losses(low, high, nodes), axis=1, kind="stable")
    pending = np.ones(active.n_classes, dtype=np.bool_)
    target, n_parts = np.zeros(len(active.kind), dtype=np.int64), 0
    for chosen in by_extent.T:
        divided = (low < high)[np.arange(len(chosen)), chosen]
        for way, suited in _ways(space, chosen, low, high):
            able = pending & divided & suited
            if not able.any():
                continue
            cut = way(space, active, np.flatnonzero(able[active.owner]), chosen, nodes)
            good = _judge(space, cut, active.n_classes)
            inside = good[active.owner[cut.entry]]
            target[cut.entry[inside]] = n_parts + _destination(cut)[cut.part[inside]]
            n_parts += len(cut.owner)
            pending &= ~good
    parts = ~pending[active.owner]
    _, owner = numbered(target[parts], n_parts)
    order = np.argsort(owner, kind="stable")
    number = int(owner.max()) + 1 if len(owner) else 0
    cut_off = Entries(active.kind[parts][order], active.count[parts][order], owner[order], number)
    return active.of(pending), cut_off


def _ways(space: RecordSpace, chosen: Indices, low: Codes, high: Codes) -> Iterator[tuple[_Way, Mask]]:
    """The ways to cut, in the order in which they are tried, and the classes that each is for.

    Those of the trees try the children and then the median, those of ranges the missing values, the median, the
    children.
    """
    ranged = np.isin(chosen, list(space.blocks.ranged))
    mixed = np.zeros(len(chosen), dtype=np.bool_)
    for j, column in space.blocks.ranged.items():
        mixed |= (chosen == j) & column.mixed(low[:, j], high[:, j])
    yield _off_missing, mixed
    yield _at_median, ranged
    yield _at_children, np.ones(len(chosen), dtype=np.bool_)
    yield _at_median, ~ranged


def _off_missing(space: RecordSpace, active: Entries, entry: Indices, chosen: Indices, nodes: Codes) -> Cut:  # noqa: ARG001
    """Cut the missing values of the chosen attribute, which is released as ranges, off the numbers."""
    owner = active.owner[entry]
    missing = np.full(len(space.hierarchies), -1, dtype=np.int32)
    for j, column in space.blocks.ranged.items():
        missing[j] = column.missing
    codes = space.kinds.codes[chosen[owner], active.kind[entry]]
    return cut_classes(space, active, entry, (codes == missing[chosen[owner]]).astype(np.int64), 2)


def _at_children(space: RecordSpace, active: Entries, entry: Indices, chosen: Indices, nodes: Codes) -> Cut:
    """Cut the classes of the entries at the children of their ancestor in the chosen attribute of each."""
    owner, kind = active.owner[entry], active.kind[entry]
    branch = np.empty(len(entry), dtype=np.int64)
    for j, tree in enumerate(space.trees):
        mine = np.flatnonzero(chosen[owner] == j)
        branch[mine] = tree.rank[tree.child(nodes[owner[mine], j], space.kinds.codes[j, kind[mine]])]
    return cut_classes(space, active, entry, branch, max(tree.width for tree in space.trees))


def _at_median(space: RecordSpace, active: Entries, entry: Indices, chosen: Indices, nodes: Codes) -> Cut:  # noqa: ARG001
    """Cut the classes of the entries in two between leaf codes, as evenly as possible."""
    owner = active.owner[entry]
    codes = space.kinds.codes[chosen[owner], active.kind[entry]]
    order = np.lexsort((codes, owner))
    ranked, of_class = codes[order], owner[order]
    ends = np.flatnonzero((np.diff(ranked) != 0) & (np.diff(of_class) == 0))  # the borders between two codes of a class
    running = np.cumsum(active.count[entry[order]])
    first = np.searchsorted(of_class, of_class[ends])
    left = running[ends] - np.where(first > 0, running[first - 1], 0)
    even = np.minimum(left, active.sizes[of_class[ends]] - left)
    best = np.lexsort((ranked[ends], -even, of_class[ends]))
    best = best[np.searchsorted(of_class[ends[best]], np.unique(of_class))]
    threshold = np.zeros(active.n_classes, dtype=np.int32)
    threshold[of_class[ends[best]]] = ranked[ends[best]]
    return cut_classes(space, active, entry, (codes > threshold[owner]).astype(np.int64), 2)


def _judge(space: RecordSpace, cut: Cut, n_classes: int) -> Mask:
    """Which classes are cut into two parts or more that all hold, once failing rests have absorbed others."""
    whole = np.bincount(cut.owner[~cut.pushed], minlength=n_classes)
    good = whole > 0
    resting = good & (np.bincount(cut.owner[cut.pushed], minlength=n_classes) > 0)
    if not resting.any():
        return good
    rest = rests(space, cut, resting)
    held = space.holds(rest)
    good[np.flatnonzero(resting)[~held]] = False
    failing = np.zeros(n_classes, dtype=np.bool_)
    failing[np.flatnonzero(resting)[~held]] = True
    absorbing = failing & (whole > 1)
    if absorbing.any():
        parts = ~cut.pushed & absorbing[cut.owner]
        number = np.cumsum(absorbing) - 1
        absorbed, saved = absorb(
            space, rest.of(absorbing[resting]), cut.counts.of(parts), number[cut.owner[np.flatnonzero(parts)]]
        )
        cut.pushed[np.flatnonzero(parts)[absorbed]] = True
        good[np.flatnonzero(absorbing)[saved]] = True
    return good


def _destination(cut: Cut) -> Indices:
    """The part that each part goes to: itself, or the first of those pushed back in its class."""
    result = np.arange(len(cut.owner))
    back = np.flatnonzero(cut.pushed)
    result[back] = back[np.searchsorted(cut.owner[back], cut.owner[back])]
    return result
