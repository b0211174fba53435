"""(k, e)-anonymity: every class has k different numbers, and the largest is at least e above the smallest.

Q. Zhang, N. Koudas, D. Srivastava, T. Yu, "Aggregate query answering on anonymized tables", 2007, (k, e)-anonymity:
for a numeric sensitive column, |{v : c(v) > 0}| ≥ k and max v - min v ≥ e in every class. Numbers are compared
exactly, as they are written: 3000 and 3e3 are one number, and 0.3 - 0.1 is 0.2.

Parameters: ``k``, a whole number ≥ 1; ``e``, a number ≥ 0 in the unit of the column.

A missing or unknown value is no number: it adds neither a different number nor distance. A class without any number
counts as one of a single number.

Closed under adding, and so under merging: whatever is added to a class, its numbers stay, so there are no fewer
different ones, the largest does not fall and the smallest does not rise.

In people: a number is counted once, whoever has it and however often, so numbers and their span are those of the
records. Closed under merging and adding.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.declarations import Parameter, ParameterKind, count
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import exact, rounded_down
from shoal.table.classes import ClassView, Counts, Mask

_EXACT = 2.0**53  # floats from here on may lie above the whole number that they stand for


@dataclass(frozen=True)
class KE(Model):
    """Different numbers ≥ k, and largest - smallest ≥ e."""

    name = "k-e"
    title = "(k, e)-anonymity"
    summary = (
        "Every class has at least k different numbers, and the largest is at least e above the smallest, so knowing a "
        "person's class does not reveal the number even roughly."
    )
    citation = "Zhang, Koudas, Srivastava, Yu 2007, (k, e)-anonymity"
    card = Card(
        "The values of a class differ but are nearly the same.",
        "Every class has at least k different numbers that span at least e.",
        "Salaries, amounts, measurements: sensitive columns of numbers.",
        "With k = 3 and e = 5000, somebody who finds a neighbour's class sees at least three salaries, and the lowest "
        "and the highest are 5,000 apart.",
        (
            "How the numbers are spread: 3000, 3010 and 8000 span 5,000, and two of three are nearly the same.",
            "How often each number occurs.",
        ),
    )
    parameters = (
        count("k", "different numbers"),
        Parameter(
            "e", ParameterKind.NUMBER, "least distance between the smallest and the largest number of a class",
            start=1000, at_least=True, quantity="distance of the largest number from the smallest",
        ),
    )  # fmt: skip
    example = "{model: k-e, k: 2, e: 1000}"
    merge_closed = True
    superset_closed = True
    closed_for_people = True  # a number counts once, whoever has it
    needs_numbers = True
    counts = "values"
    stops = frozenset({"proximity"})
    position = 120

    k: int
    _: KW_ONLY
    e: float
    sensitive: str

    def holds(self, view: ClassView) -> Mask:
        """Which classes have k different numbers that span e."""
        distinct, spans = _spans(view)
        numbers = view.domain.numbers
        assert numbers is not None
        return np.asarray((distinct >= self.k) & (spans >= numbers.at_least(exact(self.e))), dtype=np.bool_)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The different numbers of each class, and what they span, rounded down."""
        distinct, spans = _spans(view)
        numbers = view.domain.numbers
        assert numbers is not None
        reached = rounded_down(spans, numbers.scale)
        reached = np.where(reached < _EXACT, reached, np.nextafter(reached, 0))
        return {"k": Strength(distinct.astype(np.float64), at_least=True), "e": Strength(reached, at_least=True)}


def _spans(view: ClassView) -> tuple[Counts, NDArray[Any]]:
    """How many different numbers each class has, at least one, and how far they reach in the units of the column."""
    entries, numbers = view.number_entries, view.domain.numbers
    assert numbers is not None
    distinct = np.bincount(entries.owner, minlength=len(view.sizes))
    ends = np.cumsum(distinct)
    some = distinct > 0
    spans = np.zeros(len(distinct), dtype=numbers.distinct.dtype)
    low, high = entries.rank[(ends - distinct)[some]], entries.rank[ends[some] - 1]
    spans[some] = numbers.distinct[high] - numbers.distinct[low]
    return np.maximum(distinct, 1), spans
