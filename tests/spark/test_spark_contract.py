"""Every algorithm through both engines: the releases are the same to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.search import ALGORITHMS
from support.spark_cases import RUNS, as_bytes, policy, table

VOLATILE = {"seconds", "seconds_by_stage", "peak_memory_bytes", "evidence_sha256", "policy_sha256", "versions"}


def test_the_battery_runs_every_algorithm() -> None:
    assert {options["name"] for options in RUNS.values()} == set(ALGORITHMS)


@pytest.mark.parametrize("run", RUNS)
def test_the_cluster_releases_what_one_machine_releases(session: Any, run: str, tmp_path: Path) -> None:
    asked = policy(RUNS[run], suppressed="star" if len(run) % 2 else "drop")
    data = table()
    ours = shoal.anonymize(data, asked)
    theirs = shoal.anonymize(session.createDataFrame(data), asked)
    assert as_bytes(theirs.table, tmp_path) == as_bytes(ours.table, tmp_path)
    assert theirs.evidence["records"] == data.num_rows
    differing = {key for key in ours.evidence if ours.evidence[key] != theirs.evidence.get(key)} - VOLATILE
    assert differing <= {"checks"}
    without_order = [check for check in ours.evidence["checks"] if check["name"] != "order"]
    assert without_order == theirs.evidence["checks"]
    assert theirs.evidence["engine"]["name"] == "spark"


def test_the_released_types_are_those_of_one_machine(session: Any) -> None:
    asked, data = policy({"name": "optimal"}), table()
    ours = shoal.anonymize(data, asked).table
    theirs = shoal.anonymize(session.createDataFrame(data), asked)
    assert theirs.table.schema.types == ours.schema.types
    assert theirs.data.columns == ours.column_names
