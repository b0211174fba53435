"""Columns that are released beside the quasi-identifiers: what they add for somebody who knows them.

An insensitive column is released as it is. If it parts classes, whoever knows it sees smaller ones, and it acts as a
quasi-identifier whatever its role says. A sensitive column does the same for somebody who knows the secret already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.attacks.risk.subsets import Grouper, Places, SubsetRisks, contribution
from shoal.table.encoded import EncodedTable


@dataclass(frozen=True)
class BesideRisk:
    """What one column adds to the quasi-identifiers."""

    column: str
    role: str
    distinct: int
    uniques_alone: int
    added_uniques: int
    """Records that are unique with the column and the quasi-identifiers, and were not without it."""
    contribution: float
    """Mean increase of uniques when the column is added to some quasi-identifiers (`shoal.attacks.risk.subsets`)."""
    average: float
    """Average risk of the prosecutor with the column: classes by records."""
    verdict: str

    @property
    def acts_as_quasi(self) -> bool:
        """Whether the column makes records stand out, with all quasi-identifiers or with some of them."""
        return self.added_uniques > 0 or self.contribution > 0

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return {
            "column": self.column,
            "role": self.role,
            "distinct_values": self.distinct,
            "uniques_alone": self.uniques_alone,
            "added_uniques": self.added_uniques,
            "contribution": self.contribution,
            "average_risk": self.average,
            "acts_as_quasi_identifier": self.acts_as_quasi,
            "verdict": self.verdict,
        }


def measure_beside(
    table: EncodedTable, radices: Sequence[int], column: str, role: str, known: SubsetRisks
) -> BesideRisk:
    """What a column, one of the table's ``pairs``, adds to the quasi-identifiers; ``known`` is what they do alone."""
    pairs, counts = table.pairs[column], np.bincount(table.row_sensitive[column])
    before, after = int((table.counts == 1).sum()), int((pairs.counts == 1).sum())
    grouper, last = Grouper(_joined(table, column), [*radices, len(counts)]), len(radices)

    def increase(places: Places) -> int:
        return len(grouper.sizes((*places, last))[1]) - known.uniques[places]

    found = BesideRisk(
        column=column,
        role=role,
        distinct=int((counts > 0).sum()),
        uniques_alone=int((counts == 1).sum()),
        added_uniques=after - before,
        contribution=contribution(range(last), known.max_columns, increase),
        average=len(pairs.counts) / table.n_rows,
        verdict="",
    )
    return replace(found, verdict=_verdict(found, table, before))


def _joined(table: EncodedTable, column: str) -> EncodedTable:
    """The table with one more column, its records in the order of their tuples."""
    pairs = table.pairs[column]
    codes = np.ascontiguousarray(np.vstack([table.codes[:, pairs.tuples], pairs.values]))
    rows = np.repeat(np.arange(len(pairs.counts), dtype=np.int32), pairs.counts)
    return EncodedTable((*table.quasi, column), codes, pairs.counts, rows, {}, {})


def _verdict(found: BesideRisk, table: EncodedTable, before: int) -> str:
    fix = " If others may know it, give it the role quasi or leave it out." if found.role == "insensitive" else ""
    if found.uniques_alone == table.n_rows:
        fix = " Leave it out, or give it the role identifier." if found.role == "insensitive" else ""
        return "has another value in every record, as an identifier has." + fix
    if found.added_uniques:
        alone = f" ({found.uniques_alone} by this column alone)" if found.uniques_alone else ""
        return _acting(found, f"with it {_records(found.added_uniques)} more {_are(found)} unique{alone}.") + fix
    if found.contribution > 0:
        already = "every record is unique without it" if before == table.n_rows else "with all the others it adds none"
        some = f"added to a few quasi-identifiers it makes {found.contribution:.1f} more records unique on average."
        return _acting(found, f"{already}, but {some}") + fix
    if len(table.pairs[found.column].counts) > table.n_tuples:
        without = table.n_tuples / table.n_rows
        return f"makes no record unique, but parts classes: average risk {found.average:.4f} instead of {without:.4f}."
    return "adds nothing: it parts no class of the quasi-identifiers."


def _acting(found: BesideRisk, how: str) -> str:
    return f"{'acts as a quasi-identifier' if found.role == 'insensitive' else 'singles out, if known'}: {how}"


def _records(count: int) -> str:
    return f"{count} record{'' if count == 1 else 's'}"


def _are(found: BesideRisk) -> str:
    return "is" if found.added_uniques == 1 else "are"
