"""How many records must leave a class for a share or a distance to fall below its limit: bounds for `least_removed`."""

from __future__ import annotations

import numpy as np

from shoal.table.classes import Counts, Floats

_MARGIN = 1e-6
"""Records that rounding might feign: a bound is lowered by it before it is rounded up."""


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
