"""Whether every released record can stand for an original record of its own.

A released record fits an original one when, column by column, the original value lies under the released label. What
is asked is a matching of all released records to different original records - not only that each fits some record:
two released records must not stand for the same person.

Original values that lie under the same released labels are interchangeable, so they are merged first. Where every
value lies under one label at most - so it is for every full-domain recoding - the answer is a comparison of counts.
Otherwise - local recodings, where labels overlap - most records are matched greedily and the rest along augmenting
paths (`solve`). A matching that serves every record proves itself, however it was found; that there is none is proved
by a search that comes to its end. Both answers are exact.

The work grows with the pairs that fit: 4 to 150 a record for local recodings of 30,000 to 1,000,000 records with eight
or nine quasi-identifiers. Up to 24 million pairs are stored; a million records then take 2 to 13 seconds on one core.
Beyond that, pairs are sought again whenever they are needed: that bounds the memory, but a million records with 153
million pairs take 80 seconds. Every search for paths serves at least one record and looks at all pairs at most, so a
release made to be hard can take far longer; nothing is cut short.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, Mask, packed
from shoal.verification.matching.fitting_pairs import FittingPairs
from shoal.verification.matching.label_sets import LabelSets, RangePositions
from shoal.verification.matching.solve import Flow, serve_along_paths, serve_greedily


@dataclass(frozen=True, eq=False)
class Pairing:
    """One column of both tables: codes of the released labels and original values, and what lies under what."""

    released: Codes
    original: Codes
    n_labels: int
    under: Sequence[tuple[int, ...]]  # for each original value the released labels that it lies under
    spans: RangePositions | None = None
    """Where values lie in ranges that are too many to be listed; labels are then in the order of `RangePositions`."""

    @property
    def exact(self) -> bool:
        """Whether every value lies under one label at most."""
        return self.spans is None and all(len(labels) <= 1 for labels in self.under)


@dataclass(frozen=True, eq=False)
class Matching:
    """How many released records have no original of their own, at the least, and one of them."""

    unmatched: int
    example: int | None  # row of the release


def match(columns: Sequence[Pairing], released: Codes | None = None, original: Codes | None = None) -> Matching:
    """Match as many released records as possible to different original ones; with counts, a row stands for so many."""
    wanted = np.ones(len(columns[0].released), dtype=np.int64) if released is None else released
    there = np.ones(len(columns[0].original), dtype=np.int64) if original is None else original
    closed = [column for column in columns if column.exact]
    if len(closed) == len(columns):
        shown, have, some = _blocks(closed, np.arange(len(there)), len(wanted))
        return _match_by_counting(shown, have, wanted, there[some])
    groups = alike_records(columns, wanted, there)
    flow = Flow(groups.supply, groups.demand)
    serve_greedily(groups.pairs, flow)
    serve_along_paths(groups.pairs, flow)
    first = np.flatnonzero(flow.demand)
    return Matching(int(flow.demand.sum()), int(groups.rows[first[0]]) if len(first) else None)


def _blocks(closed: Sequence[Pairing], some: Codes, released: int) -> tuple[Codes, Codes, Codes]:
    """One code for what a record shows in closed columns: of the released, of some originals, and which these are."""
    shown = []
    for column in closed:
        label_of = np.array([labels[0] if labels else -1 for labels in column.under], dtype=np.int64)
        shown.append(label_of[column.original])
        some = some[shown[-1][some] >= 0]
    both = [np.concatenate([column.released, labels[some]]) for column, labels in zip(closed, shown, strict=True)]
    keys = packed(both, [column.n_labels for column in closed], released + len(some))
    return keys[:released], keys[released:], some


@dataclass(frozen=True, eq=False)
class AlikeRecords:
    """Originals that may be released as the same rows, and equal released rows: which fit, and how many there are."""

    pairs: FittingPairs
    supply: Codes
    demand: Codes
    rows: Codes  # a row of each of the released
    group_of: Codes  # for each original row its group; -1 for one that fits no released row


def alike_records(columns: Sequence[Pairing], wanted: Codes, there: Codes) -> AlikeRecords:
    """The general case: distinct records of both sides."""
    closed = [column for column in columns if column.exact]
    groups = [(column.released, *_signatures(column)) for column in columns if not column.exact]
    groups.sort(key=lambda each: len(each[2].sizes))
    some = np.flatnonzero(
        np.logical_and.reduce([np.ones(len(there), dtype=np.bool_), *(of >= 0 for _, of, _ in groups)])
    )
    released, original, some = _blocks(closed, some, len(wanted))
    blocks, released = np.unique(released, return_inverse=True)
    inside, original = _find_codes(blocks, original)
    some = some[inside]
    rows, demand, right, _ = _distinct([released, *(labels for labels, _, _ in groups)], wanted)
    _, supply, left, index = _distinct([original, *(of_row[some] for _, of_row, _ in groups)], there[some])
    under = [LabelSets.same(len(blocks)), *(sets for _, _, sets in groups)]
    group_of = np.full(len(there), -1, dtype=np.int64)
    group_of[some] = index
    return AlikeRecords(FittingPairs(under, left, right), supply, demand, rows, group_of)


def aligned_fit(column: Pairing) -> Mask:
    """For each released label whether the original value beside it lies under it."""
    of_row, under = _signatures(column)
    fits = of_row >= 0
    fits[fits] = under.has(of_row[fits].astype(np.int64), column.released[fits])
    return np.asarray(fits, dtype=np.bool_)


def _signatures(column: Pairing) -> tuple[NDArray[np.int32], LabelSets]:
    """For each original record the set of released labels that its value lies under (-1: none), and these sets.

    Values at one position in ranges that have the same other labels are interchangeable.
    """
    spans, index = column.spans, dict[tuple[tuple[int, ...], int], int]()
    at = [-1] * len(column.under) if spans is None else spans.at.tolist()
    listed = zip(column.under, at, strict=True)
    of_value = [index.setdefault(each, len(index)) if each[0] or each[1] >= 0 else -1 for each in listed]
    if spans is not None:
        spans = replace(spans, at=np.array([position for _, position in index], dtype=np.int64))
    under = LabelSets.of([labels for labels, _ in index], column.n_labels, spans)
    return np.array(of_value, dtype=np.int32)[column.original], under


def _match_by_counting(released: Codes, original: Codes, wanted: Codes, there: Codes) -> Matching:
    """Every original fits one released combination: count both."""
    keys, rows, index = np.unique(released, return_index=True, return_inverse=True)
    asked = np.bincount(index, weights=wanted, minlength=len(keys)).astype(np.int64)
    found, indices = _find_codes(keys, original)
    have = np.bincount(indices, weights=there[found], minlength=len(keys)).astype(np.int64)
    missing = np.maximum(asked - have[: len(keys)], 0)
    first = np.flatnonzero(missing)
    return Matching(int(missing.sum()), int(rows[first[0]]) if len(first) else None)


def _find_codes(keys: Codes, codes: Codes) -> tuple[Codes, Codes]:
    """Which of the codes are among the sorted keys, and where."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    indices = np.minimum(np.searchsorted(keys, codes), len(keys) - 1)
    found = np.flatnonzero(keys[indices] == codes)
    return found, indices[found]


def _distinct(columns: Sequence[NDArray[np.integer[Any]]], weights: Codes) -> tuple[Codes, Codes, list[Codes], Codes]:
    """A row of each distinct combination of codes, how often it occurs, the combinations in ascending order, and which
    of them each row has.
    """
    widths = [int(codes.max(initial=-1)) + 1 for codes in columns]
    keys = packed(columns, widths, len(columns[0]))
    _, rows, index = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(index, weights=weights, minlength=len(rows)).astype(np.int64)
    return rows, counts, [codes[rows].astype(np.int64) for codes in columns], index
