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

from shoal.verification.canonical_text import Codes, Mask
from shoal.verification.matching.candidates import spread
from shoal.verification.matching.fitting_pairs import FittingPairs
from shoal.verification.matching.graph import Flow, Graph

_CHUNK = 1_000
"""From how many nodes a search looks around before it leaves out what they reached."""
_CHOICE: Final = 2
"""How many ways are kept through a node: more serve more in one search."""
_WORTH: Final = 10
"""A search that has served ends when a step serves less than this part of it."""


def serve_along_paths(graph: Graph, pairs: FittingPairs, flow: Flow) -> None:
    """Serve open records until no path is left."""
    while flow.demand.any() and _Search(graph, pairs, flow).run():
        pass


Path = tuple[list[int], list[int]]
"""The nodes of a path, the last of which has room, and the entries of the flow that are given up between them."""


class SearchTree:
    """What was reached from the nodes that have room: from open records, or from free originals.

    A node that was reached has ways back: each gives up an entry of the flow and leads to a node reached before.
    """

    def __init__(self, room: Codes, amount: Codes) -> None:
        self._room, self._amount = room, amount
        self.reached = room > 0
        self.frontier = np.flatnonzero(self.reached)
        self._first = np.zeros(len(room), dtype=np.int64)
        self._last = np.zeros(len(room), dtype=np.int64)
        self._root = np.arange(len(room))
        self._entries = np.zeros(0, dtype=np.int64)
        self._onward = np.zeros(0, dtype=np.int64)

    def grow(self, nodes: Codes, entries: Codes, onward: Codes) -> None:
        """Reach nodes for the first time by ways that each give up an entry and lead on to a node reached before."""
        order = np.argsort(nodes, kind="stable")
        fresh, starts, counts = np.unique(nodes[order], return_index=True, return_counts=True)
        self._first[fresh] = starts + len(self._entries)
        self._last[fresh] = starts + counts + len(self._entries)
        self._root[fresh] = self._root[onward[order[starts]]]
        self._entries = np.concatenate([self._entries, entries[order]])
        self._onward = np.concatenate([self._onward, onward[order]])
        self.reached[fresh] = True
        self.frontier = fresh

    def prune(self) -> None:
        """Go on only from where there still is room behind; the rest will be found again by another search."""
        self.frontier = self.frontier[self.has_room(self.frontier)]

    def has_room(self, nodes: Codes) -> Mask:
        """Whether there still is room at the end of one way from each node."""
        return self._room[self._root[nodes]] > 0

    def path(self, node: int) -> Path | None:
        """A way from a node to one with room; None when none is left. Dead ends are not tried twice."""
        nodes, ways = [node], list[int]()
        while not self._room[nodes[-1]]:
            node = nodes[-1]
            first, last = int(self._first[node]), int(self._last[node])
            while last > first and not self._amount[self._entries[last - 1]]:
                last -= 1
            self._last[node] = last
            if last > first:
                ways.append(last - 1)
                nodes.append(int(self._onward[last - 1]))
            elif ways:
                nodes.pop()
                ways.pop()
                self._last[nodes[-1]] -= 1
            else:
                return None
        return nodes, self._entries[ways].tolist()


class _Search:
    """One search from all open records and all free originals.

    Records *want* when they are open or could pass an original on to one that wants; originals are *to be had* when
    they are free or serve a record that could take one to be had instead. A path is where one fits the other.
    """

    def __init__(self, graph: Graph, pairs: FittingPairs, flow: Flow) -> None:
        self.graph, self.pairs, self.flow = graph, pairs, flow
        self.left, self.right, self.amount = flow.entries()
        self.shuffle = np.random.default_rng(0)  # spreads the search; any choice is a path
        self.wanting, self.to_be_had = SearchTree(flow.demand, self.amount), SearchTree(flow.supply, self.amount)
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

    def _grow(self, reach: SearchTree, between: Codes, onward: Codes, near: Codes, far: Codes) -> None:
        """SearchTree the far ends of the entries whose near end is a node between."""
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
