"""`auto` where the policy asks for one level per column."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from shoal.search import ALGORITHMS
from shoal.search.algorithm import Growth, Sees
from shoal.search.algorithms.auto import Auto
from shoal.search.diagnosis.diagnosis import EXHAUSTIVE


class AutoFullDomain(Auto):
    """The same options, and what algorithms that search the lattice declare."""

    scope = "full-domain"
    search = "best-node"
    tight_labels = False
    splits_duplicates = False
    works_on_records = False
    bytes_per_row = 0
    growth: ClassVar[Mapping[Sees, Growth]] = {}

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
        """As many as the search for the best node."""
        return ALGORITHMS[EXHAUSTIVE].checks(shape, prunes=prunes)
