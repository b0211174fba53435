"""A column of both tables as the matching wants it: which original values lie under which released labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.verification.canonical_text import Coded
from shoal.verification.labels import Chain, Labels
from shoal.verification.matching.match import Pairing
from shoal.verification.matching.range_sets import RangePositions
from shoal.verification.ranges import RangeLabels

_LISTED = 100_000
"""How many pairs of a value and a range are listed one by one; more are told by their places on a line."""


def pairing_by_chains(released: Coded, original: Coded, chains: Sequence[Chain]) -> Pairing:
    """A column whose original values lie under the labels of their chains."""
    place = {label: index for index, label in enumerate(released.values)}
    lie = [tuple(sorted({place[label] for label in chain if label in place})) for chain in chains]
    return Pairing(released.codes, original.codes, len(released.values), lie)


def released_as(released: Coded, original: Coded, kind: Labels, chains: Sequence[Chain]) -> Pairing:
    """A quasi-identifier: an original value lies under the labels of its chain, and in ranges where there are any."""
    if not isinstance(kind, RangeLabels):
        return pairing_by_chains(released, original, chains)
    spans = kind.positions(original.values, chains, released.values)
    if spans is None or spans.pairs <= _LISTED:
        return pairing_by_chains(released, original, kind.with_ranges(original.values, chains, released.values))
    order = spans.order()
    labels = Coded([released.values[label] for label in order.tolist()], np.argsort(order)[released.codes])
    return replace(
        pairing_by_chains(labels, original, chains), spans=RangePositions(spans.at, spans.low[order], spans.high[order])
    )
