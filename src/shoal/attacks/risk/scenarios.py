"""Three attackers, and how likely each is to find the record that he looks for.

K. El Emam, F. K. Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008; for the marketer F. K. Dankar,
K. El Emam, "A method for evaluating marketer re-identification risk", PAIS 2010. With f the records of a class in the
table, and F those of the same class in the population that the table was drawn from:

- the *prosecutor* knows that his target is in the table and picks one of its class: 1/f for every record of it;
- the *journalist* does not know it and picks one of the population: 1/F;
- the *marketer* links every record with somebody of the population: he is right for f/F records of a class on average.

Of prosecutor and journalist three figures are told: the highest risk, its average over the records, and the share of
records above a threshold. Since F is at least f, the journalist's risk is at most the prosecutor's. A threshold of 0.2
asks for classes of 5; one of 0.09 (European Medicines Agency, policy 0070) for 12, since 1/11 is a little more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Scenario:
    """What an attacker who looks for one record may hope."""

    highest: float
    average: float
    above: float
    """Share of records with a risk above the threshold."""
    records_above: int

    def to_dict(self) -> dict[str, float | int]:
        """The figures as plain data."""
        return {
            "highest": self.highest,
            "average": self.average,
            "above_threshold": self.above,
            "records_above_threshold": self.records_above,
        }


def enough(threshold: float) -> int:
    """The smallest class whose risk is not above the threshold: 5 for 0.2; exact in the threshold's decimal digits."""
    return int(-(-1 // Fraction(str(threshold))))


def scenario(classes: Counts, among: Counts, threshold: float) -> Scenario:
    """The risk of the records of each class when each hides among so many: its own class, or that of the population."""
    records = int(classes.sum())
    above = int(classes[among < enough(threshold)].sum())
    return Scenario(float(1 / among.min()), marketer(classes, among), above / records, above)


def marketer(classes: Counts, among: Counts) -> float:
    """The expected share of records that are linked rightly."""
    return float((classes / among).sum() / classes.sum())
