"""The search on cells: what an engine needs once it has counted, wherever the records lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shoal.attacks.registry.people import NewRelease
from shoal.encode.resolve import Resolved, resolve
from shoal.io import Cells
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.bounds.lower_bound import LowerBound
from shoal.search.engine import LocalEngine, RemoteWorkers
from shoal.search.problem import Progress, no_progress
from shoal.table.recoding import Recoding

if TYPE_CHECKING:
    from shoal.pipeline.run import Clock


@dataclass(frozen=True, eq=False)
class Searched:
    """What becomes of each cell."""

    policy: Policy
    cells: Cells
    """The cells; those whose records go to several classes are parted."""
    resolved: Resolved
    recoding: Recoding
    """Its rows are the cells."""
    search: Mapping[str, Any]
    bound: LowerBound | None
    """How little any release could lose."""
    names: Sequence[str]
    """All columns of the data, released or not."""

    @property
    def parts_equals(self) -> bool:
        """Whether records with equal quasi-identifiers may have gone to different classes."""
        return parts_equals(self.policy)

    def as_new(self) -> NewRelease:
        """The release as earlier ones are held against it."""
        return NewRelease(self.policy, self.cells.to_table(), self.resolved.problem, self.recoding)


def parts_equals(policy: Policy) -> bool:
    """Whether records with equal quasi-identifiers may go to different classes."""
    return looks_at_records(policy) or ALGORITHMS[policy.algorithm.name].parts_equals


def looks_at_records(policy: Policy) -> bool:
    """Whether the algorithm moves single records, so that each needs a row of codes in memory."""
    return policy.algorithm.name == "greedy-clustering" or policy.algorithm.refine is not None


def search_cells(
    policy: Policy,
    cells: Cells,
    *,
    names: Sequence[str] | None = None,
    clock: Clock,
    progress: Progress = no_progress,
    remote: RemoteWorkers | None = None,
) -> Searched:
    """Find the recoding of some cells; the same as of the table that they were counted from.

    With ``remote`` workers, an algorithm may have sets of classes cut elsewhere; the result is the same.

    Raises `PolicyError` for what is wrong between policy and data, `InfeasibleError` where no release satisfies.
    """
    with clock.stage("encode"):
        resolved = resolve(policy, cells)
    problem = replace(resolved.problem, progress=progress)
    if looks_at_records(policy):
        problem = replace(problem, table=problem.table.unfolded())
    with clock.stage("search"):
        engine = LocalEngine(problem.table, problem.ladders, problem.domains, remote=remote)
        outcome = ALGORITHMS[policy.algorithm.name].run(problem, engine)
    with clock.stage("bound"):
        bound = LowerBound.of(problem, engine, outcome.search)
    recoding = outcome.recoding.folded()
    if recoding.entry is not None and recoding.weights is not None:
        cells = cells.take(recoding.entry, recoding.weights)
        resolved = resolved.taken(recoding.entry, recoding.weights)
        recoding = replace(recoding, entry=None)
    return Searched(policy, cells, resolved, recoding, outcome.search, bound, list(names or cells.columns))
