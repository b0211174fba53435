"""A matching of greatest size between groups of records, with multiplicities: a maximum flow in a bipartite graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.verification.text import Codes


def unmet_demand(left: Codes, right: Codes, supply: Codes, demand: Codes) -> Codes:
    """What stays open of the demand of each right group when as much as possible is served.

    ``left[e]`` and ``right[e]`` are joined by pair ``e``; each pair stands once. Rounds of offers serve nearly all, at
    the speed of arrays; what is left is served along augmenting paths, so the result is exact.
    """
    order = np.lexsort((left, right))
    graph = _Graph(left[order], right[order], supply.copy(), demand.copy(), np.zeros(len(order), dtype=np.int64))
    _offer(graph)
    if graph.demand.any():
        _Paths(graph).serve()
    return graph.demand


@dataclass(frozen=True, eq=False)
class _Graph:
    """Pairs sorted by right group; ``supply`` and ``demand`` are what is still free and open."""

    left: Codes
    right: Codes
    supply: Codes
    demand: Codes
    flow: Codes


def _offer(graph: _Graph) -> None:
    """Serve until no open group has a free partner: each asks the partner with fewest others to serve.

    A partner that only one group can use is asked first, and a group that has no other partner is served first; both
    choices lose nothing (Karp and Sipser), so few groups stay open. Ties are broken by a fixed shuffle of the pairs,
    which keeps groups from all asking the same partner.
    """
    left, right = graph.left, graph.right
    n_pairs = len(left)
    shuffle = np.random.default_rng(0).permutation(n_pairs)
    place = np.empty_like(shuffle)
    place[shuffle] = np.arange(n_pairs)
    active = np.arange(n_pairs)
    while True:
        active = active[(graph.supply[left[active]] > 0) & (graph.demand[right[active]] > 0)]
        if not len(active):
            return
        left_degree = np.bincount(left[active], minlength=len(graph.supply))
        right_degree = np.bincount(right[active], minlength=len(graph.demand))
        starts = np.flatnonzero(np.diff(right[active], prepend=-1))
        rank = left_degree[left[active]] * n_pairs + shuffle[active]
        asked = place[np.minimum.reduceat(rank, starts) % n_pairs]
        asked = asked[np.lexsort((right_degree[right[asked]], left[asked]))]
        wanted = graph.demand[right[asked]]
        ahead = np.cumsum(wanted) - wanted
        begins = np.flatnonzero(np.diff(left[asked], prepend=-1))
        ahead -= np.repeat(ahead[begins], np.diff(begins, append=len(asked)))
        given = np.clip(graph.supply[left[asked]] - ahead, 0, wanted)
        graph.flow[asked] += given
        np.subtract.at(graph.supply, left[asked], given)
        graph.demand[right[asked]] -= given


class _Paths:
    """Augmenting paths: an open group takes from a partner that serves another group, which finds itself a new one.

    Phases as of Hopcroft and Karp: measure how far every group and partner is from a free partner, then serve open
    groups along shortest paths until none is left; repeat until no open group reaches a free partner.
    """

    def __init__(self, graph: _Graph) -> None:
        self.graph = graph
        self.by_left = np.argsort(graph.left, kind="stable")
        self.left_starts = np.searchsorted(graph.left[self.by_left], np.arange(len(graph.supply) + 1))
        self.right_starts = np.searchsorted(graph.right, np.arange(len(graph.demand) + 1))
        self.left_far = np.zeros(0, dtype=np.int64)
        """Distance of each partner from a free one, 0 for a free one, -1 for one that is not known to reach any."""
        self.right_far = np.zeros(0, dtype=np.int64)

    def serve(self) -> None:
        """Serve open groups until no path is left."""
        while self._measure():
            for group in np.flatnonzero((self.graph.demand > 0) & (self.right_far > 0)).tolist():
                while self.graph.demand[group] and self._augment(group):
                    pass

    def _measure(self) -> bool:
        """Measure distances from the free partners outward; whether an open group was reached."""
        graph = self.graph
        self.left_far = np.where(graph.supply > 0, 0, -1)
        self.right_far = np.full(len(graph.demand), -1)
        partners, far = np.flatnonzero(graph.supply > 0), 0
        while len(partners):
            pairs = self.by_left[_slices(self.left_starts[partners], self.left_starts[partners + 1])]
            groups = _fresh(graph.right[pairs], self.right_far)
            self.right_far[groups] = far + 1
            if bool((graph.demand[groups] > 0).any()):
                return True
            pairs = _slices(self.right_starts[groups], self.right_starts[groups + 1])
            partners = _fresh(graph.left[pairs[graph.flow[pairs] > 0]], self.left_far)
            far += 2
            self.left_far[partners] = far
        return False

    def _augment(self, group: int) -> bool:
        """Go from an open group to a free partner, always nearer, and serve along the way; step back from dead ends."""
        graph = self.graph
        path: list[int] = []  # pairs: newly served, given up, newly served, …
        while True:
            pair = self._nearer(group, of_group=True)
            if pair is not None:
                path.append(pair)
                partner = int(graph.left[pair])
                if graph.supply[partner]:
                    self._push(path, partner)
                    return True
            else:
                self.right_far[group] = -1
                if not path:
                    return False
                partner = int(graph.left[path.pop()])
            given_up = self._nearer(partner, of_group=False)
            if given_up is not None:
                path.append(given_up)
                group = int(graph.right[given_up])
            else:
                self.left_far[partner] = -1
                group = int(graph.right[path.pop()])

    def _nearer(self, node: int, *, of_group: bool) -> int | None:
        """A pair that leads one step nearer to a free partner."""
        graph = self.graph
        if of_group:
            if self.right_far[node] < 0:
                return None
            start, stop = self.right_starts[node : node + 2]
            found = np.flatnonzero(self.left_far[graph.left[start:stop]] == self.right_far[node] - 1)
            return int(start + found[0]) if len(found) else None
        pairs = self.by_left[self.left_starts[node] : self.left_starts[node + 1]]
        found = np.flatnonzero(
            (graph.flow[pairs] > 0) & (self.right_far[graph.right[pairs]] == self.left_far[node] - 1)
        )
        return int(pairs[found[0]]) if len(found) else None

    def _push(self, path: list[int], partner: int) -> None:
        """Move as much as the narrowest place of a path lets through."""
        graph = self.graph
        taken, given_up = path[0::2], path[1::2]
        group = int(graph.right[path[0]])
        amount = min(
            int(graph.supply[partner]), int(graph.demand[group]), *(int(graph.flow[pair]) for pair in given_up)
        )
        graph.flow[taken] += amount
        graph.flow[given_up] -= amount
        graph.supply[partner] -= amount
        graph.demand[group] -= amount
        if not graph.supply[partner]:
            self.left_far[partner] = -1


def _fresh(nodes: Codes, far: Codes) -> Codes:
    """Those of the nodes that have no distance yet, each once."""
    seen = np.zeros(len(far), dtype=np.bool_)
    seen[nodes] = True
    return np.flatnonzero(seen & (far < 0))


def _slices(starts: Codes, stops: Codes) -> Codes:
    """The numbers of several ranges, one after the other."""
    sizes = stops - starts
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
