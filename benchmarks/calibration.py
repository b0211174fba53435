"""How often attacks call a leak what is chance, and how often they find leaks that were planted.

Run: python benchmarks/calibration.py [--tables 200] [--planted 20] [--seed 0] [--attacks skewness,…]

First part: tables whose secrets depend on nothing (`calibration_tables.py`), released once under k-anonymity alone and
once under models that also promise two values and categories in every class. An attack that tests for chance (its
results have a p-value) may call at most 5% of them a leak. Attacks that report facts are listed apart, with the records
that they expose and, where they say so, how many chance alone exposes: what is certain is certain, whatever brought it
about. Every sensitive column of a table is attacked by itself.

Second part: the share of planted leaks that were found, by kind and strength, with every attack that is meant to find
them. Tables that cannot be released as their policy asks are left out and counted.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import calibration_tables as tables
import shoal
from shoal.attacks.attack import AttackResult
from shoal.attacks.battery import ATTACKS
from shoal.attacks.chance.statistics import CHANCE, wilson

STRENGTHS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
MEANT_TO_FIND = {
    "value by person": ("skewness", "inference"),
    "value by district": ("homogeneity", "skewness", "background"),
    "two values by district": ("background", "skewness"),
    "category by district": ("similarity", "skewness"),
    "near numbers by district": ("proximity",),
    "value by ward": ("columns", "homogeneity-insensitive"),
    "value by other secret": ("columns",),
    "number of one's own": ("identifying-secret",),
}
"""The attacks that are meant to find each kind of planted leak. Others, such as linkage, find what a release does to
quasi-identifiers, whatever the secrets are."""


def attacked(case: tables.Case) -> tuple[AttackResult, ...]:
    """What the attacks find on a release of the table; nothing where there is no such release."""
    try:
        return shoal.anonymize(case.table, case.policy).facts.attacks
    except shoal.InfeasibleError:
        return ()


class Tally:
    """Results by attack: how many there were, how many of them are leaks."""

    def __init__(self) -> None:
        self.results: defaultdict[str, list[AttackResult]] = defaultdict(list)
        self.unreleased = 0

    def add(self, results: Sequence[AttackResult]) -> None:
        """Add the results of one table, each sensitive column by itself; of several by column the worst, the first."""
        self.unreleased += not results
        worst: dict[tuple[str, str | None], AttackResult] = {}
        for each in results:
            if each.status == "tried":
                worst.setdefault((each.name, each.sensitive if ATTACKS[each.name].on_sensitive else None), each)
        for (name, _), each in worst.items():
            self.results[name].append(each)

    @property
    def tests(self) -> dict[str, tuple[int, int]]:
        """For each attack that tests for chance the leaks, and how many results there are."""
        return {
            name: (sum(each.leak for each in some), len(some))
            for name, some in self.results.items()
            if all(each.p_value is not None for each in some)
        }


def independent(count: int, seed: int, *, diverse: bool) -> Tally:
    """The attacks on tables whose secrets depend on nothing."""
    tally = Tally()
    for number in range(count):
        tally.add(attacked(tables.independent(seed * count + number, diverse=diverse)))
    return tally


def found(kind: str, strength: float, count: int, seed: int) -> tuple[Counter[str], int]:
    """How many tables with a planted leak each attack found it in, and how many tables there were."""
    leaks: Counter[str] = Counter()
    released = 0
    for number in range(count):
        results = attacked(tables.planted(kind, strength, seed * count + number))
        released += bool(results)
        leaks.update({each.name for each in results if each.leak})
    return leaks, released


def show_independent(tally: Tally, title: str) -> None:
    """A table of attacks that test for chance, and one of those that report facts."""
    print(f"\n{title}; {tally.unreleased} tables without a release\n")
    print(f"| attack | attacked | leaks at a level of {CHANCE:.0%} | share | 95% interval |")
    print("|---|---:|---:|---:|---|")
    for name in [name for name in ATTACKS if name in tally.tests]:
        leaks, count = tally.tests[name]
        low, high = wilson(leaks, count)
        print(f"| `{name}` | {count} | {leaks} | {leaks / count:.1%} | {low:.1%} to {high:.1%} |")
    print("\n| attack | attacked | with facts | records exposed | expected by chance |")
    print("|---|---:|---:|---:|---:|")
    for name in [name for name in ATTACKS if name in tally.results]:
        if name not in tally.tests:
            some = tally.results[name]
            exposed = sum(each.records or 0 for each in some)
            chance = [each.details["expected_by_chance"] for each in some if "expected_by_chance" in each.details]
            expected = f"{sum(chance):,.0f}" if chance else ""
            print(
                f"| `{name}` | {len(some)} | {sum(each.leak for each in some)} | {exposed:,} | {expected} |", flush=True
            )
    not_made = [name for name in ATTACKS if name not in tally.results]
    print("\nNot made on such tables: " + ", ".join(f"`{name}`" for name in not_made), flush=True)


def show_planted(count: int, seed: int, chosen: Iterable[str]) -> None:
    """The share found by strength, a row per kind of leak and attack."""
    print("\n| planted | attack |" + "".join(f" {strength:g} |" for strength in STRENGTHS))
    print("|---|---|" + "---:|" * len(STRENGTHS))
    for kind, attacks in MEANT_TO_FIND.items():
        if not set(attacks) & set(chosen):
            continue
        shares: defaultdict[str, list[str]] = defaultdict(list)
        for strength in STRENGTHS:
            leaks, released = found(kind, strength, count, seed)
            for name in attacks:
                shares[name].append(f"{leaks[name] / max(released, 1):.0%}")
        for name in attacks:
            print(f"| {kind} | `{name}` |" + "".join(f" {share} |" for share in shares[name]), flush=True)


def main() -> None:
    """Print both parts as Markdown."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tables", type=int, default=200, help="independent tables, under each set of models")
    asked.add_argument("--planted", type=int, default=20, help="tables for each kind and strength of a planted leak")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--attacks", default="", help="only kinds of planted leaks that these are meant to find")
    given = asked.parse_args()
    chosen = given.attacks.split(",") if given.attacks else [name for each in MEANT_TO_FIND.values() for name in each]
    if given.tables:
        show_independent(
            independent(given.tables, given.seed, diverse=False), "Secrets that depend on nothing, k alone"
        )
        promised = "Secrets that depend on nothing, two values and categories promised"
        show_independent(independent(given.tables, given.seed, diverse=True), promised)
    if given.planted:
        show_planted(given.planted, given.seed, chosen)


if __name__ == "__main__":
    main()
