"""The documents beside a release: for their owner only, and never those of another release."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from shoal.errors import OutputError
from shoal.io.sink import FileSink

TABLE = pa.table({"age": ["[20, 30)", "[20, 30)"]})


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def release(path: Path, table: pa.Table = TABLE, *, force: bool = False) -> None:
    with FileSink(path, recoding=True, force=force) as sink:
        written = sink.write_table(table)
        sink.commit({"evidence": json.dumps({"release_sha256": written.sha256}), "report": "", "recoding": ""})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("force", [False, True])
def test_documents_are_for_their_owner_only_and_the_release_is_like_any_file(tmp_path: Path, force: bool) -> None:
    if force:
        release(tmp_path / "e.csv")
        (tmp_path / "e.evidence.json").chmod(0o644)
    release(tmp_path / "e.csv", force=force)
    modes = {path.name: mode(path) for path in tmp_path.iterdir()}
    private = ["e.evidence.json", "e.report.html", "e.recoding.json"]
    assert modes == {"e.csv": 0o644, **dict.fromkeys(private, 0o600)}


@pytest.mark.parametrize("force", [False, True])
def test_the_documents_of_another_release_are_never_replaced(tmp_path: Path, force: bool) -> None:
    release(tmp_path / "e.csv")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OutputError) as caught:
        release(tmp_path / "e.parquet", force=force)
    assert caught.value.code == "documents-taken"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_documents_whose_release_is_gone_or_changed_may_be_replaced(tmp_path: Path) -> None:
    release(tmp_path / "e.csv")
    (tmp_path / "e.csv").write_text("something else", encoding="utf-8")
    release(tmp_path / "e.parquet", force=True)
    (tmp_path / "e.parquet").unlink()
    release(tmp_path / "e.csv", force=True)
    assert json.loads((tmp_path / "e.evidence.json").read_text())["release_sha256"]


@pytest.mark.parametrize("text", ["older", "[]", "{}", '{"release_sha256": null}'])
def test_what_is_no_evidence_of_a_release_may_be_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / "e.csv").write_text("x", encoding="utf-8")
    (tmp_path / "e.evidence.json").write_text(text, encoding="utf-8")
    release(tmp_path / "e.parquet", force=True)
