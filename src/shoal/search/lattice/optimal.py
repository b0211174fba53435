"""The best full-domain node by a chosen measure.

Two facts cut the lattice down. Where the models' declarations allow it (`prunable_models`), a node that fails proves
that everything below it fails. And a measure made of cell costs has a lower bound at every node that needs no
grouping: its value with nothing suppressed, sharpened by the records known to be suppressed at any more general node.
The search first finds the border between failing and satisfying nodes by bisecting upward paths (as Flash does,
Kohlmayer et al. 2012), then evaluates what the bound leaves. Measures without such a bound, and models that allow no
pruning, are searched through.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.metrics import CellMetric
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.evaluation import Evaluator
from shoal.search.lattice.nodes import (
    TIE,
    Node,
    above,
    as_node,
    below,
    cell_bounds,
    check_size,
    column_means,
    recode,
    summarize,
)
from shoal.search.problem import Problem, SearchResult


@dataclass
class _Best:
    """The best node so far; of equals the least general one, then the first in column order."""

    cost: float = np.inf
    node: Node | None = None
    grouping: Grouping | None = None
    kept: NDArray[np.bool_] | None = None

    def offer(self, node: Node, cost: float, grouping: Grouping, kept: NDArray[np.bool_]) -> None:
        if self.node is not None and cost > self.cost + TIE:
            return
        if self.node is None or cost < self.cost - TIE or (sum(node), node) < (sum(self.node), self.node):
            self.node, self.grouping, self.kept = node, grouping, kept
        self.cost = min(cost, self.cost)


class _Search:
    """The state of one search over the whole lattice."""

    def __init__(self, problem: Problem, engine: LocalEngine) -> None:
        self.problem, self.evaluator = problem, Evaluator(problem, engine)
        self.metric = problem.metric
        self.bounds = self._first_bounds()
        self.open = np.ones(problem.shape, dtype=np.bool_)  # neither evaluated nor proved to fail
        self.unsure = np.ones(problem.shape, dtype=np.bool_)  # not yet known on which side of the border
        self.best = _Best()
        self.checked = 0

    def _first_bounds(self) -> NDArray[np.float64]:
        if isinstance(self.metric, CellMetric):
            trees = zip(self.problem.hierarchies, self.problem.ladders, strict=True)
            dearest = [self.metric.cell(tree)[ladder.nodes].max(axis=1) for tree, ladder in trees]
            self._columns = list(zip(column_means(self.problem, self.metric), dearest, strict=True))
            return cell_bounds(self.problem, self.metric)
        return np.full(self.problem.shape, -np.inf)

    def candidates(self, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return among & self.open & (self.bounds <= self.best.cost + TIE)

    def check(self, node: Node) -> bool:
        """Evaluate one node; True when a less general node might still satisfy."""
        grouping = self.evaluator.grouping(node)
        evaluation = self.evaluator.evaluate(grouping)
        self.checked += 1
        self.open[node] = False
        if not evaluation.may_satisfy_below:
            self.open[below(node)] = False
            self.unsure[below(node)] = False
            return False
        self.unsure[above(node)] = False
        self._sharpen(node, evaluation.least_below)
        if evaluation.satisfied:
            value = self.metric.of(summarize(self.problem, node, grouping, evaluation.kept))
            self.best.offer(node, self.metric.cost(value), grouping, evaluation.kept)
        return True

    def _sharpen(self, node: Node, suppressed: int) -> None:
        """Raise the bounds below a node by the records that are suppressed there at least."""
        if suppressed and isinstance(self.metric, CellMetric):
            part = self.bounds[below(node)]
            bound = self._suppression_bound(self.metric, node, suppressed / self.problem.table.n_rows)
            np.maximum(part, bound, out=part)

    def _suppression_bound(self, metric: CellMetric, node: Node, share: float) -> NDArray[np.float64]:
        """For every node below: the cost when at least such a share of records is suppressed, whichever they are.

        Suppressing a record raises a column's sum by 1 minus its cell's cost, at least 1 minus the level's dearest.
        """
        total = np.zeros(())
        for j, (means, dearest) in enumerate(self._columns):
            raised = (means + share * (1 - dearest))[: node[j] + 1]
            total = np.asarray(total)[..., None] + metric.weight(self.problem.hierarchies[j]) * metric.column(raised)
        return np.asarray(metric.finish(total, self.problem.hierarchies))

    def path_up(self, node: Node) -> list[Node]:
        """A path of candidates from a node upward, each step to the candidate of least bound."""
        path = [node]
        while True:
            steps = []
            for axis, level in enumerate(path[-1]):
                if level + 1 < self.problem.shape[axis]:
                    step = (*path[-1][:axis], level + 1, *path[-1][axis + 1 :])
                    if self.open[step] and self.unsure[step]:
                        steps.append(step)
            if not steps:
                return path
            path.append(min(steps, key=lambda step: (self.bounds[step], step)))

    def bisect(self, path: list[Node]) -> None:
        """Find where the path crosses from failing to satisfying nodes."""
        low, high = 0, len(path)
        while low < high:
            middle = (low + high) // 2
            if self.check(path[middle]):
                high = middle
            else:
                low = middle + 1

    def run(self) -> None:
        while (border := self.candidates(self.unsure)).any():
            self.problem.progress("searching", 1 - np.count_nonzero(border) / self.open.size)
            self.bisect(self.path_up(self._least(border)))
        while (rest := self.candidates(self.open)).any():
            self.problem.progress("searching", 1 - np.count_nonzero(rest) / self.open.size)
            self.check(self._least(rest))

    def _least(self, among: NDArray[np.bool_]) -> Node:
        flat = np.flatnonzero(among)
        return as_node(np.unravel_index(flat[np.argmin(self.bounds.ravel()[flat])], among.shape))


def optimal(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Find the satisfying node of least cost by the problem's metric."""
    check_size(problem, "optimal")
    search = _Search(problem, engine)
    search.run()
    best = search.best
    if best.node is None or best.grouping is None or best.kept is None:
        raise infeasible(problem, engine)
    return SearchResult(
        recode(problem, best.node, best.grouping, best.kept),
        {"nodes": int(search.open.size), "checked": search.checked, "metric": problem.metric.name},
    )
