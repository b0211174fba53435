"""The pairs of an original and a released record that fit, found among any of the one and any of the other.

Both sides are tries: records sorted column by column, those with the same codes so far sharing a node. A pair of nodes
goes on to the pairs of their children that fit in the next column, so what many records share is compared once, and
what does not fit is left as soon as a column says so. The work is what fits in the leading columns, not the product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes
from shoal.verification.matching.label_sets import LabelSets, Shares, spread

_PAIRS_AT_A_TIME = 1_000_000  # how many pairs of nodes are held at once: bounds the memory, whatever the tables


@dataclass(frozen=True, eq=False)
class Side:
    """Distinct records in the order of their codes, and for each column the node that each record passes through."""

    codes: list[NDArray[np.int32]]
    nodes: list[NDArray[np.int32]]

    @staticmethod
    def of(columns: Sequence[Codes]) -> Side:
        """From columns of codes that are sorted by the first, then the second, and so on."""
        nodes = []
        new = np.zeros(len(columns[0]), dtype=np.bool_)
        for codes in columns:
            new[1:] |= codes[1:] != codes[:-1]
            nodes.append(np.cumsum(new, dtype=np.int32))
        return Side([codes.astype(np.int32) for codes in columns], nodes)

    def __len__(self) -> int:
        return len(self.codes[0])


class Some:
    """Some records of a side, given in ascending order, as a trie."""

    @staticmethod
    def every(side: Side) -> Some:
        """All records of a side."""
        return Some(side, np.arange(len(side)))

    def __init__(self, side: Side, rows: Codes) -> None:
        self.rows = rows
        self.codes: list[Codes] = []
        self.first: list[Codes] = []
        """For each column and node above it the first of its children, and one past the last at the end."""
        above = np.zeros(1, dtype=np.int64)
        for codes, nodes in zip(side.codes, side.nodes, strict=True):
            passed = nodes[rows]
            starts = np.flatnonzero(np.diff(passed, prepend=-1))
            self.codes.append(codes[rows[starts]].astype(np.int64))
            self.first.append(np.append(np.searchsorted(starts, above), len(starts)))
            above = starts
        self._keys: dict[int, Codes] = {}

    def keys(self, column: int, n_labels: int) -> Codes:
        """The nodes of a column as sorted keys ``node above x labels + label``."""
        if column not in self._keys:
            first = self.first[column]
            self._keys[column] = np.repeat(np.arange(len(first) - 1), np.diff(first)) * n_labels + self.codes[column]
        return self._keys[column]


def fitting(under: Sequence[LabelSets], original: Some, released: Some) -> Iterator[tuple[Codes, Codes]]:
    """All pairs that fit among some originals and some released records, a bounded number at a time."""
    if len(original.rows) and len(released.rows):
        zero = np.zeros(1, dtype=np.int64)
        yield from _Walk(under, original, released).down(0, zero, zero)


@dataclass(frozen=True, eq=False)
class _Walk:
    under: Sequence[LabelSets]
    left: Some
    right: Some

    def down(self, column: int, left: Codes, right: Codes) -> Iterator[tuple[Codes, Codes]]:
        """Go down from pairs of nodes above a column to pairs of records."""
        while column < len(self.under) and len(left):
            under, above, below = self.under[column], self.left.first[column], self.right.first[column]
            most = 2 * under.usual_size
            work = np.cumsum((above[left + 1] - above[left]) * np.minimum(below[right + 1] - below[right], most))
            if work[-1] > _PAIRS_AT_A_TIME and len(left) > 1:
                cuts = np.searchsorted(work, np.arange(_PAIRS_AT_A_TIME, work[-1], _PAIRS_AT_A_TIME)) + 1
                for some, others in zip(np.split(left, cuts), np.split(right, cuts), strict=True):
                    if len(some):
                        yield from self._below(column, some, others)
                return
            left, right = self._step(column, left, right)
            column += 1
        yield self.left.rows[left], self.right.rows[right]

    def _below(self, column: int, left: Codes, right: Codes) -> Iterator[tuple[Codes, Codes]]:
        yield from self.down(column + 1, *self._step(column, left, right))

    def _step(self, column: int, left: Codes, right: Codes) -> tuple[Codes, Codes]:
        """The pairs of children that fit: every child of the released node is tried, or every label of the set."""
        under = self.under[column]
        again, left = _children(self.left.first[column], left)
        right = right if again is None else right[again]
        first = self.right.first[column]
        wide = first[right + 1] - first[right] > 2 * under.usual_size
        if not wide.any():
            return self._tried(column, left, right)
        one, other = self._tried(column, left[~wide], right[~wide])
        more, others = self._looked_up(column, left[wide], right[wide])
        return np.concatenate([one, more]), np.concatenate([other, others])

    def _tried(self, column: int, left: Codes, right: Codes) -> tuple[Codes, Codes]:
        again, right = _children(self.right.first[column], right)
        left = left if again is None else left[again]
        fits = self.under[column].has(self.left.codes[column][left], self.right.codes[column][right])
        return left[fits], right[fits]

    def _looked_up(self, column: int, left: Codes, right: Codes) -> tuple[Codes, Codes]:
        under, keys = self.under[column], self.right.keys(column, self.under[column].n_labels)
        sets = self.left.codes[column][left]
        again, places = spread(under.starts[sets], under.sizes[sets])
        wanted = right[again] * under.n_labels + under.labels[places]
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        fits = keys[found] == wanted
        more, ranges = under.ranges(sets, right, keys)
        return left[np.concatenate([again[fits], more])], np.concatenate([found[fits], ranges])


def _children(first: Codes, nodes: Codes) -> tuple[Codes | None, Codes]:
    """The children of nodes one after the other, and which node each is of; None where each has one."""
    counts = first[nodes + 1] - first[nodes]
    if bool((counts == 1).all()):
        return None, first[nodes]
    return spread(first[nodes], counts)


@dataclass(frozen=True, eq=False)
class Graph:
    """Originals on the left, released records on the right; `fitting_pairs` finds which fit."""

    under: Sequence[LabelSets]
    left: Side
    right: Side
    left_share: Shares
    """For each original the share of the released records that fit it, estimated as if columns were independent.

    The estimates only order the work: what is found does not depend on them."""
    right_share: Shares  # for each released record the share of the originals that fit it

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
