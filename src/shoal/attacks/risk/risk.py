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

Otherwise the uniques of the population are estimated (`shoal.attacks.risk.population_uniques`).

By default a missing quasi-identifier is a value of its own, and a class is what shares it. An attacker may as well
think that a record whose age is missing could be anybody's of any age: then a record hides among all records that agree
with it wherever both have a value. Reports show both figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import NamedTuple

import numpy as np

from shoal.attacks.risk.people import PeopleRisk
from shoal.attacks.risk.population_uniques import PopulationUniques
from shoal.attacks.risk.subsets import ColumnRisk, ExtraColumnRisk, SubsetRisk
from shoal.attacks.risk.survey import SurveyRisk
from shoal.facts import Facts
from shoal.formatting import number, percent, pluralize
from shoal.hierarchies.hierarchy import Label
from shoal.table.classes import Mask
from shoal.table.encoded import Codes, Counts, combine_codes
from shoal.table.recoding import Recoding


class CodedColumn(NamedTuple):
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
    population_uniques: PopulationUniques | None
    survey: SurveyRisk | None = None
    """The risk of households and with sampling weights, where these columns are named."""
    people: PeopleRisk | None = None
    """The risk of people with several records, where the policy names the person and the table tells who that is."""
    not_in_the_table: tuple[str, ...] | None = None
    """Those of the columns ``household`` and ``weight`` of the policy that the table, a release, does not have."""

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


def smallest_if_missing_matches(recoding: Recoding) -> int:
    """The fewest released records that any released record could be, when missing cells match anything."""
    if not recoding.n_classes:
        return 0
    unlabelled = [np.array([label is None for label in hierarchy.labels]) for hierarchy in recoding.hierarchies]
    missing = np.stack([each[recoding.nodes[:, j]] for j, each in enumerate(unlabelled)])
    return int(company_if_missing_matches(recoding.nodes.T, missing, recoding.sizes).min())


def company_if_missing_matches(cells: Codes, missing: Mask, sizes: Counts) -> Counts:
    """For each class, the records that agree with it in every column where neither lacks the value.

    ``cells[j, c]`` is what class ``c`` has in column ``j`` and ``missing[j, c]`` whether that is the missing value; no
    two classes are equal. Classes are taken together by which of their cells are missing. Classes of two such patterns
    match where the columns agree that neither lacks: one join for each pair of patterns, never class against class.
    """
    keys, _ = combine_codes(list(missing.astype(np.int32)), [2] * len(missing))
    _, first, pattern_of = np.unique(keys, return_index=True, return_inverse=True)
    patterns = missing[:, first]
    members = [np.flatnonzero(pattern_of == pattern) for pattern in range(len(first))]
    company = np.array(sizes, dtype=np.int64)  # of its own pattern a class matches itself alone
    for pattern, beside in permutations(range(len(members)), 2):
        one, other = members[pattern], members[beside]
        both = cells[~(patterns[:, pattern] | patterns[:, beside])][:, np.concatenate([one, other])]
        keys = np.zeros(both.shape[1], dtype=np.int64)
        if len(both):
            keys, _ = combine_codes(list(both), [int(column.max()) + 1 for column in both])
        _, group = np.unique(keys, return_inverse=True)
        records = np.bincount(group[len(one) :], weights=sizes[other], minlength=int(group.max()) + 1)
        company[one] += records[group[: len(one)]].astype(np.int64)
    return company
