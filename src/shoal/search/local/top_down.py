"""Top-down local recoding (Sun et al. 2008, section 5.2, Algorithm 1), for any number of quasi-identifiers.

All records of a block start fully generalized in one class. A class is specialized one level down in one attribute:
its records are split by the children of its present node that they lie under. Children that fail the models are pushed
back to the parent. If what is collected there is not empty and fails, further records are borrowed from children that
hold without them (`cuts.borrow`). Where no child can spare enough, whole children are pushed back, the smallest first;
and where even that leaves nothing specialized, the attribute is given up.

The paper shows one attribute only. Of several, that is specialized which keeps most records specialized; of equals that
whose result loses least (NCP), then the first in column order. The records left at the parent are a class like any
other and are tried again. Each step leaves smaller classes only, so the process ends.

A step that takes a whole class into one child costs nothing and is always made, so the present node of a class is the
lowest common ancestor of its values.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shoal.hierarchies.ranges import ancestors
from shoal.search.engine import LocalEngine
from shoal.search.local.blocks import prepare
from shoal.search.local.cuts import Cut, absorb, borrow, cut_classes, numbered, rests
from shoal.search.local.finish import finish, refine_if_asked
from shoal.search.local.partition import Codes, Entries, Indices, RecordSpace, grouped, record_space, summed
from shoal.search.problem import Problem, SearchResult
from shoal.table.classes import Counts, Floats, Mask

_DIGITS = 9  # losses that agree to so many digits are equal: rounding must not decide between attributes


def top_down(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Specialize the blocks until no class can be specialized any more."""
    blocks = prepare(problem, engine)
    space = record_space(blocks, also_distinguish=tuple(problem.table.row_sensitive))
    active, final_classes, done, rounds, borrowed = space.start(), [], 0, 0, 0
    while active.n_classes:
        problem.progress("specializing classes", done / problem.table.n_rows)
        final, active, moved = _round(space, active)
        final_classes.append(final)
        done += int(final.count.sum())
        rounds += 1
        borrowed += moved
    blocks, row_class = space.row_classes(final_classes)
    recoding = finish(blocks, row_class)
    problem.progress("specializing classes", 1.0)
    return refine_if_asked(blocks, recoding, {"rounds": rounds, "classes": recoding.n_classes, "taken": borrowed})


