"""A streamed run that fails says why, leaves no release behind, and does not touch its input."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import DataError, OutputError
from shoal.io import memory as budget
from shoal.io import write_table
from shoal.io.formats import csv_file
from shoal.io.formats.file_format import FileFormat
from support.raises import raises

COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}},
    "sex": {"role": "quasi"},
    "visit": {"role": "insensitive"},
}


def records(n: int) -> pa.Table:
    draw = np.random.default_rng(1)
    ages = [str(age) for age in draw.integers(20, 60, n)]
    return pa.table({"age": ages, "sex": ["f", "m"] * (n // 2), "visit": [f"visit {place:07d}" for place in range(n)]})


def policy_of(folder: Path, data: str) -> Path:
    path = folder / "policy.yaml"
    asked = {"data": data, "columns": COLUMNS, "privacy": [{"model": "k-anonymity", "k": 3}], "algorithm": "optimal"}
    path.write_text(json.dumps(asked | {"output": "release.csv"}))
    return path


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def spilling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Insensitive columns are kept apart, so that the data is read twice and sorted on disk."""
    monkeypatch.setattr(budget, "TEXT_STREAMED", 1)
    monkeypatch.setattr(budget, "PACKED_STREAMED", 1)
    monkeypatch.setattr(budget, "_BY_ITSELF", 1)


