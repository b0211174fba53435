"""Greedy clustering within boundaries: Campan et al. 2010, GreedyCPKA, and a covering that loses less.

The boundaries cut the table into blocks (MAM); blocks that fail are left out (OUT); each other block is partitioned
into classes that satisfy every model. With ``faithful: true`` the partition is the paper's GreedyPKClustering to the
letter (`shoal.algorithms.pk_clustering`), which compares all records with each other. Otherwise classes are found by
generalized keys in order of cost (`shoal.algorithms.cover`) and refined (`shoal.algorithms.refine`). On small tables
the paper's partition is made as well, and the one that loses less is released.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.boxes import Boxes
from shoal.algorithms.cover import Cover
from shoal.algorithms.lattice import check_size
from shoal.algorithms.local import Classes, Ground, finish, prepare
from shoal.algorithms.pk_clustering import faithful_clusters
from shoal.algorithms.problem import Outcome, Problem
from shoal.algorithms.refine import Partition, refine
from shoal.engines.local import LocalEngine
from shoal.errors import InputError
from shoal.metrics import ReleaseSummary
from shoal.table.recoding import SUPPRESSED, Recoding

Ints = NDArray[np.int64]

SMALL = 400
"""Records up to which the paper's partition is made too: it takes time with the square of the records."""
PIECE = 30_000
"""Tuples that are covered at once: larger blocks are cut first, since refining takes time with their square."""
_ROUNDS = 2
"""Rounds of refining without being asked for more: they bring most of what there is to gain."""
_SERVED = 30_000
"""Tuples up to which outliers are served early and the result refined without being asked."""


def greedy_clustering(problem: Problem, engine: LocalEngine) -> Outcome:
    """Partition every block and release each class as the lowest common ancestor of its values."""
    ground = prepare(problem, engine)
    seed, weights = int(problem.options.get("seed") or 0), problem.weights
    if problem.options.get("faithful"):
        recoding = finish(ground, faithful_clusters(ground, seed=seed, weights=weights))
        return Outcome(recoding, {"mode": "faithful"})
    check_size(problem, "greedy-clustering")
    partition, facts = _covered(ground)
    recoding = finish(ground, partition)
    if problem.table.n_rows <= SMALL:
        other = finish(ground, faithful_clusters(ground, seed=seed, weights=weights))
        if _cost(problem, other) < _cost(problem, recoding):
            recoding, facts = other, {**facts, "mode": "faithful"}
    return Outcome(recoding, facts)


def _cost(problem: Problem, recoding: Recoding) -> float:
    summary = ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, recoding.n_rows)
    return problem.metric.cost(problem.metric.of(summary))


def _covered(ground: Ground) -> tuple[Classes, dict[str, object]]:
    """Cover and refine piece by piece."""
    problem = ground.problem
    boxes = Boxes.of(problem)
    if not boxes.packs:
        raise InputError(
            "greedy-clustering finds classes by packed keys, and the values of these quasi-identifiers together are "
            "too many for one. Use fewer quasi-identifiers or coarser values, or the algorithm mondrian or top-down."
        )
    cover = Cover(ground, boxes)
    seconds = problem.options.get("refine")
    deadline = time.monotonic() + float(seconds) if seconds is not None else None
    owner = np.full(problem.table.n_tuples, SUPPRESSED, dtype=np.int64)
    served = problem.table.n_tuples <= _SERVED
    before = after = bound = 0.0
    steps = 0
    pieces = list(_pieces(ground, cover))
    for place, tuples in enumerate(pieces):
        problem.progress("clustering", place / len(pieces))
        least = cover.lower_bounds(tuples) if served else None
        bound += float((least[tuples] * cover.weights[tuples]).sum()) if least is not None else 0.0
        found = _whole(cover, tuples, cover.classes(tuples, least))
        partition = Partition(cover, _spread(found, tuples, problem.table.n_tuples))
        before += partition.total
        if served or deadline is not None:
            steps += refine(partition, rounds=_ROUNDS if deadline is None else None, deadline=deadline)
        after += partition.total
        owner[tuples] = partition.owner[tuples] + owner.max() + 1
    cells = problem.table.n_rows * len(problem.hierarchies)
    facts: dict[str, object] = {"mode": "cover", "pieces": len(pieces), "refining_steps": steps}
    facts |= {"mean_cell_cost_before_refining": before / cells, "mean_cell_cost_after_refining": after / cells}
    if served:
        facts["lower_bound"] = bound / cells
    return owner[problem.table.row_tuple].astype(np.int32), facts


