"""The first greedy clustering after installing, when kernels are compiled, and the next one: wall and CPU seconds.

Run: python benchmarks/first_run.py [--before COMMIT] [--records 1000 30162]

Every run is a process of its own, from start to verified release; the first with an empty folder of compiled code, the
next with what that left. Python's own bytecode is there for both, as in an installed package. CPU seconds count all
processes, so they tell what a busy machine does to the wall seconds.
With ``--before`` a commit is measured beside this version, one after the other, table by table. NCP and the number of
classes are printed so that speed is never gained by another answer.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import clustering

HERE = Path(__file__).resolve().parent
COMMAND = """
import json, sys
import clustering
columns = sys.argv[2].split(",")
evidence = clustering.run(sys.argv[1], clustering.k_policy("greedy-clustering", columns=columns))
print(json.dumps({"ncp": evidence["measures"]["ncp"], "classes": evidence["classes"]}))
"""
COLUMNS = (5, 9)  # quasi-identifiers: a small lattice and a large one


def run(
    source: Path, table: Path, columns: list[str], cache: Path, bytecode: Path
) -> tuple[float, float, dict[str, Any]]:
    """Wall seconds, CPU seconds and result of one run with the sources of a folder."""
    paths = os.pathsep.join([str(source), str(HERE)])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": ""}
    environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, str(table), ",".join(columns)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, json.loads(done.stdout)


def measure(versions: dict[str, Path], sizes: list[int], folder: Path) -> None:
    """Print a row for each table and version."""
    print("| records | quasi-identifiers | version | first run | CPU | next run | CPU | NCP | classes |")
    print("|---:|---:|---|---:|---:|---:|---:|---:|---:|")
    for number, size in enumerate(sizes):
        table = folder / f"{size}.csv"
        clustering.perturbed(size, 1, table)
        for width in COLUMNS:
            columns = clustering.QUASI[:width]
            for name, source in versions.items():
                places = source, table, columns
                if not number and width == COLUMNS[0]:
                    run(*places, folder / "discarded", folder / "bytecode")
                with tempfile.TemporaryDirectory() as cache:
                    first = run(*places, Path(cache), folder / "bytecode")
                    following = run(*places, Path(cache), folder / "bytecode")
                assert first[2] == following[2]
                figures = " | ".join(f"{seconds:.1f} s" for seconds in (*first[:2], *following[:2]))
                found = first[2]
                print(
                    f"| {size:,} | {width} | {name} | {figures} | {found['ncp']:.4f} | {found['classes']:,} |",
                    flush=True,
                )


def main() -> None:
    """Measure this version, and a commit beside it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--before", help="a commit to measure beside this version")
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 30_162])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        versions = {"this": HERE.parent / "src"}
        checkout = Path(folder) / "before"
        git = ["git", "-C", str(HERE.parent), "worktree"]
        try:
            if options.before:
                subprocess.run([*git, "add", "-q", "--detach", str(checkout), options.before], check=True)
                versions = {options.before: checkout / "src", **versions}
            measure(versions, options.records, Path(folder))
        finally:
            if checkout.exists():
                subprocess.run([*git, "remove", "--force", str(checkout)], check=True)


if __name__ == "__main__":
    main()
