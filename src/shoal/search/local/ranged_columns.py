"""Quasi-identifiers that are released as ranges: the tight range of a class instead of a node of its tree.

A class whose values run from 22 to 30 is released as ``22<=30``, a class of one value as the value. The range lies
within the lowest common ancestor of the values, and so within their boundary: it never tells less than the node would.
Both ends are values of records of the class; that is what makes it tight.

Where the policy gives base intervals, such as ``{age: {step: 5}}``, it is released as the shortest run of neighbouring
ones that holds its values, ``[20, 35)``: neither end is a value of anybody, and where a run ends does not depend on the
data. A single value is still released as itself, and where the lowest common ancestor has fewer values than the run,
or a base interval at an end reaches beyond the boundary, the ancestor is released: a run never loses more than a node.

A missing value is part of no range. A class of missing values alone is released as missing; one that mixes missing
values and numbers as the lowest common ancestor, as without ranges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.formatting import listing
from shoal.hierarchies.base_intervals import BaseIntervals, ListedOrder, NumberSteps, base_intervals
from shoal.hierarchies.hierarchy import FloatArray, Hierarchy, IntArray, Label
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.hierarchies.problems import HierarchyError, quoted
from shoal.hierarchies.ranges import ancestors, with_ranges, with_runs
from shoal.search.problem import Problem


@dataclass(frozen=True, eq=False)
class _Divided:
    """The leaves of a column in base intervals; that of the missing value is in one by itself."""

    base: BaseIntervals
    indices: tuple[int, ...]  # the base interval of each leaf; of the missing value any
    first: IntArray  # for each leaf the first and the last leaf of its base interval
    last: IntArray
    inside: NDArray[np.bool_]  # for each leaf whether its base interval keeps its boundary

    @staticmethod
    def of(hierarchy: Hierarchy, caps: IntArray, base: BaseIntervals) -> _Divided:
        """The base intervals of leaves that are in their order."""
        leaves = hierarchy.labels[: hierarchy.n_leaves]
        found = [None if leaf is None else base.index(leaf) for leaf in leaves]
        begins = np.array([i == 0 or found[i] != found[i - 1] for i in range(len(leaves))], dtype=np.bool_)
        group = np.cumsum(begins) - 1
        first = np.flatnonzero(begins).astype(np.int32)[group]
        last = np.append(np.flatnonzero(begins)[1:] - 1, len(leaves) - 1).astype(np.int32)[group]
        inside = (first >= hierarchy.first[caps]) & (last <= hierarchy.last[caps])
        for leaf in np.flatnonzero(inside & (caps != hierarchy.root)).tolist():
            index = found[leaf]
            inside[leaf] = index is not None and base.lies_in(index, hierarchy.labels[caps[leaf]])
        return _Divided(base, tuple(index or 0 for index in found), first, last, inside)


@dataclass(frozen=True, eq=False)
class RangedColumn:
    """A quasi-identifier whose values are in the order of its leaf codes, and that is released as ranges."""

    hierarchy: Hierarchy
    name: str
    missing: int  # the leaf of the missing value, the first or the last one; -1 where there is none
    divided: _Divided | None = None  # in base intervals, of which runs are released; None for tight ranges

    @staticmethod
    def of(problem: Problem, column: int) -> RangedColumn:
        """A column without `range_problems`."""
        hierarchy, name = problem.hierarchies[column], problem.table.quasi[column]
        leaves = hierarchy.labels[: hierarchy.n_leaves]
        missing = leaves.index(None) if None in leaves else -1
        base = base_intervals(range_option(problem, name), leaves)
        divided = None if base is None else _Divided.of(hierarchy, problem.caps[column], base)
        return RangedColumn(hierarchy, name, missing, divided)

    def mixed(self, low: IntArray, high: IntArray) -> NDArray[np.bool_]:
        """Which classes, given by their smallest and largest leaf, have both missing values and numbers."""
        mixed: NDArray[np.bool_] = (low != high) & ((low == self.missing) | (high == self.missing))
        return mixed

    def losses(self, low: IntArray, high: IntArray) -> FloatArray:
        """NCP of what each class releases, by its smallest and largest leaf: that of its range, or of the node."""
        domain = float(self.hierarchy.spans[self.hierarchy.root])
        first, last, nodes = self._ends(low, high)
        result: FloatArray = (last - first) / max(domain - 1, 1.0)
        as_nodes = np.flatnonzero(nodes >= 0)
        result[as_nodes] = self.hierarchy.loss[nodes[as_nodes]]
        return result

    def released(self, low: IntArray, high: IntArray) -> tuple[Hierarchy, IntArray]:
        """The hierarchy with the ranges of some classes as nodes, and the node that each class releases."""
        first, last, nodes = self._ends(low, high)
        ranged = nodes < 0
        hierarchy, ranges = self.with_ranges(np.stack([first, last], axis=1)[ranged])
        nodes[ranged] = ranges
        return hierarchy, nodes

    def identities(self, low: IntArray, high: IntArray) -> NDArray[np.int64]:
        """A number for what each class releases: the same for two classes if and only if that is the same."""
        first, last, nodes = self._ends(low, high)
        return np.where(
            nodes >= 0, -1 - nodes.astype(np.int64), first.astype(np.int64) * self.hierarchy.n_leaves + last
        )

    def _ends(self, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """The first and last leaf that the range of each class holds, and where a node is released instead, the node.

        -1 stands for no node.
        """
        nodes = np.full(len(low), -1, dtype=np.int32)
        mixed = np.flatnonzero(self.mixed(low, high))
        nodes[mixed] = ancestors(self.hierarchy, low[mixed], high[mixed])
        if self.divided is None:
            return low, high, nodes
        nodes[low == high] = low[low == high]
        several = np.flatnonzero(nodes < 0)
        first, last = self.divided.first[low], self.divided.last[high]
        above = ancestors(self.hierarchy, low[several], high[several])
        run = last[several] - first[several]
        node = self.hierarchy.last[above] - self.hierarchy.first[above]
        named = np.full(len(several), self.divided.base.keeps_names) & (above != self.hierarchy.root)
        kept = self.divided.inside[low[several]] & self.divided.inside[high[several]]
        instead = ~kept | (node < run) | ((node == run) & named)
        nodes[several[instead]] = above[instead]
        return first, last, nodes

    def between_runs(self, codes: IntArray, owner: NDArray[np.int64], n: int) -> IntArray:
        """The leaves of some records of ``n`` classes; in classes with several base intervals one leaf for each."""
        if self.divided is None or not len(codes):
            return codes
        last = self.divided.last[codes]
        least, most = np.full(n, self.hierarchy.n_leaves, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        np.minimum.at(least, owner, last)
        np.maximum.at(most, owner, last)
        return np.where((least < most)[owner], last, codes).astype(np.int32)

    def with_ranges(self, pairs: IntArray) -> tuple[Hierarchy, IntArray]:
        """The hierarchy with some ranges, and their nodes; a label that it has already is a `PolicyError`."""
        where = f"columns.{self.name}.hierarchy"
        try:
            if self.divided is None:
                return with_ranges(self.hierarchy, pairs, where)
            runs = [(self.divided.indices[first], self.divided.indices[last]) for first, last in pairs.tolist()]
            hierarchy, node_of = with_runs(self.hierarchy, self.divided.base, runs, where)
            return hierarchy, np.array([node_of[run] for run in runs], dtype=np.int32)
        except HierarchyError as error:
            raise PolicyError(error.problems) from None


def range_option(problem: Problem, name: str) -> Any:
    """What the policy says of a column under ``ranges``; None for a column that is only listed."""
    given = problem.options.get("ranges") or ()
    return given.get(name) if isinstance(given, Mapping) else None


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
    for name, times in Counter(list(names)).items():
        where = f"algorithm.ranges.{name}"
        if times > 1:
            yield PolicyProblem(where, f"is listed {times} times.", "List it once.", code="column-listed-twice")
        if name not in problem.table.quasi:
            yield not_quasi(problem, name, where)
            continue
        if name in (group or {}):
            message = "is also listed in group: a column is either masked or released as ranges."
            yield PolicyProblem(where, message, "Remove it from one of the two.", code="column-in-group-and-ranges")
        hierarchy = problem.hierarchies[problem.table.quasi.index(name)]
        base = base_intervals(range_option(problem, name), hierarchy.labels[: hierarchy.n_leaves])
        reason = _not_in_order(hierarchy) if base is None else _not_divided(hierarchy, base)
        if reason is not None:
            fix = "Ranges need numbers in order: declare a hierarchy of intervals, or leave the column out of ranges."
            if base is not None and not isinstance(base, NumberSteps):
                fix = "Give a step or an order that fits the values, or leave the column out of ranges."
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
    return _missing_between(leaves)


def _not_divided(hierarchy: Hierarchy, base: BaseIntervals) -> str | None:
    """Why the leaves are not in the order of some base intervals; None if they are."""
    if isinstance(base, NumberSteps) and (reason := _not_in_order(hierarchy)) is not None:
        return reason
    leaves = hierarchy.labels[: hierarchy.n_leaves]
    if isinstance(base, ListedOrder) and (strange := base.unknown_names()):
        return f"has names whose ends are not two values of the order, the earlier first: {listing(strange)}."
    found = [(leaf, base.index(leaf)) for leaf in leaves if leaf is not None]
    strays = [repr(leaf) for leaf, index in found if index is None]
    if strays:
        return f"has values that lie in no base interval: {listing(strays)}."
    for (lower, low), (upper, high) in pairwise(found):
        if low is not None and high is not None and low > high:
            return f"has a hierarchy whose values are in another order: {lower!r} comes before {upper!r}."
    return _missing_between(leaves)


def _missing_between(leaves: Sequence[Label]) -> str | None:
    if None not in leaves[1:-1]:
        return None
    index = leaves.index(None)
    lower_end, upper_end = quoted(leaves[index - 1]), quoted(leaves[index + 1])
    return f"has a hierarchy that places the missing value between {lower_end} and {upper_end}."
