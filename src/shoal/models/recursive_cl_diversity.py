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
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import Parameter, ParameterKind
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import below, exact
from shoal.table.classes import ClassView, Counts, Floats, Mask


@dataclass(frozen=True)
class RecursiveCLDiversity(Model):
    """r₁ < c·(r_l + … + r_m)."""

    name = "recursive-cl-diversity"
    title = "Recursive (c, l)-diversity"
    summary = (
        "In every class the most frequent sensitive value occurs less than c times as often as the l-th most frequent "
        "value and all rarer ones together, so the most frequent value does not outweigh the rarer ones."
    )
    citation = "Machanavajjhala et al. 2006, recursive (c, l)-diversity"
    card = Card(
        "People know what somebody does not have.",
        "The most frequent value of every class is less than c times all values from the l-th on together. It still "
        "holds, with l lower by one, when an attacker rules a value out.",
        "Where attackers are expected to know what people do not have, and frequencies matter.",
        "With l = 2 and c = 2, the most frequent value has less than two thirds of a class.",
        (
            "How grave or how alike values are.",
            "Two parameters that are hard to explain; (α, k)-anonymity limits the share directly.",
        ),
    )
    parameters = (
        Parameter("l", ParameterKind.WHOLE, "the rank from which values are summed", low=1, start=2, at_least=True),
        Parameter(
            "c", ParameterKind.NUMBER, "how many times that sum the most frequent value stays below", open_low=True,
            start=2, step=0.5, at_least=False,
        ),
    )  # fmt: skip
    example = "{model: recursive-cl-diversity, l: 2, c: 2}"
    merge_closed = True
    superset_closed = False
    stops = frozenset({"homogeneity", "background"})
    position = 90

    l: int  # noqa: E741 - the name in the papers and in the policy
    _: KW_ONLY
    c: float
    sensitive: str

    @property
    def least_values(self) -> int:
        """With fewer than l values the sum on the right is empty."""
        return self.l

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
