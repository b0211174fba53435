"""The risk of people with several records: the attacker knows one of them, the one that fewest people fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.facts import Facts
from shoal.hierarchies.hierarchy import Label
from shoal.table.encoded import Codes, combine_codes
from shoal.table.people import class_people

Column = tuple[Sequence[Label], Codes]  # the values, and the index of each record's


@dataclass(frozen=True, eq=False)
class PeopleRisk(Facts):
    """How open people are, by the class of theirs with the fewest people in it."""

    columns: tuple[str, ...]
    """The columns that tell people apart."""
    people: int
    k: int
    """The fewest people of any class."""
    alone: int
    """People who are alone in a class, however many records of theirs it has."""
    highest: float
    average: float
    """The mean over the people of 1 / (people in the class)."""
    above_threshold: int
    """People with a risk above the threshold."""


def people_risk(columns: Mapping[str, Column], row_class: Codes, threshold: float) -> PeopleRisk:
    """The risk by the columns that tell people apart and the class of each record; without a value, a record is a
    person of its own."""
    person = _person_codes(list(columns.values()))
    owner = row_class.astype(np.int64)
    sizes = class_people(owner, person, int(owner.max()) + 1)
    everybody, of = np.unique(person, return_inverse=True)
    fewest = np.full(len(everybody), len(person), dtype=np.int64)
    np.minimum.at(fewest, of, sizes[owner])
    risks = 1.0 / fewest
    return PeopleRisk(
        columns=tuple(columns),
        people=len(everybody),
        k=int(sizes.min()),
        alone=int(np.count_nonzero(fewest == 1)),
        highest=float(risks.max()),
        average=float(risks.mean()),
        above_threshold=int(np.count_nonzero(risks > threshold)),
    )


def _person_codes(columns: Sequence[Column]) -> Codes:
    keys, _ = combine_codes([codes for _, codes in columns], [len(labels) for labels, _ in columns])
    person = np.unique(keys, return_inverse=True)[1].astype(np.int32)
    missing = np.zeros(len(keys), dtype=np.bool_)
    for labels, codes in columns:
        missing |= np.array([label is None for label in labels], dtype=np.bool_)[codes]
    person[missing] = len(person) + np.arange(int(missing.sum()))
    return person
