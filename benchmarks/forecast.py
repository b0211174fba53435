"""How often the actual time of a run is within the estimated range, for every algorithm on Adult.

Run: python benchmarks/forecast.py [--records 1000,10000,30162,300000] [--columns 4,6,8] [--models sizes,values,shares]

Every run is a new process, timed from its start to the end of its attacks; the estimate is made before, in another.
Additional records are derived from Adult: each is one of its records, a third of them with age, race and marital status
of another. The growth rates in `shoal.pipeline.forecast.growth` come from such runs.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np

import adult
from shoal.errors import InfeasibleError
from shoal.io.sink import MemorySink
from shoal.pipeline.forecast import estimate_time
from shoal.pipeline.prepare import prepare
from shoal.pipeline.run import Clock, Job, run
from shoal.policy import Policy
from shoal.search import ALGORITHMS

MODELS: dict[str, tuple[list[dict[str, object]], float]] = {
    "sizes": ([{"model": "k-anonymity", "k": 10}], 0.02),
    "values": (
        [{"model": "k-anonymity", "k": 10}, {"model": "p-sensitive", "p": 3, "sensitive": "occupation"}],
        0.02,
    ),
    "shares": ([{"model": "t-closeness", "t": 0.35, "sensitive": "occupation"}], 0.0),
}
"""Models by what they look at, and the suppression with them."""
ORDER = ["sex", "age", "race", "marital-status", "education", "workclass", "native-country", "income"]
GROUP = {"sex": 0, "race": 1, "marital-status": 2, "education": 3, "workclass": 2, "native-country": 2, "income": 1}


def policy_of(algorithm: str, columns: int, models: str) -> Policy:
    """The policy of one run."""
    named = adult.columns("occupation")
    used = {name: named[name] for name in [*ORDER[:columns], "occupation"]}
    options: dict[str, object] = {"name": algorithm}
    if algorithm == "range":
        used["age"] = {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}}
        group = {name: GROUP[name] for name in ORDER[:columns] if name != "age"}
        options |= {"group": group, "ranges": ["age"], "safe": True}
    privacy, suppression = MODELS[models]
    return Policy.model_validate(
        {"columns": used, "privacy": privacy, "suppression": suppression, "algorithm": options}
    )


def write_records(folder: Path, records: int) -> Path:
    """So many records of Adult, or made of it, as CSV; the same ones every time."""
    target = folder / f"{records}.csv"
    adult.write_table(target)
    with target.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    table, draw = np.array(rows, dtype=object), np.random.default_rng(1)
    if records <= len(table):
        table = table[draw.permutation(len(table))[:records]]
    else:
        first, second = draw.integers(0, len(table), records), draw.integers(0, len(table), records)
        other, made = draw.random(records) < 1 / 3, table[first]
        for name in ("age", "race", "marital-status"):
            made[other, header.index(name)] = table[second[other], header.index(name)]
        table = made
    with target.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *table.tolist()])
    return target


def run_once(path: Path, policy: Policy) -> None:
    """What a run does, in this process."""
    clock = Clock()
    try:
        with clock.stage("read"):
            ready = prepare(path, policy)
        run(Job(policy), ready, MemorySink(), clock=clock)
    except InfeasibleError:
        return


def true_seconds(path: Path, setting: tuple[str, int, str], limit: float) -> float | None:
    """Seconds of a run in a new process; None where it takes longer than the limit.

    Where the machine has other work to do a run waits for it; then the seconds that it was computing count.
    """
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run(
            [sys.executable, __file__, "--one", json.dumps([str(path), *setting])], check=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return None
    waited, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return min(waited, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Estimate and run every setting, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", default="1000,10000,30162,300000")
    parser.add_argument("--columns", default="4,6,8")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--one")
    given = parser.parse_args()
    if given.one:
        path, algorithm, columns, models = json.loads(given.one)
        run_once(Path(path), policy_of(algorithm, columns, models))
        return
    inside: dict[str, list[bool]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for records in map(int, given.records.split(",")):
            path = write_records(Path(folder), records)
            grid = product(map(int, given.columns.split(",")), ALGORITHMS, given.models.split(","))
            for columns, algorithm, models in grid:
                policy = policy_of(algorithm, columns, models)
                estimate = estimate_time(prepare(path, policy), policy, busy=1)
                seconds = true_seconds(path, (algorithm, columns, models), given.limit)
                lies = seconds is not None and estimate.low <= seconds <= estimate.high
                inside.setdefault(algorithm, []).append(lies)
                told = "beyond the limit" if seconds is None else f"{seconds:.2f} s"
                mark = "" if lies else "  outside"
                told = f"{estimate.low:6.2f} to {estimate.high:6.2f} s, took {told}{mark}"
                print(f"{records:>8} {columns} {algorithm:<18}{models:<8} {told}", flush=True)
    for algorithm, found in inside.items():
        print(f"{algorithm:<18} {sum(found)} of {len(found)} inside")
    everything = [each for found in inside.values() for each in found]
    print(f"all {sum(everything)} of {len(everything)} inside")


if __name__ == "__main__":
    main()
