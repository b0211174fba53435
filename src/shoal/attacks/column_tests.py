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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.column_readings import Knowledge, Secret, Target, pairs_of
from shoal.attacks.guessed import ColumnTests, over_all_records
from shoal.attacks.random_dealing import (
    DEALINGS,
    dealt_records,
    dealt_within,
    generator_for,
    in_spreads,
    p_values,
)
from shoal.attacks.released_classes import Codes, Ints
from shoal.attacks.statistics import CHANCE
from shoal.table.classes import Counts, Floats, Mask
from shoal.table.encoded import combine_codes

_DENSE = 8  # cells per record up to which groups are counted in a table, else sorted


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
    made = [_Dealings.of(owner, weights, each, person, certain_among, seed) for each in secrets]
    nothing = np.full(DEALINGS, -np.inf)
    largest = np.max([nothing, *(each.spreads[1:].max(axis=1) for each in made if each.spreads.size)], axis=0)
    certain = np.max([nothing, *(each.spreads[1:, 1::2].max(axis=1) for each in made if each.spreads.size)], axis=0)
    among = np.max([nothing, *(each.spreads[1:, each.counted].max(axis=1) for each in made if each.counted)], axis=0)
    return {each.secret.name: each.tests(owner, weights, (largest, certain, among), certain_among) for each in made}


@dataclass(frozen=True, eq=False)
class _Dealings:
    """The figures of one secret in the table and in dealings."""

    secret: Secret
    known: Sequence[Knowledge]
    paired: tuple[str, ...]
    entries: Sequence[tuple[int, int]]  # by index: what is known, and the reading of the secret
    observed: Floats
    spreads: Floats  # belief and certain records of each entry in turn; the table first, then the dealings
    counted: Sequence[int]  # the figures of certain records that are judged by themselves
    tested: int

    @staticmethod
    def of(
        owner: Ints, weights: Counts, secret: Secret, person: Codes | None, certain_among: frozenset[str], seed: int
    ) -> _Dealings:
        paired, pairs = pairs_of(secret.singles) if secret.paired else ((), [])
        known, targets = [*secret.singles, *pairs], secret.targets
        rows = _tested_rows(owner, weights, secret, person, seed)
        entries = (
            [(index, target) for index in range(len(known)) for target in range(len(targets))] if len(rows) else []
        )
        if not entries:
            return _Dealings(secret, known, paired, entries, np.zeros(0), np.zeros((DEALINGS + 1, 0)), [], 0)
        dealt = _DealtRows.of(owner[rows], [each.codes[rows] for each in known], targets, rows)
        figures = [dealt.figures(np.arange(len(rows)), entries)]
        orders = dealt_within(dealt.owner, DEALINGS, generator_for(seed, dealt.owner, *dealt.secrets, *dealt.groups))
        table = np.array([*figures, *(dealt.figures(order, entries) for order in orders)])
        counted = [
            2 * place + 1
            for place, (index, target) in enumerate(entries)
            if certain_among.issuperset(known[index].columns)
            and targets[target].reading == known[index].reading == "values"
        ]
        spreads = in_spreads(table, counts=np.tile([False, True], len(entries)))
        return _Dealings(secret, known, paired, entries, table[0], spreads, counted, len(rows))

    def tests(
        self, owner: Ints, weights: Counts, largest: tuple[Floats, Floats, Floats], certain_among: frozenset[str]
    ) -> ColumnTests:
        """What chance explains badly, by the largest figure of each dealing over all secrets.

        There are three: of all figures, of certain records, and of those that are judged by themselves.
        """
        names = tuple(dict.fromkeys(each.columns[0] for each in self.secret.singles))
        p_value = p_values(self.spreads, largest[0]).reshape(-1, 2).min(axis=1, initial=1.0)
        certain, among = p_values(self.spreads[:, 1::2], largest[1]), np.ones(2 * len(self.entries))
        among[self.counted] = p_values(self.spreads[:, self.counted], largest[2])
        among = among[1::2]
        shown = (p_value <= CHANCE) | (among <= CHANCE) | (p_value == p_value.min(initial=1.0))
        if self.counted:
            shown[max(self.counted, key=lambda place: (self.observed[place], -place)) // 2] = True
        figures_of = [over_all_records(owner, weights, target) for target in self.secret.targets]
        found = []
        for place in np.flatnonzero(shown).tolist():
            index, target = self.entries[place]
            chances = float(p_value[place]), float(certain[place]), float(among[place])
            found.append(figures_of[target](self.known[index], chances))
        return ColumnTests(tuple(found), certain_among, names, self.paired, self.tested)


def _tested_rows(owner: Ints, weights: Counts, secret: Secret, person: Codes | None, seed: int) -> Ints:
    """The rows whose secrets are dealt, one per record (per person and class where people are known), by class.

    Their order depends on what they hold alone. Classes in which the secret is certain anyway are left out.
    """
    targets, singles = secret.targets, secret.singles
    rows = np.flatnonzero(targets[0].codes >= 0)
    rows = rows[_mixed(owner[rows], targets[0].codes[rows])]
    columns = [owner, *(each.codes for each in singles), *(each.codes + 1 for each in targets)]
    widths = [int(owner.max(initial=0)) + 1, *(each.width for each in singles), *(each.width + 1 for each in targets)]
    keys, _ = combine_codes([each[rows] for each in columns], widths)
    rows = rows[np.argsort(keys, kind="stable")]
    if person is None:
        rows = np.repeat(rows, weights[rows])
    else:
        _, first = np.unique(owner[rows] * (int(person.max(initial=0)) + 1) + person[rows], return_index=True)
        rows = rows[np.sort(first)]
    return rows[dealt_records(owner[rows], seed, secret.dealt)]


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
            return np.asarray(np.bincount(keys, minlength=space)[keys])
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return np.asarray(counts[inverse])


def _mixed(owner: Ints, codes: Ints) -> Mask:
    """Whether the class of each record has several values."""
    width = int(owner.max(initial=0)) + 1
    low, high = np.full(width, np.iinfo(np.int64).max), np.full(width, -1)
    np.minimum.at(low, owner, codes)
    np.maximum.at(high, owner, codes)
    return np.asarray((low < high)[owner])


def _numbered(keys: Ints) -> Ints:
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)
