"""A first matching, at the speed of arrays: the most particular released records choose their originals first.

How many originals fit a released record is estimated from its labels alone, as if columns were independent. Records
that few originals fit are served first, since those that many fit will find others. It is only an order of trying:
what is matched is matched whatever the estimate, and what stays open is left to `shoal.verification.paths`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.verification.graph import Flow, Graph
from shoal.verification.join import Some
from shoal.verification.text import Codes

_TURNS: Final = 12
"""In how many turns the released records come to choose: the sooner those served leave, the fewer pairs there are."""
_FEW: Final = 4_000
"""So few released records that fewer turns do."""
_CHOICE: Final = 8
"""About how many originals are looked at for each record to be served."""


def serve_by_offers(graph: Graph, flow: Flow) -> None:
    """Serve until no open record has a free partner; ``share`` is the estimate of how many of the originals fit."""
    share = graph.right_share
    rank = np.empty(len(share), dtype=np.int64)
    order = np.argsort(share, kind="stable")
    rank[order] = np.arange(len(order))
    shuffle = np.random.default_rng(0)  # spreads the choices; any order gives a matching
    turns = min(_TURNS, 1 + len(order) // 100)
    ends = np.searchsorted(np.cumsum(flow.demand[order]), np.arange(1, turns) * flow.demand.sum() / turns)
    for turn in np.split(order, ends):
        free = np.flatnonzero(flow.supply > 0)
        pairs = len(free) * float(share[turn].sum())
        parts = int(np.clip(pairs / (_CHOICE * max(int(flow.demand[turn].sum()), 1)), 1, max(1, len(free) // 4_000)))
        part = shuffle.integers(0, parts, len(free))
        for place in range(parts):
            asking = np.sort(turn[flow.demand[turn] > 0])
            for left, right in graph.pairs(Some(graph.left, free[part == place]), Some(graph.right, asking)):
                _offer(flow, left, right, rank, shuffle)


def _offer(flow: Flow, left: Codes, right: Codes, rank: Codes, shuffle: np.random.Generator) -> None:
    """Each open record asks as many of its free partners as it needs; a partner serves the most particular first."""
    others = np.bincount(left)[left] + shuffle.random(len(left))
    order = np.lexsort((others, right))
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
