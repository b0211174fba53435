"""A table as integer codes: distinct quasi-identifier tuples with counts, and sensitive values as pairs on them.

Ten million rows are often a hundred thousand tuples, in ascending order: nothing depends on the order of the rows.
A *row* is one record or, where ``weights`` are given, a number of records that are equal in every column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.table.linked import Links, link_records

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Number = TypeVar("Number", bound=np.integer)

_KEY_LIMIT = 2**62
_STEP = 1 << 20  # rows that are numbered at once


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
    row_sensitive: Mapping[str, Codes]
    """Published-value code of each row, for each sensitive column; -1 for rows of a table without the column."""
    pairs: Mapping[str, Pairs]
    weights: Counts | None = None  # records of each row; None: one each
    person: Codes | None = None  # who each row is about; None: every record is somebody else's
    links: Links | None = None  # where pseudonyms link records: the tuples are those of linked classes
    entry: NDArray[np.int64] | None = None  # where rows were parted or unfolded: which row each was before

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return len(self.row_tuple) if self.weights is None else int(self.weights.sum())

    @cached_property
    def rows_by_tuple(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows tuple by tuple, and where those of each tuple start; one start more for the end."""
        rows = np.argsort(self.row_tuple, kind="stable")
        return rows, np.searchsorted(self.row_tuple[rows], np.arange(self.n_tuples + 1))

    @property
    def is_by_tuple(self) -> bool:
        """Whether the rows come tuple by tuple."""
        return bool((self.row_tuple[1:] >= self.row_tuple[:-1]).all())

    def codes_to_count(self, column: str) -> Codes:
        """`row_sensitive` of a column, for statistics that only models judge."""
        return self.row_sensitive[column]

    def pairs_to_count(self, column: str) -> Pairs:
        """`pairs` of a column, for statistics that only models judge."""
        return self.pairs[column]

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
            person=None if self.person is None else self.person[entry],
            entry=entry if self.entry is None else self.entry[entry],
        )

    def unfolded(self) -> EncodedTable:
        """A row for each record, equal ones side by side: for algorithms that look at single records."""
        if self.weights is None:
            return self
        return self.parted(np.repeat(np.arange(len(self.row_tuple)), self.weights), None)

    @property
    def n_tuples(self) -> int:
        """Number of distinct tuples."""
        return len(self.counts)

    def keep_tuples(self, kept: NDArray[np.bool_]) -> EncodedTable:
        """The table without the rows of some tuples; rows keep their order."""
        rows = kept[self.row_tuple]
        codes = self.codes[:, self.row_tuple[rows]]
        encoded = encode_table(
            {name: (column, int(column.max(initial=0)) + 1) for name, column in zip(self.quasi, codes, strict=True)},
            {name: values[rows] for name, values in self.row_sensitive.items()},
            int(np.count_nonzero(rows)),
            None if self.weights is None else self.weights[rows],
            None if self.person is None else self.person[rows],
            linked=self.links is not None,
        )
        return replace(encoded, entry=None if self.entry is None else self.entry[rows])


def combine_codes(
    columns: Sequence[Codes | NDArray[np.int64]], radices: Sequence[int]
) -> tuple[NDArray[np.int64], int]:
    """Pack several code columns into one key per row, order-preserving, and the size of the key space."""
    keys = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
    space = 1
    for column, radix in zip(columns, radices, strict=True):
        if space * radix > _KEY_LIMIT:  # a key that outgrew 64 bits would merge groups silently
            distinct, keys = np.unique(keys, return_inverse=True)
            space = len(distinct)
        keys = keys * radix + column
        space *= radix
    return keys, space


def distinct_codes(codes: NDArray[Number]) -> NDArray[Number]:
    """The distinct ones of some whole numbers, in ascending order.

    `np.unique` hashes where nothing but the numbers is asked for, which takes fifty times as long for a million.
    """
    ordered = np.sort(codes, axis=None)
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return np.asarray(ordered[first])


def number_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Codes]:
    """Where each distinct key occurs first, in ascending order of the keys, and the number of each row's key.

    As `np.unique` does, in a third of the memory where many rows have few keys.
    """
    found = distinct_codes(keys)
    if len(found) > len(keys) // 4:
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return first, inverse.astype(np.int32)
    number = np.empty(len(keys), dtype=np.int32)
    for start in range(0, len(keys), _STEP):
        number[start : start + _STEP] = np.searchsorted(found, keys[start : start + _STEP])
    first = np.empty(len(found), dtype=np.int64)
    for start in range(_STEP * (len(keys) // _STEP), -1, -_STEP):  # of equal keys the first one, written last, stays
        some = number[start : start + _STEP]
        first[some[::-1]] = np.arange(start + len(some) - 1, start - 1, -1)
    return first, number


def numbered(keys: NDArray[np.int64], space: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys, all below ``space``, in ascending order, and the number of each key among them."""
    if space > 8 * len(keys):
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, inverse
    seen = np.zeros(space, dtype=np.bool_)
    seen[keys] = True
    number = np.cumsum(seen) - 1
    return np.flatnonzero(seen), number[keys]


def spans(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of several ranges, one range after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def encode_table(
    quasi: Mapping[str, tuple[Codes, int]],
    sensitive: Mapping[str, Codes],
    n_rows: int,
    weights: Counts | None = None,
    person: Codes | None = None,
    *,
    linked: bool = False,
) -> EncodedTable:
    """Collapse rows to distinct tuples; a quasi-identifier comes as its codes and how many codes there are.

    Where records are ``linked``, a tuple is only shared by people who have the same tuples.
    """
    columns = [codes for codes, _ in quasi.values()]
    keys = combine_codes(columns, [radix for _, radix in quasi.values()])[0] if columns else np.zeros(n_rows, np.int64)
    first, row_tuple = number_keys(keys)
    links = None
    if linked and person is not None:
        ones = np.ones(n_rows, dtype=np.int64) if weights is None else weights
        tuples, first, links = link_records(person.astype(np.int64), row_tuple.astype(np.int64), ones)
        row_tuple = tuples.astype(np.int32)
    width = max(len(first), 1)
    codes = np.array([column[first] for column in columns], dtype=np.int32).reshape(len(columns), len(first))
    pairs = {}
    for name, values in sensitive.items():
        begin, entry = number_keys(values.astype(np.int64) * width + row_tuple)
        counts = np.bincount(entry, weights, minlength=len(begin)).astype(np.int64)
        there = values[begin] >= 0  # but for rows of a table without the column
        pairs[name] = Pairs(row_tuple[begin][there], values[begin][there].astype(np.int32), counts[there])
    records = np.bincount(row_tuple, weights, minlength=len(first)).astype(np.int64)
    codes = np.ascontiguousarray(codes)
    return EncodedTable(tuple(quasi), codes, records, row_tuple, dict(sensitive), pairs, weights, person, links)
