"""Releases of 1 to 30 million records: seconds by stage, peak memory, and how both grow.

Run: python benchmarks/scale.py [--records 1,3,10,30] [--settings low,high] [--algorithms optimal,mondrian,…]
                                [--kind csv|parquet] [--memory 2GB] [--data FOLDER] [--out FOLDER]

Each run is a separate process, from a file to a written, verified and attacked release (`shoal.publish`, k = 5 on nine
quasi-identifiers, at most 5% suppressed); the data comes from `scale_data.py` and stays in the folder of ``--data``. An
exponent is the growth of processor seconds, or of memory, with the records between two sizes: 1 is proportional.
Writes ``scale.csv`` and ``scale-*.svg``.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scale_data
import shoal
from shoal.present.plots.point_plots import Line, Panel, line_plot

STAGES = ("read", "encode", "search", "bound", "recode", "write", "verify", "attack", "evidence")
MILLION = 1_000_000


@dataclass(frozen=True)
class Run:
    """One release."""

    setting: str
    algorithm: str
    records: int
    seconds: float
    cpu: float
    """Seconds of the processors: what the machine did meanwhile for others does not count."""
    memory: int
    classes: int
    stages: dict[str, float]
    ncp: float


def one(data: str, algorithm: str, memory: str, kind: str) -> None:
    """Make one release in this process and print its facts as JSON."""
    start = time.perf_counter()
    policy = scale_data.policy(Path(data), algorithm)
    with tempfile.TemporaryDirectory(dir=Path(data).parent) as folder:
        out = Path(folder) / f"release.{kind}"
        facts = dict(shoal.publish(policy, out=out, memory=memory or None).release.evidence)
    seconds = time.perf_counter() - start
    kept = ("records", "classes", "suppressed", "measures", "seconds_by_stage", "peak_memory_bytes")
    cpu = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    sys.stdout.write(json.dumps({**{key: facts[key] for key in kept}, "seconds": seconds, "cpu": cpu}))


def measured(setting: str, algorithm: str, records: int, given: argparse.Namespace) -> Run:
    """Make one release in a process of its own."""
    path = scale_data.write(records, setting, given.data / f"{setting}-{records}.{given.kind}")
    command = [sys.executable, __file__, "--one", str(path), algorithm, given.memory, given.kind]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    stages = {name: found["seconds_by_stage"].get(name, 0.0) for name in STAGES}
    return Run(
        setting,
        algorithm,
        records,
        found["seconds"],
        found["cpu"],
        found["peak_memory_bytes"],
        found["classes"],
        stages,
        found["measures"]["ncp"],
    )


def show(run: Run, before: Run | None) -> None:
    """One line, with the exponents between this size and the one before."""
    grown = ""
    if before is not None:
        ratio = math.log(run.records / before.records)
        grown = (f"{math.log(run.cpu / before.cpu) / ratio:6.2f}"
                 f"{math.log(run.memory / before.memory) / ratio:6.2f}")  # fmt: skip
    stages = "".join(f"{run.stages[name]:8.2f}" for name in STAGES)
    print(f"{run.setting:<5} {run.algorithm:<17} {run.records / MILLION:5.0f} M {run.seconds:8.1f} s {run.cpu:7.1f} s "
          f"{run.memory / 1e9:6.2f} GB {run.ncp:7.4f} {stages} {grown}", flush=True)  # fmt: skip


def draw(runs: list[Run], folder: Path) -> None:
    """Seconds and memory against records, a line each setting and algorithm."""
    keys = list(dict.fromkeys((run.setting, run.algorithm) for run in runs))
    for name, title, value in (
        ("seconds", "Seconds from file to verified release", lambda run: run.seconds),
        ("memory", "Peak of memory in GB", lambda run: run.memory / 1e9),
    ):
        lines = tuple(
            Line(
                f"{algorithm}, {setting} diversity",
                tuple((run.records / MILLION, value(run)) for run in runs if (run.setting, run.algorithm) == key),
                place,
                dashed=setting == "high",
            )
            for place, key in enumerate(keys)
            for setting, algorithm in [key]
        )
        text = line_plot([Panel("", lines)], title=title, across="million records", up=name)
        (folder / f"scale-{name}.svg").write_text(text, encoding="utf-8")


def write(runs: list[Run], folder: Path) -> None:
    """The figures as CSV and the plots."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "scale.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["setting", "algorithm", "records", "seconds", "cpu", "memory_bytes", "classes", "ncp", *STAGES])
        for run in runs:
            stages = [f"{run.stages[name]:.3f}" for name in STAGES]
            figures = [f"{run.seconds:.3f}", f"{run.cpu:.3f}", run.memory, run.classes, f"{run.ncp:.6f}"]
            table.writerow([run.setting, run.algorithm, run.records, *figures, *stages])
    draw(runs, folder)


def main() -> None:
    """Run the grid, or one release of it."""
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", default="1,3,10,30", help="millions of records")
    parser.add_argument("--settings", default="low,high")
    parser.add_argument("--algorithms", default="optimal")
    parser.add_argument("--kind", choices=("csv", "parquet"), default="csv")
    parser.add_argument("--memory", default="")
    parser.add_argument("--data", type=Path, default=Path("out/scale"))
    parser.add_argument("--out", type=Path, default=Path("out"))
    given = parser.parse_args()
    given.data.mkdir(parents=True, exist_ok=True)
    head = "".join(f"{name:>8}" for name in STAGES)
    print(f"{'':5} {'algorithm':<17} {'records':>7} {'seconds':>10} {'cpu':>9} {'memory':>9} {'NCP':>7} {head}  growth")
    runs: list[Run] = []
    for setting in given.settings.split(","):
        for algorithm in given.algorithms.split(","):
            before = None
            for millions in map(float, given.records.split(",")):
                run = measured(setting, algorithm, round(millions * MILLION), given)
                show(run, before)
                before = run
                runs.append(run)
    write(runs, given.out)


if __name__ == "__main__":
    main()
