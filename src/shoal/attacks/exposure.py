"""Records whose sensitive value a class reveals.

*Homogeneity* (Wang et al. 2011, section IV): every record of the class has the same sensitive value. *Similarity* (Sun
et al. 2008, section 6): every record of the class falls in the same category. Both are counted on every candidate
release. Both look at known values only: a class of three HIV and one missing value reveals HIV for the three.

An attacker who can find a person in a class, and who can rule out m of its values for that person, is *certain* of the
value where the class has at most m + 1 values; m = 0 is homogeneity. The honest baseline is the same attacker with the
release as one class, that is with the overall frequencies alone: where those suffice - a column with two values, one of
which is ruled out - the classes reveal nothing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.attacks.released_classes import Ints, Released
from shoal.facts import Facts
from shoal.table.classes import ClassView, Mask
from shoal.table.encoded import distinct_codes
from shoal.table.people import PeopleRows

_LISTED = 10  # values or classes that details list; they say how many there are in all


@dataclass(frozen=True, eq=False)
class Exposure(Facts):
    """How many classes, and how many records in them, are open to an attack."""

    classes: int
    records: int
    people: int | None = None
    """Different people in them, where the models count people."""


def homogeneity(view: ClassView, people: PeopleRows | None = None) -> Exposure:
    """Classes with one sensitive value only."""
    return _exposure(view, view.histogram.distinct == 1, people)


def similarity(view: ClassView, people: PeopleRows | None = None) -> Exposure | None:
    """Classes with one category only; None where the column declares no categories."""
    if not view.domain.categories:
        return None
    return _exposure(view, np.count_nonzero(view.category_counts, axis=1) == 1, people)


def _exposure(view: ClassView, exposed: Mask, people: PeopleRows | None) -> Exposure:
    """The classes with the records in them whose value is known, and whose these are."""
    classes, records = int(np.count_nonzero(exposed)), int(view.known[exposed].sum())
    if people is None:
        return Exposure(classes, records)
    chosen = exposed[people.owner] & view.domain.known[people.values[view.domain.column]]
    return Exposure(classes, records, len(distinct_codes(people.person[chosen])))


@dataclass(frozen=True)
class Certain:
    """Records whose sensitive value is certain: those with a value that the policy's models protect, and others."""

    classes: int
    without_classes: int  # records (of protected values) that are certain from the overall frequencies alone
    names: list[str]
    protected: Ints  # records by value
    unprotected: Ints
    people: tuple[int, int] | None = None  # different people with a protected value, of how many; None if not known

    @property
    def records(self) -> int:
        """Records whose value is protected."""
        return int(self.protected.sum())

    @property
    def added(self) -> int:
        """Records that are certain by the classes, and would not be by the overall frequencies alone."""
        return self.records - self.without_classes

    def by_values(self) -> dict[str, Any]:
        """The records by value, the most frequent first, at most ten."""
        return {
            "by_value": _most_first(self.names, self.protected),
            "records_unprotected": int(self.unprotected.sum()),
            "by_value_unprotected": _most_first(self.names, self.unprotected),
        }


def certain(released: Released, column: str, ruled_out: int) -> Certain:
    """Records in classes that have at most one value more than can be ruled out."""
    view = released.stats.view(column)
    histogram, names = view.histogram, [value_name(value) for value in view.domain.values]
    certain_in = histogram.distinct <= ruled_out + 1
    entries = np.repeat(certain_in, histogram.distinct)
    weights = histogram.counts[entries]
    counts = np.bincount(histogram.values[entries], weights=weights, minlength=len(names)).astype(np.int64)
    protected = protected_values(released, column)
    classes = len(distinct_codes(histogram.class_of[entries & protected[histogram.values]]))
    alone = int(np.count_nonzero(view.totals)) <= ruled_out + 1
    without = int(view.totals[protected].sum()) if alone else 0
    people = _people(released, column, certain_in, protected & view.domain.known)
    return Certain(classes, without, names, counts * protected, counts * ~protected, people)


def protected_values(released: Released, column: str) -> Mask:
    """Which values of a sensitive column the policy's models protect: all of them where no model says which."""
    values = released.stats.view(column).domain.values
    speaks_of = [model.protected_values() for model in released.models if model.column == column] or [None]
    return np.array([any(each is None or value in each for each in speaks_of) for value in values], dtype=np.bool_)


def _people(released: Released, column: str, classes: Mask, protected: Mask) -> tuple[int, int] | None:
    """People with a record of a protected value in some classes, of all people; None where it is not known."""
    people = released.people
    if people is None:
        return None
    exposed = classes[people.owner] & protected[people.values[column]]
    return len(distinct_codes(people.person[exposed])), people.total


def value_name(value: str | None) -> str:
    """A sensitive value as results name it."""
    return "(missing)" if value is None else value


def _most_first(names: list[str], counts: Ints) -> dict[str, int]:
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda index: (-int(counts[index]), names[index]))
    return {names[index]: int(counts[index]) for index in order[:_LISTED]}
