"""Strict multidimensional partitioning over the trees: cut each class, attribute by attribute, while its parts hold.

K. LeFevre, D. J. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006. The attribute of largest
normalized extent (the NCP of the class's lowest common ancestor; ties in column order) that allows a cut is cut:

- into the children of that ancestor; children that fail the models are kept together as one part, which takes in the
  smallest of the others where it fails itself, and at least two parts must result;
- where that is not possible, in two at the median of the leaf codes, which are in the order of the hierarchy.

An attribute that is released as ranges is as wide as its range, and the tree matters less: missing values, which are in
no range, are cut off first, then the class is cut in two at the median, and at the children only where that fails. A
class is cut between two base intervals where runs of them are released, and within one only if a part then releases
something else. The partition that is made without ranges is made too, and of the two, both in ranges, the one that
costs less is released: ranges never cost more than nodes would.

What becomes of a class depends on its own records alone, so sets of classes may be cut by remote workers.

Every part satisfies every model, and a class that no attribute can cut is final. Records with equal quasi-identifiers
stay together, unless refining is asked for.
"""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from shoal.hierarchies.ranges import ancestors
from shoal.search.engine import LocalEngine, RemoteWorkers
from shoal.search.local.blocks import Blocks, Codes, Indices, prepare, refuse_with_conceal
from shoal.search.local.cuts import Cut, absorb, cut_classes, refuse_some, rests
from shoal.search.local.finish import cost_of, finish, refine_if_asked
from shoal.search.local.nested import settled
from shoal.search.local.partition import RecordKinds, RecordSpace, Tally, record_space
from shoal.search.problem import Problem, SearchResult, no_progress
from shoal.table.classes import Mask
from shoal.table.encoded import numbered

_TIE_DIGITS = 9  # costs that agree in this many digits are equal: of equal partitions the one by ranges is released
_Way = Callable[[RecordSpace, Tally, Indices, Indices, Codes], Indices]
"""The branch of some entries in the chosen attribute of their classes, given the nodes of all classes."""


