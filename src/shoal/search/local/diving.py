"""Classes guided by prices: the fractional release that goes with the prices, rounded by diving.

The multiplier of a box says how often its best class is taken in the best fractional release. Classes of boxes with
multipliers near 1 or above are made first. Then prices settle again without the records that have a class, and classes
with smaller multipliers follow. A record never pays more than joining an existing class would cost. Models that prices
know nothing of refuse some classes; their records stay for later ones. Records that are left in the end join classes
(`joining.placed`).
"""

from __future__ import annotations

import numpy as np

from shoal.search.local.blocks import Blocks, Classes, Indices, record_weight
from shoal.search.local.joining import cheapest_classes
from shoal.search.prices.steps import PriceSteps
from shoal.table.classes import Counts, Floats
from shoal.table.encoded import spans
from shoal.table.recoding import SUPPRESSED

_THRESHOLDS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
"""Multipliers from which on classes are made, one after the other."""
_STEPS = 2  # times that prices take steps before classes are made


def dive(blocks: Blocks, steps: PriceSteps) -> tuple[Classes, int]:
    """The class of each row, `SUPPRESSED` for those that found none, and how many classes models have refused."""
    row_class: Classes = np.full(len(blocks.row_block), SUPPRESSED, dtype=np.int32)
    items, scale, made, refused = steps.lattice.items, steps.scale, 0, 0
    left = np.where(blocks.tuple_block[items.tuples] == SUPPRESSED, 0, items.weights)
    for threshold in _THRESHOLDS:
        refused += _make_classes(blocks, steps, _best_classes(steps, left, threshold), row_class)
        open_rows = np.flatnonzero((row_class == SUPPRESSED) & (blocks.row_block != SUPPRESSED))
        left = np.bincount(steps.lattice.items.of_row[open_rows], minlength=len(left))
        if not left.any():
            break
        kept = np.flatnonzero(left)
        left = left[kept]
        steps = steps.remaining(kept, left)
        if row_class.max() >= made:
            steps.cap(_joining_costs(blocks, steps, row_class, first=made))
            made = int(row_class.max()) + 1
        steps.look_again(scale)
        for _ in range(_STEPS):
            steps.step()
    return row_class, refused


def _joining_costs(blocks: Blocks, steps: PriceSteps, row_class: Classes, *, first: int) -> Floats:
    """What a record of each item would add to the class that it costs least to join, from a class number on.

    As far as it matters: where that is more than its price may rise to soon, it is infinite.
    """
    unit = record_weight(blocks.problem)
    tuples, limits = steps.lattice.items.tuples, unit * np.minimum(steps.caps, steps.highest(_STEPS))
    chosen, added = cheapest_classes(blocks, tuples, row_class, first=first, limits=limits)
    return np.where(chosen >= 0, added / unit, np.inf)


def _best_classes(steps: PriceSteps, left: Counts, threshold: float) -> Indices:
    """Classes of boxes that are taken at least so often: box, item and records of the item, entry by entry."""
    lattice, boxes = steps.lattice, steps.boxes
    chosen = np.flatnonzero(steps.multipliers >= threshold)
    order = chosen[np.lexsort((boxes.keys[chosen], -steps.multipliers[chosen]))]
    found = np.empty((int(left.sum()), 3), dtype=np.int64)
    entries = lattice.kernels.take_classes(
        (boxes.costs, boxes.starts, boxes.members), order, (left.copy(), lattice.items.values), lattice.need,
        lattice.n_values, steps.leading, found,
    )  # fmt: skip
    return found[:entries]


def _make_classes(blocks: Blocks, steps: PriceSteps, entries: Indices, row_class: Classes) -> int:
    """Give the rows of those classes a number that satisfy the models; how many do not."""
    if not len(entries):
        return 0
    of_row = steps.lattice.items.of_row
    rows = np.flatnonzero((row_class == SUPPRESSED) & (of_row >= 0))
    rows = rows[np.argsort(of_row[rows], kind="stable")]
    boxes, number = np.unique(entries[:, 0], return_inverse=True)
    order = np.argsort(entries[:, 1], kind="stable")
    items, records = entries[order, 1], entries[order, 2]
    before = np.cumsum(records) - records
    first = np.flatnonzero(np.diff(items, prepend=-1))  # of the entries of each item
    taken = before - np.repeat(before[first], np.diff([*first, len(items)]))
    rows = rows[spans(np.searchsorted(of_row[rows], items) + taken, records)]
    classes = np.repeat(number[order], records)
    held = blocks.holds(blocks.stats(classes.astype(np.int32), len(boxes), rows))
    new = np.cumsum(held) + int(row_class.max())
    row_class[rows[held[classes]]] = new[classes[held[classes]]]
    return int(np.count_nonzero(~held))
