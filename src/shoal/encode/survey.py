"""The household and the sampling weight of each record, which the risk of a survey is measured with.

A weight is how many people of the population a record stands for. Designs give 1 or more, but weights that were
adjusted to known totals may be a little less, so every number above 0 is accepted, up to 10^11. Weights that sum to
less than the records are normalized ones, which say nothing of the population: they are refused.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.result import Result
from shoal.errors import DataError, PolicyError, PolicyProblem
from shoal.formatting import listing, number, pluralize
from shoal.hierarchies.problems import quoted
from shoal.policy import Policy
from shoal.table.canonical_text import encode
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import Codes

Floats = NDArray[np.float64]
_T = TypeVar("_T")
_LISTED = 3
_MOST = 1e11  # that many people have hardly ever lived
_UNITS = 2.0**36  # fractions of weights are counted in these
_ROUNDING = 1e-9  # by so much of the records a sum of weights may fall short


def survey_columns(policy: Policy) -> dict[str, str]:
    """The columns that a policy names, by key: ``household`` and ``weight``."""
    named = {"household": policy.household, "weight": policy.weight}
    return {key: column for key, column in named.items() if column is not None}


class Members(NamedTuple):
    """Records of whole households: nobody of a household is in other ones."""

    household: NDArray[np.integer]  # a number for each household
    part: NDArray[np.integer]  # what each record is part of


class SurveyParts(Protocol):
    """The weights and households of records that were put into parts."""

    @property
    def weights(self) -> Floats | None:
        """The sum of the weights of each part; None where the policy names none."""

    def fold(self, function: Callable[[Members], _T]) -> list[_T] | None:
        """What a function says of the members, some whole households at a time; None where there are no households."""


class Survey(ABC):
    """The households and weights of the records that were read, wherever these are."""

    columns: Mapping[str, str]  # the columns by key, as `survey_columns` gives them

    @abstractmethod
    def check(self) -> None:
        """Raise `PolicyError` with every problem of their values."""

    @abstractmethod
    def parts(self, result: Result) -> AbstractContextManager[SurveyParts]:
        """The records by the row of a result that each is part of.

        Where the records of one distinct row go to several classes, which goes where is settled by weight and
        household: the order of the data has no say in it.
        """


class Weights(NamedTuple):
    """The weights of records as whole numbers, whose sums are the same in whatever order they are added up."""

    whole: NDArray[np.int64]
    fraction: NDArray[np.int64]  # in units of 2^-36

    @staticmethod
    def of(column: pa.Array | pa.ChunkedArray) -> Weights:
        """The weights of a column without problems."""
        labels, codes = encode(column)
        values = np.array([_number(label) for label in labels], dtype=np.float64)
        whole = np.floor(values)
        fraction = np.rint((values - whole) * _UNITS)
        return Weights(whole.astype(np.int64)[codes], fraction.astype(np.int64)[codes])

    @staticmethod
    def none(count: int) -> Weights:
        """So many zeros, to add to."""
        return Weights(np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64))

    def add(self, groups: NDArray[np.integer], other: Weights) -> None:
        """Add each of other weights to the one of its group."""
        np.add.at(self.whole, groups, other.whole)
        np.add.at(self.fraction, groups, other.fraction)

    def numbers(self) -> Floats:
        """As plain numbers."""
        return self.whole + self.fraction / _UNITS

    def sums(self, groups: NDArray[np.integer], count: int) -> Floats:
        """The sum of each of so many groups."""
        found = Weights.none(count)
        found.add(groups, self)
        return found.numbers()


@dataclass(frozen=True, eq=False)
class SurveyDesign:
    """The household and the weight of each record, in the order of the data."""

    columns: Mapping[str, str]
    households: Codes | None
    weights: Weights | None

    @staticmethod
    def of(table: pa.Table, columns: Mapping[str, str], source: str = "the policy") -> SurveyDesign:
        """The columns of a table, one or both; `PolicyError` with every problem of their values."""
        check = SurveyCheck(columns)
        check.add(table)
        check.raise_problems(source)
        households = weights = None
        if "household" in columns:
            households = encode(table.column(columns["household"]))[1]
        if "weight" in columns:
            weights = Weights.of(table.column(columns["weight"]))
        return SurveyDesign(columns, households, weights)

    def in_parts(self, part: NDArray[np.integer], count: int) -> HeldParts:
        """The records by the part that each is in, of so many."""
        return HeldParts(self.households, part, None if self.weights is None else self.weights.sums(part, count))


@dataclass(frozen=True, eq=False)
class HeldParts:
    """Records in memory."""

    households: Codes | None
    part: NDArray[np.integer]
    weights: Floats | None

    def fold(self, function: Callable[[Members], _T]) -> list[_T] | None:
        """All households at once."""
        return None if self.households is None else [function(Members(self.households, self.part))]


@dataclass(frozen=True, eq=False)
class HeldSurvey(Survey):
    """A survey in memory."""

    table: pa.Table
    columns: Mapping[str, str]
    rows: DistinctRows  # the distinct rows as they were read
    source: str  # of the policy

    @cached_property
    def _design(self) -> SurveyDesign:
        return SurveyDesign.of(self.table, self.columns, self.source)

    def check(self) -> None:
        """Raise `PolicyError` with every problem of their values."""
        assert self._design

    @contextmanager
    def parts(self, result: Result) -> Iterator[SurveyParts]:
        """The records by the row of a result that each is part of."""
        of_record, parts, design = self.rows.of_record, result.rows.of_record, self._design
        assert of_record is not None, "the records are held"
        assert parts is not None, "the records are held"
        keys = [each for each in (design.households, *reversed(design.weights or ())) if each is not None]
        part = np.empty_like(parts)
        part[np.lexsort((*keys, of_record))] = parts[np.lexsort((parts, of_record))]
        yield design.in_parts(part, result.rows.n_rows)


@dataclass(eq=False)
class SurveyCheck:
    """What is wrong with the households and weights that it is given, table by table."""

    columns: Mapping[str, str]
    unreadable: dict[str, str] = field(default_factory=dict)  # by key, where the type of a column has no text
    missing: Counter[str] = field(default_factory=Counter)  # by key, records without a value
    records: int = 0
    total: float = 0.0  # the sum of the weights
    bad: list[str] = field(default_factory=list)  # what is no weight: the first ones by code point
    bad_records: int = 0

    def add(self, table: pa.Table | pa.RecordBatch) -> None:
        """Look at some records."""
        self.records += table.num_rows
        for key, name in self.columns.items():
            try:
                labels, codes = encode(table.column(name))
            except DataError as error:
                self.unreadable[key] = str(error)
                continue
            counts = np.bincount(codes, minlength=len(labels))
            self.missing[key] += int(counts[[label is None for label in labels]].sum())
            if key == "weight":
                values = np.array([_number(label) for label in labels])
                good = (values > 0) & (values <= _MOST)
                self.total += math.fsum((values * counts)[good])
                self.bad_records += int(counts[~good].sum())
                bad = {label for label, is_good in zip(labels, good, strict=True) if label is not None and not is_good}
                self.bad = sorted({*self.bad, *bad})[:_LISTED]

    def add_check(self, other: SurveyCheck) -> None:
        """Take over what another check found in other records."""
        self.unreadable |= other.unreadable
        self.missing += other.missing
        self.records, self.total = self.records + other.records, self.total + other.total
        self.bad, self.bad_records = sorted({*self.bad, *other.bad})[:_LISTED], self.bad_records + other.bad_records

    def raise_problems(self, source: str) -> None:
        """Raise `PolicyError` with every problem."""
        problems = [PolicyProblem(key, text, code="unreadable-type") for key, text in self.unreadable.items()]
        problems += [_missing(key, self.columns[key], self.missing[key]) for key in self.columns if self.missing[key]]
        if "weight" in self.columns and not any(problem.where == "weight" for problem in problems):
            problems += self._wrong_weights(self.columns["weight"])
        if problems:
            raise PolicyError(problems, source)

    def _wrong_weights(self, name: str) -> list[PolicyProblem]:
        """What is wrong with weights: no numbers above 0, or a sum that is no population."""
        if self.bad_records:
            shown = listing([quoted(each) for each in self.bad])
            others = f"{pluralize(self.bad_records, 'record has', 'records have')} other values: {shown}"
            message = f"{name!r} must have numbers above 0 and at most 10^11, but {others}."
            fix = "A weight is the number of people in the population that the record represents."
            return [PolicyProblem("weight", message, fix, {"records": self.bad_records}, code="bad-weight")]
        if self.total < self.records * (1 - _ROUNDING):
            few = f"{number(self.total)}, which is less than the {pluralize(self.records, 'record')}"
            fix = "They may be normalized: multiply them so that they sum to the population."
            facts = {"sum": self.total}
            return [
                PolicyProblem(
                    "weight", f"the weights of {name!r} sum to {few}.", fix, facts, code="weights-below-records"
                )
            ]
        return []


def _number(label: str | None) -> float:
    """A cell as a number; not a number where it is none."""
    try:
        return float(label) if label is not None and "_" not in label else np.nan
    except ValueError:
        return np.nan


def _missing(key: str, name: str, records: int) -> PolicyProblem:
    """The problem of records that have no value."""
    message = f"{pluralize(records, 'record has', 'records have')} no value in {name!r}."
    fix = {
        "household": "Give people who live alone a household of their own.",
        "weight": "Fill in the weights: they cannot be guessed.",
    }[key]
    return PolicyProblem(key, message, fix, {"records": records}, code=f"missing-{key}")
