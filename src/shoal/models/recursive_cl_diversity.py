"""Recursive (c, l)-diversity: the most frequent value is not much more frequent than the rarer ones together.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity", 2006,
recursive (c, l)-diversity: with r₁ ≥ r₂ ≥ … ≥ r_m the counts of the m values of a class,
r₁ < c·(r_l + r_{l+1} + … + r_m).

- l > m: the sum on the right is empty, so the class fails whatever c is.
- l = 1: always satisfied, as the paper says, whatever c is.

Parameters: ``c``, a number > 0, compared exactly; ``l``, a whole number ≥ 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.errors import PolicyProblem
from shoal.models.base import Model, Strength
from shoal.models.exact import below, exact
from shoal.models.parameters import (
    counted,
    listed,
    no_parameter,
    number_problems,
    sensitive_problems,
    whole,
    whole_number_problems,
)
from shoal.table.classes import ClassView, Counts, Floats, Mask


@dataclass(frozen=True)
class RecursiveCLDiversity(Model):
    """r₁ < c·(r_l + … + r_m)."""

    name: ClassVar[str] = "recursive-cl-diversity"
    citation: ClassVar[str] = "Machanavajjhala et al. 2006, recursive (c, l)-diversity"
    merge_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = False

    l: int  # noqa: E741 - the name in the papers and in the policy
    _: KW_ONLY
    c: float
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes have a tail heavy enough for their most frequent value."""
        if self.l == 1:
            return np.ones(len(view.sizes), dtype=np.bool_)
        first, tail = self._first_and_tail(view)
        return below(first, tail, exact(self.c))

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """For each class the largest l at this c, and the smallest c at this l.

        The inequality is strict: c is the first number above r₁/(r_l + … + r_m), infinite where the sum is empty, and
        0 where l = 1 leaves it without a part.
        """
        histogram, ranked = view.histogram, _descending(view)
        owner, starts = histogram.class_of, histogram.starts[:-1]
        before = np.cumsum(ranked) - ranked
        tails = view.sizes[owner] - (before - before[starts][owner])
        passing = below(ranked[starts][owner], tails, exact(self.c)).astype(np.int64)
        largest = np.maximum(np.asarray(histogram.per_class_sum(passing), dtype=np.int64), 1)
        return {
            "l": Strength(largest.astype(np.float64), at_least=True),
            "c": Strength(self._smallest_c(view), at_least=False),
        }

    def lacks(self, view: ClassView, index: int) -> str:
        """The frequencies on both sides of the inequality."""
        if self.holds(view)[index]:
            return listed([])
        first, tail = (int(side[index]) for side in self._first_and_tail(view))
        distinct = int(view.histogram.distinct[index])
        if distinct < self.l:
            return listed([f"{counted(distinct, 'distinct values')} of {self.sensitive}, {self.l} asked"])
        most = f"the most frequent value of {self.sensitive} occurs {counted(first, 'times')}"
        return listed([f"{most}, fewer than {self.c} x {tail} asked (values from rank {self.l} on)"])

    def relaxed(self, parameter: str, value: float) -> RecursiveCLDiversity:
        """A copy with another l or c."""
        if parameter == "l":
            return replace(self, l=whole(parameter, value))
        if parameter != "c":
            no_parameter(self.name, parameter, ["l", "c"])
        return replace(self, c=value)

    def parameter_problems(self) -> list[PolicyProblem]:
        """l is a whole number from 1 on, c a number above 0."""
        return [
            *whole_number_problems("l", self.l),
            *number_problems("c", self.c, low=0, open_low=True),
            *sensitive_problems(self.sensitive),
        ]

    def _first_and_tail(self, view: ClassView) -> tuple[Counts, Counts]:
        """r₁ and r_l + … + r_m of each class."""
        histogram, ranked = view.histogram, _descending(view)
        ranks = np.arange(len(ranked)) - np.repeat(histogram.starts[:-1], histogram.distinct)
        tail = histogram.per_class_sum(np.where(ranks >= self.l - 1, ranked, 0))
        return ranked[histogram.starts[:-1]], np.asarray(tail, dtype=np.int64)

    def _smallest_c(self, view: ClassView) -> Floats:
        if self.l == 1:
            return np.zeros(len(view.sizes))
        first, tail = self._first_and_tail(view)
        above = np.nextafter(first / np.maximum(tail, 1), np.inf)
        return np.asarray(np.where(tail > 0, above, np.inf), dtype=np.float64)


def _descending(view: ClassView) -> Counts:
    """The counts of each class from largest to smallest, in the places of its entries."""
    order = np.lexsort((-view.histogram.counts, view.histogram.class_of))
    return view.histogram.counts[order]
