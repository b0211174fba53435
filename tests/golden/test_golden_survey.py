"""A survey of six people whose figures were worked out by hand.

Classes A of one record with weight 10, B of two with 12 + 8, C of three with 5 + 10 + 15: p = 1/10 in each, p/q = 1/9.

    I_1 = 1/9 ln 10            = 0.2558428
    I_2 = 1/9 (1   - I_1)      = 0.0826841
    I_3 = 1/9 (1/2 - I_2)      = 0.0463684

Household 1 has A and a record of B, 2 the other of B and one of C, 3 and 4 a record of C each:

    R_1 = 1 - 0.7441572 x 0.9173159 = 0.3173727
    R_2 = 1 - 0.9173159 x 0.9536316 = 0.1252185
"""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal

TABLE = pa.table(
    {
        "age": ["A", "B", "B", "C", "C", "C"],
        "home": [1, 1, 2, 2, 3, 4],
        "weight": [10, 12, 8, 5, 10, 15],
    }
)
POLICY = {
    "columns": {"age": {"role": "quasi"}, "home": {"role": "identifier"}, "weight": {"role": "identifier"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "household": "home",
    "weight": "weight",
}
CLOSE = 2e-7


def test_individual_and_global_risk() -> None:
    found = shoal.risk(TABLE, POLICY).survey
    assert found is not None
    assert found.individual is not None
    assert found.individual.population == 60
    assert found.individual.highest == pytest.approx(0.2558428, abs=CLOSE)
    assert found.individual.expected_reidentifications == pytest.approx(0.5603163, abs=CLOSE)
    assert found.individual.average == pytest.approx(0.0933861, abs=CLOSE)
    assert (found.individual.records_above_threshold, found.individual.above_threshold) == (1, pytest.approx(1 / 6))


def test_households() -> None:
    found = shoal.risk(TABLE, POLICY).survey
    assert found is not None
    homes = found.households
    assert homes is not None
    assert (homes.households, homes.largest, homes.households_above_threshold) == (4, 2, 1)
    assert homes.highest == pytest.approx(0.3173727, abs=CLOSE)
    assert homes.expected_households_found == pytest.approx(0.5353280, abs=2 * CLOSE)
    assert homes.expected_records_in_them == pytest.approx(0.9779192, abs=4 * CLOSE)


def test_households_without_weights() -> None:
    """By 1/f: 1 - 0 x 1/2 = 1, 1 - 1/2 x 2/3 = 2/3, and 1/3 twice."""
    found = shoal.risk(TABLE, {key: value for key, value in POLICY.items() if key != "weight"}).survey
    assert found is not None
    assert found.individual is None
    assert found.households is not None
    assert found.households.highest == 1.0
    assert found.households.expected_households_found == pytest.approx(1 + 2 / 3 + 2 / 3)
    assert found.households.expected_records_in_them == pytest.approx(2 + 4 / 3 + 2 / 3)


def test_before_and_after_in_the_evidence() -> None:
    """With all ages generalized to one class of six: p = 6/60, I_4 = 0.0318850, I_5 = 0.0242350, I_6 = 0.0195294."""
    evidence = shoal.anonymize(TABLE, {**POLICY, "algorithm": "optimal"}).evidence
    assert evidence["released"] == 6
    before, after = evidence["survey"]["before"], evidence["survey"]["after"]
    assert before["individual"]["highest"] == pytest.approx(0.255843, abs=1e-6)
    assert after["individual"]["highest"] == after["individual"]["average"] == pytest.approx(0.019529, abs=2e-6)
    assert after["households"]["highest"] == pytest.approx(1 - (1 - 0.0195294) ** 2, abs=2e-6)
    assert before["households"]["households"] == after["households"]["households"] == 4
