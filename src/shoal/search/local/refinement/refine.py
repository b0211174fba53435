"""Refining a partition: steps that lower the loss and keep every model, until none is left or the time is up.

- *Move*: a record leaves a class that can spare it for a neighbouring one.
- *Swap*: two records of neighbouring classes change places.
- *Dissolve*: every record of a class joins the neighbour where it costs least.
- *Split*: a class is cut in two between the values of one column.
- *Gather*: records that their classes can spare become a class of their own.

Rounds: every class that has changed, or that knows one that has, proposes its best steps; of these, from the most
saving on, those that touch no class that another one touches are tested against the models all at once and taken
where every class they touch still satisfies. A step that is taken saves exactly what it promised, since nothing else
touched its classes. So the loss falls with every step, the partition is right whenever it is stopped, and the same
input gives the same result unless the clock cuts it short.

Where the measure is no plain sum of its cells (`loss` is a geometric mean over the columns), cells are priced by its
slope where it stands. It is concave, so what lowers the priced sum lowers the measure.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.search.local.blocks import Blocks, Classes
from shoal.search.local.refinement.arrangement import PIECE, Arrangement, Ints
from shoal.search.local.refinement.steps import KINDS, proposals


@dataclass(frozen=True, eq=False)
class RefinedPartition:
    """A partition after refining, and how it came about."""

    row_class: Classes
    steps: dict[str, int]
    """How many steps of each kind were taken."""
    rounds: int
    finished: bool
    """Whether nothing was left to improve, rather than rounds or time."""


def refine(
    blocks: Blocks,
    row_class: Classes,
    *,
    rounds: int | None = None,
    deadline: float | None = None,
    piece: int = PIECE,
    progress: Callable[[float], None] | None = None,
) -> RefinedPartition:
    """Improve until nothing does, so many rounds are done or the clock reaches the deadline.

    ``piece``: among how many classes a class looks for its neighbours. Time grows with it, and so does the gain.
    """
    started, state = time.monotonic(), Arrangement(blocks, row_class, piece=piece)
    counts: Counter[str] = Counter()
    changed, done, everything = state.filled, 0, True
    while done != rounds and not _late(deadline):
        changed = _round(state, changed, counts, turn=done, deadline=deadline)
        done += 1
        if not len(changed):
            if everything:
                return RefinedPartition(state.row_class, dict(counts), done, finished=True)
            changed = state.filled  # neighbours and prices have changed since: ask everybody before believing it
        everything = len(changed) == len(state.filled)
        if progress is not None:
            share = (time.monotonic() - started) / (deadline - started) if deadline else done / (rounds or done + 1)
            progress(min(share, 1.0))
    return RefinedPartition(state.row_class, dict(counts), done, finished=False)


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _round(state: Arrangement, changed: Ints, counts: Counter[str], *, turn: int, deadline: float | None) -> Ints:
    """Let classes that have changed and those around them propose, and take what can be taken; what has changed then.

    Only the changed classes look for their neighbours anew; the others know theirs.
    """
    state.price()
    state.find_neighbours(changed, turn)
    if _late(deadline):
        return changed
    steps = proposals(state, state.around(changed))
    changed = np.zeros(0, dtype=np.int64)
    accepted = np.zeros(len(steps), dtype=np.bool_)
    left = np.ones(len(steps), dtype=np.bool_)
    while left.any():
        chosen = steps.independent(state, left)
        held = chosen[steps.held(state, chosen)]
        accepted[held] = True
        left[chosen] = False
        left &= ~steps.touching(state, held)
    if accepted.any():
        rows, targets = steps.moves(state, np.flatnonzero(accepted))
        changed = state.apply(rows, targets)
        for kind, count in zip(*np.unique(steps.kind[accepted], return_counts=True), strict=True):
            counts[KINDS[kind]] += int(count)
    return changed
