"""Earth mover's distance of each class from the whole release, from the definitions of t-closeness.

N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", 2007, section 4. With p
the shares in a class and q those in the release: a table of p - q, a row a class and a column a value of the domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, Label
from shoal.verification.classes import SensitiveCounts

Floats = NDArray[np.float64]
_CELLS_AT_A_TIME = 4_000_000


@dataclass(frozen=True)
class ValueDistances:
    """How far two values lie apart: all alike, by their places in ``domain``, or by the tree of ``chains``."""

    kind: Literal["equal", "ordered", "hierarchical"]
    domain: tuple[Label, ...]
    """Every value of the column, in order where the order counts; only values that the release has take a place."""
    chains: Mapping[Label, tuple[Label, ...]]
    """For a hierarchical distance: each value of the domain with its groups up to the root."""


def distances(tally: SensitiveCounts, sizes: Codes, ground: ValueDistances) -> Floats:
    """The distance of each class, some classes at a time: the table of p - q is dense."""
    domain = ground.domain
    if ground.kind == "ordered":
        occurring = {tally.values[entry] for entry in np.unique(tally.entries)}
        domain = tuple(value for value in domain if value in occurring)
    place = {value: column for column, value in enumerate(domain)}
    entries, within = np.unique(tally.entries, return_inverse=True)
    columns = np.array([place[tally.values[entry]] for entry in entries], dtype=np.int64)[within]
    width = len(domain)
    release = np.bincount(columns, weights=tally.counts, minlength=width) / sizes.sum()
    result = np.empty(len(sizes))
    step = max(1, _CELLS_AT_A_TIME // max(width, 1))
    for start in range(0, len(sizes), step):
        stop = min(start + step, len(sizes))
        low, high = np.searchsorted(tally.classes, [start, stop])
        table = np.zeros((stop - start, width))
        rows = tally.classes[low:high]
        table[rows - start, columns[low:high]] = tally.counts[low:high] / sizes[rows]
        result[start:stop] = _moved(table - release, ground)
    return result


def _moved(surplus: Floats, ground: ValueDistances) -> Floats:
    """The work of levelling the surplus p - q of each class."""
    width = surplus.shape[1]
    if ground.kind == "equal":
        return np.asarray(np.maximum(surplus, 0.0).sum(axis=1))
    if ground.kind == "ordered":
        if width < 2:
            return np.zeros(len(surplus))
        return np.asarray(np.abs(np.cumsum(surplus, axis=1)[:, :-1]).sum(axis=1) / (width - 1))
    return _moved_in_tree(surplus, [ground.chains[value] for value in ground.domain])


def _moved_in_tree(surplus: Floats, chains: Sequence[tuple[Label, ...]]) -> Floats:
    """Li et al.: each group costs height/H times what can be levelled between its children and not within them.

    Two values are as far apart as their lowest common group is high. The height of a group is the longest way down.
    """
    paths = [[label for level, label in enumerate(chain) if not level or label != chain[level - 1]] for chain in chains]
    height: dict[Label, int] = {}
    parent: dict[Label, Label] = {}
    for path in paths:
        for steps, label in enumerate(path):
            height[label] = max(steps, height.get(label, 0))
            if steps:
                parent[path[steps - 1]] = label
    extra: dict[Label, Floats] = {label: np.zeros(len(surplus)) for label in height}
    for column, path in enumerate(paths):
        extra[path[0]] = surplus[:, column]
    positive = {label: np.zeros(len(surplus)) for label in height}
    negative = {label: np.zeros(len(surplus)) for label in height}
    work = np.zeros(len(surplus))
    tallest = max(height.values())
    for label in sorted(height, key=height.__getitem__):  # children are lower than their parents
        if height[label]:
            extra[label] = positive[label] - negative[label]
            work += height[label] / max(tallest, 1) * np.minimum(positive[label], negative[label])
        if label in parent:
            positive[parent[label]] += np.maximum(extra[label], 0.0)
            negative[parent[label]] += np.maximum(-extra[label], 0.0)
    return work
