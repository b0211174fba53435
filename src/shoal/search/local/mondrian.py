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

What becomes of a class depends on its own records alone, so an engine may have sets of classes cut elsewhere.

Every part satisfies every model, and a class that no attribute can cut is final. Records with equal quasi-identifiers
stay together, unless refining is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.search.engine import LocalEngine
from shoal.search.local.common import Ground, cost_of, finish, prepare
from shoal.search.local.cuts import Cut, absorb, cut, numbered, rests
from shoal.search.local.finish import conclude
from shoal.search.local.partition import Codes, Entries, Indices, Space, space_of
from shoal.search.local.remote_blocks import Block, blocks_of, without_records
from shoal.search.problem import Outcome, Problem
from shoal.search.spread import Spread
from shoal.table.classes import Mask

_TIE_PLACES = 9
"""Costs that agree in so many places are equal: of equal partitions that by ranges is released, however sums round."""
_Way = Callable[[Space, Entries, Indices, Indices, Codes], Cut]
"""Cuts the classes of some entries in the chosen attribute of each class, given the nodes of all classes."""


def mondrian(problem: Problem, engine: LocalEngine) -> Outcome:
    """Cut the blocks until no class can be cut any more; with ranges, in both ways."""
    ground = prepare(problem, engine)
    space = space_of(ground)
    cuts = {"ranges": ground, "trees": ground.without_ranges} if ground.ranged else {"trees": ground}
    tried = []
    for place, (way, each) in enumerate(cuts.items()):
        settled, rounds = _partition(replace(space, ground=each), place / len(cuts), 1 / len(cuts), engine.spread)
        recoding = finish(*space.settle(settled))
        facts: dict[str, Any] = {"rounds": rounds, "classes": recoding.n_classes}
        tried.append(Outcome(recoding, {**facts, "cuts": way} if ground.ranged else facts))
    problem.progress("cutting classes", 1.0)
    best = min(tried, key=lambda outcome: round(cost_of(problem, outcome.recoding), _TIE_PLACES))
    return conclude(ground, best.recoding, best.search)


def _partition(
    space: Space, done: float, share: float, spread: Spread | None = None, active: Entries | None = None
) -> tuple[list[Entries], int]:
    """Cut until every class is final: the final classes, and in how many rounds; the share of the progress to tell."""
    problem = space.ground.problem
    active, settled, rounds = space.blocks() if active is None else active, list[Entries](), 0
    while active.n_classes:
        if spread is not None and active.n_classes >= spread.blocks and len(active.kind) >= spread.least:
            others, more = _elsewhere(space, active, spread)
            return [*settled, *others], rounds + more
        problem.progress("cutting classes", min(done, 1.0))
        final, active = _round(space, active)
        settled.append(final)
        done += share * int(final.count.sum()) / problem.table.n_rows
        rounds += 1
    return settled, rounds


@dataclass(frozen=True, eq=False)
class _Cutting:
    """The rest of a partition, block by block: what is sent to whoever does it."""

    ground: Ground

    def __call__(self, block: Block) -> tuple[list[Entries], int]:
        return _partition(Space(self.ground, block.kinds), 0.0, 0.0, active=block.entries)


def _elsewhere(space: Space, active: Entries, spread: Spread) -> tuple[list[Entries], int]:
    """Have the classes cut in blocks: the final classes of all, and in how many rounds."""
    blocks = blocks_of(space, active, spread.blocks)
    answers = spread(_Cutting(without_records(space.ground)), [block for block, _ in blocks])
    settled = [
        replace(entries, kind=mine[entries.kind])
        for (_, mine), (parts, _) in zip(blocks, answers, strict=True)
        for entries in parts
    ]
    return settled, max(rounds for _, rounds in answers)


def _round(space: Space, active: Entries) -> tuple[Entries, Entries]:
    """Cut every class that can be cut, once: the classes that are final, and the parts of the others."""
    low, high, nodes = space.ranges(active)
    order = np.argsort(-space.losses(low, high, nodes), axis=1, kind="stable")
    pending = np.ones(active.n_classes, dtype=np.bool_)
    target, n_parts = np.zeros(len(active.kind), dtype=np.int64), 0
    for chosen in order.T:
        divided = (low < high)[np.arange(len(chosen)), chosen]
        for way, suited in _ways(space, chosen, low, high):
            able = pending & divided & suited
            if not able.any():
                continue
            made = way(space, active, np.flatnonzero(able[active.owner]), chosen, nodes)
            good = _judge(space, made, active.n_classes)
            inside = good[active.owner[made.entry]]
            target[made.entry[inside]] = n_parts + _destination(made)[made.part[inside]]
            n_parts += len(made.owner)
            pending &= ~good
    parts = ~pending[active.owner]
    _, owner = numbered(target[parts], n_parts)
    place = np.argsort(owner, kind="stable")
    number = int(owner.max()) + 1 if len(owner) else 0
    cut_off = Entries(active.kind[parts][place], active.count[parts][place], owner[place], number)
    return active.of(pending), cut_off


