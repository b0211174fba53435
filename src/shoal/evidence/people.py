"""Facts about the people that the records are about, and how large classes are, in records or in people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from shoal.attacks.risk.risk import smallest_if_missing_matches
from shoal.encode.resolve import Resolved
from shoal.facts import Facts
from shoal.policy import Policy
from shoal.table.classes import ClassStats, Counts
from shoal.table.recoding import Recoding

Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, eq=False)
class ClassSizes(Facts):
    """How large the classes are, in records or, among the facts about people, in people."""

    smallest: Count
    smallest_if_missing_matches_anything: Count | None = field(default=None, kw_only=True)
    """Not known of people, who may be in several classes that match."""
    largest: Count
    mean: float
    quartiles: tuple[float, float, float]
    classes_by_size: Mapping[str, Count]


@dataclass(frozen=True, eq=False)
class SeveralRecords(Facts):
    """A warning: the models count records, and the values of an identifier show that people have several."""

    code: Literal["several-records-per-person"]
    column: str
    people: Count
    """Different values of the column, in the records that were looked at."""
    records: Count
    """Records with a value."""
    people_with_several: Count
    largest: Count
    """The most records with the same value."""


@dataclass(frozen=True, eq=False)
class RecordsPerPerson(Facts):
    """How many records of the original people have."""

    median: float
    largest: Count
    people_with_several: Count


@dataclass(frozen=True, eq=False)
class PeopleFacts(Facts):
    """The people that the records are about, where the policy says who that is: the models count these."""

    columns: tuple[str, ...]
    """The columns that tell people apart; they are not released."""
    people: Count
    """People of the original."""
    released: Count
    """Those with a released record."""
    records_per_person: RecordsPerPerson
    lost_all: Count
    """People all of whose records are suppressed."""
    lost_some: Count
    lost_none: Count
    class_sizes: ClassSizes | Mapping[str, Any]
    """How many people the classes have; somebody with records in two classes is in both."""


def describe_people(policy: Policy, resolved: Resolved, recoding: Recoding, stats: ClassStats) -> PeopleFacts | None:
    """Who the records are about and who lost some; None where the policy does not say who a record is about."""
    person = resolved.problem.table.person
    if person is None:
        return None
    kept, width = recoding.row_class >= 0, int(person.max()) + 1
    weights = recoding.weights
    before = np.bincount(person, weights=weights, minlength=width)
    released = None if weights is None else weights[kept]
    after = np.bincount(person[kept], weights=released, minlength=width)[before > 0]
    before = before[before > 0]
    return PeopleFacts(
        columns=policy.person_columns,
        people=len(before),
        released=int(np.count_nonzero(after)),
        records_per_person=RecordsPerPerson(
            median=float(np.median(before)),
            largest=int(before.max()),
            people_with_several=int(np.count_nonzero(before > 1)),
        ),
        lost_all=int(np.count_nonzero(after == 0)),
        lost_some=int(np.count_nonzero((after > 0) & (after < before))),
        lost_none=int(np.count_nonzero(after == before)),
        class_sizes=describe_sizes(recoding, stats.sizes),
    )


def describe_sizes(recoding: Recoding, people: Counts | None = None) -> ClassSizes | dict[str, Any]:
    """The distribution of class sizes: extremes, quartiles, and how many classes have each size; nothing of none.

    Sizes are in records or, where ``people`` of each class are given, in people.
    """
    sizes = recoding.sizes if people is None else people
    if not len(sizes):
        return {}
    distinct, classes = np.unique(sizes, return_counts=True)
    low, median, high = np.percentile(sizes, [25, 50, 75]).tolist()
    return ClassSizes(
        smallest=int(sizes.min()),
        smallest_if_missing_matches_anything=smallest_if_missing_matches(recoding) if people is None else None,
        largest=int(sizes.max()),
        mean=float(sizes.mean()),
        quartiles=(low, median, high),
        classes_by_size={str(size): int(count) for size, count in zip(distinct, classes, strict=True)},
    )
