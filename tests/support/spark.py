"""A real Spark cluster on the loopback device: a master and two workers, each a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ADDRESS = "127.0.0.1"
_PATIENCE = 180.0
SETTINGS = {
    "spark.driver.bindAddress": ADDRESS,
    "spark.driver.host": ADDRESS,
    "spark.driver.memory": "1g",
    "spark.executor.memory": "700m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.python.worker.reuse": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "4",
    "spark.sql.adaptive.enabled": "true",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.task.maxFailures": "8",
}


def need_spark() -> None:
    """Skip what needs PySpark and Java where they are not installed, and fail there in CI."""
    lacking = [] if find_spec("pyspark") else ["pyspark"]
    if not lacking and subprocess.run(["java", "-version"], capture_output=True, check=False).returncode:
        lacking = ["Java 17"]
    if lacking and os.environ.get("SHOAL_SPARK_TESTS"):
        pytest.fail(f"{lacking[0]} is not installed, and SHOAL_SPARK_TESTS says that it must be")
    if lacking:
        pytest.skip(f"{lacking[0]} is not installed: `make test-spark` sets up an environment with it")


def free_port() -> int:
    """A port of the loopback device that nobody listens on."""
    with socket.socket() as listener:
        listener.bind((ADDRESS, 0))
        return int(listener.getsockname()[1])


@dataclass
class Cluster:
    """A master and its workers."""

    folder: Path
    workers: int = 2
    url: str = ""
    page: int = 0
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        port, self.page = free_port(), free_port()
        self.url = f"spark://{ADDRESS}:{port}"
        self._run(
            "org.apache.spark.deploy.master.Master",
            *("--host", ADDRESS, "--port", str(port), "--webui-port", str(self.page)),
        )
        self._await(lambda: bool(self._status()), "the master")
        for place in range(self.workers):
            work = self.folder / f"worker{place}"
            self._run(
                "org.apache.spark.deploy.worker.Worker",
                *("--host", ADDRESS, "--cores", "2", "--memory", "2g", "--work-dir", str(work)),
                *("--webui-port", str(free_port()), self.url),
            )
        self._await(lambda: self._status().count('"state" : "ALIVE"') >= self.workers, "the workers")

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def executors(self) -> list[int]:
        """The processes in which work is done, children of this cluster's workers only."""
        parents = {process.pid for process in self.processes}
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                    words = (entry / "cmdline").read_bytes()
                except (OSError, ValueError):
                    continue
                if parent in parents and b"CoarseGrainedExecutorBackend" in words:
                    found.append(int(entry.name))
        return found

    def kill_an_executor(self) -> int:
        """Kill one executor where it stands; the cluster starts another."""
        victim = self.executors()[0]
        os.kill(victim, signal.SIGKILL)
        return victim

    def settings(self) -> dict[str, str]:
        return {**SETTINGS, "spark.master": self.url}

    def _run(self, main: str, *arguments: str) -> None:
        script = Path(str(find_spec("pyspark").origin)).parent / "bin" / "spark-class"  # type: ignore[union-attr]
        with (self.folder / f"{main.rpartition('.')[2]}{len(self.processes)}.log").open("wb") as log:
            self.processes.append(
                subprocess.Popen(["bash", str(script), main, *arguments], stdout=log, stderr=log, env=environment())
            )

    def _status(self) -> str:
        try:
            with urllib.request.urlopen(f"http://{ADDRESS}:{self.page}/json/", timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            return ""

    def _await(self, ready: Any, what: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not ready():
            if time.monotonic() > end or any(process.poll() is not None for process in self.processes):
                logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log"))
                raise AssertionError(f"{what} did not start:\n{logs}")
            time.sleep(0.1)


def environment() -> dict[str, str]:
    """What Spark's processes are started with: this Python, the loopback device, small and quiet."""
    return {
        **os.environ,
        "SPARK_LOCAL_IP": ADDRESS,
        "SPARK_LOCAL_HOSTNAME": ADDRESS,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_NO_DAEMONIZE": "1",
    }


@contextmanager
def running_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    cluster = Cluster(folder, workers)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def session_of(cluster: Cluster, more: Mapping[str, str] | None = None) -> Iterator[Any]:
    """A session of this process on a cluster."""
    from pyspark.sql import SparkSession

    os.environ.update({key: value for key, value in environment().items() if key.startswith(("SPARK_", "PYSPARK_"))})
    builder = SparkSession.builder.appName("shoal tests")
    for key, value in {**cluster.settings(), **(more or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()
