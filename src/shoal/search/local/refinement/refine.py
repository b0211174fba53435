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

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.search.local.blocks import Blocks, Classes, Codes, Indices
from shoal.search.local.refinement.arrangement import PIECE, Arrangement
from shoal.search.local.threads import spread
from shoal.table.classes import Floats, Mask
from shoal.table.encoded import distinct_codes, spans

KINDS = ("move", "swap", "dissolve", "split", "gather")
MOVE, SWAP, DISSOLVE, SPLIT, GATHER = range(len(KINDS))

_GAIN = 1e-9  # the least that a step must save: less is rounding
_EXCHANGES = 4  # how many exchanges a class proposes: where models refuse the best, another one may do
_LARGE = 4  # a class of more than so many times the size of a gathered one is neither dissolved nor gathered from
_NEW = -1  # instead of a class: one that does not exist yet


@dataclass(frozen=True, eq=False)
class Steps:
    """Some steps, each a few rows that go to other classes."""

    kind: NDArray[np.int8]
    gain: Floats
    bounds: Indices  # where the rows of each step begin, and the end
    rows: Indices
    targets: Indices

    def __len__(self) -> int:
        return len(self.kind)

    @staticmethod
    def joined(parts: Sequence[Steps]) -> Steps:
        """Several lists of steps as one."""
        ends = np.cumsum([0, *(len(part.rows) for part in parts)])
        bounds = [part.bounds[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
        kind, gain, rows, targets = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("kind", "gain", "rows", "targets")
        )
        return Steps(kind, gain, np.append(np.concatenate(bounds), ends[-1]), rows, targets)

    def _entries(self, chosen: Indices) -> tuple[Indices, Indices]:
        """The indices of the rows of some steps, and which step each belongs to."""
        lengths = np.diff(self.bounds)[chosen]
        return spans(self.bounds[chosen], lengths), np.repeat(np.arange(len(chosen)), lengths)

    def _touched(self, state: Arrangement, chosen: Indices) -> tuple[Indices, Indices]:
        """The existing classes that some steps touch, and the step of each, in order of the steps."""
        entries, owner = self._entries(chosen)
        classes = np.concatenate([state.row_class[self.rows[entries]].astype(np.int64), self.targets[entries]])
        owner = np.concatenate([owner, owner])
        width = len(state.costs)
        pairs = distinct_codes(owner[classes >= 0] * width + classes[classes >= 0])
        return pairs % width, pairs // width

    def independent(self, state: Arrangement, left: Mask) -> Indices:
        """Of the steps that are left, from the most saving on, those that touch no class that an earlier one does."""
        chosen = np.flatnonzero(left)
        classes, owner = self._touched(state, chosen)
        bounds = np.searchsorted(owner, np.arange(len(chosen) + 1))
        order = np.argsort(-self.gain[chosen], kind="stable")
        accepted = np.zeros(len(chosen), dtype=np.bool_)
        state.kernels.independent_steps(order, bounds, classes, len(state.costs), accepted)
        return chosen[accepted]

    def touching(self, state: Arrangement, accepted: Indices) -> Mask:
        """Which steps touch a class that one of the accepted steps touches."""
        used = np.zeros(len(state.costs), dtype=np.bool_)
        used[self._touched(state, accepted)[0]] = True
        classes, owner = self._touched(state, np.arange(len(self)))
        result = np.zeros(len(self), dtype=np.bool_)
        result[owner[used[classes]]] = True
        return result

    def moves(self, state: Arrangement, chosen: Indices) -> tuple[Indices, Indices]:
        """The rows that some steps move and their classes, new ones numbered after those that exist."""
        entries, owner = self._entries(chosen)
        targets = self.targets[entries]
        fresh = targets == _NEW
        _, number = np.unique(owner[fresh], return_inverse=True)
        targets[fresh] = len(state.costs) + number
        return self.rows[entries], targets

    def held(self, state: Arrangement, chosen: Indices) -> Mask:
        """Which of some steps, none touching a class of another, leave only classes that satisfy every model."""
        if state.only_sizes or not len(chosen):
            return np.ones(len(chosen), dtype=np.bool_)
        classes, step = self._touched(state, chosen)
        rows, targets = self.moves(state, chosen)
        inside = state.rows_of(classes)
        owner = np.repeat(classes, state.sizes[classes])
        by_step = np.repeat(step, state.sizes[classes])
        order = np.argsort(inside, kind="stable")
        at = order[np.searchsorted(inside[order], rows)]
        owner[at] = targets
        _, dense = np.unique(owner, return_inverse=True)
        count = int(dense.max()) + 1
        step_of = np.zeros(count, dtype=np.int64)
        step_of[dense] = by_step
        good = state.blocks.holds(state.blocks.stats(dense.astype(np.int32), count, inside))
        result = np.ones(len(chosen), dtype=np.bool_)
        result[step_of[~good]] = False
        return result


def proposals(state: Arrangement, pending: Indices) -> Steps:
    """The steps that some classes propose."""
    sizes = state.sizes
    costly = pending[state.costs[pending] > _GAIN]
    small = costly[sizes[costly] <= _LARGE * state.fresh]
    splits = _splits(state, costly[sizes[costly] >= 2 * state.least])
    gatherings = _gatherings(state, small[sizes[small] > state.fresh])
    return Steps.joined([_exchanges(state, costly), _dissolutions(state, small), splits, gatherings])


def _ask(
    state: Arrangement, kernel: str, asking: Indices, *more: Any, shape: tuple[int, ...]
) -> tuple[Floats, Indices]:
    """What each asking class gains, by a kernel, and how; on all processors where they are many."""
    gains, found = np.full((len(asking), *shape[:-1]), _GAIN), np.full((len(asking), *shape), -1, dtype=np.int64)
    propose = getattr(state.kernels, kernel)

    def work(some: slice) -> None:
        propose(asking[some], state.classes, *more, state.prices, gains[some], found[some])

    spread(work, len(asking))
    return gains, found


def _exchanges(state: Arrangement, asking: Indices) -> Steps:
    gains, steps = _ask(state, "exchanges", asking, state.near, state.joins, state.least, shape=(_EXCHANGES, 4))
    gain, step = gains.ravel(), steps.reshape(-1, 4)
    gain, step = gain[step[:, 0] >= 0], step[step[:, 0] >= 0]
    rows, targets = step[:, [2, 3]], step[:, [1, 0]]  # the second of both only where rows change places
    moved = rows >= 0
    return _steps(np.where(moved[:, 1], SWAP, MOVE), gain, moved.sum(axis=1), rows[moved], targets[moved])


def _dissolutions(state: Arrangement, asking: Indices) -> Steps:
    gains, targets = _ask(state, "dissolutions", asking, state.joins, shape=(_LARGE * state.fresh,))
    good = gains > _GAIN
    lengths = state.sizes[asking[good]]
    inside = np.arange(targets.shape[1]) < lengths[:, None]
    return _steps(DISSOLVE, gains[good], lengths, state.rows_of(asking[good]), targets[good][inside])


def _splits(state: Arrangement, asking: Indices) -> Steps:
    gains, cuts = _ask(state, "splits", asking, state.least, shape=(2,))
    good = cuts[:, 0] >= 0
    classes, cut = asking[good], cuts[good]
    rows = state.rows_of(classes)
    step = np.repeat(np.arange(len(classes)), state.sizes[classes])
    above = state.codes[rows, cut[step, 0]] >= cut[step, 1]
    lengths = np.bincount(step[above], minlength=len(classes))
    return _steps(SPLIT, gains[good], lengths, rows[above], _NEW)


def _gatherings(state: Arrangement, asking: Indices) -> Steps:
    gains, gathered = _ask(state, "gatherings", asking, state.near, state.fresh, shape=(state.fresh,))
    good = gathered[:, 0] >= 0
    return _steps(GATHER, gains[good], np.full(int(good.sum()), state.fresh), gathered[good].ravel(), _NEW)


def _steps(kind: int | Indices, gains: Floats, lengths: Indices, rows: Indices, targets: int | Indices) -> Steps:
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    kinds, classes = np.full(len(gains), kind, dtype=np.int8), np.full(len(rows), targets, dtype=np.int64)
    return Steps(kinds, gains, bounds, rows, classes)


@dataclass(frozen=True, eq=False)
class RefinedPartition:
    """A partition after refining, and how it came about."""

    row_class: Classes
    steps: dict[str, int]  # how many steps of each kind were taken
    rounds: int
    finished: bool  # whether nothing was left to improve, rather than rounds or time


def refine(
    blocks: Blocks,
    row_class: Classes,
    *,
    rounds: int | None = None,
    deadline: float = math.inf,
    piece: int = PIECE,
    near: Codes | None = None,
    least: int = 1,
    kernels: ModuleType | None = None,
    progress: Callable[[float], None] | None = None,
) -> RefinedPartition:
    """Improve until nothing does, so many rounds are done or the clock reaches the deadline.

    ``piece``: among how many classes a class looks for its neighbours. Time grows with it, and so does the gain.
    ``near``: the nearest tuples of each tuple, where neighbours are looked for among their classes instead.
    ``least``: records that every class keeps, also where models ask for fewer.
    ``kernels``: the compiled ones when left out; `kernels.plain_refinement` gives the same on small tables.
    """
    started, state = (
        time.monotonic(),
        Arrangement(blocks, row_class, piece=piece, near=near, least=least, kernels=kernels),
    )
    counts: Counter[str] = Counter()
    changed, done, everything = state.filled, 0, True
    while done != rounds and time.monotonic() < deadline:
        changed = _round(state, changed, counts, turn=done, deadline=deadline)
        done += 1
        if not len(changed):
            if everything:
                return RefinedPartition(state.row_class, dict(counts), done, finished=True)
            changed = state.filled  # neighbours and prices have changed since: ask everybody before believing it
        everything = len(changed) == len(state.filled)
        if progress is not None:
            share = done / rounds if rounds else (time.monotonic() - started) / (deadline - started)
            progress(min(share, 1.0))
    return RefinedPartition(state.row_class, dict(counts), done, finished=False)


def _round(state: Arrangement, changed: Indices, counts: Counter[str], *, turn: int, deadline: float) -> Indices:
    """Let classes that have changed and those around them propose, and take what can be taken; what has changed then.

    Only the changed classes look for their neighbours anew; the others know theirs.
    """
    state.price()
    state.find_neighbours(changed, turn)
    if time.monotonic() >= deadline:
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
