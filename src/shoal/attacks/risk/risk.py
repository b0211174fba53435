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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.risk.extra_columns import ExtraColumnRisk
from shoal.attacks.risk.population import PopulationFacts, UniquesEstimate
from shoal.attacks.risk.subsets import ColumnRisk, SubsetRisk
from shoal.facts import Facts
from shoal.formatting import number, percent, pluralize

Counts = NDArray[np.int64]


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
