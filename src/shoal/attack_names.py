"""The names of the attacks, for policies that accept what one of them finds.

A policy is read without the attackers, which need tables and searches. So their names are listed here; those of other
packages are the names of their entry points, which are known without loading them.
"""

from shoal.plugins import installed

BUILT_IN = (
    "homogeneity",
    "homogeneity-insensitive",
    "similarity",
    "skewness",
    "background",
    "columns",
    "informed",
    "undone",
    "inversion",
    "refinement",
    "downcoding",
    "linkage",
    "linkage-insensitive",
    "events",
    "inference",
    "composition",
    "proximity",
    "identifying-secret",
)
"""The attacks that come with Shoal, in the order of the reports."""
GROUP = "shoal.attacks"
"""The entry point group of attacks in other packages."""


def attack_names() -> tuple[str, ...]:
    """Every attack that a policy can name."""
    return (*BUILT_IN, *sorted(point.name for point in installed(GROUP)))
