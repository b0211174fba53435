"""How many rows of ``*`` stand for suppressed records, where the policy keeps these as rows.

Such a row has ``*`` in all quasi-identifiers and nothing in any other column. A released record looks the same if it is
generalized to the roots and every other cell of it is missing, or if there is no other column. So a release with s
such rows has s + 1 readings: none to all of them suppressed. It holds if it holds under one of them, because then it
is a release that a run may make, and nobody could tell it from one.

Most of the readings need not be tried. If the original is known, at least as many rows are suppressed as have no
original of their own when all are taken for records: what a matching leaves over can be any of these rows, since they
are alike and the other rows can be matched first. And of the readings that leave a record of the most general class,
the one that suppresses least is best for every model, unless a missing secret counts as a value.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow.compute as pc

from shoal.verification.canonical_text import ROOT, Codes, Mask
from shoal.verification.labels import Labels
from shoal.verification.release_checks import above_boundary
from shoal.verification.result import Verification
from shoal.verification.stated_policy import StatedPolicy


@dataclass(frozen=True, eq=False)
class Stars:
    """The rows of ``*`` with nothing else, and how they are read if nothing but the release is known."""

    rows: Mask
    total: int  # how many there are, by the counts of the rows
    usual: int  # how many are suppressed in the reading that is tried first
    reported: int = 0  # how many are suppressed in the reading that is reported where none holds
    least: int = 0  # how many are suppressed in any reading, by what is known of columns that are not compared

    @staticmethod
    def of(
        columns: Mapping[str, Any],
        policy: StatedPolicy,
        labels: Mapping[str, Labels],
        counts: Codes,
        blank: Mask | None = None,
        original_blank: int | None = None,
    ) -> "Stars":
        """Those of a release of which each row stands for so many.

        ``blank`` says which rows have nothing in any column that is not among these, and ``original_blank`` of how many
        records of the original that is true.
        """
        rows = rows_of_stars(columns, policy, blank)
        if policy.suppressed != "star":
            return Stars(np.zeros_like(rows), 0, 0)
        total = int(counts[rows].sum())
        least = 0
        if blank is not None and original_blank is not None:
            least = min(max(int(counts[blank].sum()) - original_blank, 0), total)
        usual = max(_usual(columns, policy, labels, counts, total, blank), least)
        alone = blank is None and set(columns) == set(policy.names("quasi"))
        return Stars(rows, total, usual, usual if alone else total, least)

    def left(self, counts: Codes, suppressed: int) -> Codes:
        """The counts of the rows without so many suppressed records."""
        left = counts.copy()
        at = np.flatnonzero(self.rows)
        before = np.concatenate([[0], np.cumsum(left[at])[:-1]]) if len(at) else np.zeros(0, dtype=np.int64)
        left[at] -= np.clip(suppressed - before, 0, left[at])
        return left


def rows_of_stars(columns: Mapping[str, Any], policy: StatedPolicy, blank: Mask | None = None) -> Mask:
    """Which rows have ``*`` in all quasi-identifiers and nothing in any other column."""
    quasi = policy.names("quasi")
    stars = [pc.fill_null(pc.equal(columns[name], ROOT), fill_value=False) for name in quasi]
    others = [pc.is_null(column) for name, column in columns.items() if name not in quasi]
    others += [] if blank is None else [blank]
    masks = [np.asarray(each, dtype=np.bool_) for each in (*stars, *others)]
    return np.asarray(np.logical_and.reduce(masks), dtype=np.bool_)


def _usual(
    columns: Mapping[str, Any],
    policy: StatedPolicy,
    labels: Mapping[str, Labels],
    counts: Codes,
    total: int,
    blank: Mask | None,
) -> int:
    """All, unless there is no other column and the rows can be a class, or more are there than may be suppressed."""
    if not total or any(above_boundary(policy, name, kind, [ROOT]) for name, kind in labels.items()):
        return total
    if blank is None and set(columns) == set(policy.names("quasi")):
        largest = max((model.get("k", 1) for model in policy.privacy), default=1)
        return 0 if total >= largest else total
    allowed = math.floor(Fraction(repr(policy.suppression)) * int(counts.sum()))
    return total if total <= allowed else 0


def first_reading_that_holds(
    stars: Stars, policy: StatedPolicy, verify: Callable[[int], Verification], suppressed: int | None
) -> Verification:
    """The verification under the first reading that holds; where none does, under the one that was stated, or all."""
    tried: dict[int, Verification] = {}
    for reading in _readings(stars, policy, verify, suppressed, tried):
        if reading not in tried:
            tried[reading] = verify(reading)
        if tried[reading].passed:
            return tried[reading]
    stated = suppressed if suppressed in tried else stars.reported
    assert stated is not None, "all readings were tried"
    return tried[stated]


def _readings(
    stars: Stars,
    policy: StatedPolicy,
    verify: Callable[[int], Verification],
    suppressed: int | None,
    tried: dict[int, Verification],
) -> Iterator[int]:
    """The numbers of suppressed rows that may turn out to hold, the likeliest first."""
    if suppressed is not None and stars.least <= suppressed <= stars.total:
        yield suppressed
    yield stars.usual
    if not stars.total or stars.least == stars.total:
        return
    none = stars.least
    if none not in tried:
        tried[none] = verify(none)
    yield none
    fewest = min(none + _without_original(tried[none]), stars.total)
    yield fewest
    yield stars.total
    if any(None not in policy.columns[name].unknown for name in policy.names("sensitive")):
        yield from range(fewest + 1, stars.total)


def _without_original(verification: Verification) -> int:
    """Records that cannot be matched to an original of their own without breaking a boundary."""
    counted = (("truthfulness", "without_original"), ("boundaries", "violations"))
    facts = {check.name: check.facts for check in verification.checks}
    return sum(int(facts.get(name, {}).get(key, 0)) for name, key in counted)
