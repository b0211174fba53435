"""A Spark cluster compared with one machine, on the same generated records: seconds by stage, and the same rows.

Run: .venv-spark/bin/python benchmarks/spark.py [--before COMMIT] [--records 1000000] [--algorithms optimal,mondrian]

Starts a master and two workers with one core each on this machine, or uses the cluster that ``--master`` names. The
figures of a cluster on one machine show what the stages cost, not how they scale. Core-seconds are those of the
executors and the Python processes that they start; with the driver, the master and the workers they are *all*. Neither
depends on what else the machine does. With ``--before`` a commit is measured beside this version, each on a cluster of
its own, and the ratio is printed. Needs Linux and the environment of ``make test-spark``.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scale_data
import shoal

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.spark import SETTINGS, Cluster, environment, running_cluster

MEMORY = {"spark.driver.memory": "2g", "spark.executor.memory": "1200m"}
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)


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
        "source": shoal.__file__,
    }
    sys.stdout.write(json.dumps(told) + "\n")
    if engine == "spark":
        end_driver()


def end_driver() -> None:
    """End the driver's Java process and wait for it, so that its core-seconds are those of the driver."""
    from pyspark import SparkContext  # noqa: PLC0415 - only the runs on a cluster need it

    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    context.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def adopt_orphans() -> None:
    """Make this process the parent of all descendants whose own parent has ended, so that none of them is missed."""
    if ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0):
        raise OSError("the kernel does not let this process adopt orphans")


def ended_children() -> float:
    """Core-seconds of all descendants, after the last of them has ended."""
    end = time.monotonic() + 60
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < end:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.1)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def core_seconds(pid: int) -> float:
    """Core-seconds of a process alone, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one_run(
    data: Path, algorithm: str, engine: str, settings: dict[str, str], source: Path, folder: Path
) -> dict[str, Any]:
    """Run with the sources of a folder, and read what it printed."""
    out = Path(tempfile.mkdtemp(dir=folder)) / "release.csv"
    command = [sys.executable, __file__, "--one", str(data), algorithm, engine, str(out), json.dumps(settings)]
    paths = {"PYTHONPATH": str(source)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env={**environment(), **paths}, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode(errors="replace")[-4000:])
    shutil.rmtree(out.parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found: dict[str, Any] = json.loads(done.stdout.decode().splitlines()[-1])
    found["driver"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert Path(found["source"]).is_relative_to(source), "another version of Shoal was measured"
    return found


def on_cluster(data: Path, algorithm: str, source: Path, given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run on a cluster that is started with the sources of a folder, and count what its processes took."""
    before = ended_children()
    os.environ["PYTHONPATH"] = str(source)  # the processes of workers find their Shoal there
    with contextlib.ExitStack() as stack:
        cluster: Cluster | None = None
        if given.master is None:
            logs = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=given.work)))
            cluster = stack.enter_context(running_cluster(logs))
        settings = {**SETTINGS, **MEMORY, "spark.sql.shuffle.partitions": "8"}
        settings["spark.master"] = given.master or (cluster.url if cluster else "")
        found = one_run(data, algorithm, "spark", settings, source, folder)
        time.sleep(5)  # executors end a little later than their driver
        daemons = sum(core_seconds(each.pid) for each in cluster.processes) if cluster else 0.0
    if cluster is not None:
        found["all"] = ended_children() - before
        found["executors"] = found["all"] - found["driver"] - daemons
    return found


def show(algorithm: str, engine: str, found: dict[str, Any]) -> None:
    """One line per run."""
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in found["stages"].items() if seconds >= 0.05)
    memory = f"{found['memory'] / 1e9:.2f} GB" if found["memory"] else "?"
    cores = f"{found['driver']:.0f} core-seconds"
    if "all" in found:
        cores = f"{found['executors']:.0f} core-seconds of executors, {found['all']:.0f} of all"
    print(
        f"{algorithm:<9} {engine:<15} {found['seconds']:6.1f} s, {cores}; {memory} here, {found['classes']} classes, "
        f"rows {found['digest']} ({stages})",
        flush=True,
    )


def show_ratios(found: dict[str, Any], before: dict[str, Any]) -> None:
    """What this version takes of what another one took."""
    names = {"seconds": "seconds", "executors": "core-seconds of executors", "all": "core-seconds of all"}
    told = [f"{found[key] / before[key]:.2f} of the {name}" for key, name in names.items() if key in found]
    print(f"this version takes {', '.join(told)}", flush=True)


@contextlib.contextmanager
def versions(before: str | None, folder: Path) -> Iterator[dict[str, Path]]:
    """The folders of sources by the name of their version: a commit, if any, and this one."""
    here = Path(__file__).resolve().parents[1]
    checkout = folder / "before"
    git = ["git", "-C", str(here), "worktree"]
    try:
        if before:
            subprocess.run([*git, "add", "-q", "--detach", str(checkout), before], check=True)
        yield {**({before: checkout / "src"} if before else {}), "this": here / "src"}
    finally:
        if checkout.exists():
            subprocess.run([*git, "remove", "--force", str(checkout)], check=True)


def main() -> None:
    """Both engines on one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--before", help="a commit to measure beside this version")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--setting", choices=sorted(scale_data.SETTINGS), default="low")
    parser.add_argument("--algorithms", default="optimal,mondrian")
    parser.add_argument("--master", help="a cluster that is running, instead of one on this machine")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "shoal-spark")
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    adopt_orphans()
    given.work.mkdir(parents=True, exist_ok=True)
    data = scale_data.write(given.records, given.setting, given.work / f"{given.setting}-{given.records}.parquet")
    os.environ.update({key: value for key, value in environment().items() if key.startswith("PYSPARK")})
    with tempfile.TemporaryDirectory(dir=given.work) as name, versions(given.before, Path(name)) as sources:
        for algorithm in given.algorithms.split(","):
            local = one_run(data, algorithm, "local", {}, sources["this"], Path(name))
            show(algorithm, "local", local)
            results = {}
            for version, source in sources.items():
                results[version] = on_cluster(data, algorithm, source, given, Path(name))
                show(algorithm, f"spark {version}", results[version])
                assert local["digest"] == results[version]["digest"], "the rows differ"
            if given.before:
                show_ratios(results["this"], results[given.before])


if __name__ == "__main__":
    main()
