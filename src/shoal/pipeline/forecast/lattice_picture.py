"""`lattice_picture`: the lattice of full-domain recodings as data for a drawing; `pick_node`: the edit for one of them.

A lattice of up to a few hundred nodes is given whole: every node with its levels, whether it satisfies and how that is
known, its measures, and the edges to the nodes one step more general. Of a larger one there are the minimal nodes, the
bottom, the top and the number of nodes of each height, and ``left_out`` says what is not there.

A node is *checked* where its classes were tested, *implied* where a less general node satisfies and the models'
declarations prove that it then satisfies too (predictive tagging; LeFevre et al. 2005, the generalization property).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.edits import PolicyEdit
from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.io.source import TableSource
from shoal.pipeline.lattice import describe_node
from shoal.pipeline.prepare import Prepared, prepare_again
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import Evaluator
from shoal.search.lattice.incognito import all_minimal_nodes
from shoal.search.lattice.nodes import Node, above, by_generality, check_size, minimal_nodes
from shoal.search.problem import Problem, Progress, no_progress

DRAWN_WHOLE = 400  # lattices of up to this many nodes are given whole
MOST_MINIMAL = 400  # minimal nodes that are described, those of least cost first; all are listed by their levels

Picture = dict[str, Any]


def lattice_picture(table: Prepared | TableSource, policy: Policy, progress: Progress = no_progress) -> Picture:
    """The lattice of a policy on a table; of one that cannot be satisfied as well, without minimal nodes."""
    return picture_of(replace(prepare_again(table, policy).resolved.problem, progress=progress))


def picture_of(problem: Problem) -> Picture:
    """The lattice of a problem."""
    check_size(problem, "the picture of the lattice")
    work = _Work.of(problem)
    nodes = math.prod(problem.shape)
    whole = nodes <= DRAWN_WHOLE
    drawn, minimal, left_out = _whole(work) if whole else _part(work)
    quasi = list(problem.table.quasi)
    return {
        "quasi": quasi,
        "heights": {name: ladder.nominal[-1] for name, ladder in zip(quasi, problem.ladders, strict=True)},
        "records": problem.table.n_rows,
        "may_suppress": problem.budget,
        "metric": problem.metric.name,
        "whole": whole,
        "nodes": nodes,
        "checked": work.engine.checks,
        "satisfiable": bool(minimal),
        "drawn": drawn,
        "edges": _edges(problem, drawn),
        "minimal": [problem.nominal_levels(node) for node in minimal],
        "best": _cheapest(work, drawn),
        "by_height": _by_height(work, minimal),
        "left_out": left_out,
    }


@dataclass(frozen=True, eq=False)
class _Work:
    problem: Problem
    engine: LocalEngine
    evaluator: Evaluator

    @staticmethod
    def of(problem: Problem) -> _Work:
        engine = LocalEngine(problem.table, problem.ladders, problem.domains)
        return _Work(problem, engine, Evaluator(problem, engine))


def _whole(work: _Work) -> tuple[list[dict[str, Any]], list[Node], dict[str, Any] | None]:
    """Every node, tagged from the least general up."""
    problem = work.problem
    satisfied, implied = (np.zeros(problem.shape, dtype=np.bool_) for _ in range(2))
    total = satisfied.size
    for place, node in enumerate(by_generality(problem.shape)):
        problem.progress("looking at the lattice", place / (2 * total))
        if satisfied[node]:
            implied[node] = True
        elif work.evaluator.evaluate(work.evaluator.grouping(node)).satisfied:
            satisfied[above(node) if work.evaluator.all_prunable else node] = True
    minimal = minimal_nodes(satisfied)
    known, drawn = set(minimal), []
    for place, node in enumerate(by_generality(problem.shape)):
        problem.progress("measuring nodes", 0.5 + place / (2 * total))
        how = "implied" if implied[node] else "checked"
        drawn.append(_drawn(work, node, satisfied=bool(satisfied[node]), minimal=node in known, how=how))
    return drawn, minimal, None


def _part(work: _Work) -> tuple[list[dict[str, Any]], list[Node], dict[str, Any] | None]:
    """Of a large lattice the bottom, the top and the minimal nodes."""
    problem = work.problem
    minimal = all_minimal_nodes(problem, work.engine)
    described = []
    for place, node in enumerate(minimal):
        problem.progress("measuring minimal nodes", place / len(minimal))
        described.append(_drawn(work, node, satisfied=True, minimal=True, how="checked"))
    metric = problem.metric
    described.sort(key=lambda each: metric.cost(each["measures"][metric.name]))
    ends = []
    for node in ((0,) * len(problem.shape), tuple(levels - 1 for levels in problem.shape)):
        if node not in minimal:
            holds = work.evaluator.evaluate(work.evaluator.grouping(node)).satisfied
            ends.append(_drawn(work, node, satisfied=holds, minimal=False, how="checked"))
    drawn = sorted([*described[:MOST_MINIMAL], *ends], key=lambda each: (each["height"], each["place"]))
    left_out = {"nodes": math.prod(problem.shape) - len(drawn), "minimal": max(len(minimal) - MOST_MINIMAL, 0)}
    return drawn, minimal, left_out


def _drawn(work: _Work, node: Node, *, satisfied: bool, minimal: bool, how: str) -> dict[str, Any]:
    problem = work.problem
    facts: dict[str, Any] = {
        "id": "-".join(map(str, node)),
        "place": list(node),
        "levels": problem.nominal_levels(node),
        "height": sum(node),
        "satisfied": satisfied,
        "minimal": minimal,
        "how": how,
    }
    if satisfied:
        return facts | describe_node(problem, work.evaluator, work.engine, node) | {"failing_records": 0}
    evaluation = work.evaluator.evaluate(work.evaluator.grouping(node))
    unknown = dict.fromkeys(("classes", "suppressed", "measures", "exposure"))
    return facts | unknown | {"failing_records": evaluation.suppressed}


def _cheapest(work: _Work, drawn: list[dict[str, Any]]) -> str | None:
    """The minimal node of least cost by the policy's metric; of equals the least general, then the first."""
    metric = work.problem.metric
    minimal = [each for each in drawn if each["minimal"]]
    if not minimal:
        return None
    best = min(minimal, key=lambda each: (metric.cost(each["measures"][metric.name]), each["height"], each["place"]))
    return str(best["id"])


