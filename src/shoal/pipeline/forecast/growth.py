"""How the time of a run grows, as measured, in seconds of the machine it was measured on.

Measured on Adult (1,000, 10,000 and 30,162 records) and on 300,000 made records, with four and eight quasi-identifiers,
for k-anonymity, with distinct l-diversity and with t-closeness (`python benchmarks/forecast.py` measures anew).
Searches over the lattice are so many checks of a node, a check being timed on the table itself; local recodings grow
with the distinct tuples n and the records r as the table below says.

Checked on other settings than those (six quasi-identifiers, k = 10, p = 3, t = 0.35): 81 of 84 runs took a time inside
the range estimated for them (`python benchmarks/forecast.py --columns 6`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

GROUPING = (1.0e-4, 4.5e-8)
"""Grouping n tuples took this much and this much a tuple on the machine of the measurements; the ratio of what it
takes here to that is the speed of this machine."""
LOADING = 0.6
"""Loading compiled kernels."""
COMPILING = (5.0, 25.0)
"""Compiling them, once on a machine."""
START = (0.35, 1.3)
"""A new process and its imports."""
LOADED_AFTER = 8_000_000
"""Items grouped before a search over the lattice loads compiled kernels, which then are so much faster:"""
COMPILED_IS = 4.0


@dataclass(frozen=True)
class Growth:
    """Seconds of a local recoding: fixed + a·n + b·n² + c·r."""

    fixed: float
    tuple_: float
    tuple_squared: float
    record: float

    def seconds(self, tuples: int, records: int) -> float:
        """What that is for a table."""
        return self.fixed + self.tuple_ * tuples + self.tuple_squared * tuples**2 + self.record * records


LOCAL: dict[str, dict[str, Growth]] = {
    "mondrian": {
        "sizes": Growth(0.012, 6.0e-6, 0.0, 2.0e-7),
        "classes": Growth(0.015, 9.0e-6, 0.0, 4.0e-7),
        "table": Growth(0.020, 9.0e-6, 0.0, 4.0e-7),
    },
    "top-down": {
        "sizes": Growth(0.05, 1.5e-5, 0.0, 2.5e-7),
        "classes": Growth(0.07, 3.7e-5, 0.0, 3.5e-7),
        "table": Growth(0.05, 1.1e-4, 2.8e-9, 3.0e-6),
    },
    "greedy-clustering": {
        "sizes": Growth(0.10, 5.0e-5, 0.0, 3.0e-7),
        "classes": Growth(0.15, 1.2e-4, 0.0, 5.0e-7),
        "table": Growth(0.30, 3.0e-4, 4.0e-8, 3.0e-6),
    },
}
"""By what the models look at: sizes of classes only, sensitive values of a class, or the whole release."""


def faithful_seconds(tuples: int, records: int, *, whole_table: bool) -> float:
    """Campan's algorithm to the letter: every class looks at the records, and at their combinations, that are left.

    Read off runs over 1,000 to 100,000 records with four and eight quasi-identifiers.
    """
    seconds = 0.02 + 1.0e-5 * records + 3.1e-10 * records**2 + 7.0e-9 * tuples * records
    return 3.5 * seconds if whole_table else seconds


def optimal_checks(nodes: int, *, prunes: bool) -> tuple[float, float]:
    """Nodes that the search for the best one looks at; all of them may be needed where the models do not prune."""
    root = math.sqrt(nodes)
    return (min(nodes, 0.4 * root + 1), min(nodes, 4 * root)) if prunes else (root, float(nodes))


def incognito_checks(shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
    """Nodes of all subsets of the quasi-identifiers that Incognito looks at."""
    subsets = math.prod(levels + 1 for levels in shape)
    checks = subsets**0.75
    return (0.15 * checks, 1.8 * checks) if prunes else (0.15 * checks, 1.8 * checks + math.prod(shape))


def walk_checks(shape: Sequence[int]) -> tuple[float, float]:
    """Nodes of a single path up the lattice, walked twice where models look at the whole release."""
    return 1.0, 2.0 * (sum(shape) - len(shape) + 1)


def checked(checks: float, check: float, items: int) -> float:
    """Seconds of so many checks: the first with NumPy, the rest with compiled kernels once they are loaded."""
    total = checks * max(items, 1)
    if total <= LOADED_AFTER:
        return checks * check
    slow = LOADED_AFTER / total
    return checks * check * (slow + (1 - slow) / COMPILED_IS) + LOADING


def around(tuples: int, records: int, columns: int, *, sensitive: bool) -> tuple[float, float]:
    """Reading, encoding, the lower bound, recoding, verifying and attacking: at least and at most."""
    bound = 5.0e-5 * min(tuples, 4000) * (1.5 if sensitive else 1.0)
    record = 2.5e-7 * (columns + 1)
    return 0.1 + bound + record * records, 0.25 + 1.3 * bound + 3.5 * record * records
