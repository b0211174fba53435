"""Where a local recoding works: the records that can be released, by block.

A local recoding partitions the records; each class is released as the lowest common ancestor of its values, or where
the policy asks for ranges as their tight range (`ranged_columns`). Boundaries cut the table into blocks first (Campan's
maximum allowed microdata, MAM): records of different blocks can never share a class. A block that fails the models as
a whole is suppressed (OUT; for superset-closed models the least that any release must suppress, Campan Properties 5
and 6). Of other models a part of such a block might hold; it is left out all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError, PolicyProblem
from shoal.hierarchies.ranges import ancestors
from shoal.metrics import METRICS, CellMetric
from shoal.models.base import Model
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import class_holds, keep_concealed
from shoal.search.lattice.nodes import walks_whole_lattice
from shoal.search.local.ranged_columns import RangedColumn, ranged_columns
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Counts, Floats, Mask
from shoal.table.people import PeopleRows, row_stats
from shoal.table.recoding import SUPPRESSED

Indices = NDArray[np.int64]
Codes = NDArray[np.int32]
Classes = NDArray[np.int32]


def cell_metric(problem: Problem) -> CellMetric:
    """The measure that a local recoding lowers cell by cell: the problem's, or NCP where it has no cells."""
    ncp = METRICS["ncp"]
    assert isinstance(ncp, CellMetric)
    return problem.metric if isinstance(problem.metric, CellMetric) else ncp


def cell_costs(problem: Problem) -> list[Floats]:
    """What a cell released as each node costs in the measure that is lowered, by quasi-identifier."""
    metric = cell_metric(problem)
    return [metric.weight(hierarchy) * metric.cell(hierarchy) for hierarchy in problem.hierarchies]


def record_weight(problem: Problem) -> float:
    """What the cells of a record weigh together in that measure: costs of cells are divided by it for a mean."""
    metric = cell_metric(problem)
    return sum(metric.weight(hierarchy) for hierarchy in problem.hierarchies) or 1.0


def dearest_first(problem: Problem) -> list[int]:
    """The quasi-identifiers by what a cell costs on average: a sum of costs passes its limit soonest that way."""
    pairs = zip(cell_costs(problem), problem.ladders, strict=True)
    means = [-float(costs[ladder.nodes].mean()) for costs, ladder in pairs]
    return [int(j) for j in np.argsort(means, kind="stable")]


@dataclass(frozen=True, eq=False)
class Blocks:
    """The records of a problem that can be released, by block."""

    problem: Problem
    tuple_block: Classes  # block of each tuple, or `SUPPRESSED` for those that are OUT
    n_blocks: int

    @cached_property
    def row_block(self) -> Classes:
        """Block of each row, or `SUPPRESSED`."""
        return self.tuple_block[self.problem.table.row_tuple]

    @cached_property
    def row_codes(self) -> Codes:
        """Leaf code of each row: ``row_codes[row, j]`` is that of quasi-identifier ``j``."""
        return np.ascontiguousarray(self.problem.table.codes.T[self.problem.table.row_tuple])

    @cached_property
    def reference(self) -> dict[str, Counts]:
        """What each sensitive value weighs over all records that can be released."""
        kept, table = self.row_block >= 0, self.problem.table
        domains = {name: self.problem.domains[name] for name in table.row_sensitive}
        if table.person is None:
            return {
                name: table.bincount(table.codes_to_count(name), kept, len(domain.values))
                for name, domain in domains.items()
            }
        values = {name: codes[kept] for name, codes in table.row_sensitive.items()}
        people = PeopleRows(np.zeros(int(kept.sum()), dtype=np.int64), table.person[kept], values)
        return {name: people.totals(name, domain) for name, domain in domains.items()}

    @cached_property
    def by_neighbours(self) -> bool:
        """Whether classes are looked for among neighbours, because the lattice is too large to be walked whole."""
        problem, on_values = self.problem, any(model.column is not None for model in self.class_models)
        return not walks_whole_lattice(problem.shape, problem.table.n_tuples, on_values=on_values)

    @cached_property
    def class_models(self) -> tuple[Model, ...]:
        """The models that can be tested on a class alone, given the reference: all but (alp, dif)."""
        return tuple(model for model in self.problem.models if model.judges_classes)

    @cached_property
    def ranged(self) -> Mapping[int, RangedColumn]:
        """The quasi-identifiers that are released as ranges, by index."""
        return ranged_columns(self.problem)

    @cached_property
    def without_ranges(self) -> Blocks:
        """The same records where every quasi-identifier is released as nodes of its tree."""
        return replace(self, problem=replace(self.problem, options={**self.problem.options, "ranges": ()}))

    def losses(self, j: int, low: Codes, high: Codes) -> Floats:
        """NCP of what classes release in quasi-identifier ``j``, by their smallest and largest leaf codes."""
        tree = self.problem.hierarchies[j]
        return self.ranged[j].losses(low, high) if j in self.ranged else tree.loss[ancestors(tree, low, high)]

    def stats(self, row_class: Classes, n_classes: int, rows: Indices | None = None) -> ClassStats:
        """Statistics of some classes: ``row_class`` gives the class of each of ``rows`` (of every row when None).

        Rows of class -1 are in none. Every class from 0 to ``n_classes`` - 1 must have a row. Models see the whole
        release as their reference, so the classes may be any part of it.
        """
        problem, columns = self.problem, self.problem.sensitive_columns
        return row_stats(
            problem.table, row_class, n_classes, problem.domains, columns, rows=rows, reference=self.reference
        )

    def holds(self, stats: ClassStats) -> Mask:
        """Which classes satisfy every model that can be tested on a class alone."""
        return class_holds(self.class_models, stats)


def refuse_with_conceal(problem: Problem, *options: str) -> None:
    """Raise `PolicyError` for options that choose by secrets, where the search conceals."""
    given = [name for name in options if problem.options.get(name)]
    if problem.veto is not None and given:
        message = "chooses classes by their sensitive values, which conceal does not allow."
        fix = "Leave out one of the two."
        raise PolicyError(
            [PolicyProblem(f"algorithm.{name}", message, fix, code="conceal-not-possible") for name in given]
        )


def prepare(problem: Problem, engine: LocalEngine) -> Blocks:
    """Cut the table into blocks by the boundaries and leave out what cannot comply; `InfeasibleError` if too much.

    Columns that cannot be released as ranges although the policy asks for it are a `PolicyError`, before any search.
    """
    ranged_columns(problem)
    top = tuple(levels - 1 for levels in problem.shape)
    grouping = engine.classes(top)
    stats = engine.stats(grouping, problem.sensitive_columns)
    satisfied, kept = keep_concealed(problem, problem.models, stats, grouping, problem.budget)
    if not satisfied:
        raise infeasible(problem, engine, otherwise="starts-at-top")
    number = np.full(grouping.n_classes, SUPPRESSED, dtype=np.int32)
    number[kept] = np.arange(int(kept.sum()), dtype=np.int32)
    return Blocks(problem, number[grouping.tuple_class], int(kept.sum()))


def class_extremes(blocks: Blocks, row_class: Classes, n_classes: int) -> tuple[Codes, Codes]:
    """The smallest and the largest leaf code of each class in each quasi-identifier: one row per class."""
    kept = np.flatnonzero(row_class >= 0)
    order = kept[np.argsort(row_class[kept], kind="stable")]
    starts = np.searchsorted(row_class[order], np.arange(n_classes))
    codes = blocks.row_codes[order]
    return np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
