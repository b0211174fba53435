"""Quasi-identifiers that are released as ranges: the tight range of a class instead of a node of its tree.

A class whose values run from 22 to 30 is released as ``22<=30``, a class of one value as the value. The range lies
within the lowest common ancestor of the values, and so within their boundary: it never tells less than the node would.
Both ends are values of records of the class; that is what makes it tight.

A missing value is part of no range. A class of missing values alone is released as missing; one that mixes missing
values and numbers as the lowest common ancestor, as without ranges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.formatting import listing
from shoal.hierarchies.hierarchy import FloatArray, Hierarchy, IntArray
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.hierarchies.problems import HierarchyError, quoted
from shoal.hierarchies.ranges import ancestors, with_ranges
from shoal.search.problem import Problem


@dataclass(frozen=True, eq=False)
class RangedColumn:
    """A quasi-identifier of numbers, in ascending order of its leaf codes, that is released as ranges."""

    hierarchy: Hierarchy
    name: str
    missing: int  # the leaf of the missing value, the first or the last one; -1 where there is none

    @staticmethod
    def of(problem: Problem, column: int) -> RangedColumn:
        """A column without `range_problems`."""
        hierarchy = problem.hierarchies[column]
        leaves = hierarchy.labels[: hierarchy.n_leaves]
        missing = leaves.index(None) if None in leaves else -1
        return RangedColumn(hierarchy, problem.table.quasi[column], missing)

    def mixed(self, low: IntArray, high: IntArray) -> NDArray[np.bool_]:
        """Which classes, given by their smallest and largest leaf, have both missing values and numbers."""
        mixed: NDArray[np.bool_] = (low != high) & ((low == self.missing) | (high == self.missing))
        return mixed

    def losses(self, low: IntArray, high: IntArray) -> FloatArray:
        """NCP of what each class releases, by its smallest and largest leaf: that of its range, or of the node."""
        domain = float(self.hierarchy.spans[self.hierarchy.root])
        result = (high - low) / max(domain - 1, 1.0)
        mixed = np.flatnonzero(self.mixed(low, high))
        result[mixed] = self.hierarchy.loss[ancestors(self.hierarchy, low[mixed], high[mixed])]
        return result

    def released(self, low: IntArray, high: IntArray) -> tuple[Hierarchy, IntArray]:
        """The hierarchy with the ranges of some classes as nodes, and the node that each class releases."""
        mixed = self.mixed(low, high)
        hierarchy, ranges = self.with_ranges(np.stack([low, high], axis=1)[~mixed])
        nodes = np.empty(len(low), dtype=np.int32)
        nodes[~mixed] = ranges
        nodes[mixed] = ancestors(self.hierarchy, low[mixed], high[mixed])
        return hierarchy, nodes

    def with_ranges(self, pairs: IntArray) -> tuple[Hierarchy, IntArray]:
        """The hierarchy with some ranges, and their nodes; a label that it has already is a `PolicyError`."""
        try:
            return with_ranges(self.hierarchy, pairs, f"columns.{self.name}.hierarchy")
        except HierarchyError as error:
            raise PolicyError(error.problems) from None


def ranged_columns(problem: Problem) -> Mapping[int, RangedColumn]:
    """The quasi-identifiers that the option ``ranges`` names, by index; `PolicyError` with every problem."""
    names: Sequence[str] = problem.options.get("ranges") or ()
    problems = list(range_problems(problem, names))
    if problems:
        raise PolicyError(problems)
    indices = [problem.table.quasi.index(name) for name in names]
    return {index: RangedColumn.of(problem, index) for index in indices}


def range_problems(
    problem: Problem, names: Sequence[str], group: Mapping[str, int] | None = None
) -> Iterator[PolicyProblem]:
    """Why some of the named columns cannot become ranges; ``group`` are those that the range method masks."""
    for name, times in Counter(names).items():
        where = f"algorithm.ranges.{name}"
        if times > 1:
            yield PolicyProblem(where, f"is listed {times} times.", "List it once.", code="column-listed-twice")
        if name not in problem.table.quasi:
            yield not_quasi(problem, name, where)
            continue
        if name in (group or {}):
            message = "is also listed in group: a column is either masked or released as ranges."
            yield PolicyProblem(where, message, "Remove it from one of the two.", code="column-in-group-and-ranges")
        reason = _not_in_order(problem.hierarchies[problem.table.quasi.index(name)])
        if reason is not None:
            fix = "Ranges need numbers in order: declare a hierarchy of intervals, or leave the column out of ranges."
            yield PolicyProblem(where, reason, fix, code="range-values-not-ordered")


def not_quasi(problem: Problem, name: str, where: str) -> PolicyProblem:
    """The problem with a column that an option names although it is not a quasi-identifier."""
    fix = did_you_mean(name, problem.table.quasi)
    return PolicyProblem(where, "is not a quasi-identifier.", fix, code="not-a-quasi-identifier")


def _not_in_order(hierarchy: Hierarchy) -> str | None:
    """Why the leaves are not numbers in ascending order; None if they are.

    The missing value may stand before or after them, not between: a range of leaves must never hold it.
    """
    leaves = hierarchy.labels[: hierarchy.n_leaves]
    numbers = [(leaf, parse_decimal(leaf)) for leaf in leaves if leaf is not None]
    strays = [repr(leaf) for leaf, number in numbers if number is None]
    if strays:
        return f"has values that are not numbers: {listing(strays)}."
    for (lower, low), (upper, high) in pairwise(numbers):
        if low is not None and high is not None and low >= high:
            return f"has a hierarchy whose values are not in numerical order: {lower!r} comes before {upper!r}."
    if None in leaves[1:-1]:
        index = leaves.index(None)
        lower_end, upper_end = quoted(leaves[index - 1]), quoted(leaves[index + 1])
        return f"has a hierarchy that places the missing value between {lower_end} and {upper_end}."
    return None
