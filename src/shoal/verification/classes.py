"""The classes of a release and what each holds of a sensitive column, in records or in people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, Label, Mask, code, packed
from shoal.verification.people import UNITS, distinct_people, people_with_values
from shoal.verification.result import described
from shoal.verification.stated_policy import StatedPolicy
from shoal.verification.value_order import in_order


@dataclass(frozen=True, eq=False)
class Classes:
    """The records that share one released combination of quasi-identifiers, a missing cell being a label of its own.

    Classes are in the order of their labels, whatever the order of the records.
    """

    columns: Mapping[str, Any]  # the quasi-identifiers
    rows: Codes  # a row of each class
    sizes: Codes  # records of each class, or different people
    class_of: Codes  # class of each row
    counts: Codes  # records that each row stands for
    person: Codes | None = None  # the person of each row; None where records are counted

    @property
    def records(self) -> Codes:
        """Records of each class."""
        if self.person is None:
            return self.sizes
        return np.bincount(self.class_of, weights=self.counts, minlength=len(self.sizes)).astype(np.int64)

    @property
    def counted(self) -> str:
        """What sizes are numbers of."""
        return "records" if self.person is None else "people"

    def noun(self, count: int) -> str:
        """The word for some of them."""
        return {"records": "record", "people": "person"}[self.counted] if count == 1 else self.counted

    def describe(self, index: int) -> str:
        """A class for a message."""
        return described(self.columns, int(self.rows[index]))


def group(columns: Mapping[str, Any], names: Sequence[str], counts: Codes) -> Classes:
    """Group the records by their released labels; each row stands for so many."""
    coded = [code(columns[name]) for name in names]
    keys = packed([each.codes for each in coded], [len(each.values) for each in coded], len(counts))
    _, rows, class_of = np.unique(keys, return_index=True, return_inverse=True)
    sizes = np.bincount(class_of, weights=counts, minlength=len(rows)).astype(np.int64)
    return Classes({name: columns[name] for name in names}, rows, sizes, class_of, counts)


def in_people(labels: Mapping[str, Any], shown: Codes, counts: Codes, person: Codes) -> Classes:
    """Classes of people: ``shown`` says which of the rows of ``labels`` each record was released with."""
    used = np.flatnonzero(np.bincount(shown))
    columns = {name: column.take(pa.array(used)) for name, column in labels.items()}
    classes = group(columns, list(columns), np.ones(len(used), dtype=np.int64))
    of_label = np.zeros(int(used.max(initial=0)) + 1, dtype=np.int64)
    of_label[used] = classes.class_of
    class_of = of_label[shown]
    sizes = distinct_people(class_of, person, len(classes.rows))
    return Classes(columns, classes.rows, sizes, class_of, counts, person)


@dataclass(frozen=True, eq=False)
class Assignment:
    """The class that each released record of the original is in, and what it shows there."""

    classes: Classes  # of people
    published: Mapping[str, Any]  # the sensitive columns as released, a row for each of those of the classes


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """How often each published value, or category published instead, of a sensitive column is in each class, sparse.

    Unknown values are left out: a class in which nothing is known has no entry. Counts are records, or different people
    who have the value. In a distribution a record weighs 1 and a person `UNITS`, over all known values they have in
    the class.
    """

    column: str
    values: list[Label]
    category_of: Codes  # category of each value from 0, the most sensitive; -1 for a value in none
    categories: tuple[str, ...]
    classes: Codes  # class of each entry, ascending
    entries: Codes  # value of each entry, ascending within a class
    counts: Codes
    weights: Codes
    known: Codes  # records of each class whose value is known, or people of whom one is
    totals: Codes  # what each value weighs in the whole release, a person over all values they have there
    unit: int = 1  # what a record or a person weighs
    people_of: tuple[Codes, Codes, Codes] | None = None  # classes, categories, and the people in them

    def per_class(self, figures: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
        """Sum a figure of the entries over each class."""
        return np.asarray(np.bincount(self.classes, weights=figures, minlength=n_classes), dtype=np.float64)

    def starts(self, n_classes: int) -> Codes:
        """The first entry of each class, if it has one."""
        return np.searchsorted(self.classes, np.arange(n_classes))

    def of_value(self, value: Label, n_classes: int) -> Codes:
        """Records, or people, of each class with one value."""
        entry = self.values.index(value) if value in self.values else -1
        return _summed(self.classes, self.counts, self.entries == entry, n_classes)

    def of_category(self, category: int, n_classes: int) -> Codes:
        """Records, or people, of each class in one category."""
        if self.people_of is not None:
            classes, categories, people = self.people_of
            return _summed(classes, people, categories == category, n_classes)
        return _summed(self.classes, self.counts, self.category_of[self.entries] == category, n_classes)


def _summed(classes: Codes, counts: Codes, chosen: Mask, n_classes: int) -> Codes:
    return np.bincount(classes[chosen], weights=counts[chosen], minlength=n_classes).astype(np.int64)


def tally(name: str, cells: Any, classes: Classes, policy: StatedPolicy) -> SensitiveCounts:
    """Count the known values of a sensitive column, or names of categories where these are published."""
    coded, column = code(cells), policy.columns[name]
    names = tuple(column.categories)
    category_codes: dict[Label, int] = {name: number for number, name in enumerate(names)}
    if column.publish != "categories":
        category_codes = {value: number for number, values in enumerate(column.categories.values()) for value in values}
    category_of = np.array([category_codes.get(value, -1) for value in coded.values], dtype=np.int64)
    told = np.array([value not in column.unknown for value in coded.values], dtype=np.bool_)[coded.codes]
    some = slice(None) if told.all() else told  # a view where all are known, since people have many rows
    codes, owner, records = coded.codes[some], classes.class_of[some], classes.counts[some]
    if classes.person is not None:
        code_of = {value: place for place, value in enumerate(coded.values)}
        value_at = np.array([code_of[value] for value in in_order(coded.values, policy, name)], dtype=np.int64)
        people = _people_counts(codes, owner, classes.person[some], len(classes.sizes), category_of, value_at)
        return SensitiveCounts(name, coded.values, category_of, names, *people)
    width = max(len(coded.values), 1)
    keys, index = np.unique(owner * width + codes, return_inverse=True)
    counts = np.bincount(index, weights=records, minlength=len(keys)).astype(np.int64)
    known = np.bincount(owner, weights=records, minlength=len(classes.sizes)).astype(np.int64)
    totals = np.bincount(keys % width, weights=counts, minlength=width).astype(np.int64)
    found = keys // width, keys % width, counts, counts, known, totals
    return SensitiveCounts(name, coded.values, category_of, names, *found)


def _people_counts(
    codes: Codes, owner: Codes, person: Codes, n_classes: int, category_of: Codes, value_at: Codes
) -> tuple[Any, ...]:
    """What `SensitiveCounts` has from its entries on, of rows with known values; ``value_at`` is the values' order."""
    ranks = np.argsort(value_at).astype(np.int32)[codes]
    classes, rank, people, weights = people_with_values(owner, person, ranks)
    entries = value_at[rank]
    ascending = np.lexsort((entries, classes))
    _, rank, _, whole = people_with_values(np.zeros(1, dtype=np.int64), person, ranks)
    totals = np.zeros(len(value_at), dtype=np.int64)
    totals[value_at[rank]] = whole
    del ranks  # there may be many rows
    inside = np.flatnonzero((category_of >= 0)[codes])
    categories = people_with_values(owner[inside], person[inside], category_of[codes[inside]])[:3]
    found = classes[ascending], entries[ascending], people[ascending], weights[ascending]
    return (*found, distinct_people(owner, person, n_classes), totals, UNITS, categories)