@dataclass(frozen=True, eq=False)
class _Specialization:
    """Every class of a round, specialized in one attribute."""

    cut: Cut
    gain: Floats  # how much less each record of each part loses
    borrowed: list[tuple[Indices, Indices, Counts]] = field(default_factory=list)
    """Records borrowed from parts that hold: part, secret and how many."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """What each attribute (a column) would do to each class (a row)."""

    kept: Counts  # records that stay specialized; before records are borrowed, this is the most that may stay
    gain: Floats
    unsettled: Mask  # whether the rest at the parent still fails

    def best(self) -> Indices:
        """The attribute of each class that keeps most records specialized and gains most; -1 where none keeps any."""
        best = np.zeros(len(self.kept), dtype=np.int64)
        rows = np.arange(len(best))
        for j in range(1, self.kept.shape[1]):
            kept, gain = self.kept[rows, best], self.gain[rows, best]
            better = (self.kept[:, j] > kept) | ((self.kept[:, j] == kept) & (self.gain[:, j] > gain))
            best[better] = j
        return np.where(self.kept[rows, best] > 0, best, -1)


def _round(space: RecordSpace, active: Entries) -> tuple[Entries, Entries, int]:
    """Specialize every class that can be, once: the final classes, the new ones, and how many records were borrowed."""
    low, high, nodes = space.ranges(active)
    tried = [_specialize(space, active, j, low[:, j] < high[:, j], nodes[:, j]) for j in range(nodes.shape[1])]
    choice = _judge(space, active, tried)
    while True:
        best = choice.best()
        needy = (best >= 0) & choice.unsettled[np.arange(len(best)), best]
        if not needy.any():
            break
        for j in np.unique(best[needy]):
            _collect(space, tried[j], choice, int(j), needy & (best == j))
    return _apply(space, active, tried, best)


def _specialize(space: RecordSpace, active: Entries, j: int, able: Mask, node: Codes) -> _Specialization:
    """Specialize the classes that are able in attribute ``j``."""
    entry = np.flatnonzero(able[active.owner])
    tree, loss = space.trees[j], space.hierarchies[j].loss
    child = tree.child(node[active.owner[entry]], space.kinds.codes[j, active.kind[entry]])
    cut = cut_classes(space, active, entry, tree.rank[child], tree.width)
    part_child = np.zeros(len(cut.owner), dtype=np.int64)
    part_child[cut.part] = child
    return _Specialization(cut, loss[node[cut.owner]] - loss[part_child])


def _judge(space: RecordSpace, active: Entries, tried: list[_Specialization]) -> _Choice:
    """What each attribute keeps and gains, and where records would have to be borrowed."""
    shape = (active.n_classes, len(tried))
    choice = _Choice(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape, dtype=np.bool_))
    for j, each in enumerate(tried):
        _measure(choice, j, each, np.ones(active.n_classes, dtype=np.bool_))
        resting = (choice.kept[:, j] > 0) & (choice.kept[:, j] < active.sizes)
        resting &= np.bincount(each.cut.owner, minlength=active.n_classes) > 0
        if resting.any():
            choice.unsettled[np.flatnonzero(resting), j] = ~space.holds(rests(space, each.cut, resting))
    return choice


def _measure(choice: _Choice, j: int, each: _Specialization, classes: Mask) -> None:
    """Count what stays specialized in some classes."""
    sizes = np.where(each.cut.pushed, 0, each.cut.counts.sizes)
    for part, _, count in each.borrowed:
        sizes -= summed(part, count, len(sizes))
    kept = summed(each.cut.owner, sizes, len(classes))
    gain = np.bincount(each.cut.owner, weights=sizes * each.gain, minlength=len(classes))
    choice.kept[classes, j] = kept[classes]
    choice.gain[classes, j] = np.round(gain, _DIGITS)[classes]


def _collect(space: RecordSpace, each: _Specialization, choice: _Choice, j: int, classes: Mask) -> None:
    """Make the rests of some classes hold: by borrowing records, else by pushing whole children back, or give up."""
    cut = each.cut
    rest = rests(space, cut, classes)
    parts = ~cut.pushed & classes[cut.owner]
    number = np.cumsum(classes) - 1
    of_part, rest_of = np.flatnonzero(parts), number[cut.owner[parts]]
    borrowing = borrow(space, rest, cut.counts.of(parts), rest_of)
    each.borrowed.append((of_part[borrowing.child], borrowing.secret, borrowing.count))
    held = borrowing.held
    if not held.all():
        left = parts & ~held[np.where(parts, number[cut.owner], 0)]
        renumber = np.cumsum(~held) - 1
        absorbed, saved = absorb(space, rest.of(~held), cut.counts.of(left), renumber[number[cut.owner[left]]])
        cut.pushed[np.flatnonzero(left)[absorbed]] = True
        held[np.flatnonzero(~held)[saved]] = True
    _measure(choice, j, each, classes)
    choice.kept[np.flatnonzero(classes)[~held], j] = 0
    choice.unsettled[classes, j] = False


def _apply(
    space: RecordSpace, active: Entries, tried: list[_Specialization], best: Indices
) -> tuple[Entries, Entries, int]:
    """Split the classes as chosen: the final ones, the new ones, and how many records were borrowed."""
    kinds, counts, owners = [], [], []
    moved = n_targets = 0
    for j, each in enumerate(tried):
        cut = each.cut
        chosen = np.flatnonzero(best[cut.owner[cut.part]] == j)
        part, kind, count = cut.part[chosen], active.kind[cut.entry[chosen]], active.count[cut.entry[chosen]]
        back = _borrowed_counts(space, each, part, kind, count)
        moved += int(back.sum())
        rest = n_targets + len(cut.owner) + cut.owner[part]
        kinds += [kind, kind]
        counts += [count - back, back]
        owners += [np.where(cut.pushed[part], rest, n_targets + part), rest]
        n_targets += len(cut.owner) + active.n_classes
    count = np.concatenate(counts)
    some = np.flatnonzero(count)
    distinct, owner = numbered(np.concatenate(owners)[some], n_targets)
    kind, count = np.concatenate(kinds)[some], count[some]
    order = np.lexsort((kind, owner))
    return active.of(best < 0), Entries(kind[order], count[order], owner[order], len(distinct)), moved


def _borrowed_counts(space: RecordSpace, each: _Specialization, part: Indices, kind: Indices, count: Counts) -> Counts:
    """How many records of each entry are borrowed: of a secret in a part, those that widen the rest least.

    Of equals, kinds that the class has few of go first: they are what keeps a class from being specialized further.
    """
    result = np.zeros(len(part), dtype=np.int64)
    if not each.borrowed:
        return result
    width = space.kinds.n_secrets
    from_part, secret, borrowed = (np.concatenate(column) for column in zip(*each.borrowed, strict=True))
    keys, amounts = grouped(from_part * width + secret, borrowed, len(each.cut.owner) * width)
    own = part * width + space.kinds.secret[kind]
    match = np.flatnonzero(np.isin(own, keys))
    cost = _widening(space, each.cut, part, kind, match)
    match = match[np.lexsort((kind[match], count[match], cost, own[match]))]
    own, count = own[match], count[match]
    running = np.cumsum(count)
    first = np.searchsorted(own, own)
    before = running - count - (running[first] - count[first])
    result[match] = np.clip(amounts[np.searchsorted(keys, own)] - before, 0, count)
    return result


def _widening(space: RecordSpace, cut: Cut, part: Indices, kind: Indices, match: Indices) -> Floats:
    """What the rest of its class would lose over all attributes with each of some entries in it."""
    back = np.flatnonzero(cut.pushed[part])
    back = back[np.argsort(cut.owner[part[back]], kind="stable")]
    classes, starts = np.unique(cut.owner[part[back]], return_index=True)
    index = np.searchsorted(classes, cut.owner[part[match]])
    cost = np.zeros(len(match))
    for codes, hierarchy in zip(space.kinds.codes, space.hierarchies, strict=True):
        low, high = (each.reduceat(codes[kind[back]], starts)[index] for each in (np.minimum, np.maximum))
        mine = codes[kind[match]]
        cost += hierarchy.loss[ancestors(hierarchy, np.minimum(low, mine), np.maximum(high, mine))]
    return np.round(cost, _DIGITS)
