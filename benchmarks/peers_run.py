"""One tool, one table, one process: started by peers.py with the interpreter of the tool's own environment.

Run: python peers_run.py TOOL JOB.json
The job names the table, the columns, k, the share that may be suppressed and the output; what was measured goes to
stdout as JSON. The time is that of the tool's call, from DataFrame to DataFrame, both elapsed and processor
time; peak memory is that of the process.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

import pandas as pd

Job = dict[str, Any]
Taken = tuple[float, float]
"""Seconds on the clock, and of the processor."""


def now() -> Taken:
    """What the two clocks show."""
    return time.perf_counter(), time.process_time()


def since(start: Taken) -> Taken:
    """What has passed on both."""
    clock, processor = now()
    return clock - start[0], processor - start[1]


def run_anjana(table: pd.DataFrame, job: Job) -> tuple[pd.DataFrame, Taken]:
    """anjana: full-domain recoding with the same hierarchies; suppression in percent."""
    from anjana.anonymity import k_anonymity  # noqa: PLC0415 - only this tool's environment has it

    hierarchies = {}
    for name, path in job["hierarchies"].items():
        levels = pd.read_csv(path, sep=";", header=None, dtype=str)
        hierarchies[name] = {level: levels[level].values for level in levels.columns}
    start = now()
    release = k_anonymity(table, [], job["quasi"], job["k"], 100 * job["suppression"], hierarchies)
    return release, since(start)


def run_anonypy(table: pd.DataFrame, job: Job) -> tuple[pd.DataFrame, Taken]:
    """anonypy: Mondrian without hierarchies; classes come back with a count for each sensitive value."""
    import anonypy  # noqa: PLC0415

    table = table.astype({name: int if name in job["numbers"] else "category" for name in table.columns})
    start = now()
    rows = anonypy.Preserver(table, job["quasi"], job["sensitive"]).anonymize_k_anonymity(k=job["k"])
    taken = since(start)
    counted = pd.DataFrame(rows)
    for name in job["quasi"]:
        counted[name] = [",".join(map(str, cell)) if isinstance(cell, list) else str(cell) for cell in counted[name]]
    release = counted.loc[counted.index.repeat(counted["count"])].drop(columns="count")
    return release.reset_index(drop=True), taken


def run_shoal(table: pd.DataFrame, job: Job) -> tuple[pd.DataFrame, Taken]:
    """Shoal: the same call as any user's, the independent verification and the attacks included."""
    import shoal  # noqa: PLC0415

    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": {"levels": path}} for name, path in job["hierarchies"].items()
    }
    columns[job["sensitive"]] = {"role": "sensitive"}
    policy = shoal.Policy(
        columns=columns,
        privacy=[{"model": "k-anonymity", "k": job["k"]}],
        algorithm={**job["algorithm"], "metric": "ncp"},
        suppression=job["suppression"],
    )
    start = now()
    release = shoal.anonymize(table, policy)
    return release.data, since(start)


def run_pycanon(table: pd.DataFrame, job: Job) -> int:
    """pyCANON anonymizes nothing; it says which k a table has."""
    from pycanon.anonymity import k_anonymity  # noqa: PLC0415

    return int(k_anonymity(table, job["quasi"]))


def main() -> None:
    """Run the tool and print what was measured."""
    tool, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - as plain as can be in a foreign environment
        job: Job = json.load(file)
    table = pd.read_csv(job["table"], dtype=str, keep_default_na=False)
    if tool == "pycanon":
        print(json.dumps({"k": run_pycanon(table, job)}))
        return
    table = table[[*job["quasi"], job["sensitive"]]]
    release, (seconds, processor) = {"anjana": run_anjana, "anonypy": run_anonypy, "shoal": run_shoal}[tool](table, job)
    release.to_csv(job["out"], index=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "processor": processor, "peak": peak, "rows": len(release)}))


if __name__ == "__main__":
    main()
