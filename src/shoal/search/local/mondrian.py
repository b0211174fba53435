"""Multidimensional partitioning over the trees: cut each class, as long as its parts hold, where that saves most.

K. LeFevre, D. J. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006, cut at the median of the
widest attribute. Here the candidates of a class (`candidate_cuts`) are compared by what they save of the measure that
is lowered and how far they divide the class: at the children of its lowest common ancestor in each attribute, between
two values of it, and into the combinations of values that it has. Of equal ones the first is made, by attribute.

With attributes that are released as ranges, the partition that is made without ranges is made too, and of the two, both
in ranges, the one that costs less is released: ranges never cost more than nodes would.

What becomes of a class depends on its own records alone, so sets of classes may be cut by remote workers.

Every part satisfies every model, and a class that no candidate can cut is final. Records with equal quasi-identifiers
stay together, unless refining is asked for.
"""

import heapq
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from shoal.search.engine import LocalEngine, RemoteWorkers
from shoal.search.local.blocks import Blocks, Indices, prepare, refuse_with_conceal
from shoal.search.local.candidate_cuts import candidate_cuts
from shoal.search.local.finish import cost_of, finish, refine_if_asked
from shoal.search.local.nested import settled
from shoal.search.local.partition import RecordKinds, RecordSpace, Tally, record_space
from shoal.search.problem import Problem, no_progress
from shoal.search.search_result import SearchResult
from shoal.table.encoded import numbered

_TIE_DIGITS = 9  # costs that agree in this many digits are equal: of equal partitions the one by ranges is released


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
    best, target, n_targets = np.full(active.n, -1.0), np.zeros(len(active.item), dtype=np.int64), 0
    for cut in candidate_cuts(space, active):
        better = cut.score > best
        best[better] = cut.score[better]
        entry, part = cut.of(better)
        target[entry] = n_targets + part
        n_targets += cut.n_parts
    parts = (best >= 0)[active.group]
    distinct, group = numbered(target[parts], n_targets)
    order = np.argsort(group, kind="stable")
    cut_off = Tally(group[order], active.item[parts][order], active.count[parts][order], len(distinct))
    return active.of(best < 0), cut_off


def uncut(space: RecordSpace, classes: Tally) -> Tally:
    """Those of some classes that no column can cut."""
    return _round(space, classes)[0]
