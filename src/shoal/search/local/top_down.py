"""Top-down local recoding (Sun et al. 2008, section 5.2, Algorithm 1), for any number of quasi-identifiers.

All records of a block start fully generalized in one class. A class is specialized one level down in one attribute:
its records part by the children of its present node that they lie under. Children that fail the models are pushed back
to the parent. If what is collected there is not empty and fails, further records are taken from children that hold
without them (`borrowing`). Where no child can spare enough, whole children are pushed back, the smallest
first; and where even that leaves nothing specialized, the attribute is given up.

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
from shoal.search.local.borrowing import take
from shoal.search.local.common import finish, prepare
from shoal.search.local.cuts import Cut, absorb, cut, numbered, rests
from shoal.search.local.finish import conclude
from shoal.search.local.partition import Codes, Entries, Indices, Space, grouped, space_of, summed
from shoal.search.problem import Outcome, Problem
from shoal.table.classes import Counts, Floats, Mask

_DIGITS = 9
"""Losses that agree to so many digits are equal: rounding must not decide between attributes."""


def top_down(problem: Problem, engine: LocalEngine) -> Outcome:
    """Specialize the blocks until no class can be specialized any more."""
    ground = prepare(problem, engine)
    space = space_of(ground, apart=tuple(problem.table.row_sensitive))
    active, settled, done, rounds, taken = space.blocks(), [], 0, 0, 0
    while active.n_classes:
        problem.progress("specializing classes", done / problem.table.n_rows)
        final, active, moved = _round(space, active)
        settled.append(final)
        done += int(final.count.sum())
        rounds += 1
        taken += moved
    ground, row_class = space.settle(settled)
    recoding = finish(ground, row_class)
    problem.progress("specializing classes", 1.0)
    return conclude(ground, recoding, {"rounds": rounds, "classes": recoding.n_classes, "taken": taken})


@dataclass(frozen=True, eq=False)
class _Specialization:
    """Every class of a round, specialized in one attribute."""

    made: Cut
    gain: Floats
    """How much less each record of each part loses."""
    taken: list[tuple[Indices, Indices, Counts]] = field(default_factory=list)
    """Records taken back from parts that hold: part, secret and how many."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """What each attribute (a column) would do to each class (a row)."""

    kept: Counts
    """Records that stay specialized; before records are taken, this is the most that may stay."""
    gain: Floats
    unsettled: Mask
    """Whether the rest at the parent still fails."""

    def best(self) -> Indices:
        """The attribute of each class that keeps most records specialized and gains most; -1 where none keeps any."""
        best = np.zeros(len(self.kept), dtype=np.int64)
        rows = np.arange(len(best))
        for j in range(1, self.kept.shape[1]):
            kept, gain = self.kept[rows, best], self.gain[rows, best]
            better = (self.kept[:, j] > kept) | ((self.kept[:, j] == kept) & (self.gain[:, j] > gain))
            best[better] = j
        return np.where(self.kept[rows, best] > 0, best, -1)


def _round(space: Space, active: Entries) -> tuple[Entries, Entries, int]:
    """Specialize every class that can be, once: the final classes, the new ones, and how many records were taken."""
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


def _specialize(space: Space, active: Entries, j: int, able: Mask, node: Codes) -> _Specialization:
    """Specialize the classes that are able in attribute ``j``."""
    entry = np.flatnonzero(able[active.owner])
    tree, loss = space.trees[j], space.hierarchies[j].loss
    child = tree.child(node[active.owner[entry]], space.kinds.codes[j, active.kind[entry]])
    made = cut(space, active, entry, tree.rank[child], tree.width)
    part_child = np.zeros(len(made.owner), dtype=np.int64)
    part_child[made.part] = child
    return _Specialization(made, loss[node[made.owner]] - loss[part_child])


def _judge(space: Space, active: Entries, tried: list[_Specialization]) -> _Choice:
    """What each attribute keeps and gains, and where records would have to be taken."""
    shape = (active.n_classes, len(tried))
    choice = _Choice(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape, dtype=np.bool_))
    for j, each in enumerate(tried):
        _measure(choice, j, each, np.ones(active.n_classes, dtype=np.bool_))
        resting = (choice.kept[:, j] > 0) & (choice.kept[:, j] < active.sizes)
        resting &= np.bincount(each.made.owner, minlength=active.n_classes) > 0
        if resting.any():
            choice.unsettled[np.flatnonzero(resting), j] = ~space.holds(rests(space, each.made, resting))
    return choice


def _measure(choice: _Choice, j: int, each: _Specialization, classes: Mask) -> None:
    """Count what stays specialized in some classes."""
    sizes = np.where(each.made.pushed, 0, each.made.tally.sizes)
    for part, _, count in each.taken:
        sizes -= summed(part, count, len(sizes))
    kept = summed(each.made.owner, sizes, len(classes))
    gain = np.bincount(each.made.owner, weights=sizes * each.gain, minlength=len(classes))
    choice.kept[classes, j] = kept[classes]
    choice.gain[classes, j] = np.round(gain, _DIGITS)[classes]


def _collect(space: Space, each: _Specialization, choice: _Choice, j: int, classes: Mask) -> None:
    """Make the rests of some classes hold: by taking records, else by pushing whole children back, or give up."""
    made = each.made
    rest = rests(space, made, classes)
    parts = ~made.pushed & classes[made.owner]
    number = np.cumsum(classes) - 1
    of_part, rest_of = np.flatnonzero(parts), number[made.owner[parts]]
    taken = take(space, rest, made.tally.of(parts), rest_of)
    each.taken.append((of_part[taken.child], taken.secret, taken.count))
    held = taken.held
    if not held.all():
        left = parts & ~held[np.where(parts, number[made.owner], 0)]
        renumber = np.cumsum(~held) - 1
        absorbed, saved = absorb(space, rest.of(~held), made.tally.of(left), renumber[number[made.owner[left]]])
        made.pushed[np.flatnonzero(left)[absorbed]] = True
        held[np.flatnonzero(~held)[saved]] = True
    _measure(choice, j, each, classes)
    choice.kept[np.flatnonzero(classes)[~held], j] = 0
    choice.unsettled[classes, j] = False


def _apply(space: Space, active: Entries, tried: list[_Specialization], best: Indices) -> tuple[Entries, Entries, int]:
    """Part the classes as chosen: the final ones, the new ones, and how many records were taken back."""
    kinds, counts, owners = [], [], []
    moved = n_targets = 0
    for j, each in enumerate(tried):
        made = each.made
        chosen = np.flatnonzero(best[made.owner[made.part]] == j)
        part, kind, count = made.part[chosen], active.kind[made.entry[chosen]], active.count[made.entry[chosen]]
        back = _taken_counts(space, each, part, kind, count)
        moved += int(back.sum())
        rest = n_targets + len(made.owner) + made.owner[part]
        kinds += [kind, kind]
        counts += [count - back, back]
        owners += [np.where(made.pushed[part], rest, n_targets + part), rest]
        n_targets += len(made.owner) + active.n_classes
    count = np.concatenate(counts)
    some = np.flatnonzero(count)
    distinct, owner = numbered(np.concatenate(owners)[some], n_targets)
    kind, count = np.concatenate(kinds)[some], count[some]
    order = np.lexsort((kind, owner))
    return active.of(best < 0), Entries(kind[order], count[order], owner[order], len(distinct)), moved


def _taken_counts(space: Space, each: _Specialization, part: Indices, kind: Indices, count: Counts) -> Counts:
    """How many records of each entry are taken back: of a secret in a part, those that widen the rest least.

    Of equals, kinds that the class has few of go first: they are what keeps a class from being specialized further.
    """
    result = np.zeros(len(part), dtype=np.int64)
    if not each.taken:
        return result
    width = space.kinds.n_secrets
    from_part, secret, taken = (np.concatenate(column) for column in zip(*each.taken, strict=True))
    keys, amounts = grouped(from_part * width + secret, taken, len(each.made.owner) * width)
    own = part * width + space.kinds.secret[kind]
    match = np.flatnonzero(np.isin(own, keys))
    cost = _widening(space, each.made, part, kind, match)
    match = match[np.lexsort((kind[match], count[match], cost, own[match]))]
    own, count = own[match], count[match]
    running = np.cumsum(count)
    first = np.searchsorted(own, own)
    before = running - count - (running[first] - count[first])
    result[match] = np.clip(amounts[np.searchsorted(keys, own)] - before, 0, count)
    return result


def _widening(space: Space, made: Cut, part: Indices, kind: Indices, match: Indices) -> Floats:
    """What the rest of its class would lose over all attributes with each of some entries in it."""
    back = np.flatnonzero(made.pushed[part])
    back = back[np.argsort(made.owner[part[back]], kind="stable")]
    classes, starts = np.unique(made.owner[part[back]], return_index=True)
    place = np.searchsorted(classes, made.owner[part[match]])
    cost = np.zeros(len(match))
    for codes, hierarchy in zip(space.kinds.codes, space.hierarchies, strict=True):
        low, high = (each.reduceat(codes[kind[back]], starts)[place] for each in (np.minimum, np.maximum))
        mine = codes[kind[match]]
        cost += hierarchy.loss[ancestors(hierarchy, np.minimum(low, mine), np.maximum(high, mine))]
    return np.round(cost, _DIGITS)
