"""The pairs of an original and a released record that fit, asked for from either side.

Both sides are tries: records sorted column by column, those with the same codes so far sharing a node. A pair of nodes
goes on to the pairs of their children that fit in the next column, so what many records share is compared once, and
what does not fit is left as soon as a column says so. The work is what fits in the leading columns, not the product.

Pairs are stored where they are few enough, otherwise sought again whenever they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, Mask
from shoal.verification.matching.label_sets import LabelSets, spread

_PAIRS_AT_A_TIME = 1_000_000  # how many pairs of nodes are held at once: bounds the memory, whatever the tables
_STORED = 24_000_000  # how many pairs are stored at most: 8 bytes each, 16 while they are sorted
_AT_A_TIME: Final = 1_000_000

Found = Iterator[tuple[Codes, Codes]]  # originals and the released records that fit them, a bounded number at a time


class Side:
    """Distinct records in the order of their codes, and for each column the node that each record passes through."""

    def __init__(self, columns: Sequence[Codes]) -> None:
        self.codes = [codes.astype(np.int32) for codes in columns]
        self.nodes: list[NDArray[np.int32]] = []
        new = np.zeros(len(columns[0]), dtype=np.bool_)
        for codes in columns:
            new[1:] |= codes[1:] != codes[:-1]
            self.nodes.append(np.cumsum(new, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.codes[0])


class Trie:
    """Some records of a side, given in ascending order, or all of them."""

    def __init__(self, side: Side, rows: Codes | None = None) -> None:
        self.rows = np.arange(len(side)) if rows is None else rows
        self.codes: list[Codes] = []
        self.first: list[Codes] = []  # by column: the first child of each node above, one past the last at the end
        above = np.zeros(1, dtype=np.int64)
        for codes, nodes in zip(side.codes, side.nodes, strict=True):
            starts = np.flatnonzero(np.diff(nodes[self.rows], prepend=-1))
            self.codes.append(codes[self.rows[starts]].astype(np.int64))
            self.first.append(np.append(np.searchsorted(starts, above), len(starts)))
            above = starts
        self._keys: dict[int, Codes] = {}

    def keys(self, column: int, n_labels: int) -> Codes:
        """The nodes of a column as sorted keys ``node above x labels + label``."""
        if column not in self._keys:
            first = self.first[column]
            self._keys[column] = np.repeat(np.arange(len(first) - 1), np.diff(first)) * n_labels + self.codes[column]
        return self._keys[column]

    def children(self, column: int, nodes: Codes, beside: Codes) -> tuple[Codes, Codes]:
        """The children of nodes one after the other, each with what is beside its parent."""
        first = self.first[column]
        counts = first[nodes + 1] - first[nodes]
        if bool((counts == 1).all()):
            return first[nodes], beside
        again, below = spread(first[nodes], counts)
        return below, beside[again]


def fitting(under: Sequence[LabelSets], original: Trie, released: Trie) -> Found:
    """All pairs that fit among some originals and some released records, a bounded number at a time."""
    zero = np.zeros(1, dtype=np.int64)

    def down(column: int, left: Codes, right: Codes) -> Found:
        """Go down from pairs of nodes above a column to pairs of records."""
        if column == len(under) or not len(left):
            yield original.rows[left], released.rows[right]
            return
        above, below, most = original.first[column], released.first[column], 2 * under[column].usual_size
        work = np.cumsum((above[left + 1] - above[left]) * np.minimum(below[right + 1] - below[right], most))
        cuts = np.searchsorted(work, np.arange(_PAIRS_AT_A_TIME, work[-1], _PAIRS_AT_A_TIME)) + 1
        for some, others in zip(np.split(left, cuts), np.split(right, cuts), strict=True):
            if len(some):
                yield from down(column + 1, *_step(under[column], original, released, column, some, others))

    if len(original.rows) and len(released.rows):
        yield from down(0, zero, zero)


def _step(
    under: LabelSets, original: Trie, released: Trie, column: int, left: Codes, right: Codes
) -> tuple[Codes, Codes]:
    """The pairs of children that fit: every child of the released node is tried, or every label of the set."""
    left, right = original.children(column, left, right)
    sets, first = original.codes[column], released.first[column]
    wide = first[right + 1] - first[right] > 2 * under.usual_size
    tried, beside = released.children(column, right[~wide], left[~wide])
    fits = under.has(sets[beside], released.codes[column][tried])
    if not wide.any():
        return beside[fits], tried[fits]
    left, right = left[wide], right[wide]
    again, found = under.among(sets[left], right, released.keys(column, under.n_labels))
    return np.concatenate([beside[fits], left[again]]), np.concatenate([tried[fits], found])


class _Lists:
    """For each of one side those of the other that fit it."""

    def __init__(self, keys: Codes, width: int, n: int) -> None:
        """From keys ``one x width + other``, which are used up."""
        keys.sort()
        self._starts = np.searchsorted(keys, np.arange(n + 1) * width)
        np.remainder(keys, max(width, 1), out=keys)
        self._others = keys.astype(np.int32)

    def turned(self, n: int) -> _Lists:
        """The same pairs from the other side, which has ``n``."""
        width = len(self._starts) - 1
        keys = self._others.astype(np.int64)
        keys *= width
        keys += np.repeat(np.arange(width, dtype=np.int32), np.diff(self._starts))
        return _Lists(keys, width, n)

    def of_some(self, some: Codes) -> Found:
        """Those of some and those that fit them."""
        counts = self._starts[some + 1] - self._starts[some]
        ends = np.cumsum(counts)
        cuts = np.searchsorted(ends, np.arange(_AT_A_TIME, ends[-1] if len(ends) else 0, _AT_A_TIME)) + 1
        for one, count in zip(np.split(some, cuts), np.split(counts, cuts), strict=True):
            again, indices = spread(self._starts[one], count)
            yield one[again], self._others[indices].astype(np.int64)


class _Shrinking:
    """A trie of at least those asked for, made again only when they have become far fewer, or others."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._every = self._some = Trie(side)
        self._has = np.ones(len(side), dtype=np.bool_)

    def of(self, among: Mask) -> Trie:
        if bool((among & ~self._has).any()):
            self._some, self._has = self._every, np.ones_like(self._has)
        rows = np.flatnonzero(among)
        if 2 * len(rows) < len(self._some.rows):
            self._some, self._has = Trie(self._side, rows), among.copy()
        return self._some


