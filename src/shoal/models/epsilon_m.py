"""(ε, m)-anonymity: around no number of a class lie more than 1/m of its records.

J. Li, Y. Tao, X. Xiao, "Preservation of proximity privacy in publishing numerical sensitive data", 2008,
(ε, m)-anonymity: for every number x of a class, at most a share 1/m of its records have a number in [x - ε, x + ε]
(absolute) or in [x·(1 - ε), x·(1 + ε)] (relative; the ends change places where x is negative). Both ends are included.
Numbers are compared exactly, as they are written.

Parameters: ``epsilon``, a number ≥ 0, in the unit of the column or, where ``relative`` is true, as a share of the
number itself; ``m``, a whole number ≥ 1; ``relative``, true or false.

A missing or unknown value is no number: shares are those among the records with a number, so it helps no class. A
class without any number counts as one of a single number, and holds for m = 1 only.

Neither closed under merging nor under adding. With ε = 1 and m = 2 the classes {0, 0, 2, 2} and {1, 9} both hold;
merged they do not: around 1 lie 5 of 6 records. A number of one class may lie between numbers of the other that are far
enough from each other.

In people: everybody with a number weighs one, divided equally over the different values they have in the class:
around no number lies more than 1/m of what all numbers weigh.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shoal.declarations import Parameter, ParameterKind
from shoal.models.base import Card, Model, Strength
from shoal.models.comparison import exact
from shoal.table.classes import ClassView, Counts, Mask


@dataclass(frozen=True)
class EpsilonM(Model):
    """Records within ε of x ≤ records / m, for every number x of a class."""

    name = "epsilon-m"
    title = "(ε, m)-anonymity"
    summary = (
        "At most 1/m of the records of a class lie within epsilon of any of its numbers, so a guess that is right to "
        "within epsilon succeeds at most one time in m."
    )
    citation = "Li, Tao, Xiao 2008, (ε, m)-anonymity"
    card = Card(
        "A number becomes known almost exactly.",
        "At most 1/m of the records of a class lie within epsilon of any of its numbers.",
        "Salaries, amounts, measurements: sensitive columns where a close guess is as bad as an exact one.",
        "With epsilon = 500 and m = 3, whichever salary somebody guesses for a neighbour, at most one in three of the "
        "records that fit lie within 500 of it.",
        (
            "What lies beyond epsilon: whether all numbers of a class are high or low.",
            "A number that is frequent in the whole table is hard to hide: classes that hold may not exist.",
        ),
    )
    parameters = (
        Parameter(
            "epsilon", ParameterKind.NUMBER, "how far apart two numbers may be to count as nearly the same", start=500,
        ),
        Parameter(
            "m", ParameterKind.WHOLE, "at most one in m records of a class has nearly the same number", low=1, start=2,
            at_least=True, quantity="records for each of those with nearly the same number",
        ),
        Parameter(
            "relative", ParameterKind.FLAG, "whether epsilon is a share of the number itself: 0.1 is ten percent of it",
            default=False, start=False,
        ),
    )  # fmt: skip
    example = "{model: epsilon-m, epsilon: 500, m: 2}"
    merge_closed = False
    superset_closed = False
    needs_numbers = True
    stops = frozenset({"proximity"})
    position = 130

    epsilon: float
    m: int
    _: KW_ONLY
    relative: bool = False
    sensitive: str

    @property
    def least_records(self) -> int:
        """A number is near itself, so one record in m at most has it."""
        return self.m

    @property
    def least_values(self) -> int:
        """No number has more than one record in m."""
        return self.m

    def holds(self, view: ClassView) -> Mask:
        """Which classes have at most one record in m around any of their numbers."""
        known, nearest = self._around(view)
        return np.asarray(nearest * self.m <= known)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The largest m of each class."""
        known, nearest = self._around(view)
        return {"m": Strength((known // nearest).astype(np.float64), at_least=True)}

    def _around(self, view: ClassView) -> tuple[Counts, Counts]:
        """The records of each class with a number, and how many of them lie around one of its numbers at most."""
        (owner, rank, counts), numbers = view.number_entries, view.domain.numbers
        assert numbers is not None
        first, last = numbers.window(rank, exact(self.epsilon), relative=self.relative)
        width = len(numbers.distinct)
        keys, running = owner * width + rank, np.concatenate([[0], np.cumsum(counts)])
        low = np.searchsorted(keys, owner * width + first, side="left")
        high = np.searchsorted(keys, owner * width + last, side="right")
        known = np.bincount(owner, weights=counts, minlength=len(view.sizes)).astype(np.int64)
        nearest = np.zeros(len(view.sizes), dtype=np.int64)
        np.maximum.at(nearest, owner, running[high] - running[low])
        return np.maximum(known, 1), np.maximum(nearest, 1)