def after_first_batch(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something to the input once its first batch has been read."""
    honest = FileFormat.batches
    monkeypatch.setattr(csv_file, "_BATCH", 1 << 12)

    def read(*args: Any) -> Iterator[Any]:
        for index, given in enumerate(honest(*args)):
            yield given
            if not index:
                act()

    monkeypatch.setattr(FileFormat, "batches", read)


def test_an_input_that_grows_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data.csv"
    write_table(records(2000), data)

    def append() -> None:
        with data.open("a") as file:
            file.write("30,f,late\n")

    after_first_batch(monkeypatch, append)
    with raises(DataError, "data-changed", "data.csv"):
        shoal.publish(policy_of(tmp_path, "data.csv"), memory="1GB")
    assert sorted(files_in(tmp_path)) == ["data.csv", "policy.yaml"]


def test_an_input_that_ends_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data.csv"
    write_table(records(200_000), data)
    after_first_batch(monkeypatch, lambda: os.truncate(data, 150_000))
    with pytest.raises(DataError, match=r"data\.csv"):
        shoal.publish(policy_of(tmp_path, "data.csv"), memory="1GB")
    assert sorted(files_in(tmp_path)) == ["data.csv", "policy.yaml"]


@pytest.mark.usefixtures("spilling")
def test_an_input_that_changes_between_counting_and_writing_is_refused(tmp_path: Path) -> None:
    write_table(records(2000), tmp_path / "data.csv")
    seen: list[str] = []

    def change(stage: str, _: float) -> None:
        if stage == "writing" and "writing" not in seen:
            write_table(records(2000).slice(2), tmp_path / "data.csv")
        seen.append(stage)

    with raises(DataError, "data-changed", "data.csv"):
        shoal.publish(policy_of(tmp_path, "data.csv"), progress=change)
    assert sorted(files_in(tmp_path)) == ["data.csv", "policy.yaml"]


def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    write_table(records(5000), tmp_path / "whole.csv")
    packed = gzip.compress((tmp_path / "whole.csv").read_bytes())
    (tmp_path / "whole.csv").unlink()
    (tmp_path / "data.csv.gz").write_bytes(packed[: len(packed) // 2])
    before = files_in(tmp_path)
    with pytest.raises(DataError, match=r"data\.csv\.gz"):
        shoal.publish(policy_of(tmp_path, "data.csv.gz"), memory="1GB")
    assert {**before, "policy.yaml": b""}.keys() == files_in(tmp_path).keys()


def test_a_corrupt_row_group_is_named(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    pq.write_table(records(4000), data, row_group_size=1000, compression="zstd")
    column = pq.ParquetFile(data).metadata.row_group(2).column(2)
    raw = bytearray(data.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    raw[start + 40 : start + 400] = b"\xff" * 360
    data.write_bytes(raw)
    with pytest.raises(DataError, match=r"row group 3"):
        shoal.publish(policy_of(tmp_path, "data.parquet"), memory="1GB")
    assert sorted(files_in(tmp_path)) == ["data.parquet", "policy.yaml"]
    assert data.read_bytes() == raw


def test_files_of_one_table_must_have_the_same_columns(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    write_table(records(100), tmp_path / "parts" / "a.csv")
    write_table(records(100).drop_columns(["sex"]), tmp_path / "parts" / "b.csv")
    with pytest.raises(DataError, match=r"b\.csv lacks 'sex'"):
        shoal.publish(policy_of(tmp_path, "parts"))


def test_files_of_one_table_must_have_the_same_types(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    table = records(100)
    write_table(table, tmp_path / "parts" / "a.parquet")
    numbers = pa.array([float(place) for place in range(100)])
    write_table(table.set_column(2, "visit", numbers), tmp_path / "parts" / "b.parquet")
    with pytest.raises(DataError, match="'visit' has the type string in one part"):
        shoal.publish(policy_of(tmp_path, "parts"))


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
@pytest.mark.parametrize("apart", [False, True])
def test_a_column_that_is_empty_in_one_file_has_the_type_of_the_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, apart: bool
) -> None:
    if apart:
        monkeypatch.setattr(budget, "_BY_ITSELF", 1)
    (tmp_path / "parts").mkdir()
    table = records(100)
    for name, visits in (("a", pa.nulls(100)), ("b", table.column("visit"))):
        write_table(table.set_column(2, "visit", visits), tmp_path / "parts" / f"{name}.parquet")
    published = shoal.publish(policy_of(tmp_path, "parts"), out=tmp_path / f"release{kind}")
    assert ("not_done" in published.release.evidence) == apart
    assert published.release.table.column("visit").null_count == 100


@pytest.mark.usefixtures("spilling")
def test_types_are_checked_in_columns_that_are_not_counted(tmp_path: Path) -> None:
    test_files_of_one_table_must_have_the_same_types(tmp_path)


@pytest.mark.parametrize("stage", ["reading", "recoding", "writing", "verifying"])
@pytest.mark.usefixtures("spilling")
def test_an_interrupted_run_leaves_nothing(tmp_path: Path, stage: str) -> None:
    write_table(records(2000), tmp_path / "data.csv")
    policy = policy_of(tmp_path, "data.csv")
    before = files_in(tmp_path)

    def stop(now: str, share: float) -> None:
        if now == stage and (share > 0 or stage == "verifying"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shoal.publish(policy, progress=stop)
    assert files_in(tmp_path) == before
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def limited() -> None:
    """No file of this process may grow beyond 200 kB, as on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def test_a_disk_that_fills_is_an_error_of_the_output(tmp_path: Path) -> None:
    write_table(records(20_000), tmp_path / "data.csv")
    policy = policy_of(tmp_path, "data.csv")
    before = files_in(tmp_path)
    command = [sys.executable, "-m", "shoal", "anonymize", str(policy), "--memory", "1GB"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=limited)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert files_in(tmp_path) == before


@pytest.mark.usefixtures("spilling")
def test_a_disk_that_fills_while_sorting_is_an_error_of_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(records(2000), tmp_path / "data.csv")
    policy = policy_of(tmp_path, "data.csv")
    before = files_in(tmp_path)

    class Full:
        def __init__(self, *_: object) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("shoal.io.external_sort.pa.OSFile", Full)
    with pytest.raises(OutputError, match="No space left on device"):
        shoal.publish(policy)
    assert files_in(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_a_signal_ends_a_streamed_run_with_its_own_exit_code(tmp_path: Path, number: signal.Signals, code: int) -> None:
    write_table(records(1_200_000), tmp_path / "data.csv")  # long enough to be met, on a slow machine too
    policy = policy_of(tmp_path, "data.csv")
    before = files_in(tmp_path)
    command = [sys.executable, "-m", "shoal", "anonymize", str(policy), "--memory", "1GB"]
    heard = partial(signal.signal, number, signal.SIG_DFL)  # even where the tests run in the background
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heard) as process:  # noqa: PLW1509
        while process.poll() is None and len(list(tmp_path.iterdir())) == len(before):
            time.sleep(0.02)  # until hidden outputs show that the run has begun
        process.send_signal(number)
        _, errors = process.communicate()
    assert process.returncode == code
    assert "interrupted; no output was written" in errors
    assert "Traceback" not in errors
    assert files_in(tmp_path) == before
