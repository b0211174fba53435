"""Cutting classes: the parts of a cut, which of them satisfy, and a rest for those that do not.

Parts that fail are pushed back together: they form the rest of their class. A rest that fails may absorb whole parts
that hold, or borrow records from parts that can spare them (X. Sun, H. Wang, J. Li, T. M. Truta 2008, section 5.2,
Algorithm 1). A cut is worth making when the rest holds or is empty and something is left beside it.

The paper leaves open which records are borrowed. Here the secret that the rest at the parent lacks most, compared with
the class that is being specialized, is taken first - unless one record of another of the most lacking makes the rest
hold at once. The class as a whole satisfies, so a rest that comes to resemble it does so too, for every model that
limits shares; models that ask for a number of something are helped by any record. The child that gives is one that
holds without the record, the largest of those. All rests of a round are worked on in the same passes; in each, a rest
takes once or strikes out a secret that no child can spare.
"""

from dataclasses import dataclass

import numpy as np

from shoal.models import least_needed
from shoal.search.conceal import PART_REFUSED, REFUSED, mixed_marks, smallness, summed_marks
from shoal.search.local.blocks import Indices
from shoal.search.local.partition import RecordSpace, Tally, grouped, summed
from shoal.table.classes import Counts, Mask
from shoal.table.encoded import distinct_codes, numbered, spans


@dataclass(frozen=True, eq=False)
class Cut:
    """Some classes, each cut into parts."""

    entry: Indices  # the entries of the classes' tally that were cut
    part: Indices  # part of each of them
    owner: Indices  # class of each part; parts of a class stand side by side, in the order of their branches
    secrets: Tally  # those of each part
    pushed: Mask  # which parts are pushed back to their class: those that fail, and those that a rest absorbed