def _ways(space: Space, chosen: Indices, low: Codes, high: Codes) -> Iterator[tuple[_Way, Mask]]:
    """The ways to cut, in the order in which they are tried, and the classes that each is for.

    Those of the trees try the children and then the median, those of ranges the missing values, the median, the
    children.
    """
    ranged = np.isin(chosen, list(space.ground.ranged))
    mixed = np.zeros(len(chosen), dtype=np.bool_)
    for j, column in space.ground.ranged.items():
        mixed |= (chosen == j) & column.mixed(low[:, j], high[:, j])
    yield _off_missing, mixed
    yield _at_median, ranged
    yield _at_children, np.ones(len(chosen), dtype=np.bool_)
    yield _at_median, ~ranged


def _off_missing(space: Space, active: Entries, entry: Indices, chosen: Indices, nodes: Codes) -> Cut:  # noqa: ARG001
    """Cut the missing values of the chosen attribute, which is released as ranges, off the numbers."""
    owner = active.owner[entry]
    missing = np.full(len(space.hierarchies), -1, dtype=np.int32)
    for j, column in space.ground.ranged.items():
        missing[j] = column.missing
    codes = space.kinds.codes[chosen[owner], active.kind[entry]]
    return cut(space, active, entry, (codes == missing[chosen[owner]]).astype(np.int64), 2)


def _at_children(space: Space, active: Entries, entry: Indices, chosen: Indices, nodes: Codes) -> Cut:
    """Cut the classes of the entries at the children of their ancestor in the chosen attribute of each."""
    owner, kind = active.owner[entry], active.kind[entry]
    branch = np.empty(len(entry), dtype=np.int64)
    for j, tree in enumerate(space.trees):
        mine = np.flatnonzero(chosen[owner] == j)
        branch[mine] = tree.rank[tree.child(nodes[owner[mine], j], space.kinds.codes[j, kind[mine]])]
    return cut(space, active, entry, branch, max(tree.width for tree in space.trees))


def _at_median(space: Space, active: Entries, entry: Indices, chosen: Indices, nodes: Codes) -> Cut:  # noqa: ARG001
    """Cut the classes of the entries in two between leaf codes, as evenly as possible."""
    owner = active.owner[entry]
    codes = space.kinds.codes[chosen[owner], active.kind[entry]]
    order = np.lexsort((codes, owner))
    ranked, of_class = codes[order], owner[order]
    ends = np.flatnonzero((np.diff(ranked) != 0) & (np.diff(of_class) == 0))  # the places between two codes of a class
    running = np.cumsum(active.count[entry[order]])
    first = np.searchsorted(of_class, of_class[ends])
    left = running[ends] - np.where(first > 0, running[first - 1], 0)
    even = np.minimum(left, active.sizes[of_class[ends]] - left)
    best = np.lexsort((ranked[ends], -even, of_class[ends]))
    best = best[np.searchsorted(of_class[ends[best]], np.unique(of_class))]
    threshold = np.zeros(active.n_classes, dtype=np.int32)
    threshold[of_class[ends[best]]] = ranked[ends[best]]
    return cut(space, active, entry, (codes > threshold[owner]).astype(np.int64), 2)


def _judge(space: Space, made: Cut, n_classes: int) -> Mask:
    """Which classes are cut into two parts or more that all hold, once failing rests have absorbed others."""
    whole = np.bincount(made.owner[~made.pushed], minlength=n_classes)
    good = whole > 0
    resting = good & (np.bincount(made.owner[made.pushed], minlength=n_classes) > 0)
    if not resting.any():
        return good
    rest = rests(space, made, resting)
    held = space.holds(rest)
    good[np.flatnonzero(resting)[~held]] = False
    failing = np.zeros(n_classes, dtype=np.bool_)
    failing[np.flatnonzero(resting)[~held]] = True
    absorbing = failing & (whole > 1)
    if absorbing.any():
        parts = ~made.pushed & absorbing[made.owner]
        number = np.cumsum(absorbing) - 1
        absorbed, saved = absorb(
            space, rest.of(absorbing[resting]), made.tally.of(parts), number[made.owner[np.flatnonzero(parts)]]
        )
        made.pushed[np.flatnonzero(parts)[absorbed]] = True
        good[np.flatnonzero(absorbing)[saved]] = True
    return good


def _destination(made: Cut) -> Indices:
    """The part that each part goes to: itself, or the first of those pushed back in its class."""
    result = np.arange(len(made.owner))
    back = np.flatnonzero(made.pushed)
    result[back] = back[np.searchsorted(made.owner[back], made.owner[back])]
    return result
