"""People counted by kernels, for classes of all rows of a large table: at each node of a lattice, and of a release.

The rows lie one person after the other. Then one pass counts people: a person is counted in a class unless they were
the last one there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np

from shoal.search.kernels import plain
from shoal.search.kernels.load import load_kernels
from shoal.table.classes import UNITS, ClassStats, Counts, Histogram, LinkedStats, Mask, SensitiveDomain
from shoal.table.encoded import Codes, EncodedTable
from shoal.table.linked import linked_classes
from shoal.table.people import PeopleRows, categories_of, row_stats

_ROWS_BEFORE_LOADING = 500_000  # rows that NumPy counts, by sorting them, before compiled kernels are loaded


class PeopleIndex:
    """The rows of a table, one person after the other; ``item_of_row`` is what says the class of a row."""

    def __init__(self, table: EncodedTable, item_of_row: Codes) -> None:
        assert table.person is not None, "the table says who its rows are about"
        person, order = table.person, None
        if (person[1:] < person[:-1]).any():  # rows that were parted
            order = np.argsort(person, kind="stable").astype(np.int32)
            person = person[order]
        self._order, self._table = order, table
        self.items = item_of_row if order is None else item_of_row[order]
        self.starts = np.append(np.flatnonzero(person[1:] != person[:-1]) + 1, len(person))
        self.starts = np.append(0, self.starts) if len(person) else self.starts
        self._values: dict[str, Codes] = {}

    @property
    def columns(self) -> Sequence[str]:
        """The sensitive columns."""
        return list(self._table.row_sensitive)

    def records(self) -> Counts | None:
        """The records that the rows stand for; None: one each."""
        weights = self._table.weights
        return weights if weights is None or self._order is None else weights[self._order]

    def values(self, column: str) -> Codes:
        """The sensitive values of the rows."""
        if column not in self._values:
            values = self._table.row_sensitive[column]
            self._values[column] = values if self._order is None else values[self._order]
        return self._values[column]


@dataclass(frozen=True, eq=False)
class ClassPeople:
    """The people of some classes, as `ClassStats` and the searches ask for them."""

    index: PeopleIndex
    classes: Codes  # the class of each item; -1: in none
    kernels: ModuleType

    def restricted_to(self, classes: Mask) -> ClassPeople:
        """The people of some of the classes, which are numbered anew."""
        number = np.append(np.where(classes, np.cumsum(classes) - 1, -1), -1).astype(np.int32)  # last: of class -1
        return replace(self, classes=number[self.classes])

    def sizes(self, n_classes: int) -> Counts:
        """How many people each class has."""
        found: Counts = self.kernels.class_people(self.classes, self.index.items, self.index.starts, n_classes)
        return found

    def histogram(self, values: Codes, n_classes: int, known: Mask) -> Histogram:
        """How many people of each class have each value, and what they weigh; rows of the value -1 do not count."""
        rows = self.classes, self.index.items, values, self.index.starts
        return Histogram(*self.kernels.people_histogram(*rows, n_classes, known, UNITS))

    def class_records(self) -> tuple[Counts, Codes, Counts | None]:
        """The class and the person of each row, and the records that it stands for (None: one)."""
        owner, counts = self.classes[self.index.items].astype(np.int64), self.index.records()
        lengths, kept = np.diff(self.index.starts), owner >= 0
        person = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        return owner[kept], person[kept], None if counts is None else counts[kept]

    def totals(self, column: str, domain: SensitiveDomain) -> Counts:
        """What each value weighs in all classes together, everybody having the weight `UNITS`."""
        everything = replace(self, classes=np.minimum(self.classes, 0))
        return everything.histogram(self.index.values(column), 1, domain.known).value_weights(len(domain.values))

    def rows(self) -> PeopleRows:
        """The rows of the classes, one person after the other."""
        owner, person, counts = self.class_records()
        there = self.classes[self.index.items] >= 0
        return PeopleRows(owner, person, {name: self.index.values(name)[there] for name in self.index.columns}, counts)

    def stats(
        self,
        records: Counts,
        domains: Mapping[str, SensitiveDomain],
        columns: Sequence[str],
        linked: Counts | None = None,
    ) -> ClassStats:
        """The statistics of the classes, which have so many records each; ``linked`` has the linked class of each."""
        n, histograms, categories = len(records), {}, {}
        for name in columns:
            domain, values = domains[name], self.index.values(name)
            histograms[name] = self.histogram(values, n, domain.known)
            if domain.categories:
                every = np.ones(len(domain.categories), dtype=np.bool_)
                found = self.histogram(categories_of(domain, values), n, every)
                categories[name] = replace(found, weights_or_none=None)
        stats = ClassStats(self.sizes(n), histograms, domains, None, records, categories, self)
        if linked is None:
            return stats
        whole = replace(self, classes=np.append(linked, -1)[self.classes].astype(np.int32))  # last: of class -1
        together = np.bincount(linked, weights=records).astype(np.int64)
        return replace(stats, linked=LinkedStats(whole.stats(together, domains, columns), linked))


def release_stats(
    table: EncodedTable,
    row_class: Codes,
    n_classes: int,
    domains: Mapping[str, SensitiveDomain],
    columns: Sequence[str],
) -> ClassStats:
    """The statistics of the classes of all rows, as `row_stats` gives them; of many rows with compiled kernels."""
    few = len(row_class) <= _ROWS_BEFORE_LOADING
    if table.person is None or (few and table.links is None):
        return row_stats(table, row_class, n_classes, domains, columns)
    index = PeopleIndex(table, np.arange(len(row_class), dtype=np.int32))
    records = table.bincount(row_class, row_class >= 0, n_classes)
    linked = None if table.links is None else linked_classes(table.person, row_class, table.weights)
    return ClassPeople(index, row_class, plain if few else load_kernels()).stats(records, domains, columns, linked)
