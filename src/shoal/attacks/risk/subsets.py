"""Who stands out by which columns: every subset of the quasi-identifiers up to a size.

A record is *unique* on a subset of columns if no other record agrees with it in all of them; it then is unique on every
larger subset too. It is a *minimal* unique of a subset if it is unique on no smaller part of it: these are the keys by
which somebody is singled out (M. J. Elliot, A. M. Manning, R. W. Ford, "A computational algorithm for handling the
special uniques problem", 2002; SUDA).

How much a column makes records stand out: with u(S) the uniques on a subset S, q columns and subsets up to size m,

    contribution(c) = 1/m Σ_{s=0}^{m-1} mean of u(S ∪ {c}) - u(S) over the subsets S of size s without c.

For m = q this is the Shapley value of u, and the contributions add up to the uniques on all columns.

Subsets are grouped on distinct tuples, and a grouping starts from a finer one already made (`LocalEngine`). A class of
one record is its own representative, so uniques are read off the groupings without looking at rows again.

Columns that are released besides the quasi-identifiers may split classes: whoever knows such a column sees smaller
ones, and it acts as a quasi-identifier whatever its role says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from shoal.facts import Facts
from shoal.hierarchies.boundaries import Ladder
from shoal.search.engine import DROPPED, LocalEngine
from shoal.search.problem import Progress, no_progress
from shoal.table.encoded import EncodedTable


@dataclass(frozen=True, eq=False)
class ExtraColumnRisk(Facts):
    """What one column adds to the quasi-identifiers."""

    column: str
    role: str
    distinct_values: int
    uniques_alone: int
    added_uniques: int
    """Records that are unique with the column and the quasi-identifiers, and were not without it."""
    contribution: float
    """Mean increase of uniques when the column is added to some quasi-identifiers (`shoal.attacks.risk.subsets`)."""
    average_risk: float
    """Average risk of the prosecutor with the column: classes by records."""
    acts_as_quasi_identifier: bool
    """Whether the column makes records stand out, with all quasi-identifiers or with some of them."""
    outcome: str
    """A code: ``identifies``, ``adds-uniques``, ``adds-to-few``, ``splits-classes`` or ``adds-nothing``."""


def measure_extra_column(
    table: EncodedTable, radices: Sequence[int], column: str, role: str, known: SubsetRisks
) -> ExtraColumnRisk:
    """What a column, one of the table's ``pairs``, adds to the quasi-identifiers; ``known`` is what they do alone."""
    pairs, counts = table.pairs[column], np.bincount(table.row_sensitive[column])
    added = int((pairs.counts == 1).sum()) - int((table.counts == 1).sum())
    grouper, last = Grouper(_joined(table, column), [*radices, len(counts)]), len(radices)

    def increase(columns: Places) -> int:
        return len(grouper.sizes((*columns, last))[1]) - known.uniques[columns]

    mean, alone = contribution(range(last), known.max_columns, increase), int((counts == 1).sum())
    outcomes = {
        "identifies": alone == table.n_rows,
        "adds-uniques": added > 0,
        "adds-to-few": mean > 0,
        "splits-classes": len(pairs.counts) > table.n_tuples,
        "adds-nothing": True,
    }
    return ExtraColumnRisk(
        column=column,
        role=role,
        distinct_values=int((counts > 0).sum()),
        uniques_alone=alone,
        added_uniques=added,
        contribution=mean,
        average_risk=len(pairs.counts) / table.n_rows,
        acts_as_quasi_identifier=added > 0 or mean > 0,
        outcome=next(code for code, holds in outcomes.items() if holds),
    )


def _joined(table: EncodedTable, column: str) -> EncodedTable:
    """The table with one more column, its records in the order of their distinct rows."""
    pairs = table.pairs[column]
    codes = np.ascontiguousarray(np.vstack([table.codes[:, pairs.tuples], pairs.values]))
    rows = np.repeat(np.arange(len(pairs.counts), dtype=np.int32), pairs.counts)
    return EncodedTable((*table.quasi, column), codes, pairs.counts, rows, {}, {})


Places = tuple[int, ...]  # some columns, by place, ascending
_WAIT = 1.0  # seconds after which the progress says how many are left


@dataclass(frozen=True, eq=False)
class SubsetRisk(Facts):
    """What an attacker who knows these columns can do."""

    columns: tuple[str, ...]
    classes: int
    uniques: int
    """Records that are alone in their class."""
    smallest_class: int
    average_risk: float
    """Average risk of the prosecutor: classes by records."""
    minimal_uniques: int
    """Records that are unique by these columns and by no fewer of them."""


@dataclass(frozen=True, eq=False)
class ColumnRisk(Facts):
    """What one quasi-identifier does to make records stand out."""

    column: str
    distinct_values: int
    uniques_alone: int
    uniques_without: int
    """Uniques on all the other quasi-identifiers together."""
    contribution: float
    """Mean increase of uniques when the column is added, as defined at the top of this file."""
    records_with_a_minimal_unique: int
    """Records with a minimal unique of at most so many columns that this column is part of."""


