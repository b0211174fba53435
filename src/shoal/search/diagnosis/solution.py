"""A recoding beside the problem that it solves: what has to be looked at again to say why it is as it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.metrics import ReleaseSummary
from shoal.search.engine import LocalEngine
from shoal.search.lattice.nodes import Node
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Histogram
from shoal.table.recoding import Recoding

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Solution:
    """A recoding and the problem that it solves."""

    problem: Problem
    recoding: Recoding

    @cached_property
    def engine(self) -> LocalEngine:
        """Groups tuples at lattice nodes."""
        return LocalEngine(self.problem.table, self.problem.ladders, self.problem.domains)

    @cached_property
    def node(self) -> Node | None:
        """The lattice node of a full-domain recoding; None for a local one."""
        levels = self.recoding.levels
        if levels is None:
            return None
        named = zip(self.problem.table.quasi, self.problem.ladders, strict=True)
        return tuple(ladder.nominal.index(levels[name]) for name, ladder in named)

    @cached_property
    def stats(self) -> ClassStats:
        """Statistics of the released classes."""
        rows = np.flatnonzero(self.recoding.row_class >= 0)
        return self.stats_of(rows, self.recoding.row_class[rows].astype(np.int64), self.recoding.n_classes)

    @cached_property
    def measure(self) -> float:
        """What the search minimizes, of the release."""
        return self.problem.metric.of(ReleaseSummary.of(self.recoding))

    def stats_of(self, rows: Rows, owner: NDArray[np.int64], n_classes: int) -> ClassStats:
        """Statistics of the classes that some rows are in."""
        histograms = {
            name: Histogram.of(
                owner, self.problem.table.row_sensitive[name][rows], n_classes, len(self.problem.domains[name].values)
            )
            for name in self.problem.sensitive_columns
        }
        sizes = np.bincount(owner, minlength=n_classes).astype(np.int64)
        return ClassStats(sizes, histograms, self.problem.domains)

    def codes(self, rows: Rows, column: int) -> NDArray[np.int32]:
        """The leaf codes of some rows in a column."""
        found: NDArray[np.int32] = self.problem.table.codes[column][self.problem.table.row_tuple[rows]]
        return found
