"""What predictions score on records whose class is known, with intervals by bootstrap over the test records.

*Accuracy*: the share of records whose likeliest class is the right one. *Balanced accuracy*: that share within each
class, averaged over the classes. *AUC*: the chance that a record of a class gets a higher figure for it than a record
of another, ties counted half, averaged over the classes (for two classes both give the same).

Intervals are the 2.5 and 97.5 percentiles over resamples of the test records (Efron & Tibshirani 1993, percentile
method). The difference of two models is taken within each resample, since both are tested on the same records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.utility.columns import Codes, Floats

RESAMPLES = 200
MEASURES = ("accuracy", "balanced_accuracy", "auc")
_PERCENTILES = (2.5, 97.5)
_PLACES = 6
_AT_ONCE = 20
"""Resamples that are worked on at once: all of them would fill the memory."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """How often each resample draws each test record; the first row is the test itself, every record once."""

    counts: Floats

    @staticmethod
    def of(records: int, rng: np.random.Generator, resamples: int = RESAMPLES) -> Resampled:
        """Resamples of the size of the test."""
        counts = np.ones((resamples + 1, records))
        for each in range(1, resamples + 1):
            counts[each] = np.bincount(rng.integers(0, records, records), minlength=records)
        return Resampled(counts)


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of the test records, and their true classes."""

    chances: Floats
    truth: Codes

    @cached_property
    def right(self) -> Floats:
        """1 where the likeliest class is the true one; of equally likely classes the first counts."""
        right: Floats = (np.argmax(self.chances, axis=1) == self.truth).astype(np.float64)
        return right

    def scores(self, drawn: Resampled) -> dict[str, Floats]:
        """Each measure on the test itself and on every resample of it."""
        counts = drawn.counts
        found, areas = [], []
        for each in np.unique(self.truth):
            of_class = (self.truth == each).astype(np.float64)
            size = counts @ of_class
            found.append(_ratio(counts @ (of_class * self.right), size))
            areas.append(_areas(self.chances[:, each], of_class, counts))
        with_classes = np.array(found)
        return {
            "accuracy": (counts @ self.right) / counts.sum(axis=1),
            "balanced_accuracy": _mean(with_classes),
            "auc": _mean(np.array(areas)),
        }


def _ratio(part: Floats, whole: Floats) -> Floats:
    """A share, NaN where a resample has no record to take it of."""
    ratio: Floats = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return ratio


def _mean(by_class: Floats) -> Floats:
    """The mean over the classes that a resample has; NaN where it has none."""
    known = ~np.isnan(by_class)
    counted = known.sum(axis=0)
    total = np.where(known, by_class, 0.0).sum(axis=0)
    return _ratio(total, counted.astype(np.float64))


def _areas(chances: Floats, of_class: Floats, counts: Floats) -> Floats:
    """The area under the curve of one class against the others, for every resample.

    Records are put in order of their figure; those of equal figures are one step. Then each record of the class beats
    the others on lower steps, and half of those on its own.
    """
    order = np.argsort(chances, kind="stable")
    starts = np.flatnonzero(np.diff(chances[order], prepend=-np.inf))
    is_one = of_class[order]
    areas = [
        _area(counts[block : block + _AT_ONCE, order], is_one, starts) for block in range(0, len(counts), _AT_ONCE)
    ]
    return np.concatenate(areas)


def _area(counts: Floats, of_class: Floats, starts: NDArray[np.intp]) -> Floats:
    yes = np.add.reduceat(counts * of_class, starts, axis=1)
    no = np.add.reduceat(counts * (1.0 - of_class), starts, axis=1)
    below = np.cumsum(no, axis=1) - no
    return _ratio((yes * (below + no / 2)).sum(axis=1), yes.sum(axis=1) * no.sum(axis=1))


def figures(scores: Mapping[str, Floats]) -> dict[str, dict[str, float | None]]:
    """Each measure with its interval."""
    return {name: _figure(values) for name, values in scores.items()}


def differences(one: Mapping[str, Floats], other: Mapping[str, Floats]) -> dict[str, dict[str, float | None]]:
    """By how much the first scores more than the second, with the interval of that difference."""
    return {name: _figure(one[name] - other[name]) for name in one}


def _figure(values: Floats) -> dict[str, float | None]:
    known = values[1:][~np.isnan(values[1:])]
    low, high = np.percentile(known, _PERCENTILES) if len(known) else (np.nan, np.nan)
    return {name: _plain(each) for name, each in zip(("value", "low", "high"), (values[0], low, high), strict=True)}


def _plain(value: float) -> float | None:
    """A score as JSON can hold it; None where the test had no record to take it of."""
    return None if np.isnan(value) else round(float(value), _PLACES) + 0.0
