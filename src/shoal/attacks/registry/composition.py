"""What a new release reveals together with the earlier ones of a registry, person by person.

The new release is at hand with its original, so everybody in it is tried and nothing is estimated. Of an earlier one
only classes are known. A person was possibly in it when the person fits a class there that holds the person's own
value; where no fitting class holds it the person was not in it, or the value has changed, and an attacker who thinks
otherwise is misled.

Exposed is whoever is left with fewer than p candidates, and with fewer than each of these releases leaves alone. p is
what the policy requires for the column - distinct values, and distinct categories where a model counts those - and two
at least: with one candidate the value is certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.attacks.attack import AttackResult, not_applicable, not_tried, tried
from shoal.attacks.intersection import Promise, RemainingValues, intersect
from shoal.attacks.registry.folder import Entry, ReleaseIdentity
from shoal.attacks.registry.people import EarlierRelease, NewRelease, People, people_of
from shoal.facts import Facts
from shoal.table.classes import Mask

NAME = "composition"
_PEOPLE_AT_A_TIME = 100_000


@dataclass(frozen=True, eq=False)
class Composition(Facts):
    """What came of comparing a new release with earlier ones."""

    earlier: tuple[ReleaseIdentity, ...]
    """The releases that it was compared with."""
    notes: tuple[Mapping[str, str], ...]
    """What the reader should know about how labels were read: a ``code`` and its facts."""
    results: tuple[AttackResult, ...]
    """One for each sensitive column."""

    @property
    def exposed(self) -> int:
        """Records exposed in the column in which most are."""
        return max((each.records or 0 for each in self.results), default=0)


def compose_with(new: NewRelease, earlier: Sequence[Entry]) -> Composition:
    """Compare a new release with earlier ones, column by column.

    A column that an earlier release publishes and whose labels can no longer be read is *not tried*, with the reason:
    half an answer would look like a whole one.
    """
    notes = list[Mapping[str, str]]()
    results = [replace(_column(new, column, earlier, notes), name=NAME, sensitive=column)
               for column in new.problem.domains]  # fmt: skip
    if not results:
        results = [replace(not_applicable("no-sensitive-column"), name=NAME)]
    return Composition(tuple(entry.identity for entry in earlier), tuple(notes), tuple(results))


def _column(new: NewRelease, column: str, earlier: Sequence[Entry], notes: list[Mapping[str, str]]) -> AttackResult:
    sharing = [EarlierRelease(each.name, each.signature) for each in earlier if each.signature.secret(column)]
    if not sharing:
        return not_applicable("not-published-earlier" if earlier else "no-earlier-release")
    people = people_of(new, column, sharing)
    notes += [note for note in people.notes if note not in notes]
    if people.unreadable:
        return not_tried("unreadable-labels", unreadable=people.unreadable)
    if not people.earlier:
        return not_applicable("no-shared-columns")
    return _compared(people)


def _compared(people: People) -> AttackResult:
    secrets, n = people.secrets, len(people.counts)
    promise = Promise(secrets.category_of, secrets.values_required, secrets.categories_required)
    lots = [np.arange(start, min(start + _PEOPLE_AT_A_TIME, n)) for start in range(0, n, _PEOPLE_AT_A_TIME)]
    found = RemainingValues.joined(
        [intersect(people.this, people.views, people.truth, lot, promise, only_if_possible=True) for lot in lots]
    )

    def records(which: Mask) -> int:
        return int(people.counts[which].sum())

    of, exposed = records(found.shared), records(found.exposed)
    return tried(
        records=exposed,
        of=of,
        rate=exposed / of if of else 0.0,
        baseline=0.0,
        leak=exposed > 0,
        values_required=secrets.values_required,
        categories_required=secrets.categories_required,
        certain=records(found.exposed & (found.values_left == 1)),
        not_in_an_earlier_release=records(~found.shared),
        misled=records(found.contradicted),
        by_earlier_release={each.name: records(found.by_release[index]) for index, each in enumerate(people.earlier)},
    )
