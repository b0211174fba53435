"""Loss, time and memory of the local recodings on wide tables: many columns, long ladders, thousands of values.

Run: python benchmarks/wide.py [TABLE ...] [--algorithms auto mondrian …]

All tables by default; their names are those of wide_tables.TABLES. An algorithm that refuses a table gets a row with
the code of its error. k = 5, nothing suppressed, each run in a separate process. *search* is the search alone, *all*
from reading to verified; CPU seconds are those of the whole process, which do not depend on what else the machine does.
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
from pathlib import Path
from typing import Any

import shoal
from shoal.errors import InputError
from wide_tables import TABLES

ALGORITHMS = ("auto", "mondrian", "top-down", "greedy-clustering")
ALONE = "import json, sys, wide; print(json.dumps(wide.run(*sys.argv[1:])))"


def run(table: str, name: str, algorithm: str) -> dict[str, Any]:
    """One release: its loss, classes, seconds and memory."""
    columns = TABLES[name]().columns
    policy = shoal.Policy(
        columns=columns, privacy=[{"model": "k-anonymity", "k": 5}], algorithm={"name": algorithm, "metric": "ncp"}
    )
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        evidence = shoal.anonymize(table, policy).evidence
    except InputError as error:
        return {"refused": error.code}
    chosen = evidence["search"].get("chosen", {}).get("name", "")
    return {
        "algorithm": f"{algorithm} ({chosen})" if chosen else algorithm,
        "ncp": evidence["measures"]["ncp"],
        "classes": evidence["classes"],
        "verified": evidence["verified"],
        "search": evidence["seconds_by_stage"]["search"],
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []])
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS)
    options = parser.parse_args()
    print("| table | records | QIs | algorithm | NCP | classes | search | all | CPU | peak memory | verified |")
    print("|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tables or TABLES:
            made, path = TABLES[name](), Path(folder) / "table.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(made.values)
                rows = list(zip(*made.values.values(), strict=True))
                writer.writerows(rows)
            for algorithm in options.algorithms:
                printed = subprocess.run(
                    [sys.executable, "-c", ALONE, str(path), name, algorithm],
                    check=True, capture_output=True, text=True, cwd=Path(__file__).parent,
                ).stdout  # fmt: skip
                found = json.loads(printed.splitlines()[-1])
                about = f"| {name} | {len(rows):,} | {len(made.values)} |"
                if "refused" in found:
                    print(f"{about} {algorithm} | {found['refused']} | | | | | | |", flush=True)
                    continue
                print(
                    f"{about} {found['algorithm']} | {found['ncp']:.4f} "
                    f"| {found['classes']:,} | {found['search']:.1f} s | {found['wall']:.1f} s | {found['cpu']:.1f} s "
                    f"| {found['memory'] / 1e9:.2f} GB | {'yes' if found['verified'] else 'no'} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
