"""What each published column tells of a secret within the classes, against what the same column would tell by chance.

Whoever knows a person's class and the person's value of another column looks at the records that agree in both. How
well the secret is known there is the mean *belief* in a record's true value, Σ c²/m over the values of each such group
of m records: the share of right guesses of somebody who guesses each value as often as it occurs. A value is *certain*
where the group has no other. Small groups make both large whatever the column is - a group of one is certain - so
neither means anything without its chance: the mean over all dealings of the secret within the classes, which is exact,
and the share of such dealings that reach as much (`shoal.attacks.chance.permutation_tests`). A test ends
early where the first dealings show that chance explains what was found.

A secret is guessed as it is published; by its declared categories; and, where it has many numbers, by tenths of the
records in order of the number, since 3000 and 3010 are one secret. A column of many numbers is read both as it is and
by tenths. Two columns are read together where each has few values (`PAIRED`), and count only if neither tells enough
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.between_columns.column_readings import Knowledge, Secret, pairs_of
from shoal.attacks.between_columns.counting import ColumnGroups, cells, mixed_classes
from shoal.attacks.between_columns.guessed import ColumnTests, over_all_records
from shoal.attacks.chance.permutation_tests import DEALINGS, in_spreads, joint_p_values
from shoal.attacks.chance.random_dealings import dealt_records, dealt_within, generator_for
from shoal.attacks.chance.statistics import CHANCE
from shoal.attacks.released_classes import Codes, Ints
from shoal.table.classes import Counts, Floats, Mask
from shoal.table.encoded import combine_codes, numbered

FIRST = 9
"""Dealings after which tests end where no p-value is below `EXPLAINED`: chance explains the largest figure. That only
makes leaks fewer, so the level is kept."""
EXPLAINED = 0.4


def column_tests(
    owner: Ints,
    weights: Counts,
    secrets: Sequence[Secret],
    *,
    person: Codes | None = None,
    certain_among: frozenset[str] = frozenset(),
    seed: int = 0,
) -> dict[str, ColumnTests]:
    """Test every column, and every two with few values, against each secret; all are judged together.

    ``owner`` is the class of each row and ``weights`` its records. Where it is known who a row is about, everybody is
    dealt once per class: records of one person are no independent evidence. Certain records are judged by themselves
    for the columns ``certain_among``.
    """
    dealt = [_Dealt.of(owner, weights, each, person, certain_among, seed) for each in secrets]
    tables = [np.array([each.figures(np.arange(each.records)), *each.dealings(FIRST)]) for each in dealt]
    judged = _judged(dealt, tables)
    if min((each.lowest for each in judged), default=1.0) < EXPLAINED:
        tables = [np.array([*some, *each.dealings(DEALINGS - FIRST)]) for each, some in zip(dealt, tables, strict=True)]
        judged = _judged(dealt, tables)
    return {
        each.secret.name: each.tests(owner, weights, chances, table[0], certain_among)
        for each, chances, table in zip(dealt, judged, tables, strict=True)
    }


@dataclass(frozen=True, eq=False)
class _Chances:
    """The p-values of each entry of a secret."""

    any_figure: Floats
    certain: Floats  # of its certain records alone
    among: Floats  # the same, judged by themselves among some of the columns

    @property
    def lowest(self) -> float:
        """The smallest of those by which leaks are called."""
        return float(min(self.any_figure.min(initial=1.0), self.among.min(initial=1.0)))


def _judged(dealt: Sequence[_Dealt], tables: Sequence[Floats]) -> list[_Chances]:
    """The p-values of all entries, by the largest figure of each dealing over all secrets."""
    spreads = [in_spreads(table, counts=np.arange(table.shape[1]) % 2 == 1) for table in tables]
    certain = [each[:, 1::2] for each in spreads]
    among = [each[:, mine.counted] for mine, each in zip(dealt, spreads, strict=True)]
    largest = [np.max([each[1:].max(axis=1, initial=-np.inf) for each in some], axis=0)
               for some in (spreads, certain, among) if some]  # fmt: skip
    found = []
    for index, mine in enumerate(dealt):
        of_counted = np.ones(spreads[index].shape[1])
        of_counted[mine.counted] = joint_p_values(among[index], largest[2])
        any_figure = joint_p_values(spreads[index], largest[0]).reshape(-1, 2).min(axis=1, initial=1.0)
        found.append(_Chances(any_figure, joint_p_values(certain[index], largest[1]), of_counted[1::2]))
    return found


@dataclass(frozen=True, eq=False)
class _Dealt:
    """A secret and the records over which it is dealt."""

    secret: Secret
    known: Sequence[Knowledge]
    paired: tuple[str, ...]
    entries: Sequence[tuple[int, int]]  # by index: what is known, and the reading of the secret
    counted: list[int]  # the figures of certain records that are judged by themselves
    records: int
    codes: Sequence[Ints]  # by reading of the secret
    mixed: Sequence[Mask]  # by reading: the classes in which records may become certain
    groups: Sequence[ColumnGroups]  # by what is known
    orders: Iterator[Ints]  # in which the secrets are dealt

    @staticmethod
    def of(
        owner: Ints, weights: Counts, secret: Secret, person: Codes | None, certain_among: frozenset[str], seed: int
    ) -> _Dealt:
        paired, pairs = pairs_of(secret.singles) if secret.paired else ((), [])
        known, targets = [*secret.singles, *pairs], secret.targets
        rows = _tested_rows(owner, weights, secret, person, seed)
        classes, own = numbered(owner[rows], int(owner.max(initial=0)) + 1)
        n_classes = len(classes)
        groups = [ColumnGroups.of(own, n_classes, each.codes[rows], each.width) for each in known] if len(rows) else []
        entries = [(index, target) for index in range(len(groups)) for target in range(len(targets))]
        counted = [
            2 * place + 1
            for place, (index, target) in enumerate(entries)
            if certain_among.issuperset(known[index].columns)
            and targets[target].reading == known[index].reading == "values"
        ]
        codes = [each.codes[rows] for each in targets]
        mixed = [
            mixed_classes(own, n_classes, each) & (target.reading != "tenths")
            for target, each in zip(targets, codes, strict=True)
        ]
        orders = dealt_within(own, DEALINGS, generator_for(seed, own, *codes, *(each.of_record for each in groups)))
        return _Dealt(secret, known, paired, entries, counted, len(rows), codes, mixed, groups, orders)

    def dealings(self, times: int) -> Iterator[Floats]:
        """The figures of further dealings."""
        return (self.figures(next(self.orders)) for _ in range(times))

    def figures(self, order: Ints) -> Floats:
        """Belief and certain records of each entry in turn when secrets are dealt in an order."""
        dealt, found = [codes[order] for codes in self.codes], []
        for index, target in self.entries:
            groups, mixed = self.groups[index], self.mixed[target]
            of, counts = cells(groups.of_record, len(groups.sizes), dealt[target], self.secret.targets[target].width)
            sizes = groups.sizes[of]
            certain = of[counts == sizes]
            found.append(float((counts * counts / sizes).sum()))
            found.append(float(groups.sizes[certain[mixed[groups.class_of[certain]]]].sum()))
        return np.array(found)

    def tests(
        self, owner: Ints, weights: Counts, chances: _Chances, observed: Floats, certain_among: frozenset[str]
    ) -> ColumnTests:
        """What chance explains badly, what it explains worst, and what makes most records certain, of those counted."""
        names = tuple(dict.fromkeys(each.columns[0] for each in self.secret.singles))
        p_value, among = chances.any_figure, chances.among
        shown = (p_value <= CHANCE) | (among <= CHANCE) | (p_value == p_value.min(initial=1.0))
        if self.counted:
            shown[max(self.counted, key=lambda place: (observed[place], -place)) // 2] = True
        figures_of = [over_all_records(owner, weights, target) for target in self.secret.targets]
        found = []
        for place in np.flatnonzero(shown).tolist():
            index, target = self.entries[place]
            of_entry = float(p_value[place]), float(chances.certain[place]), float(among[place])
            found.append(figures_of[target](self.known[index], of_entry))
        return ColumnTests(tuple(found), certain_among, names, self.paired, self.records)


def _tested_rows(owner: Ints, weights: Counts, secret: Secret, person: Codes | None, seed: int) -> Ints:
    """The rows whose secrets are dealt, one per record (per person and class where people are known), by class.

    Their order depends on what they hold alone. Classes in which the secret is certain anyway are left out.
    """
    targets, singles = secret.targets, secret.singles
    rows = np.flatnonzero(targets[0].codes >= 0)
    n_classes = int(owner.max(initial=0)) + 1
    rows = rows[mixed_classes(owner[rows], n_classes, targets[0].codes[rows])[owner[rows]]]
    columns = [owner, *(each.codes for each in singles), *(each.codes + 1 for each in targets)]
    widths = [n_classes, *(each.width for each in singles), *(each.width + 1 for each in targets)]
    keys, _ = combine_codes([each[rows] for each in columns], widths)
    rows = rows[np.argsort(keys, kind="stable")]
    if person is None:
        rows = np.repeat(rows, weights[rows])
    else:
        _, first = np.unique(owner[rows] * (int(person.max(initial=0)) + 1) + person[rows], return_index=True)
        rows = rows[np.sort(first)]
    return rows[dealt_records(owner[rows], seed, secret.dealt)]
