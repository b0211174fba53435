"""Cutting classes: the parts of a cut, which of them satisfy, and a rest for those that do not.

Parts that fail are pushed back together: they form the rest of their class. A rest that fails may absorb whole parts
that hold. A cut is worth making when the rest holds or is empty and something is left beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.search.local.partition import Entries, Indices, RecordSpace, SecretCounts
from shoal.table.classes import Mask


@dataclass(frozen=True, eq=False)
class Cut:
    """Some classes, each cut into parts."""

    entry: Indices
    """The entries that were cut."""
    part: Indices
    """Part of each of them."""
    owner: Indices
    """Class of each part; parts of a class stand side by side, in the order of their branches."""
    counts: SecretCounts
    """The secrets of each part."""
    pushed: Mask
    """Which parts are pushed back to their class: those that fail, and those that a rest absorbed."""


def cut_classes(space: RecordSpace, entries: Entries, entry: Indices, branch: Indices, width: int) -> Cut:
    """Cut the classes of some entries by the branch that each entry lies in, a number below ``width``."""
    present, part = numbered(entries.owner[entry] * width + branch, entries.n_classes * width)
    counts = space.tally(part, space.kinds.secret[entries.kind[entry]], entries.count[entry], len(present))
    return Cut(entry, part, present // width, counts, ~space.holds(counts))


def numbered(keys: Indices, space: int) -> tuple[Indices, Indices]:
    """The distinct keys in ascending order, and the number of each key among them."""
    if space > 8 * len(keys):
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, inverse
    seen = np.zeros(space, dtype=np.bool_)
    seen[keys] = True
    number = np.cumsum(seen) - 1
    return np.flatnonzero(seen), number[keys]


def rests(space: RecordSpace, cut: Cut, classes: Mask) -> SecretCounts:
    """What is pushed back in each of some classes, each of which has such parts."""
    counts = cut.counts
    chosen = (cut.pushed & classes[cut.owner])[counts.group]
    number = np.cumsum(classes) - 1
    owner = number[cut.owner[counts.group[chosen]]]
    return space.tally(owner, counts.secret[chosen], counts.count[chosen], int(classes.sum()))


def absorb(space: RecordSpace, rest: SecretCounts, parts: SecretCounts, rest_of: Indices) -> tuple[Mask, Mask]:
    """Let each failing rest absorb parts that hold, smallest first, until it holds and while one part is left.

    Gives which parts are absorbed, and which rests hold in the end.
    """
    order = np.lexsort((parts.sizes, rest_of))
    rank = np.empty(parts.n, dtype=np.int64)
    rank[order] = np.arange(parts.n) - np.searchsorted(rest_of[order], rest_of[order])
    of_rest = np.bincount(rest_of, minlength=rest.n)
    held = np.zeros(rest.n, dtype=np.bool_)
    absorbed = np.zeros(parts.n, dtype=np.bool_)
    number = 1
    while (open_rests := ~held & (of_rest > number)).any():
        tried = (rank < number) & open_rests[rest_of]
        own, theirs = open_rests[rest.group], tried[parts.group]
        group = np.concatenate([rest.group[own], rest_of[parts.group[theirs]]])
        secret = np.concatenate([rest.secret[own], parts.secret[theirs]])
        count = np.concatenate([rest.count[own], parts.count[theirs]])
        dense = np.cumsum(open_rests) - 1
        good = np.flatnonzero(open_rests)[space.holds(space.tally(dense[group], secret, count, int(open_rests.sum())))]
        held[good] = True
        absorbed |= tried & held[rest_of]
        number += 1
    return absorbed, held
