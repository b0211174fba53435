"""The independent check of a release: it reads the file as it is and shares no code with what made it.

Only the policy as plain data is common ground (`shoal.verification.stated_policy`): `shoal.verify` reads the policy and
the original, and hands both over. Labels, classes, models and the matching to the original are worked out here a
second time from their definitions, so that a mistake in the encoding, a model, a search or the writing shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.verification.canonical_text import Codes
from shoal.verification.counted_rows import CountedRows
from shoal.verification.labels import Labels
from shoal.verification.model_checks import check_models
from shoal.verification.original_checks import check_boundaries, check_range_ends, check_suppression, check_truth
from shoal.verification.ranges import quasi_labels
from shoal.verification.read import Original, ReadRelease, read_original, read_release
from shoal.verification.release_checks import (
    check_baggage,
    check_columns,
    check_hash,
    check_labels,
    check_order,
    check_sensitive,
    expected_columns,
    star_rows,
)
from shoal.verification.result import Check, Verification
from shoal.verification.stated_policy import StatedPolicy, stated

__all__ = ["Check", "CountedRows", "StatedPolicy", "Verification", "stated", "verify"]


def verify(
    release: str | Path | pa.Table | CountedRows,
    policy: StatedPolicy,
    original: Original | None = None,
    *,
    apart: Sequence[str] = (),
    baggage: Sequence[str] = (),
) -> Verification:
    """Check a release against its policy and, where it is at hand, against the original.

    ``release`` is the path of a CSV or Parquet file or an Arrow table, which may come with ``baggage`` that it is known
    to have carried; ``original`` a function that gives the columns asked for. Either may be a `CountedRows`: distinct
    rows with how often each occurs. Files are read without holding all their rows. Raises `DataError` for a release or
    an original that cannot be read at all; everything else that is wrong is a failing check.

    Insensitive columns ``apart`` tell too many records apart to be held: of a file, only their place in the order of
    the rows is checked, and which rows have nothing there; whether records are true is judged by the others.
    """
    given = read_release(release, apart, baggage)
    checks = [check_columns(given, policy), check_baggage(given), check_order(given), *check_hash(given)]
    if checks[0].facts["missing"]:
        return Verification(tuple(checks), given.rows, None, None)  # what else it says would be about another table
    return _verify_cells(given, policy, original, checks)


def _verify_cells(given: ReadRelease, policy: StatedPolicy, original: Any, checks: list[Check]) -> Verification:
    """The checks that need every column to be there."""
    labels = quasi_labels(policy)
    cells = {name: given.columns[name] for name in expected_columns(policy) if name in given.columns}
    names = [name for name in cells if name in policy.columns]
    texts = None if original is None else read_original(original, names)
    starred = star_rows(cells, policy, labels, given.counts, given.blank)
    checks = [*checks, *_check_original(original)]
    found = _verify_split(given, policy, cells, labels, texts, checks, starred)
    if found.passed or not starred.any() or _too_blank(given, original):
        return found
    # a row of * with nothing else may be a released record of the most general class that has no other value
    other = _verify_split(given, policy, cells, labels, texts, checks, np.zeros_like(starred))
    return other if other.passed else found


def _check_original(original: Any) -> list[Check]:
    """The rows of a counted original stand for as many records as were read; nothing where nobody says how many."""
    if not isinstance(original, CountedRows) or original.read is None:
        return []
    counted = int(original.counts.sum())
    if counted == original.read:
        return []
    message = f"{original.read:,} records of the original were read, and {counted:,} were counted"
    return [Check("original", False, message, {"read": original.read, "counted": counted})]


def _too_blank(given: ReadRelease, original: Any) -> bool:
    """Whether more rows have nothing in the columns apart than records: then rows of ``*`` must be suppressed ones."""
    if given.blank is None or not isinstance(original, CountedRows) or original.blank is None:
        return False
    return int(given.counts[given.blank].sum()) > original.blank


def _verify_split(
    given: ReadRelease,
    policy: StatedPolicy,
    cells: dict[str, Any],
    labels: Mapping[str, Labels],
    texts: tuple[Mapping[str, Any], Codes] | None,
    before: list[Check],
    starred: Any,
) -> Verification:
    """The checks when certain rows are taken for suppressed records."""
    checks = list(before)
    stars, counts = int(given.counts[starred].sum()), given.counts
    if stars:
        proper, counts = pa.array(~starred), counts[~starred]
        cells = {name: column.filter(proper) for name, column in cells.items()}
    records = given.rows - stars
    if not records:
        checks.append(Check("records", False, "the release has no record", {"records": 0, "star_rows": stars}))
        return Verification(tuple(checks), 0, 0, stars if policy.suppressed == "star" else None)
    checks.append(check_labels(cells, labels, counts))
    checks += check_sensitive(cells, policy, counts)
    n_classes, outcomes = check_models(cells, policy, labels, counts)
    checks += outcomes
    total = records + stars if texts is None else int(texts[1].sum())
    if texts is not None:
        checks += check_truth(cells, texts[0], policy, labels, (counts, texts[1]))
        checks += check_range_ends(cells, texts[0], labels, counts)
    else:
        checks += check_boundaries(cells, policy, labels, counts)
    counted = texts is not None or policy.suppressed == "star"
    if counted:
        known = texts is not None
        checks.append(check_suppression(policy, total=total, records=records, stars=stars, known=known))
    return Verification(tuple(checks), records, n_classes, total - records if counted else None)
