"""Recursive (c, l)-diversity: the most frequent value is not much more frequent than the rarer ones together.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity", 2006,
recursive (c, l)-diversity: with r₁ ≥ r₂ ≥ … ≥ r_m the counts of the m known values of a class,
r₁ < c·(r_l + r_{l+1} + … + r_m).

- l > m: the sum on the right is empty, so the class fails whatever c is.
- l = 1: satisfied whatever c is, as the paper says, if a value of the class is known.
- m = 0: the class has no value at all and fails.

Parameters: ``c``, a number > 0, compared exactly; ``l``, a whole number ≥ 1.

In people: everybody with a known value weighs one, divided equally over the different values they have in the
class; the r are what the values weigh. Closed neither under merging nor under adding: merging two classes that share
people does not average their distributions.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import Parameter, ParameterKind
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import below, exact
from shoal.table.classes import ClassView, Counts, Mask


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
    counts = "values"  # with fewer than l of them the sum on the right is empty
    stops = frozenset({"homogeneity", "background"})
    position = 90

    l: int  # noqa: E741 - the name in the papers and in the policy
    _: KW_ONLY
    c: float
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes have a tail heavy enough for their most frequent value."""
        if self.l == 1:
            return np.asarray(view.known > 0)
        first, tail = self._first_and_tail(view)
        return below(first, tail, exact(self.c))

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """For each class the largest l at this c, and the smallest c at this l.

        The inequality is strict: c is the first number above r₁/(r_l + … + r_m), infinite where the sum is empty, and
        0 where l = 1 leaves it without a part. A class in which nothing is known reaches l = 0, and no c helps.
        """
        histogram, ranked = view.histogram, _descending(view)
        owner, starts = histogram.class_of, histogram.starts
        before = np.cumsum(ranked) - ranked
        tails = view.known[owner] * view.unit - (before - before[starts[owner]])
        first, tail = self._first_and_tail(view)
        passing = below(first[owner], tails, exact(self.c)).astype(np.int64)
        largest = np.where(view.known > 0, np.maximum(histogram.per_class_sum(passing), 1), 0).astype(np.float64)
        smallest = np.where(tail > 0, np.nextafter(first / np.maximum(tail, 1), np.inf), np.inf)
        return {
            "l": Strength(largest, at_least=True),
            "c": Strength(smallest if self.l > 1 else np.where(view.known > 0, 0.0, np.inf), at_least=False),
        }

    def _first_and_tail(self, view: ClassView) -> tuple[Counts, Counts]:
        """r₁ and r_l + … + r_m of each class."""
        histogram, ranked = view.histogram, _descending(view)
        ranks = np.arange(len(ranked)) - histogram.starts[histogram.class_of]
        tail = histogram.per_class_sum(np.where(ranks >= self.l - 1, ranked, 0))
        return histogram.per_class_max(histogram.weights), tail


def _descending(view: ClassView) -> Counts:
    """What the values of each class weigh, from largest to smallest, at the positions of its entries."""
    order = np.lexsort((-view.histogram.weights, view.histogram.class_of))
    return view.histogram.weights[order]
