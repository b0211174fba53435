"""Whether every released record can stand for an original record of its own.

A released record fits an original one when, column by column, the original value lies under the released label. What
is asked is a matching of all released records to different original records - not only that each fits some record:
two released records must not stand for the same person.

Original values that lie under the same released labels are interchangeable, so they are merged first. Where every
value lies under one label at most - so it is for every full-domain recoding - the answer is a comparison of counts.
Otherwise the pairs that fit are found by walking all originals at once through a trie of the released records, column
by column, and matched exactly (`shoal.verification.flow`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.verification.flow import unmet_demand
from shoal.verification.text import Codes

_LARGEST_CODE = 2**62
_PAIRS_AT_A_TIME = 4_000_000
_LARGEST_TABLE = 10_000_000


@dataclass(frozen=True, eq=False)
class Pairing:
    """One column of both tables: codes of the released labels and original values, and what lies under what."""

    released: Codes
    original: Codes
    n_labels: int
    under: Sequence[tuple[int, ...]]
    """For each original value the released labels that it lies under."""

    @property
    def exact(self) -> bool:
        """Whether every value lies under one label at most."""
        return all(len(labels) <= 1 for labels in self.under)


@dataclass(frozen=True, eq=False)
class Matching:
    """How many released records have no original of their own, at the least, and one of them."""

    unmatched: int
    example: int | None
    """Row of the release."""


def match(columns: Sequence[Pairing]) -> Matching:
    """Match as many released records as possible to different original ones."""
    closed = [column for column in columns if column.exact]
    opened = sorted((column for column in columns if not column.exact), key=_overlap)
    fits = np.ones(len(columns[0].original), dtype=np.bool_)
    keys: list[Codes] = []
    for column in closed:
        label_of = np.array([labels[0] if labels else -1 for labels in column.under], dtype=np.int64)
        keys.append(label_of[column.original])
        fits &= keys[-1] >= 0
    groups = [_Signatures.of(column) for column in opened]
    for signatures in groups:
        fits &= signatures.of_row >= 0
    blocks = _packed(
        [np.concatenate([column.released, key[fits]]) for column, key in zip(closed, keys, strict=True)],
        [column.n_labels for column in closed],
        len(columns[0].released) + int(fits.sum()),
    )
    released, original = blocks[: len(columns[0].released)], blocks[len(columns[0].released) :]
    if not opened:
        return _compared(released, original)
    return _matched(released, original, opened, groups, fits)


@dataclass(frozen=True, eq=False)
class _Signatures:
    """The different sets of released labels that original values of a column lie under."""

    of_row: Codes
    """For each original record the set of its value; -1 where it is empty."""
    starts: Codes
    sizes: Codes
    labels: Codes
    """The sets, one after the other."""

    @staticmethod
    def of(column: Pairing) -> _Signatures:
        index: dict[tuple[int, ...], int] = {}
        of_value = [index.setdefault(labels, len(index)) if labels else -1 for labels in column.under]
        sizes = np.array([len(labels) for labels in index], dtype=np.int64)
        flat = np.array([label for labels in index for label in labels], dtype=np.int64)
        return _Signatures(np.array(of_value, dtype=np.int64)[column.original], np.cumsum(sizes) - sizes, sizes, flat)


def _overlap(column: Pairing) -> float:
    """How likely a random original and a random released record fit in this column; the least likely go first."""
    share = np.bincount(column.released, minlength=column.n_labels) / max(len(column.released), 1)
    weight = np.bincount(column.original, minlength=len(column.under))
    return float(sum(count * share[list(labels)].sum() for count, labels in zip(weight, column.under, strict=True)))


def _packed(columns: Sequence[Codes], widths: Sequence[int], rows: int) -> Codes:
    """One code for each row from those of its columns, the order of the rows' codes being that of the columns."""
    packed, size = np.zeros(rows, dtype=np.int64), 1
    for codes, width in zip(columns, widths, strict=True):
        if size * width > _LARGEST_CODE:
            distinct, packed = np.unique(packed, return_inverse=True)
            size = len(distinct)
        packed, size = packed * width + codes, size * width
    return packed


def _compared(released: Codes, original: Codes) -> Matching:
    """Every original fits one released combination: count both."""
    keys, rows, wanted = np.unique(released, return_index=True, return_counts=True)
    have = np.bincount(_places(keys, original)[1], minlength=len(keys))
    missing = np.maximum(wanted - have[: len(keys)], 0)
    first = np.flatnonzero(missing)
    return Matching(int(missing.sum()), int(rows[first[0]]) if len(first) else None)


