"""How far insensitive columns narrow people down within their classes, against the same columns dealt at random.

Any column with several values divides classes, so knowing it leaves a person among fewer records. That says nothing
about the release as long as the column divides classes as chance would: then the figure only states what it means to
assume that nobody knows the column. The column is dealt anew over all records many times; where it narrows down more
people than nearly all dealings do, it goes with the classes in a way that chance does not explain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.between_columns.counting import cells
from shoal.attacks.chance.permutation_tests import DEALINGS, in_spreads, joint_p_values
from shoal.attacks.chance.random_dealings import dealt_records, generator_for
from shoal.attacks.chance.statistics import CHANCE
from shoal.attacks.released_classes import Ints, Rows
from shoal.table.encoded import combine_codes, numbered

TOGETHER = 3
"""Columns that are combined, at most, where no single one narrows anybody down."""


@dataclass(frozen=True, eq=False)
class Narrowing:
    """How many records one insensitive column leaves among fewer than k."""

    column: str
    records: int
    expected: float  # where the column is dealt over the records at random
    p_value: float

    @property
    def leak(self) -> bool:
        """Whether chance does not explain it."""
        return self.p_value <= CHANCE and self.records > self.expected


def narrowings(rows: Rows, k: int, seed: int) -> list[Narrowing]:
    """The insensitive columns by the records that they leave among fewer than k of their class, most first."""
    names = list(rows.insensitive)
    codes = np.array([rows.insensitive[name][1] for name in names], dtype=np.int64)
    records = _one_each(rows, codes)
    owner, codes = rows.owner[records], codes[:, records]
    records_of = {name: _below(owner, column, k) for name, column in zip(names, codes, strict=True)}
    some = dealt_records(owner, seed)
    owner, codes = owner[some], codes[:, some]
    generator = generator_for(seed, owner, *codes)
    figures = [[_below(owner, column, k) for column in codes]]
    for _ in range(DEALINGS):
        dealt = owner[generator.permutation(len(owner))]
        figures.append([_below(dealt, column, k) for column in codes])
    table = np.array(figures, dtype=np.float64)
    chances, means = (
        joint_p_values(in_spreads(table, counts=True)),
        table[1:].mean(axis=0) * (len(records) / max(len(owner), 1)),
    )
    found = [
        Narrowing(name, records_of[name], float(mean), float(chance))
        for name, mean, chance in zip(names, means, chances, strict=True)
    ]
    return sorted(found, key=lambda each: (-each.records, each.column))


def narrowing_set(rows: Rows, k: int) -> tuple[tuple[str, ...], int]:
    """A small set of columns that together leave somebody among fewer than k, chosen one by one; else no columns.

    Each step adds the column that leaves most records in small groups.
    """
    codes = {name: column.astype(np.int64) for name, (_, column) in rows.insensitive.items()}
    records = _one_each(rows, np.array(list(codes.values()), dtype=np.int64))
    group, chosen = rows.owner[records], tuple[str, ...]()
    while len(chosen) < min(TOGETHER, len(codes)):
        added = {name: _joined(group, column[records]) for name, column in codes.items() if name not in chosen}
        best = min(added, key=lambda name: (-_below(added[name], None, k), -int(added[name].max(initial=0)), name))
        chosen, group = (*chosen, best), added[best]
        if below := _below(group, None, k):
            return chosen, below
    return (), 0


def _below(owner: Ints, column: Ints | None, k: int) -> int:
    """Records in groups of fewer than k, by class and by a column too where one is given."""
    if column is None:
        sizes = np.bincount(owner)
    else:
        n_classes, width = int(owner.max(initial=0)) + 1, int(column.max(initial=0)) + 1
        _, sizes = cells(owner, n_classes, column, width)
    return int(sizes[sizes < k].sum())


def _joined(group: Ints, column: Ints) -> Ints:
    """Records numbered by group and column."""
    keys, space = combine_codes([group, column], [int(group.max(initial=0)) + 1, int(column.max(initial=0)) + 1])
    return numbered(keys, space)[1]


def _one_each(rows: Rows, codes: Ints) -> Ints:
    """A row per record, or per person and class where people are known, in an order that does not matter outside."""
    keys, _ = combine_codes(
        [rows.owner, *codes], [len(rows.cells.T), *(int(each.max(initial=0)) + 1 for each in codes)]
    )
    order = np.argsort(keys, kind="stable")
    if rows.person is None:
        return np.repeat(order, rows.weights[order])
    width = int(rows.person.max(initial=0)) + 1
    _, first = np.unique(rows.owner[order] * width + rows.person[order], return_index=True)
    return np.asarray(order[np.sort(first)])


def by_column(found: Sequence[Narrowing], listed: int) -> Mapping[str, Mapping[str, float]]:
    """The figures of the first columns, as details have them."""
    return {each.column: {"records": each.records, "expected_by_chance": each.expected} for each in found[:listed]}
