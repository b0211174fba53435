"""Parts of a class: whether one could fail a condition, and how many records must go before one can hold.

All that is known is the secrets of the class and the size of the part.
A part of g records has some g of the secrets of its class. The worst choices are the most frequent values first (fewest
distinct ones), one value before all others (its largest share), and the most sensitive categories first (least weight).
A part can fail exactly if one of these does.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shoal.models.comparison import at_most, exact
from shoal.table.classes import Counts, Floats, Histogram, Mask

_MARGIN = 1e-6  # records that rounding might feign: a bound is lowered by it before it is rounded up


def count_of(histogram: Histogram, value: int) -> Counts:
    """Records of each class that have one value."""
    entries = histogram.values == value
    counts = np.zeros(len(histogram.starts) - 1, dtype=np.int64)
    counts[histogram.class_of[entries]] = histogram.counts[entries]
    return counts


def too_few(histogram: Histogram, distinct: int, owner: Counts, sizes: Counts) -> Mask:
    """Whether fewer than ``distinct`` values can fill the part: whether the ``distinct - 1`` most frequent ones can."""
    order = np.lexsort((-histogram.counts, histogram.class_of))
    rank = np.arange(len(order)) - histogram.starts[:-1][histogram.class_of]
    counts = np.where(rank < distinct - 1, histogram.counts[order], 0)
    largest = np.asarray(histogram.per_class_sum(counts), dtype=np.int64)
    return np.asarray(largest[owner] >= sizes)


def too_frequent(histogram: Histogram, limits: Iterable[float], owner: Counts, sizes: Counts) -> Mask:
    """Whether as many records of one value as the part can hold exceed the value's share."""
    result = np.zeros(len(owner), dtype=np.bool_)
    for value, limit in enumerate(limits):
        if limit >= 1:
            continue
        counts = count_of(histogram, value)[owner]
        result |= ~at_most(np.minimum(counts, sizes), sizes, exact(limit))
    return result


def least_weight(category_counts: Counts, sizes: Counts) -> Counts:
    """The least total weight of each part in steps of 1/(m - 1): the most sensitive categories first."""
    left, steps = sizes.copy(), np.zeros_like(sizes)
    for category in range(category_counts.shape[1]):
        used = np.minimum(category_counts[:, category], left)
        left -= used
        steps += category * used
    return steps


def removed_for_share(counts: Counts, sizes: Counts, limit: float) -> Counts:
    """At least so many records go if those counted are to be at most a share ``limit`` of what stays.

    Best is to remove records that count: (c - s)/(n - s) ≤ α means s ≥ (c - α·n)/(1 - α).
    """
    if limit >= 1:
        return np.zeros(len(sizes), dtype=np.int64)
    return _whole((counts - limit * sizes) / (1 - limit))


def removed_for_distance(excess: Floats, sizes: Counts) -> Counts:
    """At least so many records go if a distance of at most 1 between any two values is to fall by ``excess``.

    Leaving out s of n records moves a distribution by at most s/n.
    """
    return _whole(excess * sizes)


def _whole(records: Floats) -> Counts:
    return np.maximum(np.ceil(records - _MARGIN), 0).astype(np.int64)
