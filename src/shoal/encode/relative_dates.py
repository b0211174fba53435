"""Dates as days since another date: the first one that the person has in the column, or that in another column.

Intervals stay as they are, and no date of the calendar is told. The column holds whole numbers of days from the moment
the table is read: hierarchies, models and the verifier treat it as numbers. A date with a time counts as its day; where
one of the two dates is missing, so is the number.
"""

from __future__ import annotations

import datetime
import re

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.spellings import merge_rows, merge_table
from shoal.errors import PolicyError, PolicyProblem
from shoal.hierarchies.problems import values_problem
from shoal.policy import Policy
from shoal.policy.released_forms import FIRST
from shoal.table.distinct_rows import DistinctColumn, DistinctRows
from shoal.table.people import person_codes

_DATE = re.compile(r"(\d{4}-\d\d-\d\d)([ T]\d\d.*)?", re.ASCII | re.DOTALL)
_MISSING = np.iinfo(np.int64).min


def rows_as_read(rows: DistinctRows, policy: Policy) -> DistinctRows:
    """The rows as a policy reads them: dates in days where it says so, and spellings replaced by their value."""
    return merge_rows(_relative(rows, policy), policy.columns)


def table_as_read(table: pa.Table, rows: DistinctRows, policy: Policy) -> pa.Table:
    """The same of a table with a row per record, of which these are the rows as read."""
    for name in policy.relative_columns:
        assert rows.of_record is not None, "the records are held"
        place, days = table.column_names.index(name), rows.columns[name].of_type(rows.of_record)
        table = table.set_column(place, name, days)
    return merge_table(table, policy.columns)


def _relative(rows: DistinctRows, policy: Policy) -> DistinctRows:
    """The rows with their relative dates in days; columns that were read for these alone are left out."""
    names = [name for name in policy.relative_columns if name in rows.columns]
    if not names:
        return rows
    bases = {name: policy.relative_columns[name] for name in names}
    read = {name: rows.columns[name] for name in {*names, *bases.values()} if name in rows.columns}
    problems = [problem for name in sorted(read) if (problem := _not_dates(name, read[name], rows)) is not None]
    if problems:
        raise PolicyError(problems, policy.source)
    days = {name: _days(column)[column.codes] for name, column in read.items()}
    person = person_codes(rows, policy.person_columns)
    columns = dict(rows.columns)
    for name, base in bases.items():
        if base == FIRST:
            assert person is not None, "the first date is a person's"
            since = _first_days(days[name], person)
        elif base in days:
            since = days[base]
        else:  # the data lacks the column, which is said with every other problem
            continue
        known = (days[name] != _MISSING) & (since != _MISSING)
        apart = pa.array(days[name] - np.where(known, since, 0), pa.int64(), mask=~known)
        columns[name] = DistinctColumn.of(apart)
    identifiers = set(policy.names("identifier")) - set(policy.person_columns)
    return rows.with_columns({name: column for name, column in columns.items() if name not in identifiers})


def _first_days(days: NDArray[np.int64], person: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each row the first day that its person has."""
    last = np.iinfo(np.int64).max
    first = np.full(int(person.max(initial=-1)) + 1, last, dtype=np.int64)
    known = days != _MISSING
    np.minimum.at(first, person[known], days[known])
    return np.where(first == last, _MISSING, first)[person]


def _days(column: DistinctColumn) -> NDArray[np.int64]:
    """The day of each label, counted from the year 1."""
    found = [_MISSING if label is None else _day(label) for label in column.labels]
    return np.array(found, dtype=np.int64)


def _day(text: str) -> int | None:
    """The day of a date, with or without a time, in ISO 8601; None for everything else."""
    match = _DATE.fullmatch(text)
    try:
        if match is None:
            return None
        datetime.datetime.fromisoformat(text)
        return datetime.date.fromisoformat(match[1]).toordinal()
    except ValueError:
        return None


def _not_dates(name: str, column: DistinctColumn, rows: DistinctRows) -> PolicyProblem | None:
    """Values of a column that are no dates."""
    counts = np.bincount(column.codes, weights=rows.counts, minlength=len(column.labels)).astype(np.int64)
    labelled = zip(column.labels, counts.tolist(), strict=True)
    wrong = [(label, count) for label, count in labelled if label is not None and _day(label) is None]
    if not wrong:
        return None
    what = "of the data are not ISO dates such as 2020-03-01, which relative dates need"
    fix = "Write the dates as year-month-day, or correct the data."
    return values_problem(f"columns.{name}", what, wrong, code="values-not-dates", fix=fix)
