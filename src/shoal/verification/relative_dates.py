"""Dates that are released as days since another date, worked out from the original a second time."""

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, Label, code, packed
from shoal.verification.stated_policy import StatedPolicy

_CALENDAR_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ].*)?", re.DOTALL)


def read_for_days(policy: StatedPolicy) -> list[str]:
    """The columns that days are counted from, and who has a first one."""
    since = [column.relative for column in policy.columns.values() if column.relative is not None]
    return [*(name for name in since if name != "first"), *(policy.person if "first" in since else ())]


def in_days(columns: Mapping[str, Any], policy: StatedPolicy) -> dict[str, Any]:
    """The columns of an original with days in the place of relative dates; what is no date has none."""
    found = dict(columns)
    for name, column in policy.columns.items():
        if column.relative is None or name not in columns:
            continue
        days = _day_numbers(columns[name])
        if column.relative == "first":
            since = _first_of_each(days, _people(columns, policy.person))
        else:
            since = _day_numbers(columns[column.relative])
        apart, row = np.unique(days - since, return_inverse=True)
        texts = [None if np.isnan(each) else str(int(each)) for each in apart.tolist()]
        found[name] = pa.array(texts, pa.string()).take(pa.array(row))
    return found


def _day_numbers(column: Any) -> NDArray[np.float64]:
    """The day of each row, not a number where there is none."""
    coded = code(column)
    return np.array([_day_number(value) for value in coded.values], dtype=np.float64)[coded.codes]


def _day_number(text: Label) -> float:
    match = _CALENDAR_DAY.fullmatch(text or "")
    if match is None:
        return np.nan
    try:
        return float((datetime.date(*map(int, match.groups())) - datetime.date(1, 1, 1)).days)
    except ValueError:
        return np.nan


def _people(columns: Mapping[str, Any], names: Sequence[str]) -> Codes:
    """A number for the person of each row."""
    coded = [code(columns[name]) for name in names]
    keys = packed([each.codes for each in coded], [len(each.values) for each in coded], len(coded[0].codes))
    return np.unique(keys, return_inverse=True)[1]


def _first_of_each(days: NDArray[np.float64], person: Codes) -> NDArray[np.float64]:
    """For each row the smallest day that any row of the same person has."""
    order = np.lexsort((days, person))  # days that are not there come last
    people, first = np.unique(person[order], return_index=True)
    smallest = np.full(int(people.max(initial=0)) + 1, np.nan)
    smallest[people] = days[order][first]
    return smallest[person]
