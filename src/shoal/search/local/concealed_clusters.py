"""Greedy clustering that conceals: clusters by quasi-identifiers and sizes alone, then as few unions as models ask for.

Growing and refining clusters by their secrets would show the secrets all the way. So the records are clustered as if
only the sizes of classes mattered; which of several records with equal quasi-identifiers go to which cluster is drawn
by the key. Clusters that are near each other are then joined in pairs, the pairs in pairs, and so on up to the whole
block: a tree that depends on quasi-identifiers alone. From the top down a class of the tree is divided where both
halves hold and the draw does not refuse it (`shoal.search.conceal`). Whoever sees the classes knows the tree, and that
a class was not divided: because a half fails, or because it was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shoal.models import least_needed, size_models
from shoal.search.conceal import HALF_REFUSED, Marks, Veto, smallness, summed_marks
from shoal.search.local.blocks import Blocks, Classes, Indices, class_extremes
from shoal.search.local.finish import finish, holds_as_whole, merge_costs
from shoal.search.local.nested import NestedPartitions
from shoal.search.local.partition import summed
from shoal.table.classes import Counts, Mask
from shoal.table.encoded import distinct_codes
from shoal.table.recoding import SUPPRESSED, Recoding

_PIECE = 1000  # classes among which partners are looked for: time grows with it

ClusterBySize = Callable[[Blocks], Recoding]
"""Clusters the records of blocks whose models look at sizes only."""


def concealed_clusters(blocks: Blocks, by_size: ClusterBySize) -> Recoding:
    """The recoding of all blocks."""
    veto = blocks.problem.concealing
    assert veto is not None, "only a search that conceals clusters like this"
    cluster = _clusters(blocks, veto, by_size)
    n_clusters = int(cluster.max()) + 1
    rows = np.flatnonzero(cluster >= 0)
    ones = np.ones(len(rows), dtype=np.int64)
    marks = summed_marks(
        blocks.problem.tuple_marks[blocks.problem.table.row_tuple[rows]], ones, cluster[rows], n_clusters
    )
    low, high = class_extremes(blocks, cluster.astype(np.int32), n_clusters)
    sizes = np.bincount(cluster[rows], minlength=n_clusters).astype(np.int64)
    stages = _tree(blocks, cluster, sizes)
    chosen = [stages[0]]
    for finer in stages[1:]:
        chosen.append(_divided(blocks, veto, cluster, marks, sizes, chosen[-1], finer))

    def row_class(classes: Indices) -> Classes:
        return np.where(cluster >= 0, classes[cluster], SUPPRESSED).astype(np.int32)

    nested = NestedPartitions(chosen, low.T, high.T, sizes)
    return finish(blocks, row_class(nested.settled(blocks, 0, lambda found: holds_as_whole(blocks, row_class(found)))))


def _clusters(blocks: Blocks, veto: Veto, by_size: ClusterBySize) -> Indices:
    """The cluster of each row, by quasi-identifiers and sizes alone; `SUPPRESSED` for those that are OUT.

    Rows come tuple by tuple, those of one tuple in an order that is drawn.
    """
    problem, table = blocks.problem, blocks.problem.table
    by_tuple, starts = table.rows_by_tuple
    rank = np.arange(len(by_tuple)) - np.repeat(starts[:-1], np.diff(starts))
    drawn = veto.draws("record", problem.tuple_marks[table.row_tuple[by_tuple]], rank.astype(np.uint64))
    order = by_tuple[np.lexsort((drawn, table.row_tuple[by_tuple]))]
    shuffled = replace(table.parted(order, None), row_sensitive={}, pairs={}, entry=None)
    models, options = size_models(problem.models), {**problem.options, "conceal": False}
    sized = replace(problem, table=shuffled, models=models, entries=(), options=options, weights={}, veto=None)
    found = by_size(Blocks(sized, blocks.tuple_block, blocks.n_blocks))
    cluster = np.empty(len(order), dtype=np.int64)
    cluster[order] = found.row_class
    return cluster


def _divided(
    blocks: Blocks, veto: Veto, cluster: Indices, marks: Marks, sizes: Counts, coarse: Indices, finer: Indices
) -> Indices:
    """The classes of the clusters after those that may be were divided; the numbers of the others stay."""
    parts, part = np.unique(finer, return_inverse=True)
    parent = np.zeros(len(parts), dtype=np.int64)
    parent[part] = coarse
    row_part = np.where(cluster >= 0, part[cluster], SUPPRESSED).astype(np.int32)
    holds = blocks.holds(blocks.stats(row_part, len(parts)))
    parents, number = np.unique(parent, return_inverse=True)
    able: Mask = np.bincount(number[~holds], minlength=len(parents)) == 0
    of_cluster = np.searchsorted(parents, coarse)
    mark = summed_marks(marks, np.ones(len(marks), dtype=np.int64), of_cluster, len(parents))
    records = summed(of_cluster, sizes, len(parents))
    small = smallness(records, least_needed(blocks.problem.models))
    chance = np.where(able, HALF_REFUSED * small**2, 0)  # the rest of the tree is lost with a large class
    able &= ~veto.refuses("cut", mark, chance=chance)
    return np.where(able[of_cluster], finer, coarse)


def _tree(blocks: Blocks, cluster: Indices, sizes: Counts) -> list[Indices]:
    """The class of each cluster by stage: from one class per block to the clusters themselves, each half of one."""
    block = np.zeros(len(sizes), dtype=np.int64)
    block[cluster[cluster >= 0]] = blocks.row_block[cluster >= 0]
    stages, number, known = [np.arange(len(sizes))], np.arange(len(sizes)), len(sizes)
    while len(distinct_codes(number)) > len(distinct_codes(block)):
        distinct, dense = np.unique(number, return_inverse=True)
        of_row = np.where(cluster >= 0, dense[cluster], SUPPRESSED).astype(np.int32)
        of_block = np.zeros(len(distinct), dtype=np.int64)
        of_block[dense] = block
        partner = _partners(blocks, of_row, summed(dense, sizes, len(distinct)), of_block)
        joined = np.where(partner >= 0, known + np.minimum(np.arange(len(distinct)), partner), distinct)
        known += len(distinct)
        number = joined[dense]
        stages.append(number)
    return stages[::-1]


def _partners(blocks: Blocks, row_class: Classes, sizes: Counts, block: Indices) -> Indices:
    """For each class the one of its block that it is joined with, near ones first; -1 for one that is left over."""
    low, high = class_extremes(blocks, row_class, len(sizes))
    losses = np.stack([blocks.losses(j, low[:, j], high[:, j]) for j in range(low.shape[1])], axis=1)
    partner = np.full(len(sizes), -1, dtype=np.int64)
    order = np.lexsort([*low.T[::-1], block])
    for first in range(0, len(order), _PIECE):
        piece = order[first : first + _PIECE]
        costs = np.stack([merge_costs(blocks, low, high, losses, sizes, int(one), piece) for one in piece])
        costs[block[piece][:, None] != block[piece]] = np.inf
        np.fill_diagonal(costs, np.inf)
        for each in np.argsort(costs.min(axis=1), kind="stable"):
            other = int(np.argmin(costs[each]))
            if np.isfinite(costs[each, other]):
                partner[piece[each]], partner[piece[other]] = piece[other], piece[each]
                costs[[each, other]] = costs[:, [each, other]] = np.inf
    _join_left_over(partner, order, block)
    return partner


def _join_left_over(partner: Indices, order: Indices, block: Indices) -> None:
    """Join classes that found no partner in their piece, neighbours in order, so that every stage gets smaller."""
    left = order[partner[order] < 0]
    for one, other in zip(left[::2], left[1::2], strict=False):
        if block[one] == block[other]:
            partner[one], partner[other] = other, one
