"""The hierarchies of the papers' experiments on Adult, made from the trees in ``papers/adult_hierarchies.yaml``."""

from __future__ import annotations

from typing import Any

from shoal.reproduce.paper import read_yaml

TREES: dict[str, Any] = read_yaml("adult_hierarchies")

SUN: dict[str, Any] = {
    "age": {"intervals": [5, 10, 20, 40]},
    "workclass": {"tree": TREES["workclass"]},
    "education": {"tree": TREES["education"]},
    "native-country": {"tree": TREES["country"]},
    "marital-status": {"tree": TREES["marital"]},
    "race": {"tree": TREES["race"]},
    "sex": {"tree": TREES["sex"]},
}
"""Sun Table 9, in its order; heights 5, 3, 4, 3, 3, 3 and 2."""

WANG: dict[str, Any] = {
    "age": {"intervals": [5, 10, 20]},
    "education": {"tree": TREES["education"]},
    "sex": "flat",
    "occupation": {"tree": TREES["occupation"]},
    "native-country": {"tree": TREES["country"]},
    "income": "flat",
}
"""Wang Table IV: ages in ranges of 5, 10 and 20 years, taxonomies for the rest."""

CAMPAN: dict[str, Any] = {
    "age": {"intervals": {"cuts": [[10, 20, 30, 40, 50, 60, 70, 80, 90, 100], [10, 20, 60, 100]]}},
    "workclass": "flat",
    "marital-status": {"tree": TREES["marital-short"]},
    "race": "flat",
    "sex": "flat",
    "native-country": {"tree": TREES["country"]},
}
"""Campan section 4: heights 1 for workclass, sex and race, 2 for marital status; ages by decades, then 20-59."""
CAMPAN_BOUNDARIES = {"age": 1, "native-country": 1}
"""Ages stay within their decade, countries within their region."""


def quasi_columns(hierarchies: dict[str, Any]) -> dict[str, Any]:
    """Columns of a policy with these hierarchies."""
    return {name: {"role": "quasi", "hierarchy": hierarchy} for name, hierarchy in hierarchies.items()}
