"""The pairs that fit, asked for from either side: stored where they are few enough, otherwise sought as needed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, Mask
from shoal.verification.matching.candidates import Graph, Side, Some, fitting
from shoal.verification.matching.label_sets import spread

_STORED = 24_000_000  # how many pairs are stored at most: 8 bytes each, 16 while they are sorted
_AT_A_TIME: Final = 1_000_000

Found = Iterator[tuple[Codes, Codes]]  # originals and the released records that fit them, a bounded number at a time


def pairs_of(graph: Graph) -> FittingPairs:
    """The pairs of a graph in the way that suits their number."""
    expected = float(graph.right_share.sum()) * len(graph.left)  # saves trying to store far too many
    return (stored(graph) if expected < 2 * _STORED else None) or Sought(graph)


def stored(graph: Graph) -> Stored | None:
    """All pairs of a graph, or None if there are too many to be stored."""
    keys, total = np.empty(_STORED, dtype=np.int64), 0  # takes memory only as far as it is filled
    for left, right in fitting(graph.under, Some.every(graph.left), Some.every(graph.right)):
        if total + len(left) > _STORED:
            return None
        np.multiply(right, len(graph.left), out=keys[total : total + len(left)])
        keys[total : total + len(left)] += left
        total += len(left)
    keys = keys[:total]
    keys.sort()
    return Stored(_Lists.of(keys, len(graph.left), len(graph.right)), len(graph.left))


class _Lists:
    """For each of one side those of the other that fit it."""

    def __init__(self, starts: Codes, others: NDArray[np.int32]) -> None:
        self.starts, self.others = starts, others

    @staticmethod
    def of(keys: Codes, width: int, n: int) -> _Lists:
        """From sorted keys ``one x width + other``, which are used up."""
        starts = np.searchsorted(keys, np.arange(n + 1) * width)
        np.remainder(keys, max(width, 1), out=keys)
        return _Lists(starts, keys.astype(np.int32))

    def turned(self, n: int) -> _Lists:
        """The same pairs from the other side, which has ``n``."""
        width = len(self.starts) - 1
        keys = self.others.astype(np.int64)
        keys *= width
        keys += np.repeat(np.arange(width, dtype=np.int32), np.diff(self.starts))
        keys.sort()
        return _Lists.of(keys, width, n)

    def of_some(self, some: Codes) -> Found:
        """Those of some and those that fit them."""
        counts = self.starts[some + 1] - self.starts[some]
        ends = np.cumsum(counts)
        cuts = np.searchsorted(ends, np.arange(_AT_A_TIME, ends[-1] if len(ends) else 0, _AT_A_TIME)) + 1
        for one, count in zip(np.split(some, cuts), np.split(counts, cuts), strict=True):
            again, places = spread(self.starts[one], count)
            yield one[again], self.others[places].astype(np.int64)


class Stored:
    """All pairs, from either side: it costs nothing to look at all of them."""

    at_hand = True

    def __init__(self, by_right: _Lists, n_left: int) -> None:
        self._by_right, self._n_left = by_right, n_left

    @cached_property
    def _by_left(self) -> _Lists:
        return self._by_right.turned(self._n_left)

    def of_right(self, records: Codes, among: Mask) -> Found:  # noqa: ARG002 - all are at hand
        """All pairs of some released records."""
        return ((left, right) for right, left in self._by_right.of_some(records))

    def of_left(self, originals: Codes, among: Mask) -> Found:  # noqa: ARG002 - all are at hand
        """All pairs of some originals."""
        return self._by_left.of_some(originals)


class Sought:
    """Pairs found when they are asked for, at the price of looking for them again the next time."""

    at_hand = False

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._left, self._right = _Shrinking(graph.left), _Shrinking(graph.right)

    def of_right(self, records: Codes, among: Mask) -> Found:
        """All pairs of some released records with at least those asked for on the other side."""
        return fitting(self._graph.under, self._left.of(among), Some(self._graph.right, records))

    def of_left(self, originals: Codes, among: Mask) -> Found:
        """All pairs of some originals with at least those asked for on the other side."""
        return fitting(self._graph.under, Some(self._graph.left, originals), self._right.of(among))


FittingPairs = Stored | Sought
"""Which pairs fit: from some of one side, in ascending order, to those of the other that are asked for; each once."""


class _Shrinking:
    """A trie of at least those asked for, made again only when they have become far fewer, or others."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._every = self._some = Some.every(side)
        self._has = np.ones(len(side), dtype=np.bool_)

    def of(self, among: Mask) -> Some:
        if bool((among & ~self._has).any()):
            self._some, self._has = self._every, np.ones_like(self._has)
        rows = np.flatnonzero(among)
        if 2 * len(rows) < len(self._some.rows):
            self._some, self._has = Some(self._side, rows), among.copy()
        return self._some
