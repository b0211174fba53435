"""A table so large that its run is streamed is explained record by record like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.ui.desk.desk import Desk
from shoal.ui.desk.main import ANSWERS
from shoal.ui.desk.table import open_example
from shoal.ui.run.main import run as do_run
from shoal.ui.server.workspace import OUT, STATUS, Workspace, write_bytes, write_json
from support.ui_desk import save_policy

QUESTIONS: dict[str, dict[str, Any]] = {"before_after": {}, "classes": {}, "distributions": {}, "why": {"record": 17}}


def answers(folder: Path, algorithm: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What the desk says of a run of the example, and the releases that the run wrote."""
    desk = Desk(Workspace(folder), 10_000)
    desk.workspace.create()
    open_example(desk, {})
    save_policy(desk, {**desk.document(), "algorithm": {"name": algorithm}})
    run = desk.workspace.runs / "001"
    run.mkdir(parents=True)
    write_bytes(run / "policy.yaml", desk.workspace.policy.read_bytes())
    do_run(run, desk.workspace, "release", lambda _, __: None)
    write_json(run / STATUS, {"kind": "release", "name": "", "state": "done", "started": 1.0})
    told = {question: ANSWERS[question](desk, {"run": "001", **asked}) for question, asked in QUESTIONS.items()}
    return told, {form: next((run / OUT / form).glob(f"*.{form}")).read_bytes() for form in ("csv", "parquet")}


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_a_streamed_run_is_told_like_one_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    in_memory = answers(tmp_path / "held", algorithm)
    monkeypatch.setattr("shoal.io.memory.TEXT_STREAMED", 0)
    assert answers(tmp_path / "streamed", algorithm) == in_memory
