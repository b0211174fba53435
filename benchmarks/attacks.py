"""How long each attack takes on the Adult table.

Run: python benchmarks/attacks.py [--algorithms optimal,mondrian] [--repeat 3]

The 30,162 records of Adult with eight quasi-identifiers, k = 5 and p = 2 on two sensitive columns (occupation and
hours-per-week, which has numbers) and an insensitive one (capital-gain). A release is made by each algorithm, and all
attacks are made on the written file. Seconds are those of the processor, and the fastest of some rounds counts, since
other work on the machine slows rounds down. What attacks share, such as who fits which class, counts for the first.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import adult
import shoal
from shoal.attacks import battery

PRIVACY: list[dict[str, object]] = [
    {"model": "k-anonymity", "k": 5},
    {"model": "p-sensitive", "p": 2, "sensitive": "occupation"},
    {"model": "p-sensitive", "p": 2, "sensitive": "hours-per-week"},
]


class Clock:
    """Seconds of the processor by attack, read from the progress of the battery."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._step, self._since = "", 0.0

    def __call__(self, step: str, done: float) -> None:  # noqa: ARG002 - only the step matters
        """Another step begins; the one before it has ended."""
        now = time.process_time()
        if self._step.startswith("attacking by "):
            self.seconds[self._step.removeprefix("attacking by ")] += now - self._since
        self._step, self._since = step, now


def measured(table: Path, release: Path, algorithm: str) -> dict[str, float]:
    """Seconds by attack on the release of one algorithm, read from its file."""
    columns = {
        **adult.columns("occupation"),
        "hours-per-week": {"role": "sensitive"},
        "capital-gain": {"role": "insensitive"},
    }
    policy = shoal.Policy(
        columns=columns, privacy=PRIVACY, algorithm={"name": algorithm}, suppression=0.05, data=str(table)
    )
    shoal.publish(policy, out=release, force=True)
    clock = Clock()
    shoal.attack(release, policy, original=table, progress=clock)
    clock("", 1.0)
    return dict(clock.seconds)


def main() -> None:
    """Print a table as Markdown: a row per attack, a column per algorithm."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--algorithms", default="optimal,mondrian")
    asked.add_argument("--repeat", type=int, default=3)
    given = asked.parse_args()
    names = given.algorithms.split(",")
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "adult.csv"
        records = adult.write_table(table)
        for name in names:
            rounds = [measured(table, Path(folder) / "release.csv", name) for _ in range(given.repeat)]
            figures[name] = {attack: min(each[attack] for each in rounds) for attack in rounds[0]}
    show(records, figures)


def show(records: int, figures: dict[str, Any]) -> None:
    """The table, with the sums in its last line."""
    print(f"Adult, {records:,} records, eight quasi-identifiers, k = 5, p = 2: seconds\n")
    print("| attack |" + "".join(f" {name} |" for name in figures))
    print("|---|" + "---:|" * len(figures))
    for attack in battery.ATTACKS:
        print(f"| `{attack}` |" + "".join(f" {each.get(attack, 0.0):.3f} |" for each in figures.values()))
    print("| together |" + "".join(f" {sum(each.values()):.3f} |" for each in figures.values()))


if __name__ == "__main__":
    main()
