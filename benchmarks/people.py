"""Releases of event tables in people, against the same tables in records: seconds, peak memory, and their ratios.

Run: python benchmarks/people.py [--records 1,10] [--algorithms optimal,…] [--repeat 3] [--memory 2GB] [--data FOLDER]
                                 [--out FOLDER]

Each run is a separate process, from a CSV file to a written, verified and attacked release (`shoal.publish`, k = 5 and
p = 2 on six quasi-identifiers, at most 5% suppressed); the data comes from `people_data.py`, ten visits of each person
on average, and stays in the folder of ``--data``. Both policies differ only in ``person:``. Runs alternate, and of each
figure the median is given, since other work on the machine slows some of them down. Writes ``people.csv``.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import people_data
import shoal

STAGES = ("read", "encode", "search", "bound", "recode", "write", "verify", "attack", "evidence")
MILLION = 1_000_000
UNITS = {True: "people", False: "records"}


@dataclass(frozen=True)
class Median:
    """The medians of some runs."""

    seconds: float
    cpu: float
    """Seconds of the processors: what the machine did meanwhile for others does not count."""
    memory: int
    stages: dict[str, float]
    facts: dict[str, Any]

    @staticmethod
    def of(runs: list[dict[str, Any]]) -> Median:
        """The median of each figure; classes and suppressed records are the same in every run."""
        middle = {key: statistics.median(run[key] for run in runs) for key in ("seconds", "cpu", "peak_memory_bytes")}
        stages = {name: statistics.median(run["seconds_by_stage"].get(name, 0.0) for run in runs) for name in STAGES}
        facts = {key: runs[0][key] for key in ("classes", "suppressed")}
        return Median(middle["seconds"], middle["cpu"], int(middle["peak_memory_bytes"]), stages, facts)


def one(data: str, algorithm: str, unit: str, memory: str) -> None:
    """Make one release in this process and print its facts as JSON."""
    start = time.perf_counter()
    policy = people_data.policy(Path(data), algorithm, person=unit == UNITS[True])
    with tempfile.TemporaryDirectory(dir=Path(data).parent) as folder:
        facts = dict(shoal.publish(policy, out=Path(folder) / "release.csv", memory=memory or None).release.evidence)
    assert facts["verified"], "a release that fails is an error"
    kept = ("classes", "suppressed", "seconds_by_stage", "peak_memory_bytes")
    cpu = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    figures = {"seconds": time.perf_counter() - start, "cpu": cpu}
    sys.stdout.write(json.dumps({**{key: facts[key] for key in kept}, **figures}))


def measured(records: int, algorithm: str, given: argparse.Namespace) -> dict[bool, Median]:
    """The runs of one size, in people and in records by turns."""
    path = people_data.write(records, given.data / f"people-{records}.csv")
    runs: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for _ in range(given.repeat):
        for person, found in runs.items():
            command = [sys.executable, __file__, "--one", str(path), algorithm, UNITS[person], given.memory]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found.append(json.loads(done.stdout))
    return {person: Median.of(found) for person, found in runs.items()}


def show(records: int, algorithm: str, medians: dict[bool, Median]) -> None:
    """A line in people, a line in records, and the ratios of both."""
    for person, median in medians.items():
        stages = "".join(f"{median.stages[name]:8.2f}" for name in STAGES)
        print(f"{records / MILLION:4.0f} M {algorithm:<17} {UNITS[person]:<8} {median.seconds:8.1f} s "
              f"{median.cpu:7.1f} s {median.memory / 1e9:6.2f} GB {stages}")  # fmt: skip
    people, other = medians[True], medians[False]
    print(f"{records / MILLION:4.0f} M {algorithm:<17} {'ratio':<8} {people.seconds / other.seconds:8.2f}   "
          f"{people.cpu / other.cpu:7.2f}   {people.memory / other.memory:6.2f}", flush=True)  # fmt: skip


def main() -> None:
    """Run both policies at each size, or one release of them."""
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", default="1,10", help="millions of records")
    parser.add_argument("--algorithms", default="optimal")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--memory", default="")
    parser.add_argument("--data", type=Path, default=Path("out/people"))
    parser.add_argument("--out", type=Path, default=Path("out"))
    given = parser.parse_args()
    given.data.mkdir(parents=True, exist_ok=True)
    given.out.mkdir(parents=True, exist_ok=True)
    head = "".join(f"{name:>8}" for name in STAGES)
    print(f"{'':6} {'algorithm':<17} {'in':<8} {'seconds':>10} {'cpu':>9} {'memory':>9} {head}")
    with (given.out / "people.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            ["records", "algorithm", "in", "seconds", "cpu", "memory_bytes", "classes", "suppressed", *STAGES]
        )
        for algorithm in given.algorithms.split(","):
            for millions in map(float, given.records.split(",")):
                records = round(millions * MILLION)
                medians = measured(records, algorithm, given)
                show(records, algorithm, medians)
                for person, each in medians.items():
                    stages = [f"{each.stages[name]:.3f}" for name in STAGES]
                    figures = [f"{each.seconds:.3f}", f"{each.cpu:.3f}", each.memory, *each.facts.values()]
                    table.writerow([records, algorithm, UNITS[person], *figures, *stages])


if __name__ == "__main__":
    main()