class FittingPairs:
    """Which originals on the left fit which released records on the right.

    From some of one side, in ascending order, it leads to at least those of the other that are asked for; each once.
    """

    def __init__(self, under: Sequence[LabelSets], left: Sequence[Codes], right: Sequence[Codes]) -> None:
        """From columns of distinct records in ascending order: sets of labels on the left, labels on the right."""
        self.under, self.left, self.right = under, Side(left), Side(right)
        self.left_share, self.right_share = np.ones(len(self.left)), np.ones(len(self.right))
        # the share of the other side that fits each record, as if columns were independent: it only orders the work
        for column, sets, labels in zip(under, left, right, strict=True):
            of_label, of_set = column.shares(sets, labels)
            self.left_share *= of_set[sets]
            self.right_share *= of_label[labels]
        expected = float(self.right_share.sum()) * len(self.left)  # saves trying to store far too many
        self._by_right = self._stored() if expected < 2 * _STORED else None
        self.at_hand = self._by_right is not None  # then it costs nothing to look at all pairs

    def _stored(self) -> _Lists | None:
        """All pairs, or None if there are too many to be stored."""
        keys, total = np.empty(_STORED, dtype=np.int64), 0  # takes memory only as far as it is filled
        for left, right in fitting(self.under, Trie(self.left), Trie(self.right)):
            if total + len(left) > _STORED:
                return None
            np.multiply(right, len(self.left), out=keys[total : total + len(left)])
            keys[total : total + len(left)] += left
            total += len(left)
        return _Lists(keys[:total], len(self.left), len(self.right))

    @cached_property
    def _by_left(self) -> _Lists | None:
        return None if self._by_right is None else self._by_right.turned(len(self.left))

    @cached_property
    def _tries(self) -> tuple[_Shrinking, _Shrinking]:
        return _Shrinking(self.left), _Shrinking(self.right)

    def of_right(self, records: Codes, among: Mask) -> Found:
        """All pairs of some released records with at least the originals asked for, which come first."""
        if self._by_right is not None:
            return ((left, right) for right, left in self._by_right.of_some(records))
        return fitting(self.under, self._tries[0].of(among), Trie(self.right, records))

    def of_left(self, originals: Codes, among: Mask) -> Found:
        """All pairs of some originals with at least the released records asked for, which come first."""
        if self._by_left is not None:
            return ((right, left) for left, right in self._by_left.of_some(originals))
        found = fitting(self.under, Trie(self.left, originals), self._tries[1].of(among))
        return ((right, left) for left, right in found)
