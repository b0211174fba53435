"""Class statistics: all that a privacy model may see of a table.

A class is the set of records that share one released combination of quasi-identifiers. A model sees the size of each
class, how often each published sensitive value occurs in it, and the domain of that sensitive column - never a
dataframe, a hierarchy of quasi-identifiers or a search. Sizes and counts are numbers of records or, where the policy
says who a record is about, of people (`shoal.table.people`).

`ClassStats` counts every published value. `ClassStats.view` leaves out those that are *unknown* (a missing value, and
what a policy lists as ``unknown``): they are not values, and a model or an attack judges the known ones by the known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.table.numbers import NumberEntries, Numbers

if TYPE_CHECKING:
    from shoal.table.people import PeopleRows

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)

UNITS = 720_720  # what a person weighs in a class: divided by up to 16 values it leaves nothing over


@dataclass(frozen=True, eq=False)
class SensitiveDomain:
    """The published values of one sensitive column, in order, and how they group by sensitivity."""

    column: str
    values: tuple[Label, ...]  # published values, the unknown ones included; a code is an index here
    ordered: bool = False  # whether the order means something (numbers, dates, or an order the policy declares)
    categories: tuple[str, ...] = ()  # categories of sensitivity, most sensitive first; empty where none is declared
    category_of: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """Category of each value code, -1 of an unknown one; as long as ``values`` if there are categories, else empty."""
    hierarchy: Hierarchy | None = None  # over the values, for distances that need one: leaf ``i`` has the code ``i``
    unknown: frozenset[Label] = frozenset()  # published values that stand for no value; ``None`` is a missing one

    @cached_property
    def known(self) -> Mask:
        """Which codes are those of known values."""
        return np.array([value not in self.unknown for value in self.values], dtype=np.bool_)

    @cached_property
    def numbers(self) -> Numbers | None:
        """The known values as exact numbers; None where one of them is not a number."""
        return Numbers.of([None if value in self.unknown else value for value in self.values])


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of one sensitive column in every class, sparse: class ``i`` owns the entries ``starts[i]:starts[i+1]``.

    Every count is positive, and values ascend within a class. A class without an entry is one with no known value.
    """

    starts: Counts
    values: NDArray[np.int32]
    counts: Counts
    weights_or_none: Counts | None = None  # of people: what those who have the value weigh; None for records

    @property
    def weights(self) -> Counts:
        """What the value weighs in a distribution: `UNITS` for each person, over all they have; 1 for each record."""
        return self.counts if self.weights_or_none is None else self.weights_or_none

    @classmethod
    def of(
        cls, owner: Counts, values: NDArray[np.int32], n_classes: int, width: int, counts: Counts | None = None
    ) -> Histogram:
        """The histogram from the class and the value of each record, or of each entry with a count."""
        cells, space = owner * width + values, n_classes * width
        if space <= len(owner):  # counted in a table where that is no longer than the records, else sorted
            keys = np.flatnonzero(np.bincount(cells, minlength=space))
            totals = np.bincount(cells, weights=counts, minlength=space)[keys]
        else:
            keys, inverse = np.unique(cells, return_inverse=True)
            totals = np.bincount(inverse, weights=counts, minlength=len(keys))
        starts = np.searchsorted(keys, np.arange(n_classes + 1, dtype=np.int64) * width)
        return cls(starts.astype(np.int64), (keys % width).astype(np.int32), totals.astype(np.int64))

    def value_weights(self, width: int) -> Counts:
        """What each of ``width`` values weighs in all classes together."""
        return np.bincount(self.values, weights=self.weights, minlength=width).astype(np.int64)

    def per_class_sum(self, per_entry: NDArray[Number]) -> NDArray[Number]:
        """Sum a figure over the entries of each class; 0 where it has none."""
        return self._reduced(np.add, per_entry)

    def per_class_max(self, per_entry: NDArray[Number]) -> NDArray[Number]:
        """Largest figure over the entries of each class; 0 where it has none."""
        return self._reduced(np.maximum, per_entry)

    def _reduced(self, reduce: np.ufunc, per_entry: NDArray[Number]) -> NDArray[Number]:
        filled = self.distinct > 0
        if filled.all():
            return reduce.reduceat(per_entry, self.starts[:-1]) if len(filled) else per_entry[:0]
        result = np.zeros(len(filled), dtype=per_entry.dtype)
        if filled.any():
            result[filled] = reduce.reduceat(per_entry, self.starts[:-1][filled])
        return result

    @cached_property
    def distinct(self) -> Counts:
        """Number of distinct values in each class."""
        return np.diff(self.starts)

    @cached_property
    def class_of(self) -> NDArray[np.int64]:
        """Class of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def of_values(self, values: Mask) -> Histogram:
        """The histogram of some of the values only."""
        entries = values[self.values]
        starts = np.concatenate([[0], np.cumsum(entries)])[self.starts]
        weights = None if self.weights_or_none is None else self.weights_or_none[entries]
        return Histogram(starts, self.values[entries], self.counts[entries], weights)

    def restricted_to(self, classes: Mask) -> Histogram:
        """The histogram of some of the classes only."""
        entries = np.repeat(classes, np.diff(self.starts))
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[classes])]).astype(np.int64)
        weights = None if self.weights_or_none is None else self.weights_or_none[entries]
        return Histogram(starts, self.values[entries], self.counts[entries], weights)


class CountedPeople(Protocol):
    """Who is in some classes, beside what was counted: enough to count the people of some of them together."""

    def restricted_to(self, classes: Mask, /) -> Self:
        """Those of some of the classes, which are numbered anew."""

    def totals(self, column: str, domain: SensitiveDomain, /) -> Counts:
        """What each value of a column weighs in all classes together, everybody having the weight `UNITS`."""

    def rows(self) -> PeopleRows:
        """The rows that they are counted from."""

    def class_records(self) -> tuple[Counts, NDArray[np.int32], Counts | None]:
        """The class and the person of each row, and the records that it stands for (None: one)."""


@dataclass(frozen=True, eq=False)
class ClassStats:
    """Statistics of every class of a (candidate) release, in records or in people."""

    sizes: Counts
    histograms: Mapping[str, Histogram]
    domains: Mapping[str, SensitiveDomain]
    reference: Mapping[str, Counts] | None = None
    """What each value weighs in the whole release; None where these classes are all of it."""
    records_or_none: Counts | None = None  # of people: the records of each class; None where sizes are records
    categories: Mapping[str, Histogram] = field(default_factory=dict)  # of people: those of each category
    people: CountedPeople | None = None  # of people: who is in the classes
    linked: LinkedStats | None = None  # where pseudonyms link the records of people: what these show together

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @property
    def records(self) -> Counts:
        """Records of each class, which budgets and losses are about."""
        return self.sizes if self.records_or_none is None else self.records_or_none

    @cached_property
    def by_record(self) -> ClassStats:
        """The same classes, counted in records."""
        if self.people is None:
            return self
        rows, histograms = self.people.rows(), {}
        for name, values in rows.values.items():
            known = values >= 0  # but for rows of a table without the column
            there = slice(None) if known.all() else known  # a view, since people have many rows
            counts = None if rows.counts is None else rows.counts[there]
            width = len(self.domains[name].values)
            histograms[name] = Histogram.of(rows.owner[there], values[there], self.n_classes, width, counts)
        return ClassStats(self.records, histograms, self.domains)

    def view(self, sensitive: str | None) -> ClassView:
        """What one model sees."""
        if sensitive is None:
            return ClassView(self.sizes, None, None, records_or_none=self.records_or_none, people=self.people)
        histogram, domain, people = self.histograms[sensitive], self.domains[sensitive], self.people
        reference: Counts | Callable[[], Counts] | None = None
        if self.reference is not None:
            reference = self.reference[sensitive] * domain.known
        elif people is not None:
            reference = lambda: people.totals(sensitive, domain) * domain.known  # noqa: E731 - few models ask for it
        return ClassView(
            self.sizes,
            histogram.of_values(domain.known) if domain.unknown else histogram,
            domain,
            reference,
            records_or_none=self.records_or_none,
            categories_or_none=self.categories.get(sensitive),
            people=people,
        )

    def restricted_to(self, classes: Mask) -> ClassStats:
        """The statistics when only some of the classes are released."""
        kept = {name: histogram.restricted_to(classes) for name, histogram in self.histograms.items()}
        if self.people is None:
            return ClassStats(self.sizes[classes], kept, self.domains, self.reference)
        return ClassStats(
            self.sizes[classes],
            kept,
            self.domains,
            self.reference,
            self.records[classes],
            {name: histogram.restricted_to(classes) for name, histogram in self.categories.items()},
            self.people.restricted_to(classes),
            None if self.linked is None else self.linked.restricted_to(classes),
        )

    def shows(self, sensitive: str | None) -> Mask:
        """Which classes have a record of a table with the sensitive column: in others there is nothing to judge."""
        if sensitive is None:
            return np.ones(self.n_classes, dtype=np.bool_)
        return np.asarray(self.histograms[sensitive].distinct > 0)

    def showing(self, sensitive: str | None) -> ClassStats:
        """The statistics of the classes that show a sensitive column: of all, unless several tables were linked."""
        shown = self.shows(sensitive)
        return self if shown.all() else replace(self, linked=None).restricted_to(shown)

    @property
    def judged(self) -> tuple[ClassStats, ...]:
        """What a model must hold for: the classes and, where records are linked, the linked classes."""
        return (self,) if self.linked is None else (self, self.linked.stats)


@dataclass(frozen=True, eq=False)
class LinkedStats:
    """The same records by linked class: all records of people who cannot be told apart (`shoal.table.linked`)."""

    stats: ClassStats
    owner: Counts  # the linked class that each class is part of

    def restricted_to(self, classes: Mask) -> LinkedStats:
        """What is left of it with some of the classes, which are all of their linked class."""
        kept = np.zeros(self.stats.n_classes, dtype=np.bool_)
        kept[self.owner[classes]] = True
        return LinkedStats(self.stats.restricted_to(kept), (np.cumsum(kept) - 1)[self.owner[classes]])


@dataclass(frozen=True, eq=False)
class ClassView:
    """What one model sees: class sizes and, where it names a sensitive column, that column's histogram and domain.

    The histogram has the known values only.
    """

    sizes: Counts
    histogram_or_none: Histogram | None
    domain_or_none: SensitiveDomain | None
    reference: Counts | Callable[[], Counts] | None = None
    _: KW_ONLY
    records_or_none: Counts | None = None
    categories_or_none: Histogram | None = None
    people: CountedPeople | None = None

    @property
    def records(self) -> Counts:
        """Records of each class; its size, unless that is a number of people."""
        return self.sizes if self.records_or_none is None else self.records_or_none

    @property
    def counts_people(self) -> bool:
        """Whether sizes are numbers of people."""
        return self.records_or_none is not None

    @property
    def unit(self) -> int:
        """What one of those that sizes count weighs in a distribution: a record 1, a person `UNITS`."""
        return 1 if self.records_or_none is None else UNITS

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
    def known(self) -> Counts:
        """Records, or people, of each class of whom a value is known: what shares are shares of."""
        return self.histogram.per_class_sum(self.histogram.weights) // self.unit if self.domain.unknown else self.sizes

    def least_known(self, owner: Counts, sizes: Counts) -> Counts:
        """The fewest known values that parts of classes can have, by the class and the size of each part."""
        return np.maximum(sizes - (self.sizes - self.known)[owner], 0)

    @cached_property
    def totals(self) -> Counts:
        """What each known value weighs in the whole release: in all classes, unless a reference says more."""
        if self.reference is not None:
            return self.reference() if callable(self.reference) else self.reference
        return self.summed

    @cached_property
    def summed(self) -> Counts:
        """How often each value is counted in these classes; somebody who is in two of them is counted twice."""
        histogram = self.histogram
        found = np.bincount(histogram.values, weights=histogram.counts, minlength=len(self.domain.values))
        return found.astype(np.int64)

    @cached_property
    def category_counts(self) -> Counts:
        """Records, or people, of each class in each category: a row per class, a column per category."""
        histogram, width = self.categories_or_none, len(self.domain.categories)
        if histogram is None:
            histogram, category = self.histogram, self.domain.category_of[self.histogram.values]
        else:
            category = histogram.values
        keys = histogram.class_of * width + category
        flat = np.bincount(keys, weights=histogram.counts, minlength=len(self.sizes) * width)
        return flat.astype(np.int64).reshape(len(self.sizes), width)

    @cached_property
    def category_histogram(self) -> Histogram:
        """The categories of each class instead of its values."""
        owner, category = np.nonzero(self.category_counts)
        starts = np.searchsorted(owner, np.arange(len(self.sizes) + 1)).astype(np.int64)
        return Histogram(starts, category.astype(np.int32), self.category_counts[owner, category])

    @cached_property
    def number_entries(self) -> NumberEntries:
        """The numbers of each class; a missing value is no number and is left out."""
        numbers, histogram = self.domain.numbers, self.histogram
        assert numbers is not None, "domain_problems refuses a column that does not have numbers"
        rank, width = numbers.rank[histogram.values], len(numbers.distinct)
        there = rank >= 0
        keys, index = np.unique(histogram.class_of[there] * width + rank[there], return_inverse=True)
        weights = np.bincount(index, weights=histogram.weights[there], minlength=len(keys)).astype(np.int64)
        return NumberEntries(keys // width, keys % width, weights)
