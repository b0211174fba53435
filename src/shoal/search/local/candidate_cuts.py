"""The cuts that `mondrian` chooses from, and what each of them saves.

A class can be cut

- in a column: at the children of the lowest common ancestor of its values, each a part of its own; or between two
  values, where a quarter, half or three quarters of its records are on one side, as nearly as its values allow; in a
  column that is released as ranges also between missing values and numbers;
- in all columns at once: each combination of values a part of its own.

Parts that fail the models are kept together as one part, which takes in the smallest of the others where it fails
itself. In a cut between two values both sides must hold.

In a column that is released as runs of base intervals, a class that has several of them is cut between two base
intervals instead of between any two values, and a cut that saves nothing is not made: its parts would release the same.

What a cut *saves* is what the records of the class cost less in their parts, by the measure that is lowered. How far it
*divides* the class is Σ n ln(N / n) over its parts of n records each, N in all: only so much can be divided before
classes are as small as the models allow. The cut is made for which saved / divided ^ `DIVISION` is largest. By what is
saved alone, a column with many values would divide a class so far that nothing is left to divide in other columns.

A value in a column never goes to two parts of a cut in it, and a combination of values never to two classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.models import least_size
from shoal.search.local.blocks import Codes, Indices
from shoal.search.local.cuts import Cut, absorb, refuse_some, rests
from shoal.search.local.partition import RecordSpace, Tally, summed
from shoal.table.classes import Counts, Floats, Mask
from shoal.table.encoded import numbered

DIVISION = 0.75
"""How much it counts how far a cut divides a class, between not at all (0) and as much as what it saves (1); tried on
Adult and generated tables."""
QUARTERS = (2, 1, 3)
"""Where a class is cut between two values, in quarters of its records: in the middle first."""
_NONE = np.zeros(0, dtype=np.int64)
_DIGITS = 9  # scores that agree to so many digits are equal: rounding must not decide between cuts


@dataclass(frozen=True, eq=False)
class Pieces:
    """The records of some classes in pieces that are not cut further: those of one value in a column, or in all."""

    entry: Indices  # the entries of the classes' tally, by class and piece
    piece: Indices  # piece of each of them
    owner: Indices  # class of each piece
    code: Indices  # what tells it from other pieces of its class, in ascending order
    sizes: Counts
    low: Codes  # ``low[column, piece]``: its smallest leaf code in each column
    high: Codes
    secrets: Tally  # those of each piece

    @cached_property
    def starts(self) -> Indices:
        """For each piece the first one of its class."""
        return np.searchsorted(self.owner, self.owner)


@dataclass(frozen=True, eq=False)
class ScoredCut:
    """A cut of some classes: the part of each piece once parts that fail are one, and what it is worth."""

    pieces: Pieces
    part: Indices  # -1 for pieces of classes that cannot be cut in this way
    n_parts: int
    score: Floats  # of each class; -1 for those that cannot be cut in this way

    def of(self, classes: Mask) -> tuple[Indices, Indices]:
        """The entries of some classes, and the part of each."""
        part = np.where(classes[self.pieces.owner], self.part, -1)[self.pieces.piece]
        inside = np.flatnonzero(part >= 0)
        return self.pieces.entry[inside], part[inside]


def candidate_cuts(space: RecordSpace, classes: Tally) -> Iterator[ScoredCut]:
    """Every cut of some classes that is looked at; of equals the first is made."""
    least = least_size(space.blocks.class_models)
    large = classes.sizes >= 2 * least
    codes, (low, high, nodes) = space.kinds.codes[:, classes.item], space.ranges(classes)
    before = space.record_costs(low.T, high.T)
    concealing = space.blocks.problem.concealing is not None
    for j in range(len(codes)):
        able = large & (low[:, j] < high[:, j])
        if not able.any():
            continue
        pieces = pieces_by_value(space, classes, codes, able, j)
        column = space.blocks.ranged.get(j)
        in_runs = column is not None and column.divided is not None
        cutter = _Cutter(space, classes, before, must_save=in_runs or concealing)
        place = pieces.code.astype(np.int32)
        child = space.ranks[j][space.child(j, nodes[pieces.owner, j], place)]
        yield cutter.score(pieces, child)
        if column is not None:
            place = column.between_runs(place, pieces.owner, classes.n)
        for above in _between_values(pieces, place, classes.sizes, least):
            yield cutter.score(pieces, above)
        if column is not None and (mixed := able & column.mixed(low[:, j], high[:, j])).any():
            yield cutter.score(pieces, np.where(mixed[pieces.owner], pieces.code == column.missing, -1))
    if (able := large & (low < high).any(axis=1)).any():
        pieces = pieces_by_combination(space, classes, codes, able)
        yield _Cutter(space, classes, before, must_save=concealing).score(pieces, pieces.code)


def pieces_by_value(space: RecordSpace, classes: Tally, codes: Codes, able: Mask, j: int) -> Pieces:
    """The records of some classes by their value in a column."""
    entry, width = np.flatnonzero(able[classes.group]), space.hierarchies[j].n_leaves
    keys = classes.group[entry] * width + codes[j, entry]
    order = _order(keys, classes.n * width)
    entry, keys = entry[order], keys[order]
    begins = np.flatnonzero(np.append(True, np.diff(keys) != 0))
    piece = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(keys))))
    ordered = codes[:, entry]
    return Pieces(
        entry,
        piece,
        owner=keys[begins] // width,
        code=keys[begins] % width,
        sizes=np.add.reduceat(classes.count[entry], begins),
        low=np.minimum.reduceat(ordered, begins, axis=1),
        high=np.maximum.reduceat(ordered, begins, axis=1),
        secrets=_secrets(space, classes, entry, piece, len(begins)),
    )


def pieces_by_combination(space: RecordSpace, classes: Tally, codes: Codes, able: Mask) -> Pieces:
    """The records of some classes by their values in all columns; entries with the same ones stand side by side."""
    entry = np.flatnonzero(able[classes.group])
    owner, ordered = classes.group[entry], codes[:, entry]
    changes = (np.diff(owner) != 0) | (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    begins = np.flatnonzero(np.append(True, changes))
    piece = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(entry))))
    first = ordered[:, begins]
    return Pieces(
        entry,
        piece,
        owner=owner[begins],
        code=np.arange(len(begins)) - np.searchsorted(owner[begins], owner[begins]),
        sizes=np.add.reduceat(classes.count[entry], begins),
        low=first,
        high=first,
        secrets=_secrets(space, classes, entry, piece, len(begins)),
    )


def _secrets(space: RecordSpace, classes: Tally, entry: Indices, piece: Indices, n: int) -> Tally:
    return space.tally(piece, space.kinds.secret[classes.item[entry]], classes.count[entry], n)


def _order(keys: Indices, space: int) -> Indices:
    """The stable order of keys, by 16 bits at a time, which NumPy sorts in linear time."""
    order = np.argsort((keys & 0xFFFF).astype(np.uint16), kind="stable")
    shift = 16
    while space >> shift:
        order = order[np.argsort((keys[order] >> shift & 0xFFFF).astype(np.uint16), kind="stable")]
        shift += 16
    return order


def _between_values(pieces: Pieces, place: Codes, sizes: Counts, least: int) -> Iterator[Indices]:
    """For each cut between two values which pieces are above it; -1 for those of classes without it.

    Pieces of a class with the same place are not cut apart. With two values, that is a cut at children, and two cuts
    may be the same.
    """
    running = np.cumsum(pieces.sizes)
    left = running - (running - pieces.sizes)[pieces.starts]  # records up to each piece, with it
    total = sizes[pieces.owner]
    several = np.bincount(pieces.owner, minlength=len(sizes))[pieces.owner] > 2
    ends = np.append(np.diff(place) != 0, True)  # the last piece of a class leaves nothing above
    border = np.flatnonzero(several & ends & (left >= least) & (total - left >= least))
    owner, tried = pieces.owner[border], list[Indices]()
    for quarters in QUARTERS:
        away = np.abs(4 * left[border] - quarters * total[border])
        order = np.lexsort((border, away, owner))
        classes, first = np.unique(owner[order], return_index=True)
        threshold = np.full(len(sizes), -1)
        threshold[classes] = border[order[first]]
        for other in tried:
            threshold[threshold == other] = -1
        tried.append(threshold.copy())
        mine = threshold[pieces.owner]
        if (mine >= 0).any():
            yield np.where(mine < 0, -1, np.arange(len(mine)) > mine)


@dataclass(frozen=True, eq=False)
class _Cutter:
    """Cuts of the classes of a round, each scored by what it saves."""

    space: RecordSpace
    classes: Tally
    before: Floats  # what a record of each class costs
    must_save: bool  # whether a cut that saves nothing is refused

    def score(self, pieces: Pieces, branch: Indices) -> ScoredCut:
        """Cut classes by the branch of each of their pieces; those with branch -1 are left as they are."""
        chosen = np.flatnonzero(branch >= 0)
        cut, number = self._cut(pieces, chosen, branch[chosen])
        good = _hold(self.space, cut, self.classes.n)
        final = np.where(cut.pushed, len(cut.owner) + cut.owner, np.arange(len(cut.owner)))
        held = good[pieces.owner[chosen]]
        distinct, part = numbered(final[number[held]], len(cut.owner) + self.classes.n)
        of_piece = np.full(len(branch), -1)
        of_piece[chosen[held]] = part
        score = self._score(pieces, chosen[held], part, len(distinct), good)
        return ScoredCut(pieces, of_piece, len(distinct), score)

    def _cut(self, pieces: Pieces, chosen: Indices, branch: Indices) -> tuple[Cut, Indices]:
        """The cut of some pieces by their branches, and the part of each of them."""
        n, width, secrets = self.classes.n, int(branch.max(initial=0)) + 1, pieces.secrets
        present, number = numbered(pieces.owner[chosen] * width + branch, n * width)
        if len(chosen) == len(pieces.owner):
            tally = self.space.tally(number[secrets.group], secrets.item, secrets.count, len(present))
        else:
            part = np.full(len(pieces.owner), -1)
            part[chosen] = number
            inside = np.flatnonzero(part[secrets.group] >= 0)
            group = part[secrets.group[inside]]
            tally = self.space.tally(group, secrets.item[inside], secrets.count[inside], len(present))
        cut = Cut(_NONE, _NONE, present // width, tally, ~self.space.holds(tally))
        if self.space.blocks.problem.concealing is not None:  # only then it matters which entries are in which part
            part = np.full(len(pieces.owner), -1)
            part[chosen] = number
            inside = np.flatnonzero(part[pieces.piece] >= 0)
            refuse_some(
                self.space, self.classes, replace(cut, entry=pieces.entry[inside], part=part[pieces.piece[inside]])
            )
        return cut, number

    def _score(self, pieces: Pieces, mine: Indices, part: Indices, n_parts: int, good: Mask) -> Floats:
        """What a cut into parts that hold is worth for each class, given the part of some pieces; else -1."""
        result = np.full(self.classes.n, -1.0)
        if not n_parts:
            return result
        order = _order(part, n_parts)
        mine, part = mine[order], part[order]
        begins = np.searchsorted(part, np.arange(n_parts))
        costs = self.space.record_costs(
            np.minimum.reduceat(pieces.low[:, mine], begins, axis=1),
            np.maximum.reduceat(pieces.high[:, mine], begins, axis=1),
        )
        sizes, owner = summed(part, pieces.sizes[mine], n_parts), pieces.owner[mine[begins]]
        total = self.classes.sizes[owner]
        saved = np.bincount(owner, weights=sizes * (self.before[owner] - costs), minlength=self.classes.n)
        divided = np.bincount(owner, weights=sizes * np.log(total / sizes), minlength=self.classes.n)
        if self.must_save:
            good = good & (np.round(saved, _DIGITS) > 0)
        result[good] = np.round(saved[good] / divided[good] ** DIVISION, _DIGITS)
        return result


def _hold(space: RecordSpace, cut: Cut, n_classes: int) -> Mask:
    """Which classes are cut into two parts or more that all hold, once failing rests have absorbed others."""
    good = np.bincount(cut.owner[~cut.pushed], minlength=n_classes) > 0
    failing = good & (np.bincount(cut.owner[cut.pushed], minlength=n_classes) > 0)
    if failing.any():
        failing[failing] = ~space.holds(rests(space, cut, failing))
        good &= ~failing | absorb(space, cut, failing)
    return good
