"""What follows from single decisions of the algorithm, on tables of any size.

The algorithm declares what it must have refused (`shoal.search.refusals`). Each refusal is taken by itself: of all ways
to deal the secrets of a class to its people those are kept in which the refused candidate fails, judged by the models'
own code. A cell is believed to be what its most telling refusal says, by what is known without the secrets. Somebody
who puts all refusals together knows at least as much, so this is a lower bound of what can be known.

A finer node for the whole table is refused where its failing groups have more records than it may suppress. Classes are
dealt independently of each other, so how probable that is with a given dealing of one class follows from the
distribution of the failing records of each of the others.

Where there are few ways all of them are judged, and only then something is certain. Else ways are drawn at random: a
belief counts as raised if it is so by more than four standard errors. Where the search conceals, a refusal may also
have come by chance: then nothing is excluded, and no way is less probable than the chance of its refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from shoal.attacks.chance.statistics import Z_95
from shoal.attacks.informed.dealings import Dealings, Pool, all_dealings, all_draws, drawn_in_strata, some_dealings
from shoal.attacks.informed.knowledge import PriorKnowledge
from shoal.attacks.informed.outcome import Beliefs
from shoal.attacks.released_classes import Ints
from shoal.models import least_size
from shoal.search.evaluation import class_holds
from shoal.search.refusals import DealtClasses, Refusals, RefusedNode
from shoal.table.classes import ClassStats, Counts, Floats, Histogram, Mask
from shoal.table.recoding import SUPPRESSED

FEW_WAYS = 64  # ways to deal secrets that are all judged
DRAWN = 192  # ways that are drawn otherwise
MOST_STRATA = 200  # records of a group that is dealt in strata, if it is part of a class
FIRST_DRAWN = 16  # ways that are tried before
MOST_WORK = 2_000_000  # records times ways that are judged over all refusals
MOST_CUT = 80_000  # records of classes whose cuts are looked at, times the ways that are tried first
_LEAST_EFFECTIVE = 30.0  # draws that are left, by their weights, for a belief to be estimated from
_STANDARD_ERRORS = 4.0


@dataclass
class _Gathered:
    """The beliefs so far, by cell, and what they were made from."""

    known: PriorKnowledge
    column: str
    seed: int
    expected: Floats = field(init=False)
    least: Floats = field(init=False)
    margin: Floats = field(init=False)
    variance: Floats = field(init=False)  # of the belief in the true secrets of the cell
    shift: Floats = field(init=False)
    refused: int = 0  # candidates
    undecided: int = 0  # refusals of which no way was found that explains them
    too_large: int = 0  # refusals that were left out since they take too much work
    ways: int = 0
    work: int = 0
    sampled: bool = False
    reproduced: bool = True  # whether the true secrets explain every refusal

    def __post_init__(self) -> None:
        shape = self.known.true.shape
        self.expected, self.margin = self.known.baseline.copy(), np.zeros(shape)
        self.least = np.zeros((shape[0], self.known.value_of(self.column).shape[1]))
        self.variance, self.shift = np.zeros(shape[0]), np.zeros(shape[0])

    def ways_of(self, cells: Ints, part: Ints) -> Dealings | None:
        """The ways to deal secrets to parts of a class, or to one group that was left out; None beyond all work."""
        known = self.known
        sizes = np.bincount(part, weights=known.sizes[cells]).astype(np.int64)
        owner, total = int(known.owner[cells[0]]), int(sizes.sum())
        shown = known.class_secrets[owner] if owner >= 0 else None
        few = all_draws(total, known.prior, FEW_WAYS) if shown is None else all_dealings(sizes, shown, FEW_WAYS)
        alone = len(sizes) == (1 if shown is None else 2) and sizes[0] <= MOST_STRATA
        if few is None and self.work + DRAWN * total > MOST_WORK:
            self.too_large += 1
            return None
        if few is None:
            seed = [self.seed, int(cells[0]), len(cells)]
            if alone or shown is None:
                pool = Pool(int(sizes[0]), shown, known.prior)
                few = drawn_in_strata(pool, lambda counts: _fails(known, counts)[:, 0], seed)
            else:
                few = some_dealings(sizes, shown, DRAWN, seed)
        self.ways += len(few.weights)
        self.work += DRAWN * total
        return few

    def take(self, cells: Ints, part: Ints, dealings: Dealings, weights: Floats, possible: Mask) -> None:
        """Believe what the ways say that explain a refusal, where that is more telling than what was known."""
        total = weights.sum()
        if total <= 0 or (not dealings.exact and total**2 < _LEAST_EFFECTIVE * (weights**2).sum()):
            self.undecided += 1
            return
        weights = weights / total
        sizes = np.bincount(part, weights=self.known.sizes[cells])
        in_part = (self.known.sizes[cells] / sizes[part])[:, None]
        expected = np.einsum("w,wps->ps", weights, dealings.counts)
        spread = np.sqrt(np.einsum("w,wps->ps", weights**2, (dealings.counts - expected) ** 2))
        if dealings.exact:
            least = (dealings.counts[possible] @ self.known.value_of(self.column)).min(axis=0)
            least = least[part] - (sizes[part] - self.known.sizes[cells])[:, None]
            self.least[cells] = np.maximum(self.least[cells], least)
        else:
            self.sampled = True
        mine = expected[part] * in_part
        shift = np.abs(mine - self.known.baseline[cells]).sum(axis=1) / self.known.sizes[cells]
        better = shift > self.shift[cells]
        self.shift[cells[better]] = shift[better]
        self.expected[cells[better]] = mine[better]
        self.margin[cells[better]] = 0 if dealings.exact else (_STANDARD_ERRORS * spread[part] * in_part)[better]
        self.variance[cells[better]] = 0 if dealings.exact else ((spread[part] * in_part) ** 2).sum(axis=1)[better]

    def beliefs(self) -> Beliefs:
        """What is believed in the end, with the interval of the mean where ways were drawn."""
        if not self.sampled:
            return Beliefs(self.expected, self.least)
        own = self.known.by_value(self.known.true, self.column)
        after = self.known.by_value(self.expected, self.column) / np.maximum(own.sum(axis=1, keepdims=True), 1)
        records = own * self.known.problem.domains[self.column].known
        rate = float((after * records).sum() / max(records.sum(), 1))
        half = Z_95 * float(np.sqrt(self.variance.sum())) / max(float(records.sum()), 1.0)
        return Beliefs(self.expected, self.least, self.margin, (max(0.0, rate - half), min(1.0, rate + half)))


def decided_beliefs(known: PriorKnowledge, column: str, refusals: Refusals, seed: int) -> _Gathered:
    """What follows from everything that was refused."""
    found = _Gathered(known, column, seed)
    _left_out(found, refusals)
    for node in refusals.nodes:
        _finer_node(found, node)
    _not_cut(found, refusals)
    return found


def _left_out(found: _Gathered, refusals: Refusals) -> None:
    """Groups that were left out although they are large enough: each failed a model."""
    known = found.known
    group = np.where(known.owner == SUPPRESSED, refusals.failed[known.tuples], -1)
    for each in np.unique(group[group >= 0]):
        cells = np.flatnonzero(group == each)
        part = np.zeros(len(cells), dtype=np.int64)
        found.refused += 1
        found.reproduced &= bool(_fails(known, known.true[cells].sum(axis=0)[None, None])[0, 0])
        dealings = found.ways_of(cells, part)
        if dealings is not None:
            fails = _fails(known, dealings.counts)[:, 0]
            chances = refusals.failed_by_chance
            weights = np.where(fails, 1.0, 0.0 if chances is None else chances[known.tuples[cells[0]]])
            found.take(cells, part, dealings, dealings.weights * weights, weights > 0)


def _not_cut(found: _Gathered, refusals: Refusals) -> None:
    """Classes that were not cut although their sizes would have allowed it.

    A class that stays whole however its secrets are dealt tells nothing: that is tried on a few ways for all classes at
    once, and only the others are looked at closely.
    """
    known = found.known
    if refusals.uncut is None or refusals.uncut_classes is None:
        return
    classes = _classes_to_look_at(found, refusals.uncut_classes)
    found.refused += len(classes)
    if not classes:
        return
    first = [_first_ways(found, cells) for cells in classes]
    fits = refusals.uncut(_dealt(known, classes, [counts for counts, _ in first]))
    ends = np.cumsum([len(counts) for counts, _ in first])
    for cells, (_, few), fitting in zip(classes, first, np.split(fits, ends[:-1]), strict=True):
        found.reproduced &= bool(fitting[-1])
        part = np.arange(len(cells))
        dealings = few if few is not None or fitting.all() else found.ways_of(cells, part)
        if fitting.all() or dealings is None:
            continue
        uncut = fitting[:-1] if few is not None else refusals.uncut(_dealt(known, [cells], [dealings.counts]))
        chance = refusals.uncut_by_chance
        weights = np.where(uncut, 1.0, 0.0 if chance is None else chance(int(known.sizes[cells].sum())))
        found.take(cells, part, dealings, dealings.weights * weights, weights > 0)


def _classes_to_look_at(found: _Gathered, uncut: Callable[[Ints, Ints], bool]) -> list[Ints]:
    """The classes that are certain not to have been cut: all of them, or some drawn at random where they are many."""
    known, work, chosen = found.known, 0, list[Ints]()
    every = list(_large_classes(known))
    for index in np.random.default_rng(found.seed).permutation(len(every)).tolist():
        work += FIRST_DRAWN * int(known.sizes[every[index]].sum())
        if chosen and work > MOST_CUT:
            found.too_large += 1
        elif uncut(known.tuples[every[index]], known.sizes[every[index]]):
            chosen.append(every[index])
    return chosen


def _large_classes(known: PriorKnowledge) -> Iterator[Ints]:
    """The cells of each class that sizes would allow to be cut."""
    order = np.argsort(known.owner, kind="stable")
    starts = np.searchsorted(known.owner[order], np.arange(len(known.class_secrets) + 1))
    enough = 2 * least_size(known.problem.models)
    for start, end in pairwise(starts):
        if end - start > 1 and known.sizes[order[start:end]].sum() >= enough:
            yield order[start:end]


def _first_ways(found: _Gathered, cells: Ints) -> tuple[Ints, Dealings | None]:
    """All ways of a class where they are few, else the first that are drawn; the true one comes last."""
    known, sizes = found.known, found.known.sizes[cells]
    shown = known.class_secrets[known.owner[cells[0]]]
    few = all_dealings(sizes, shown, FIRST_DRAWN)
    ways = some_dealings(sizes, shown, FIRST_DRAWN, [found.seed, int(cells[0])]) if few is None else few
    found.ways += len(ways.weights)
    return np.concatenate([ways.counts, known.true[cells][None]]), few


def _dealt(known: PriorKnowledge, classes: Sequence[Ints], counts: Sequence[Ints]) -> DealtClasses:
    """Each way to deal secrets to some classes as a class of its own."""
    parts, begin = [], 0
    for cells, ways in zip(classes, counts, strict=True):
        way, cell, secret = np.nonzero(ways)
        parts.append((begin + way, known.tuples[cells[cell]], secret, ways[way, cell, secret]))
        begin += len(ways)
    owner, tuples, secrets, count = (np.concatenate(each) for each in zip(*parts, strict=True))
    return DealtClasses(owner, tuples, secrets, count, begin, known.secrets, known.n_secrets)


@dataclass(frozen=True, eq=False)
class _Unit:
    """A class, or a group that was left out, at a finer node: its ways, and the records in failing groups of each."""

    cells: Ints
    part: Ints
    dealings: Dealings
    failing: Counts

    @property
    def most(self) -> int:
        """The most records in failing groups that there can be."""
        every = int(self.dealings.counts[0].sum())
        return int(self.failing.max()) if self.dealings.exact else every

    def distribution(self, length: int) -> Floats:
        """How probable so many failing records are; the last entry is for all beyond."""
        found = np.bincount(np.minimum(self.failing, length - 1), weights=self.dealings.weights, minlength=length)
        return found.astype(np.float64)


def _finer_node(found: _Gathered, node: RefusedNode) -> None:
    """A finer candidate for the whole table: its failing groups have more records than were tolerated."""
    known = found.known
    group = node.group[known.tuples]
    sizes = np.bincount(group, weights=known.sizes).astype(np.int64)
    small = sizes[group] < least_size(known.problem.models)
    found.refused += 1
    tolerated = node.tolerated - int(known.sizes[small].sum())
    if tolerated < 0:
        return  # k explains it
    true = np.zeros((len(sizes), known.n_secrets), dtype=np.int64)
    np.add.at(true, group[~small], known.true[~small])
    there = np.unique(group[~small])
    failing = _fails(known, true[there][None])[0]
    found.reproduced &= bool(sizes[there[failing]].sum() > tolerated)
    units: list[_Unit] = []
    could = ~small & _could_fail(known, group, sizes)
    for cells in _units(known, group, could):
        # the groups that can fail come first, all others are one part
        part = np.unique(np.where(could[cells], group[cells], len(sizes)), return_inverse=True)[1]
        dealings = found.ways_of(cells, part)
        if dealings is None:
            return
        judged = _fails(known, dealings.counts) & (np.bincount(part, weights=could[cells]) > 0)
        units.append(_Unit(cells, part, dealings, (judged * dealings.counts.sum(axis=2)).sum(axis=1)))
    _believe_node(found, units, tolerated, node.by_chance)


def _could_fail(known: PriorKnowledge, group: Ints, sizes: Ints) -> Mask:
    """Whether the group of each cell can fail a model, by what its class shows; one that was left out always can."""
    owner = np.zeros(len(sizes), dtype=np.int64)
    owner[group] = known.owner  # a group is finer than a class
    could = owner < 0
    stats = _stats(known, known.class_secrets)
    for model in known.problem.models:
        could[owner >= 0] |= model.part_could_fail(stats.view(model.column), owner[owner >= 0], sizes[owner >= 0])
    return np.asarray(could[group])


def _units(known: PriorKnowledge, group: Ints, could: Mask) -> Iterator[Ints]:
    """The cells of each class with a group that can fail, and of each such group that was left out."""
    released = known.owner >= 0
    for owner in np.unique(known.owner[released & could]):
        yield np.flatnonzero(known.owner == owner)
    for each in np.unique(group[~released & could]):
        yield np.flatnonzero((group == each) & ~released)


def _believe_node(found: _Gathered, units: list[_Unit], tolerated: int, by_chance: float) -> None:
    """Weigh the ways of each unit by how probable it is that more than was tolerated fails with it."""
    length = tolerated + 2
    before = [np.eye(1, length)[0]]  # of the units before each one, and below of those after it
    for unit in units[:-1]:
        before.append(_sum(before[-1], unit.distribution(length)))
    after, most = np.eye(1, length)[0], sum(unit.most for unit in units)
    for unit, earlier in zip(units[::-1], before[::-1], strict=True):
        others = _sum(earlier, after)
        beyond = np.cumsum(others[::-1])[::-1]  # P(the others have at least so many)
        failing = np.minimum(unit.failing, tolerated + 1)
        chance = beyond[tolerated + 1 - failing]
        weights = unit.dealings.weights * (chance + by_chance * (1 - chance))
        possible = (unit.failing + (most - unit.most) > tolerated) | (by_chance > 0)
        found.take(unit.cells, unit.part, unit.dealings, weights, possible)
        after = _sum(after, unit.distribution(length))


def _sum(one: Floats, other: Floats) -> Floats:
    """The distribution of a sum, the last entry for all beyond."""
    result = np.zeros(len(one))
    for number in np.flatnonzero(other):
        result[number:] += other[number] * one[: len(one) - number]
        result[-1] += other[number] * one[len(one) - number :].sum()
    return result


def _fails(known: PriorKnowledge, counts: Ints) -> Mask:
    """Which groups fail a model, given the records of each secret in each: ``counts[way, group, secret]``."""
    flat = counts.reshape(-1, counts.shape[2])
    fails = ~class_holds(known.problem.models, _stats(known, flat)) & (flat.sum(axis=1) > 0)
    return np.asarray(fails.reshape(counts.shape[:2]))


def _stats(known: PriorKnowledge, counts: Ints) -> ClassStats:
    """What models see of groups, given the records of each secret in each: ``counts[group, secret]``."""
    problem, (owner, secret) = known.problem, np.nonzero(counts)
    released = known.class_secrets.sum(axis=0)
    histograms, reference = {}, {}
    for name in problem.sensitive_columns:
        width, values = len(problem.domains[name].values), known.secrets[name]
        entries = owner.astype(np.int64), values[secret], len(counts), width, counts[owner, secret]
        histograms[name] = Histogram.of(*entries)
        reference[name] = np.bincount(values, weights=released, minlength=width).astype(np.int64)
    return ClassStats(counts.sum(axis=1), histograms, problem.domains, reference)
