"""Borrowing records from children that can spare them, so that what was pushed back to the parent satisfies.

X. Sun, H. Wang, J. Li, T. M. Truta 2008, section 5.2, Algorithm 1: "we should further move some tuples from other leaf
nodes L to the parent node so that the parent node can satisfy (p, α)-sensitive k-anonymity while L also maintain" it.
The paper leaves open which. Here the secret that the rest at the parent lacks most, compared with the class that is
being specialized, is taken first - unless one record of another of the most lacking makes the rest hold at once. The
class as a whole satisfies, so a rest that comes to resemble it does so too, for every model that limits shares; models
that ask for a number of something are helped by any record. The child that gives is one that holds without the
record, the largest of those.

All rests of a round are worked on in the same passes; in each, a rest takes once or strikes out a secret that no child
can spare.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.search.local.partition import Indices, RecordSpace, SecretCounts, grouped, summed
from shoal.table.classes import Counts, Mask
from shoal.table.encoded import spans

_TRIED = 8
"""How many of the secrets that a rest lacks most are tried on it."""
_PORTION = 16
"""A rest of this many records or more takes several at a time, so that large ones come to an end as well: up to one
for each such number that it has."""


@dataclass(frozen=True, eq=False)
class Borrowing:
    """What rests borrow from children, and which rests hold in the end."""

    child: Indices
    secret: Indices
    count: Counts
    held: Mask


class _Market:
    """The rests and the children that may give to them, by secret; counts change while records are taken.

    Each *item* is a secret of a class being specialized, each *offer* that secret in one of its children.
    """

    def __init__(self, space: RecordSpace, rest: SecretCounts, children: SecretCounts, rest_of: Indices) -> None:
        self.space, self.n_rests, self.n_children, self.rest_of = space, rest.n, children.n, rest_of
        width = space.kinds.n_secrets
        rest_keys, offer_keys = rest.group * width + rest.secret, rest_of[children.group] * width + children.secret
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
        best = best[np.searchsorted(buyer[best], np.unique(buyer))]
        given = np.zeros(len(items), dtype=np.bool_)
        given[buyer[best]] = True
        self._move(offers[best], amount[best])
        self.item_open[items[~given]] = False

    def _move(self, offers: Indices, amount: Counts) -> None:
        """One offer of each rest at most, so no entry is written twice."""
        items = self.offer_item[offers]
        self.offer_count[offers] -= amount
        self.offer_given[offers] += amount
        self.child_sizes[self.offer_child[offers]] -= amount
        self.item_count[items] += amount
        self.rest_sizes[self.item_rest[items]] += amount
        self.item_open[items] &= self.item_count[items] < self.item_all[items]


def borrow(space: RecordSpace, rest: SecretCounts, children: SecretCounts, rest_of: Indices) -> Borrowing:
    """Let each failing rest take records from the children of its class until it holds or nothing can be spared."""
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
    return Borrowing(market.offer_child[given], secret, market.offer_given[given], held)
