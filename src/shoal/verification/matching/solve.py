"""Released records served by originals: greedily first, then along augmenting paths until there is none.

The most particular released records choose first, at the speed of arrays: how many originals fit a record is estimated
from its labels alone, as if columns were independent, and those that many fit will find others. It is only an order of
trying: what stays open is left to the paths.

On a path an open record takes an original that serves another record, which takes one from a third, until one takes a
free original. A search goes out from all open records and from all free originals at once, always on the side where
less is to be done, and reaches every record and original once at most from either side. When a side comes to its end
and the two have not met, nothing can be gained any more (Berge): what is open then is open in every matching.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from shoal.verification.canonical_text import Codes, Mask
from shoal.verification.matching.fitting_pairs import FittingPairs, Found
from shoal.verification.matching.label_sets import spread

_TURNS: Final = 12  # in how many turns records come to choose: those served early leave fewer pairs
_TURN: Final = 100  # how many of them make a turn worth its while
_SOUGHT: Final = 8  # about how many originals are sought at a time for each record to be served
_PART: Final = 4_000  # how many originals make a part worth its while
_CHUNK = 1_000  # from how many nodes a search looks around before it leaves out what they reached
_CHOICE: Final = 2  # how many ways are kept through a node: more serve more in one search
_WORTH: Final = 10  # A search that has served ends when a step serves less than this part of it


class Flow:
    """How many originals are still free, how many released records still open, and what serves what so far."""

    def __init__(self, supply: Codes, demand: Codes) -> None:
        self.supply, self.demand = supply.copy(), demand.copy()
        none = np.zeros(0, dtype=np.int64)
        self._parts: list[tuple[Codes, ...]] = [(none, none, none)]

    def serve(self, left: Codes, right: Codes, amount: Codes) -> None:
        """Let groups on the left serve groups on the right."""
        np.subtract.at(self.supply, left, amount)
        np.subtract.at(self.demand, right, amount)
        self.add(left, right, amount)

    def add(self, left: Codes, right: Codes, amount: Codes) -> None:
        """Note who serves whom."""
        self._parts.append((left, right, amount))

    def entries(self) -> tuple[Codes, Codes, Codes]:
        """Who serves whom and how often, the amounts to be written to; a pair may stand several times."""
        left, right, amount = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
        kept = amount > 0
        left, right, amount = left[kept], right[kept], amount[kept]
        self._parts = [(left, right, amount)]
        return left, right, amount


def serve_greedily(pairs: FittingPairs, flow: Flow) -> None:
    """Serve until no open record has a free original that fits."""
    share = pairs.right_share
    order = np.argsort(share, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    shuffle = np.random.default_rng(0)  # spreads the choices; any order gives a matching
    turns = min(_TURNS, 1 + len(order) // _TURN)
    ends = np.searchsorted(np.cumsum(flow.demand[order]), np.arange(1, turns) * flow.demand.sum() / turns)
    for turn in np.split(order, ends):
        parts = 1
        if not pairs.at_hand:  # so that not all originals that fit are found for records that need few
            free, wanted = int(np.count_nonzero(flow.supply)), max(int(flow.demand[turn].sum()), 1)
            parts = max(1, min(int(free * float(share[turn].sum()) / (_SOUGHT * wanted)), free // _PART))
        part = shuffle.integers(0, parts, len(flow.supply))
        for number in range(parts):
            free = (flow.supply > 0) & (part == number)
            for left, right in pairs.of_right(np.sort(turn[flow.demand[turn] > 0]), free):
                _offer(flow, left, right, rank, shuffle)


def _offer(flow: Flow, left: Codes, right: Codes, rank: Codes, shuffle: np.random.Generator) -> None:
    """Each open record asks as many free originals as it needs, rare ones first; they serve the most particular."""
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


def serve_along_paths(pairs: FittingPairs, flow: Flow) -> None:
    """Serve open records until no path is left."""
    while flow.demand.any() and _Search(pairs, flow).run():
        pass


Path = tuple[list[int], list[int]]  # its nodes, the last with room, and the entries of the flow given up between


class SearchTree:
    """What was reached from the nodes of one side that have room: from open records, or from free originals.

    A node that was reached has ways back: each gives up an entry of the flow and leads to a node reached before.
    """

    def __init__(
        self, room: Codes, fitting: Callable[[Codes, Mask], Found], entries: tuple[Codes, Codes, Codes]
    ) -> None:
        """``entries`` of the flow: the end on the other side, the end on this side, and the amount."""
        self._room, self._fitting = room, fitting
        self._near, self._far, self._amount = entries
        self.reached = room > 0
        self.frontier = np.flatnonzero(self.reached)
        self._first, self._last = np.zeros(len(room), dtype=np.int64), np.zeros(len(room), dtype=np.int64)
        self._root = np.arange(len(room))
        self._ways, self._onward = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def expand(self, seen: Mask, shuffle: np.random.Generator, *, at_once: bool) -> tuple[Codes, Codes]:
        """Nodes of the other side that fit the frontier and were not seen, with what they fit.

        The tree then reaches the nodes of its own side that share an entry with them.
        """
        found = [(np.zeros(0, dtype=np.int64),) * 2]
        nodes = shuffle.permutation(self.frontier)
        start, size = 0, len(nodes) if at_once else max(_CHUNK, len(nodes) // 8)
        while start < len(nodes):  # ever more at a time: what the first reach need not be looked at for the others
            some = np.sort(nodes[start : start + size])
            start, size = start + size, size * 4
            here = [_few(between, onward, ~seen[between], shuffle) for between, onward in self._fitting(some, ~seen)]
            for between, _ in here:
                seen[between] = True
            found += here
        between, onward = np.concatenate([each for each, _ in found]), np.concatenate([each for _, each in found])
        self._reach(between, onward, len(seen), shuffle)
        return between, onward

    def _reach(self, between: Codes, onward: Codes, others: int, shuffle: np.random.Generator) -> None:
        """Reach the far ends of the entries whose near end is a node between, each by some ways."""
        order = np.argsort(between, kind="stable")
        between = between[order]
        passed = np.zeros(others, dtype=np.bool_)
        passed[between] = True
        entries = np.flatnonzero(passed[self._near])
        entries = entries[(self._amount[entries] > 0) & ~self.reached[self._far[entries]]]
        starts = np.searchsorted(between, self._near[entries])
        again, indices = spread(starts, np.searchsorted(between, self._near[entries], side="right") - starts)
        mixed = shuffle.permutation(len(again))
        entries, onward = entries[again[mixed]], onward[order[indices[mixed]]]
        order = np.argsort(self._far[entries], kind="stable")
        fresh, starts, counts = np.unique(self._far[entries[order]], return_index=True, return_counts=True)
        self._first[fresh] = starts + len(self._ways)
        self._last[fresh] = starts + counts + len(self._ways)
        self._root[fresh] = self._root[onward[order[starts]]]
        self._ways = np.concatenate([self._ways, entries[order]])
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
            while last > first and not self._amount[self._ways[last - 1]]:
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
        return nodes, self._ways[ways].tolist()


def _few(between: Codes, onward: Codes, new: Mask, shuffle: np.random.Generator) -> tuple[Codes, Codes]:
    """Some of the new pairs for each node between."""
    order = shuffle.permutation(np.flatnonzero(new))
    order = order[np.argsort(between[order], kind="stable")]
    order = order[_ahead(np.ones_like(order), between[order]) < _CHOICE]
    return between[order], onward[order]


class _Search:
    """One search from all open records and all free originals.

    Records *want* when they are open or could pass an original on to one that wants; originals are *to be had* when
    they are free or serve a record that could take one to be had instead. A path is where one fits the other.
    """

    def __init__(self, pairs: FittingPairs, flow: Flow) -> None:
        self.pairs, self.flow = pairs, flow
        self.left, self.right, self.amount = flow.entries()
        self.wanting = SearchTree(flow.demand, pairs.of_right, (self.left, self.right, self.amount))
        self.to_be_had = SearchTree(flow.supply, pairs.of_left, (self.right, self.left, self.amount))

    def run(self) -> int:
        """Search and serve along the paths found; how many were served."""
        served, wanting, had = 0, self.wanting, self.to_be_had
        wanted, given_to = np.zeros(len(had.reached), np.bool_), np.zeros(len(wanting.reached), np.bool_)
        shuffle = np.random.default_rng(0)  # spreads the search; any choice is a path
        while len(wanting.frontier) and len(had.frontier):
            to_want = self.pairs.right_share[wanting.frontier].sum() * len(wanted)
            if to_want < self.pairs.left_share[had.frontier].sum() * len(given_to):
                left, right = wanting.expand(wanted, shuffle, at_once=self.pairs.at_hand)
                met = had.reached[left]
            else:
                right, left = had.expand(given_to, shuffle, at_once=self.pairs.at_hand)
                met = wanting.reached[right]
            now = self._serve(left[met], right[met])
            served += now
            if _WORTH * now < served:  # what is left is in the way of itself: a new search finds it sooner
                return served
            wanting.prune()
            had.prune()
        return served

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
        """Move as much as the narrowest part of a path lets through."""
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
