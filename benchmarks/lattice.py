"""Speed of the full-domain searches on Adult: milliseconds per check, checks, total, cold and warm; and whole runs.

Run: python benchmarks/lattice.py [--repeat 5]

Every row names the optimum that was found, so that speed is never gained by a worse answer. The ARX column quotes what
its developers' desktop program took on a comparable 2-core machine (search alone, warm); it is not run here.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

import adult
from shoal.encode.resolve import resolve
from shoal.io import DataSource, read_table
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from shoal.search.kernels.load import load_kernels
from shoal.table.distinct_rows import DistinctRows


@dataclass(frozen=True)
class Setting:
    """One search to time."""

    name: str
    privacy: list[dict[str, object]]
    suppression: float
    arx: str
    sensitive: str | None = None
    algorithm: str = "optimal"


K5: dict[str, object] = {"model": "k-anonymity", "k": 5}
DISTINCT: dict[str, object] = {"model": "distinct-l-diversity", "l": 3, "sensitive": "occupation"}
CLOSE: dict[str, object] = {"model": "t-closeness", "t": 0.2, "sensitive": "occupation"}
SETTINGS = [
    Setting("5-anonymity", [K5], 0.0, "40-70 ms, 181 checks"),
    Setting("5-anonymity, 5% suppression", [K5], 0.05, "1.4 s, 1,217 checks"),
    Setting("5-anonymity, 3-distinct occupation", [K5, DISTINCT], 0.0, "55-90 ms", "occupation"),
    Setting("5-anonymity, 3-distinct occupation, 5%", [K5, DISTINCT], 0.05, "0.9 s", "occupation"),
    Setting("5-anonymity, 0.2-close occupation, 5%", [K5, CLOSE], 0.05, "1.6 s, 3,051 checks", "occupation"),
    Setting("5-anonymity, all minimal nodes", [K5], 0.0, "-", None, "incognito"),
    Setting("5-anonymity, 5%, greedy path", [K5], 0.05, "-", None, "greedy-lattice"),
]


def time_search(setting: Setting, table: Path, repeat: int) -> dict[str, object]:
    """Time a search in this process: as a new process runs it (NumPy first), then warm with compiled kernels."""
    policy = Policy(
        columns=adult.columns(setting.sensitive),
        privacy=setting.privacy,
        suppression=setting.suppression,
        algorithm={"name": setting.algorithm},
    )
    problem = resolve(policy, DistinctRows.of(read_table(DataSource(table)))).problem
    seconds = []
    for run in range(repeat + 2):
        start = time.perf_counter()
        kernels = load_kernels() if run else None
        engine = LocalEngine(problem.table, problem.ladders, problem.domains, kernels=kernels)
        outcome = ALGORITHMS[setting.algorithm].run(problem, engine)
        seconds.append(time.perf_counter() - start)
    warm = statistics.median(seconds[2:])
    levels = outcome.recoding.levels or {}
    return {
        "first": seconds[0],
        "warm": warm,
        "checks": engine.checks,
        "per_check": warm / engine.checks,
        "levels": ",".join(str(level) for level in levels.values()),
        "suppressed": outcome.recoding.suppressed,
    }


def time_process(setting: Setting, table: Path, folder: Path) -> dict[str, float]:
    """Time `shoal anonymize` from CSV to CSV in a process of its own: seconds and peak memory."""
    policy = folder / "policy.yaml"
    content = {
        "data": str(table),
        "columns": adult.columns(setting.sensitive),
        "privacy": setting.privacy,
        "suppression": setting.suppression,
        "algorithm": setting.algorithm,
        "output": str(folder / "release.csv"),
    }
    policy.write_text(yaml.safe_dump(content), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("shoal")), "anonymize", str(policy), "--force", "--json"]
    start = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    evidence = json.loads(done.stdout)
    return {"seconds": seconds, "megabytes": evidence["peak_memory_bytes"] / 1e6, "loss": evidence["measures"]["loss"]}


def time_help() -> float:
    """Median seconds of `shoal --help`."""
    command = [str(Path(sys.executable).with_name("shoal")), "--help"]
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, help="warm runs per setting")
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "adult.csv"
        print(f"Adult, {adult.write_table(table):,} records\n")
        print("| search | first run | warm | checks | ms per check | levels | suppressed | ARX (quoted) |")
        print("|---|---:|---:|---:|---:|---|---:|---|")
        for setting in SETTINGS:
            row = time_search(setting, table, repeat)
            print(
                f"| {setting.name} ({setting.algorithm}) | {row['first'] * 1e3:.0f} ms | {row['warm'] * 1e3:.1f} ms "
                f"| {row['checks']} | {row['per_check'] * 1e3:.3f} | {row['levels']} | {row['suppressed']} "
                f"| {setting.arx} |"
            )
        print("\n| whole process, CSV to CSV, verified | cold kernels | cached kernels | peak memory | loss |")
        print("|---|---:|---:|---:|---:|")
        for setting in SETTINGS[:2]:
            with tempfile.TemporaryDirectory() as cache:
                os.environ["NUMBA_CACHE_DIR"] = cache
                cold = time_process(setting, table, folder)
                warm = min((time_process(setting, table, folder) for _ in range(3)), key=lambda run: run["seconds"])
                del os.environ["NUMBA_CACHE_DIR"]
            print(
                f"| {setting.name} | {cold['seconds']:.2f} s | {warm['seconds']:.2f} s "
                f"| {warm['megabytes']:.0f} MB | {warm['loss']:.4f} |"
            )
        print(f"\n`shoal --help`: {time_help():.2f} s (median of 5)")


if __name__ == "__main__":
    main()
