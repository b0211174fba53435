"""Which values a released label stands for, when all that is left of its policy is a fingerprint.

Intervals, ranges, masked codes and dates tell it themselves. Labels of a tree, of a table of levels or of an order
need their declaration: it is that of the new policy, if that is still the same or at least knows all the labels.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from shoal.attacks.fits import Cover
from shoal.attacks.registry.fingerprint import hierarchy_fingerprint, hierarchy_kind
from shoal.attacks.registry.signature import ReleasedQuasi
from shoal.formatting import listing
from shoal.hierarchies.hierarchy import ROOT_LABEL, Label
from shoal.hierarchies.kinds import HIERARCHY_KINDS
from shoal.hierarchies.labels import read_number, read_number_or_interval, read_range
from shoal.hierarchies.mask import MASK
from shoal.hierarchies.problems import quoted
from shoal.policy import Policy
from shoal.verification.dates import DateLabels
from shoal.verification.labels import labels_of
from shoal.verification.stated_policy import stated

_LISTED = frozenset(kind.key for kind in HIERARCHY_KINDS.values() if kind.listed)
"""Kinds whose labels mean what the policy lists."""
_UNITS = ("hour", "day", "week", "month", "quarter", "half", "year", "decade", "century")
_SHOWN = 5


class UnreadableError(Exception):
    """Labels of an earlier release whose meaning is lost; the message says which and why."""


def labels_cover(released: ReleasedQuasi, values: Sequence[Label], policy: Policy) -> Cover:
    """For each of some values the released labels that can stand for it; `UnreadableError` where that is not known.

    ``values`` are texts as the new policy's hierarchy writes them.
    """
    place = {label: number for number, label in enumerate(released.labels)}
    chains = _chains(released, values, policy)
    pairs = {(value, place[label]) for value, chain in enumerate(chains) for label in chain if label in place} | set(
        _numbers(released, values)
    )
    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return Cover.of((ends[:, 0], ends[:, 1]), len(values))


def reads_as_now(released: ReleasedQuasi, policy: Policy) -> bool:
    """Whether labels are read by a declaration that is not the one they were released by."""
    return released.kind in _LISTED and hierarchy_fingerprint(policy, released.name) != released.fingerprint


def _chains(released: ReleasedQuasi, values: Sequence[Label], policy: Policy) -> Iterator[tuple[Label, ...]]:
    """For each value the labels that it may have become, apart from numbers in intervals and ranges."""
    if released.kind in _LISTED:
        yield from _declared(released, values, policy)
        return
    dates = DateLabels(_UNITS, None)
    for value in values:
        if value is None:
            yield (None, ROOT_LABEL)
        elif released.kind == "mask":
            yield (value, *_masks(value), ROOT_LABEL)
        elif released.kind == "dates":
            yield (value, *dates.chains([_whole_date(value)])[0], ROOT_LABEL)
        else:
            yield (value, ROOT_LABEL)


def _declared(released: ReleasedQuasi, values: Sequence[Label], policy: Policy) -> list[tuple[Label, ...]]:
    """By the new policy's declaration."""
    name = released.name
    if name not in policy.names("quasi") or hierarchy_kind(policy, name) not in _LISTED:
        raise UnreadableError(f"the policy no longer declares the {released.kind} of {name}")
    kind = labels_of(stated(policy), name)
    unknown = [
        quoted(label)
        for label in released.labels
        if label is not None and not kind.knows(label) and not (released.ranged and read_range(label))
    ]
    if unknown:
        raise UnreadableError(f"the {released.kind} of {name} no longer has {listing(unknown, most=_SHOWN)}")
    return kind.chains(values)


def _masks(value: str) -> Iterator[str]:
    """A code masked from either side; a code of one character is never masked."""
    length = len(value)
    if length > 1:
        for kept in range(length):
            yield value[:kept] + MASK * (length - kept)
            yield MASK * (length - kept) + value[length - kept :]


def _whole_date(value: str) -> str:
    """The first day of a month or year that stands for a value."""
    return value + {4: "-01-01", 7: "-01"}.get(len(value), "")


def _numbers(released: ReleasedQuasi, values: Sequence[Label]) -> Iterator[tuple[int, int]]:
    """Pairs of a value and the place of an interval or range that it lies in."""
    if released.kind != "intervals" and not released.ranged:
        return
    read = [(None if value is None else read_number(value), place) for place, value in enumerate(values)]
    order = sorted((number, place) for number, place in read if number is not None)
    numbers = [number for number, _ in order]
    for label, text in enumerate(released.labels):
        ends = read_range(text) if released.ranged else None
        if ends is None and released.kind == "intervals":
            ends = read_number_or_interval(text)
        if ends is None:
            continue
        low, high, closed = ends
        start = bisect_left(numbers, low)
        stop = bisect_right(numbers, high) if closed else bisect_left(numbers, high)
        yield from ((place, label) for _, place in order[start:stop])
