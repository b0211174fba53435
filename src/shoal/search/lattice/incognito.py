"""Incognito (LeFevre et al. 2005) as extended by Sun et al. 2008, section 5.1: all minimal full-domain nodes.

A-priori over subsets of the quasi-identifiers, smallest first. A node of a subset is a candidate only if its
projections on all smaller subsets satisfied (subset property); candidates are tested from the least general up, and
everything above a satisfying node satisfies without a test (generalization property); a test starts from a finer
grouping already made (roll-up). The test is every model whose declarations make these two properties true.

Models that do not (ratio models under a suppression budget, (alp, dif) always) are tested one by one on the
nodes that survive, skipping only nodes above one already found, which cannot be minimal.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import DROPPED, LocalEngine
from shoal.search.evaluation import Evaluator, prunable_models
from shoal.search.lattice.nodes import TIE, Node, above, by_generality, check_size, minimal_nodes, recode, summarize
from shoal.search.problem import Problem, SearchResult


def all_minimal_nodes(problem: Problem, engine: LocalEngine) -> list[Node]:
    """Every node that satisfies and has no satisfying node below it, least general first."""
    check_size(problem, "incognito")
    passing = _satisfying_prunable(problem, engine)
    evaluator = Evaluator(problem, engine)
    if evaluator.all_prunable:
        return minimal_nodes(passing)
    open_nodes, minimal = passing.copy(), []
    for node in by_generality(problem.shape):
        if open_nodes[node] and evaluator.evaluate(engine.classes(node)).satisfied:
            minimal.append(node)
            open_nodes[above(node)] = False
    return minimal


def _satisfying_prunable(problem: Problem, engine: LocalEngine) -> NDArray[np.bool_]:
    """Which nodes of the full lattice satisfy the models that allow pruning."""
    models = prunable_models(problem.models, problem.budget)
    width = len(problem.shape)
    if not models:
        return np.ones(problem.shape, dtype=np.bool_)
    evaluator = Evaluator(problem, engine, models)
    satisfying: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.ones((), dtype=np.bool_)}
    for size in range(1, width + 1):
        problem.progress("searching subsets of the quasi-identifiers", (size - 1) / width)
        smaller, satisfying = satisfying, {}
        for subset in combinations(range(width), size):
            candidates = _candidates(problem, subset, smaller)
            satisfying[subset] = _test_subset(problem, evaluator, subset, candidates)
    return satisfying[tuple(range(width))]


def _candidates(
    problem: Problem, subset: tuple[int, ...], smaller: dict[tuple[int, ...], NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """The nodes of a subset all of whose projections on one attribute less satisfied."""
    candidates = np.ones([problem.shape[j] for j in subset], dtype=np.bool_)
    for axis in range(len(subset)):
        part = smaller[subset[:axis] + subset[axis + 1 :]]
        candidates &= np.expand_dims(part, axis)
    return candidates


def _test_subset(
    problem: Problem, evaluator: Evaluator, subset: tuple[int, ...], candidates: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    satisfying = np.zeros_like(candidates)
    for node in by_generality(candidates.shape):
        if candidates[node] and not satisfying[node]:
            full = [DROPPED] * len(problem.shape)
            for axis, level in zip(subset, node, strict=True):
                full[axis] = level
            if evaluator.evaluate(evaluator.grouping(full)).satisfied:
                satisfying[above(node)] = True
    return satisfying & candidates


def incognito(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Recode to the minimal node the policy picks (option ``node``), or else to the best by the metric."""
    minimal = all_minimal_nodes(problem, engine)
    if not minimal:
        raise infeasible(problem, engine)
    evaluator = Evaluator(problem, engine)
    wanted = problem.options.get("node")
    chosen = _picked(problem, minimal, wanted) if wanted is not None else _cheapest(problem, evaluator, minimal)
    grouping = engine.classes(chosen)
    listed = [problem.nominal_levels(node) for node in minimal]
    nodes = int(np.prod(problem.shape, dtype=np.int64))
    return SearchResult(
        recode(problem, chosen, grouping, evaluator.evaluate(grouping).kept),
        {"nodes": nodes, "checked": engine.checks, "metric": problem.metric.name, "minimal_nodes": listed},
    )


def _cheapest(problem: Problem, evaluator: Evaluator, minimal: list[Node]) -> Node:
    def cost(node: Node) -> float:
        grouping = evaluator.grouping(node)
        summary = summarize(problem, node, grouping, evaluator.evaluate(grouping).kept)
        return problem.metric.cost(problem.metric.of(summary))

    costs = {node: cost(node) for node in minimal}
    least = min(costs.values())
    return min((node for node in minimal if costs[node] <= least + TIE), key=lambda node: (sum(node), node))


def _picked(problem: Problem, minimal: list[Node], wanted: dict[str, int]) -> Node:
    """The minimal node that the policy names by levels."""
    levels = [problem.nominal_levels(node) for node in minimal]
    if wanted in levels:
        return minimal[levels.index(wanted)]
    message, fix = f"{dict(wanted)} is not a minimal node.", did_you_mean(wanted, [*map(str, levels)])
    raise PolicyError([PolicyProblem("algorithm.node", message, fix, code="not-a-minimal-node")])
