"""What a first matching leaves open, served along augmenting paths until there is none.

An open record takes an original that serves another record, which takes one from a third, until one takes a free
original. A search goes out from all open records and from all free originals at once, always on the side where less
is to be done, and reaches every record and original once at most from either side. When a side comes to its end and
the two have not met, nothing can be gained any more (Berge): what is open then is open in every matching.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from shoal.verification.graph import Flow, Graph
from shoal.verification.join import spread
from shoal.verification.pairs import Pairs
from shoal.verification.reach import Path, Reach
from shoal.verification.text import Codes, Mask

_CHUNK = 1_000
"""From how many nodes a search looks around before it leaves out what they reached."""
_CHOICE: Final = 2
"""How many ways are kept through a node: more serve more in one search."""
_WORTH: Final = 10
"""A search that has served ends when a step serves less than this part of it."""


def serve_along_paths(graph: Graph, pairs: Pairs, flow: Flow) -> None:
    """Serve open records until no path is left."""
    while flow.demand.any() and _Search(graph, pairs, flow).run():
        pass


class _Search:
    """One search from all open records and all free originals.

    Records *want* when they are open or could pass an original on to one that wants; originals are *to be had* when
    they are free or serve a record that could take one to be had instead. A path is where one fits the other.
    """

    def __init__(self, graph: Graph, pairs: Pairs, flow: Flow) -> None:
        self.graph, self.pairs, self.flow = graph, pairs, flow
        self.left, self.right, self.amount = flow.entries()
        self.shuffle = np.random.default_rng(0)  # spreads the search; any choice is a path
        self.wanting, self.to_be_had = Reach(flow.demand, self.amount), Reach(flow.supply, self.amount)
        self.wanted, self.given_to = np.zeros(len(flow.supply), np.bool_), np.zeros(len(flow.demand), np.bool_)

    def run(self) -> int:
        """Search and serve along the paths found; how many were served."""
        served, wanting, had = 0, self.wanting, self.to_be_had
        while len(wanting.frontier) and len(had.frontier):
            to_want = self.graph.right_share[wanting.frontier].sum() * len(self.wanted)
            to_give = self.graph.left_share[had.frontier].sum() * len(self.given_to)
            now = self._serve(*(self._want() if to_want < to_give else self._give()))
            served += now
            if _WORTH * now < served:  # what is left is in the way of itself: a new search finds it sooner
                return served
            wanting.prune()
            had.prune()
        return served

    def _want(self) -> tuple[Codes, Codes]:
        """Originals that fit records which want are wanted, and the records that they serve come to want."""
        found = []
        for some in self._chunks(self.wanting.frontier):
            here = [
                self._few(left, right, ~self.wanted[left]) for left, right in self.pairs.of_right(some, ~self.wanted)
            ]
            for left, _ in here:
                self.wanted[left] = True
            found += here
        left, right = _joined(found)
        self._grow(self.wanting, left, right, self.left, self.right)
        met = self.to_be_had.reached[left]
        return left[met], right[met]

    def _give(self) -> tuple[Codes, Codes]:
        """Records that fit originals to be had could take them, and the originals that serve them are to be had."""
        found = []
        for some in self._chunks(self.to_be_had.frontier):
            here = [
                self._few(right, left, ~self.given_to[right])
                for left, right in self.pairs.of_left(some, ~self.given_to)
            ]
            for right, _ in here:
                self.given_to[right] = True
            found += here
        right, left = _joined(found)
        self._grow(self.to_be_had, right, left, self.right, self.left)
        met = self.wanting.reached[right]
        return left[met], right[met]

    def _chunks(self, nodes: Codes) -> Iterator[Codes]:
        """Some at a time and ever more, in any order: what the first reach need not be looked at for the others."""
        nodes = self.shuffle.permutation(nodes)
        start, size = 0, len(nodes) if self.pairs.at_hand else max(_CHUNK, len(nodes) // 8)
        while start < len(nodes):
            yield np.sort(nodes[start : start + size])
            start, size = start + size, size * 4

    def _few(self, between: Codes, onward: Codes, new: Mask) -> tuple[Codes, Codes]:
        """Some of the new pairs for each node between."""
        order = self.shuffle.permutation(np.flatnonzero(new))
        order = order[np.argsort(between[order], kind="stable")]
        order = order[_place(between[order]) < _CHOICE]
        return between[order], onward[order]

    def _grow(self, reach: Reach, between: Codes, onward: Codes, near: Codes, far: Codes) -> None:
        """Reach the far ends of the entries whose near end is a node between."""
        order = np.argsort(between, kind="stable")
        between = between[order]
        passed = np.zeros(len(self.wanted if near is self.left else self.given_to), dtype=np.bool_)
        passed[between] = True
        entries = np.flatnonzero(passed[near])
        entries = entries[(self.amount[entries] > 0) & ~reach.reached[far[entries]]]
        starts = np.searchsorted(between, near[entries])
        again, places = spread(starts, np.searchsorted(between, near[entries], side="right") - starts)
        mixed = self.shuffle.permutation(len(again))
        entries, places = entries[again[mixed]], places[mixed]
        reach.grow(far[entries], entries, onward[order[places]])

    def _serve(self, left: Codes, right: Codes) -> int:
        """Serve along the paths through originals to be had that fit records which want."""
        new: list[tuple[int, int, int]] = []
        served = 0
        hopeful = self.to_be_had.has_room(left) & self.wanting.has_room(right)
        left, right = left[hopeful], right[hopeful]
        for original, record in zip(left.tolist(), right.tolist(), strict=True):
            while (before := self.to_be_had.path(original)) and (after := self.wanting.path(record)):
                if set(before[1]) & set(after[1]):  # the same cannot be given up twice
                    break
                served += self._push(before, after, new)
        if new:
            self.flow.add(*(np.array(column, dtype=np.int64) for column in zip(*new, strict=True)))
        return served

    def _push(self, before: Path, after: Path, new: list[tuple[int, int, int]]) -> int:
        """Move as much as the narrowest place of a path lets through."""
        originals, records = before[0], after[0]
        given_up = [*before[1], *after[1]]
        source, root = originals[-1], records[-1]
        amount = int(min(self.flow.supply[source], self.flow.demand[root], *self.amount[given_up]))
        self.amount[given_up] -= amount
        self.flow.supply[source] -= amount
        self.flow.demand[root] -= amount
        givers = [*originals[1:], originals[0], *self.left[after[1]].tolist()]
        takers = [*self.right[before[1]].tolist(), *records]
        new += zip(givers, takers, [amount] * len(takers), strict=True)
        return amount


def _place(groups: Codes) -> Codes:
    """The place of each in its own group; groups stand together."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return np.arange(len(groups)) - np.repeat(starts, np.diff(starts, append=len(groups)))


def _joined(pairs: list[tuple[Codes, Codes]]) -> tuple[Codes, Codes]:
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *(one for one, _ in pairs)]), np.concatenate([none, *(other for _, other in pairs)])
