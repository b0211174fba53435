"""The people who fit records that somebody knows: those who have as many records in each class as the known ones.

A person's records are a number of records in each of some classes. Somebody who knows m of them knows a *combination*:
m classes, one of them several times where several of the records lie in it. Everybody fits it who has at least as many
records in each of these classes. That is the support of an itemset, an item being the first, second, … record in a
class; at least k people for every combination of at most m records is k^m-anonymity (M. Terrovitis, N. Mamoulis, P.
Kalnis, "Privacy-preserving anonymization of set-valued data", 2008) of people and their classes.

People with the same records in the same classes have the same combinations and are counted together. The combinations
are then written out, some millions at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations_with_replacement, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError

Ints = NDArray[np.int64]

MOST_COMBINATIONS = 1_000_000_000  # of one number of records; more would take hours
_AT_A_TIME = 2_000_000
_HELD = 4_000_000  # counted combinations that are held before equal ones are added up
_KEY_LIMIT = 2**62
_INT32 = 2**31 - 1
_ROWS_AT_A_TIME = 1_000_000  # rows that people are told apart by; bounds the memory


@dataclass(frozen=True, eq=False)
class AlikePeople:
    """People who have records in equally many classes; those with the same numbers in the same classes are one row."""

    classes: NDArray[Any]  # ``classes[g, i]``: ascending
    counts: NDArray[Any]  # records of each person of the row in these classes
    people: Ints  # how many people each row stands for

    @cached_property
    def records(self) -> Ints:
        """Records of each person of a row."""
        return np.asarray(self.counts.sum(axis=1, dtype=np.int64))

    def rows(self, chosen: NDArray[Any]) -> AlikePeople:
        """Some of the rows."""
        return AlikePeople(self.classes[chosen], self.counts[chosen], self.people[chosen])


@dataclass(frozen=True, eq=False)
class Combinations:
    """Combinations of records that people have."""

    row: Ints  # whose: a row of `AlikePeople`
    classes: Ints  # ``classes[n, i]``: ascending, repeated where several records lie in a class
    ways: NDArray[np.float64]  # how many sets of a person's records are this combination


def alike_people(
    owner: NDArray[Any], person: NDArray[Any], counts: NDArray[Any] | None = None, most: int | None = None
) -> list[AlikePeople]:
    """People by their classes, from the class and the person of each row and the records that it stands for.

    Rows of class -1 are in none. Records of a person in a class beyond ``most`` are left out: combinations of so many
    records tell no difference.
    """
    width = int(owner.max(initial=0)) + 1
    records = len(owner) if counts is None else int(counts.sum())
    kind = np.dtype(np.int32 if max(width, records) <= _INT32 else np.int64)
    parts: dict[int, list[NDArray[Any]]] = {}
    for some in _by_person(person):
        for rows in _rows_of_people(owner[some], person[some], None if counts is None else counts[some], most, width):
            parts.setdefault(rows.shape[1] // 2, []).append(rows.astype(kind))
    found = []
    for length in sorted(parts):
        distinct, people = np.unique(np.concatenate(parts.pop(length)), axis=0, return_counts=True)
        found.append(AlikePeople(distinct[:, :length], distinct[:, length:], people.astype(np.int64)))
    return found


def _by_person(person: NDArray[Any]) -> Iterator[slice]:
    """The rows, some at a time where they lie one person after the other, so that nobody is divided."""
    if len(person) <= _ROWS_AT_A_TIME or bool((person[1:] < person[:-1]).any()):
        yield slice(None)
        return
    start = 0
    while start < len(person):
        last = person[min(start + _ROWS_AT_A_TIME, len(person)) - 1]
        end = int(np.searchsorted(person, last, side="right"))
        yield slice(start, end)
        start = end


def _rows_of_people(
    owner: NDArray[Any], person: NDArray[Any], counts: NDArray[Any] | None, most: int | None, width: int
) -> Iterator[Ints]:
    """The classes of each person and then the records there, a row for each; one array for each number of classes."""
    keys = person.astype(np.int64) * width + owner
    if bool((there := owner >= 0).all()):
        order = np.argsort(keys)
    else:
        order = np.flatnonzero(there)
        order = order[np.argsort(keys[order])]
    keys = keys[order]
    ends = np.append(np.flatnonzero(keys[1:] != keys[:-1]), len(keys) - 1) if len(keys) else order
    total = np.arange(1, len(keys) + 1) if counts is None else np.cumsum(counts[order], dtype=np.int64)
    number, keys = np.diff(total[ends], prepend=0), keys[ends]
    del order, total  # there may be many rows
    number = number if most is None else np.minimum(number, most)
    who, cls = np.divmod(keys, width)
    starts = np.flatnonzero(np.diff(who, prepend=-1))
    lengths = np.diff(np.append(starts, len(who)))
    for length in np.unique(lengths).tolist():
        entry = starts[lengths == length][:, None] + np.arange(length)
        yield np.hstack([cls[entry], number[entry]])


def n_combinations(people: Sequence[AlikePeople], size: int) -> int:
    """How many combinations of so many records there are to write out, at most."""
    return sum(len(each.people) * math.comb(each.classes.shape[1] + size - 1, size) for each in people)


def combinations(people: AlikePeople, size: int) -> Iterator[Combinations]:
    """All combinations of so many records, some at a time; who has fewer records has none."""
    rows, length = np.flatnonzero(people.records >= size), people.classes.shape[1]
    every = combinations_with_replacement(range(length), size)
    table = min(math.comb(length + size - 1, size), _AT_A_TIME)
    while len(rows) and len(chosen := _columns(every, table, size)):
        nth = np.ones_like(chosen)  # the first, second, … record in its class
        for at in range(1, size):
            nth[:, at] = np.where(chosen[:, at] == chosen[:, at - 1], nth[:, at - 1] + 1, 1)
        step = max(1, _AT_A_TIME // len(chosen))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            counts = people.counts[some][:, chosen]
            row, which = np.nonzero((counts >= nth).all(axis=2))
            ways = ((counts[row, which] - nth[which] + 1) / nth[which]).prod(axis=1)
            yield Combinations(some[row], people.classes[some[row][:, None], chosen[which]], ways)


def _columns(every: Iterator[tuple[int, ...]], most: int, size: int) -> Ints:
    return np.fromiter(chain.from_iterable(islice(every, most)), dtype=np.int64).reshape(-1, size)


@dataclass(frozen=True, eq=False)
class FittingPeople:
    """Every combination of so many records that somebody has, and how many people fit it."""

    size: int
    n_classes: int
    keys: NDArray[Any]  # ascending
    people: Ints

    @staticmethod
    def of(people: Sequence[AlikePeople], n_classes: int, size: int) -> FittingPeople:
        """Count the people; `InputError` for more combinations than can be written out."""
        if (number := n_combinations(people, size)) > MOST_COMBINATIONS:
            widest = max(each.classes.shape[1] for each in people)
            raise InputError(
                f"There are {number:,} combinations of {size} records of a person, and at most "
                f"{MOST_COMBINATIONS:,} are counted; somebody has records in {widest:,} classes. Lower events, or make "
                "one row per person first.",
                code="too-many-combinations",
            )
        held = [(packed(np.zeros((0, size), dtype=np.int64), n_classes), np.zeros(0, dtype=np.int64))]
        waiting = 0
        for each in people:
            for some in combinations(each, size):
                held.append(_summed(packed(some.classes, n_classes), each.people[some.row]))
                waiting += len(held[-1][0])
                if waiting > _HELD:
                    held, waiting = [_joined(held)], 0
        return FittingPeople(size, n_classes, *_joined(held))

    def of_combinations(self, classes: Ints) -> Ints:
        """How many people fit some of these combinations."""
        return self.people[np.searchsorted(self.keys, packed(classes, self.n_classes))]

    def classes(self, chosen: NDArray[np.bool_]) -> Ints:
        """The classes of some of the combinations: a row for each."""
        keys, columns = self.keys[chosen], []
        for _ in range(self.size):
            columns.append((keys % self.n_classes).astype(np.int64))
            keys = keys // self.n_classes
        return np.stack(columns[::-1], axis=1)


def packed(classes: Ints, n_classes: int) -> NDArray[Any]:
    """A number for each combination; in Python's whole numbers where 64 bits do not hold it."""
    small = n_classes ** classes.shape[1] <= _KEY_LIMIT
    keys: NDArray[Any] = np.zeros(len(classes), dtype=np.int64 if small else object)
    for column in classes.T:
        keys = keys * n_classes + column
    return keys


def _joined(held: Sequence[tuple[NDArray[Any], Ints]]) -> tuple[NDArray[Any], Ints]:
    keys, people = zip(*held, strict=True)
    return _summed(np.concatenate(keys), np.concatenate(people))


def _summed(keys: NDArray[Any], people: Ints) -> tuple[NDArray[Any], Ints]:
    distinct, index = np.unique(keys, return_inverse=True)
    return distinct, np.bincount(index, weights=people, minlength=len(distinct)).astype(np.int64)