def mondrian(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Cut the blocks until no class can be cut any more; with ranges, in both ways."""
    refuse_with_conceal(problem, "refine")
    blocks = prepare(problem, engine)
    space = record_space(blocks)
    cuts = {"ranges": blocks, "trees": blocks.without_ranges} if blocks.ranged else {"trees": blocks}
    tried = []
    for index, (way, each) in enumerate(cuts.items()):
        mine, active = replace(space, blocks=each), list[Tally]()
        remote = engine.remote if problem.concealing is None else None
        final_classes, rounds = _partition(mine, index / len(cuts), 1 / len(cuts), remote, rounds_of=active)
        if problem.concealing is not None:
            final_classes = [settled(space, active, index)]
        recoding = finish(*space.row_classes(final_classes))
        facts: dict[str, Any] = {"rounds": rounds, "classes": recoding.n_classes}
        tried.append(SearchResult(recoding, {**facts, "cuts": way} if blocks.ranged else facts))
    problem.progress("cutting classes", 1.0)
    best = min(tried, key=lambda outcome: round(cost_of(problem, outcome.recoding), _TIE_DIGITS))
    return refine_if_asked(blocks, best.recoding, best.search)


def or_cheaper(problem: Problem, engine: LocalEngine, own: SearchResult) -> SearchResult:
    """What another search that conceals found, or the cuts of this one where they lose less."""
    other = mondrian(problem, engine)
    costs = (round(cost_of(problem, each.recoding), _TIE_DIGITS) for each in (own, other))
    return own if next(costs) <= next(costs) else other


def _partition(
    space: RecordSpace,
    done: float,
    share: float,
    remote: RemoteWorkers | None = None,
    active: Tally | None = None,
    rounds_of: list[Tally] | None = None,
) -> tuple[list[Tally], int]:
    """Cut until every class is final: the final classes, and in how many rounds.

    ``share`` of the whole progress is made here, after what is ``done``. ``rounds_of`` gets the classes that each
    round starts with.
    """
    problem = space.blocks.problem
    active, final_classes, rounds = space.start() if active is None else active, list[Tally](), 0
    while active.n:
        if remote is not None and active.n >= remote.blocks and len(active.item) >= remote.least:
            sets = class_sets(space, active, remote.blocks)
            answers = remote(partial(_cut_set, without_records(space.blocks)), [each for each, _ in sets])
            for (_, mine), (parts, _) in zip(sets, answers, strict=True):
                final_classes += [replace(each, item=mine[each.item]) for each in parts]
            return final_classes, rounds + max(more for _, more in answers)
        problem.progress("cutting classes", min(done, 1.0))
        if rounds_of is not None:
            rounds_of.append(active)
        final, active = _round(space, active)
        final_classes.append(final)
        done += share * int(final.count.sum()) / problem.table.n_rows
        rounds += 1
    return final_classes, rounds


def _cut_set(blocks: Blocks, classes: tuple[RecordKinds, Tally]) -> tuple[list[Tally], int]:
    """The rest of a partition for one set of classes: what remote workers do."""
    kinds, active = classes
    return _partition(RecordSpace(blocks, kinds), 0.0, 0.0, active=active)


def class_sets(space: RecordSpace, active: Tally, number: int) -> list[tuple[tuple[RecordKinds, Tally], Indices]]:
    """The classes in so many sets of about the same number of entries, and the kinds of each set in the space.

    The kinds of a set are numbered anew.
    """
    lengths = np.diff(np.append(active.starts, len(active.item)))
    loads = [(0, index) for index in range(min(number, active.n))]
    owner = np.empty(active.n, dtype=np.int64)
    for each in np.lexsort((np.arange(active.n), -lengths)).tolist():
        load, index = heapq.heappop(loads)
        owner[each] = index
        heapq.heappush(loads, (load + int(lengths[each]), index))
    sets, kinds = [], space.kinds
    for index in range(len(loads)):
        classes = active.of(owner == index)
        mine, kind = np.unique(classes.item, return_inverse=True)
        few = replace(
            kinds,
            codes=np.ascontiguousarray(kinds.codes[:, mine]),
            counts=kinds.counts[mine],
            block=kinds.block[mine],
            secret=kinds.secret[mine],
            row_kind=np.zeros(0, dtype=np.int64),
        )
        sets.append(((few, replace(classes, item=kind)), mine))
    return sets


def without_records(blocks: Blocks) -> Blocks:
    """What is known of the whole table, without its records: it is sent along with the work."""
    table = blocks.problem.table
    none = table.keep_tuples(np.zeros(table.n_tuples, dtype=np.bool_))
    problem = replace(blocks.problem, table=replace(none, weights=np.array([table.n_rows])), progress=no_progress)
    bare = Blocks(problem, np.zeros(0, dtype=np.int32), blocks.n_blocks)
    vars(bare).update(reference=blocks.reference, ranged=blocks.ranged)
    return bare


def _round(space: RecordSpace, active: Tally) -> tuple[Tally, Tally]:
    """Cut every class that can be cut, once: the classes that are final, and the parts of the others."""
    low, high, nodes = space.ranges(active)
    by_extent = np.argsort(-space.losses(low, high, nodes), axis=1, kind="stable")
    pending = np.ones(active.n, dtype=np.bool_)
    target, n_targets = np.zeros(len(active.item), dtype=np.int64), 0
    for chosen in by_extent.T:
        divided = (low < high)[np.arange(len(chosen)), chosen]
        in_runs = np.isin(chosen, [j for j, column in space.blocks.ranged.items() if column.divided is not None])
        for way, suited in _ways(space, chosen, low, high):
            able = pending & divided & suited
            if not able.any():
                continue
            entry = np.flatnonzero(able[active.group])
            cut = cut_classes(space, active, entry, way(space, active, entry, chosen, nodes))
            concealing = space.blocks.problem.concealing is not None
            _refuse_without_gain(space, active, cut, chosen, (low, high), in_runs | concealing)
            if concealing:
                refuse_some(space, active, cut)
            good = _judge(space, cut, active.n)
            part = np.where(cut.pushed, len(cut.owner) + cut.owner, np.arange(len(cut.owner)))
            inside = good[active.group[entry]]
            target[entry[inside]] = n_targets + part[cut.part[inside]]
            n_targets += len(cut.owner) + active.n
            pending &= ~good
    parts = ~pending[active.group]
    distinct, group = numbered(target[parts], n_targets)
    order = np.argsort(group, kind="stable")
    cut_off = Tally(group[order], active.item[parts][order], active.count[parts][order], len(distinct))
    return active.of(pending), cut_off


def _refuse_without_gain(
    space: RecordSpace, active: Tally, cut: Cut, chosen: Indices, ends: tuple[Codes, Codes], asked: Mask
) -> None:
    """Push back the parts of cuts after which every part releases what the class does in the chosen column.

    Their parts would release the same in the end, and a search that conceals takes such cuts back (`nested`). Only the
    classes ``asked`` are looked at.
    """
    if not asked.any():
        return
    low, high = ends
    column = chosen[active.group[cut.entry]]
    codes = space.kinds.codes[column, active.item[cut.entry]]
    order = np.argsort(cut.part, kind="stable")
    starts = np.searchsorted(cut.part[order], np.arange(len(cut.owner)))
    first, last = np.minimum.reduceat(codes[order], starts), np.maximum.reduceat(codes[order], starts)
    gains = ~asked
    for j, tree in enumerate(space.hierarchies):
        mine = np.flatnonzero(chosen[cut.owner] == j)
        owner = cut.owner[mine]
        if j in space.blocks.ranged:
            identities = space.blocks.ranged[j].identities
            gains[owner[identities(first[mine], last[mine]) != identities(low[owner, j], high[owner, j])]] = True
        else:
            whole = ancestors(tree, low[owner, j], high[owner, j])
            gains[owner[ancestors(tree, first[mine], last[mine]) != whole]] = True
    cut.pushed[~gains[cut.owner]] = True


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


def _off_missing(space: RecordSpace, active: Tally, entry: Indices, chosen: Indices, _: Codes) -> Indices:
    """Cut the missing values of the chosen attribute, which is released as ranges, off the numbers."""
    column, ranged = chosen[active.group[entry]], space.blocks.ranged
    missing = np.array([ranged[j].missing if j in ranged else -1 for j in range(len(space.hierarchies))])
    branch: Indices = (space.kinds.codes[column, active.item[entry]] == missing[column]).astype(np.int64)
    return branch


def _at_children(space: RecordSpace, active: Tally, entry: Indices, chosen: Indices, nodes: Codes) -> Indices:
    """Cut the classes of the entries at the children of their ancestor in the chosen attribute of each."""
    owner, kind = active.group[entry], active.item[entry]
    branch = np.empty(len(entry), dtype=np.int64)
    for j, rank in enumerate(space.ranks):
        mine = np.flatnonzero(chosen[owner] == j)
        branch[mine] = rank[space.child(j, nodes[owner[mine], j], space.kinds.codes[j, kind[mine]])]
    return branch


def _at_median(space: RecordSpace, active: Tally, entry: Indices, chosen: Indices, _: Codes) -> Indices:
    """Cut the classes of the entries in two between leaf codes, as evenly as possible.

    A class that is released as a run of several base intervals is cut between two of them.
    """
    owner = active.group[entry]
    codes = space.kinds.codes[chosen[owner], active.item[entry]]
    for j, ranged in space.blocks.ranged.items():
        mine = np.flatnonzero(chosen[owner] == j)
        codes[mine] = ranged.between_runs(codes[mine], owner[mine], active.n)
    order = np.lexsort((codes, owner))
    ranked, of_class = codes[order], owner[order]
    ends = np.flatnonzero((np.diff(ranked) != 0) & (np.diff(of_class) == 0))  # the borders between two codes of a class
    running = np.cumsum(active.count[entry[order]])
    first = np.searchsorted(of_class, of_class[ends])
    left = running[ends] - np.where(first > 0, running[first - 1], 0)
    even = np.minimum(left, active.sizes[of_class[ends]] - left)
    best = np.lexsort((ranked[ends], -even, of_class[ends]))
    best = best[np.searchsorted(of_class[ends[best]], np.unique(of_class))]
    threshold = np.zeros(active.n, dtype=np.int32)
    threshold[of_class[ends[best]]] = ranked[ends[best]]
    return (codes > threshold[owner]).astype(np.int64)


def _judge(space: RecordSpace, cut: Cut, n_classes: int) -> Mask:
    """Which classes are cut into two parts or more that all hold, once failing rests have absorbed others."""
    good = np.bincount(cut.owner[~cut.pushed], minlength=n_classes) > 0
    failing = good & (np.bincount(cut.owner[cut.pushed], minlength=n_classes) > 0)
    if failing.any():
        failing[failing] = ~space.holds(rests(space, cut, failing))
        good &= ~failing | absorb(space, cut, failing)
    return good


def uncut(space: RecordSpace, classes: Tally) -> Tally:
    """Those of some classes that no column can cut."""
    return _round(space, classes)[0]
