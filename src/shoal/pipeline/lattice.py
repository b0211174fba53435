"""The lattice of full-domain recodings: its minimal nodes, a picture of it as data, and the edit that picks a node.

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
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.edits import PolicyEdit
from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.evidence.describe import describe_exposure, measure
from shoal.facts import plain
from shoal.io.source import TableSource
from shoal.pipeline.prepare import Prepared, prepare
from shoal.pipeline.run import explained
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import Evaluator
from shoal.search.lattice.incognito import all_minimal_nodes
from shoal.search.lattice.nodes import Node, above, by_generality, check_size, minimal_nodes, summarize
from shoal.search.problem import Problem, Progress, no_progress

DRAWN_WHOLE = 400  # lattices of up to this many nodes are given whole
MOST_MINIMAL = 400  # minimal nodes that are described, those of least cost first; all are listed by their levels

Picture = dict[str, Any]
Facts = dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Lattice:
    """A problem, and what its nodes are judged with."""

    problem: Problem
    engine: LocalEngine
    evaluator: Evaluator

    @staticmethod
    def of(problem: Problem) -> _Lattice:
        engine = LocalEngine(problem.table, problem.ladders, problem.domains)
        return _Lattice(problem, engine, Evaluator(replace(problem, veto=None), engine))

    def satisfied(self, node: Node) -> bool:
        """Whether a release at a node satisfies the policy."""
        return self.evaluator.evaluate(self.evaluator.grouping(node)).satisfied

    def describe(self, node: Node) -> Facts:
        """A node that satisfies: what its release has, costs and leaves open."""
        grouping = self.evaluator.grouping(node)
        evaluation = self.evaluator.evaluate(grouping)
        stats = self.engine.stats(grouping, sorted(self.problem.domains)).restricted_to(evaluation.kept)
        return {
            "levels": self.problem.nominal_levels(node),
            "classes": int(evaluation.kept.sum()),
            "suppressed": evaluation.suppressed,
            "measures": plain(measure(summarize(self.problem, node, grouping, evaluation.kept))),
            "exposure": plain(describe_exposure(stats)),
        }

    def drawn(self, node: Node, *, satisfied: bool, minimal: bool = False, how: str = "checked") -> Facts:
        """A node as it stands in a picture."""
        facts: Facts = {
            "id": "-".join(map(str, node)),
            "place": list(node),
            "levels": self.problem.nominal_levels(node),
            "height": sum(node),
            "satisfied": satisfied,
            "minimal": minimal,
            "how": how,
        }
        if satisfied:
            return facts | self.describe(node) | {"failing_records": 0}
        evaluation = self.evaluator.evaluate(self.evaluator.grouping(node))
        unknown = dict.fromkeys(("classes", "suppressed", "measures", "exposure"))
        return facts | unknown | {"failing_records": evaluation.suppressed}

    def cost(self, described: Facts) -> float:
        """What a described node costs by the policy's metric."""
        metric = self.problem.metric
        return metric.cost(described["measures"][metric.name])


def list_minimal_nodes(
    policy: Policy, data: TableSource | str | Path | None = None, *, progress: Progress = no_progress
) -> Facts:
    """Every minimal node, best by the policy's metric first. Raises `InfeasibleError` when there is none."""
    lattice = _Lattice.of(replace(prepare(data, policy).resolved.problem, progress=progress))
    problem, engine = lattice.problem, lattice.engine
    nodes = all_minimal_nodes(problem, engine)
    if not nodes:
        with explained():
            raise infeasible(problem, engine)
    return {
        "quasi": list(problem.table.quasi),
        "nodes": math.prod(problem.shape),
        "checked": engine.checks,
        "metric": problem.metric.name,
        "minimal_nodes": sorted(map(lattice.describe, nodes), key=lattice.cost),
    }


def lattice_picture(table: Prepared | TableSource, policy: Policy, progress: Progress = no_progress) -> Picture:
    """The lattice of a policy on a table; of one that cannot be satisfied as well, without minimal nodes."""
    return picture_of(replace(prepare(table, policy).resolved.problem, progress=progress))


def picture_of(problem: Problem) -> Picture:
    """The lattice of a problem."""
    check_size(problem, "the picture of the lattice")
    lattice, nodes = _Lattice.of(problem), math.prod(problem.shape)
    whole = nodes <= DRAWN_WHOLE
    drawn, minimal = _whole(lattice) if whole else _part(lattice)
    quasi, ids = list(problem.table.quasi), {tuple(each["place"]): each["id"] for each in drawn}
    pickable = [each for each in drawn if each["minimal"]]
    best = min(pickable, key=lambda each: (lattice.cost(each), each["height"], each["place"]), default=None)
    return {
        "quasi": quasi,
        "heights": {name: ladder.nominal[-1] for name, ladder in zip(quasi, problem.ladders, strict=True)},
        "records": problem.table.n_rows,
        "may_suppress": problem.budget,
        "metric": problem.metric.name,
        "whole": whole,
        "nodes": nodes,
        "checked": lattice.engine.checks,
        "satisfiable": bool(minimal),
        "drawn": drawn,
        "edges": [  # from each node to those one step more general, as far as both are drawn
            [own, upper]
            for node, own in ids.items()
            for axis in range(len(node))
            if (upper := ids.get((*node[:axis], node[axis] + 1, *node[axis + 1 :]))) is not None
        ],
        "minimal": [problem.nominal_levels(node) for node in minimal],
        "best": None if best is None else best["id"],
        "by_height": _by_height(lattice, minimal),
        "left_out": None if whole else {"nodes": nodes - len(drawn), "minimal": max(len(minimal) - MOST_MINIMAL, 0)},
    }


