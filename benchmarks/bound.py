"""The bound by prices on Adult after several amounts of work, with the processor seconds that it took.

Run: python benchmarks/bound.py

30,162 records, 9 quasi-identifiers, k = 5, nothing suppressed. Seconds are those of all threads together, without
compiling: the kernels are called once before.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import adult
import shoal
from shoal.pipeline.prepare import prepare
from shoal.search.bounds.price_bound import ncp_costs
from shoal.search.prices.solver import PriceSolver

MILLIONS = (100, 300, 700, 1500)


def main() -> None:
    """Print the table as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "adult.csv"
        adult.write_table(table)
        policy = shoal.Policy(columns=adult.columns(), privacy=[{"model": "k-anonymity", "k": 5}])
        problem = prepare(table, policy).resolved.problem
    costs = ncp_costs(problem)
    PriceSolver(problem, costs=costs).run(work=60_000_000)
    print("| work (million members) | bound (NCP) | processor seconds |")
    print("|---:|---:|---:|")
    for millions in MILLIONS:
        start = time.process_time()
        found = PriceSolver(problem, costs=costs).run(work=millions * 1_000_000)
        print(f"| {millions:,} | {found.bound:.4f} | {time.process_time() - start:.1f} |", flush=True)


if __name__ == "__main__":
    main()
