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
from functools import partial
from itertools import combinations
from math import comb

import numpy as np

from shoal.facts import Facts
from shoal.hierarchies.boundaries import Ladder
from shoal.search.engine import DROPPED, LocalEngine
from shoal.search.problem import Progress, no_progress
from shoal.table.encoded import Codes, Counts, EncodedTable

ColumnIndices = tuple[int, ...]  # some columns, ascending
_WAIT = 1.0  # seconds after which the progress says how many are left


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
    codes = np.ascontiguousarray(np.vstack([table.codes[:, pairs.tuples], pairs.values]))
    rows = np.repeat(np.arange(len(pairs.counts), dtype=np.int32), pairs.counts)  # in the order of the distinct rows
    joined = EncodedTable((*table.quasi, column), codes, pairs.counts, rows, {}, {})
    grouped, last = grouper(joined, [*radices, len(counts)]), len(radices)

    def increase(columns: ColumnIndices) -> int:
        return len(grouped((*columns, last))[1]) - known.uniques[columns]

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
    uniques: Mapping[ColumnIndices, int]  # uniques on every subset, the empty one included


def grouper(table: EncodedTable, radices: Sequence[int]) -> Callable[[ColumnIndices], tuple[Counts, Codes]]:
    """Groups a table by some of its columns: the class sizes, and the tuples that are alone."""
    ladders = [Ladder(np.arange(radix, dtype=np.int32)[None, :], (0,)) for radix in radices]
    engine = LocalEngine(table, ladders, {})

    def grouped(columns: ColumnIndices) -> tuple[Counts, Codes]:
        grouping = engine.classes([0 if j in columns else DROPPED for j in range(len(radices))])
        return grouping.sizes, grouping.representatives[grouping.sizes == 1]

    return grouped


def contribution(others: Sequence[int], most: int, increase: Callable[[ColumnIndices], int]) -> float:
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
    width, most, grouped = len(radices), min(max_columns, len(radices)), grouper(table, radices)
    everything = tuple(range(width))
    grouped(everything)  # the finest groupings first: coarser ones start from them
    without = [len(grouped(everything[:j] + everything[j + 1 :])[1]) for j in range(width)]
    nobody = np.zeros(int(table.n_rows == 1), dtype=np.int32)  # a single record is singled out by nothing at all
    uniques: dict[ColumnIndices, int] = {(): len(nobody)}
    smaller: dict[ColumnIndices, Codes] = {(): nobody}
    first_size = np.zeros(table.n_tuples, dtype=np.int64)
    first_size[nobody] = -1
    covered, in_minimal = np.zeros(table.n_tuples, dtype=np.bool_), np.zeros((width, table.n_tuples), dtype=np.bool_)
    subsets: list[SubsetRisk] = []
    total, started = sum(comb(width, size) for size in range(1, most + 1)), time.monotonic()
    for size in range(1, most + 1):
        found: dict[ColumnIndices, Codes] = {}
        for subset in combinations(everything, size):
            progress(_progress(len(subsets), total, time.monotonic() - started), len(subsets) / total)
            sizes, alone = grouped(subset)
            found[subset], uniques[subset] = alone, len(alone)
            by_fewer = np.concatenate([smaller[subset[:axis] + subset[axis + 1 :]] for axis in range(size)])
            covered[by_fewer] = True
            minimal = alone[~covered[alone]]
            covered[by_fewer] = False
            in_minimal[np.array(subset)[:, None], minimal] = True
            first_size[minimal[first_size[minimal] == 0]] = size
            names, average = tuple(table.quasi[j] for j in subset), len(sizes) / table.n_rows
            subsets.append(SubsetRisk(names, len(sizes), len(alone), int(sizes.min()), average, len(minimal)))
        smaller = found
    columns = []
    for j, name in enumerate(table.quasi):
        mean = contribution([other for other in everything if other != j], most, partial(_increase, uniques, j))
        values, alone_by = subsets[j].classes, subsets[j].uniques
        columns.append(ColumnRisk(name, values, alone_by, without[j], mean, int(in_minimal[j].sum())))
    singled = {size: int((first_size == size).sum()) for size in range(1, most + 1)}
    return SubsetRisks(most, tuple(subsets), tuple(columns), singled, uniques)


def _increase(uniques: Mapping[ColumnIndices, int], column: int, rest: ColumnIndices) -> int:
    """How many uniques a column adds to those of other columns."""
    return uniques[tuple(sorted((*rest, column)))] - uniques[rest]


def _progress(done: int, total: int, seconds: float) -> str:
    """What the progress says: how many subsets there are and, once it is known, how long they may still take."""
    left = f", about {seconds / done * (total - done):.0f} s left" if done and seconds > _WAIT else ""
    return f"subset {done + 1} of {total} of the quasi-identifiers{left}"
