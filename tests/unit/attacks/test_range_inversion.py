"""Inversion of the range method: exactly the values that every possible original agrees on are read off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from oracles import attack_oracle as oracle
from shoal.attacks.attack import AttackResult
from shoal.reproduce.tables import MAHESH_1, MAHESH_T_STAR
from support.attack_cases import found, policy_of, table_of

COLUMNS: dict[str, Any] = {
    "Zipcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "Age": {"role": "quasi", "hierarchy": {"intervals": [10, 50]}},
    "Disease": {"role": "sensitive"},
}
NAMES = list(COLUMNS)
METHOD = {"name": "range", "group": {"Zipcode": 1}, "ranges": ["Age"]}


def attacked(rows: Sequence[Sequence[str | None]], original: Any = None, **options: Any) -> AttackResult:
    policy = policy_of(COLUMNS, algorithm=METHOD | options)
    return found(shoal.attack(table_of(NAMES, rows), policy, original=original), "inversion")


T_STAR = [[record[name] for name in NAMES] for record in MAHESH_T_STAR.records()]
ORIGINAL = table_of(NAMES, [[record[name].lower() for name in NAMES] for record in MAHESH_1.records()])


def test_every_age_of_t_star_can_be_read_off() -> None:
    lower = [[zipcode, age, (disease or "").lower()] for zipcode, age, disease in T_STAR]
    estimate = attacked(lower, ORIGINAL)
    assert estimate.leak
    assert (estimate.records, estimate.of, estimate.rate) == (9, 9, 1.0)
    assert estimate.baseline == pytest.approx((6 / 2 + 3 / 3) / 9)
    assert estimate.details["consistent_records"] == {"least": 2, "mean": pytest.approx(7 / 3, abs=1e-6)}
    assert estimate.details["consistent_records_after_inversion"] == {"least": 1, "mean": 1.0}


def test_the_safe_form_cannot_be_inverted() -> None:
    shared = {"4760*": "22<=32", "4767*": "27<=36", "4790*": "43<=52"}
    estimate = attacked([[zipcode, shared[str(zipcode)], disease] for zipcode, _, disease in T_STAR], safe=True)
    assert (estimate.leak, estimate.records, estimate.of) == (False, 0, 9)
    assert estimate.details["safe"]


def test_ranges_that_overlap_in_the_safe_form_are_those_of_several_groups() -> None:
    """Other columns part the groups of the safe form: what looks like neighbours are smallest and largest values."""
    rows = [("4760*", age, "flu") for age in ("22<=30", "22<=32", "30<=32")]
    assert attacked(rows).records == 3
    assert attacked(rows, safe=True).records == 0


def test_two_values_share_a_range_and_stay_hidden() -> None:
    estimate = attacked([("4760*", "22<=30", "flu"), ("4760*", "22<=30", "cold"), ("4761*", "41", "flu")])
    assert (estimate.leak, estimate.records, estimate.of) == (False, 0, 2)


def test_another_algorithm_has_nothing_to_invert() -> None:
    report = shoal.attack(table_of(NAMES, [("4760*", "[20, 30)", "flu")]), policy_of(COLUMNS))
    assert found(report, "inversion").status == "not applicable"


@given(st.lists(st.integers(1, 7), min_size=1, max_size=5))
def test_what_is_read_off_is_what_every_original_agrees_on(values: list[int]) -> None:
    shown = oracle.ranges(values)
    rows = [("1*", f"{low}<={high}" if low < high else str(low), "flu") for low, high in shown]
    worlds = list(oracle.preimages(shown, range(1, 8)))
    assert tuple(values) in worlds
    certain = [
        place for place, (low, high) in enumerate(shown) if low < high and len({world[place] for world in worlds}) == 1
    ]
    assert attacked(rows).records == len(certain)


@given(st.lists(st.integers(0, 59), min_size=1, max_size=30), st.integers(0, 2**20))
def test_blocks_that_boundaries_make_are_told_apart_by_their_ends(ages: list[int], seed: int) -> None:
    """A group cut by a boundary on age: decades, each with its own neighbours."""
    columns = COLUMNS | {"Age": {"role": "quasi", "hierarchy": {"intervals": [10, 60]}, "boundary": 1}}
    policy = policy_of(columns, algorithm=METHOD)
    original = table_of(NAMES, [("47600", str(age), "flu") for age in ages])
    with pytest.warns(shoal.errors.DisclosureWarning):
        release = shoal.anonymize(original, policy)
    estimate = found(shoal.attack(release.table, policy, original=original, seed=seed), "inversion")
    decades = {age // 10: {other for other in ages if other // 10 == age // 10} for age in ages}
    assert estimate.records == sum(len(decades[age // 10]) >= 3 for age in ages)
