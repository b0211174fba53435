"""Whether a part of a class could fail a condition, when all that is known is the class's secrets and the part's size.

A part of g records has some g of the secrets of its class. The worst choices are the most frequent values first (fewest
distinct ones), one value before all others (its largest share), and the most sensitive categories first (least weight).
A part can fail exactly if one of these does.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shoal.models.exact import at_most, exact
from shoal.table.classes import Counts, Histogram, Mask


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
        entries = histogram.values == value
        counts = np.zeros(len(histogram.starts) - 1, dtype=np.int64)
        counts[histogram.class_of[entries]] = histogram.counts[entries]
        result |= ~at_most(np.minimum(counts[owner], sizes), sizes, exact(limit))
    return result


def least_weight(category_counts: Counts, sizes: Counts) -> Counts:
    """The least total weight of each part in steps of 1/(m - 1): the most sensitive categories first."""
    left, steps = sizes.copy(), np.zeros_like(sizes)
    for category in range(category_counts.shape[1]):
        used = np.minimum(category_counts[:, category], left)
        left -= used
        steps += category * used
    return steps
