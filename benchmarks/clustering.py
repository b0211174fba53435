"""Time and loss of greedy clustering by number of records, and in the setting of Campan et al. 2010.

Run: python benchmarks/clustering.py [growth|campan|million]   (all three by default)

*growth*: Adult (9 quasi-identifiers, k = 5), from 1,000 records to all, drawn with a seed, and perturbed copies beyond;
search time and loss, and the exponent of the growth between the sizes (a doubling of time with the records is 1).
*campan*: 45,222 records, QI age, workclass, marital status, race, sex and native country, boundaries on age decades and
country regions, sensitive education-num, education and occupation, k = 4 … 20 and p = 2 … 13 ≤ k; warm search times.
*million*: a million perturbed records in a separate process, with its peak memory.
"""

from __future__ import annotations

import csv
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import adult
import shoal

QUASI = list(adult.HIERARCHY_OF)
SIZES = (1_000, 3_000, 10_000, 30_162, 100_000, 300_000)
ALONE = "import clustering, json, sys; print(json.dumps(clustering.run(sys.argv[1], clustering.k_policy(sys.argv[2]))))"
CAMPAN_QUASI = ("age", "workclass", "marital-status", "race", "sex", "native-country")
CAMPAN_SENSITIVE = ("education-num", "education", "occupation")


def perturbed(records: int, seed: int, target: Path) -> None:
    """Draw so many records of Adult; beyond all there are, with one column each taken from another record.

    Copies alone would be exact duplicates, which cost nothing: a larger table must also have new combinations.
    """
    draw = random.Random(seed)  # noqa: S311 - a benchmark's data must be the same each time
    with (adult.data_folder() / "adult.csv").open(newline="", encoding="utf-8") as source:
        rows = [row for row in list(csv.DictReader(source))[: adult.TRAINING_RECORDS] if "?" not in row.values()]
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(QUASI)
        if records <= len(rows):
            writer.writerows([row[name] for name in QUASI] for row in draw.sample(rows, records))
            return
        for _ in range(records):
            one, other, taken = draw.choice(rows), draw.choice(rows), draw.choice(QUASI)
            writer.writerow([(other if name == taken else one)[name] for name in QUASI])


def run(table: Path, policy: shoal.Policy) -> dict[str, Any]:
    """The evidence of one release."""
    return dict(shoal.anonymize(table, policy).evidence)


def k_policy(algorithm: str, k: int = 5, columns: Sequence[str] = QUASI) -> shoal.Policy:
    """k-anonymity with the nine quasi-identifiers of Adult, or some of them."""
    chosen = {name: column for name, column in adult.columns().items() if name in columns}
    return shoal.Policy(columns=chosen, privacy=[{"model": "k-anonymity", "k": k}], algorithm={"name": algorithm})


def growth(folder: Path) -> None:
    """Time and loss against the number of records."""
    print("\n## Growth, k = 5, 9 quasi-identifiers\n")
    print("| records | classes | search | grows as n^ | NCP | bound | NCP ÷ bound |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    table, before = folder / "table.csv", None
    perturbed(SIZES[0], 1, table)
    run(table, k_policy("greedy-clustering"))  # load the kernels
    for records in SIZES:
        perturbed(records, 1, table)
        evidence = run(table, k_policy("greedy-clustering"))
        seconds, bound = evidence["seconds_by_stage"]["search"], evidence["bound"]
        estimated = " (estimated)" if bound["estimated"] else ""
        exponent = "" if before is None else f"{math.log(seconds / before[1]) / math.log(records / before[0]):.2f}"
        print(
            f"| {records:,} | {evidence['classes']:,} | {seconds:.2f} s | {exponent} "
            f"| {evidence['measures']['ncp']:.4f} | {bound['ncp']:.4f}{estimated} | {bound['ratio']:.2f} |",
            flush=True,
        )
        before = (records, seconds)


def campan_policy(k: int, p: int, *, bounded: bool) -> shoal.Policy:
    """Constrained p-sensitive k-anonymity as in the paper's section 4; without boundaries GreedyPKClustering's task."""
    folder = adult.data_folder() / "adult_hierarchies"
    columns: dict[str, Any] = {}
    for name in CAMPAN_QUASI:
        columns[name] = {"role": "quasi", "hierarchy": {"levels": str(folder / f"{name}.csv")}}
    if bounded:
        columns["age"]["boundary"] = 2
        columns["native-country"]["boundary"] = 1
    for name in CAMPAN_SENSITIVE:
        columns[name] = {"role": "sensitive"}
    privacy = [
        {"model": "k-anonymity", "k": k},
        *({"model": "p-sensitive", "p": p, "sensitive": name} for name in CAMPAN_SENSITIVE),
    ]
    return shoal.Policy(
        columns=columns, privacy=privacy, algorithm={"name": "greedy-clustering", "metric": "ncp"}, suppression=0.1
    )


def campan(folder: Path) -> None:
    """The paper's grid."""
    table = folder / "campan.csv"
    with (adult.data_folder() / "adult.csv").open(newline="", encoding="utf-8") as source:
        rows = [row for row in csv.DictReader(source) if "?" not in row.values()]
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*CAMPAN_QUASI, *CAMPAN_SENSITIVE], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    print(f"\n## Campan's setting, {len(rows):,} records, 6 quasi-identifiers, 3 sensitive columns\n")
    print("| k | p | search, boundaries | suppressed | NCP | search, none | NCP |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    run(table, campan_policy(4, 2, bounded=True))  # load the kernels
    for k in (4, 8, 10, 20):
        for p in [each for each in (2, 4, 6, 8, 10, 13) if each <= k]:
            cells = []
            for bounded in (True, False):
                evidence = run(table, campan_policy(k, p, bounded=bounded))
                cells.append(f"{evidence['seconds_by_stage']['search']:.2f} s")
                cells += [f"{evidence['suppressed']:,}"] * bounded + [f"{evidence['measures']['ncp']:.4f}"]
            print(f"| {k} | {p} | {' | '.join(cells)} |", flush=True)


def million(folder: Path) -> None:
    """A million records in a process of its own."""
    table = folder / "million.csv"
    perturbed(1_000_000, 1, table)
    print("\n## A million records, k = 5, 9 quasi-identifiers\n")
    print("| algorithm | read to verified | search | peak memory | NCP | classes |")
    print("|---|---:|---:|---:|---:|---:|")
    for algorithm in ("mondrian", "top-down", "greedy-clustering"):
        told = subprocess.run(
            [sys.executable, "-c", ALONE, str(table), algorithm],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
        )
        evidence = json.loads(told.stdout)
        print(
            f"| {algorithm} | {evidence['seconds']:.1f} s | {evidence['seconds_by_stage']['search']:.1f} s "
            f"| {evidence['peak_memory_bytes'] / 1e9:.2f} GB | {evidence['measures']['ncp']:.4f} "
            f"| {evidence['classes']:,} |",
            flush=True,
        )


def main() -> None:
    """Print the tables as Markdown."""
    parts = {"growth": growth, "campan": campan, "million": million}
    asked = sys.argv[1:] or list(parts)
    with tempfile.TemporaryDirectory() as name:
        for part in asked:
            parts[part](Path(name))


if __name__ == "__main__":
    main()
