"""Classes counted in people, where somebody may have several records.

A person is in every class that has a record of theirs, and counts there once: the size of a class is the number of
different people in it, and a value occurs as often as different people have it. Distributions give everybody the same
weight, `UNITS`, divided equally over the values they have in the class; what is left over goes, one unit each, to the
first of them. All of these are whole numbers, so that nothing depends on the order of the rows.

People do not add up over classes as records do: somebody may be in both. So everything here is counted from rows with
their person, never from counts of other classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.table.classes import UNITS, ClassStats, Counts, Histogram, Mask, SensitiveDomain
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import Codes, EncodedTable, combine_codes, distinct_codes

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PeopleRows:
    """The class, the person and the sensitive values of some rows: all that people are counted from."""

    owner: Indices
    person: Codes
    values: Mapping[str, Codes]
    counts: Counts | None = None  # records that each row stands for; None: one

    def restricted_to(self, classes: Mask) -> PeopleRows:
        """The rows of some of the classes, which are numbered anew."""
        kept, number = classes[self.owner], np.cumsum(classes) - 1
        values = {name: codes[kept] for name, codes in self.values.items()}
        counts = None if self.counts is None else self.counts[kept]
        return PeopleRows(number[self.owner[kept]], self.person[kept], values, counts)

    def followed_by(self, other: PeopleRows, n_classes: int) -> PeopleRows:
        """These rows and others, whose classes come after these ``n_classes``."""
        values = {name: np.concatenate([codes, other.values[name]]) for name, codes in self.values.items()}
        owner, person = [self.owner, other.owner + n_classes], [self.person, other.person]
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = np.concatenate([self.counts, other.counts])
        return PeopleRows(np.concatenate(owner), np.concatenate(person), values, counts)

    def class_records(self) -> tuple[Indices, Codes, Counts | None]:
        """The class and the person of each row, and the records that it stands for (None: one)."""
        return self.owner, self.person, self.counts

    def rows(self) -> PeopleRows:
        """The rows themselves."""
        return self

    @property
    def width(self) -> int:
        """One more than the largest number of a person."""
        return int(self.person.max(initial=0)) + 1

    @property
    def total(self) -> int:
        """How many different people there are."""
        return len(distinct_codes(self.person))

    def totals(self, column: str, domain: SensitiveDomain) -> Counts:
        """How often each value of a column occurs in all classes together, everybody having the weight `UNITS`."""
        everything = people_histogram(np.zeros_like(self.owner), self.person, self.values[column], 1, domain.known)
        return everything.value_weights(len(domain.values))


def row_stats(
    table: EncodedTable,
    row_class: Codes | Indices,
    n_classes: int,
    domains: Mapping[str, SensitiveDomain],
    columns: Sequence[str],
    *,
    rows: Indices | None = None,
    reference: Mapping[str, Counts] | None = None,
) -> ClassStats:
    """The statistics of classes, in people where the table says who its rows are about, else in records.

    ``row_class`` has the class of each of ``rows`` (of all rows, when None); rows of class -1 are in none. Every class
    has a row.
    """
    chosen = np.flatnonzero(row_class >= 0)
    owner = row_class[chosen].astype(np.int64)
    chosen = chosen if rows is None else rows[chosen]
    weights = None if table.weights is None else table.weights[chosen]
    records = np.bincount(owner, weights=weights, minlength=n_classes).astype(np.int64)
    values = {name: table.codes_to_count(name)[chosen] for name in columns}
    if table.person is not None:
        return people_stats(PeopleRows(owner, table.person[chosen], values, weights), records, domains, reference)
    histograms = {
        name: Histogram.of(owner, codes, n_classes, len(domains[name].values), weights)
        for name, codes in values.items()
    }
    return ClassStats(records, histograms, domains, reference)


def people_stats(
    rows: PeopleRows,
    records: Counts,
    domains: Mapping[str, SensitiveDomain],
    reference: Mapping[str, Counts] | None = None,
) -> ClassStats:
    """The statistics of classes of so many records each, counted in people."""
    n = len(records)
    histograms, categories = {}, {}
    for name, values in rows.values.items():
        domain = domains[name]
        histograms[name] = people_histogram(rows.owner, rows.person, values, n, domain.known)
        if domain.categories:
            category = categories_of(domain, values)
            categories[name] = _people_of_categories(rows.owner, rows.person, category, n, domain)
    sizes = class_people(rows.owner, rows.person, n)
    return ClassStats(sizes, histograms, domains, reference, records, categories, rows)


def class_people(owner: Indices, person: Codes, n_classes: int) -> Counts:
    """How many different people each class has."""
    width = int(person.max(initial=0)) + 1
    return np.bincount(distinct_codes(owner * width + person) // width, minlength=n_classes).astype(np.int64)


def people_histogram(
    owner: Indices, person: Codes, values: Codes, n_classes: int, known: Mask, units: int = UNITS
) -> Histogram:
    """How many people of each class have each value, and what they weigh; unknown values share a weight apart.

    Rows of the value -1, those of a table without the column, do not count.
    """
    people, width, there = int(person.max(initial=0)) + 1, len(known), values >= 0
    if not there.all():
        owner, person, values = owner[there], person[there], values[there]
    keys, _ = combine_codes([owner, person, values], [max(n_classes, 1), people, width])
    _, first = np.unique(keys, return_index=True)  # each value of each person in each class, in that order
    owner, person, values = owner[first], person[first], values[first]
    whose = (owner * people + person) * 2 + known[values]
    _, index, of = np.unique(whose, return_inverse=True, return_counts=True)
    order = np.argsort(index, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(of) - of, of)
    shares = units // of[index] + (rank < units % of[index])
    counted = Histogram.of(owner, values, n_classes, width)
    weights = Histogram.of(owner, values, n_classes, width, shares).counts
    return Histogram(counted.starts, counted.values, counted.counts, weights)


def categories_of(domain: SensitiveDomain, values: Codes) -> Codes:
    """The category of each value; -1 for unknown ones, and for those of a table without the column."""
    of_value = np.append(np.where(domain.known, domain.category_of, -1), -1).astype(np.int32)  # last: of the value -1
    return of_value[values]


def _people_of_categories(
    owner: Indices, person: Codes, category: Codes, n_classes: int, domain: SensitiveDomain
) -> Histogram:
    """How many people of each class have a value of each category."""
    there, people, width = category >= 0, int(person.max(initial=0)) + 1, len(domain.categories)
    owner, person, category = owner[there], person[there], category[there]
    keys, _ = combine_codes([owner, person, category], [max(n_classes, 1), people, width])
    first = np.unique(keys, return_index=True)[1]
    return Histogram.of(owner[first], category[first], n_classes, width)


def person_codes(rows: DistinctRows, columns: Sequence[str]) -> Codes | None:
    """A number for the person of each row; None where no columns say who that is."""
    if not columns:
        return None
    if len(columns) == 1:
        return rows.columns[columns[0]].codes
    named = [rows.columns[name] for name in columns]
    keys, _ = combine_codes([column.codes for column in named], [len(column.labels) for column in named])
    return np.unique(keys, return_inverse=True)[1].astype(np.int32)
