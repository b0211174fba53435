"""What an algorithm returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.search.prices.solver import PriceSolver
from shoal.table.recoding import Recoding

_SHOWN_WHEN_CONCEALED = frozenset(
    {"ambiguity", "chosen", "classes", "cuts", "guarantees", "lower_bound", "metric", "mode", "nodes", "ranges"}
)
"""Facts of a search that follow from the release, the policy and the quasi-identifiers."""


@dataclass(frozen=True)
class SearchResult:
    """A recoding that satisfies the problem, and what the search did."""

    recoding: Recoding
    search: Mapping[str, Any]  # facts of the search: nodes in the lattice, nodes checked, minimal nodes, …
    solver: PriceSolver | None = field(default=None, repr=False, compare=False)
    """The prices that guided it: a bound may go on from there."""

    def concealed(self, *, given: bool) -> SearchResult:
        """The same without facts that would tell what failed or was refused; ``given``: whose the key is."""
        shown = {name: fact for name, fact in self.search.items() if name in _SHOWN_WHEN_CONCEALED}
        return replace(self, search={**shown, "conceal": {"key": "given" if given else "fresh"}})