def _whole(lattice: _Lattice) -> tuple[list[Facts], list[Node]]:
    """Every node, tagged from the least general up; and the minimal ones."""
    problem = lattice.problem
    satisfied, implied = (np.zeros(problem.shape, dtype=np.bool_) for _ in range(2))
    total = satisfied.size
    for index, node in enumerate(by_generality(problem.shape)):
        problem.progress("looking at the lattice", index / (2 * total))
        if satisfied[node]:
            implied[node] = True
        elif lattice.satisfied(node):
            satisfied[above(node) if lattice.evaluator.all_prunable else node] = True
    minimal, drawn = minimal_nodes(satisfied), []
    known = set(minimal)
    for index, node in enumerate(by_generality(problem.shape)):
        problem.progress("measuring nodes", 0.5 + index / (2 * total))
        how = "implied" if implied[node] else "checked"
        drawn.append(lattice.drawn(node, satisfied=bool(satisfied[node]), minimal=node in known, how=how))
    return drawn, minimal


def _part(lattice: _Lattice) -> tuple[list[Facts], list[Node]]:
    """Of a large lattice the bottom, the top and the minimal nodes."""
    problem = lattice.problem
    minimal = all_minimal_nodes(problem, lattice.engine)
    described = []
    for index, node in enumerate(minimal):
        problem.progress("measuring minimal nodes", index / len(minimal))
        described.append(lattice.drawn(node, satisfied=True, minimal=True))
    described = sorted(described, key=lattice.cost)[:MOST_MINIMAL]
    for node in ((0,) * len(problem.shape), tuple(levels - 1 for levels in problem.shape)):
        if node not in minimal:
            described.append(lattice.drawn(node, satisfied=lattice.satisfied(node)))
    return sorted(described, key=lambda each: (each["height"], each["place"])), minimal


def _by_height(lattice: _Lattice, minimal: list[Node]) -> list[Facts]:
    """Nodes of each height, and how many of them satisfy where the minimal nodes tell that."""
    shape = lattice.problem.shape
    counts: NDArray[np.int64] = np.ones(1, dtype=np.int64)
    for levels in shape:
        counts = np.convolve(counts, np.ones(levels, dtype=np.int64))
    holding: NDArray[np.int64] | None = None
    if lattice.evaluator.all_prunable:
        satisfied, holding = np.zeros(shape, dtype=np.bool_), np.zeros(len(counts), dtype=np.int64)
        for node in minimal:
            satisfied[above(node)] = True
        rest = np.zeros((), dtype=np.int16)
        for levels in shape[1:]:
            rest = np.add.outer(rest, np.arange(levels, dtype=np.int16))
        for level, part in enumerate(
            np.atleast_1d(satisfied)
        ):  # slice by slice: all heights of a large one would fill the memory
            holding[level:] += np.bincount(rest[part], minlength=len(counts) - level)[: len(counts) - level]
    found = [sum(node) for node in minimal]
    return [
        {
            "height": height,
            "nodes": int(count),
            "satisfied": None if holding is None else int(holding[height]),
            "minimal": found.count(height),
        }
        for height, count in enumerate(counts)
    ]


def pick_node(picture: Picture, levels: Mapping[str, int]) -> PolicyEdit:
    """The edit of the policy that releases a node; `PolicyError` with the reason where it cannot be picked."""
    quasi, problems = picture["quasi"], []
    for name in dict.fromkeys([*levels, *quasi]):  # columns that the lattice does not have, or that are missing
        if name not in quasi:
            what, fix, code = "is not a quasi-identifier.", did_you_mean(name, quasi), "not-a-quasi-identifier"
        elif name not in levels:
            what, fix, code = "has no level.", "A node has a level for each quasi-identifier.", "missing-key"
        else:
            continue
        problems.append(PolicyProblem(f"algorithm.node.{name}", what, fix, code=code))
    wanted = {name: levels[name] for name in quasi if name in levels}
    if not problems and wanted not in picture["minimal"]:
        problems = [_not_pickable(picture, wanted)]
    if problems:
        raise PolicyError(problems)
    algorithm = next(name for name, entry in ALGORITHMS.items() if "node" in entry.option_names)
    return PolicyEdit(("algorithm",), {"name": algorithm, "node": wanted})


def _not_pickable(picture: Picture, wanted: Mapping[str, int]) -> PolicyProblem:
    """Why a node cannot be picked, and what can."""
    fix = "Pick one of the minimal nodes." if picture["minimal"] else "No node satisfies: relax the policy first."
    node = next((each for each in picture["drawn"] if each["levels"] == wanted), None)
    lower = next((each for each in picture["minimal"] if all(each[name] <= wanted[name] for name in each)), None)
    code = "node-fails"
    if node is not None and not node["satisfied"]:
        failing, allowed = node["failing_records"], picture["may_suppress"]
        reason = f": {failing:,} records would have to be suppressed, {allowed:,} may be" if failing > allowed else ""
        message = f"the node {dict(wanted)} does not satisfy the policy{reason}."
    elif lower is not None:
        code = "node-not-minimal"
        message = f"the node {dict(wanted)} is not minimal: the less general node {lower} satisfies the policy too."
    else:
        message = f"the node {dict(wanted)} does not satisfy the policy, or is not in the lattice."
    return PolicyProblem("algorithm.node", message, fix, code=code)
