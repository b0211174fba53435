"""Earth mover's distance of each class from the whole release, from the definitions of t-closeness.

N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", 2007, section 4. With p
the shares in a class and q those in the release: a table of p - q with one row per class and one column per value.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import Chain, Label
from shoal.verification.classes import SensitiveCounts
from shoal.verification.dates import DateLabels
from shoal.verification.declared_labels import labels_of, tree_chains
from shoal.verification.intervals import lower_end
from shoal.verification.labels import ListedLabels
from shoal.verification.stated_policy import StatedPolicy
from shoal.verification.value_order import by_nature, by_text

Floats = NDArray[np.float64]
_CELLS_AT_A_TIME = 4_000_000


def transport_distances(tally: SensitiveCounts, distance: str, policy: StatedPolicy) -> Floats | None:
    """The distance of each class, some classes at a time: the table of p - q is dense.

    Shares are those of known values; a class in which nothing is known has no distance.
    None where the policy gives no such distance (``equal``, ``ordered`` or ``hierarchical``) between published values.
    """
    sizes = tally.known
    if not sizes.any():
        return np.zeros(len(sizes))
    domain = _domain(tally, distance, policy)
    if domain is None:
        return None
    column_of = {value: column for column, value in enumerate(domain)}
    entries, within = np.unique(tally.entries, return_inverse=True)
    columns = np.array([column_of[tally.values[entry]] for entry in entries], dtype=np.int64)[within]
    width = len(domain)
    occurring = np.flatnonzero(tally.totals)
    of_value = [column_of[tally.values[value]] for value in occurring.tolist()]
    release = np.bincount(of_value, weights=tally.totals[occurring], minlength=width) / tally.totals.sum()
    result = np.empty(len(sizes))
    step = max(1, _CELLS_AT_A_TIME // max(width, 1))
    for start in range(0, len(sizes), step):
        stop = min(start + step, len(sizes))
        low, high = np.searchsorted(tally.classes, [start, stop])
        table = np.zeros((stop - start, width))
        rows = tally.classes[low:high]
        table[rows - start, columns[low:high]] = tally.weights[low:high] / (sizes[rows] * tally.unit)
        result[start:stop] = _moved(table - release, distance, list(domain.values()))
    return np.where(sizes > 0, result, 0.0)


def _domain(tally: SensitiveCounts, distance: str, policy: StatedPolicy) -> dict[Label, Chain] | None:
    """The published values in order, each with its groups up to the root; None where the policy does not say.

    Indices and heights count the values that the release has: its reader knows no others.
    """
    column, present = policy.columns[tally.column], {tally.values[entry] for entry in np.unique(tally.entries)}
    if column.publish == "categories":
        named = [name for name in tally.categories if name in present]
        others = by_text(present - set(named))
        return None if distance == "hierarchical" else dict.fromkeys((*named, *others), ())
    if column.bins is not None:
        return None if distance == "hierarchical" else dict.fromkeys(by_text(present, lower_end), ())
    values = by_text(present)
    chains: dict[Label, Chain] = dict.fromkeys(values, ())
    kind = next(iter(column.hierarchy), None)
    declared: list[Label] = []
    if kind is not None:
        labels = labels_of(policy, tally.column)
        if isinstance(labels, DateLabels):
            labels = replace(labels, form=None)  # a release writes dates in ISO
        declared = list(labels.declared) if isinstance(labels, ListedLabels) else []
        chains = dict(zip(values, labels.chains(values), strict=True))
        if any(chain and chain[0] != text for text, chain in chains.items()):
            return None  # not as a release writes values of such a column: nothing can be said of their distances
    elif column.categories and distance == "hierarchical":
        chains = dict(zip(values, ListedLabels(tree_chains(column.categories)).chains(values), strict=True))
    if distance == "equal" or (distance == "hierarchical" and all(chains.values())):
        return chains
    if distance == "ordered" and kind == "order" and present - {None} <= set(declared):
        missing = [None] if None in present and None not in declared else []
        return dict.fromkeys([*(value for value in declared if value in present), *missing], ())
    if distance == "ordered" and kind in {None, "intervals", "dates"}:
        natural = by_nature(present)
        return None if natural is None else dict.fromkeys(natural, ())
    return None


def _moved(surplus: Floats, distance: str, chains: Sequence[Chain]) -> Floats:
    """The work of levelling the surplus p - q of each class."""
    if distance == "equal":
        return np.asarray(np.maximum(surplus, 0.0).sum(axis=1))
    if distance == "ordered":
        steps = max(surplus.shape[1] - 1, 1)
        return np.asarray(np.abs(np.cumsum(surplus, axis=1)[:, :-1]).sum(axis=1) / steps)
    return _moved_in_tree(surplus, chains)


def _moved_in_tree(surplus: Floats, chains: Sequence[Chain]) -> Floats:
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
