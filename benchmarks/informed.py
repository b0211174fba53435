"""What somebody learns who knows how a release was made: over all small tables of a kind, and on Adult.

Run: python benchmarks/informed.py

Small tables: people in three postal codes (11, 12, 21), so many in each, each with HIV or Flu, in every combination;
k = 2, at most half of a class may have HIV, and up to 40% of the records may be suppressed. Tables that no release
satisfies are left out. Releases that look the same are counted once. A release makes a secret certain if somebody has
the same value in every table that the algorithm turns into it, and the release alone does not show it.

Where SHOAL_DATA names a folder with the Adult table, the attack is timed on 30,162 records, beside all other attacks.
What it finds where the policies conceal is measured by `benchmarks/conceal.py`.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

import adult
import shoal
from shoal.attacks.attack import AttackResult, Scene
from shoal.attacks.attackers.informed import Informed
from shoal.attacks.battery import ATTACKS, attack_rows
from shoal.attacks.original_people import original_scene
from shoal.attacks.released_classes import released_scene, rows_of_recoding
from shoal.encode.result import Result
from shoal.errors import InfeasibleError, PolicyError
from shoal.pipeline.run import make_release

ALGORITHMS = ("optimal", "incognito", "greedy-lattice", "mondrian", "top-down", "greedy-clustering")
SHAPES = ((2, 2, 2), (2, 4, 0), (3, 2, 2), (2, 2, 4))
"""How many people live in each postal code."""
SUPPRESSION = (0.0, 0.4)


def small_tables() -> Iterator[tuple[tuple[int, ...], list[tuple[str, str]]]]:
    """Every table of each shape, by how many of each postal code have HIV."""
    for shape in SHAPES:
        for ill in product(*(range(size + 1) for size in shape)):
            people: list[tuple[str, str]] = []
            for place, size, number in zip(("11", "12", "21"), shape, ill, strict=True):
                people += [(place, "HIV")] * number + [(place, "Flu")] * (size - number)
            yield shape, people


def small_policy(algorithm: str, suppression: float) -> shoal.Policy:
    """The policy of the small tables."""
    return shoal.Policy(
        columns={"zip": {"role": "quasi", "hierarchy": {"mask": "right"}}, "cond": {"role": "sensitive"}},
        privacy=[
            {"model": "k-anonymity", "k": 2},
            {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.5}, "sensitive": "cond"},
        ],
        algorithm={"name": algorithm},
        suppression=suppression,
    )


def attacked(made: Result, policy: shoal.Policy) -> AttackResult:
    """What the attack finds on a release."""
    rows = rows_of_recoding(policy, made.rows, made.resolved, made.recoding)
    released = released_scene(rows, policy)
    original = original_scene(released, policy, made.rows, made.resolved, made.recoding)
    return Informed.run(Scene(policy, rows, released, original, recoding=made.recoding), "cond")


def count_small(algorithm: str, suppression: float) -> tuple[int, int, int, int]:
    """Tables released, different releases, and of these those with an exposed and with a certain secret."""
    policy = small_policy(algorithm, suppression)
    tables, releases = 0, dict[Any, AttackResult]()
    for shape, people in small_tables():
        zips, conditions = zip(*people, strict=True)
        try:
            made = make_release(pa.table({"zip": zips, "cond": conditions}), policy)
        except (InfeasibleError, PolicyError):  # nothing satisfies, or nobody has HIV
            continue
        tables += 1
        shown = shape, tuple(map(tuple, (row.values() for row in made.table.to_pylist())))
        found = attacked(made, policy)
        if shown not in releases or (found.certain or 0) > (releases[shown].certain or 0):
            releases[shown] = found
    certain = sum(bool(each.certain) for each in releases.values())
    return tables, len(releases), sum(each.leak for each in releases.values()), certain


def time_adult(algorithm: str, table: Path) -> str:
    """Seconds of the attack and of the others on Adult, and what it finds, as a row of the table."""
    policy = shoal.Policy(
        data=str(table),
        columns=adult.columns("occupation"),
        privacy=[
            {"model": "k-anonymity", "k": 5},
            {"model": "distinct-l-diversity", "l": 3, "sensitive": "occupation"},
        ],
        algorithm={"name": algorithm},
        suppression=0.02,
    )
    made = make_release(str(table), policy)
    rows = rows_of_recoding(policy, made.rows, made.resolved, made.recoding)
    inputs = policy, rows, made.rows, made.resolved, made.recoding
    seconds: dict[bool, float] = {}
    for chosen in (False, True):
        kept = {name: each for name, each in ATTACKS.items() if (name == Informed.name) is chosen}
        left_out = {name: ATTACKS.pop(name) for name in list(ATTACKS) if name not in kept}
        start = time.perf_counter()
        report = attack_rows(*inputs)
        seconds[chosen] = time.perf_counter() - start
        ATTACKS.update(left_out)
    (found,) = report.attacks
    said = found.details.get("method", found.outcome)
    return f"| {algorithm} | {seconds[True]:.2f} | {seconds[False]:.2f} | {said} | {found.records} | {found.certain} |"


def main() -> None:
    """Print the tables as Markdown."""
    print("| algorithm | suppression | tables | releases | with an exposed secret | with a certain secret |")
    print("|---|---|---|---|---|---|")
    for algorithm in ALGORITHMS:
        for suppression in SUPPRESSION:
            figures = " | ".join(map(str, count_small(algorithm, suppression)))
            print(f"| {algorithm} | {suppression:.0%} | {figures} |", flush=True)
    if "SHOAL_DATA" not in os.environ:
        return
    print("\n| Adult, 30,162 records | informed, s | other attacks, s | method | exposed | certain |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "adult.csv"
        adult.write_table(table)
        for algorithm in ALGORITHMS:
            print(time_adult(algorithm, table), flush=True)


if __name__ == "__main__":
    main()
