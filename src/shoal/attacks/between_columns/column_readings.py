"""Published columns and secrets as an attacker reads them: as they are, by categories, by tenths of many numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from shoal.attacks.chance.random_dealings import DEALT
from shoal.attacks.released_classes import Codes, Column, Ints
from shoal.hierarchies.hierarchy import Label
from shoal.table.classes import Counts, Mask
from shoal.table.encoded import combine_codes
from shoal.table.numbers import Numbers

Reading = Literal["values", "categories", "tenths"]
READINGS: tuple[Reading, ...] = ("values", "categories", "tenths")

PAIRED = 8
"""Columns with the fewest values of which every two are read together."""
MANY = 20  # different numbers from which a column is read by tenths too
_PARTS = 10


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What an attacker knows besides the class: one or two columns, read in one way."""

    columns: tuple[str, ...]
    codes: Ints  # of each row
    width: int
    reading: Reading = "values"


@dataclass(frozen=True, eq=False)
class Target:
    """A secret, read in one way; -1 where it is not known."""

    codes: Ints
    width: int
    reading: Reading = "values"


@dataclass(frozen=True, eq=False)
class Secret:
    """Something hidden, and what it is guessed from besides the class."""

    name: str
    targets: Sequence[Target]  # its readings, the finest first
    singles: Sequence[Knowledge]
    paired: bool = True  # whether two columns are read together too
    dealt: int = DEALT  # records whose secrets are dealt, at most


def knowledge_of(name: str, column: Column, weights: Counts) -> list[Knowledge]:
    """A published column as it is, and by tenths where it has many numbers."""
    labels, codes = column
    found = [Knowledge((name,), codes.astype(np.int64), max(len(labels), 1))]
    if (part := tenths(labels, codes, weights)) is not None:
        found.append(Knowledge((name,), part, _PARTS + 1, "tenths"))
    return found


def tenths(
    labels: Sequence[Label], codes: Codes | Ints, weights: Counts, unknown: frozenset[Label] = frozenset()
) -> Ints | None:
    """The tenth of the records, in order of the number, that each row's number lies in; the last code without one.

    None where the labels are not numbers, or few.
    """
    numbers = Numbers.of([None if label in unknown else label for label in labels]) if len(labels) > MANY else None
    if numbers is None or len(numbers.distinct) <= MANY:
        return None
    rank = numbers.rank[codes]
    there = rank >= 0
    totals = np.bincount(rank[there], weights=weights[there], minlength=len(numbers.distinct))
    middle = (np.cumsum(totals) - totals / 2) / max(totals.sum(), 1)
    part = np.minimum((middle * _PARTS).astype(np.int64), _PARTS - 1)
    return np.where(there, part[np.maximum(rank, 0)], _PARTS)


def pairs_of(singles: Sequence[Knowledge]) -> tuple[tuple[str, ...], list[Knowledge]]:
    """Every two of the columns with the fewest values, which are named first; of several readings the coarsest."""
    coarsest = {each.columns[0]: each for each in sorted(singles, key=lambda each: -each.width)}
    chosen = sorted(coarsest.values(), key=lambda each: (each.width, each.columns))[:PAIRED]
    chosen = [each for each in chosen if each.width > 1]
    found = []
    for one, other in combinations(sorted(chosen, key=lambda each: each.columns), 2):
        codes, _ = combine_codes([one.codes, other.codes], [one.width, other.width])
        readings: set[Reading] = {one.reading, other.reading}
        reading: Reading = "tenths" if "tenths" in readings else "values"
        found.append(Knowledge(one.columns + other.columns, codes, one.width * other.width, reading))
    return tuple(sorted(each.columns[0] for each in chosen)), found


def targets_of(
    column: Column, weights: Counts, *, known: Mask, unknown: frozenset[Label], category_of: Codes | None
) -> list[Target]:
    """A secret by its values, by its categories where it is published by values, and by tenths of many numbers."""
    labels, codes = column
    there = known[codes]
    found = [Target(np.where(there, codes, -1).astype(np.int64), max(len(labels), 1))]
    if category_of is not None:
        found.append(
            Target(np.where(there, category_of[codes], -1).astype(np.int64), int(category_of.max()) + 1, "categories")
        )
    if (part := tenths(labels, codes, weights, unknown)) is not None:
        found.append(Target(np.where(there, part, -1), _PARTS + 1, "tenths"))
    return found


def published_knowledge(columns: Mapping[str, Column], weights: Counts) -> list[Knowledge]:
    """All readings of some columns."""
    return [each for name, column in columns.items() for each in knowledge_of(name, column, weights)]
