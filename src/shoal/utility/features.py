"""From cells to the numbers that a model reads: the expectation over all values that a cell may be.

A column of categories becomes one indicator a value, and a generalized cell the share that each value has among those
under it: 1/2 and 1/2 for America, which is USA or Canada. A column of numbers (or dates, or values in an order) becomes
one number, and a generalized cell the mean of the values under it; where values are missing, a second number is the
share of the missing one. An original cell is one value, so its indicators are 0 and 1 and its number is itself: a
generalized training record and an ungeneralized test record lie in the same space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.utility.columns import Domain, Floats, ValueColumn

MOST_INDICATORS = 64
"""A column of more categories has an indicator a group of them, so that the width of the table stays in bounds."""


@dataclass(frozen=True, eq=False)
class Layout:
    """How one column becomes numbers."""

    domain: Domain
    group_of: NDArray[np.int64] | None
    """For categories, the indicator that each value counts for; None for numbers."""
    words: str
    """The same for a reader."""

    def cells(self, column: ValueColumn) -> Floats:
        """The numbers of each cell, one row a record."""
        size = np.int64(self.domain.size)
        distinct, inverse = np.unique(column.first * size + column.last, return_inverse=True)
        first, last = np.divmod(distinct, size)
        width = (last - first + 1)[:, None]
        table = self._values()
        sums = np.vstack([np.zeros(table.shape[1]), np.cumsum(table, axis=0)])
        means = (sums[last + 1] - sums[first]) / width
        means[first == last] = table[first[first == last]]  # free of the rounding of sums
        if self.group_of is None:
            means = self._of_present(means)
        taken: Floats = means[inverse]
        return taken

    def _values(self) -> Floats:
        """The numbers of each single value: indicators, or the number (0 where missing) and whether it is missing."""
        if self.group_of is not None:
            indicators = np.zeros((self.domain.size, int(self.group_of.max()) + 1))
            indicators[np.arange(self.domain.size), self.group_of] = 1.0
            return indicators
        numbers = self.domain.numbers
        assert numbers is not None, "a column without indicators is one of numbers"
        missing = np.isnan(numbers)
        return np.column_stack([np.where(missing, 0.0, numbers), missing.astype(np.float64)])

    def _of_present(self, means: Floats) -> Floats:
        """The mean of the values that are present; a cell that can only be missing gets the middle of all values."""
        numbers = self.domain.numbers
        assert numbers is not None, "a column without indicators is one of numbers"
        if not np.isnan(numbers).any():
            return means[:, :1]
        present = 1.0 - means[:, 1]
        middle = float(np.nanmean(numbers))
        known = np.where(present > 0, means[:, 0] / np.where(present > 0, present, 1.0), middle)
        return np.column_stack([known, means[:, 1]])


def layout_of(column: ValueColumn) -> Layout:
    """How a column becomes numbers; ``column`` has the original training records, whose commonest values count."""
    domain = column.domain
    if domain.numbers is not None:
        words = {"numbers": "a number", "dates": "its place in time", "ordered": "its place in the order"}[domain.kind]
        missing = " and whether it is missing" if np.isnan(domain.numbers).any() else ""
        return Layout(domain, None, words + missing)
    if domain.size <= MOST_INDICATORS:
        return Layout(domain, np.arange(domain.size), f"{domain.size} categories")
    return _by_level(domain) or _commonest(column)


def _by_level(domain: Domain) -> Layout | None:
    """The finest level of the hierarchy that has few enough groups; None where only the root has."""
    if domain.hierarchy is None:
        return None
    for level, nodes in enumerate(domain.hierarchy.levels):
        distinct, group_of = np.unique(nodes, return_inverse=True)
        if 1 < len(distinct) <= MOST_INDICATORS:
            words = f"{len(distinct)} groups of {domain.size} values (level {level} of the hierarchy)"
            return Layout(domain, group_of.astype(np.int64), words)
    return None


def _commonest(column: ValueColumn) -> Layout:
    """The commonest values of the original training records, and one indicator for all others."""
    domain = column.domain
    counts = np.bincount(column.first, minlength=domain.size)
    chosen = np.lexsort([np.arange(domain.size), -counts])[: MOST_INDICATORS - 1]
    group_of = np.full(domain.size, MOST_INDICATORS - 1, dtype=np.int64)
    group_of[chosen] = np.arange(len(chosen))
    return Layout(domain, group_of, f"the {len(chosen)} commonest of {domain.size} categories, and all others")


def matrix(layouts: Sequence[Layout], columns: Mapping[str, ValueColumn]) -> Floats:
    """The records as rows of numbers."""
    return np.hstack([layout.cells(columns[layout.domain.name]) for layout in layouts])
