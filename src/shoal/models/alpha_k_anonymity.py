"""(α, k)-anonymity: no sensitive value has more than a share α of the known values of any class.

R. Wong, J. Li, A. Fu, K. Wang, "(α, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
publishing", 2006: the α-deassociation requirement, c(v)/n ≤ α, with n the records of the class whose value is known.
The k is asked for by a k-anonymity beside it. A class in which nothing is known makes no value likely and satisfies it.
Merging keeps it: (c + c')/(n + n') lies between c/n and c'/n'. Adding unknown values changes nothing.

Parameters: ``alpha``, one number in (0, 1] for every value, or a mapping from value to limit, where a value that is
not listed is free. Compared exactly.

In people: c(v) is the number of people who have the value v in the class, and n the number of people of whom a value is
known there. Somebody with two values counts for both. Closed neither under merging nor under adding: people 1 and 2 may
have HIV and flu in one class and the other way round in the next, and in both together everybody has both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import ParameterKind, share
from shoal.hierarchies.hierarchy import Label
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import at_most, count_of, exact, removed_for_share, rounded_up, too_frequent
from shoal.models.parameters import limit_name
from shoal.table.classes import ClassView, Counts, Mask


@dataclass(frozen=True)
class AlphaKAnonymity(Model):
    """c(v)/n ≤ α for every value v, or c(v)/n ≤ α_v for every v listed; n counts known values."""

    name = "alpha-k-anonymity"
    title = "(α, k)-anonymity"
    summary = (
        "No limited sensitive value makes up more than a share α of any class, so nobody who knows a person's class "
        "can guess such a value with more certainty than that."
    )
    citation = "Wong et al. 2006"
    card = Card(
        "A certain secret becomes likely.",
        "No sensitive value has more than a share α of any class. One limit for all values, or one for each value.",
        "Where a plain limit on certainty is wanted that can be said in one sentence.",
        "With α = 0.5, nobody is believed to have any one illness with more than 50%.",
        (
            "Values that are alike: HIV and cancer with 0.5 each fill a class.",
            "Rare values: from 1% to 50% is a large step, and allowed by α = 0.5.",
        ),
    )
    parameters = (
        share(
            "alpha", "largest share of a class that a value may have, for all values or by value",
            kind=ParameterKind.BY_VALUE_OR_ONE, title="α (alpha)", open_low=True, start=0.5, quantity="largest share",
        ),
    )  # fmt: skip
    example = "{model: alpha-k-anonymity, alpha: 0.5}"
    merge_closed = True
    superset_closed = False
    stops = frozenset({"homogeneity", "skewness"})
    position = 100

    alpha: float | Mapping[Label, float]
    _: KW_ONLY
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes have no value above its limit."""
        result = np.ones(len(view.sizes), dtype=np.bool_)
        for _, limit, counts in self._counts(view):
            result &= at_most(counts, view.known, exact(limit))
        return result

    def least_removed(self, view: ClassView, removable: int) -> Counts:  # noqa: ARG002 - no other class matters
        """Records of a value beyond its limit have to go."""
        least = np.zeros(len(view.sizes), dtype=np.int64)
        for _, limit, counts in self._counts(view):
            least = np.maximum(least, removed_for_share(counts, view.known, float(limit)))
        return least

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The largest share of a class, or that of each limited value."""
        return {
            name: Strength(rounded_up(counts, view.known), at_least=False) for name, _, counts in self._counts(view)
        }

    def part_could_fail(self, view: ClassView, owner: Counts, sizes: Counts) -> Mask:
        """Whether too much of one value can be in the part."""
        limits = (
            self.alpha.get(value, 1) if isinstance(self.alpha, Mapping) else self.alpha for value in view.domain.values
        )
        return too_frequent(view.histogram, map(float, limits), owner, sizes, view.least_known(owner, sizes))

    def _counts(self, view: ClassView) -> Iterator[tuple[str, float, Counts]]:
        """Each limit with its name and the records of each class that it is about."""
        histogram = view.histogram
        if not isinstance(self.alpha, Mapping):
            yield "alpha", self.alpha, np.asarray(histogram.per_class_max(histogram.counts), dtype=np.int64)
            return
        for value, limit in self.alpha.items():
            yield limit_name("alpha", value), limit, count_of(histogram, view.domain.values.index(value))
