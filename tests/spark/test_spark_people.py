"""People who have several records, in a cluster: counted, released and verified as on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, PolicyError
from support.raises import raises
from support.spark_cases import COLUMNS, RUNS, as_bytes, policy, table

OPTIMAL = {"name": "optimal"}
SOME = {name: COLUMNS[name] for name in ("age", "Zip.code", "joined", "condition", "id")}


def events(people: int = 60) -> pa.Table:
    """The table as visits of people, some of whom come often."""
    data = table()
    who = (people * np.random.default_rng(3).random(data.num_rows) ** 2).astype(int)
    return data.set_column(0, "id", pa.array([f"p{person}" for person in who]))


@pytest.mark.parametrize("run", RUNS)
def test_the_cluster_counts_the_people_that_one_machine_counts(session: Any, run: str, tmp_path: Path) -> None:
    asked, data = policy(RUNS[run], person="id"), events()
    ours = shoal.anonymize(data, asked)
    theirs = shoal.anonymize(session.createDataFrame(data), asked)
    assert as_bytes(theirs.table, tmp_path) == as_bytes(ours.table, tmp_path)
    assert theirs.evidence["models"] == ours.evidence["models"]
    assert "id" not in theirs.data.columns


def test_people_are_told_apart_by_several_columns_of_any_type(session: Any, tmp_path: Path) -> None:
    data = events()
    day = pa.array([hash(each) % 7 for each in range(data.num_rows)], pa.int16())
    data = data.append_column("clinic", day)
    columns = {**COLUMNS, "clinic": {"role": "identifier"}}
    asked = policy(OPTIMAL, person=["clinic", "id"], columns=columns)
    ours, theirs = shoal.anonymize(data, asked), shoal.anonymize(session.createDataFrame(data), asked)
    assert as_bytes(theirs.table, tmp_path) == as_bytes(ours.table, tmp_path)
    assert theirs.evidence["models"] == ours.evidence["models"]


def test_insensitive_columns_that_are_too_many_ride_along(session: Any, tmp_path: Path) -> None:
    data = events()
    columns = {**SOME, "note": {"role": "insensitive"}}
    data = data.append_column("note", pa.array([f"note {row}" for row in range(data.num_rows)]))
    few = len(data.select(list(SOME)).group_by(list(SOME)).aggregate([]))
    ours = shoal.anonymize(data, policy(OPTIMAL, person="id", columns=columns))
    asked = policy(OPTIMAL, person="id", columns=columns, engine={"name": "spark", "cells": few})
    theirs = shoal.anonymize(session.createDataFrame(data), asked)
    assert theirs.evidence["engine"]["left_out_of_cells"] == ["note"]
    assert as_bytes(theirs.table, tmp_path) == as_bytes(ours.table, tmp_path)


def test_people_who_do_not_fit_on_the_driver_are_refused(session: Any) -> None:
    asked = policy(OPTIMAL, person="id", columns=SOME, engine={"name": "spark", "cells": 40})
    with raises(DataError, "too-many-rows-of-people", "40"):
        shoal.anonymize(session.createDataFrame(events()), asked)


def test_a_record_of_nobody_is_a_problem(session: Any) -> None:
    data = events()
    data = data.set_column(0, "id", pa.array([None, *data.column("id").to_pylist()[1:]], pa.string()))
    with pytest.raises(PolicyError) as raised:
        shoal.anonymize(session.createDataFrame(data), policy(OPTIMAL, person="id"))
    assert [problem.code for problem in raised.value.problems] == ["missing-person"]
