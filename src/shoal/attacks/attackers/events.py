"""Events: an attacker who knows some records of a person asks which people they can be about.

The attacker knows the quasi-identifiers of m records of a person, and so the class of each; m is 1, 2 and 3, or all
records of somebody who has fewer. A person *fits* who has at least as many released records in each of these classes as
the known ones take up (`shoal.table.known_records`). The best guess among n people who fit is right with 1/n; that is
averaged over the sets of m released records of a person, all equally likely, and then over people. Singled out is who
fits alone by some m records; exposed is who is left among fewer people than the k that the policy asks for (fewer than
two where it asks for none) by some three.

**What it means.** Released records do not say whose they are. Who fits is known to an attacker who can tell which
released records belong together: by released pseudonyms, or by columns that are the same in all records of a person.
The figures are what such an attacker learns, and the most that anybody learns from m records. Where labels overlap, an
attacker may not even know the class of a record, and more people fit. The baseline is the most general release, one
class of all records: there everybody fits who has as many records. Who is among fewer than k people even then, because
few have so many records, is exposed without the release; it is a leak where the classes expose anybody else, or by
fewer records. The same figures of the original, each combination of quasi-identifiers being a class, say what the
release has changed; records that are not released count there, too.

**Large tables.** Where people have more than `EXACT` sets of records to look at, `DRAWN_PEOPLE` of them are drawn by
the seed, and of each at most `DRAWN_SETS` sets of each size; the people who fit are counted among all. Then the figures
are estimates, with `people_looked_at`, and who is singled out by a set that was not drawn is missed.

Not tried where the class of a record cannot be told: where labels overlap and the release was made elsewhere.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.attack import Attack, AttackResult, Scene, not_tried, share, tried
from shoal.attacks.chance.statistics import mean_interval
from shoal.attacks.class_fit import CodePairs
from shoal.attacks.linkable_records import sampled_people
from shoal.attacks.released_classes import Ints
from shoal.table.known_records import (
    AlikePeople,
    Combinations,
    FittingPeople,
    alike_people,
    combinations,
    n_combinations,
    packed,
)

KNOWN = (1, 2, 3)  # records that the attacker knows
EXACT = 5_000_000
DRAWN_PEOPLE = 500
DRAWN_SETS = 40
Floats = NDArray[np.float64]


class Events(Attack):
    """Looks for people who fit several known records."""

    name = "events"
    title = "Several known events of a person"
    attacker = (
        "Somebody who knows up to three records of a person, and which released records belong to the same person."
    )
    attempt = (
        "Looks for the people who have released records in all classes of the known ones and guesses one of them. A "
        "success is a right guess; exposed is anybody left among fewer people than the policy requires."
    )
    baseline = "guessing among the people with as many records"
    position = 92
    grave_if_certain = False
    needs_original = True
    needs_person = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:  # noqa: ARG004 - it is on no column
        """People who fit one, two and three known records, in the original and in the release."""
        assert scene.original is not None
        table, k, rows = scene.original.problem.table, scene.released.k, scene.rows
        assert table.person is not None
        if scene.policy.pseudonym is not None and rows.person is not None:  # the release itself says whose records are
            after = _People.of(rows.owner, rows.person, rows.weights, scene.seed)
        elif scene.row_class is None:
            return not_tried("classes-overlap")
        else:
            after = _People.of(scene.row_class, table.person, table.weights, scene.seed)
        before = _People.of(table.row_tuple, table.person, table.weights, scene.seed)
        known = [after.figures(size, k) for size in KNOWN]
        success = after.success(KNOWN[-1])
        return tried(
            records=after.records_of(after.fewest_known(KNOWN[-1]) < k),
            of=scene.released.records,
            people=(known[-1]["below_k"], after.total),
            rate=known[-1]["success"],
            baseline=known[-1]["chance"],
            interval=mean_interval(np.repeat(success, after.people)) if after.drawn else None,
            leak=bool(after.below_by_classes(k).any()),
            certain=after.records_of(after.below_by_classes(2)),
            k=k,
            known=known,
            before=[before.figures(size, k) for size in KNOWN],
            people_before=before.total,
        )

    @staticmethod
    def needed(result: AttackResult) -> Mapping[str, float]:  # noqa: ARG004 - always the same
        """As many known records as the attack knows."""
        return {"events": KNOWN[-1]}


@dataclass(frozen=True, eq=False)
class _People:
    """How many people fit what is known of each."""

    total: int  # people in all
    drawn: bool  # whether those looked at were drawn from them
    people: Ints  # how many people each figure is about
    records: Ints  # of each of them
    fewest: Ints  # ``fewest[m - 1]``: the fewest people that fit some m records
    right: Floats  # ``right[m - 1]``: the mean over all sets of m records of 1 over the people who fit
    with_records: Ints  # ``with_records[m]``: people who have m records or more

    @staticmethod
    def of(owner: NDArray[Any], person: NDArray[Any], counts: Ints | None, seed: int) -> "_People":
        """Count them by the class and the person of each row; rows of class -1 are in none."""
        everybody, n_classes = alike_people(owner, person, counts), int(owner.max(initial=0)) + 1
        exact = sum(n_combinations(everybody, size) for size in KNOWN) <= EXACT
        chosen, lists = (everybody, None) if exact else (_sample(everybody, seed), _Lists.of(everybody))
        fewest, right = [], []
        for size in KNOWN:
            if lists is None:
                sets: list[Iterable[Combinations]] = [combinations(each, size) for each in chosen]
                fitting = FittingPeople.of(everybody, n_classes, size)
            else:
                drawn = [list(_drawn_sets(each, size, seed)) for each in chosen]
                classes = np.concatenate([some.classes for each in drawn for some in each] or [_no_sets(size)])
                sets, fitting = [*drawn], lists.fitting(np.unique(classes, axis=0), n_classes)
            found = [_of_rows(each, some, fitting) for each, some in zip(chosen, sets, strict=True)]
            fewest.append(np.concatenate([each[0] for each in found]))
            right.append(np.concatenate([each[1] for each in found]))
        records = np.concatenate([each.records for each in everybody])
        people = np.concatenate([each.people for each in everybody])
        least = [int(people[records >= size].sum()) for size in (0, *KNOWN)]
        return _People(
            int(people.sum()),
            not exact,
            np.concatenate([each.people for each in chosen]),
            np.concatenate([each.records for each in chosen]),
            np.array(fewest),
            np.array(right),
            np.array(least),
        )

    def success(self, known: int) -> Floats:
        """The expected share of right guesses about the people of each figure."""
        return self._known(self.right, known)

    def fewest_known(self, known: int) -> Ints:
        """The fewest people that fit some of so many known records of the people of each figure."""
        return self._known(self.fewest, known)

    def with_as_many(self, known: int) -> Ints:
        """How many people have as many records as are known of the people of each figure."""
        return np.asarray(self.with_records[np.minimum(self.records, known)])

    def below_by_classes(self, k: int) -> NDArray[np.bool_]:
        """Whom some known records leave among fewer than k people, while as many people have that many records."""
        below = [(self.fewest_known(m) < k) & (self.with_as_many(m) >= k) for m in KNOWN]
        return np.asarray(np.logical_or.reduce(below))

    def records_of(self, chosen: NDArray[np.bool_]) -> int:
        """The records of some of the people."""
        return self._scaled(chosen, self.people * self.records)

    def figures(self, known: int, k: int) -> dict[str, Any]:
        """What so many known records tell, or all of those who have fewer."""
        fewest = self.fewest_known(known)
        chance = 1 / self.with_as_many(known)
        alone, few = (self._scaled(fewest < limit) for limit in (2, k))
        return {
            "known": known,
            "singled_out": alone,
            "share": share(alone, self.total),
            "below_k": few,
            "fewest": int(fewest.min()),
            "success": self._mean(self.success(known)),
            "chance": self._mean(chance),
            "people_looked_at": int(self.people.sum()),
        }

    def _known(self, by_size: NDArray[Any], known: int) -> NDArray[Any]:
        found: NDArray[Any] = by_size[np.minimum(self.records, known) - 1, np.arange(len(self.records))]
        return found

    def _mean(self, figures: Floats) -> float:
        return float((figures * self.people).sum() / self.people.sum())

    def _scaled(self, chosen: NDArray[np.bool_], counts: Ints | None = None) -> int:
        found = int((self.people if counts is None else counts)[chosen].sum())
        return round(found * self.total / int(self.people.sum())) if self.drawn else found


def _of_rows(people: AlikePeople, sets: Iterable[Combinations], fitting: FittingPeople) -> tuple[Ints, Floats]:
    """For each row the fewest people that fit a set of its records, and the mean of 1 over those that fit."""
    fewest = np.full(len(people.people), np.iinfo(np.int64).max)
    right, ways = np.zeros(len(fewest)), np.zeros(len(fewest))
    for some in sets:
        fit = fitting.of_combinations(some.classes)
        np.minimum.at(fewest, some.row, fit)
        right += np.bincount(some.row, weights=some.ways / fit, minlength=len(fewest))
        ways += np.bincount(some.row, weights=some.ways, minlength=len(fewest))
    return fewest, right / np.maximum(ways, 1)


def _sample(people: Sequence[AlikePeople], seed: int) -> list[AlikePeople]:
    """Some of the people, each row with how many of its people were drawn."""
    rows, times = sampled_people(np.concatenate([each.people for each in people]), DRAWN_PEOPLE, seed)
    found, start = [], 0
    for each in people:
        mine = (rows >= start) & (rows < start + len(each.people))
        index = rows[mine] - start
        found.append(AlikePeople(each.classes[index], each.counts[index], times[mine]))
        start += len(each.people)
    return [each for each in found if len(each.people)]


def _drawn_sets(people: AlikePeople, size: int, seed: int) -> Iterator[Combinations]:
    """At most `DRAWN_SETS` sets of so many records of each row."""
    if n_combinations([people], size) <= DRAWN_SETS * len(people.people):
        yield from combinations(people, size)
        return
    random = np.random.default_rng([seed, size])
    rows, found = np.flatnonzero(people.records >= size), []
    for row in rows.tolist():
        ends = np.cumsum(people.counts[row])
        drawn = np.stack([random.choice(int(ends[-1]), size, replace=False) for _ in range(DRAWN_SETS)])
        found.append(people.classes[row][np.searchsorted(ends, np.sort(drawn, axis=1), side="right")])
    if found:
        yield Combinations(np.repeat(rows, DRAWN_SETS), np.concatenate(found), np.ones(len(rows) * DRAWN_SETS))


def _no_sets(size: int) -> Ints:
    return np.zeros((0, size), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Lists:
    """Who has records in each class, to count the people who fit single combinations."""

    people: Ints  # of each row
    rows: CodePairs  # the rows with records in each class
    counts: CodePairs  # the records of each person of these rows there

    @staticmethod
    def of(people: Sequence[AlikePeople]) -> "_Lists":
        """The classes of all people."""
        everybody = np.concatenate([each.people for each in people])
        lengths = np.repeat([each.classes.shape[1] for each in people], [len(each.people) for each in people])
        classes = np.concatenate([each.classes.ravel() for each in people])
        starts = np.append(0, np.cumsum(np.bincount(classes)))
        order = np.argsort(classes, kind="stable")
        del classes  # there may be many
        counts = np.concatenate([each.counts.ravel() for each in people])[order]
        row = np.repeat(np.arange(len(everybody), dtype=np.int32), lengths)[order]
        return _Lists(everybody, CodePairs(starts, row), CodePairs(starts, counts))

    def fitting(self, classes: Ints, n_classes: int) -> FittingPeople:
        """How many people fit different combinations, in ascending order."""
        found, marked = np.zeros(len(classes), dtype=np.int64), np.zeros(len(self.people), dtype=np.bool_)
        with_records = cache(self._with_records)
        for index, each in enumerate(classes.tolist()):
            fewest, *others = sorted((with_records(*needed) for needed in Counter(each).items()), key=len)
            for other in others:
                marked[other] = True
                fewest = fewest[marked[fewest]]
                marked[other] = False
            found[index] = self.people[fewest].sum()
        return FittingPeople(classes.shape[1], n_classes, packed(classes, n_classes), found)

    def _with_records(self, cls: int, number: int) -> Ints:
        """The rows with so many records in a class."""
        one = np.array([cls])
        return self.rows.lookup(one)[0][self.counts.lookup(one)[0] >= number]
