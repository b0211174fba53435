"""Households and weights in a cluster: the figures are those of one machine."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import PolicyError
from support.spark_cases import RUNS, policy, table


def survey_table() -> pa.Table:
    draw, data = random.Random(8), table()
    homes = [f"H{draw.randrange(data.num_rows // 3)}" for _ in range(data.num_rows)]
    weights = [round(1 + 200 * draw.random(), 3) for _ in range(data.num_rows)]
    return data.append_column("home", pa.array(homes)).append_column("design weight", pa.array(weights))


def survey_policy(run: str, **named: str) -> shoal.Policy:
    asked = policy(RUNS[run])
    columns = asked.to_dict()["columns"] | {"home": {"role": "identifier"}, "design weight": {"role": "identifier"}}
    return asked.changed(columns=columns, **named)


@pytest.mark.parametrize("run", ["optimal", "mondrian", "greedy-clustering"])
def test_the_figures_are_those_of_one_machine(session: Any, run: str) -> None:
    data, asked = survey_table(), survey_policy(run, household="home", weight="design weight")
    ours = shoal.anonymize(data, asked).evidence["survey"]
    theirs = shoal.anonymize(session.createDataFrame(data), asked).evidence
    assert theirs["survey"] == ours
    assert ours["after"]["households"]["households"] > 10


@pytest.mark.parametrize("named", [{"household": "home"}, {"weight": "design weight"}], ids=str)
def test_one_of_both(session: Any, named: dict[str, str]) -> None:
    data, asked = survey_table(), survey_policy("optimal", **named)
    found = shoal.anonymize(session.createDataFrame(data), asked).evidence["survey"]
    assert found == shoal.anonymize(data, asked).evidence["survey"]


def test_values_that_are_no_weights_or_households_stop_the_run(session: Any) -> None:
    data = survey_table()
    wrong = pa.array([None, *data["home"].to_pylist()[1:]], pa.string())
    data = data.set_column(data.column_names.index("home"), "home", wrong)
    wrong = pa.array([*map(str, data["design weight"].to_pylist()[1:]), "many"], pa.string())
    data = data.set_column(data.column_names.index("design weight"), "design weight", wrong)
    asked = survey_policy("optimal", household="home", weight="design weight")
    with pytest.raises(PolicyError) as raised:
        shoal.anonymize(session.createDataFrame(data), asked)
    assert [(each.code, each.facts["records"]) for each in raised.value.problems] == [
        ("missing-household", 1),
        ("bad-weight", 1),
    ]


def test_columns_that_were_made_coarser_leave_no_risk_before(session: Any) -> None:
    asked = survey_policy("optimal", household="home")
    found = shoal.anonymize(
        session.createDataFrame(survey_table()), asked.changed(engine={"name": "spark", "cells": 100})
    )
    assert found.evidence["engine"]["coarsened"]
    assert "survey" not in found.evidence
    assert "survey risk" in found.evidence["not_done"]
