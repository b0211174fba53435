"""Estimates of time: ranges that grow with the work, and say what they rest on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shoal.pipeline.forecast import TimeEstimate, estimate_time
from shoal.pipeline.prepare import prepare
from shoal.policy import Policy
from shoal.present.forecast import duration_text, estimate_basis
from shoal.search import ALGORITHMS, cost


def estimate_of(records: int, algorithm: dict[str, Any], **changes: Any) -> TimeEstimate:
    table = pa.table({"a": [str(i % 97) for i in range(records)], "b": [str(i % 89) for i in range(records)]})
    columns = {name: {"role": "quasi", "hierarchy": {"intervals": [5, 10]}} for name in ("a", "b")}
    privacy = [{"model": "k-anonymity", "k": 2}]
    policy = Policy.model_validate({"columns": columns, "privacy": privacy, "algorithm": algorithm} | changes)
    return estimate_time(prepare(table, policy), policy)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_has_an_estimate(name: str) -> None:
    options = {"group": {"a": 1}, "ranges": ["b"], "safe": True} if name == "range" else {}
    found = estimate_of(200, {"name": name, **options})
    assert 0 < found.low < found.high
    assert found.low <= found.typical <= found.high
    assert (found.algorithm, found.records) == (name, 200)
    assert len(estimate_basis(found)) >= 3


def test_refining_adds_up_to_its_seconds() -> None:
    plain, refined = (estimate_of(200, {"name": "mondrian", **each}) for each in ({}, {"refine": 500}))
    assert refined.high > plain.high + 400


@pytest.mark.parametrize(
    ("name", "records", "compiles"),
    [("greedy-clustering", 3_000, True), ("greedy-clustering", 200, False), ("mondrian", 3_000, False)],
)
def test_compiling_for_the_first_time_is_counted_where_it_happens(
    name: str, records: int, compiles: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    cold = estimate_of(records, {"name": name})
    assert cold.compiling is compiles
    assert (cold.search.kernels is not None) is cold.compiling


def test_models_that_do_not_prune_may_need_every_node() -> None:
    shape, (optimal, incognito) = (5, 5, 5), (ALGORITHMS["optimal"], ALGORITHMS["incognito"])
    assert optimal.checks(shape, prunes=True)[1] < optimal.checks(shape, prunes=False)[1] == 125
    assert incognito.checks(shape, prunes=True)[1] + 125 == incognito.checks(shape, prunes=False)[1]


def test_compiled_kernels_pay_only_for_long_searches() -> None:
    assert cost._seconds_of_checks(10, 0.001, 1000) == pytest.approx(0.01)
    long = cost._seconds_of_checks(100_000, 0.001, 1000)
    assert 25 < long < 100


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.004, "0.1 s"),
        (0.44, "0.4 s"),
        (3.2, "3 s"),
        (44, "45 s"),
        (130, "2 minutes"),
        (7000, "2 hours"),
        (4e5, "5 days"),
    ],
)
def test_times_are_said_as_people_say_them(seconds: float, words: str) -> None:
    assert duration_text(seconds) == words
