"""Top-down local recoding (Sun et al. 2008, section 5.2, Algorithm 1), for any number of quasi-identifiers.

All records of a block start fully generalized in one class. A class is specialized one level down in one attribute:
its records are split by the children of its present node that they lie under. Children that fail the models are pushed
back to the parent. If what is collected there is not empty and fails, further records are borrowed from children that
hold without them (`cuts.borrow`). Where no child can spare enough, whole children are pushed back, the smallest first;
and where even that leaves nothing specialized, the attribute is given up.

The paper shows one attribute only. Of several, that is specialized which saves most (NCP of the records that stay
specialized) for how far its children divide the class before any record is borrowed (`candidate_cuts`); of equals the
first in column order. The records left at the parent are a class like any other and are tried again. Each step leaves
smaller classes only, so the process ends.

A step that takes a whole class into one child costs nothing and is always made, so the present node of a class is the
lowest common ancestor of its values.
"""

import numpy as np

from shoal.hierarchies.ranges import ancestors
from shoal.search.engine import LocalEngine
from shoal.search.local.blocks import Codes, Indices, prepare, refuse_with_conceal
from shoal.search.local.candidate_cuts import DIVISION
from shoal.search.local.cuts import absorb, borrow, cut_classes, refuse_some, rests
from shoal.search.local.finish import finish, refine_if_asked
from shoal.search.local.mondrian import or_cheaper
from shoal.search.local.nested import settled
from shoal.search.local.partition import RecordSpace, Tally, grouped, record_space, summed
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult
from shoal.table.classes import Counts, Floats, Mask
from shoal.table.encoded import numbered

_DIGITS = 9  # losses that agree to so many digits are equal: rounding must not decide between attributes


