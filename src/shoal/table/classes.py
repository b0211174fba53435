"""Class statistics: all that a privacy model may see of a table.

A class is the set of records that share one released combination of quasi-identifiers. A model sees the size of each
class, how often each published sensitive value occurs in it, and the domain of that sensitive column - never a
dataframe, a hierarchy of quasi-identifiers or a search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy, Label

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SensitiveDomain:
    """The published values of one sensitive column, in order, and how they group by sensitivity."""

    column: str
    values: tuple[Label, ...]
    """Published values; a value's code is its place. ``None`` is the missing value, a value of its own."""
    ordered: bool = False
    """Whether the order of ``values`` means something (numbers, dates, or an order the policy declares)."""
    categories: tuple[str, ...] = ()
    """Names of the sensitivity categories, most sensitive first; empty when the policy declares none."""
    category_of: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """Category of each value code; as long as ``values`` when there are categories, else empty."""
    hierarchy: Hierarchy | None = None
    """A hierarchy over the values, for distances that need one; its leaf ``i`` is the value of code ``i``."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of one sensitive column in every class, sparse: class ``i`` owns the entries ``starts[i]:starts[i+1]``.

    Every class has at least one entry, every count is positive, and values ascend within a class.
    """

    starts: Counts
    values: NDArray[np.int32]
    counts: Counts

    @classmethod
    def of(
        cls, owner: Counts, values: NDArray[np.int32], n_classes: int, width: int, counts: Counts | None = None
    ) -> Histogram:
        """The histogram from the class and the value of each record, or of each entry with a count."""
        keys, inverse = np.unique(owner * width + values, return_inverse=True)
        totals = np.bincount(inverse, weights=counts, minlength=len(keys)).astype(np.int64)
        starts = np.searchsorted(keys, np.arange(n_classes + 1, dtype=np.int64) * width)
        return cls(starts.astype(np.int64), (keys % width).astype(np.int32), totals)

    def per_class_sum(self, per_entry: NDArray[np.generic]) -> NDArray[np.generic]:
        """Sum a figure over the entries of each class."""
        return np.add.reduceat(per_entry, self.starts[:-1]) if len(self.starts) > 1 else per_entry[:0]

    def per_class_max(self, per_entry: NDArray[np.generic]) -> NDArray[np.generic]:
        """Largest figure over the entries of each class."""
        return np.maximum.reduceat(per_entry, self.starts[:-1]) if len(self.starts) > 1 else per_entry[:0]

    @cached_property
    def distinct(self) -> Counts:
        """Number of distinct values in each class."""
        return np.diff(self.starts)

    @cached_property
    def class_of(self) -> NDArray[np.int64]:
        """Class of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def keep(self, classes: Mask) -> Histogram:
        """The histogram of some of the classes only."""
        entries = np.repeat(classes, np.diff(self.starts))
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[classes])]).astype(np.int64)
        return Histogram(starts, self.values[entries], self.counts[entries])


@dataclass(frozen=True, eq=False)
class ClassStats:
    """Statistics of every class of a (candidate) release."""

    sizes: Counts
    histograms: Mapping[str, Histogram]
    domains: Mapping[str, SensitiveDomain]
    reference: Mapping[str, Counts] | None = None
    """Counts of each value in the whole release, where these classes are only a part of it; None: these are all."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    def view(self, sensitive: str | None) -> ClassView:
        """What one model sees."""
        if sensitive is None:
            return ClassView(self.sizes, None, None)
        reference = self.reference[sensitive] if self.reference is not None else None
        return ClassView(self.sizes, self.histograms[sensitive], self.domains[sensitive], reference)

    def keep(self, classes: Mask) -> ClassStats:
        """The statistics when only some of the classes are released."""
        kept = {name: histogram.keep(classes) for name, histogram in self.histograms.items()}
        return ClassStats(self.sizes[classes], kept, self.domains, self.reference)


@dataclass(frozen=True, eq=False)
class ClassView:
    """What one model sees: class sizes and, where it names a sensitive column, that column's histogram and domain."""

    sizes: Counts
    histogram_or_none: Histogram | None
    domain_or_none: SensitiveDomain | None
    reference: Counts | None = None

    @property
    def histogram(self) -> Histogram:
        """The histogram of the model's sensitive column."""
        assert self.histogram_or_none is not None, "a model without a sensitive column asked for one"
        return self.histogram_or_none

    @property
    def domain(self) -> SensitiveDomain:
        """The domain of the model's sensitive column."""
        assert self.domain_or_none is not None, "a model without a sensitive column asked for one"
        return self.domain_or_none

    @cached_property
    def totals(self) -> Counts:
        """How often each value occurs in the whole release: in all classes together, unless a reference says more."""
        if self.reference is not None:
            return self.reference
        histogram = self.histogram
        weights = np.bincount(histogram.values, weights=histogram.counts, minlength=len(self.domain.values))
        return weights.astype(np.int64)

    @cached_property
    def category_counts(self) -> Counts:
        """Records of each class in each category: a row per class, a column per category."""
        histogram, domain = self.histogram, self.domain
        width = len(domain.categories)
        keys = histogram.class_of * width + domain.category_of[histogram.values]
        flat = np.bincount(keys, weights=histogram.counts, minlength=len(self.sizes) * width)
        return flat.astype(np.int64).reshape(len(self.sizes), width)
