"""The cells of a table in a cluster, as many as the driver may hold.

Where there are more, two things are tried in this order, and the evidence says which:

1. Insensitive columns are left out of the cells: they ride along when the records are recoded where they lie. Not for
   algorithms that part equal records, which look at everything of a record.
2. Quasi-identifiers are coarsened: the one with the most values is raised by one level, within its boundary, until
   the cells fit. The search then starts from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.io.spark.counts import Counted, grouped
from shoal.pipeline.search import looks_at_records
from shoal.pipeline.spark.cells import collect_cells
from shoal.pipeline.spark.coarsening import Coarse, coarsen
from shoal.pipeline.spark.input import SparkInput
from shoal.policy import Policy
from shoal.policy.engine_spec import CELLS
from shoal.search import ALGORITHMS
from shoal.search.problem import Progress
from shoal.table.distinct_rows import Cells


@dataclass(frozen=True, eq=False)
class Fitted:
    """Cells that the driver holds."""

    cells: Cells
    policy: Policy
    """The policy that they are searched with: the one asked for, but for hierarchies that begin higher."""
    beside: tuple[str, ...] = ()
    """Insensitive columns that are not in the cells."""
    coarse: Mapping[str, Coarse] = field(default_factory=dict)
    """The quasi-identifiers that were coarsened."""
    found: int = 0
    """How many cells there are before anything is left out or coarsened."""


def parts_equals(policy: Policy) -> bool:
    """Whether records that are equal in every column may go to different classes."""
    return looks_at_records(policy) or ALGORITHMS[policy.algorithm.name].splits_duplicates


def fit(given: SparkInput, policy: Policy, progress: Progress) -> Fitted:
    """Count the cells where the records lie, and bring as many as the driver may hold."""
    allowed = policy.engine.cells or CELLS
    progress("counting cells", 0.0)
    counted = grouped(given.frame, given.frame.names)
    counted.frame.persist()
    try:
        found, _ = counted.total()
        if found <= allowed:
            return Fitted(collect_cells(counted), policy, found=found)
        beside = tuple(name for name in given.frame.names if policy.columns[name].role == "insensitive")
        if not beside or parts_equals(policy):
            coarsened = coarsen(counted, policy, allowed, progress)
            return Fitted(coarsened.cells, coarsened.policy, (), coarsened.columns, found)
    finally:
        counted.frame.unpersist()
    return _without(given, policy, beside, allowed, found, progress)


def _without(
    given: SparkInput, policy: Policy, beside: tuple[str, ...], allowed: int, found: int, progress: Progress
) -> Fitted:
    kept = [name for name in given.frame.names if name not in beside]
    counted: Counted = grouped(given.frame, kept)
    counted.frame.persist()
    try:
        if counted.total()[0] <= allowed:
            return Fitted(collect_cells(counted), policy, beside, found=found)
        coarsened = coarsen(counted, policy, allowed, progress)
        return Fitted(coarsened.cells, coarsened.policy, beside, coarsened.columns, found)
    finally:
        counted.frame.unpersist()
