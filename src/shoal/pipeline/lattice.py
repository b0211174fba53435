"""All minimal full-domain nodes of a policy, each with its measures and what it leaves open to attack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.evidence.describe import describe_exposure, measure
from shoal.facts import plain
from shoal.io.source import TableSource, load_table
from shoal.pipeline.prepare import prepare_again
from shoal.pipeline.run import explained
from shoal.policy import Policy
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import Evaluator
from shoal.search.lattice.incognito import all_minimal_nodes
from shoal.search.lattice.nodes import Node, summarize
from shoal.search.problem import Problem, Progress, no_progress


def list_minimal_nodes(
    policy: Policy, data: TableSource | str | Path | None = None, *, progress: Progress = no_progress
) -> dict[str, Any]:
    """Every minimal node, best by the policy's metric first. Raises `InfeasibleError` when there is none."""
    source = data if isinstance(data, TableSource) else load_table(data, policy)
    problem = replace(prepare_again(source, policy).resolved.problem, progress=progress)
    engine = LocalEngine(problem.table, problem.ladders, problem.domains)
    nodes = all_minimal_nodes(problem, engine)
    if not nodes:
        with explained():
            raise infeasible(problem, engine)
    checked = engine.checks
    evaluator = Evaluator(problem, engine)
    listed = [describe_node(problem, evaluator, engine, node) for node in nodes]
    metric = problem.metric
    listed.sort(key=lambda node: metric.cost(node["measures"][metric.name]))
    return {
        "quasi": list(problem.table.quasi),
        "nodes": int(np.prod(problem.shape, dtype=np.int64)),
        "checked": checked,
        "metric": metric.name,
        "minimal_nodes": listed,
    }


def describe_node(problem: Problem, evaluator: Evaluator, engine: LocalEngine, node: Node) -> dict[str, Any]:
    """A node that satisfies: what its release has, costs and leaves open."""
    grouping = evaluator.grouping(node)
    evaluation = evaluator.evaluate(grouping)
    summary = summarize(problem, node, grouping, evaluation.kept)
    stats = engine.stats(grouping, sorted(problem.domains)).keep(evaluation.kept)
    return {
        "levels": problem.nominal_levels(node),
        "classes": int(evaluation.kept.sum()),
        "suppressed": evaluation.suppressed,
        "measures": plain(measure(summary)),
        "exposure": plain(describe_exposure(stats)),
    }
