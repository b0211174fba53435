"""Which released record each original became, as far as the two tables alone tell.

An original that fits one released row only became that row, unless it was suppressed; where as many originals fit a row
as it has records, they all became it. What follows from this for the others is followed until nothing more is certain.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from shoal.verification.canonical_text import Codes
from shoal.verification.matching.match import Pairing, alike_records

SUPPRESSED: Final = -1
OPEN: Final = -2
_ROUNDS: Final = 200  # how often conclusions are drawn from conclusions, each time from all pairs that are left


def assign(columns: Sequence[Pairing], released: Codes, original: Codes) -> Codes:
    """For each original row the released row that all its records became, `SUPPRESSED`, or `OPEN`.

    ``released`` and ``original`` say how many records each row stands for. All is open where there are too many pairs
    that fit to be held.
    """
    groups = alike_records(columns, released, original)
    found = np.full(len(original), SUPPRESSED, dtype=np.int64)
    fitting = groups.group_of >= 0
    if not groups.pairs.at_hand:
        found[fitting] = OPEN
        return found
    every = np.arange(len(groups.demand))
    parts = [*groups.pairs.of_right(every, np.ones(len(groups.supply), dtype=np.bool_))]
    left, right = (np.concatenate([np.zeros(0, dtype=np.int64), *each]) for each in zip(*parts, strict=True))
    suppressed = int(original.sum()) - int(released.sum()) - int(original[~fitting].sum())
    if suppressed > 0:  # it is one more row, which everybody fits
        left = np.concatenate([left, np.arange(len(groups.supply))])
        right = np.concatenate([right, np.full(len(groups.supply), len(every))])
    became = _conclude(left, right, groups.supply, np.append(groups.demand, suppressed))
    rows = np.append(groups.rows, SUPPRESSED)
    found[fitting] = np.where(became == OPEN, OPEN, rows[np.maximum(became, 0)])[groups.group_of[fitting]]
    return found


def _conclude(left: Codes, right: Codes, supply: Codes, demand: Codes) -> Codes:
    """Where each group on the left goes as a whole; `OPEN` where that is not certain."""
    became, demand = np.full(len(supply), OPEN, dtype=np.int64), demand.copy()
    for _ in range(_ROUNDS):
        ways = np.bincount(left, minlength=len(supply))
        reach = np.bincount(right, weights=supply[left], minlength=len(demand)).astype(np.int64)
        certain = (ways[left] == 1) | (reach == demand)[right]
        if not certain.any():
            break
        settled, first = np.unique(left[certain], return_index=True)
        became[settled] = right[certain][first]
        demand -= np.bincount(became[settled], weights=supply[settled], minlength=len(demand)).astype(np.int64)
        more = (became[left] == OPEN) & (demand[right] > 0)
        left, right = left[more], right[more]
    impossible = (demand < 0).any() or (demand.any() and not (became == OPEN).any())
    return np.full(len(supply), OPEN, dtype=np.int64) if impossible else became
