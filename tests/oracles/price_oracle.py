"""The best possible release once more, by looking at every class: the linear relaxation, and every partition.

Nothing is shared with the package. Classes are sets of records of one block with at least k of them and, where values
are counted, p different known ones. A record in a class costs the mean over columns of what the lowest label above all
of its records costs; a suppressed record costs 1, and no more records are suppressed than the budget allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from oracles.lattice_oracle import Table


@dataclass(frozen=True)
class AllowedClass:
    """A set of records that may be a class, and what all of them cost together."""

    records: frozenset[int]
    cost: float


def allowed_classes(
    table: Table,
    *,
    k: int,
    p: int = 1,
    values: tuple[str | None, ...] = (),
    measure: str = "ncp",
    ranged: frozenset[int] = frozenset(),
) -> Iterator[AllowedClass]:
    """Every class that may be released; ``values`` are the known sensitive values, None for a record without one.

    Columns that are ``ranged`` have ascending numbers as leaves and are released as the range from lowest to highest.
    """
    for size in range(max(k, 1), len(table.rows) + 1):
        for records in combinations(range(len(table.rows)), size):
            if p > 1 and len({values[record] for record in records} - {None}) < p:
                continue
            cost = _cost(table, records, measure, ranged)
            if cost is not None:
                yield AllowedClass(frozenset(records), cost * size)


def _cost(table: Table, records: tuple[int, ...], measure: str, ranged: frozenset[int]) -> float | None:
    """What each of some records costs in one class; None where boundaries keep them apart."""
    total = 0.0
    for j, column in enumerate(table.columns):
        leaves = [table.rows[record][j] for record in records]
        if len({column.cap(leaf) for leaf in leaves}) > 1:
            return None
        label = next(label for label in column.paths[leaves[0]] if all(label in column.paths[leaf] for leaf in leaves))
        if j in ranged and None not in leaves:
            places = [list(column.paths).index(leaf) for leaf in leaves]
            total += (max(places) - min(places)) / max(len(column.paths) - 1, 1)
        elif measure == "ncp":
            total += (column.leaves_under(label) - 1) / max(len(column.paths) - 1, 1)
        else:
            total += column.level_of(label) / max(column.height, 1)
    return total / len(table.columns)


def relaxed_optimum(records: int, classes: list[AllowedClass], budget: int) -> float | None:
    """The mean cost of the best fractional release; None where there is none."""
    costs = np.array([*(each.cost for each in classes), *([1.0] * records)])
    covers = np.zeros((records, len(costs)))
    for index, each in enumerate(classes):
        covers[sorted(each.records), index] = 1
    covers[:, len(classes) :] = np.eye(records)
    limit = np.array([[0.0] * len(classes) + [1.0] * records])
    found = linprog(costs, A_ub=limit, b_ub=[budget], A_eq=covers, b_eq=np.ones(records), method="highs")
    return float(found.fun) / records if found.status == 0 else None


def optimum(records: int, classes: list[AllowedClass], budget: int) -> float | None:
    """The mean cost of the best release; None where there is none."""
    first: dict[int, list[AllowedClass]] = {}
    for each in classes:
        first.setdefault(min(each.records), []).append(each)

    @cache
    def least(left: frozenset[int], allowance: int) -> float:
        if not left:
            return 0.0
        lowest = min(left)
        best = 1.0 + least(left - {lowest}, allowance - 1) if allowance else math.inf
        for each in first.get(lowest, ()):
            if each.records <= left:
                best = min(best, each.cost + least(left - each.records, allowance))
        return best

    found = least(frozenset(range(records)), budget)
    return found / records if math.isfinite(found) else None
