"""Attacks are calibrated: on secrets that depend on nothing they keep their level, and planted leaks are found.

A small run of `benchmarks/calibration.py`, which has the figures of the documentation. Every table is drawn by its
number, so the outcome does not change from run to run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import comb
from pathlib import Path
from types import ModuleType

import pytest

from shoal.attacks.chance.statistics import CHANCE

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
OWN = ("skewness", "background", "proximity", "columns", "homogeneity-insensitive", "linkage-insensitive", "inference")
TABLES = 20


@pytest.fixture(scope="module")
def calibration() -> Iterator[ModuleType]:
    """The benchmark as a module."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import calibration

        yield calibration
    finally:
        sys.path.remove(str(BENCHMARKS))


def too_many(leaks: int, of: int) -> bool:
    """Whether so many leaks are improbable (1%) where each is called with the probability of the level at most."""
    return sum(comb(of, n) * CHANCE**n * (1 - CHANCE) ** (of - n) for n in range(leaks, of + 1)) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("diverse", [False, True])
def test_secrets_that_depend_on_nothing_are_called_leaks_at_the_level_at_most(
    calibration: ModuleType, diverse: bool
) -> None:
    tally = calibration.independent(TABLES, 0, diverse=diverse)
    assert not tally.unreleased
    assert set(OWN) <= set(tally.tests)
    assert {name: found for name, found in tally.tests.items() if name in OWN and too_many(*found)} == {}


@pytest.mark.slow
def test_promised_values_and_categories_leave_nothing_certain(calibration: ModuleType) -> None:
    tally = calibration.independent(TABLES, 1, diverse=True)
    for name in ("homogeneity", "similarity", "linkage"):
        assert [each.records for each in tally.results[name] if each.records] == [], name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "strength", "names"),
    [
        ("value by person", 0.3, ["skewness", "inference"]),
        ("value by district", 0.1, ["homogeneity", "skewness", "background"]),
        ("two values by district", 0.1, ["background"]),
        ("category by district", 0.1, ["similarity"]),
        ("near numbers by district", 0.1, ["proximity"]),
        ("value by ward", 0.3, ["columns"]),
        ("value by ward", 1.0, ["columns", "homogeneity-insensitive"]),
        ("value by other secret", 0.3, ["columns"]),
        ("number of one's own", 1.0, ["identifying-secret"]),
    ],
)
def test_planted_leaks_are_found(calibration: ModuleType, kind: str, strength: float, names: list[str]) -> None:
    leaks, released = calibration.found(kind, strength, 4, 0)
    assert {name: leaks[name] for name in names} == dict.fromkeys(names, released)
    assert released == 4
