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

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes
from shoal.verification.matching.candidates import Flow, Graph
from shoal.verification.matching.fitting_pairs import pairs_of
from shoal.verification.matching.label_sets import LabelSets, RangeLabelSets, RangePositions
from shoal.verification.matching.solve import serve_along_paths, serve_greedily

_LARGEST_CODE = 2**62


@dataclass(frozen=True, eq=False)
class Pairing:
    """One column of both tables: codes of the released labels and original values, and what lies under what."""

    released: Codes
    original: Codes
    n_labels: int
    under: Sequence[tuple[int, ...]]  # for each original value the released labels that it lies under
    spans: RangePositions | None = None
    """Where the values lie in released ranges besides, if these are too many to be listed above; then the labels are in
    the order that `RangePositions.order` gives."""

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
    """Match as many released records as possible to different original ones.

    With counts, each released or original row stands for so many records.
    """
    wanted = np.ones(len(columns[0].released), dtype=np.int64) if released is None else released
    there = np.ones(len(columns[0].original), dtype=np.int64) if original is None else original
    closed = [column for column in columns if column.exact]
    opened = [column for column in columns if not column.exact]
    if not opened:
        shown, have, some = _blocks(closed, np.arange(len(there)), len(wanted))
        return _compared(shown, have, wanted, there[some])
    graph, flow, rows = _posed(closed, opened, wanted, there)
    pairs = pairs_of(graph)
    serve_greedily(graph, pairs, flow)
    serve_along_paths(graph, pairs, flow)
    first = np.flatnonzero(flow.demand)
    return Matching(int(flow.demand.sum()), int(rows[first[0]]) if len(first) else None)


def _blocks(closed: Sequence[Pairing], some: Codes, released: int) -> tuple[Codes, Codes, Codes]:
    """One code for what a record shows in closed columns: of the released, of some originals, and which these are."""
    keys = []
    for column in closed:
        label_of = np.array([labels[0] if labels else -1 for labels in column.under], dtype=np.int64)
        keys.append(label_of[column.original])
        some = some[keys[-1][some] >= 0]
    both = [np.concatenate([column.released, key[some]]) for column, key in zip(closed, keys, strict=True)]
    packed = _packed(both, [column.n_labels for column in closed], released + len(some))
    return packed[:released], packed[released:], some


def _posed(
    closed: Sequence[Pairing], opened: Sequence[Pairing], wanted: Codes, there: Codes
) -> tuple[Graph, Flow, Codes]:
    """The general case: distinct records of both sides, how many there are, and a row of each that is released."""
    groups = [(column.released, *_signatures(column)) for column in opened]
    groups.sort(key=lambda each: len(each[2].sizes))
    some = np.flatnonzero(np.logical_and.reduce([of_row >= 0 for _, of_row, _ in groups]))
    released, original, some = _blocks(closed, some, len(opened[0].released))
    blocks, released = np.unique(released, return_inverse=True)
    inside, original = _places(blocks, original)
    some = some[inside]
    rows, demand, right = _distinct([released, *(labels for labels, _, _ in groups)], wanted)
    _, supply, left = _distinct([original, *(of_row[some] for _, of_row, _ in groups)], there[some])
    under = [LabelSets.same(len(blocks)), *(sets for _, _, sets in groups)]
    return Graph.of(under, left, right), Flow(supply, demand), rows


def _signatures(column: Pairing) -> tuple[NDArray[np.int32], LabelSets]:
    """For each original record the set of released labels that its value lies under (-1: none), and these sets.

    Values of one place in ranges that have the same other labels are interchangeable.
    """
    spans, index = column.spans, dict[tuple[tuple[int, ...], int], int]()
    at = [-1] * len(column.under) if spans is None else spans.at.tolist()
    listed = zip(column.under, at, strict=True)
    of_value = [index.setdefault(each, len(index)) if each[0] or each[1] >= 0 else -1 for each in listed]
    sets = [labels for labels, _ in index]
    if spans is None:
        under = LabelSets.of(sets, column.n_labels)
    else:
        places = np.array([place for _, place in index], dtype=np.int64)
        under = RangeLabelSets.within(sets, replace(spans, at=places))
    return np.array(of_value, dtype=np.int32)[column.original], under


def _packed(columns: Sequence[NDArray[np.integer[Any]]], widths: Sequence[int], rows: int) -> Codes:
    """One code for each row from those of its columns, the order of the rows' codes being that of the columns."""
    packed, size = np.zeros(rows, dtype=np.int64), 1
    for codes, width in zip(columns, widths, strict=True):
        if size * width > _LARGEST_CODE:
            distinct, packed = np.unique(packed, return_inverse=True)
            size = len(distinct)
        packed, size = packed * width + codes, size * width
    return packed


def _compared(released: Codes, original: Codes, wanted: Codes, there: Codes) -> Matching:
    """Every original fits one released combination: count both."""
    keys, rows, place = np.unique(released, return_index=True, return_inverse=True)
    asked = np.bincount(place, weights=wanted, minlength=len(keys)).astype(np.int64)
    found, places = _places(keys, original)
    have = np.bincount(places, weights=there[found], minlength=len(keys)).astype(np.int64)
    missing = np.maximum(asked - have[: len(keys)], 0)
    first = np.flatnonzero(missing)
    return Matching(int(missing.sum()), int(rows[first[0]]) if len(first) else None)


def _places(keys: Codes, codes: Codes) -> tuple[Codes, Codes]:
    """Which of the codes are among the sorted keys, and where."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    places = np.minimum(np.searchsorted(keys, codes), len(keys) - 1)
    found = np.flatnonzero(keys[places] == codes)
    return found, places[found]


def _distinct(columns: Sequence[NDArray[np.integer[Any]]], weights: Codes) -> tuple[Codes, Codes, list[Codes]]:
    """A row of each distinct combination of codes, how often it occurs, and the combinations in ascending order."""
    widths = [int(codes.max(initial=-1)) + 1 for codes in columns]
    packed = _packed(columns, widths, len(columns[0]))
    _, rows, place = np.unique(packed, return_index=True, return_inverse=True)
    counts = np.bincount(place, weights=weights, minlength=len(rows)).astype(np.int64)
    return rows, counts, [codes[rows].astype(np.int64) for codes in columns]