@dataclass(frozen=True)
class SubsetRisks:
    """All subsets up to a size, and what the columns do in them."""

    max_columns: int
    subsets: tuple[SubsetRisk, ...]  # smaller ones first, then in column order
    columns: tuple[ColumnRisk, ...]
    singled_out: Mapping[int, int]  # for each size the records that so many columns single out, and no fewer
    uniques: Mapping[Places, int]  # uniques on every subset, the empty one included


class Grouper:
    """Groups a table by some of its columns."""

    def __init__(self, table: EncodedTable, radices: Sequence[int]) -> None:
        self.table, self.width = table, len(radices)
        ladders = [Ladder(np.arange(radix, dtype=np.int32)[None, :], (0,)) for radix in radices]
        self._engine = LocalEngine(table, ladders, {})

    def sizes(self, places: Places) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The class sizes by some columns, and the tuples that are alone."""
        grouping = self._engine.classes([0 if j in places else DROPPED for j in range(self.width)])
        return grouping.sizes, grouping.representatives[grouping.sizes == 1]


class _Measuring(Grouper):
    """The subsets of one table, from small to large."""

    def __init__(self, table: EncodedTable, radices: Sequence[int]) -> None:
        super().__init__(table, radices)
        self.uniques: dict[Places, int] = {(): int(table.n_rows == 1)}
        alone = np.zeros(int(table.n_rows == 1), dtype=np.int32)
        self._smaller: dict[Places, NDArray[np.int32]] = {(): alone}
        self._scratch = np.zeros(table.n_tuples, dtype=np.bool_)
        self.in_minimal = np.zeros((self.width, table.n_tuples), dtype=np.bool_)
        self.first_size = np.zeros(table.n_tuples, dtype=np.int64)
        self.first_size[alone] = -1  # a single record is singled out by nothing at all

    def measure(self, places: Places, found: dict[Places, NDArray[np.int32]]) -> SubsetRisk:
        """One subset, given what was found of all subsets that are one column smaller."""
        sizes, alone = self.sizes(places)
        found[places] = alone
        self.uniques[places] = len(alone)
        smaller = [self._smaller[places[:axis] + places[axis + 1 :]] for axis in range(len(places))]
        for part in smaller:
            self._scratch[part] = True
        minimal = alone[~self._scratch[alone]]
        for part in smaller:
            self._scratch[part] = False
        self.in_minimal[np.array(places)[:, None], minimal] = True
        self.first_size[minimal[self.first_size[minimal] == 0]] = len(places)
        names = tuple(self.table.quasi[j] for j in places)
        average = len(sizes) / self.table.n_rows
        return SubsetRisk(names, len(sizes), len(alone), int(sizes.min()), average, len(minimal))

    def level(self, found: dict[Places, NDArray[np.int32]]) -> None:
        """Go on to subsets of the next size."""
        self._smaller = found


def contribution(others: Sequence[int], most: int, increase: Callable[[Places], int]) -> float:
    """The mean increase of uniques as defined at the top of this file, over subsets of the other columns.

    Where there are fewer other columns than subsets may have, there is nothing larger to add to.
    """
    sizes = range(min(most, len(others) + 1))
    means = [sum(map(increase, combinations(others, size))) / comb(len(others), size) for size in sizes]
    return sum(means) / len(means)


def measure_subsets(
    table: EncodedTable, radices: Sequence[int], max_columns: int, progress: Progress = no_progress
) -> SubsetRisks:
    """Every subset of at most so many columns; ``radices`` says how many codes each column has."""
    width, most = len(radices), min(max_columns, len(radices))
    measuring = _Measuring(table, radices)
    subsets: list[SubsetRisk] = []
    everything = tuple(range(width))
    measuring.sizes(everything)  # the finest groupings first: coarser ones start from them
    without = [len(measuring.sizes(everything[:j] + everything[j + 1 :])[1]) for j in range(width)]
    total, started = sum(comb(width, size) for size in range(1, most + 1)), time.monotonic()
    for size in range(1, most + 1):
        found: dict[Places, NDArray[np.int32]] = {}
        for places in combinations(range(width), size):
            progress(_progress(len(subsets), total, time.monotonic() - started), len(subsets) / total)
            subsets.append(measuring.measure(places, found))
        measuring.level(found)
    columns = tuple(_column(measuring, j, subsets[j], without[j], most) for j in range(width))
    singled = {size: int((measuring.first_size == size).sum()) for size in range(1, most + 1)}
    return SubsetRisks(most, tuple(subsets), columns, singled, measuring.uniques)


def _column(measuring: _Measuring, column: int, alone: SubsetRisk, without: int, most: int) -> ColumnRisk:
    uniques = measuring.uniques

    def increase(rest: Places) -> int:
        return uniques[tuple(sorted((*rest, column)))] - uniques[rest]

    others = [j for j in range(measuring.width) if j != column]
    in_minimal = int(measuring.in_minimal[column].sum())
    return ColumnRisk(
        alone.columns[0], alone.classes, alone.uniques, without, contribution(others, most, increase), in_minimal
    )


def _progress(done: int, total: int, seconds: float) -> str:
    """What the progress says: how many subsets there are and, once it is known, how long they may still take."""
    left = f", about {seconds / done * (total - done):.0f} s left" if done and seconds > _WAIT else ""
    return f"subset {done + 1} of {total} of the quasi-identifiers{left}"
