"""How well secrets are guessed from a class and another column: the figures, and when they are a leak."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.attacks.between_columns.column_readings import READINGS, Knowledge, Reading, Target
from shoal.attacks.between_columns.counting import ColumnGroups, cells
from shoal.attacks.chance.statistics import CHANCE, expected_belief, expected_certain
from shoal.attacks.released_classes import Ints
from shoal.table.classes import Counts, Floats

MATERIAL = 0.01
"""Share of the records that must be guessed right beyond chance: less is real in a large table, and helps nobody."""
MORE_CERTAIN = 0.1
"""By this share more records must be certain than by chance, or by `MATERIAL` of all records."""


@dataclass(frozen=True, eq=False)
class Guessed:
    """How well a secret is known from the class and something else."""

    columns: tuple[str, ...]
    reading: Reading  # of the secret
    by: Reading  # of the columns
    of: int  # records whose secret is known
    belief: float  # summed over these records
    by_chance: float
    from_class: float  # the same from the class alone
    certain: int  # records whose secret is certain and is not from the class alone
    certain_by_chance: float
    p_value: float
    certain_p_value: float  # of the number of certain records alone
    certain_among_p_value: float  # the same among some of the columns, as if others did not exist

    @property
    def gain(self) -> float:
        """Records by which the secret is exposed beyond chance: guessed right, or certain."""
        return max(self.belief - self.by_chance, self.certain - self.certain_by_chance, 0.0)

    @property
    def leak(self) -> bool:
        """Whether chance does not explain it, and it is enough to matter."""
        enough = self.gain >= MATERIAL * self.of or self.certain_beyond_chance > 0
        return self.p_value <= CHANCE and enough

    @property
    def certain_beyond_chance(self) -> int:
        """The certain records where chance does not explain how many they are, else none."""
        return self.certain if self.certain_p_value <= CHANCE and self._many_certain else 0

    @property
    def certain_leak(self) -> bool:
        """Whether chance does not explain how many records are certain, among some of the columns."""
        return self.certain_among_p_value <= CHANCE and self._many_certain

    @property
    def _many_certain(self) -> bool:
        more = self.certain - self.certain_by_chance
        return more > 0 and more >= min(MORE_CERTAIN * self.certain_by_chance, MATERIAL * self.of)


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """Every published column against one secret."""

    found: tuple[Guessed, ...]
    """What chance explains badly, what it explains worst, and what makes most records certain, of those counted."""
    counted: frozenset[str]  # the columns for which certain records are judged by themselves
    columns: tuple[str, ...]  # all that were tested
    paired: tuple[str, ...]  # those of which every two were read together
    tested: int  # records that were dealt

    @cached_property
    def leaks(self) -> tuple[Guessed, ...]:
        """The columns that tell the secret, worst first; two together where neither does alone."""
        return _minimal([each for each in self.found if each.leak])

    @cached_property
    def certain_leaks(self) -> tuple[Guessed, ...]:
        """The columns that make more secrets certain than chance does, worst first, of those counted for that."""
        return _minimal([each for each in self.found if each.certain_leak])

    @property
    def most_certain(self) -> Guessed | None:
        """What makes most records certain, of the columns counted for that; None where nothing was tested."""
        counted = [each for each in self.found if self.counted.issuperset(each.columns)]
        counted = [each for each in counted if each.reading == each.by == "values"]
        return min(counted, key=lambda each: (-each.certain, len(each.columns), each.columns), default=None)

    @property
    def strongest(self) -> Guessed | None:
        """What chance explains worst; None where there was nothing to test."""
        return min(self.found, key=lambda each: (each.p_value, *_worst_first(each)), default=None)


def _minimal(leaks: Sequence[Guessed]) -> tuple[Guessed, ...]:
    """The worst reading of each, without two columns of which one does it alone."""
    worst: dict[tuple[str, ...], Guessed] = {}
    for each in sorted(leaks, key=_worst_first):
        worst.setdefault(each.columns, each)
    alone = {columns[0] for columns in worst if len(columns) == 1}
    return tuple(each for columns, each in worst.items() if len(columns) == 1 or not alone & set(columns))


def _worst_first(guessed: Guessed) -> tuple[float, float, int, int, tuple[str, ...]]:
    gain, places = round(guessed.gain, 6), (READINGS.index(guessed.reading), READINGS.index(guessed.by))
    return -gain, guessed.p_value, *places, guessed.columns


def over_all_records(
    owner: Ints, weights: Counts, target: Target
) -> Callable[[Knowledge, tuple[float, float, float]], Guessed]:
    """The figures of a target over all records, with their means over all dealings within the classes."""
    there = target.codes >= 0
    cls, weight, secret = owner[there], weights[there], target.codes[there]
    n_classes, of = int(owner.max(initial=0)) + 1, int(weight.sum())
    of_class = np.bincount(cls, weights=weight, minlength=n_classes).astype(np.int64)
    cell_class, cell_counts = cells(cls, n_classes, secret, target.width, weight)
    starts = np.searchsorted(cell_class, np.arange(n_classes + 1))
    squares = np.bincount(cell_class, weights=cell_counts**2.0, minlength=n_classes)
    alike: Floats = squares / np.maximum(of_class, 1) ** 2.0
    mixed = np.diff(starts) > 1

    def figures(known: Knowledge, chances: tuple[float, float, float]) -> Guessed:
        groups = ColumnGroups.of(cls, n_classes, known.codes[there], known.width, weight)
        sizes, class_of = groups.sizes, groups.class_of
        of_group, counts = cells(groups.of_record, len(sizes), secret, target.width, weight)
        certain, by_chance = 0, 0.0
        if target.reading != "tenths":
            inside = mixed[class_of]
            certain = int(counts[(counts == sizes[of_group]) & inside[of_group]].sum())
            by_chance = expected_certain(sizes[inside], class_of[inside], starts, cell_counts)
        return Guessed(
            known.columns,
            target.reading,
            known.reading,
            of=of,
            belief=float((counts**2.0 / sizes[of_group]).sum()),
            by_chance=expected_belief(sizes, of_class[class_of], alike[class_of]),
            from_class=float((alike * of_class).sum()),
            certain=certain,
            certain_by_chance=by_chance,
            p_value=chances[0],
            certain_p_value=chances[1],
            certain_among_p_value=chances[2],
        )

    return figures
