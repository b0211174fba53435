"""The risk of a survey: of each record with its sampling weight, of all records together, and of households.

*Individual risk* (R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data
dissemination", Pre-proceedings of New Techniques and Technologies for Statistics, 1998). A class has f records in the
table, whose weights sum to W. How many people F of the population are in it is unknown; given f it is negative
binomial, the number of draws up to the f-th success with probability p = f/W, and the risk of each record is

    r = E[1/F | f] = Σ_{j≥f} 1/j C(j-1, f-1) p^f (1-p)^(j-f) = p^f/f ₂F₁(f, f; f+1; 1-p).

The expectation of t^(F-1), integrated over t from 0 to 1, gives r = I_f = ∫₀¹ u^(f-1) p/(p+qu) du with q = 1-p, and

- I_1 = p/q log(1/p) and I_{f+1} = p/q (1/f - I_f), which loses no digits where p ≤ 1/2;
- I_f = p Σ_{m≥0} q^m B(f, m+1), all of whose terms are positive; they fall quickly where p > 1/2 or f is large.

sdcMicro computes the same by closed forms for f = 1, 2 and by an approximation for larger f (M. Templ, A. Kowarik,
B. Meindl, "Statistical disclosure control for micro-data using the R package sdcMicro", Journal of Statistical
Software 67(4), 2015); here it is exact. Where the weights of a class sum to less than its records, F is f.

*Global risk*: the sum of the individual risks is the expected number of re-identifications, their mean its share.

*Household risk*: a household is found if any member is. With the members found independently of each other,

    R = 1 - Π_i (1 - r_i),

as sdcMicro computes it; without weights r_i = 1/f. Who finds one member often recognizes the others, which is why the
household counts as a whole; whoever knows its composition (two adults, three children) may find it more easily than
this says, since independence leaves that out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encode.result import Result
from shoal.encode.survey import Members, Survey, SurveyDesign, SurveyParts
from shoal.facts import Facts
from shoal.table.encoded import Counts

Floats = NDArray[np.float64]
_LARGE = 50  # from this class size on the series needs few terms whatever p is
_TERMS = 64


@dataclass(frozen=True, eq=False)
class WeightedRisk(Facts):
    """Individual and global risk with sampling weights."""

    column: str
    population: float
    """Sum of the weights."""
    highest: float
    average: float
    """The expected share of re-identifications."""
    expected_reidentifications: float
    above_threshold: float
    """Share of records with a risk above the threshold."""
    records_above_threshold: int
    records_with_small_weights: int
    """Records of classes whose weights sum to less than their records; they count as if nobody else were like them."""


@dataclass(frozen=True, eq=False)
class HouseholdRisk(Facts):
    """The risk that a household is found through any of its members."""

    column: str
    households: int
    largest: int
    """Records of the largest household."""
    highest: float
    average: float
    """Over households."""
    expected_households_found: float
    expected_records_in_them: float
    above_threshold: float
    """Share of households with a risk above the threshold."""
    households_above_threshold: int
    weighted: bool
    """Whether the risk of each member is with sampling weights; else it is 1 by the size of the class."""


@dataclass(frozen=True, eq=False)
class SurveyRisk(Facts):
    """The risk of records with weights, of households, or both."""

    threshold: float
    individual: WeightedRisk | None = None
    households: HouseholdRisk | None = None


@dataclass(frozen=True, eq=False)
class SurveyRiskOfRelease(Facts):
    """The risk of the released records by what they were before and by what the release shows."""

    before: SurveyRisk
    after: SurveyRisk


def survey_risk(design: SurveyDesign, classes: NDArray[np.integer], threshold: float) -> SurveyRisk:
    """The risk of records of which each is in a class."""
    _, owner, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    parts = design.in_parts(owner, len(sizes))
    return _measured(parts, design.columns, sizes, [np.arange(len(sizes))], threshold)[0]


def survey_risk_of_release(survey: Survey, result: Result, threshold: float = 0.2) -> SurveyRiskOfRelease:
    """The risk of households and with weights, before and after; of released records only, as all of the evidence."""
    after = result.recoding.row_class
    before = np.where(after >= 0, result.resolved.problem.table.row_tuple, -1)
    with survey.parts(result) as parts:
        return SurveyRiskOfRelease(*_measured(parts, survey.columns, result.rows.counts, [before, after], threshold))


def _measured(
    parts: SurveyParts,
    columns: Mapping[str, str],
    counts: Counts,
    tables: Sequence[NDArray[np.integer]],
    threshold: float,
) -> list[SurveyRisk]:
    """The risk in each of some tables of the same records: for each part its class there, or -1."""
    risks, individual = [], []
    for classes in tables:
        there = classes >= 0
        _, owner = np.unique(classes[there], return_inverse=True)
        sizes = np.bincount(owner, weights=counts[there]).astype(np.int64)
        weights = None if parts.weights is None else parts.weights[there]
        in_class = sizes.astype(np.float64) if weights is None else _sums(owner, weights)
        of_class = individual_risk(sizes, in_class)  # 1 by the size of the class without weights
        individual.append(
            None if weights is None else _weighted(columns, weights, sizes, in_class, of_class, threshold)
        )
        risks.append(np.full(len(classes), np.nan))
        risks[-1][there] = of_class[owner]
    found = parts.fold(partial(household_sums, risks=risks, threshold=threshold))
    homes = [None] * len(tables) if found is None else [HouseholdSums.of(each) for each in zip(*found, strict=True)]
    weighted = parts.weights is not None
    return [
        SurveyRisk(threshold, people, None if home is None else home.risk(columns["household"], weighted=weighted))
        for people, home in zip(individual, homes, strict=True)
    ]


def _weighted(
    columns: Mapping[str, str], weights: Floats, sizes: Counts, in_class: Floats, of_class: Floats, threshold: float
) -> WeightedRisk:
    """The figures of classes with so many records, whose weights sum to so much."""
    records, expected = int(sizes.sum()), math.fsum(sizes * of_class)
    above = int(sizes[of_class > threshold].sum())
    return WeightedRisk(
        column=columns["weight"],
        population=math.fsum(weights),
        highest=float(of_class.max()),
        average=expected / records,
        expected_reidentifications=expected,
        above_threshold=above / records,
        records_above_threshold=above,
        records_with_small_weights=int(sizes[in_class < sizes].sum()),
    )


class HouseholdSums(NamedTuple):
    """The figures of some households, which those of others are added to."""

    households: int = 0
    largest: int = 0
    highest: float = 0.0
    found: float = 0.0
    records: float = 0.0
    above: int = 0

    @staticmethod
    def of(several: Sequence[HouseholdSums]) -> HouseholdSums:
        """The figures of all of them together."""
        households, largest, highest, found, records, above = zip(*several, strict=True)
        return HouseholdSums(
            sum(households), max(largest), max(highest), math.fsum(found), math.fsum(records), sum(above)
        )

    def risk(self, column: str, *, weighted: bool) -> HouseholdRisk:
        """The figures of all households."""
        return HouseholdRisk(
            column=column,
            households=self.households,
            largest=self.largest,
            highest=self.highest,
            average=self.found / self.households,
            expected_households_found=self.found,
            expected_records_in_them=self.records,
            above_threshold=self.above / self.households,
            households_above_threshold=self.above,
            weighted=weighted,
        )


def household_sums(members: Members, *, risks: Sequence[Floats], threshold: float) -> list[HouseholdSums]:
    """The figures of whole households for the risk of each part, which is not a number where it is not released."""
    return [_sums_of(members, each[members.part], threshold) for each in risks]


def _sums_of(members: Members, risks: Floats, threshold: float) -> HouseholdSums:
    there = ~np.isnan(risks)
    if not there.any():
        return HouseholdSums()
    _, owner, sizes = np.unique(members.household[there], return_inverse=True, return_counts=True)
    found = any_found(owner, risks[there])
    return HouseholdSums(
        len(sizes),
        int(sizes.max()),
        float(found.max()),
        math.fsum(found),
        math.fsum(sizes * found),
        int(np.count_nonzero(found > threshold)),
    )


def any_found(households: NDArray[np.integer], risks: Floats) -> Floats:
    """For each household the risk that any member is found; a lone member keeps its own risk, digit by digit."""
    with np.errstate(divide="ignore"):
        missed = _sums(households, np.log1p(-risks))
    return np.where(np.bincount(households) == 1, _sums(households, risks), -np.expm1(missed))


def _sums(groups: NDArray[np.integer], values: Floats) -> Floats:
    """The sum of each group, added up in the order of the values: that of the records changes no digit."""
    order = np.lexsort((values, groups))
    return np.bincount(groups[order], weights=values[order]).astype(np.float64)


def individual_risk(sizes: Counts, weights: Floats) -> Floats:
    """The risk of the records of each class from its records and the sum of their weights."""
    f, p = sizes.astype(np.float64), np.minimum(sizes / weights, 1.0)
    series = (p > 1 / 2) | (sizes >= _LARGE)
    found = np.empty(len(f))
    found[series] = _by_series(f[series], p[series])
    found[~series] = _by_recurrence(sizes[~series], p[~series])
    return found


def _by_series(f: Floats, p: Floats) -> Floats:
    term = p / f
    total = term.copy()
    for m in range(_TERMS):
        term = term * (1 - p) * (m + 1) / (f + m + 1)
        total += term
    return total


def _by_recurrence(sizes: Counts, p: Floats) -> Floats:
    odds = p / (1 - p)
    found = -odds * np.log(p)
    for f in range(1, int(sizes.max(initial=1))):
        found = np.where(sizes > f, odds * (1 / f - found), found)
    return found
