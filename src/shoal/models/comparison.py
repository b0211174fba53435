"""Comparing classes, and parts of them, with limits: exactly for counts, else within one tolerance.

``0.1 + 0.2`` and ``1/3`` have no exact value in binary floating point, and a class that meets a limit exactly must not
fail by the last bit. A limit is therefore read as the decimal that the policy shows, and compared over whole numbers.

Of a part of a class an attacker knows its size g, and that it has some g of the secrets of the class. The worst
choices are unknown values first, then the most frequent values (fewest distinct ones), one value before all others (its
largest share), or the most sensitive categories (least weight). A part can fail exactly if one of these does.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

import numpy as np

from shoal.table.classes import Counts, Floats, Histogram, Mask

TOLERANCE: Final = 1e-9
"""How far a figure in floating point may pass its limit and still meet it.

Entropies, transport distances and average leakages are sums of many rounded terms: three equally frequent values have
an entropy of ln 3 only up to the last bits. Rounding errors stay below 1e-11 for any table that fits in memory, and no
policy tells 0.2 from 0.200000001. Counts, weights and shares are compared exactly and do not use it.
"""
_INT64_MAX = np.iinfo(np.int64).max
_DECIMALS = 10**9
_MARGIN = 1e-6  # records that rounding might feign: a bound is lowered by it before it is rounded up
_EXACT_WHOLE = 10**6  # A float shows nine decimals exactly (15 digits in all) only below this


def exact(limit: float | Fraction) -> Fraction:
    """The number as it is written: 0.1 is one tenth, not the nearest binary fraction."""
    return Fraction(str(limit))


def at_most(numerators: Counts, denominators: Counts, limit: Fraction) -> Mask:
    """Where ``numerator / denominator <= limit``; a zero denominator needs a zero numerator."""
    left, right = _crossed(numerators, denominators, limit)
    return np.asarray(left <= right, dtype=np.bool_)


def below(numerators: Counts, denominators: Counts, limit: Fraction) -> Mask:
    """Where ``numerator < limit * denominator``; false for a zero denominator."""
    left, right = _crossed(numerators, denominators, limit)
    return np.asarray(left < right, dtype=np.bool_)


def _crossed(numerators: Counts, denominators: Counts, limit: Fraction) -> tuple[Counts, Counts]:
    """Both sides multiplied out, in Python's unbounded integers where 64 bits could overflow."""
    top = max(
        int(numerators.max(initial=0)) * limit.denominator,
        int(denominators.max(initial=0)) * limit.numerator,
        limit.denominator,
        limit.numerator,
    )
    if top > _INT64_MAX:
        numerators, denominators = numerators.astype(object), denominators.astype(object)
    return numerators * limit.denominator, denominators * limit.numerator


def rounded_up(numerators: Counts, denominators: Counts | int) -> Floats:
    """The ratio with nine decimals and never less than it is: as a limit, the class meets it."""
    return rounded_down(-np.asarray(numerators), denominators) * -1.0 + 0.0


def rounded_down(numerators: Counts, denominators: Counts | int) -> Floats:
    """The ratio with nine decimals (none from a million on) and never more than it is; 0 for a share of nothing."""
    denominators = np.maximum(denominators, 1)
    whole, rest = np.divmod(np.asarray(numerators), denominators)
    if int(np.max(denominators, initial=0)) > _INT64_MAX // _DECIMALS:
        rest = rest.astype(object)
    decimals = np.asarray(rest * _DECIMALS // denominators, dtype=np.int64)
    small = np.abs(whole) < _EXACT_WHOLE
    fine = (np.where(small, whole, 0) * _DECIMALS + decimals) / _DECIMALS
    return np.asarray(np.where(small, fine, whole), dtype=np.float64)


def count_of(histogram: Histogram, value: int) -> Counts:
    """Records of each class that have one value."""
    entries = histogram.values == value
    counts = np.zeros(len(histogram.starts) - 1, dtype=np.int64)
    counts[histogram.class_of[entries]] = histogram.counts[entries]
    return counts


def too_few(histogram: Histogram, distinct: int, owner: Counts, least_known: Counts) -> Mask:
    """Whether fewer than ``distinct`` values can fill the part: whether the ``distinct - 1`` most frequent ones can."""
    order = np.lexsort((-histogram.counts, histogram.class_of))
    rank = np.arange(len(order)) - histogram.starts[:-1][histogram.class_of]
    counts = np.where(rank < distinct - 1, histogram.counts[order], 0)
    return np.asarray(histogram.per_class_sum(counts)[owner] >= least_known)


def too_frequent(
    histogram: Histogram, limits: Iterable[float], owner: Counts, sizes: Counts, least_known: Counts
) -> Mask:
    """Whether as many records of one value as the part can hold exceed the value's share."""
    result = np.zeros(len(owner), dtype=np.bool_)
    for value, limit in enumerate(limits):
        if limit >= 1:
            continue
        counts = np.minimum(count_of(histogram, value)[owner], sizes)
        result |= ~at_most(counts, np.maximum(counts, least_known), exact(limit))
    return result


def least_weight(category_counts: Counts, least_known: Counts) -> Counts:
    """The least total weight of each part in steps of 1/(m - 1): the most sensitive categories first."""
    left, steps = least_known.copy(), np.zeros_like(least_known)
    for category in range(category_counts.shape[1]):
        used = np.minimum(category_counts[:, category], left)
        left -= used
        steps += category * used
    return steps


def removed_for_share(counts: Counts, sizes: Counts, limit: float) -> Counts:
    """At least so many of ``sizes`` records go if those counted are to be at most a share ``limit`` of what stays."""
    if limit >= 1:
        return np.zeros(len(sizes), dtype=np.int64)
    return whole_records((counts - limit * sizes) / (1 - limit))  # (c - s)/(n - s) ≤ α means s ≥ (c - α·n)/(1 - α)


def whole_records(records: Floats) -> Counts:
    """The least whole number of records, none where it is negative."""
    return np.maximum(np.ceil(records - _MARGIN), 0).astype(np.int64)
