"""The independent check of a release: it reads the file as it is and shares no code with what made it.

Only the policy as plain data is common ground (`shoal.verification.stated_policy`): `shoal.verify` reads the policy and
the original, and hands both over. Labels, classes, models and the matching to the original are worked out here a
second time from their definitions, so that a mistake in the encoding, a model, a search or the writing shows.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.verification import release_checks
from shoal.verification.assignment import Claim, check_claim, count_people, uncounted_people
from shoal.verification.canonical_text import Codes
from shoal.verification.classes import Assignment
from shoal.verification.counted_rows import CountedRows
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.labels import Labels
from shoal.verification.model_conditions import check_models
from shoal.verification.original_checks import check_boundaries, check_range_ends, check_suppression, check_truth
from shoal.verification.pseudonyms import check_pseudonyms, with_pseudonyms
from shoal.verification.read import Original, ReadRelease, read_original, read_release
from shoal.verification.relative_dates import in_days, read_for_days
from shoal.verification.result import Check, Verification
from shoal.verification.spellings import check_spellings
from shoal.verification.star_readings import Stars, first_reading_that_holds
from shoal.verification.stated_policy import StatedPolicy, stated
from shoal.verification.tables import read_original_tables, read_released_tables

__all__ = ["Check", "Claim", "CountedRows", "StatedPolicy", "Verification", "stated", "verify"]


def verify(
    release: str | Path | pa.Table | CountedRows | ReadRelease | Mapping[str, Path],
    policy: StatedPolicy,
    original: Original | Mapping[str, Original] | None = None,
    *,
    apart: Sequence[str] = (),
    baggage: Sequence[str] = (),
    claim: Claim | None = None,
    key: bytes | None = None,
    suppressed: int | None = None,
) -> Verification:
    """Check a release against its policy and, where it is at hand, against the original.

    ``release`` is the path of a CSV or Parquet file, or of a folder of such files that Spark wrote, or an Arrow table,
    which may come with ``baggage`` that it is known to have carried, or what was read of it before; ``original`` a
    function that gives the columns asked for. Either may be a `CountedRows`: distinct rows with how often each occurs.
    Files are read without holding all their rows. Where the policy has several tables, both are mappings from their
    names. Raises `DataError` for a release or an original that cannot be read at all; everything else that is wrong is
    a failing check.

    Insensitive columns ``apart`` tell too many records apart to be held: of a file, only their position in the order
    of the rows is checked, and which rows have nothing there; whether records are true is judged by the others.

    Where the policy says who a record is about, models are judged in people. That takes the original, and either a
    ``claim`` of the run that made the release, which is checked, or a release that leaves open nobody's class. Released
    pseudonyms tell it without either; with their ``key`` they are compared with the original.

    Rows of ``*`` with nothing else may be suppressed records, released ones of the most general class, or some of each
    (`shoal.verification.star_readings`). The release holds if it holds under one of these readings. ``suppressed`` is
    how many are suppressed according to the run that made the release or to its evidence: that reading is tried first.
    """
    if isinstance(release, Mapping):
        given, checks = read_released_tables(release, policy)
    else:
        given = read_release(release, apart, baggage)
        checks = [
            release_checks.check_columns(given, policy),
            release_checks.check_baggage(given),
            release_checks.check_order(given),
            *release_checks.check_hash(given),
        ]
    if any(each.facts.get("missing") for each in checks):
        return Verification(tuple(checks), given.rows, None, None)  # what else it says would be about another table
    cells = {name: given.columns[name] for name in release_checks.expected_columns(policy) if name in given.columns}
    names = [name for name in cells if name in policy.columns]
    wanted = list(dict.fromkeys([*names, *policy.person, *read_for_days(policy)]))
    if isinstance(original, Mapping):
        texts: tuple[dict[str, Any], Codes] | None = read_original_tables(original, policy, wanted)
    else:
        texts = None if original is None else read_original(original, wanted)
    read, blank = (original.read, original.blank) if isinstance(original, CountedRows) else (None, None)
    if texts is not None and read is not None and read != (counted := int(texts[1].sum())):
        message = f"{read:,} records of the original were read, and {counted:,} were counted"
        checks.append(Check("original", False, message, {"read": read, "counted": counted}))
    if texts is not None:
        days = in_days(texts[0], policy)
        texts = {name: days[name] for name in [*names, *policy.person] if name in days}, texts[1]
    labels = quasi_labels(policy)
    stars = Stars.of(cells, policy, labels, given.counts, given.blank, blank)
    people = None
    if policy.person and texts is not None and claim is not None and policy.pseudonym is None:
        people = check_claim(claim, (cells, given.counts), stars.rows, texts, policy, labels)

    def read_with(suppressed: int) -> Verification:
        left = stars.left(given.counts, suppressed)
        return _verify_cells(given, policy, cells, labels, texts, checks, left, people, key=key)

    return first_reading_that_holds(stars, policy, read_with, suppressed)


def _verify_cells(
    release: ReadRelease,
    policy: StatedPolicy,
    cells: dict[str, Any],
    labels: Mapping[str, Labels],
    texts: tuple[Mapping[str, Any], Codes] | None,
    before: Sequence[Check],
    counts: Codes,
    people: tuple[Assignment | None, Check] | None,
    *,
    key: bytes | None,
) -> Verification:
    """The checks that need every column to be there; ``counts`` are those of rows that stand for released records.

    ``people`` is what a claim was found to be worth.
    """
    checks, records = list(before), int(counts.sum())
    stars, shown = release.rows - records, counts > 0
    if not shown.all():
        counts = counts[shown]
        cells = {name: column.filter(pa.array(shown)) for name, column in cells.items()}
    if not records:
        checks.append(Check("records", False, "the release has no record", {"records": 0, "star_rows": stars}))
        return Verification(tuple(checks), 0, 0, stars if policy.suppressed == "star" else None)
    checks.append(release_checks.check_labels(cells, labels, counts))
    checks += release_checks.check_sensitive(cells, policy, counts)
    checks += check_spellings(cells, policy, counts)
    proven = people is not None and people[0] is not None
    if policy.pseudonym is not None:
        checks.append(check_pseudonyms(cells, counts, policy, texts, key=key))
    elif policy.person:
        if people is None:
            people = (None, uncounted_people(policy))
            people = people if texts is None else count_people((cells, counts), texts, policy, labels)
        checks.append(people[1])
    n_classes, outcomes = check_models(cells, policy, counts, None if people is None else people[0])
    checks += outcomes
    total = records + stars if texts is None else int(texts[1].sum())
    if texts is not None:
        given = with_pseudonyms(texts[0], policy, key)
        compared = {name: column for name, column in given.items() if name not in policy.person or name in cells}
        checks += check_truth(cells, compared, policy, labels, (counts, texts[1]), proven=proven)
        checks += check_range_ends(cells, texts[0], labels, counts)
    else:
        checks += check_boundaries(cells, policy, labels, counts)
    counted = texts is not None or policy.suppressed == "star"
    if counted:
        known = texts is not None
        checks.append(check_suppression(policy, total=total, records=records, stars=stars, known=known))
    return Verification(tuple(checks), records, n_classes, total - records if counted else None)
