"""The risk of a table as it is: three attackers, and how likely each is to find the record they look for.

K. El Emam, F. K. Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008; for the marketer F. K. Dankar,
K. El Emam, "A method for evaluating marketer re-identification risk", PAIS 2010. With f the records of a class in the
table, and F those of the same class in the population that the table was drawn from:

- the *prosecutor* knows that the target is in the table and picks one of its class: 1/f for every record of it;
- the *journalist* does not know it and picks one of the population: 1/F;
- the *marketer* links every record with somebody of the population and is right for f/F records of a class on average.

Of prosecutor and journalist there are three figures: the highest risk, its average over the records, and the share of
records above a threshold. Since F is at least f, the journalist's risk is at most the prosecutor's. A threshold of 0.2
needs classes of 5; one of 0.09 (European Medicines Agency, policy 0070) for 12, since 1/11 is a little more.

The population may be a table with the same quasi-identifiers. A class of which it has fewer records than the table
shows that it is not the whole population; the class then counts as large as it is in the table.

Otherwise the uniques of the population are estimated (L. Zayatz, "Estimation of the percent of unique population
elements on a microdata file using the sample", U.S. Bureau of the Census, 1991). With every record drawn with the
probability π, a class of i people leaves one record with the probability iπ(1-π)^(i-1), so by Bayes

    P(unique in the population | unique in the table) = s_1 π / Σ_i s_i iπ(1-π)^(i-1),    s_i classes of size i.

The estimate is good for large sampling fractions and mostly too high for small ones (F. K. Dankar, K. El Emam,
A. Neisa, T. Roffey, "Estimating the re-identification risk of clinical data sets", 2012).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.risk.subsets import ColumnRisk, ExtraColumnRisk, SubsetRisk
from shoal.facts import Facts
from shoal.formatting import number, percent, pluralize
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


@dataclass(frozen=True, eq=False)
class Scenario(Facts):
    """The risk from an attacker who looks for one record."""

    highest: float
    average: float
    above_threshold: float
    """Share of records with a risk above the threshold."""
    records_above_threshold: int


@dataclass(frozen=True, eq=False)
class Marketer(Facts):
    """The risk from an attacker who links every record."""

    expected_share_linked: float
    upper_bound: bool
    """Whether it is the most that is possible, since no population is known."""


@dataclass(frozen=True, eq=False)
class Risk(Facts):
    """How open a table is by its quasi-identifiers as they are; what `shoal.risk` returns."""

    records: int
    suppressed_rows: int
    """Rows of ``*`` of a release, which stand for suppressed records and are not counted."""
    quasi: tuple[str, ...]
    classes: int
    uniques: int
    """Records that are alone in their class."""
    k: int
    """The smallest class, a missing value being a value of its own."""
    k_if_missing_matches_anything: int
    """The fewest records that any record may be taken for, a missing value matching anything."""
    records_with_missing: int
    """Records that lack the value of a quasi-identifier."""
    classes_by_size: Mapping[int, int]
    threshold: float
    class_size_for_threshold: int
    """The smallest class with a risk not above the threshold."""
    prosecutor: Scenario
    marketer: Marketer
    max_columns: int
    singled_out_by_columns: Mapping[int, int]
    """For each size the records that some subset of that size singles out, and no smaller one."""
    columns: tuple[ColumnRisk, ...]
    """The quasi-identifiers, the one that contributes most first."""
    subsets: tuple[SubsetRisk, ...]
    """Every subset of at most ``max_columns`` quasi-identifiers: most uniques first, then fewer columns."""
    extra_columns: tuple[ExtraColumnRisk, ...]
    """The columns that are released besides the quasi-identifiers."""
    journalist: Scenario | None
    """None where no population is known: then at most the prosecutor's risk."""
    population: PopulationFacts | None
    population_uniques: UniquesEstimate | None

    def __repr__(self) -> str:
        """The counts in one line."""
        return (
            f"<Risk: {pluralize(self.records, 'record')} in {pluralize(self.classes, 'class')}, {self.uniques:,} "
            f"unique, k {self.k:,}, average risk {number(self.prosecutor.average)}, "
            f"{percent(self.prosecutor.above_threshold)} above {self.threshold:g}>"
        )


def class_size_for(threshold: float) -> int:
    """The smallest class whose risk is not above the threshold: 5 for 0.2; exact in the threshold's decimal digits."""
    return int(-(-1 // Fraction(str(threshold))))


def scenario(classes: Counts, among: Counts, threshold: float) -> Scenario:
    """The risk of the records of each class when each hides among so many: its own class, or that of the population."""
    records = int(classes.sum())
    above = int(classes[among < class_size_for(threshold)].sum())
    return Scenario(float(1 / among.min()), expected_share_linked(classes, among), above / records, above)


def expected_share_linked(classes: Counts, among: Counts) -> float:
    """The expected share of records that are linked rightly."""
    return float((classes / among).sum() / classes.sum())
