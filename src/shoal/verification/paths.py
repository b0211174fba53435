"""What a first matching leaves open, served along augmenting paths: exact, and pairs are looked for only on the way.

An open record takes an original that serves another record, which takes one from a third, until one takes a free
original. A search goes out from all open records and from all free originals at once, always on the side where less
is to be done, and reaches every record and original once at most from either side. When a side comes to its end and
the two have not met, nothing can be gained any more (Berge): what is open then is open in every matching.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.verification.graph import Flow, Graph
from shoal.verification.join import Side, Some
from shoal.verification.text import Codes

_CHUNK: Final = 1_000
"""How many records are looked at before those reached are left out of what follows."""
_MEETINGS: Final = 8
"""How many records are tried for each original where the two sides meet."""


def serve_along_paths(graph: Graph, flow: Flow) -> None:
    """Serve open records until no path is left."""
    left = Some(graph.left, np.arange(len(flow.supply)))
    right = Some(graph.right, np.arange(len(flow.demand)))
    while flow.demand.any() and _Search(graph, flow, left, right).run():
        pass


class _Search:
    """One search from all open records and all free originals.

    Records *want* when they are open or could pass a free original on to an open record; originals are *to be had*
    when they are free or serve a record that could take a free one instead. A path is found where an original to be
    had fits a record that wants.
    """

    def __init__(self, graph: Graph, flow: Flow, left: Some, right: Some) -> None:
        self.graph, self.flow = graph, flow
        self.left, self.right, self.amount = flow.entries()
        self.shuffle = np.random.default_rng(0)  # spreads the searches; any choice is a path
        self.wanted_from, self.given_to = left, right
        """The originals that no record wants yet and the records that nothing is given to; some of them since are."""
        n_left, n_right = len(flow.supply), len(flow.demand)
        self.taker = np.full(n_left, -1)
        """The record that wants each original."""
        self.distance = np.where(flow.demand > 0, 0, -1)
        """How many exchanges each record that wants is away from an open one."""
        self.root = np.where(flow.demand > 0, np.arange(n_right), -1)
        """The open record behind each record that wants."""
        self.ways, self.n_ways = np.empty_like(self.left), 0
        """The entries of the flow that a record which wants could give up, those of one record together."""
        self.ways_start, self.ways_stop = np.zeros(n_right, dtype=np.int64), np.zeros(n_right, dtype=np.int64)
        self.giver = np.full(n_right, -1)
        """The original that each record could take instead."""
        self.given_up = np.where(flow.supply > 0, -1, -2)
        """The entry of the flow whose end makes each original to be had; -1 for a free one, -2 for none."""
        self.source = np.where(flow.supply > 0, np.arange(n_left), -1)
        """The free original behind each original to be had."""

    def run(self) -> int:
        """Search and serve along the paths found; how many were served."""
        wanting, had, served = np.flatnonzero(self.flow.demand > 0), np.flatnonzero(self.flow.supply > 0), 0
        while len(wanting) and len(had):
            to_want = self.graph.right_share[wanting].sum() * len(self.taker)
            to_give = self.graph.left_share[had].sum() * len(self.giver)
            if to_want < to_give:
                met, wanting = self._want(wanting)
            else:
                met, had = self._give(had)
            served += self._serve(*met)
            wanting = wanting[self.flow.demand[self.root[wanting]] > 0]
            had = had[self.flow.supply[self.source[had]] > 0]
        return served

    def _want(self, wanting: Codes) -> tuple[tuple[Codes, Codes], Codes]:
        """Originals that fit records which want are wanted, and the records that they serve come to want."""
        met, reached = [], np.zeros(len(self.taker), dtype=np.bool_)
        for some in self._chunks(wanting):
            for left, right in self.graph.pairs(self.wanted_from, Some(self.graph.right, some)):
                new = self.taker[left] < 0
                left, right = self._shuffled(left[new], right[new])
                self.taker[left] = right  # of several the last, by the shuffle any
                reached[left] = True
                here = self.given_up[left] > -2
                met.append((left[here], right[here]))
            self.wanted_from = _shrunk(self.graph.left, self.wanted_from, self.taker < 0)
        entries = np.flatnonzero(reached[self.left] & (self.amount > 0))
        entries = entries[self.distance[self.right[entries]] < 0]
        entries = entries[np.argsort(self.right[entries], kind="stable")]
        records, starts, counts = np.unique(self.right[entries], return_index=True, return_counts=True)
        self.ways[self.n_ways : self.n_ways + len(entries)] = entries
        self.ways_start[records] = self.n_ways + starts
        self.ways_stop[records] = self.n_ways + starts + counts
        self.n_ways += len(entries)
        takers = self.taker[self.left[entries[starts]]]
        self.root[records] = self.root[takers]
        self.distance[records] = self.distance[takers] + 1
        return _joined(met), records

    def _give(self, had: Codes) -> tuple[tuple[Codes, Codes], Codes]:
        """Records that fit originals to be had could take them, and the originals that serve them are to be had."""
        met, reached = [], np.zeros(len(self.giver), dtype=np.bool_)
        for some in self._chunks(had):
            for left, right in self.graph.pairs(Some(self.graph.left, some), self.given_to):
                new = self.giver[right] < 0
                left, right = self._shuffled(left[new], right[new])
                self.giver[right] = left
                reached[right] = True
                here = self.distance[right] >= 0
                met.append((left[here], right[here]))
            self.given_to = _shrunk(self.graph.right, self.given_to, self.giver < 0)
        entries = np.flatnonzero(reached[self.right] & (self.amount > 0))
        entries = entries[self.given_up[self.left[entries]] == -2]
        self.given_up[self.left[entries]] = entries
        originals = np.unique(self.left[entries])
        self.source[originals] = self.source[self.giver[self.right[self.given_up[originals]]]]
        return _joined(met), originals

    def _chunks(self, nodes: Codes) -> Iterator[Codes]:
        """Some at a time and ever more, in any order: what the first reach need not be looked at for the others."""
        nodes = self.shuffle.permutation(nodes)
        start, size = 0, max(_CHUNK, len(nodes) // 8)
        while start < len(nodes):
            yield np.sort(nodes[start : start + size])
            start, size = start + size, size * 4

    def _shuffled(self, left: Codes, right: Codes) -> tuple[Codes, Codes]:
        order = self.shuffle.permutation(len(left))
        return left[order], right[order]

    def _serve(self, left: Codes, right: Codes) -> int:
        """Serve along the paths through originals to be had that fit records which want."""
        order = np.argsort(left, kind="stable")
        left, right = left[order], right[order]
        starts = np.flatnonzero(np.diff(left, prepend=-1))
        few = np.arange(len(left)) - np.repeat(starts, np.diff(starts, append=len(left))) < _MEETINGS
        new: list[tuple[int, int, int]] = []
        served = 0
        for original, record in zip(left[few].tolist(), right[few].tolist(), strict=True):
            while (before := self._before(original)) is not None and (after := self._after(record)) is not None:
                if set(before) & set(after):
                    break
                served += self._push(original, record, before, after, new)
        if new:
            self.flow.add(*(np.array(column, dtype=np.int64) for column in zip(*new, strict=True)))
        return served

    def _before(self, original: int) -> list[int] | None:
        """The entries given up from an original back to a free one; None when one of them is no longer there."""
        path: list[int] = []
        while (entry := int(self.given_up[original])) >= 0:
            if not self.amount[entry]:
                return None
            path.append(entry)
            original = int(self.giver[self.right[entry]])
        return path if self.flow.supply[original] else None

    def _after(self, record: int) -> list[int] | None:
        """The entries given up from a record on to an open one; None when no way is left."""
        path: list[int] = []
        while self.distance[record] or not self.flow.demand[record]:
            start, stop = int(self.ways_start[record]), int(self.ways_stop[record])
            while stop > start and not self.amount[self.ways[stop - 1]]:
                stop -= 1
            self.ways_stop[record] = stop
            if stop > start:
                path.append(int(self.ways[stop - 1]))
                record = int(self.taker[self.left[path[-1]]])
            elif path:
                record = int(self.right[path.pop()])
                self.ways_stop[record] -= 1
            else:
                return None
        return path

    def _push(
        self, original: int, record: int, before: list[int], after: list[int], new: list[tuple[int, int, int]]
    ) -> int:
        """Move as much as the narrowest place of a path lets through."""
        source = int(self.giver[self.right[before[-1]]]) if before else original
        root = int(self.taker[self.left[after[-1]]]) if after else record
        narrow = [self.flow.supply[source], self.flow.demand[root], *self.amount[before], *self.amount[after]]
        amount = int(min(narrow))
        self.amount[before] -= amount
        self.amount[after] -= amount
        self.flow.supply[source] -= amount
        self.flow.demand[root] -= amount
        new += [(int(self.giver[self.right[entry]]), int(self.right[entry]), amount) for entry in before]
        takers = [record, *(int(self.taker[self.left[entry]]) for entry in after)]
        new += zip([original, *self.left[after].tolist()], takers, [amount] * len(takers), strict=True)
        return amount


def _shrunk(side: Side, some: Some, still: NDArray[np.bool_]) -> Some:
    """Those that still count, once they are no more than half."""
    rows = np.flatnonzero(still)
    return Some(side, rows) if 2 * len(rows) < len(some.rows) else some


def _joined(pairs: list[tuple[Codes, Codes]]) -> tuple[Codes, Codes]:
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *(left for left, _ in pairs)]), np.concatenate([none, *(right for _, right in pairs)])
