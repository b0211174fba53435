"""The verifier on known events: a release that leaves too few people fails, whoever made it."""

from __future__ import annotations

from typing import Any

import pytest

import shoal
from support.attack_cases import policy_of, table_of

NAMES = ("patient", "month", "illness")
VISITS = [
    *[("ann", "1", "flu"), ("ann", "2", "flu"), ("ann", "3", "flu")],
    *[("bob", "1", "HIV"), ("bob", "3", "flu")],
    *[("cid", "2", "flu"), ("cid", "4", "flu")],
    *[("dee", "4", "HIV")],
]


def policy_for(events: int, k: int = 3) -> shoal.Policy:
    columns: dict[str, Any] = {
        "patient": {"role": "identifier"},
        "month": {"role": "quasi", "hierarchy": {"tree": {"spring": ["1", "2"], "summer": ["3", "4"]}}},
        "illness": {"role": "sensitive"},
    }
    person = {"column": "patient", "events": events}
    return policy_of(columns, person=person, privacy=[{"model": "k-anonymity", "k": k}])


@pytest.mark.parametrize(("events", "k", "fewest"), [(2, 1, 1), (2, 3, 1), (3, 2, 1)])
def test_what_the_release_leaves_is_counted_from_the_original(events: int, k: int, fewest: int) -> None:
    """In seasons Ann alone has two visits in spring."""
    table = table_of(NAMES, VISITS)
    release = shoal.anonymize(table, policy_for(1)).data
    found = shoal.verify(release, policy_for(events, k), original=table)
    (check,) = [each for each in found.checks if each.name == "known-events"]
    assert check.facts == {"counted": "people", "k": k, "events": events, "fewest_people": fewest}
    assert (check.passed, found.passed) == (fewest >= k, fewest >= k)


def test_a_release_under_the_policy_passes() -> None:
    table, policy = table_of(NAMES, VISITS), policy_for(2)
    release = shoal.anonymize(table, policy)
    (check,) = [each for each in release.evidence["checks"] if each["name"] == "known-events"]
    assert check["facts"]["fewest_people"] == 3
    assert shoal.verify(release.data, policy, original=table).passed


def test_without_the_original_it_is_not_judged() -> None:
    policy = policy_for(2)
    release = shoal.anonymize(table_of(NAMES, VISITS), policy).data
    checks = {each.name: each for each in shoal.verify(release, policy).checks}
    assert "known-events" not in checks
    assert "known-events" in checks["people"].facts["not_judged"]
