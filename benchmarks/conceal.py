"""What concealing costs, and what it hides: certain secrets over all small tables, loss and seconds on Adult.

Run: python benchmarks/conceal.py [small|price] [--keys N] [--records N] [--algorithms a,b]   (both parts by default)

*small*: every table of a few shapes, released with and without `conceal`; how many of the releases make the sensitive
value of somebody certain for a reader who knows everybody's quasi-identifiers, the policy and the code (with `conceal`
not the key): no other original explains the release. Every outcome of every draw is followed; of local recodings,
which draw more often, those of so many runs for each original in which each draw is a coin. What these miss could only
make more secrets look certain, never fewer. The answer that there is no release counts apart.
*price*: Adult (eight quasi-identifiers, sensitive occupation), models by algorithms: NCP without, mean NCP over several
keys with, and the seconds of the search.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import adult
import shoal
from shoal.encode.resolve import resolve
from shoal.errors import InfeasibleError
from shoal.io.source import load_table
from shoal.metrics import METRICS, ReleaseSummary
from shoal.search import ALGORITHMS
from shoal.search.conceal import Veto
from shoal.search.engine import LocalEngine
from shoal.search.problem import Problem
from shoal.table.distinct_rows import DistinctRows

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.concealment_oracle import SHAPES, betraying

SENSITIVE = "occupation"
MODELS: dict[str, list[dict[str, Any]]] = {
    "p-sensitive, p 3, k 5": [
        {"model": "k-anonymity", "k": 5}, {"model": "p-sensitive", "p": 3, "sensitive": SENSITIVE},
    ],
    "alpha-k, 0.4, k 5": [
        {"model": "k-anonymity", "k": 5}, {"model": "alpha-k-anonymity", "alpha": 0.4, "sensitive": SENSITIVE},
    ],
    "t-closeness 0.35, k 5": [
        {"model": "k-anonymity", "k": 5}, {"model": "t-closeness", "t": 0.35, "sensitive": SENSITIVE},
    ],
    "distinct l 5": [{"model": "distinct-l-diversity", "l": 5, "sensitive": SENSITIVE}],
}  # fmt: skip
PRICED = ("optimal", "incognito", "greedy-lattice", "mondrian", "top-down", "greedy-clustering")


def problem_of(table: Path, privacy: list[dict[str, Any]], algorithm: str, suppression: float) -> Problem:
    """The problem that a policy on Adult poses."""
    policy = shoal.Policy(
        columns=adult.columns(sensitive=SENSITIVE),
        privacy=privacy,
        algorithm={"name": algorithm},
        suppression=suppression,
    )
    problem = resolve(policy, DistinctRows.of(load_table(table, policy).table)).problem
    return replace(problem, table=problem.table.unfolded()) if ALGORITHMS[algorithm].works_on_records else problem


def run(problem: Problem, algorithm: str, veto: Veto | None) -> tuple[float, float] | None:
    """NCP and seconds of one search; None where there is no release."""
    asked = replace(problem, veto=veto)
    start = time.perf_counter()
    try:
        result = ALGORITHMS[algorithm].run(asked, LocalEngine(asked.table, asked.ladders, asked.domains))
    except InfeasibleError:
        return None
    seconds = time.perf_counter() - start
    return float(METRICS["ncp"].of(ReleaseSummary.of(result.recoding))), seconds


def price(keys: int, records: int, algorithms: list[str], suppressions: list[float]) -> None:
    """Loss and seconds with and without."""
    print("\n| algorithm | models | suppression | NCP without | NCP with | more | worst key | s without | s with |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "adult.csv"
        adult.write_table(table)
        if records:
            lines = table.read_text(encoding="utf-8").splitlines()
            table.write_text("\n".join(lines[: records + 1]) + "\n", encoding="utf-8")
        for algorithm in algorithms:
            for title, privacy in MODELS.items():
                for suppression in suppressions:
                    problem = problem_of(table, privacy, algorithm, suppression)
                    before = run(problem, algorithm, None)
                    if before is None:
                        print(f"| {algorithm} | {title} | {suppression:g} | no release | | | | | |")
                        continue
                    after = [run(problem, algorithm, Veto(bytes([key]) * 32, given=True)) for key in range(keys)]
                    ncp = [each[0] for each in after if each is not None]
                    seconds = sum(each[1] for each in after if each is not None) / max(len(ncp), 1)
                    mean, worst = sum(ncp) / max(len(ncp), 1), max(ncp, default=0.0)
                    missing = f" ({keys - len(ncp)} without release)" if len(ncp) < keys else ""
                    print(
                        f"| {algorithm} | {title} | {suppression:g} | {before[0]:.4f} | {mean:.4f}{missing} "
                        f"| {mean / before[0] - 1:+.1%} | {worst / before[0] - 1:+.1%} | {before[1]:.2f} "
                        f"| {seconds:.2f} |",
                        flush=True,
                    )


def small(runs: int, algorithms: list[str]) -> None:
    """Releases with a certain secret over all small tables."""
    print("\n| shape | algorithm | without: certain / releases | with: certain / releases | no release: certain |")
    print("|---|---|---:|---:|---:|")
    for tables in SHAPES:
        for algorithm in algorithms:
            cells = []
            for conceal in (False, True):
                cuts = ALGORITHMS[algorithm].search == "classes"  # too many draws to follow them all
                explained = tables.explained(algorithm, conceal=conceal, runs=runs if cuts else None)
                made = {each: worlds for each, worlds in explained.items() if each.release is not None}
                cells.append(f"{len(betraying(tables.sizes, made))} / {len(made)}")
            none = {each: worlds for each, worlds in explained.items() if each.release is None}
            refused = "yes" if betraying(tables.sizes, none) else "no" if none else "–"
            print(f"| {tables.name} | {algorithm} | {cells[0]} | {cells[1]} | {refused} |", flush=True)


def main() -> None:
    """Both parts, or the one that is named."""
    parser = argparse.ArgumentParser(description="What concealing costs, and what it hides.")
    parser.add_argument("part", nargs="?", choices=("small", "price"))
    parser.add_argument("--keys", type=int, default=5)
    parser.add_argument("--records", type=int, default=0, help="the first so many records of Adult; 0 for all")
    parser.add_argument("--runs", type=int, default=60, help="runs for each original of a small table")
    parser.add_argument("--algorithms", default="")
    parser.add_argument("--suppressions", default="0,0.02")
    asked = parser.parse_args()
    named = asked.algorithms.split(",") if asked.algorithms else []
    if asked.part != "price":
        small(asked.runs, named or list(ALGORITHMS))
    if asked.part != "small":
        suppressions = [float(each) for each in asked.suppressions.split(",")]
        price(asked.keys, asked.records, named or list(PRICED), suppressions)


if __name__ == "__main__":
    main()