def _table(keys: Codes, size: int) -> Codes | None:
    """The place of every possible key, -1 for those that there are not; None when that would be too large."""
    if size > _LARGEST_TABLE:
        return None
    table = np.full(size, -1, dtype=np.int64)
    table[keys] = np.arange(len(keys))
    return table


def _places(keys: Codes, codes: Codes, table: Codes | None = None) -> tuple[Codes, Codes]:
    """Which of the codes are among the sorted keys, and where."""
    if table is not None:
        places = table[codes]
        found = np.flatnonzero(places >= 0)
        return found, places[found]
    if not len(keys):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    places = np.minimum(np.searchsorted(keys, codes), len(keys) - 1)
    found = np.flatnonzero(keys[places] == codes)
    return found, places[found]


def _matched(
    released: Codes, original: Codes, opened: Sequence[Pairing], groups: Sequence[_Signatures], fits: np.ndarray
) -> Matching:
    """The general case: distinct records of both sides, the pairs that fit, and a matching of greatest size."""
    widths = [column.n_labels for column in opened]
    blocks, released = np.unique(released, return_inverse=True)
    inside, original = _places(blocks, original)
    released_key = _packed([released, *(column.released for column in opened)], [len(blocks), *widths], len(released))
    _, rows, demand = np.unique(released_key, return_index=True, return_counts=True)
    trie = _Trie.of(released[rows], [column.released[rows] for column in opened], widths)
    sets = [signatures.of_row[fits][inside] for signatures in groups]
    original_key = _packed([original, *sets], [len(blocks), *(len(each.sizes) for each in groups)], len(original))
    _, firsts, supply = np.unique(original_key, return_index=True, return_counts=True)
    left, right = trie.pairs(original[firsts], [each[firsts] for each in sets], groups)
    unmet = unmet_demand(left, right, supply, demand)
    first = np.flatnonzero(unmet)
    return Matching(int(unmet.sum()), int(rows[first[0]]) if len(first) else None)


@dataclass(frozen=True, eq=False)
class _Trie:
    """The distinct released records by their labels, column after column."""

    edges: list[Codes]
    """For each column the sorted keys ``node above x labels + label``; a key's place is the node below."""
    tables: list[Codes | None]
    """The same as a table from key to node (-1: none), where it is small enough: it is many times quicker."""
    widths: Sequence[int]
    record: Codes
    """The released record that each last node is."""

    @staticmethod
    def of(blocks: Codes, columns: Sequence[Codes], widths: Sequence[int]) -> _Trie:
        edges, tables, node, above = [], [], blocks, int(blocks.max(initial=-1)) + 1
        for codes, width in zip(columns, widths, strict=True):
            keys, node = np.unique(node * width + codes, return_inverse=True)
            edges.append(keys)
            tables.append(_table(keys, above * width))
            above = len(keys)
        record = np.empty(len(node), dtype=np.int64)
        record[node] = np.arange(len(node))
        return _Trie(edges, tables, widths, record)

    def pairs(self, blocks: Codes, sets: Sequence[Codes], groups: Sequence[_Signatures]) -> tuple[Codes, Codes]:
        """All pairs of an original and a released record that fit; some originals at a time, to bound the memory."""
        found: list[tuple[Codes, Codes]] = []
        waiting = [(0, len(blocks))]
        while waiting:
            start, stop = waiting.pop()
            some = self._walk(np.arange(start, stop), blocks[start:stop], sets, groups)
            if some is None:
                middle = (start + stop) // 2
                waiting += [(middle, stop), (start, middle)]
            else:
                found.append(some)
        left = np.concatenate([one for one, _ in found]) if found else np.zeros(0, dtype=np.int64)
        right = np.concatenate([other for _, other in found]) if found else np.zeros(0, dtype=np.int64)
        return left, self.record[right]

    def _walk(
        self, originals: Codes, nodes: Codes, sets: Sequence[Codes], groups: Sequence[_Signatures]
    ) -> tuple[Codes, Codes] | None:
        """Go down one column at a time with every label of an original's set; None when that grows too large."""
        whole = len(originals)
        for keys, table, width, chosen, group in zip(self.edges, self.tables, self.widths, sets, groups, strict=True):
            own = chosen[originals]
            sizes = group.sizes[own]
            total = int(sizes.sum())
            if total > _PAIRS_AT_A_TIME and whole > 1:
                return None
            again = np.repeat(np.arange(len(originals)), sizes)
            offset = np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            labels = group.labels[np.repeat(group.starts[own], sizes) + offset]
            kept, nodes = _places(keys, nodes[again] * width + labels, table)
            originals = originals[again[kept]]
        return originals, nodes
