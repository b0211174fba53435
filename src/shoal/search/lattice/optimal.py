"""The best full-domain node by a chosen measure.

Two facts cut the lattice down. Where the models' declarations allow it (`prunable_models`), a node that fails proves
that everything below it fails. And a measure made of cell costs has a lower bound at every node that needs no
grouping: its value with nothing suppressed, sharpened by the records known to be suppressed at any more general node.
The search first finds the border between failing and satisfying nodes by bisecting upward paths (as Flash does,
Kohlmayer et al. 2012), then evaluates what the bound leaves. Measures without such a bound, and models that allow no
pruning, are searched through.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.metrics import CellMetric
from shoal.search.diagnosis.diagnosis import infeasible
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.evaluation import Evaluator
from shoal.search.lattice import nodes
from shoal.search.lattice.nodes import TIE, Node, above, below
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult


class _Best:
    """The best of the nodes that were offered, its classes, and those released."""

    def __init__(self) -> None:
        self.found: tuple[Node, Grouping, NDArray[np.bool_]] | None = None
        self.cost = np.inf

    def offer(self, node: Node, cost: float, grouping: Grouping, kept: NDArray[np.bool_]) -> None:
        """Take the node if it is the best so far; of equals the least general one, then the first in column order."""
        if self.found is not None and cost > self.cost + TIE:
            return
        if self.found is None or cost < self.cost - TIE or (sum(node), node) < (sum(self.found[0]), self.found[0]):
            self.found = node, grouping, kept
        self.cost = min(cost, self.cost)


class _Search:
    """The state of one search over the whole lattice."""

    def __init__(self, problem: Problem, engine: LocalEngine) -> None:
        self.problem, self.evaluator = problem, Evaluator(problem, engine)
        self.metric = problem.metric
        self.bounds = np.full(problem.shape, -np.inf)
        if isinstance(self.metric, CellMetric):
            trees = zip(problem.hierarchies, problem.ladders, strict=True)
            self.dearest = [self.metric.cell(tree)[ladder.nodes].max(axis=1) for tree, ladder in trees]
            self.means = nodes.column_means(problem, self.metric)
            self.bounds = nodes.cell_bounds(problem, self.metric, self.means)
        self.open = np.ones(problem.shape, dtype=np.bool_)  # neither evaluated nor proved to fail
        self.unsure = np.ones(problem.shape, dtype=np.bool_)  # not yet known on which side of the border
        self.best = _Best()
        self.best_refused = _Best()  # where the search conceals: released only where every satisfying node is refused
        self.checked = 0

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
        if evaluation.least_below:
            self._sharpen(node, evaluation.least_below / self.problem.table.n_rows)
        if evaluation.satisfied:
            value = self.metric.of(nodes.summarize(self.problem, node, grouping, evaluation.kept))
            refused = nodes.refused_nodes(self.problem, np.array([node])).any()
            (self.best_refused if refused else self.best).offer(
                node, self.metric.cost(value), grouping, evaluation.kept
            )
        return True

    def _sharpen(self, node: Node, share: float) -> None:
        """Raise the bounds below a node: there at least such a share of the records is suppressed, each of which costs
        a column 1 instead of at most the level's dearest cell.
        """
        if isinstance(self.metric, CellMetric):
            columns = zip(self.means, self.dearest, node, strict=True)
            raised = [(mean + share * (1 - dearest))[: level + 1] for mean, dearest, level in columns]
            part = self.bounds[below(node)]
            np.maximum(part, nodes.cell_bounds(self.problem, self.metric, raised), out=part)

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

    def least(self, among: NDArray[np.bool_]) -> Node:
        flat = np.flatnonzero(among)
        return nodes.as_node(np.unravel_index(flat[np.argmin(self.bounds.ravel()[flat])], among.shape))


def optimal(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Find the satisfying node of least cost by the problem's metric."""
    nodes.check_size(problem, "optimal")
    search = _Search(problem, engine)
    while (border := search.candidates(search.unsure)).any():
        problem.progress("searching", 1 - np.count_nonzero(border) / search.open.size)
        search.bisect(search.path_up(search.least(border)))
    while (rest := search.candidates(search.open)).any():
        problem.progress("searching", 1 - np.count_nonzero(rest) / search.open.size)
        search.check(search.least(rest))
    best = search.best.found or search.best_refused.found
    if best is None:
        raise infeasible(problem, engine)
    node, grouping, kept = best
    facts = {"nodes": int(search.open.size), "checked": search.checked, "metric": problem.metric.name}
    kept = nodes.kept_classes(problem, engine, grouping, kept)
    return SearchResult(nodes.recode(problem, node, grouping, kept), facts)
