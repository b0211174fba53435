"""Machines that die in the middle of a run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.io import write_table
from shoal.pipeline import publish
from support.spark import Cluster, environment
from support.spark_cases import COLUMNS, policy, table
from support.spark_slow import slow_down

OPTIMAL = {"name": "optimal"}
UNCOUNTED = {"columns": {**COLUMNS, "id": {"role": "insensitive"}}}  # every record is a distinct row of its own
RECODED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "from counts": ({}, {}),
    "by the workers": (UNCOUNTED, {"cells": 155}),
}
"""Changes to the policy, and settings of the engine, by how the records are recoded then."""
PATIENCE = 120.0
DRIVER = """
import sys
sys.path.insert(0, sys.argv[1])
from support.spark_slow import slow_down
from support.spark_cases import policy
from shoal.pipeline import publish
import json
slow_down(sys.argv[2])
publish(policy({"name": "optimal"}, **json.loads(sys.argv[5])), data=sys.argv[3], out=sys.argv[4])
"""


def wait_for(ready: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)


def text_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes().split(b"\n", 1)[1] for path in sorted(folder.glob("part-*.csv")))


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("recoded", RECODED)
def test_a_killed_executor_changes_nothing(
    cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest, recoded: str
) -> None:
    data, marks = tmp_path / "patients.parquet", tmp_path / "marks"
    marks.mkdir()
    write_table(table(), data)
    changes, engine = RECODED[recoded]
    publish(policy(OPTIMAL, **changes), data=data, out=tmp_path / "ours.csv")
    request.addfinalizer(slow_down(str(marks)))
    before, killed = set(cluster.executors()), []

    def kill() -> None:
        wait_for(lambda: bool(list(marks.iterdir())), "a task that recodes or reads")
        killed.append(cluster.kill_an_executor())

    killer = threading.Thread(target=kill)
    killer.start()
    publish(policy(OPTIMAL, **changes, engine={"name": "spark", **engine}), data=data, out=tmp_path / "theirs.csv")
    killer.join()
    assert killed
    assert killed[0] in before
    assert killed[0] not in cluster.executors()
    assert text_of(tmp_path / "theirs.csv") == (tmp_path / "ours.csv").read_bytes().split(b"\n", 1)[1]


@pytest.mark.parametrize("recoded", RECODED)
def test_a_killed_driver_leaves_no_release(cluster: Cluster, tmp_path: Path, recoded: str) -> None:
    data, marks, out = tmp_path / "patients.parquet", tmp_path / "marks", tmp_path / "out"
    marks.mkdir()
    out.mkdir()
    write_table(table(), data)
    changes, engine = RECODED[recoded]
    asked = {"name": "spark", **engine, "settings": {**cluster.settings(), "spark.cores.max": "1"}}
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    driver = subprocess.Popen(
        [sys.executable, str(script), str(Path(__file__).parents[1]), str(marks), str(data), str(out / "release.csv"),
         json.dumps({**changes, "engine": asked})],
        env=environment(), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(lambda: bool(list(marks.iterdir())) or driver.poll() is not None, "a task that recodes or reads")
        assert driver.poll() is None, "the driver ended before it could be killed"
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    time.sleep(2)  # tasks under way must not finish what the driver began
    assert [path.name for path in out.iterdir() if not path.name.startswith(".shoal-")] == []
