"""Every algorithm through both engines: the releases are the same to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import PolicyError
from shoal.io.spark import check, counts, source
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


@pytest.mark.parametrize("run", ["optimal", "mondrian"])
def test_spellings_are_merged_where_the_records_are(session: Any, run: str, tmp_path: Path) -> None:
    data = table()
    cells = data.column("condition").to_pylist()
    spelled = [value if value is None or row % 3 else value.upper() + " " for row, value in enumerate(cells)]
    data = data.set_column(data.column_names.index("condition"), "condition", pa.array(spelled, pa.string()))
    asked = policy(RUNS[run])
    with pytest.raises(PolicyError) as raised:
        shoal.anonymize(session.createDataFrame(data), asked)
    columns = asked.to_dict()["columns"]
    columns["condition"]["same"] = {value: [value.upper() + " "] for value in {*cells} - {None}}
    asked = asked.changed(columns=columns)
    ours, theirs = shoal.anonymize(data, asked), shoal.anonymize(session.createDataFrame(data), asked)
    assert "spellings-of-one-value" in {problem.code for problem in raised.value.problems}
    assert as_bytes(theirs.table, tmp_path) == as_bytes(ours.table, tmp_path)
    assert theirs.evidence["columns"]["condition"] == ours.evidence["columns"]["condition"]


@pytest.mark.parametrize("publish", ["values", "categories", "both"])
def test_unknown_values_are_read_alike_in_a_cluster(session: Any, publish: str, tmp_path: Path) -> None:
    data, asked = table(), policy({"name": "optimal"})
    first, *others = sorted({*data.column("condition").to_pylist()} - {None})
    columns = asked.to_dict()["columns"]
    categories = {"grave": others[:1], "light": others[1:]}
    columns["condition"] |= {"unknown": [first], "publish": publish, "categories": categories}
    privacy = [{"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "p": 2, "sensitive": "condition"}]
    asked = asked.changed(columns=columns, privacy=privacy, suppression=0.5)
    ours, theirs = shoal.anonymize(data, asked), shoal.anonymize(session.createDataFrame(data), asked)
    assert as_bytes(theirs.table, tmp_path) == as_bytes(ours.table, tmp_path)
    assert theirs.evidence["columns"]["condition"] == ours.evidence["columns"]["condition"]
    assert theirs.evidence["columns"]["condition"]["unknown"]["records"] > 0


@pytest.mark.parametrize("run", ["optimal", "greedy-clustering"])
def test_rows_that_come_as_codes_are_the_same(
    session: Any, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, asked = table(), policy(RUNS[run])
    as_they_are = shoal.anonymize(session.createDataFrame(data), asked)
    monkeypatch.setattr(counts, "_PLAIN", 0)
    as_codes = shoal.anonymize(session.createDataFrame(data), asked)
    assert as_bytes(as_codes.table, tmp_path) == as_bytes(as_they_are.table, tmp_path)


def test_the_original_is_counted_once_for_the_bound_and_the_release(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = list[Any]()

    def count(frame: Any) -> Any:
        counted.append(frame.columns)
        return check.counted_rows(frame)

    monkeypatch.setattr(source, "counted_rows", count)
    release = shoal.anonymize(session.createDataFrame(table()), policy(RUNS["greedy-clustering"]))
    assert release.evidence["bound"]["checked"]
    assert len(counted) == 1
