"""What proving a release costs, compared with making it, on a million records.

Run: python benchmarks/evidence.py [records]

Adult drawn with replacement, ages moved by up to three years; nine quasi-identifiers, a sensitive column
(relationship) and an insensitive one (capital-gain), k = 5 and p = 2. Anonymizing is reading, encoding, searching,
recoding, writing and verifying. Attacks, evidence and report are part of every run; `shoal.risk` looks at the original,
reading it again.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import adult
import shoal
from shoal.present.report.page import write_report

RECORDS = 1_000_000
PRIVACY: list[dict[str, object]] = [{"model": "k-anonymity", "k": 5}, {"model": "p-sensitive", "p": 2}]
ASKED: list[tuple[dict[str, object], float]] = [({"name": "optimal"}, 0.05), ({"name": "mondrian"}, 0.0)]


def write_perturbed(target: Path, records: int) -> None:
    """The Adult table drawn with replacement to so many records, its ages moved a little."""
    small = target.with_name("small.csv")
    adult.write_table(small)
    with small.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    random, age = np.random.default_rng(1), header.index("age")
    known = {int(row[age]) for row in rows}
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        drawn = zip(random.integers(0, len(rows), records), random.integers(-3, 4, records), strict=True)
        for place, moved in drawn:
            row = list(rows[place])
            row[age] = str(int(row[age]) + moved) if int(row[age]) + moved in known else row[age]
            writer.writerow(row)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """A result and how long it took."""
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def main() -> None:
    """Print the table as Markdown."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    with tempfile.TemporaryDirectory() as name:
        table, target = Path(name) / "adult.csv", Path(name) / "release.csv"
        write_perturbed(table, records)
        columns = {**adult.columns(), "relationship": {"role": "sensitive"}, "capital-gain": {"role": "insensitive"}}
        print(f"Adult, {records:,} records, nine quasi-identifiers, k = 5, p = 2\n")
        print("| algorithm | anonymizing | attacks | evidence | report | risk | last four together |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for algorithm, suppression in ASKED:
            policy = shoal.Policy(
                columns=columns, privacy=PRIVACY, algorithm=algorithm, suppression=suppression, data=str(table)
            )
            evidence = shoal.publish(policy, out=target, force=True).release.evidence
            stages = dict(evidence["seconds_by_stage"])
            attack, measured = stages.pop("attack"), stages.pop("evidence")
            _, report = timed(lambda evidence=evidence: write_report(evidence))
            _, risk = timed(lambda policy=policy: shoal.risk(table, policy))
            print(
                f"| {algorithm['name']} | {sum(stages.values()):.2f} s | {attack:.2f} s | {measured:.2f} s "
                f"| {report:.2f} s | {risk:.2f} s | {attack + measured + report + risk:.2f} s |",
                flush=True,
            )


if __name__ == "__main__":
    main()
