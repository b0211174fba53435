"""Groups of equal originals and groups of equal released records, which of them fit, and who serves whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.verification.canonical_text import Codes
from shoal.verification.matching.candidates import Side
from shoal.verification.matching.label_sets import LabelSets, Shares


@dataclass(frozen=True, eq=False)
class Graph:
    """Originals on the left, released records on the right; `fitting_pairs` finds which fit."""

    under: Sequence[LabelSets]
    left: Side
    right: Side
    left_share: Shares
    """For each original the share of the released records that fit it, estimated as if columns were independent.

    The estimates only order the work: what is found does not depend on them."""
    right_share: Shares
    """For each released record the share of the originals that fit it."""

    @staticmethod
    def of(under: Sequence[LabelSets], left: Sequence[Codes], right: Sequence[Codes]) -> Graph:
        """From columns of distinct records in ascending order: sets of labels on the left, labels on the right."""
        left_share, right_share = np.ones(len(left[0])), np.ones(len(right[0]))
        for column, sets, labels in zip(under, left, right, strict=True):
            of_label, of_set = column.shares(sets, labels)
            left_share *= of_set[sets]
            right_share *= of_label[labels]
        return Graph(under, Side.of(left), Side.of(right), left_share, right_share)


class Flow:
    """How many originals are still free, how many released records still open, and what serves what so far."""

    def __init__(self, supply: Codes, demand: Codes) -> None:
        self.supply = supply.copy()
        self.demand = demand.copy()
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
