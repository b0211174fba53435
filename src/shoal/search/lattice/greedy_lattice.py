"""Greedy lattice generalization (Wang et al. 2011, section III-C): one path up the lattice.

Phase 1 raises the attribute of least loss until k-anonymity and every other model on single classes hold, or until no
more records fail them than may be suppressed; those records are then suppressed. Phase 2 goes on, on the remaining
records, until the models on the whole release ((alp, dif), t-closeness) hold too.

The loss of raising an attribute is (10): (1 - W) times the sum over records of (values covered - 1) / domain, where W
in [0, 1] is the attribute's importance. Ties go to the first attribute in column order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from shoal.models.base import Model
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.evaluation import evaluate_stats, prunable_models
from shoal.search.lattice.nodes import Node, recode
from shoal.search.problem import Problem, SearchResult, no_progress
from shoal.table.classes import Mask
from shoal.table.recoding import SUPPRESSED


def greedy_lattice(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Walk up the lattice until the models hold."""
    outcome = _walk(problem, engine)
    if outcome is None:
        provable = len(prunable_models(problem.models, problem.budget)) == len(problem.models)
        # where a failure at the top proves nothing about other nodes, only the path is spoken of
        algorithm = None if provable and not _whole(problem) else "greedy-lattice"
        raise infeasible(problem, engine, algorithm, finds)
    return outcome


def finds(problem: Problem) -> bool:
    """Whether the walk meets a release of a problem whose most general node satisfies.

    It ends there at the latest, unless records were suppressed on the way: models on the whole release then see the
    remaining records only, and may fail on them.
    """
    if not problem.budget or not _whole(problem):
        return True
    quiet = replace(problem, progress=no_progress)
    return _walk(quiet, LocalEngine(problem.table, problem.ladders, problem.domains)) is not None


def _whole(problem: Problem) -> list[Model]:
    return [model for model in problem.models if model.whole_table]


def _walk(problem: Problem, engine: LocalEngine) -> SearchResult | None:
    """Both phases; None where the walk ends at the top and the models do not hold."""
    whole = _whole(problem)
    single = [model for model in problem.models if not model.whole_table]
    path: list[Node] = [(0,) * len(problem.shape)]
    reached = _climb(problem, engine, single, path)
    if reached is None:
        return None
    grouping, kept = reached
    failing: Mask = ~kept[grouping.tuple_class]
    rows = ~failing[problem.table.row_tuple]
    if whole:
        rest = replace(problem, table=problem.table.keep_tuples(~failing), budget=0)
        rest_engine = LocalEngine(rest.table, rest.ladders, rest.domains)
        reached = _climb(rest, rest_engine, [*single, *whole], path)
        if reached is None:
            return None
        grouping, kept = reached
        part = recode(rest, path[-1], grouping, kept)
        row_class = np.full(problem.table.n_entries, SUPPRESSED, dtype=np.int32)
        row_class[rows] = part.row_class
        recoding = replace(part, row_class=row_class, weights=problem.table.weights, entry=problem.table.entry)
    else:
        recoding = recode(problem, path[-1], grouping, kept)
    return SearchResult(recoding, {"checked": len(path), "path": [problem.nominal_levels(node) for node in path]})


def _climb(
    problem: Problem, engine: LocalEngine, models: Sequence[Model], path: list[Node]
) -> tuple[Grouping, Mask] | None:
    """Extend the path until the models hold within the budget: the classes there and those kept; None at the top."""
    losses = _losses(problem)
    columns = sorted({model.column for model in models if model.column is not None})
    top = sum(problem.shape) - len(problem.shape)
    while True:
        problem.progress("raising attributes", sum(path[-1]) / max(top, 1))
        grouping = engine.classes(path[-1])
        satisfied, kept = evaluate_stats(models, engine.stats(grouping, columns), problem.budget)
        if satisfied:
            return grouping, kept
        step = _next(problem, path[-1], losses)
        if step is None:
            return None
        path.append(step)


def _losses(problem: Problem) -> list[list[Fraction]]:
    """Loss (10) of each attribute at each level, exactly: rounding must not decide between attributes."""
    losses = []
    for j, (hierarchy, ladder) in enumerate(zip(problem.hierarchies, problem.ladders, strict=True)):
        leaf_counts = np.bincount(problem.table.codes[j], weights=problem.table.counts, minlength=hierarchy.n_leaves)
        importance = Fraction(str(problem.weights.get(problem.table.quasi[j], 0)))
        spans = [int(span) for span in hierarchy.spans]
        present = np.flatnonzero(leaf_counts)
        covered = [sum(int(leaf_counts[leaf]) * (spans[row[leaf]] - 1) for leaf in present) for row in ladder.nodes]
        losses.append([(1 - importance) * Fraction(each, spans[hierarchy.root]) for each in covered])
    return losses


def _next(problem: Problem, node: Node, losses: list[list[Fraction]]) -> Node | None:
    """Raise the attribute whose next level loses least; None at the top."""
    axes = [axis for axis, level in enumerate(node) if level + 1 < problem.shape[axis]]
    if not axes:
        return None
    axis = min(axes, key=lambda each: (losses[each][node[each] + 1], each))
    return (*node[:axis], node[axis] + 1, *node[axis + 1 :])