def top_down(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Specialize the blocks until no class can be specialized any more."""
    refuse_with_conceal(problem, "refine")
    blocks = prepare(problem, engine)
    space = record_space(blocks, also_distinguish=tuple(problem.table.row_sensitive))
    active, final_classes, done, rounds, borrowed = space.start(), list[Tally](), 0, 0, 0
    rounds_of = list[Tally]()
    while active.n:
        problem.progress("specializing classes", done / problem.table.n_rows)
        rounds_of.append(active)
        final, active, moved = _round(space, active)
        final_classes.append(final)
        done += int(final.count.sum())
        rounds += 1
        borrowed += moved
    if problem.concealing is not None:
        final_classes = [settled(space, rounds_of, 0)]
    blocks, row_class = space.row_classes(final_classes)
    recoding = finish(blocks, row_class)
    problem.progress("specializing classes", 1.0)
    facts = {"rounds": rounds, "classes": recoding.n_classes, "taken": borrowed}
    if problem.concealing is not None:  # nothing is borrowed, which the cuts at medians may make up for
        return or_cheaper(problem, engine, SearchResult(recoding, facts))
    return refine_if_asked(blocks, recoding, facts)


class _Specialization:
    """Every class of a round, specialized in one attribute, and what that does to it."""

    def __init__(self, space: RecordSpace, active: Tally, j: int, able: Mask, node: Codes) -> None:
        entry, loss = np.flatnonzero(able[active.group]), space.hierarchies[j].loss
        child = space.child(j, node[active.group[entry]], space.kinds.codes[j, active.item[entry]])
        self._space, self.cut = space, cut_classes(space, active, entry, space.ranks[j][child])
        refuse_some(space, active, self.cut)
        part_child = np.zeros(len(self.cut.owner), dtype=np.int64)
        part_child[self.cut.part] = child
        self._part_gain = loss[node[self.cut.owner]] - loss[part_child]  # how much less each of its records loses
        self.borrowed: list[tuple[Indices, Indices, Counts]] = []  # from parts that hold: part, secret and how many
        self._given_up = np.zeros(active.n, dtype=np.bool_)
        self._division = self._divided(active) ** DIVISION
        self._measure()
        self.unsettled = (self.kept > 0) & (self.kept < active.sizes)  # whether the rest at the parent still fails
        if self.unsettled.any():
            self.unsettled[self.unsettled] = ~space.holds(rests(space, self.cut, self.unsettled))

    def _divided(self, active: Tally) -> Floats:
        """How far each class is divided before any records are borrowed, as in `candidate_cuts`."""
        owner, sizes = self.cut.owner, self.cut.secrets.sizes
        rest = summed(owner, np.where(self.cut.pushed, sizes, 0), active.n)
        parts = np.where(self.cut.pushed, 0.0, sizes * np.log(active.sizes[owner] / sizes))
        result = np.bincount(owner, weights=parts, minlength=active.n)
        return np.asarray(result + rest * np.log(active.sizes / np.maximum(rest, 1)))

    def _measure(self) -> None:
        """Count the records that stay specialized and score what they save, which is most before any are borrowed."""
        sizes, owner = np.where(self.cut.pushed, 0, self.cut.secrets.sizes), self.cut.owner
        for part, _, count in self.borrowed:
            sizes -= summed(part, count, len(sizes))
        self.kept = np.where(self._given_up, 0, summed(owner, sizes, len(self._given_up)))
        saved = np.bincount(owner, weights=sizes * self._part_gain, minlength=len(self._given_up))
        score = np.divide(saved, self._division, out=np.zeros(len(saved)), where=self._division > 0)
        self.score = np.where(self.kept > 0, np.round(score, _DIGITS), -1.0)

    def settle(self, classes: Mask) -> None:
        """Make the rests of some classes hold: by borrowing records or pushing whole children back, or give up."""
        held = np.zeros(len(classes), dtype=np.bool_)
        if self._space.blocks.problem.concealing is None:  # which records are borrowed depends on their secrets
            borrowed, held = borrow(self._space, self.cut, classes)
            self.borrowed.append(borrowed)
        held |= absorb(self._space, self.cut, classes & ~held)
        self._given_up |= classes & ~held
        self.unsettled &= ~classes
        self._measure()


def _round(space: RecordSpace, active: Tally) -> tuple[Tally, Tally, int]:
    """Specialize every class that can be, once: the final classes, the new ones, and how many records were borrowed."""
    low, high, nodes = space.ranges(active)
    tried = [_Specialization(space, active, j, low[:, j] < high[:, j], nodes[:, j]) for j in range(nodes.shape[1])]
    while True:
        score = np.stack([each.score for each in tried])
        best = np.where(score.max(axis=0) >= 0, np.argmax(score, axis=0), -1)  # -1 where no attribute keeps any record
        needy = [(best == j) & each.unsettled for j, each in enumerate(tried)]
        if not np.any(needy):
            return _apply(space, active, tried, best)
        for each, classes in zip(tried, needy, strict=True):
            if classes.any():
                each.settle(classes)


def _apply(space: RecordSpace, active: Tally, tried: list[_Specialization], best: Indices) -> tuple[Tally, Tally, int]:
    """Split the classes as chosen: the final ones, the new ones, and how many records were borrowed."""
    kinds, counts, owners = [], [], []
    moved = n_targets = 0
    for j, each in enumerate(tried):
        cut = each.cut
        chosen = np.flatnonzero(best[cut.owner[cut.part]] == j)
        part, kind, count = cut.part[chosen], active.item[cut.entry[chosen]], active.count[cut.entry[chosen]]
        back = _borrowed_counts(space, each, part, kind, count)
        moved += int(back.sum())
        rest = n_targets + len(cut.owner) + cut.owner[part]
        kinds += [kind, kind]
        counts += [count - back, back]
        owners += [np.where(cut.pushed[part], rest, n_targets + part), rest]
        n_targets += len(cut.owner) + active.n
    count = np.concatenate(counts)
    some = np.flatnonzero(count)
    distinct, owner = numbered(np.concatenate(owners)[some], n_targets)
    kind, count = np.concatenate(kinds)[some], count[some]
    order = np.lexsort((kind, owner))
    return active.of(best < 0), Tally(owner[order], kind[order], count[order], len(distinct)), moved


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
    back = np.flatnonzero(each.cut.pushed[part])
    back = back[np.argsort(each.cut.owner[part[back]], kind="stable")]
    classes, starts = np.unique(each.cut.owner[part[back]], return_index=True)
    index = np.searchsorted(classes, each.cut.owner[part[match]])
    cost = np.zeros(len(match))  # what the rest would lose over all attributes with the entry in it
    for codes, tree in zip(space.kinds.codes, space.hierarchies, strict=True):
        low, high = (end.reduceat(codes[kind[back]], starts)[index] for end in (np.minimum, np.maximum))
        mine = codes[kind[match]]
        cost += tree.loss[ancestors(tree, np.minimum(low, mine), np.maximum(high, mine))]
    cost = np.round(cost, _DIGITS)
    match = match[np.lexsort((kind[match], count[match], cost, own[match]))]
    own, count = own[match], count[match]
    running = np.cumsum(count)
    first = np.searchsorted(own, own)
    before = running - count - (running[first] - count[first])
    result[match] = np.clip(amounts[np.searchsorted(keys, own)] - before, 0, count)
    return result


def uncut(space: RecordSpace, classes: Tally) -> Tally:
    """Those of some classes that cannot be specialized in any column."""
    return _round(space, classes)[0]
