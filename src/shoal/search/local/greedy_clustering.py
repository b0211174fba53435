"""Greedy clustering within boundaries: Campan et al. 2010, GreedyCPKA, and a covering that loses less.

The boundaries cut the table into blocks (MAM); blocks that fail are left out (OUT); each other block is partitioned
into classes that satisfy every model. With ``faithful: true`` the partition is the paper's GreedyPKClustering to the
letter (`shoal.search.local.pk_clustering`), which compares all records with each other. Otherwise classes are found by
generalized keys in order of cost (`cover`) and refined (`refinement.refine`). On small tables
the paper's partition is made as well, and the one that loses less is released.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.search.engine import LocalEngine
from shoal.search.lattice.nodes import check_size
from shoal.search.local.blocks import Blocks, Boxes, Classes, prepare
from shoal.search.local.cover import FINE_STEPS, STEPS, BoxCover, TuplePartition
from shoal.search.local.finish import cost_of, finish, refine_if_asked
from shoal.search.local.pk_clustering import faithful_clusters
from shoal.search.problem import Problem, SearchResult
from shoal.table.recoding import SUPPRESSED

Ints = NDArray[np.int64]

SMALL = 400  # records up to which the paper's partition is made too: it takes time with the square of the records
PIECE = 30_000  # tuples that are covered at once: larger blocks are cut first
_WITHOUT_BEING_ASKED = (5, 6000)
"""Rounds of refining, and among how many classes neighbours are looked for: that brings most of what there is."""
_IN_LARGE_TABLES = (3, 2000)  # the same where there are many tuples: time must grow with them no more than it has to
_SERVED = 30_000  # tuples up to which outliers are served early: their bounds take time with the square of the tuples


def greedy_clustering(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Partition every block and release each class as the lowest common ancestor of its values."""
    blocks = prepare(problem, engine)
    seed, weights = int(problem.options.get("seed") or 0), problem.weights
    if problem.options.get("faithful"):
        recoding = finish(blocks, faithful_clusters(blocks, seed=seed, weights=weights))
        return refine_if_asked(blocks, recoding, {"mode": "faithful"})
    check_size(problem, "greedy-clustering")
    partition, facts = _covered(blocks)
    recoding = finish(blocks, partition)
    if problem.table.n_rows <= SMALL:
        other = finish(blocks, faithful_clusters(blocks, seed=seed, weights=weights))
        if cost_of(problem, other) < cost_of(problem, recoding):
            recoding, facts = other, {**facts, "mode": "faithful"}
    rounds, piece = _WITHOUT_BEING_ASKED if problem.table.n_tuples <= _SERVED else _IN_LARGE_TABLES
    return refine_if_asked(blocks, recoding, facts, rounds=rounds, piece=piece)


def _covered(blocks: Blocks) -> tuple[Classes, dict[str, object]]:
    """BoxCover and refine piece by piece."""
    problem = blocks.problem
    boxes = Boxes.of(problem)
    if not boxes.packs:
        raise InputError(
            "greedy-clustering packs the quasi-identifiers of a record into one key, and these have too many values "
            "together. Use fewer quasi-identifiers or coarser values, or the algorithm mondrian or top-down.",
            code="too-many-values",
        )
    cover = BoxCover(blocks, boxes)
    owner = np.full(problem.table.n_tuples, SUPPRESSED, dtype=np.int64)
    served = problem.table.n_tuples <= _SERVED
    bound = 0.0
    steps = FINE_STEPS if cover.reads_values or problem.options.get("refine") else STEPS
    pieces = list(_pieces(blocks, cover))
    for index, tuples in enumerate(pieces):
        problem.progress("clustering", index / len(pieces))
        least = cover.lower_bounds(tuples) if served else None
        bound += float((least[tuples] * cover.weights[tuples]).sum()) if least is not None else 0.0
        owner[tuples] = _whole(cover, tuples, cover.classes(tuples, least, steps)) + owner.max() + 1
    facts: dict[str, object] = {"mode": "cover", "pieces": len(pieces)}
    if served and not blocks.ranged and problem.metric.name in {"ncp", "loss"}:
        left_out = int(problem.table.counts[blocks.tuple_block == SUPPRESSED].sum())
        facts["lower_bound"] = (bound / len(problem.hierarchies) + left_out) / problem.table.n_rows
    return owner[problem.table.row_tuple].astype(np.int32), facts


def _over_all_tuples(found: Ints, tuples: Ints, n_tuples: int) -> Ints:
    """The classes of some tuples as an array over all tuples."""
    owner = np.full(n_tuples, SUPPRESSED, dtype=np.int64)
    owner[tuples] = found
    return owner


def _pieces(blocks: Blocks, cover: BoxCover) -> Iterator[Ints]:
    """The blocks, large ones cut at medians of leaf codes where both sides satisfy (as Mondrian cuts)."""
    for block in range(blocks.n_blocks):
        stack = [np.flatnonzero(blocks.tuple_block == block)]
        while stack:
            tuples = stack.pop()
            sides = _cut(cover, tuples) if len(tuples) > PIECE else None
            if sides is None:
                yield tuples
            else:
                stack += [sides[1], sides[0]]


def _cut(cover: BoxCover, tuples: Ints) -> tuple[Ints, Ints] | None:
    """Two sides that both satisfy, cut in the column that would gain most; None if no median cut does."""
    extents = [
        (-float(cover.boxes.node_cost[c][np.unique(codes)].sum() + len(np.unique(codes))), c)
        for c, codes in enumerate(cover.boxes.codes[:, tuples])
    ]
    for _, c in sorted(extents):
        codes = cover.boxes.codes[c, tuples]
        order = np.argsort(codes, kind="stable")
        half = np.searchsorted(np.cumsum(cover.weights[tuples[order]]), cover.weights[tuples].sum() / 2)
        low = codes < codes[order[min(half, len(order) - 1)]]
        if low.any() and not low.all() and cover.holds(tuples, (~low).astype(np.int64), 2).all():
            return tuples[low], tuples[~low]
    return None


def _whole(cover: BoxCover, tuples: Ints, found: Ints) -> Ints:
    """Give tuples that found no box a class: where they cost least if all still satisfies, else by merging classes."""
    if not (found < 0).any():
        return found
    if found.max() < 0:
        return np.zeros(len(tuples), dtype=np.int64)
    left = np.flatnonzero(found < 0)
    tried = found.copy()
    partition = TuplePartition(cover, _over_all_tuples(found, tuples, len(cover.weights)))
    targets, _ = partition.best_joins(tuples[left].tolist(), np.full(len(left), np.inf))
    tried[left] = targets
    if cover.holds(tuples, tried, int(tried.max()) + 1).all():
        return tried
    found[left] = found.max() + 1
    return _merged(cover, tuples, found)


def _merged(cover: BoxCover, tuples: Ints, found: Ints) -> Ints:
    """Merge failing classes with the class that costs least, until all satisfy; one class satisfies at the latest."""
    while True:
        _, found = np.unique(found, return_inverse=True)
        count = int(found.max()) + 1
        failing = np.flatnonzero(~cover.holds(tuples, found, count))
        if not len(failing) or count == 1:
            return found.astype(np.int64)
        partition = TuplePartition(cover, _over_all_tuples(found, tuples, len(cover.weights)))
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
