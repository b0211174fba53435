"""Attackers: what a release still tells. One file an attacker, its definition and citation on top.

Each attack is a function from a scene (`shoal.attacks.scene`) to an `Estimate`: who tried what, whom it exposed, and
the baseline that it must exceed to be a leak.
"""

ATTACKS = (
    "homogeneity",
    "homogeneity-insensitive",
    "similarity",
    "skewness",
    "background",
    "minimality",
    "inversion",
    "downcoding",
    "linkage",
    "linkage-insensitive",
    "inference",
    "composition",
)
"""The names of all attacks, in the order of reports."""
