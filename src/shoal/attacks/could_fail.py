"""Whether a part of a class could fail a model, when all that is known is the class's own secrets and the part's size.

A part of g records has some g of the secrets of its class. The worst choices are known for the models that count or
limit: the most frequent values first (fewest distinct ones), one value before all others (its largest share), the most
sensitive categories first (least weight). A part can fail exactly if one of these does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.certainty import category_histogram
from shoal.attacks.scene import Ints
from shoal.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    GroupLeakage,
    KAnonymity,
    Model,
    PPlusAlphaSensitive,
    PSensitive,
)
from shoal.models.exact import at_most, exact
from shoal.models.weighted import WeightedSensitive
from shoal.table.classes import ClassView, Histogram

Mask = NDArray[np.bool_]


def could_fail(model: Model, view: ClassView, owner: Ints, sizes: Ints) -> Mask:
    """For each part, given by its class and size, whether some choice of secrets fails the model.

    Sizes are taken to satisfy k; under a model that is not one of those above every part is said to be able to fail.
    """
    if isinstance(model, KAnonymity):
        return np.zeros(len(owner), dtype=np.bool_)
    if isinstance(model, PSensitive):
        return _too_few(view.histogram, model.p, owner, sizes)
    if isinstance(model, DistinctLDiversity):
        return _too_few(view.histogram, model.l, owner, sizes)
    if isinstance(model, AlphaKAnonymity):
        return _too_frequent(view.histogram, _limits(model, view), owner, sizes)
    if isinstance(model, WeightedSensitive):
        by_category = isinstance(model, PPlusAlphaSensitive)
        counts, categories = category_histogram(view)
        few = _too_few(categories if by_category else view.histogram, model.p, owner, sizes)
        asked = math.ceil(exact(model.alpha) * (len(view.domain.categories) - 1))
        return few | (_least_weight(counts[owner], sizes) < asked)
    if isinstance(model, GroupLeakage):
        _, categories = category_histogram(view)
        limits = [float(model.alpha.get(name, 1)) for name in view.domain.categories]
        return _too_few(categories, model.p, owner, sizes) | _too_frequent(categories, limits, owner, sizes)
    return np.ones(len(owner), dtype=np.bool_)


def _limits(model: AlphaKAnonymity, view: ClassView) -> list[float]:
    """The limit of each value."""
    if isinstance(model.alpha, int | float):
        return [model.alpha] * len(view.domain.values)
    return [float(model.alpha.get(value, 1)) for value in view.domain.values]


def _too_few(histogram: Histogram, p: int, owner: Ints, sizes: Ints) -> Mask:
    """Whether fewer than p distinct values can fill the part: whether the p - 1 most frequent ones can."""
    order = np.lexsort((-histogram.counts, histogram.class_of))
    rank = np.arange(len(order)) - histogram.starts[:-1][histogram.class_of]
    counts = np.where(rank < p - 1, histogram.counts[order], 0)
    largest = np.asarray(histogram.per_class_sum(counts), dtype=np.int64)
    return largest[owner] >= sizes


def _too_frequent(histogram: Histogram, limits: Iterable[float], owner: Ints, sizes: Ints) -> Mask:
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


def _least_weight(counts: NDArray[np.int64], sizes: Ints) -> Ints:
    """The least total weight of each part in steps of 1/(m - 1): the most sensitive categories first."""
    left, steps = sizes.copy(), np.zeros_like(sizes)
    for place in range(counts.shape[1]):
        taken = np.minimum(counts[:, place], left)
        left -= taken
        steps += place * taken
    return steps
