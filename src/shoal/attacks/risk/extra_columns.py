"""Columns that are released besides the quasi-identifiers: what they add for somebody who knows them.

An insensitive column is released as it is. If it splits classes, whoever knows it sees smaller ones, and it acts as a
quasi-identifier whatever its role says. A sensitive column does the same for somebody who knows the value already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.risk.subsets import Grouper, Places, SubsetRisks, contribution
from shoal.facts import Facts
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