def cut_classes(space: RecordSpace, classes: Tally, entry: Indices, branch: Indices) -> Cut:
    """Cut the classes of some entries by the branch that each entry lies in."""
    width = int(branch.max(initial=0)) + 1
    present, part = numbered(classes.group[entry] * width + branch, classes.n * width)
    secrets = space.tally(part, space.kinds.secret[classes.item[entry]], classes.count[entry], len(present))
    return Cut(entry, part, present // width, secrets, ~space.holds(secrets))


def refuse_some(space: RecordSpace, classes: Tally, cut: Cut) -> None:
    """Where the search conceals: push back parts, or all parts of a class, that are refused although they hold.

    The same parts of a class get the same answer, in whichever column and way they are cut.
    """
    veto = space.blocks.problem.concealing
    if veto is None:
        return
    kind, count = classes.item[cut.entry], classes.count[cut.entry]
    part = summed_marks(space.kind_marks[kind], count, cut.part, len(cut.owner))
    ones = np.ones(len(part), dtype=np.int64)
    whole = summed_marks(part, ones, cut.owner, classes.n)
    divided = summed_marks(mixed_marks(part), ones, cut.owner, classes.n)
    holding = np.zeros(classes.n, dtype=np.bool_)
    holding[cut.owner[~cut.pushed]] = True
    small = smallness(classes.sizes, least_needed(space.blocks.problem.models))
    refused = veto.refuses("cut", whole, divided, chance=np.where(holding, REFUSED * small, 0))
    cut.pushed[refused[cut.owner]] = True
    chance = np.where(cut.pushed, 0, PART_REFUSED * small[cut.owner])
    cut.pushed[veto.refuses("part", whole[cut.owner], part, chance=chance)] = True


def rests(space: RecordSpace, cut: Cut, classes: Mask) -> Tally:
    """What is pushed back in each of some classes, each of which has such parts."""
    secrets = cut.secrets
    chosen = (cut.pushed & classes[cut.owner])[secrets.group]
    owner = (np.cumsum(classes) - 1)[cut.owner[secrets.group[chosen]]]
    return space.tally(owner, secrets.item[chosen], secrets.count[chosen], int(classes.sum()))


def _rests_and_parts(space: RecordSpace, cut: Cut, classes: Mask) -> tuple[Tally, Indices, Tally, Indices]:
    """The rest of each of some classes, their parts that hold, the secrets of these, and the rest beside each part."""
    holding = ~cut.pushed & classes[cut.owner]
    rest_of = (np.cumsum(classes) - 1)[cut.owner[holding]]
    return rests(space, cut, classes), np.flatnonzero(holding), cut.secrets.of(holding), rest_of


def absorb(space: RecordSpace, cut: Cut, classes: Mask) -> Mask:
    """Let the failing rest of some classes absorb parts that hold, smallest first, until it holds and one part is left.

    Parts that are absorbed are pushed back. Gives which of the classes have a rest that holds in the end.
    """
    rest, parts, given, rest_of = _rests_and_parts(space, cut, classes)
    order = np.lexsort((given.sizes, rest_of))
    rank = np.empty(given.n, dtype=np.int64)
    rank[order] = np.arange(given.n) - np.searchsorted(rest_of[order], rest_of[order])
    of_rest, number = np.bincount(rest_of, minlength=rest.n), 1
    held = np.zeros(rest.n, dtype=np.bool_)
    while (open_rests := ~held & (of_rest > number)).any():
        tried = (rank < number) & open_rests[rest_of]
        own, theirs = open_rests[rest.group], tried[given.group]
        group = np.concatenate([rest.group[own], rest_of[given.group[theirs]]])
        secret = np.concatenate([rest.item[own], given.item[theirs]])
        count = np.concatenate([rest.count[own], given.count[theirs]])
        dense = np.cumsum(open_rests) - 1
        good = space.holds(space.tally(dense[group], secret, count, int(open_rests.sum())))
        held[np.flatnonzero(open_rests)[good]] = True
        cut.pushed[parts[tried & held[rest_of]]] = True
        number += 1
    result = classes.copy()
    result[classes] = held
    return result


_TRIED = 8  # how many of the secrets that a rest lacks most are tried on it
_PORTION = 16
"""A rest of this many records or more takes several at a time, so that large ones come to an end as well: up to one
for each such number that it has."""


def largest_after_borrowing(k: int) -> int:
    """Records that a rest has at most after borrowing, where it must have k and nothing else."""
    return k - 1 + max((k - 1) // _PORTION, 1)


class _Market:
    """The rests and the children that may give to them, by secret; counts change while records are taken.

    Each *item* is a secret of a class being specialized, each *offer* that secret in one of its children.
    """

    def __init__(self, space: RecordSpace, rest: Tally, children: Tally, rest_of: Indices) -> None:
        self.space, width = space, space.kinds.n_secrets
        rest_keys, offer_keys = rest.group * width + rest.item, rest_of[children.group] * width + children.item
        every, self.item_all = grouped(
            np.concatenate([rest_keys, offer_keys]), np.concatenate([rest.count, children.count]), rest.n * width
        )
        self.item_rest, self.item_secret = every // width, every % width
        self.item_count = np.zeros(len(every), dtype=np.int64)
        self.item_count[np.searchsorted(every, rest_keys)] = rest.count
        self.item_open = self.item_count < self.item_all
        self.offer_child, self.offer_item = children.group, np.searchsorted(every, offer_keys)
        self.offer_count, self.offer_given = children.count.copy(), np.zeros(len(children.count), dtype=np.int64)
        self.offer_starts = np.searchsorted(children.group, np.arange(children.n + 1))
        self.by_item = np.argsort(self.offer_item, kind="stable")
        self.item_offers = np.searchsorted(self.offer_item[self.by_item], np.arange(len(every) + 1))
        self.rest_sizes, self.child_sizes = rest.sizes.copy(), children.sizes.copy()
        self.class_sizes = summed(self.item_rest, self.item_all, rest.n)

    def rest_holds(self, rests: Indices, items: Indices, more: Counts) -> Mask:
        """Whether each of some rests holds with so many more of an item."""
        present = np.flatnonzero(self.item_count)
        owner = self.item_rest[present]
        starts, ends = np.searchsorted(owner, rests), np.searchsorted(owner, rests, side="right")
        own = present[spans(starts, ends - starts)]
        group = np.concatenate([np.repeat(np.arange(len(rests)), ends - starts), np.arange(len(rests))])
        secret = np.concatenate([self.item_secret[own], self.item_secret[items]])
        count = np.concatenate([self.item_count[own], more])
        return self.space.holds(self.space.tally(group, secret, count, len(rests)))

    def child_holds(self, offers: Indices, less: Counts) -> Mask:
        """Whether the child of each offer holds with so many fewer of it; a child never gives its last record."""
        child = self.offer_child[offers]
        left = self.child_sizes[child] > less
        result = np.zeros(len(offers), dtype=np.bool_)
        if left.any():
            offers, less, child = offers[left], less[left], child[left]
            lengths = self.offer_starts[child + 1] - self.offer_starts[child]
            own = spans(self.offer_starts[child], lengths)
            group = np.repeat(np.arange(len(offers)), lengths)
            count = self.offer_count[own] - np.where(own == offers[group], less[group], 0)
            secret = self.item_secret[self.offer_item[own]]
            result[left] = self.space.holds(self.space.tally(group, secret, count, len(child)))
        return result

    def next_items(self, active: Mask) -> tuple[Indices, Counts]:
        """The item that each active rest with an open one takes next, and how many of it."""
        items = np.flatnonzero(self.item_open & active[self.item_rest])
        owner = self.item_rest[items]
        lack = self.item_all[items] * self.rest_sizes[owner] - self.item_count[items] * self.class_sizes[owner]
        order = np.lexsort((items, -lack, owner))
        items, owner = items[order], owner[order]
        rank = np.arange(len(items)) - np.searchsorted(owner, owner)
        items, owner, rank = items[rank < _TRIED], owner[rank < _TRIED], rank[rank < _TRIED]
        enough = self.rest_holds(owner, items, np.ones(len(items), dtype=np.int64))
        best = np.lexsort((rank, ~enough, owner))
        best = best[np.flatnonzero(np.concatenate([[True], np.diff(owner[best]) != 0]))]
        portion = np.maximum(self.rest_sizes[owner[best]] // _PORTION, 1)
        return items[best], np.where(enough[best], 1, portion)

    def give(self, items: Indices, wanted: Counts) -> None:
        """Move records of each item from a child that can spare them, or strike the item out."""
        lengths = self.item_offers[items + 1] - self.item_offers[items]
        offers = self.by_item[spans(self.item_offers[items], lengths)]
        buyer = np.repeat(np.arange(len(items)), lengths)
        offers, buyer = offers[self.offer_count[offers] > 0], buyer[self.offer_count[offers] > 0]
        amount = np.minimum(wanted[buyer], self.offer_count[offers])
        fine = self.child_holds(offers, amount)
        smaller = np.flatnonzero(~fine & (amount > 1))
        if len(smaller):
            amount[smaller] = 1
            fine[smaller] = self.child_holds(offers[smaller], amount[smaller])
        offers, buyer, amount = offers[fine], buyer[fine], amount[fine]
        best = np.lexsort((offers, -self.child_sizes[self.offer_child[offers]], -amount, buyer))
        best = best[np.searchsorted(buyer[best], distinct_codes(buyer))]
        given = np.zeros(len(items), dtype=np.bool_)
        given[buyer[best]] = True
        self.item_open[items[~given]] = False
        offers, amount = offers[best], amount[best]  # one of each rest at most, so no entry is written twice
        items = self.offer_item[offers]
        self.offer_count[offers] -= amount
        self.offer_given[offers] += amount
        self.child_sizes[self.offer_child[offers]] -= amount
        self.item_count[items] += amount
        self.rest_sizes[self.item_rest[items]] += amount
        self.item_open[items] &= self.item_count[items] < self.item_all[items]


def borrow(space: RecordSpace, cut: Cut, classes: Mask) -> tuple[tuple[Indices, Indices, Counts], Mask]:
    """Let the failing rest of some classes take records from parts until it holds or nothing can be spared.

    Gives part, secret and number of what is borrowed, and which of the classes have a rest that holds in the end.
    """
    rest, parts, children, rest_of = _rests_and_parts(space, cut, classes)
    market = _Market(space, rest, children, rest_of)
    active, held = np.ones(rest.n, dtype=np.bool_), np.zeros(rest.n, dtype=np.bool_)
    while True:
        able = np.zeros(rest.n, dtype=np.bool_)
        able[market.item_rest[market.item_open]] = True
        active &= able & ~held
        if not active.any():
            break
        items, wanted = market.next_items(active)
        before = market.item_count[items]
        market.give(items, wanted)
        moved = items[market.item_count[items] > before]
        if len(moved):
            owner = market.item_rest[moved]
            held[owner] = market.rest_holds(owner, moved, np.zeros(len(moved), dtype=np.int64))
    given = np.flatnonzero((market.offer_given > 0) & held[rest_of[market.offer_child]])
    secret = market.item_secret[market.offer_item[given]]
    result = classes.copy()
    result[classes] = held
    return (parts[market.offer_child[given]], secret, market.offer_given[given]), result