def _edges(problem: Problem, drawn: list[dict[str, Any]]) -> list[list[str]]:
    """From each node to those one step more general, as far as both are drawn."""
    ids = {tuple(each["place"]): each["id"] for each in drawn}
    edges = []
    for node, own in ids.items():
        for axis in range(len(problem.shape)):
            upper = ids.get((*node[:axis], node[axis] + 1, *node[axis + 1 :]))
            if upper is not None:
                edges.append([own, upper])
    return edges


def _by_height(work: _Work, minimal: list[Node]) -> list[dict[str, Any]]:
    """Nodes of each height, and how many of them satisfy where the minimal nodes tell that."""
    shape = work.problem.shape
    counts: NDArray[np.int64] = np.ones(1, dtype=np.int64)
    for levels in shape:
        counts = np.convolve(counts, np.ones(levels, dtype=np.int64))
    holding: list[int] | None = None
    if work.evaluator.all_prunable:
        satisfied = np.zeros(shape, dtype=np.bool_)
        for node in minimal:
            satisfied[above(node)] = True
        holding = _holding_by_height(satisfied, len(counts))
    found = [sum(node) for node in minimal]
    return [
        {
            "height": height,
            "nodes": int(count),
            "satisfied": None if holding is None else holding[height],
            "minimal": found.count(height),
        }
        for height, count in enumerate(counts)
    ]


def _holding_by_height(satisfied: NDArray[np.bool_], heights: int) -> list[int]:
    """Satisfying nodes of each height, slice by slice: all heights of a large lattice would fill the memory."""
    found = np.zeros(heights, dtype=np.int64)
    if not satisfied.ndim:
        return [int(satisfied)]
    rest = np.zeros((), dtype=np.int16)
    for levels in satisfied.shape[1:]:
        rest = np.add.outer(rest, np.arange(levels, dtype=np.int16))
    for level, part in enumerate(satisfied):
        below = np.bincount(rest[part], minlength=heights - level)
        found[level:] += below[: heights - level]
    return [int(each) for each in found]


def pick_node(picture: Picture, levels: Mapping[str, int]) -> PolicyEdit:
    """The edit of the policy that releases a node; `PolicyError` with the reason where it cannot be picked."""
    wanted = {name: levels[name] for name in picture["quasi"] if name in levels}
    problems = _unknown(picture, levels)
    if not problems and wanted not in picture["minimal"]:
        problems = [_not_pickable(picture, wanted)]
    if problems:
        raise PolicyError(problems)
    algorithm = next(name for name, entry in ALGORITHMS.items() if "node" in entry.option_names)
    return PolicyEdit(("algorithm",), {"name": algorithm, "node": wanted})


def _unknown(picture: Picture, levels: Mapping[str, int]) -> list[PolicyProblem]:
    """Columns that are missing or that the lattice does not have."""
    quasi, problems = picture["quasi"], []
    for name in (each for each in levels if each not in quasi):
        fix = did_you_mean(name, quasi)
        what = "is not a quasi-identifier."
        problems.append(PolicyProblem(f"algorithm.node.{name}", what, fix, code="not-a-quasi-identifier"))
    for name in (each for each in quasi if each not in levels):
        fix = "A node has a level for each quasi-identifier."
        problems.append(PolicyProblem(f"algorithm.node.{name}", "has no level.", fix, code="missing-key"))
    return problems


def _not_pickable(picture: Picture, wanted: Mapping[str, int]) -> PolicyProblem:
    """Why a node cannot be picked, and what can."""
    fix = "Pick one of the minimal nodes." if picture["minimal"] else "No node satisfies: relax the policy first."
    node = next((each for each in picture["drawn"] if each["levels"] == wanted), None)
    lower = next((each for each in picture["minimal"] if all(each[name] <= wanted[name] for name in each)), None)
    code = "node-fails"
    if node is not None and not node["satisfied"]:
        failing, allowed = node["failing_records"], picture["may_suppress"]
        reason = f"{failing:,} records would have to be suppressed, {allowed:,} may be" if failing > allowed else ""
        message = f"the node {dict(wanted)} does not satisfy the policy{': ' if reason else ''}{reason}."
    elif lower is not None:
        code = "node-not-minimal"
        message = f"the node {dict(wanted)} is not minimal: the less general node {lower} satisfies the policy too."
    else:
        message = f"the node {dict(wanted)} does not satisfy the policy, or is not in the lattice."
    return PolicyProblem("algorithm.node", message, fix, code=code)
