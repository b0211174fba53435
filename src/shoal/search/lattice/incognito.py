"""Incognito (LeFevre et al. 2005) as extended by Sun et al. 2008, section 5.1: all minimal full-domain nodes.

A-priori over subsets of the quasi-identifiers, smallest first. A node of a subset is a candidate only if its
projections on all smaller subsets satisfied (subset property); candidates are tested from the least general up, and
everything above a satisfying node satisfies without a test (generalization property); a test starts from a finer
grouping already made (roll-up). The test is every model whose declarations make these two properties true.

Models that do not (ratio models under a suppression budget, (alp, dif) always) are tested one by one on the
nodes that survive, skipping only nodes above one already found, which cannot be minimal.
"""

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import DROPPED, LocalEngine
from shoal.search.evaluation import Evaluator, prunable_models
from shoal.search.lattice.nodes import (
    TIE,
    Node,
    above,
    as_node,
    by_generality,
    check_size,
    kept_classes,
    minimal_nodes,
    recode,
    refused_nodes,
    summarize,
)
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult


def all_minimal_nodes(problem: Problem, engine: LocalEngine) -> list[Node]:
    """Every node that satisfies and has no satisfying node below it, least general first."""
    check_size(problem, "incognito")
    passing = _satisfying_prunable(problem, engine)
    evaluator = Evaluator(problem, engine)
    if evaluator.all_prunable:
        return minimal_nodes(passing)
    return _tested_minimal_nodes(problem, evaluator, passing)


def _tested_minimal_nodes(problem: Problem, evaluator: Evaluator, candidates: NDArray[np.bool_]) -> list[Node]:
    """The same among some candidates, by testing each that is not above one already found."""
    open_nodes, minimal = candidates.copy(), []
    for node in by_generality(problem.shape):
        if open_nodes[node] and evaluator.evaluate(evaluator.grouping(node)).satisfied:
            minimal.append(node)
            open_nodes[above(node)] = False
    return minimal


def _minimal_unrefused(problem: Problem, engine: LocalEngine) -> list[Node]:
    """Where the search conceals: as if refused nodes did not satisfy, but for the one that the policy picks.

    A node may be released although a less general one satisfies, so that its release proves of none that it fails.
    All minimal nodes where every satisfying one is refused.
    """
    check_size(problem, "incognito")
    passing, evaluator = _satisfying_prunable(problem, engine), Evaluator(problem, engine)
    candidates, there = passing.copy(), np.argwhere(passing)
    refused = there[refused_nodes(problem, there)]
    picked = problem.options.get("node")
    for node in map(as_node, refused):
        candidates[node] = picked is not None and problem.nominal_levels(node) == picked
    for chosen in (candidates, passing):
        found = minimal_nodes(chosen) if evaluator.all_prunable else _tested_minimal_nodes(problem, evaluator, chosen)
        if found:
            return found
    return []


def _satisfying_prunable(problem: Problem, engine: LocalEngine) -> NDArray[np.bool_]:
    """Which nodes of the full lattice satisfy the models that allow pruning."""
    models = prunable_models(problem, problem.models)
    width = len(problem.shape)
    if not models:
        return np.ones(problem.shape, dtype=np.bool_)
    evaluator = Evaluator(problem, engine, models)
    satisfying: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.ones((), dtype=np.bool_)}
    for size in range(1, width + 1):
        problem.progress("searching subsets of the quasi-identifiers", (size - 1) / width)
        smaller, satisfying = satisfying, {}
        for subset in combinations(range(width), size):
            # the nodes all of whose projections on one attribute less satisfied
            candidates = np.ones([problem.shape[j] for j in subset], dtype=np.bool_)
            for axis in range(size):
                candidates &= np.expand_dims(smaller[subset[:axis] + subset[axis + 1 :]], axis)
            satisfying[subset] = _test_subset(problem, evaluator, subset, candidates)
    return satisfying[tuple(range(width))]


def _test_subset(
    problem: Problem, evaluator: Evaluator, subset: tuple[int, ...], candidates: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which candidates of a subset of the quasi-identifiers satisfy, the others being left out."""
    satisfying = np.zeros_like(candidates)
    for node in by_generality(candidates.shape):
        if candidates[node] and not satisfying[node]:
            full = np.full(len(problem.shape), DROPPED)
            full[list(subset)] = node
            if evaluator.evaluate(evaluator.grouping(full.tolist())).satisfied:
                satisfying[above(node)] = True
    return satisfying & candidates


def incognito(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Recode to the minimal node the policy picks (option ``node``), or else to the best by the metric."""
    minimal = (all_minimal_nodes if problem.concealing is None else _minimal_unrefused)(problem, engine)
    if not minimal:
        raise infeasible(problem, engine)
    evaluator = Evaluator(problem, engine)
    listed = [problem.nominal_levels(node) for node in minimal]
    wanted = problem.options.get("node")
    if wanted is None:
        chosen = _cheapest(problem, evaluator, minimal)
    elif wanted in listed:
        chosen = minimal[listed.index(wanted)]
    else:
        message, fix = f"{dict(wanted)} is not a minimal node.", did_you_mean(wanted, [*map(str, listed)])
        raise PolicyError([PolicyProblem("algorithm.node", message, fix, code="not-a-minimal-node")])
    grouping = engine.classes(chosen)
    return SearchResult(
        recode(problem, chosen, grouping, kept_classes(problem, engine, grouping, evaluator.evaluate(grouping).kept)),
        {
            "nodes": math.prod(problem.shape),
            "checked": engine.checks,
            "metric": problem.metric.name,
            "minimal_nodes": listed,
        },
    )


def _cheapest(problem: Problem, evaluator: Evaluator, minimal: list[Node]) -> Node:
    """The node of least cost; of equals the least general one, then the first in column order."""
    costs = {}
    for node in minimal:
        grouping = evaluator.grouping(node)
        summary = summarize(problem, node, grouping, evaluator.evaluate(grouping).kept)
        costs[node] = problem.metric.cost(problem.metric.of(summary))
    least = min(costs.values())
    return min((node for node in minimal if costs[node] <= least + TIE), key=lambda node: (sum(node), node))
