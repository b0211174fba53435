"""What `shoal.risk` gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.attacks.risk.extra_columns import BesideRisk
from shoal.attacks.risk.population import Population, UniquesEstimate
from shoal.attacks.risk.scenarios import Scenario
from shoal.attacks.risk.subsets import ColumnRisk, SubsetRisk


@dataclass(frozen=True)
class Risk:
    """How open a table is by its quasi-identifiers as they stand."""

    records: int
    suppressed_rows: int
    """Rows of ``*`` of a release, which stand for suppressed records and are not counted."""
    quasi: tuple[str, ...]
    classes: int
    uniques: int
    """Records that are alone in their class."""
    k: int
    """The smallest class, a missing value being a value of its own."""
    k_if_missing_matches: int
    """The fewest records that any record may be taken for, a missing value matching anything."""
    records_with_missing: int
    """Records that lack the value of a quasi-identifier."""
    classes_by_size: Mapping[int, int]
    threshold: float
    enough: int
    """The smallest class with a risk not above the threshold."""
    prosecutor: Scenario
    journalist: Scenario | None
    """None where no population is known: then at most the prosecutor's risk."""
    marketer: float
    """Expected share of records linked rightly; without a population as if the table were one, which is the most."""
    population: Population | None
    population_uniques: UniquesEstimate | None
    max_columns: int
    subsets: tuple[SubsetRisk, ...]
    """Every subset of at most ``max_columns`` quasi-identifiers: most uniques first, then fewer columns."""
    columns: tuple[ColumnRisk, ...]
    """The quasi-identifiers, the one that contributes most first."""
    singled_out: Mapping[int, int]
    """For each size the records that some subset of that size singles out, and no smaller one."""
    beside: tuple[BesideRisk, ...]
    """The columns that are released beside the quasi-identifiers."""

    def __repr__(self) -> str:
        """The counts in one line."""
        classes = f"{self.classes} class{'' if self.classes == 1 else 'es'}"
        records = f"{self.records} record{'' if self.records == 1 else 's'}"
        return (
            f"<Risk: {records} in {classes}, {self.uniques} unique, k {self.k}, "
            f"average risk {self.prosecutor.average:.4f}, {self.prosecutor.above:.1%} above {self.threshold:g}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, ready for JSON."""
        return {
            "records": self.records,
            "suppressed_rows": self.suppressed_rows,
            "quasi": list(self.quasi),
            "classes": self.classes,
            "uniques": self.uniques,
            "k": self.k,
            "k_if_missing_matches_anything": self.k_if_missing_matches,
            "records_with_missing": self.records_with_missing,
            "classes_by_size": {str(size): classes for size, classes in self.classes_by_size.items()},
            "threshold": self.threshold,
            "class_size_for_threshold": self.enough,
            "prosecutor": self.prosecutor.to_dict(),
            "journalist": None if self.journalist is None else self.journalist.to_dict(),
            "marketer": {"expected_share_linked": self.marketer, "upper_bound": self.population is None},
            "population": None if self.population is None else self.population.to_dict(),
            "population_uniques": None if self.population_uniques is None else self.population_uniques.to_dict(),
            "max_columns": self.max_columns,
            "singled_out_by_columns": {str(size): records for size, records in self.singled_out.items()},
            "columns": [column.to_dict() for column in self.columns],
            "subsets": [subset.to_dict() for subset in self.subsets],
            "beside": [column.to_dict() for column in self.beside],
        }
