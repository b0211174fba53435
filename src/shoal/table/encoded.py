"""A table as integer codes: distinct quasi-identifier tuples with counts, and sensitive values as pairs on them.

Rows with equal quasi-identifier codes collapse to one tuple with a count. Ten million rows are often a hundred
thousand tuples, and a lattice node is a regrouping of those. Tuples are in ascending order of their codes, so
nothing later depends on the order of the rows.

A *row* here is one record or, where ``weights`` are given, a distinct row: a number of records that are equal in every
column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]

_KEY_LIMIT = 2**62


@dataclass(frozen=True, eq=False)
class Pairs:
    """How often each sensitive value occurs with each tuple; ascending by value, then tuple."""

    tuples: Codes
    values: Codes
    counts: Counts


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """Quasi-identifiers as distinct leaf-code tuples, sensitive columns as codes of their published values."""

    quasi: tuple[str, ...]
    codes: Codes  # ``codes[j, t]``: leaf code of quasi-identifier ``j`` in tuple ``t``
    counts: Counts  # records of each tuple
    row_tuple: Codes  # tuple of each row
    row_sensitive: Mapping[str, Codes]  # published-value code of each row, for each sensitive column
    pairs: Mapping[str, Pairs]
    weights: Counts | None = None  # records of each row; None: one each
    entry: NDArray[np.int64] | None = None  # where rows were parted or unfolded: which row each was before

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return len(self.row_tuple) if self.weights is None else int(self.weights.sum())

    @property
    def n_entries(self) -> int:
        """Length of the arrays that have an entry a row."""
        return len(self.row_tuple)

    def bincount(self, codes: Codes, kept: NDArray[np.bool_], width: int) -> Counts:
        """Records by code, counted over the rows kept."""
        weights = None if self.weights is None else self.weights[kept]
        return np.bincount(codes[kept], weights=weights, minlength=width).astype(np.int64)

    def parted(self, entry: NDArray[np.int64], weights: Counts | None) -> EncodedTable:
        """The same records in other rows: each is of the row ``entry`` and stands for its weight (1 if None)."""
        return replace(
            self,
            row_tuple=self.row_tuple[entry],
            row_sensitive={name: values[entry] for name, values in self.row_sensitive.items()},
            weights=weights,
            entry=entry if self.entry is None else self.entry[entry],
        )

    def unfolded(self) -> EncodedTable:
        """A row for each record, equal ones side by side: for algorithms that look at single records."""
        if self.weights is None:
            return self
        return self.parted(np.repeat(np.arange(self.n_entries), self.weights), None)

    @property
    def n_tuples(self) -> int:
        """Number of distinct tuples."""
        return len(self.counts)

    def keep_tuples(self, kept: NDArray[np.bool_]) -> EncodedTable:
        """The table without the rows of some tuples; rows keep their order."""
        number = np.cumsum(kept).astype(np.int32) - 1
        rows = kept[self.row_tuple]
        pairs = {}
        for name, each in self.pairs.items():
            entries = kept[each.tuples]
            pairs[name] = Pairs(number[each.tuples[entries]], each.values[entries], each.counts[entries])
        return EncodedTable(
            self.quasi,
            np.ascontiguousarray(self.codes[:, kept]),
            self.counts[kept],
            number[self.row_tuple[rows]],
            {name: values[rows] for name, values in self.row_sensitive.items()},
            pairs,
            None if self.weights is None else self.weights[rows],
            None if self.entry is None else self.entry[rows],
        )


def combine_codes(columns: Sequence[Codes], radices: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """Pack several code columns into one key a row, order-preserving, and the size of the key space.

    A packed key that outgrew 64 bits would merge groups silently: before that happens, the keys so far are replaced
    by their ranks.
    """
    keys = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
    space = 1
    for column, radix in zip(columns, radices, strict=True):
        if space * radix > _KEY_LIMIT:
            distinct, keys = np.unique(keys, return_inverse=True)
            space = len(distinct)
        keys = keys * radix + column
        space *= radix
    return keys, space


def distinct_counts(keys: NDArray[np.int64], weights: Counts | None) -> tuple[NDArray[np.int64], Counts]:
    """The distinct keys in order, and how many records have each: rows, or the sum of their weights."""
    if weights is None:
        distinct, counts = np.unique(keys, return_counts=True)
        return distinct, counts.astype(np.int64)
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if len(keys) else np.zeros(0, np.intp)
    return ranked[starts], np.add.reduceat(weights[order], starts) if len(keys) else np.zeros(0, np.int64)


def spans(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of several ranges, one range after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def encode_table(
    quasi: Mapping[str, tuple[Codes, int]],
    sensitive: Mapping[str, tuple[Codes, int]],
    n_rows: int,
    weights: Counts | None = None,
) -> EncodedTable:
    """Collapse rows to distinct tuples; each column comes as its codes and how many codes there are.

    With ``weights`` each of the ``n_rows`` rows stands for that number of records.
    """
    columns = [codes for codes, _ in quasi.values()]
    keys, _ = combine_codes(columns, [radix for _, radix in quasi.values()])
    if not columns:
        keys = np.zeros(n_rows, dtype=np.int64)
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    row_tuple = inverse.astype(np.int32)
    codes = np.ascontiguousarray(
        np.array([column[first] for column in columns], dtype=np.int32).reshape(-1, len(first))
    )
    if weights is not None:
        counts = np.bincount(row_tuple, weights=weights, minlength=len(first))
    pairs = {name: _pairs(row_tuple, values, len(first), weights) for name, (values, _) in sensitive.items()}
    row_sensitive = {name: values for name, (values, _) in sensitive.items()}
    return EncodedTable(tuple(quasi), codes, counts.astype(np.int64), row_tuple, row_sensitive, pairs, weights)


def _pairs(row_tuple: Codes, values: Codes, n_tuples: int, weights: Counts | None) -> Pairs:
    """Count (value, tuple) pairs."""
    width = max(n_tuples, 1)
    keys, counts = distinct_counts(values.astype(np.int64) * width + row_tuple, weights)
    return Pairs((keys % width).astype(np.int32), (keys // width).astype(np.int32), counts.astype(np.int64))
