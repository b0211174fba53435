"""The population that a table was drawn from: its class sizes where it is at hand, else how many uniques it may have.

*At hand*: the population is a table with the same quasi-identifiers. A class of which it has fewer records than the
table itself shows that it is not the whole population; the class then counts as large as it is in the table, the most
that is known of it, and the result says of how many records that is true.

*Not at hand*: L. Zayatz, "Estimation of the percent of unique population elements on a microdata file using the
sample", U.S. Bureau of the Census, 1991. What share of the records that are unique in the table are unique in the
population? By Bayes, with the table's own distribution of class sizes in the place of the population's and every
record drawn with the probability π: a class of i people leaves one record with the probability iπ(1-π)^(i-1), so

    P(unique in the population | unique in the table) = s_1 π / Σ_i s_i iπ(1-π)^(i-1),    s_i classes of size i.

The estimate is good for large sampling fractions and mostly too high for small ones (F. K. Dankar, K. El Emam,
A. Neisa, T. Roffey, "Estimating the re-identification risk of clinical data sets", 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.facts import Facts
from shoal.hierarchies.hierarchy import Label
from shoal.table.encoded import combine_codes

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column as its distinct values and the code of every row (or of every class)."""

    labels: Sequence[Label]
    codes: Codes


@dataclass(frozen=True, eq=False)
class PopulationFacts(Facts):
    """A population beside a table that was drawn from it."""

    records: int
    classes_absent: int
    """Classes of the table that the population has no record of."""
    records_absent: int
    classes_with_fewer: int
    """Classes of which the population has some records, but fewer than the table."""
    records_with_fewer: int


@dataclass(frozen=True, eq=False)
class UniquesEstimate(Facts):
    """How many uniques of the table are thought to be unique in the population."""

    sampling_fraction: float
    probability_that_a_unique_is_unique_in_the_population: float
    expected_population_uniques_in_the_table: float
    estimator: str = "Zayatz 1991"


def population_of(
    classes: Sequence[CodedColumn], sizes: Counts, rows: Sequence[CodedColumn]
) -> tuple[PopulationFacts, Counts]:
    """Look up the classes of a table in the rows of a population; both have the same columns in the same order.

    With them the records of the population in each class, at least those of the table.
    """
    n_classes, n_rows = len(sizes), len(rows[0].codes)
    known = np.ones(n_rows, dtype=np.bool_)
    columns = []
    for of_table, of_population in zip(classes, rows, strict=True):
        index = {label: code for code, label in enumerate(of_table.labels)}
        translated = np.array([index.get(label, -1) for label in of_population.labels], dtype=np.int32)
        codes = translated[of_population.codes]
        known &= codes >= 0
        columns.append((of_table.codes, codes))
    together = [np.concatenate([own, codes[known]]) for own, codes in columns]
    keys, _ = combine_codes(together, [max(len(column.labels), 1) for column in classes])
    distinct, group = np.unique(keys, return_inverse=True)
    found = np.bincount(group[n_classes:], minlength=len(distinct))[group[:n_classes]].astype(np.int64)
    absent, short = found == 0, (found > 0) & (found < sizes)
    facts = PopulationFacts(
        records=n_rows,
        classes_absent=int(absent.sum()),
        records_absent=int(sizes[absent].sum()),
        classes_with_fewer=int(short.sum()),
        records_with_fewer=int(sizes[short].sum()),
    )
    return facts, np.maximum(found, sizes)


def estimate_uniques(sizes: Counts, sampling_fraction: float) -> UniquesEstimate:
    """Zayatz's estimate from the class sizes of the table."""
    size, classes = np.unique(sizes, return_counts=True)
    leaving_one = classes * size * sampling_fraction * (1 - sampling_fraction) ** (size - 1.0)
    uniques = int(classes[0]) if size[0] == 1 else 0
    probability = float(leaving_one[0] / leaving_one.sum()) if uniques else 0.0
    return UniquesEstimate(sampling_fraction, probability, uniques * probability)
