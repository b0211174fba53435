"""A release in a folder of files, as Spark writes it: judged as the one file that they would be."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import DataError
from shoal.evidence.describe import describe_policy
from shoal.evidence.evidence import seal
from shoal.facts import plain
from shoal.io import in_order_of_cells, write_table
from shoal.io.spark.sink import content_hash
from shoal.pipeline.audit.audit import audit
from shoal.pipeline.verify import verify
from shoal.table.distinct_rows import DistinctRows
from shoal.verification.read import content_sha256, joined_parts, read_part, read_release
from support.raises import raises

CELLS = st.none() | st.sampled_from(["", "a", 'b"', "c,d", "two\nlines", "é", "\uffff", "𝄞"])
TABLE = pa.table({"age": ["[20, 30)"] * 6, "condition": ["Flu", "Flu", "HIV", "HIV", "cold", None]})
POLICY = shoal.Policy.model_validate(
    {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"intervals": [10]}},
            "condition": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
)
ORIGINAL = pa.table({"age": ["20", "21", "22", "23", "24", "25"], "condition": TABLE.column("condition")})


def folder_of(table: pa.Table, folder: Path, cuts: list[int], suffix: str = ".csv") -> Path:
    folder.mkdir()
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, table.num_rows], strict=True)):
        write_table(table.slice(start, end - start), folder / f"part-{number:05d}{suffix}")
    (folder / "_SUCCESS").touch()
    (folder / ".part-00000.crc").write_bytes(b"crc")
    return folder


def facts(found: Any) -> list[tuple[str, bool, Any]]:
    return [(check.name, check.passed, check.facts) for check in found.checks]


@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=3),
    suffix=st.sampled_from([".csv", ".parquet"]),
)
def test_a_folder_is_read_as_its_files_one_after_the_other(rows: list[Any], cuts: list[int], suffix: str) -> None:
    table = pa.table({name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate("ab")})
    with TemporaryDirectory() as work:
        write_table(table, Path(work, f"whole{suffix}"))
        bounds = sorted(min(cut, len(rows)) for cut in cuts)
        whole = read_release(Path(work, f"whole{suffix}"))
        parts = read_release(folder_of(table, Path(work, f"parts{suffix}"), bounds, suffix))
    assert parts.names == whole.names
    assert (parts.rows, parts.order.wrong, parts.order.first) == (whole.rows, whole.order.wrong, whole.order.first)
    assert counter(parts) == counter(whole) == Counter(rows)


def counter(release: Any) -> Counter[tuple[str | None, ...]]:
    found: Counter[tuple[str | None, ...]] = Counter()
    cells = [column.to_pylist() for column in release.columns.values()]
    for *row, count in zip(*cells, release.counts.tolist(), strict=True):
        found[tuple(row)] += count
    return found


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12))
def test_the_hash_is_that_of_the_distinct_rows_in_order(rows: list[tuple[str | None, str | None]]) -> None:
    def key(row: tuple[str | None, ...]) -> list[tuple[bool, str]]:
        return [(cell is None, cell or "") for cell in row]

    table = pa.table({name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate("ab")})
    text = "a\x1fb"
    for row in sorted(set(rows), key=key):
        text += "\n" + "\x1f".join([*("\x00" if cell is None else cell for cell in row), str(rows.count(row))])
    assert content_sha256(read_release(table)) == hashlib.sha256(text.encode()).hexdigest()
    distinct = DistinctRows.of(table)
    ordered = in_order_of_cells(
        distinct.to_table().append_column("n", pa.array(distinct.counts)).select(["a", "b", "n"])
    )
    counts = ordered.column("n").to_numpy()
    assert content_hash(ordered.drop_columns(["n"]), counts) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_folder_is_judged_as_one_file(tmp_path: Path, suffix: str) -> None:
    write_table(TABLE, tmp_path / f"whole{suffix}")
    folder = folder_of(TABLE, tmp_path / f"parts{suffix}", [2, 3], suffix)
    by_file = verify(tmp_path / f"whole{suffix}", POLICY, ORIGINAL)
    by_folder = verify(folder, POLICY, ORIGINAL)
    assert by_folder.passed
    assert facts(by_folder) == facts(by_file)


def test_files_whose_names_are_not_in_the_order_of_their_rows_are_found(tmp_path: Path) -> None:
    folder = folder_of(TABLE, tmp_path / "parts.csv", [2])
    (folder / "part-00000.csv").rename(folder / "part-00002.csv")
    found = {check.name: check for check in verify(folder, POLICY).checks}
    assert found["order"].facts == {"out_of_order": 1}


def test_a_part_out_of_order_is_counted_as_if_it_were_in_order() -> None:
    part = read_part("part-0.csv", b"a\ny\nx\ny\nx\n")
    assert (part.order.wrong, part.order.first) == (2, 1)
    assert counter(part) == {("x",): 2, ("y",): 2}
    assert len(part.counts) == 2


def test_what_a_folder_has_besides_is_found(tmp_path: Path) -> None:
    folder = folder_of(TABLE, tmp_path / "parts.csv", [2])
    (folder / "notes.txt").write_text("row 17 is Alice")
    found = {check.name: check for check in verify(folder, POLICY).checks}
    assert not found["baggage"].passed
    assert any("notes.txt" in each for each in found["baggage"].facts["found"])


def test_metadata_of_spark_is_read_for_what_it_says(tmp_path: Path) -> None:
    def baggage(schema: Any) -> tuple[str, ...]:
        stored = {"org.apache.spark.version": "4.1.0", "org.apache.spark.sql.parquet.row.metadata": json.dumps(schema)}
        pq.write_table(pa.table({"a": ["x"]}).replace_schema_metadata(stored), tmp_path / "part.parquet")
        return read_release(tmp_path / "part.parquet").baggage

    plain = {"name": "a", "type": "string", "nullable": True, "metadata": {}}
    assert baggage({"type": "struct", "fields": [plain]}) == ()
    assert baggage({"type": "struct", "fields": [{**plain, "metadata": {"comment": "of Alice"}}]})
    assert baggage({"type": "struct"})


def test_files_with_other_columns_and_folders_without_files_are_refused(tmp_path: Path) -> None:
    with raises(DataError, "unreadable-release"):
        joined_parts([read_part("part-0.csv", b"a\nx\n"), read_part("part-1.csv", b"b\nx\n")])
    empty = tmp_path / "empty.csv"
    empty.mkdir()
    with raises(DataError, "no-files"):
        read_release(empty)
    with raises(DataError, "no-files"):
        joined_parts([])


@pytest.mark.parametrize("left_out", [[], ["ward"]])
def test_the_evidence_beside_a_folder_is_compared_with_it(tmp_path: Path, left_out: list[str]) -> None:
    table = TABLE.append_column("ward", pa.array(["1", "2", "1", "2", "1", "1"]))
    folder = folder_of(table, tmp_path / "parts.csv", [2])
    counted = read_release(table.drop_columns(left_out))
    beside = tmp_path / "parts.evidence.json"
    content = {"release_sha256": content_sha256(counted), "engine": {"left_out_of_cells": left_out}}
    beside.write_text(json.dumps(content))
    columns = POLICY.model_dump(exclude_unset=True)["columns"]
    asked = POLICY.changed(columns={**columns, "ward": {"role": "insensitive"}})
    assert [check.passed for check in verify(folder, asked).checks if check.name == "hash"] == [True]
    text = (folder / "part-00001.csv").read_text().replace("cold", "HIV")
    (folder / "part-00001.csv").write_text(text)
    assert [check.passed for check in verify(folder, asked).checks if check.name == "hash"] == [False]


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_folder_passes_with_the_evidence_of_its_run(tmp_path: Path, engine: str) -> None:
    made, asked = shoal.anonymize(ORIGINAL, POLICY), POLICY.changed(engine=engine)
    folder = folder_of(made.table, tmp_path / "parts.csv", [2])
    content = json.loads(made.write(tmp_path / "parts.parquet")["evidence"].read_text())
    content |= {"policy": plain(describe_policy(asked)), "policy_sha256": asked.sha256}
    content["release_sha256"] = content_sha256(read_release(folder))
    (tmp_path / "parts.evidence.json").write_text(json.dumps({**content, "evidence_sha256": seal(content)}))
    checks = audit(folder, asked, ORIGINAL).verification.checks
    assert not [check.name for check in checks if not check.passed]
    assert {"hash", "evidence-seal", "evidence-figures", "evidence-attacks"} <= {check.name for check in checks}


def test_evidence_that_is_somewhere_else_is_compared_with_a_folder(tmp_path: Path) -> None:
    made = shoal.anonymize(ORIGINAL, POLICY)
    evidence = made.write(tmp_path / "whole.csv")["evidence"]
    folder = folder_of(made.table, tmp_path / "parts.csv", [2])
    found = {check.name: check for check in audit(folder, POLICY, evidence=evidence).verification.checks}
    claimed, digest = found["hash"].facts["claimed"], content_sha256(read_release(folder))
    assert claimed != digest, "a file has the hash of its bytes"
    assert found["hash"].facts["found"] == digest
