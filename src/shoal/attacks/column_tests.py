"""What each published column tells of a secret within the classes, against what the same column would tell by chance.

Whoever knows a person's class and the person's value of another column looks at the records that agree in both. How
well the secret is known there is the mean *belief* in a record's true value, Σ c²/m over the values of each such group
of m records: the share of right guesses of somebody who guesses each value as often as it occurs. A value is *certain*
where the group has no other. Small groups make both large whatever the column is - a group of one is certain - so
neither means anything without its chance: the mean over all dealings of the secret within the classes, which is exact,
and the share of such dealings that reach as much (`shoal.attacks.random_dealing`).

A secret is guessed as it is published; by its declared categories; and, where it has many numbers, by tenths of the
records in order of the number, since 3000 and 3010 are one secret. A column of many numbers is read both as it is and
by tenths. Two columns are read together where each has few values (`PAIRED`), and count only if neither tells enough
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.attacks.column_readings import READINGS, Knowledge, Reading, Target, pairs_of
from shoal.attacks.random_dealing import (
    LEVEL,
    dealings_for,
    dealt_within,
    drawn_records,
    expected_belief,
    expected_certain,
    in_spreads,
    p_values,
)
from shoal.attacks.released_classes import Ints
from shoal.table.classes import Counts, Floats, Mask
from shoal.table.encoded import combine_codes

MATERIAL = 0.01
"""Share of the records that must be guessed right beyond chance: less is real in a large table, and helps nobody."""
_DENSE = 8  # cells per record up to which groups are counted in a table, else sorted
_TINY = 1e-6


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
        return self.p_value <= LEVEL and self.gain >= MATERIAL * self.of

    @property
    def certain_beyond_chance(self) -> int:
        """The certain records where chance does not explain how many they are, else none."""
        return self.certain if self.certain_p_value <= LEVEL and self.certain > self.certain_by_chance else 0

    @property
    def certain_leak(self) -> bool:
        """Whether chance does not explain how many records are certain, among some of the columns."""
        return self.certain_among_p_value <= LEVEL and self.certain > self.certain_by_chance


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """Every published column against one secret."""

    found: tuple[Guessed, ...]
    """What chance explains badly, what it explains worst, and what makes most records certain, of those counted."""
    counted: frozenset[str]  # the columns for which certain records are judged by themselves
    columns: tuple[str, ...]  # all that were tested
    paired: tuple[str, ...]  # those of which every two were read together
    tested: int  # records that were dealt
    dealings: int

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


def column_tests(
    owner: Ints,
    weights: Counts,
    singles: Sequence[Knowledge],
    targets: Sequence[Target],
    *,
    person: Ints | None = None,
    certain_among: frozenset[str] = frozenset(),
    tests: int = 1,
    seed: int = 0,
) -> ColumnTests:
    """Test every column, and every two with few values, against a secret, by one of ``tests`` tests.

    ``owner`` is the class of each row and ``weights`` its records. Where it is known who a row is about, everybody is
    dealt once per class: records of one person are no independent evidence. Certain records are judged by themselves
    for the columns ``certain_among``.
    """
    paired, pairs = pairs_of(singles)
    known = [*singles, *pairs]
    entries = [(index, target) for index in range(len(known)) for target in range(len(targets))]
    rows = _tested_rows(owner, weights, singles, targets, person, seed)
    names = tuple(dict.fromkeys(each.columns[0] for each in singles))
    if not len(rows) or not entries:
        return ColumnTests((), certain_among, names, paired, 0, 0)
    dealt = _DealtRows.of(owner[rows], [each.codes[rows] for each in known], targets, rows)
    times, generator = dealings_for(tests), np.random.default_rng(seed)
    figures = [dealt.figures(np.arange(len(rows)), entries)]
    figures += [dealt.figures(order, entries) for order in dealt_within(dealt.owner, times, generator)]
    spreads = in_spreads(np.array(figures), np.tile([_TINY, 1.0], len(entries)))
    single, among = p_values(spreads, tests).reshape(-1, 2), np.ones(len(entries))
    counted = [
        place
        for place, (index, target) in enumerate(entries)
        if certain_among.issuperset(known[index].columns)
        and targets[target].reading == known[index].reading == "values"
    ]
    among[counted] = p_values(spreads[:, [2 * place + 1 for place in counted]], tests)
    p_value = single.min(axis=1)
    shown = (p_value <= LEVEL) | (among <= LEVEL) | (p_value == p_value.min())
    if counted:
        shown[max(counted, key=lambda place: (figures[0][2 * place + 1], -place))] = True
    figures_of = [_over_all_records(owner, weights, target) for target in targets]
    found = [
        figures_of[target](known[index], (float(p_value[place]), float(single[place, 1]), float(among[place])))
        for place, (index, target) in ((place, entries[place]) for place in np.flatnonzero(shown).tolist())
    ]
    return ColumnTests(tuple(found), certain_among, names, paired, len(rows), times)


def _tested_rows(
    owner: Ints,
    weights: Counts,
    singles: Sequence[Knowledge],
    targets: Sequence[Target],
    person: Ints | None,
    seed: int,
) -> Ints:
    """The rows whose secrets are dealt, one per record (per person and class where people are known), by class.

    Their order depends on what they hold alone. Classes in which the secret is certain anyway are left out.
    """
    rows = np.flatnonzero(targets[0].codes >= 0)
    columns = [owner, *(each.codes for each in singles), *(each.codes + 1 for each in targets)]
    widths = [int(owner.max(initial=0)) + 1, *(each.width for each in singles), *(each.width + 1 for each in targets)]
    keys, _ = combine_codes([each[rows] for each in columns], widths)
    rows = rows[np.argsort(keys, kind="stable")]
    if person is None:
        rows = np.repeat(rows, weights[rows])
    else:
        _, first = np.unique(owner[rows] * (int(person.max(initial=0)) + 1) + person[rows], return_index=True)
        rows = rows[np.sort(first)]
    rows = rows[drawn_records(len(rows), seed)]
    return rows[_mixed(owner[rows], targets[0].codes[rows])]


@dataclass(frozen=True, eq=False)
class _DealtRows:
    """Records that lie by class, whose secrets are dealt within these."""

    owner: Ints
    groups: Sequence[Ints]  # by what is known: the group of each record by class and value
    sizes: Sequence[Counts]  # the records of each record's group
    secrets: Sequence[Ints]
    widths: Sequence[int]
    mixed: Sequence[Mask]  # by target: whether a record may become certain that is not so by its class

    @staticmethod
    def of(owner: Ints, known: Iterable[Ints], targets: Sequence[Target], rows: Ints) -> _DealtRows:
        own, groups, sizes = _numbered(owner), [], []
        for codes in known:
            pairs, _ = combine_codes([own, codes], [int(own.max()) + 1, int(codes.max()) + 1])
            groups.append(_numbered(pairs))
            sizes.append(np.bincount(groups[-1])[groups[-1]])
        secrets = [each.codes[rows] for each in targets]
        mixed = [_mixed(own, codes) & (each.reading != "tenths") for each, codes in zip(targets, secrets, strict=True)]
        return _DealtRows(own, groups, sizes, secrets, [each.width for each in targets], mixed)

    def figures(self, order: Ints, entries: Sequence[tuple[int, int]]) -> list[float]:
        """Belief and certain records for each entry when secrets are dealt in an order."""
        dealt, found = [codes[order] for codes in self.secrets], []
        for index, target in entries:
            sizes, together = self.sizes[index], self._together(index, dealt[target], self.widths[target])
            found.append(float((together / sizes).sum()))
            found.append(float(np.count_nonzero((together == sizes) & self.mixed[target])))
        return found

    def _together(self, index: int, secrets: Ints, width: int) -> Counts:
        """For each record how many of its group have its secret."""
        keys = self.groups[index] * width + secrets
        space = (int(self.groups[index].max()) + 1) * width
        if space <= _DENSE * len(keys) + 1000:
            return np.bincount(keys, minlength=space)[keys]
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return np.asarray(counts[inverse])


def _over_all_records(owner: Ints, weights: Counts, target: Target) -> Callable[[Knowledge, tuple[float, float, float]], Guessed]:
    """The figures of a target over all records, with their means over all dealings within the classes."""
    there = target.codes >= 0
    cls, weight, secret = owner[there], weights[there], target.codes[there]
    n_classes = int(owner.max(initial=0)) + 1
    of_class = np.bincount(cls, weights=weight, minlength=n_classes).astype(np.int64)
    cell_class, cell_counts = _counted(cls, secret, target.width, weight)
    starts = np.searchsorted(cell_class, np.arange(n_classes + 1))
    squares = np.bincount(cell_class, weights=cell_counts**2.0, minlength=n_classes)
    alike: Floats = squares / np.maximum(of_class, 1) ** 2.0
    mixed = np.diff(starts) > 1

    def figures(known: Knowledge, chances: tuple[float, float, float]) -> Guessed:
        pairs, _ = combine_codes([cls, known.codes[there]], [n_classes, known.width])
        _, first, group = np.unique(pairs, return_index=True, return_inverse=True)
        sizes = np.bincount(group, weights=weight, minlength=len(first)).astype(np.int64)
        of_group, counts = _counted(group.astype(np.int64), secret, target.width, weight)
        inside, single = mixed[cls[first]], np.bincount(of_group, minlength=len(first)) == 1
        certain, by_chance = 0, 0.0
        if target.reading != "tenths":
            certain = int(sizes[single & inside].sum())
            by_chance = expected_certain(sizes[inside], cls[first][inside], starts, cell_counts)
        return Guessed(
            known.columns,
            target.reading,
            known.reading,
            of=int(weight.sum()),
            belief=float((counts**2.0 / sizes[of_group]).sum()),
            by_chance=expected_belief(sizes, of_class[cls[first]], alike[cls[first]]),
            from_class=float((alike * of_class).sum()),
            certain=certain,
            certain_by_chance=by_chance,
            p_value=chances[0],
            certain_p_value=chances[1],
            certain_among_p_value=chances[2],
        )

    return figures


def _mixed(owner: Ints, codes: Ints) -> Mask:
    """Whether the class of each record has several values."""
    width = int(owner.max(initial=0)) + 1
    low, high = np.full(width, np.iinfo(np.int64).max), np.full(width, -1)
    np.minimum.at(low, owner, codes)
    np.maximum.at(high, owner, codes)
    return np.asarray((low < high)[owner])


def _numbered(keys: Ints) -> Ints:
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _counted(first: Ints, second: Ints, width: int, weights: Counts) -> tuple[Ints, Counts]:
    """For each pair of codes that occurs the first code, ascending, and its records."""
    keys, _ = combine_codes([first, second], [int(first.max(initial=0)) + 1, width])
    _, some, cell = np.unique(keys, return_index=True, return_inverse=True)
    return first[some], np.bincount(cell, weights=weights, minlength=len(some)).astype(np.int64)
