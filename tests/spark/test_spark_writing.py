"""What lies on disk after a run on Spark: the whole verified release, or nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.encode.result import as_written
from shoal.errors import ExposureError, OutputError, VerificationError
from shoal.io import read_table, release_source, write_table
from shoal.io.spark import cluster as spark
from shoal.io.spark import sink as spark_sink
from shoal.pipeline import publish
from shoal.pipeline.audit.audit import audit
from shoal.table.canonical_text import in_order_of_cells
from support.cli import Cli
from support.spark_cases import COLUMNS, as_bytes, policy, table

OPTIMAL = {"name": "optimal"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "patients.parquet"
    write_table(table(), path)
    return path


def released(folder: Path) -> bytes:
    """The files of a folder of text, one after the other in the order of their names, under one header."""
    parts = [path.read_bytes().split(b"\n", 1) for path in sorted(folder.glob("part-*.csv"))]
    assert len({header for header, _ in parts}) == 1
    return parts[0][0] + b"\n" + b"".join(rows for _, rows in parts)


def test_a_folder_of_text_is_the_file_of_one_machine_in_parts(session: Any, data: Path, tmp_path: Path) -> None:
    ours = publish(policy(OPTIMAL), data=data, out=tmp_path / "ours.csv")
    theirs = publish(policy(OPTIMAL, engine="spark"), data=data, out=tmp_path / "theirs.csv")
    assert released(tmp_path / "theirs.csv") == (tmp_path / "ours.csv").read_bytes()
    evidence = json.loads(Path(theirs.paths["evidence"]).read_text())
    assert evidence["verified"]
    assert evidence["measures"] == ours.release.evidence["measures"]
    assert next(check for check in evidence["checks"] if check["name"] == "order")["passed"]
    assert Path(theirs.paths["report"]).exists()
    assert not list(tmp_path.glob(".shoal-*"))
    assert session.read.csv(str(tmp_path / "theirs.csv"), header=True).count() == evidence["released"]


@pytest.mark.usefixtures("session")
def test_parquet_keeps_types_and_carries_nothing_of_the_input(data: Path, tmp_path: Path) -> None:
    ours = shoal.anonymize(data, policy(OPTIMAL)).table
    publish(policy(OPTIMAL, engine="spark"), data=data, out=tmp_path / "theirs.parquet")
    theirs = pa.concat_tables([pq.read_table(path) for path in sorted((tmp_path / "theirs.parquet").glob("part-*"))])
    assert theirs.cast(ours.schema).equals(ours)
    assert theirs.schema.field("seen").type.tz == "UTC", "a moment, not the time on some clock"
    parts = [path.read_bytes() for path in (tmp_path / "theirs.parquet").glob("part-*")]
    assert not any(b"p17" in part or b"patients" in part for part in parts)


@pytest.mark.usefixtures("session")
def test_an_output_that_exists_is_replaced_only_when_told_to(data: Path, tmp_path: Path) -> None:
    asked, target = policy(OPTIMAL, engine="spark"), tmp_path / "release.csv"
    publish(asked, data=data, out=target)
    before = released(target)
    with pytest.raises(OutputError, match="exists already"):
        publish(asked, data=data, out=target)
    assert released(target) == before
    publish(policy({"name": "mondrian"}, engine="spark"), data=data, out=target, force=True)
    assert released(target) != before
    assert not list(tmp_path.glob(".shoal-*"))


UNCOUNTED: dict[str, Any] = {
    "columns": {**COLUMNS, "id": {"role": "insensitive"}},  # every record is a distinct row of its own
    "engine": {"name": "spark", "cells": 155},
}


@pytest.mark.usefixtures("session")
def test_a_release_that_a_worker_spoilt_is_not_kept(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = spark_sink.Recoder.of

    def spoilt(*arguments: Any) -> Any:
        recoder = real(*arguments)
        labels, shown = recoder.labels["age"]
        names = labels.to_pylist()
        names[shown[0]] = "21"  # a class that says more than it may
        return replace(recoder, labels={**recoder.labels, "age": (pa.array(names), shown)})

    monkeypatch.setattr(spark_sink.Recoder, "of", spoilt)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(VerificationError):
        publish(policy(OPTIMAL, **UNCOUNTED), data=data, out=tmp_path / "release.csv")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(("cell", "failing"), [("21", "truthfulness"), ("[20, 25)", "hash")])
def test_a_release_that_is_written_otherwise_than_counted_is_not_kept(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str, failing: str
) -> None:
    real = spark.unfolded

    def spoilt(session: Any, table: pa.Table, counts: Any) -> Any:
        ages = table.column("age").to_pylist()
        return real(session, table.set_column(0, "age", pa.array([cell, *ages[1:]], pa.string())), counts)

    monkeypatch.setattr(spark, "unfolded", spoilt)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(VerificationError) as raised:
        publish(policy(OPTIMAL, engine="spark"), data=data, out=tmp_path / "release.csv")
    assert failing in {check.name for check in raised.value.verification.failures}
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("session")
def test_a_release_in_the_order_of_the_input_is_not_kept(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = spark.unfolded
    monkeypatch.setattr(spark, "in_order", lambda given, _, columns: given.select(columns))
    monkeypatch.setattr(
        spark,
        "unfolded",
        lambda session, table, counts: real(session, table.take(np.arange(len(table))[::-1]), counts[::-1]),
    )
    for changes in ({"engine": "spark"}, UNCOUNTED):
        with pytest.raises(VerificationError, match="order"):
            publish(policy(OPTIMAL, **changes), data=data, out=tmp_path / "release.csv")
        assert not list(tmp_path.glob("*release*"))


@pytest.mark.usefixtures("session")
def test_columns_that_are_not_counted_are_written_as_by_one_machine(data: Path, tmp_path: Path) -> None:
    local = policy(OPTIMAL, columns=UNCOUNTED["columns"])
    publish(local, data=data, out=tmp_path / "ours.csv")
    theirs = publish(policy(OPTIMAL, **UNCOUNTED), data=data, out=tmp_path / "theirs.csv")
    assert theirs.release.evidence["engine"]["recoded"] == "where the records lie"
    assert released(tmp_path / "theirs.csv") == (tmp_path / "ours.csv").read_bytes()
    assert shoal.verify(tmp_path / "theirs.csv", local, original=data).passed


@pytest.mark.usefixtures("session")
def test_a_release_from_counts_goes_to_as_many_files_as_it_needs(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "_RECORDS", 20)
    ours = publish(policy(OPTIMAL), data=data, out=tmp_path / "ours.csv")
    publish(policy(OPTIMAL, engine="spark"), data=data, out=tmp_path / "theirs.csv")
    lines = [len(path.read_bytes().splitlines()) - 1 for path in (tmp_path / "theirs.csv").glob("part-*.csv")]
    assert len(lines) == -(-ours.release.evidence["released"] // 20)
    assert max(lines) <= 40
    assert released(tmp_path / "theirs.csv") == (tmp_path / "ours.csv").read_bytes()


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    ("suffix", "changes"), [("csv", {"engine": "spark"}), ("parquet", {"engine": "spark"}), ("csv", UNCOUNTED)]
)
def test_the_verifier_reads_the_folder_and_its_evidence(
    data: Path, tmp_path: Path, suffix: str, changes: dict[str, Any]
) -> None:
    asked, target = policy(OPTIMAL, **changes, suppressed="star"), tmp_path / f"release.{suffix}"
    publish(asked, data=data, out=target)
    for original in (None, data):
        found = audit(target, asked, original)
        assert not [check for check in found.verification.checks if not check.passed]
        assert {"hash", "order", "evidence-figures", "evidence-attacks"} <= {
            check.name for check in found.verification.checks
        }


def test_tables_of_the_catalog_are_read_and_written(session: Any, tmp_path: Path) -> None:
    session.createDataFrame(table()).write.saveAsTable("patients")
    asked = policy(
        OPTIMAL,
        engine="spark",
        data={"spark": {"table": "patients"}, "missing": ["", "?"]},
        output={"spark": {"table": "released"}},
    )
    try:
        found = publish(asked, evidence=tmp_path / "released.evidence.json")
        theirs = in_order_of_cells(spark.Named.of(session.table("released")).collect())
        ours = shoal.anonymize(table(), policy(OPTIMAL))
        assert as_bytes(theirs, tmp_path) == as_bytes(ours.table, tmp_path)
        assert found.paths["evidence"].exists()
        with pytest.raises(OutputError, match="already exists"):
            publish(asked, evidence=tmp_path / "again.evidence.json")
        assert not (tmp_path / "again.evidence.json").exists()
    finally:
        session.sql("DROP TABLE IF EXISTS patients")
        session.sql("DROP TABLE IF EXISTS released")


def test_a_release_made_in_python_is_written_by_spark(session: Any, tmp_path: Path) -> None:
    made = shoal.anonymize(session.createDataFrame(table()), policy({"name": "top-down"}))
    paths = made.write(tmp_path / "release.csv")
    ours = shoal.anonymize(table(), policy({"name": "top-down"}))
    assert released(tmp_path / "release.csv") == as_bytes(ours.table, tmp_path)
    assert json.loads(paths["evidence"].read_text())["release_sha256"] is not None
    assert made.data.count() == made.evidence["released"]


@pytest.mark.usefixtures("session")
def test_text_is_read_as_one_machine_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    rows = ['"age;x";zip;condition', '21;"1;0";HIV', '21;"1;0";flu', '33;"a ""b""";flu', '33;"a ""b""";HIV',
            ';?;cold', ';?;HIV', ' 5;é;"cold"', ' 5;é;HIV']  # fmt: skip
    path.write_text("\n".join(rows) + "\n", encoding="latin-1")
    content = {
        "data": {"path": str(path), "separator": ";", "encoding": "latin-1", "missing": ["?"]},
        "columns": {"age;x": {"role": "quasi"}, "zip": {"role": "quasi"}, "condition": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    ours = shoal.anonymize(policy=shoal.Policy.model_validate(content))
    publish(shoal.Policy.model_validate({**content, "engine": "spark"}), out=tmp_path / "release.csv")
    assert released(tmp_path / "release.csv") == as_bytes(ours.table, tmp_path)


def test_written_text_reads_back_as_it_was(session: Any, tmp_path: Path) -> None:
    odd = ['say "no"', "a,b", "", " lead", "two\nlines", "\\", "'", "*"]
    data = pa.table({"q": ["x"] * 16, "s": odd * 2})
    content = {
        "data": {"path": "", "missing": []},
        "columns": {"q": {"role": "quasi"}, "s": {"role": "sensitive", "unknown": [""]}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    asked = shoal.Policy.model_validate(content)
    shoal.anonymize(session.createDataFrame(data), asked).write(tmp_path / "release.csv")
    whole = tmp_path / "whole.csv"
    whole.write_bytes(released(tmp_path / "release.csv"))
    ours = shoal.anonymize(data, asked).table
    assert as_written(read_table(release_source(whole)), whole).equals(as_written(ours, whole))


@pytest.mark.usefixtures("session")
def test_the_command_line_runs_a_policy_on_the_cluster(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shoal_command, file = Cli(monkeypatch, capfd), tmp_path / "policy.yaml"
    asked = policy(OPTIMAL, engine="spark", data={"path": str(data), "missing": ["", "?"]}, output="release.csv")
    file.write_text(asked.to_yaml())
    done = shoal_command("anonymize", file)
    assert done.code == 0, done.err
    assert "Verified" in done.out
    ours = shoal.anonymize(data, policy(OPTIMAL))
    assert released(tmp_path / "release.csv") == as_bytes(ours.table, tmp_path)
    again = shoal_command("anonymize", file)
    assert again.code == 2
    assert "exists already" in again.err
    assert shoal_command("anonymize", file, "--memory", "2GB", "--force").code == 2


@pytest.mark.usefixtures("session")
def test_a_registry_remembers_what_it_remembers_of_one_machine(data: Path, tmp_path: Path) -> None:
    entries = []
    for engine in ("local", "spark"):
        kept = publish(
            policy(OPTIMAL, engine=engine), data=data, out=tmp_path / f"{engine}.csv", registry=tmp_path / engine
        )
        entries.append(json.loads(kept.paths["registry"].read_text()))
        assert "composition" in kept.release.evidence
    assert entries[0]["classes"] == entries[1]["classes"]
    assert entries[0]["release_sha256"] != entries[1]["release_sha256"], "a folder has a hash of its rows"


@pytest.mark.usefixtures("session")
def test_a_release_that_exposes_too_much_is_not_kept(data: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    for engine in ("local", "spark"):
        with pytest.raises(ExposureError, match="background"):
            publish(policy(OPTIMAL, engine=engine), data=data, out=tmp_path / "release.csv", fail_on=["background>0"])
        assert sorted(tmp_path.iterdir()) == before
