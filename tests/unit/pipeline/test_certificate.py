"""Prices of a search in codes, checked in the values of the original."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shoal.io.source import Source, TableSource
from shoal.io.streaming import StreamSource
from shoal.pipeline.certificate import check_certificate
from shoal.pipeline.run import Clock, Job, recode
from shoal.policy import Policy
from shoal.policy.spec import DataSpec
from shoal.search.prices.solver import PriceBound, PriceSolver
from shoal.search.problem import Problem, no_progress

COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}},
    "city": {"role": "quasi", "hierarchy": {"flat": True}},
    "seen": {"role": "quasi", "hierarchy": {"dates": ["month", "year"]}},
    "illness": {"role": "sensitive", "same": {"flu": ["Flu"]}},
}
TABLE = pa.table(
    {
        "age": [27.0, 28.0, None, 25.0, 41.0, 48.0, 45.5, 42.0],
        "city": ["Bern", "Bern", "Basel", None, "Basel", "Bern", "Bern", "Basel"],
        "seen": ["2020-01-05", "2020-01-05", "2020-01-09", "2021-02-01"] * 2,
        "illness": ["flu", "Flu", "cold", "cold", "flu", "cold", "flu", "flu"],
    }
)


def policy_of(**more: Any) -> Policy:
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2, "sensitive": "illness"}]
    return Policy(columns=COLUMNS, privacy=privacy, algorithm={"name": "greedy-clustering"}, **more)


def same_price(problem: Problem, price: float) -> PriceBound:
    items = PriceSolver(problem, compiled=False).lattice.items
    return PriceBound(items, np.full(len(items.weights), price), 0.0, price, 0, complete=True)


@pytest.fixture(params=["held", "streamed"])
def source(request: pytest.FixtureRequest, tmp_path: Any) -> Source:
    if request.param == "held":
        return TableSource(TABLE, TABLE.column_names)
    from pyarrow import csv

    csv.write_csv(TABLE, tmp_path / "table.csv")
    return StreamSource(DataSpec(path="").source(tmp_path / "table.csv"))


def test_every_record_has_its_price_and_no_release_loses_less_than_is_proven(source: Source) -> None:
    policy = policy_of()
    result, reading = recode(Job(policy), source, Clock(), no_progress)
    problem = result.resolved.problem
    found = check_certificate(policy, reading, problem, same_price(problem, 0.3))
    assert found is not None
    assert (found.code, found.records, found.unpriced) == ("proven", 8, 0)
    assert found.bound is not None
    sizes, nodes = result.recoding.sizes, result.recoding.nodes
    lost = np.mean([tree.loss[nodes[:, j]] @ sizes for j, tree in enumerate(result.recoding.hierarchies)]) / 8
    assert 0 < found.bound <= lost


def test_prices_of_coarser_values_are_not_looked_at() -> None:
    policy = policy_of()
    result, reading = recode(Job(policy), TableSource(TABLE, TABLE.column_names), Clock(), no_progress)
    problem = result.resolved.problem
    coarse = replace(reading, coarse_policy=policy)
    assert check_certificate(policy, coarse, problem, same_price(problem, 0.0)) is None
