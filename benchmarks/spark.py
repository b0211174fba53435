"""A Spark cluster compared with one machine, on the same generated records: seconds by stage, and the same rows.

Starts a master and two workers with one core each on this machine, or uses the cluster that ``--master`` names. The
figures of a cluster on one machine show what the stages cost, not how they scale. Needs the environment
of ``make test-spark``.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import scale_data
import shoal

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.spark import SETTINGS, Cluster, environment, running_cluster

MEMORY = {"spark.driver.memory": "2g", "spark.executor.memory": "1200m"}


def digest(out: Path) -> str:
    """The hash of the rows of a release in the order of its files, whatever the header."""
    seen = hashlib.sha256()
    parts = sorted(out.glob("part-*.csv")) if out.is_dir() else [out]
    for part in parts:
        with part.open("rb") as file:
            file.readline()
            while block := file.read(1 << 22):
                seen.update(block)
    return seen.hexdigest()[:16]


def one(data: str, algorithm: str, engine: str, out: str, settings: str) -> None:
    """One run in a process of its own; prints its facts."""
    policy = scale_data.policy(Path(data), algorithm, sensitive=True)
    if engine == "spark":
        policy = policy.changed(engine={"name": "spark", "settings": json.loads(settings)})
    start = time.perf_counter()
    facts = dict(shoal.publish(policy, out=out).release.evidence)
    told = {
        "seconds": time.perf_counter() - start,
        "stages": facts["seconds_by_stage"],
        "memory": facts["peak_memory_bytes"],
        "classes": facts["classes"],
        "cells": facts.get("engine", {}).get("cells"),
        "digest": digest(Path(out)),
    }
    sys.stdout.write(json.dumps(told) + "\n")


def core_seconds(cluster: Cluster | None) -> float:
    """What the executors that have ended took of the cores, as their workers know; not the clock's time."""
    if cluster is None:
        return 0.0
    fields = [Path(f"/proc/{each.pid}/stat").read_text().rpartition(")")[2].split() for each in cluster.processes]
    return sum(int(each[13]) + int(each[14]) for each in fields) / os.sysconf("SC_CLK_TCK")


def run(data: Path, algorithm: str, engine: str, settings: dict[str, str], folder: Path) -> dict[str, object]:
    """Run and read what it printed."""
    out = folder / f"{algorithm}-{engine}.csv"
    command = [sys.executable, __file__, "--one", str(data), algorithm, engine, str(out), json.dumps(settings)]
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    shutil.rmtree(out, ignore_errors=True)
    found: dict[str, object] = json.loads(done.stdout.decode().splitlines()[-1])
    return found


def show(algorithm: str, engine: str, found: dict[str, object]) -> None:
    """One line per run."""
    stages = found["stages"]
    assert isinstance(stages, dict)
    told = ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items() if seconds >= 0.05)
    memory = f"{int(str(found['memory'])) / 1e9:.2f} GB" if found["memory"] else "?"
    sys.stdout.write(
        f"{algorithm:<12} {engine:<6} {float(str(found['seconds'])):7.1f} s  {memory} here  "
        f"{found['classes']} classes  rows {found['digest']}  ({told}"
        + (f"; {found['cores']:.0f} core-seconds on the workers" if found.get("cores") else "")
        + ")\n"
    )


def main() -> None:
    """Both engines on one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--setting", choices=sorted(scale_data.SETTINGS), default="low")
    parser.add_argument("--algorithms", default="optimal,mondrian")
    parser.add_argument("--master", help="a cluster that is running, instead of one on this machine")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "shoal-spark")
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    given.work.mkdir(parents=True, exist_ok=True)
    data = scale_data.write(given.records, given.setting, given.work / f"{given.setting}-{given.records}.parquet")
    with contextlib.ExitStack() as stack:
        master, cluster = given.master, None
        if master is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=given.work)))
            cluster = stack.enter_context(running_cluster(folder))
            master = cluster.url
        settings = {**SETTINGS, **MEMORY, "spark.sql.shuffle.partitions": "8", "spark.master": master}
        os.environ.update({key: value for key, value in environment().items() if key.startswith("PYSPARK")})
        out = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=given.work)))
        for algorithm in given.algorithms.split(","):
            before = core_seconds(cluster)
            results = {engine: run(data, algorithm, engine, settings, out) for engine in ("local", "spark")}
            time.sleep(5)  # executors end a little later than their driver
            results["spark"]["cores"] = core_seconds(cluster) - before
            for engine, found in results.items():
                show(algorithm, engine, found)
            assert results["local"]["digest"] == results["spark"]["digest"], "the engines differ"


if __name__ == "__main__":
    main()
