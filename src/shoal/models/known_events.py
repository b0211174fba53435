"""Known events: at least k people fit any m records that somebody knows of a person.

M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", 2008 (k^m-anonymity), of
people and the classes of their records. A policy asks for it with ``person: {column: …, events: m}``; k is that of its
k-anonymity. For every person, and any m of the person's released records (all of them, where there are fewer), at least
k people have as many released records in each of the classes that these lie in (`shoal.table.known_records`). m = 1 is
k-anonymity in people.

**Merging classes keeps it.** Take any m records of a person after classes have been merged. Before, they lay in the
finer classes C₁ … Cₘ, and k people had as many records in each of these. They have at least as many in the union of
some of them. So what holds at a node of the lattice holds above it, and what holds for classes holds for unions of
them.

**Adding records, or leaving classes out, does not.** Somebody who gets a record in another class has combinations that
nobody else may have. And where classes may be left out, a node can satisfy below one that does not: {a, b} is one
person's alone, so the small class a is left out; above, a is one class with the large class c, and leaving that out is
too much.

Where fewer people fit a combination, its class of fewest records fails, unless another of its classes fails anyway:
without one of them the combination is gone. The combinations of fewest records are looked at first.

Parameters: ``k`` and ``events``, whole numbers ≥ 1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.declarations import count
from shoal.models.base import Card, Model, ModelLimit, Strength
from shoal.table.classes import ClassView, Mask
from shoal.table.known_records import FittingPeople, alike_people


@dataclass(frozen=True)
class KnownEvents(Model):
    """k people have the classes of any m records of a person."""

    name = "known-events"
    title = "known events"
    summary = (
        "At least k people fit any records of a person that somebody knows, up to the number of events, so several "
        "known events narrow nobody down to fewer than k people."
    )
    citation = "Terrovitis, Mamoulis, Kalnis 2008"
    card = Card(
        "Several known events single a person out.",
        "Whoever knows up to that many records of a person finds at least k people with such records.",
        "People with several records, whose records can be linked.",
        "With k = 5 and two events, five patients had a visit in both months at both hospitals.",
        ("It says nothing about the sensitive column.", "Somebody who knows more records may narrow it down further."),
    )
    parameters = (count("k", "people", start=5), count("events", "known events"))
    example = "{k: 5, events: 2}"
    in_policies = False
    merge_closed = True
    superset_closed = False
    closed_for_people = True
    whole_table = True
    needs_people = True
    position = 15

    k: int
    events: int

    @property
    def judges_classes(self) -> bool:
        """No class can be judged without the others."""
        return False

    def holds(self, view: ClassView) -> Mask:
        """Which classes may stay: each smallest combination that too few people fit has one that may not."""
        kept = np.ones(len(view.sizes), dtype=np.bool_)
        for fitting in self._fitting(view):
            short = fitting.classes(fitting.people < self.k)
            if len(short):
                kept[short[(short == short[:, :1]).all(axis=1), 0]] = False  # all in one class: no choice
                short = short[kept[short].all(axis=1)]
                fewest = np.argmin(view.records[short], axis=1)
                kept[short[np.arange(len(short)), fewest]] = False
                break
        return kept

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """For each class, the fewest people that fit known records of which one lies in it; and of how many records
        any leave k people."""
        fewest, events = np.full(len(view.sizes), np.inf), 0
        for fitting in self._fitting(view):
            every = np.ones(len(fitting.people), dtype=np.bool_)
            np.minimum.at(fewest, fitting.classes(every), fitting.people[:, None])
            events += bool((fewest >= self.k).all())
        reached = Strength(np.full(len(fewest), float(events)), at_least=True, of_class=False)
        return {"k": Strength(fewest, at_least=True), "events": reached}

    def policy_path(self, entry: int, limit: ModelLimit) -> tuple[Any, ...]:
        """k is that of an entry, and the events are the person's."""
        return ("person", "events") if limit.path == ("events",) else super().policy_path(entry, limit)

    def _fitting(self, view: ClassView) -> Iterator[FittingPeople]:
        """The people who fit each combination of one record, of two, …"""
        assert view.people is not None, "the policy says who a record is about"
        people = alike_people(*view.people.class_records(), self.events)
        for size in range(1, self.events + 1):
            yield FittingPeople.of(people, len(view.sizes), size)
