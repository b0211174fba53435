"""A quasi-identifier before and after: how the released records spread over groups of its values.

*Before* is where the records lie by the values they had, *after* where a reader of the release must think they lie: in
the group that their label names, or - where the label covers several groups - spread evenly over the values under it.

The values that records had are not released, so what is shown of them obeys three rules.

1. Only released records are counted: nothing here depends on a value of a suppressed record.
2. Of a group, the records whose label says less than the group does are none or at least ``least_hidden``: the k that
   the policy requires. A group with fewer is not named and counts among the others, which must satisfy the same.
3. Groups are nodes of the hierarchy at one level: the finest with at most `MOST` groups. Where these are fewer than
   `FEWEST`, or nothing is generalized beyond them, the largest groups of the level below are shown and the rest joined;
   in the second case only if the largest hold most of the records.

So a rare value that a label hides is not named here either, and a group with no hidden record says what the release
says.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.evidence.evidence import Distribution, ValueGroup
from shoal.hierarchies.hierarchy import Hierarchy

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Kind = Literal["label", "missing", "others"]

MOST = 16  # groups that are shown at most
FEWEST = 3  # fewer groups than this tell too little
HELD = 0.8
"""Where a level shows no loss, the largest groups of the one below are shown if they hold this share of the records."""


def distribution(hierarchy: Hierarchy, before: Ints, after: Ints, *, least_hidden: int) -> Distribution | None:
    """The groups of a column; None where none can be shown.

    ``before`` counts the released records by leaf, ``after`` by the node that they are released as.
    """
    level = _level(hierarchy, before, after)
    nodes, figures = _grouped(hierarchy, level, before, after)
    joined = _joined(figures, least_hidden)
    if joined is None:
        return None
    groups: list[tuple[list[int], Kind, str | None]] = [
        ([index], "missing" if label is None else "label", label)
        for index, label in enumerate(hierarchy.labels[node] for node in nodes.tolist())
        if index not in joined
    ]
    if joined:
        groups.append((joined, "others", None))
    shown = []
    for indices, kind, label in groups:
        values, records, within, spread = figures[:, indices].sum(axis=1).tolist()
        after_all = int(within) + max(spread, 0.0)
        shown.append(ValueGroup(kind, label, int(values), int(records), int(within), after_all))
    return Distribution(level, least_hidden, tuple(shown))


def _level(hierarchy: Hierarchy, before: Ints, after: Ints) -> int:
    """The finest level with few enough groups, or the one below it where that tells more: see the third rule."""
    present = np.flatnonzero(before)
    counts = [len(np.unique(row[present])) for row in hierarchy.levels]
    level = next((index for index, count in enumerate(counts) if count <= MOST), len(counts) - 1)
    if not level:
        return 0
    below = np.bincount(hierarchy.levels[level - 1], weights=before)
    largest = np.sort(below)[::-1][: MOST - 1].sum()
    generalized = bool(after[hierarchy.node_levels > level].any())
    finer = counts[level] < FEWEST or (not generalized and largest >= HELD * before.sum())
    return level - 1 if finer else level


def _grouped(hierarchy: Hierarchy, level: int, before: Ints, after: Ints) -> tuple[Ints, Floats]:
    """The groups of a level that released records lie in, in the order of the hierarchy: their nodes and figures.

    The figures of a group are its different values, its records before, those of them whose label names the group or
    something in it, and those that a reader must think lie here, out of labels that cover more.
    """
    present = before > 0
    nodes, group = np.unique(hierarchy.levels[level], return_inverse=True)
    released = np.flatnonzero(after)
    first, last = hierarchy.first[released].astype(np.int64), hierarchy.last[released].astype(np.int64)
    inside = hierarchy.node_levels[released] <= level
    spread = _spread(first[~inside], last[~inside], after[released[~inside]], present)
    within = np.bincount(first[inside], weights=after[released[inside]], minlength=len(before))
    figures = np.array([np.bincount(group, each, len(nodes)) for each in (present, before, within, spread)])
    there = np.flatnonzero(figures[1])
    order = there[np.argsort(hierarchy.first[nodes[there]], kind="stable")]
    return nodes[order].astype(np.int64), figures[:, order]


def _spread(first: Ints, last: Ints, counts: Ints, present: NDArray[np.bool_]) -> Floats:
    """Records of labels over several groups, evenly over those leaves under each label that released records have."""
    before_leaf = np.concatenate([[0], np.cumsum(present)])
    share = counts / np.maximum(before_leaf[last + 1] - before_leaf[first], 1)
    steps = np.zeros(len(present) + 1)
    np.add.at(steps, first, share)
    np.add.at(steps, last + 1, -share)
    return np.where(present, np.cumsum(steps[:-1]), 0.0)


def _joined(figures: Floats, least_hidden: int) -> list[int] | None:
    """The groups that are not named but counted together; None where even all together are too few."""
    _, before, within, _ = figures
    hidden = before - within  # records whose label says less than the group does
    by_size = np.lexsort((np.arange(len(before)), -before))
    joined = (hidden > 0) & (hidden < least_hidden)
    if len(before) > MOST:
        joined[by_size[MOST - 1 :]] = True
    for index in by_size[::-1].tolist():
        if not 0 < hidden[joined].sum() < least_hidden:
            break
        joined[index] |= bool(hidden[index])
    return None if 0 < hidden[joined].sum() < least_hidden else np.flatnonzero(joined).tolist()
