"""`why` says only what happened: of the records of the cheapest box, and of records left out."""

from __future__ import annotations

import pandas as pd
import pytest

import shoal

TREE = {"A": ["a1", "a2"], "B": ["b1", "b2"]}


def test_records_of_the_cheapest_box_are_told_where_they_are() -> None:
    data = pd.DataFrame({"q": ["a1", "a1", "a2", "a2"], "d": ["x", "x", "y", "y"]})
    columns = {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}, "d": {"role": "sensitive"}}
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "alpha-k-anonymity", "alpha": 0.5, "sensitive": "d"}]
    told = shoal.anonymize(data, shoal.Policy(columns=columns, privacy=privacy, algorithm="top-down")).why(1)
    box = told.to_dict()["cheapest_box"]
    assert (box["records"], box["records_in_own_class"], box["records_left_out"]) == (2, 2, 0)
    assert box["together_fails"] == [{"model": "alpha-k-anonymity", "sensitive": "d"}]


def test_why_a_record_was_suppressed_is_what_the_algorithm_does() -> None:
    data = pd.DataFrame({"q": ["a1"] * 3 + ["a2"] * 3 + ["b1"]})
    reasons = set()
    for algorithm in ("incognito", "greedy-lattice", "optimal"):
        policy = shoal.Policy(
            columns={"q": {"role": "quasi", "hierarchy": {"tree": TREE}}},
            privacy=[{"model": "k-anonymity", "k": 2}],
            algorithm=algorithm,
            suppression=0.2,
        )
        told = shoal.anonymize(data, policy).why(7)
        assert told.suppressed
        assert [each.where for each in told.left_out] == ["release", "boundary"]
        assert not told.left_out[1].lacks
        reasons.add(str(told).splitlines()[-1])
    assert len(reasons) == 3, "each algorithm has its own reason"


@pytest.mark.parametrize(("rows", "suppressed"), [(["*", "a1", "a1", "a1"], 1), (["*", "*", "a1", "a1"], 2)])
def test_risk_does_not_count_stars_that_can_only_be_suppressed_records(rows: list[str], suppressed: int) -> None:
    columns = {"q": {"role": "quasi", "hierarchy": {"tree": TREE}, "boundary": 1}}
    policy = shoal.Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 2}], suppressed="star")
    found = shoal.risk(pd.DataFrame({"q": rows}), policy)
    assert (found.records, found.suppressed_rows) == (4 - suppressed, suppressed)


def test_risk_counts_stars_that_may_be_a_class() -> None:
    columns = {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}}
    policy = shoal.Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 2}], suppressed="star")
    found = shoal.risk(pd.DataFrame({"q": ["*", "*", "a1"]}), policy)
    assert (found.records, found.suppressed_rows) == (3, 0)
    assert repr(shoal.risk(pd.DataFrame({"q": ["a1"]}), policy)).startswith("<Risk: 1 record in 1 class,")
