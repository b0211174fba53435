"""The options that name ranges and groups against the table, with every problem at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.hierarchies.decimals import parse_decimal
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.problems import LISTED, listing, quoted
from shoal.search.problem import Problem


@dataclass(frozen=True, eq=False)
class RangeOptions:
    """Which columns make the groups and which become ranges, by place among the quasi-identifiers."""

    group: Mapping[int, int]
    """The level at which each group column is masked."""
    ranges: tuple[int, ...]
    safe: bool

    def masks(self, problem: Problem) -> dict[int, NDArray[np.int32]]:
        """For each group column the node that each leaf becomes: that of its level, or its boundary below it."""
        return {j: _row(problem, j, level) for j, level in self.group.items()}


def read_options(problem: Problem) -> RangeOptions:
    """The options ``group``, ``ranges`` and ``safe``; `PolicyError` with every problem."""
    group: Mapping[str, int] = problem.options.get("group") or {}
    ranges: list[str] = list(problem.options.get("ranges") or ())
    problems = [*_group_problems(problem, group), *_range_problems(problem, ranges, group)]
    if problems:
        raise PolicyError(problems)
    place = {name: j for j, name in enumerate(problem.table.quasi)}
    levels = {place[name]: level for name, level in group.items()}
    return RangeOptions(levels, tuple(place[name] for name in ranges), bool(problem.options.get("safe")))


def read_ranges(problem: Problem) -> tuple[int, ...]:
    """The option ``ranges`` of a local recoding, which may name no column; `PolicyError` with every problem."""
    ranges: list[str] = list(problem.options.get("ranges") or ())
    problems = list(_column_problems(problem, ranges, {}))
    if problems:
        raise PolicyError(problems)
    return tuple(problem.table.quasi.index(name) for name in ranges)


def _row(problem: Problem, column: int, level: int) -> NDArray[np.int32]:
    ladder = problem.ladders[column]
    step = max(step for step, nominal in enumerate(ladder.nominal) if nominal <= level)
    return np.asarray(ladder.nodes[step])


def _group_problems(problem: Problem, group: Mapping[str, int]) -> Iterator[PolicyProblem]:
    if not group:
        fix = "Name the columns that are masked, and their levels: group: {zipcode: 1}."
        yield PolicyProblem("algorithm.group", "names no column to group the records by.", fix)
    for name, level in group.items():
        where = f"algorithm.group.{name}"
        if name not in problem.table.quasi:
            yield _not_quasi(problem, name, where)
            continue
        height = problem.hierarchies[problem.table.quasi.index(name)].height
        if not 0 <= level <= height:
            message = f"level {level} is not one of the hierarchy."
            fix = f"Its levels run from 0 (the values) to {height} (the root)."
            yield PolicyProblem(where, message, fix, {"level": level, "height": height})


def _range_problems(problem: Problem, ranges: list[str], group: Mapping[str, int]) -> Iterator[PolicyProblem]:
    if not ranges:
        fix = "Name the numeric columns that become ranges: ranges: [age]."
        yield PolicyProblem("algorithm.ranges", "names no column.", fix)
    yield from _column_problems(problem, ranges, group)


def _column_problems(problem: Problem, ranges: list[str], group: Mapping[str, int]) -> Iterator[PolicyProblem]:
    """The columns that cannot become ranges."""
    for name, times in Counter(ranges).items():
        where = f"algorithm.ranges.{name}"
        if times > 1:
            yield PolicyProblem(where, f"stands there {times} times.", "Name it once.")
        if name not in problem.table.quasi:
            yield _not_quasi(problem, name, where)
            continue
        if name in group:
            fix = "Leave it out of one of the two."
            yield PolicyProblem(where, "is named in group as well: a column is masked or becomes ranges.", fix)
        reason = _out_of_order(problem.hierarchies[problem.table.quasi.index(name)])
        if reason is not None:
            fix = "Ranges need numbers in order: declare a hierarchy of intervals, or leave the column out of ranges."
            yield PolicyProblem(where, reason, fix)


def _not_quasi(problem: Problem, name: str, where: str) -> PolicyProblem:
    return PolicyProblem(where, "is not a quasi-identifier.", did_you_mean(name, problem.table.quasi))


def _out_of_order(hierarchy: Hierarchy) -> str | None:
    """Why the leaves are not numbers in ascending order; None if they are.

    The missing value may stand before or after them, not between: a range of leaves must never hold it.
    """
    leaves = hierarchy.labels[: hierarchy.n_leaves]
    present = [leaf for leaf in leaves if leaf is not None]
    numbers = {leaf: parse_decimal(leaf) for leaf in present}
    strays = [repr(leaf) for leaf, number in numbers.items() if number is None]
    if strays:
        return f"has values that are no numbers: {listing(strays[:LISTED], len(strays))}."
    known = [(leaf, number) for leaf, number in numbers.items() if number is not None]
    for (lower, low), (upper, high) in pairwise(known):
        if low >= high:
            return f"has a hierarchy in which the values are not in the order of numbers: {lower!r} before {upper!r}."
    if None in leaves[1:-1]:
        place = leaves.index(None)
        lower_end, upper_end = quoted(leaves[place - 1]), quoted(leaves[place + 1])
        return f"has a hierarchy that places the missing value between {lower_end} and {upper_end}."
    return None
