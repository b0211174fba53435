"""Counting people, of whom some have several records: written a second time, from the definitions.

Somebody is in every class that has a record of theirs, once. A value occurs as often as different people have it. In a
distribution everybody weighs the same, divided equally over the different values they have: `UNITS` is a multiple of
every number up to 16, so up to 16 values this is exact. Beyond that, what division leaves over goes to the first of
their values, one unit each.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, distinct_codes

UNITS: Final = 720_720
_LARGEST: Final = 2**62
_AT_A_TIME = 1_000_000


def distinct_people(group: Codes, person: Codes, n_groups: int) -> Codes:
    """Different people in each group of rows."""
    width = int(person.max(initial=0)) + 1
    return np.bincount(distinct_codes(group * width + person) // width, minlength=n_groups)


def people_with_values(group: Codes, person: Codes, value: NDArray[Any]) -> tuple[Codes, Codes, Codes, Codes]:
    """For each value of each group, in ascending order: the group, the value, who has it, and what they weigh."""
    people, width = int(person.max(initial=0)) + 1, int(value.max(initial=0)) + 1
    keys, listed = group * people + person, None  # somebody in a group
    if int(keys.max(initial=0)) >= _LARGEST // width:
        listed, keys = np.unique(keys, return_inverse=True)
    keys *= width
    keys += value
    keys = distinct_codes(keys)
    parts = []
    for some in _by_person(keys, width):
        first = np.flatnonzero(np.diff(some // width, prepend=-1))
        has = np.diff(first, append=len(some))  # different values of each person in each group
        share, left_over = np.divmod(UNITS, np.repeat(has, has))
        weight = share + (np.arange(len(some)) - np.repeat(first, has) < left_over)
        pair = some // width if listed is None else listed[some // width]
        parts.append(_summed(pair // people * width + some % width, np.ones_like(weight), weight))
    entries, having, weights = _summed(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    return entries // width, entries % width, having, weights


def _by_person(keys: Codes, width: int) -> Iterator[Codes]:
    """Sorted keys ``person x width + value``, some at a time, never with a person divided; bounds the memory."""
    start = 0
    while start < len(keys) or not start:
        last = keys[min(start + _AT_A_TIME, len(keys)) - 1] if len(keys) else 0
        end = int(np.searchsorted(keys, (last // width + 1) * width))
        yield keys[start:end]
        start = max(end, 1)


def _summed(keys: Codes, having: Codes, weights: Codes) -> tuple[Codes, Codes, Codes]:
    distinct, index = np.unique(keys, return_inverse=True)
    people, weight = (np.bincount(index, weights=each, minlength=len(distinct)) for each in (having, weights))
    return distinct, people.astype(np.int64), weight.astype(np.int64)
