"""Released records served by originals: greedily first, then along augmenting paths until there is none.

The most particular released records choose first, at the speed of arrays: how many originals fit a record is estimated
from its labels alone, as if columns were independent, and those that many fit will find others. It is only an order of
trying: what stays open is left to the paths.

On a path an open record takes an original that serves another record, which takes one from a third, until one takes a
free original. A search goes out from all open records and from all free originals at once, always on the side where
less is to be done, and reaches every record and original once at most from either side. When a side comes to its end
and the two have not met, nothing can be gained any more (Berge): what is open then is open in every matching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from shoal.verification.canonical_text import Codes, Mask
from shoal.verification.matching.candidates import Flow, Graph
from shoal.verification.matching.fitting_pairs import FittingPairs, Found
from shoal.verification.matching.label_sets import spread

_TURNS: Final = 12
"""In how many turns the released records come to choose: those served early leave fewer pairs to the others."""
_TURN: Final = 100  # how many of them make a turn worth its while
_SOUGHT: Final = 8  # about how many originals are sought at a time for each record to be served
_PART: Final = 4_000  # how many originals make a part worth its while


def serve_greedily(graph: Graph, pairs: FittingPairs, flow: Flow) -> None:
    """Serve until no open record has a free original that fits."""
    share = graph.right_share
    order = np.argsort(share, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    shuffle = np.random.default_rng(0)  # spreads the choices; any order gives a matching
    turns = min(_TURNS, 1 + len(order) // _TURN)
    ends = np.searchsorted(np.cumsum(flow.demand[order]), np.arange(1, turns) * flow.demand.sum() / turns)
    for turn in np.split(order, ends):
        parts = 1 if pairs.at_hand else _parts(flow, float(share[turn].sum()), int(flow.demand[turn].sum()))
        part = shuffle.integers(0, parts, len(flow.supply))
        for place in range(parts):
            free = (flow.supply > 0) & (part == place)
            for left, right in pairs.of_right(np.sort(turn[flow.demand[turn] > 0]), free):
                _offer(flow, left, right, rank, shuffle)


def _parts(flow: Flow, share: float, demand: int) -> int:
    """In how many parts the free originals are sought, so that not all that fit are found for records that need few."""
    free = int(np.count_nonzero(flow.supply))
    return max(1, min(int(free * share / (_SOUGHT * max(demand, 1))), free // _PART))


def _offer(flow: Flow, left: Codes, right: Codes, rank: Codes, shuffle: np.random.Generator) -> None:
    """Each open record asks as many free originals as it needs, first those that fit few others.

    An original that is asked by several serves the most particular.
    """
    active = (flow.supply[left] > 0) & (flow.demand[right] > 0)
    left, right = left[active], right[active]
    order = np.lexsort((np.bincount(left)[left] + shuffle.random(len(left)), right))
    left, right = left[order], right[order]
    while True:
        active = (flow.supply[left] > 0) & (flow.demand[right] > 0)
        left, right = left[active], right[active]
        if not len(left):
            return
        have = flow.supply[left]
        ahead = _ahead(have, right)
        asked = np.flatnonzero(ahead < flow.demand[right])
        wanted = np.minimum(have[asked], flow.demand[right[asked]] - ahead[asked])
        order = np.lexsort((rank[right[asked]], left[asked]))
        asked, wanted = asked[order], wanted[order]
        given = np.clip(have[asked] - _ahead(wanted, left[asked]), 0, wanted)
        served = given > 0
        flow.serve(left[asked[served]], right[asked[served]], given[served])


def _ahead(amounts: Codes, groups: Codes) -> Codes:
    """The sum of the amounts before each in its own group; groups stand together."""
    ahead = np.cumsum(amounts) - amounts
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return ahead - np.repeat(ahead[starts], np.diff(starts, append=len(groups)))


_CHUNK = 1_000  # from how many nodes a search looks around before it leaves out what they reached
_CHOICE: Final = 2  # how many ways are kept through a node: more serve more in one search
_WORTH: Final = 10  # A search that has served ends when a step serves less than this part of it


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
        left, right = self._around(self.wanting, self.wanted, self.pairs.of_right)
        self._grow(self.wanting, left, right, self.left, self.right)
        met = self.to_be_had.reached[left]
        return left[met], right[met]

    def _give(self) -> tuple[Codes, Codes]:
        """Records that fit originals to be had could take them, and the originals that serve them are to be had."""
        fitting = self.pairs.of_left
        right, left = self._around(
            self.to_be_had, self.given_to, lambda some, new: ((right, left) for left, right in fitting(some, new))
        )
        self._grow(self.to_be_had, right, left, self.right, self.left)
        met = self.wanting.reached[right]
        return left[met], right[met]

    def _around(self, tree: SearchTree, seen: Mask, fitting: Callable[[Codes, Mask], Found]) -> tuple[Codes, Codes]:
        """Nodes of the other side that fit the frontier of a tree and were not seen, with what they fit."""
        found = [(np.zeros(0, dtype=np.int64),) * 2]
        for some in self._chunks(tree.frontier):
            here = [self._few(between, onward, ~seen[between]) for between, onward in fitting(some, ~seen)]
            for between, _ in here:
                seen[between] = True
            found += here
        return np.concatenate([between for between, _ in found]), np.concatenate([onward for _, onward in found])

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
        order = order[_ahead(np.ones_like(order), between[order]) < _CHOICE]
        return between[order], onward[order]

    def _grow(self, reach: SearchTree, between: Codes, onward: Codes, near: Codes, far: Codes) -> None:
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
