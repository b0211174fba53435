"""What a measure is: a name, a direction, bounds, and a formula over what was released."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.table.recoding import Recoding

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReleaseSummary:
    """What a measure sees of a (candidate) release: each class's nodes and size, and what was left out."""

    hierarchies: tuple[Hierarchy, ...]
    nodes: NDArray[np.int32]  # ``nodes[c, j]``: released node of class ``c`` in column ``j``
    sizes: NDArray[np.int64]
    records: int  # records of the original table, suppressed ones included
    violations: int = 0  # cells generalized beyond their boundary (Campan Def. 6)

    @classmethod
    def of(cls, recoding: Recoding) -> ReleaseSummary:
        """What a measure sees of a recoding."""
        return cls(recoding.hierarchies, recoding.nodes, recoding.sizes, recoding.n_rows)

    @cached_property
    def released(self) -> int:
        """Records released."""
        return int(self.sizes.sum())

    @property
    def suppressed(self) -> int:
        """Records left out."""
        return self.records - self.released


class Metric(ABC):
    """A measure of a release."""

    name: ClassVar[str]
    title: ClassVar[str]  # what people call it
    summary: ClassVar[str]  # what it measures, in a sentence for a reader who does not program
    short: ClassVar[str]  # the same in a few words, for lists
    higher_is_better: ClassVar[bool] = False
    minimum: ClassVar[float] = 0.0
    maximum: ClassVar[float | None] = None  # largest possible value, or None where the table's size decides
    source: ClassVar[str]  # where the formula stands
    position: ClassVar[int] = 1000  # where it stands in lists

    @property
    def scale(self) -> str:
        """The values that it can take, in words."""
        return f"{self.minimum:g} or more" if self.maximum is None else f"{self.minimum:g} to {self.maximum:g}"

    @abstractmethod
    def of(self, release: ReleaseSummary) -> float:
        """The measure of a release."""

    def cost(self, value: float) -> float:
        """The measure turned so that less is better."""
        return -value if self.higher_is_better else value


class CellMetric(Metric):
    """A measure that is a sum over columns of a function of the column's mean cell cost.

    A suppressed cell costs 1, the most any cell can. Then generalizing further never lowers the measure and neither
    does suppressing, so the value with nothing suppressed is a lower bound that a search can trust.
    """

    @abstractmethod
    def cell(self, hierarchy: Hierarchy) -> Floats:
        """Cost in [0, 1] of a cell released as each node of the hierarchy."""

    def weight(self, hierarchy: Hierarchy) -> float:  # noqa: ARG002 - one measure weighs by height
        """Weight of a column in the sum."""
        return 1.0

    def column(self, mean: Floats) -> Floats:
        """What a column contributes for its mean cell cost; must not decrease."""
        return mean

    def slope(self, mean: Floats) -> Floats:
        """How fast a column's contribution grows at its mean cell cost; `column` must be concave."""
        return np.ones_like(mean)

    def finish(self, total: Floats, hierarchies: Sequence[Hierarchy]) -> Floats:
        """The cost (less is better) from the weighted sum of the columns' contributions."""
        weights = sum(self.weight(hierarchy) for hierarchy in hierarchies)
        return total / weights if weights else total * 0.0

    def of(self, release: ReleaseSummary) -> float:
        """The measure of a release."""
        total = np.zeros(())
        for j, hierarchy in enumerate(release.hierarchies):
            total = total + self.weight(hierarchy) * self.column(np.asarray(self.column_mean(release, j)))
        return self.value(float(self.finish(np.asarray(total), release.hierarchies)))

    def column_mean(self, release: ReleaseSummary, column: int) -> float:
        """Mean cell cost of one column, suppressed cells included."""
        if not release.records:
            return 0.0
        cells = self.cell(release.hierarchies[column])[release.nodes[:, column]]
        return float((cells * release.sizes).sum() + release.suppressed) / release.records

    def value(self, cost: float) -> float:
        """The measure from its cost."""
        return cost
