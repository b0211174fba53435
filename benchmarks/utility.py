"""What the local algorithms lose on Adult, and how long they take.

Run: python benchmarks/utility.py

30,162 records, nothing suppressed. NCP is the arithmetic mean over all cells of (leaves - 1)/(domain - 1). Quoted,
measured elsewhere on a comparable 2-core machine and not run here: ARX's best local recoding 0.059 in 5.2 s and 0.054
in 21.7 s at k = 5; 0.037 in 2.6 s with 3-sensitive occupation; with t-closeness 0.2 79 s and 4,424 records suppressed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import adult
import shoal

K5: dict[str, object] = {"model": "k-anonymity", "k": 5}
ASKED: list[tuple[str, list[dict[str, object]], str | None]] = [
    ("k = 5, 9 QIs", [K5], None),
    ("k = 5, 3-sensitive occupation, 8 QIs", [K5, {"model": "p-sensitive", "p": 3}], "occupation"),
    ("k = 5, 0.2-close occupation, 8 QIs", [K5, {"model": "t-closeness", "t": 0.2}], "occupation"),
]
ALGORITHMS: list[dict[str, object]] = [
    {"name": "optimal"},
    {"name": "top-down"},
    {"name": "mondrian"},
    {"name": "greedy-clustering"},
    {"name": "mondrian", "refine": 15},
    {"name": "greedy-clustering", "refine": 15},
]


def main() -> None:
    """Print the table as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "adult.csv"
        records = adult.write_table(table)
        print(f"Adult, {records:,} records, nothing suppressed\n")
        print("| asked | algorithm | NCP | search | read to verified | classes | lower bound | NCP ÷ bound |")
        print("|---|---|---:|---:|---:|---:|---:|---:|")
        for title, privacy, sensitive in ASKED:
            for algorithm in ALGORITHMS:
                policy = shoal.Policy(columns=adult.columns(sensitive), privacy=privacy, algorithm=algorithm)
                start = time.perf_counter()
                evidence = shoal.anonymize(table, policy).evidence
                seconds = time.perf_counter() - start
                bound = evidence["bound"]
                shown = f"{algorithm['name']}{', refined' if 'refine' in algorithm else ''}"
                print(
                    f"| {title} | {shown} | {evidence['measures']['ncp']:.4f} "
                    f"| {evidence['seconds_by_stage']['search']:.1f} s | {seconds:.1f} s | {evidence['classes']:,} "
                    f"| {bound['ncp']:.4f} | {bound['ratio']:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
