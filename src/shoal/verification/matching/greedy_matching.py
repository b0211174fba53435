"""A first matching, at the speed of arrays: the most particular released records choose their originals first.

How many originals fit a released record is estimated from its labels alone, as if columns were independent. Records
that few originals fit are served first, since those that many fit will find others. It is only an order of trying:
what is matched is matched whatever the estimate, and what stays open is left to `augmenting_paths`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from shoal.verification.canonical_text import Codes
from shoal.verification.matching.fitting_pairs import FittingPairs
from shoal.verification.matching.graph import Flow, Graph

_TURNS: Final = 12
"""In how many turns the released records come to choose: those served early leave fewer pairs to the others."""
_TURN: Final = 100
"""How many of them make a turn worth its while."""
_CHOICE: Final = 8
"""About how many originals are sought at a time for each record to be served."""
_PART: Final = 4_000
"""How many originals make a part worth its while."""


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
    return max(1, min(int(free * share / (_CHOICE * max(demand, 1))), free // _PART))


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