def _spread(found: Ints, tuples: Ints, n_tuples: int) -> Ints:
    """The classes of some tuples as an array over all tuples."""
    owner = np.full(n_tuples, SUPPRESSED, dtype=np.int64)
    owner[tuples] = found
    return owner


def _pieces(ground: Ground, cover: Cover) -> Iterator[Ints]:
    """The blocks, large ones cut at medians of leaf codes where both sides satisfy (as Mondrian cuts)."""
    for block in range(ground.n_blocks):
        stack = [np.flatnonzero(ground.tuple_block == block)]
        while stack:
            tuples = stack.pop()
            sides = _cut(cover, tuples) if len(tuples) > PIECE else None
            if sides is None:
                yield tuples
            else:
                stack += [sides[1], sides[0]]


def _cut(cover: Cover, tuples: Ints) -> tuple[Ints, Ints] | None:
    """Two sides that both satisfy, cut in the column that would gain most; None if no median cut does."""
    spread = [
        (-float(cover.boxes.node_cost[c][np.unique(codes)].sum() + len(np.unique(codes))), c)
        for c, codes in enumerate(cover.boxes.codes[:, tuples])
    ]
    for _, c in sorted(spread):
        codes = cover.boxes.codes[c, tuples]
        order = np.argsort(codes, kind="stable")
        half = np.searchsorted(np.cumsum(cover.weights[tuples[order]]), cover.weights[tuples].sum() / 2)
        low = codes < codes[order[min(half, len(order) - 1)]]
        if low.any() and not low.all() and cover.holds(tuples, (~low).astype(np.int64), 2).all():
            return tuples[low], tuples[~low]
    return None


def _whole(cover: Cover, tuples: Ints, found: Ints) -> Ints:
    """Give tuples that found no box a class: where they cost least if all still satisfies, else by merging classes."""
    if not (found < 0).any():
        return found
    if found.max() < 0:
        return np.zeros(len(tuples), dtype=np.int64)
    left = np.flatnonzero(found < 0)
    tried = found.copy()
    partition = Partition(cover, _spread(found, tuples, len(cover.weights)))
    targets, _ = partition.best_joins(tuples[left].tolist(), np.full(len(left), np.inf))
    tried[left] = targets
    if cover.holds(tuples, tried, int(tried.max()) + 1).all():
        return tried
    found[left] = found.max() + 1
    return _merged(cover, tuples, found)


def _merged(cover: Cover, tuples: Ints, found: Ints) -> Ints:
    """Merge failing classes with the class that costs least, until all satisfy; one class satisfies at the latest."""
    while True:
        _, found = np.unique(found, return_inverse=True)
        count = int(found.max()) + 1
        failing = np.flatnonzero(~cover.holds(tuples, found, count))
        if not len(failing) or count == 1:
            return found.astype(np.int64)
        partition = Partition(cover, _spread(found, tuples, len(cover.weights)))
        weakest = int(failing[0])
        costs = [
            partition.box_of(partition.members[weakest] + partition.members[each])[1]
            * (partition.sizes[weakest] + partition.sizes[each])
            - partition.costs[each] * partition.sizes[each]
            if each != weakest
            else np.inf
            for each in range(count)
        ]
        found[found == weakest] = int(np.argmin(costs))
