"""Greedy lattice generalization (Wang et al. 2011, section III-C): one path up the lattice.

Phase 1 raises the attribute of least loss until k-anonymity and every other model on single classes hold, or until no
more records fail them than may be suppressed; those records are then suppressed. Phase 2 goes on, on the remaining
records, until the models on the whole release ((alp, dif), t-closeness) hold too.

The loss of raising an attribute is (10): (1 - W) times the sum over records of (values covered - 1) / domain, where W
in [0, 1] is the attribute's importance. Ties go to the first attribute in column order.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from shoal.models.base import Model
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.evaluation import keep_concealed, prunable_models
from shoal.search.lattice.nodes import Node, recode, refused_nodes
from shoal.search.problem import Problem, no_progress
from shoal.search.search_result import SearchResult
from shoal.table.classes import Mask
from shoal.table.recoding import SUPPRESSED


def greedy_lattice(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Walk up the lattice until the models hold."""
    outcome = _walk(problem, engine)
    if outcome is None:
        provable = len(prunable_models(problem, problem.models)) == len(problem.models)
        # where a failure at the top proves nothing about other nodes, only the path is spoken of
        algorithm = None if provable and not any(model.whole_table for model in problem.models) else "greedy-lattice"
        raise infeasible(problem, engine, algorithm, finds)
    return outcome


def finds(problem: Problem) -> bool:
    """Whether the walk meets a release of a problem whose most general node satisfies.

    It ends there at the latest, unless records were suppressed on the way: models on the whole release then see the
    remaining records only, and may fail on them.
    """
    if not problem.budget or not any(model.whole_table for model in problem.models):
        return True
    quiet = replace(problem, progress=no_progress)
    return _walk(quiet, LocalEngine(problem.table, problem.ladders, problem.domains)) is not None


def _walk(problem: Problem, engine: LocalEngine) -> SearchResult | None:
    """Both phases; None where the walk ends at the top and the models do not hold."""
    if problem.concealing is not None:
        return _concealed_walk(problem, engine)
    whole = [model for model in problem.models if model.whole_table]
    single = [model for model in problem.models if not model.whole_table]
    path: list[Node] = [(0,) * len(problem.shape)]
    reached = _climb(problem, engine, single, path)
    if reached is None:
        return None
    if whole:
        grouping, kept = reached
        staying: Mask = kept[grouping.tuple_class]
        rest = replace(problem, table=problem.table.keep_tuples(staying), budget=0)
        reached = _climb(rest, LocalEngine(rest.table, rest.ladders, rest.domains), [*single, *whole], path)
        if reached is None:
            return None
        part = recode(rest, path[-1], *reached)
        row_class = np.full(len(problem.table.row_tuple), SUPPRESSED, dtype=np.int32)
        row_class[staying[problem.table.row_tuple]] = part.row_class
        recoding = replace(part, row_class=row_class, weights=problem.table.weights, entry=problem.table.entry)
    else:
        recoding = recode(problem, path[-1], *reached)
    return SearchResult(recoding, {"checked": len(path), "path": [problem.nominal_levels(node) for node in path]})


def _concealed_walk(problem: Problem, engine: LocalEngine) -> SearchResult | None:
    """One phase with all models, past nodes that are refused; who is suppressed is decided where the walk ends.

    Groups that were suppressed on the way would show how the classes of the release were made up further down.
    """
    path: list[Node] = [(0,) * len(problem.shape)]
    reached = _climb(problem, engine, problem.models, path)
    return None if reached is None else SearchResult(recode(problem, path[-1], *reached), {})


def _climb(
    problem: Problem, engine: LocalEngine, models: Sequence[Model], path: list[Node]
) -> tuple[Grouping, Mask] | None:
    """Raise attributes until the models hold within the budget: the classes there and those kept; None at the top."""
    losses, shape = _losses(problem), problem.shape
    columns = sorted({model.column for model in models if model.column is not None})
    while True:
        node = path[-1]
        problem.progress("raising attributes", sum(node) / max(sum(shape) - len(shape), 1))
        grouping = engine.classes(node)
        stats = engine.stats(grouping, columns)
        satisfied, kept = keep_concealed(problem, models, stats, grouping, problem.budget)
        axes = [axis for axis, level in enumerate(node) if level + 1 < shape[axis]]
        if satisfied and not (axes and refused_nodes(problem, np.array([node])).any()):
            return grouping, kept
        raised = _raised(node, shape, losses)
        if raised is None:
            return None
        path.append(raised)


def _raised(node: Node, shape: Sequence[int], losses: list[list[Fraction]]) -> Node | None:
    """The next node of the path; None at the top."""
    axes = [axis for axis, level in enumerate(node) if level + 1 < shape[axis]]
    if not axes:
        return None
    axis = min(axes, key=lambda each: (losses[each][node[each] + 1], each))
    return (*node[:axis], node[axis] + 1, *node[axis + 1 :])


def path_to(problem: Problem, node: Node) -> list[Node]:
    """The nodes that the walk passes before a node; none where it does not come there."""
    losses, path, here = _losses(problem), list[Node](), (0,) * len(problem.shape)
    while here != node:
        path.append(here)
        raised = _raised(here, problem.shape, losses)
        if raised is None:
            return []
        here = raised
    return path


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
