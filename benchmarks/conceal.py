"""What concealing costs, and what it hides: certain secrets over all small tables, loss and seconds on Adult.

Run: python benchmarks/conceal.py [small|exposure|price] [--keys N] [--records N] [--algorithms a,b]   (default: all)

*small*: every table of a few shapes, released with and without `conceal`; how many of the releases make the sensitive
value of somebody certain for a reader who knows everybody's quasi-identifiers, the policy and the code (with `conceal`
not the key): no other original explains the release. Every outcome of every draw is followed; of local recodings,
which draw more often, those of so many runs for each original in which each draw is a coin. What these miss could only
make more secrets look certain, never fewer. The answer that there is no release counts apart.
*exposure*: what the attack `informed` finds with and without, on generated tables (300 people whose illnesses depend on
where they live; 2,006 people of whom one postal code of 22 has to be left out) and on Adult where SHOAL_DATA is set:
the mean belief in the true secret (rate), what the release alone says (baseline), the difference with its 95% interval
over the releases, and exposed and certain records of all releases. Only algorithms that say what they refused.
*price*: Adult (eight quasi-identifiers, sensitive occupation), models by algorithms: NCP without, mean NCP over several
keys with, and the seconds of the search.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

import adult
import shoal
from shoal.attacks.attack import AttackResult, Scene
from shoal.attacks.attackers.informed import Informed
from shoal.attacks.original_people import original_scene
from shoal.attacks.released_classes import released_scene, rows_of_recoding
from shoal.encode.conceal_key import CONCEAL_VARIABLE
from shoal.encode.resolve import resolve
from shoal.errors import InfeasibleError
from shoal.io.source import load_table
from shoal.metrics import METRICS, ReleaseSummary
from shoal.pipeline.run import make_release
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
K = {"model": "k-anonymity", "k": 3}
ON_GENERATED: list[list[dict[str, Any]]] = [
    [K, {"model": "p-sensitive", "p": 2, "sensitive": "secret"}],
    [K, {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.4}, "sensitive": "secret"}],
]
GENERATED = 4  # tables
PRICED = ("optimal", "incognito", "greedy-lattice", "mondrian", "top-down", "greedy-clustering")


EXPOSED = ("optimal", "incognito", "greedy-lattice", "mondrian")  # of the others the attack finds no rate here


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


def generated(number: int, records: int = 300) -> pa.Table:
    """People in nine postal codes; in some of these HIV is frequent."""
    draw = Random(number)  # noqa: S311 - nothing is protected by it
    zips = [f"{draw.randrange(1, 4)}{draw.randrange(3)}" for _ in range(records)]
    ill = {place: draw.choice([1, 1, 1, 12]) for place in sorted(set(zips))}
    return pa.table(
        {
            "age": [str(draw.randrange(20, 60)) for _ in range(records)],
            "zip": zips,
            "secret": [draw.choices(["HIV", "Flu", "Asthma", "Cold"], [ill[each], 4, 3, 3])[0] for each in zips],
        }
    )


def with_small_group(number: int) -> tuple[list[str], list[str]]:
    """Postal codes and illnesses of 2,006 people: 6% have HIV, but 8 to 12 of the 22 in one postal code."""
    draw = Random(number)  # noqa: S311 - nothing is protected by it
    zips, secrets = ["11"] * 22, ["HIV"] * (8 + number) + ["Flu"] * (14 - number)
    for place in ("12", "13", "21", "22"):
        zips += [place] * 496
        secrets += ["HIV" if draw.random() < 0.06 else "Flu" for _ in range(496)]
    return zips, secrets


def policies(algorithm: str, *, conceal: bool) -> Iterator[tuple[pa.Table, shoal.Policy]]:
    """The generated tables, each with the policies that it is released by."""
    columns = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "secret": {"role": "sensitive"},
    }
    for number in range(GENERATED):
        for privacy in ON_GENERATED:
            asked = {"name": algorithm, **({"conceal": True} if conceal else {})}
            yield generated(number), shoal.Policy(columns=columns, privacy=privacy, algorithm=asked, suppression=0.1)


def policies_with_small_group(algorithm: str, *, conceal: bool) -> Iterator[tuple[pa.Table, shoal.Policy]]:
    """Tables of which one group fails a model, with the policy that leaves it out."""
    columns = {"zip": {"role": "quasi", "hierarchy": {"mask": "right"}}, "secret": {"role": "sensitive"}}
    limit = {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.3}, "sensitive": "secret"}
    for number in range(GENERATED):
        zips, secrets = with_small_group(number)
        asked = {"name": algorithm, **({"conceal": True} if conceal else {})}
        yield (
            pa.table({"zip": zips, "secret": secrets}),
            shoal.Policy(columns=columns, privacy=[K, limit], algorithm=asked, suppression=0.02),
        )


def adult_policy(table: Path, algorithm: str, *, conceal: bool) -> shoal.Policy:
    """The policy that the attack is timed with in `benchmarks/informed.py`."""
    return shoal.Policy(
        data=str(table),
        columns=adult.columns(SENSITIVE),
        privacy=[{"model": "k-anonymity", "k": 5}, {"model": "distinct-l-diversity", "l": 3, "sensitive": SENSITIVE}],
        algorithm={"name": algorithm, **({"conceal": True} if conceal else {})},
        suppression=0.02,
    )


def informed(source: pa.Table | str, policy: shoal.Policy, column: str) -> AttackResult | None:
    """What the informed adversary finds; None where there is no release."""
    try:
        made = make_release(source, policy)
    except InfeasibleError:
        return None
    rows = rows_of_recoding(policy, made.rows, made.resolved, made.recoding)
    released = released_scene(rows, policy)
    original = original_scene(released, policy, made.rows, made.resolved, made.recoding)
    return Informed.run(Scene(policy, rows, released, original, recoding=made.recoding), column)


def exposure_row(title: str, algorithm: str, conceal: str, results: list[AttackResult | None]) -> str:
    """Figures over some releases, as a row of the table."""
    made = [each for each in results if each is not None]
    rated = [each for each in made if each.status == "tried" and each.details["method"] != "witnesses"]
    start = f"| {title} | {algorithm} | {conceal} | {len(made)} | {len(rated)} "
    if not rated:
        return f"{start}| | | | | |"
    rates, baselines = (np.array([getattr(each, name) for each in rated]) for name in ("rate", "baseline"))
    rise = rates - baselines
    half = 1.96 * float(rise.std(ddof=1)) / len(rise) ** 0.5 if len(rise) > 1 else 0.0
    exposed, certain = sum(each.records or 0 for each in rated), sum(each.certain or 0 for each in rated)
    people = sum(each.of or 0 for each in rated)
    return (
        f"{start}| {rates.mean():.2%} | {baselines.mean():.2%} | {rise.mean():+.2%} ± {half:.2%} "
        f"| {exposed} of {people} | {certain} |"
    )


def exposure(keys: int, algorithms: list[str]) -> None:
    """What the informed adversary learns with and without."""
    print("\n| table | algorithm | conceal | releases | rated | rate | baseline | difference | exposed | certain |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "adult.csv"
        if "SHOAL_DATA" in os.environ:
            adult.write_table(table)
        tables: dict[str, Callable[..., Iterable[tuple[pa.Table | str, shoal.Policy]]]] = {
            "300 people": policies,
            "2,006 people": policies_with_small_group,
        }
        if table.exists():
            tables["Adult"] = lambda algorithm, *, conceal: [
                (str(table), adult_policy(table, algorithm, conceal=conceal))
            ]
        for title, made in tables.items():
            for algorithm in algorithms:
                for conceal in (False, True):
                    found = []
                    for key in range(keys if conceal else 1):
                        os.environ[CONCEAL_VARIABLE] = f"{key + 1:02x}" * 32
                        for source, asked in made(algorithm, conceal=conceal):
                            found.append(informed(source, asked, SENSITIVE if title == "Adult" else "secret"))
                    print(exposure_row(title, algorithm, "yes" if conceal else "no", found), flush=True)


def main() -> None:
    """All parts, or the one that is named."""
    parser = argparse.ArgumentParser(description="What concealing costs, and what it hides.")
    parser.add_argument("part", nargs="?", choices=("small", "exposure", "price"))
    parser.add_argument("--keys", type=int, default=5)
    parser.add_argument("--records", type=int, default=0, help="the first so many records of Adult; 0 for all")
    parser.add_argument("--runs", type=int, default=60, help="runs for each original of a small table")
    parser.add_argument("--algorithms", default="")
    parser.add_argument("--suppressions", default="0,0.02")
    asked = parser.parse_args()
    named = asked.algorithms.split(",") if asked.algorithms else []
    if asked.part in (None, "small"):
        small(asked.runs, named or list(ALGORITHMS))
    if asked.part in (None, "exposure"):
        exposure(asked.keys, named or list(EXPOSED))
    if asked.part in (None, "price"):
        suppressions = [float(each) for each in asked.suppressions.split(",")]
        price(asked.keys, asked.records, named or list(PRICED), suppressions)


if __name__ == "__main__":
    main()
