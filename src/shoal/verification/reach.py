"""How far a search has come from one side, and the ways back to where it began."""

from __future__ import annotations

import numpy as np

from shoal.verification.text import Codes, Mask

Path = tuple[list[int], list[int]]
"""The nodes of a path, the last of which has room, and the entries of the flow that are given up between them."""


class Reach:
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
        """Reach nodes for the first time by ways that each gives up an entry and leads on to a node reached before."""
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
