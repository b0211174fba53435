"""Records without a class join one: the class of their block to which they add least."""

from __future__ import annotations

import numpy as np

from shoal.search.kernels import plain_refinement
from shoal.search.kernels.load import load_refining_kernels, refining_kernels
from shoal.search.local.blocks import Blocks, Classes, Indices, dearest_first
from shoal.search.local.refinement.arrangement import prices_of
from shoal.search.local.threads import spread
from shoal.table.classes import Floats
from shoal.table.recoding import SUPPRESSED


def cheapest_classes(
    blocks: Blocks, tuples: Indices, row_class: Classes, *, first: int = 0, limits: Floats | None = None
) -> tuple[Indices, Floats]:
    """For each of some tuples the class of its block that a record of it costs least to join, and what that adds.

    Of classes that cost the same it is the first. Classes with a number below ``first`` are left out, and those that
    cost no less than the limit of the tuple: where none is left, the class is -1 and the cost is the limit, which is
    infinite if none is given.
    """
    problem, columns = blocks.problem, dearest_first(blocks.problem)
    needed = refining_kernels(problem.table.n_rows, problem.options.get("refine"), repeated=problem.repeated)
    kernels = load_refining_kernels() if needed else plain_refinement
    codes, prices = np.ascontiguousarray(blocks.row_codes[:, columns]), prices_of(blocks, columns)
    inside = np.flatnonzero(row_class >= first)
    members = inside[np.argsort(row_class[inside], kind="stable")]
    count = int(row_class.max()) + 1 - first
    starts = np.searchsorted(row_class[members], first + np.arange(count + 1)).astype(np.int64)
    ends, costs = np.zeros((count, len(columns), 4), dtype=np.int32), np.zeros(count)
    kernels.extremes(codes, members, starts, prices, np.arange(count), ends, costs)
    classes = ends, blocks.row_block[members[starts[:-1]]], np.diff(starts), costs
    own, block = np.ascontiguousarray(problem.table.codes[columns][:, tuples].T), blocks.tuple_block[tuples]
    least = np.full(len(tuples), np.inf) if limits is None else limits.copy()
    chosen = np.full(len(tuples), SUPPRESSED, dtype=np.int64)

    def work(some: slice) -> None:
        kernels.cheapest_classes(own[some], block[some], classes, prices, least[some], chosen[some])

    spread(work, len(tuples))
    return np.where(chosen >= 0, chosen + first, SUPPRESSED), least


def placed(blocks: Blocks, row_class: Classes) -> Classes:
    """The classes after all rows without one have joined one, where every model still holds then.

    Otherwise they become one class per block. It may fail, and is then merged with others (`finish`).
    """
    result: Classes = row_class.astype(np.int32)
    left = np.flatnonzero((result == SUPPRESSED) & (blocks.row_block != SUPPRESSED))
    if not len(left):
        return result
    if result.max() >= 0:
        tuples, of_row = np.unique(blocks.problem.table.row_tuple[left].astype(np.int64), return_inverse=True)
        result[left] = cheapest_classes(blocks, tuples, result)[0][of_row]
        if not blocks.problem.closed and not blocks.holds(blocks.stats(result, int(result.max()) + 1)).all():
            result[left] = SUPPRESSED
    left = left[result[left] == SUPPRESSED]
    result[left] = int(result.max(initial=SUPPRESSED)) + 1 + blocks.row_block[left]
    return result
