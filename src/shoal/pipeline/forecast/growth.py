"""How the time of a run grows, as measured, in seconds of the machine it was measured on.

Measured on Adult (1,000, 10,000 and 30,162 records) and on 300,000 made records, with four and eight quasi-identifiers,
for k-anonymity, with distinct l-diversity and with t-closeness (`python benchmarks/forecast.py` measures anew).
Searches over the lattice are so many checks of a node, a check being timed on the table itself; local recodings grow
with the distinct rows and the records as each algorithm declares.

Checked on other settings than those (six quasi-identifiers, k = 10, p = 3, t = 0.35): 81 of 84 runs took a time inside
the range estimated for them (`python benchmarks/forecast.py --columns 6`).
"""

from __future__ import annotations

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
