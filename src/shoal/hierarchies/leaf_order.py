"""The leaves of a hierarchy in an order that a policy lists, so that neighbours in the list are neighbours in codes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.hierarchies.hierarchy import BuiltHierarchy, Label
from shoal.hierarchies.problems import Problems, quoted, refuse_unknown_values


def in_listed_order(
    built: BuiltHierarchy, order: Sequence[Label], values: Sequence[Label], counts: Sequence[int], where: str
) -> BuiltHierarchy:
    """The hierarchy with its leaves in the order of a list, a missing value that is not listed after them.

    A value that the list lacks is a problem, and so is a group whose values are not neighbours in it.
    """
    refuse_unknown_values(values, counts, set(order), where, "the order")
    hierarchy, place = built.hierarchy, {value: index for index, value in enumerate(order)}
    n, leaves = hierarchy.n_leaves, hierarchy.labels[: hierarchy.n_leaves]
    problems = Problems(where)
    for leaf in (leaf for leaf in leaves if leaf is not None and leaf not in place):
        problems.add(f"lacks {quoted(leaf)}, which the hierarchy has.", "List every value once.", code="order-values")
    problems.refuse("values that the order lacks")
    old = np.array(sorted(range(n), key=lambda code: place.get(leaves[code], len(order))), dtype=np.int32)
    new = np.argsort(old).astype(np.int32)  # the new code of each leaf
    number = np.append(new, np.arange(n, len(hierarchy.labels))).astype(np.int32)
    first, last = hierarchy.first.copy(), hierarchy.last.copy()
    for node, (low, high) in enumerate(zip(hierarchy.first.tolist(), hierarchy.last.tolist(), strict=True)):
        codes = new[low : high + 1]
        first[number[node]], last[number[node]] = codes.min(), codes.max()
        if codes.max() - codes.min() > high - low:
            message = f"does not list the values of {quoted(hierarchy.labels[node])} side by side."
            fix = "A group of the hierarchy must be a run of the order: change one of the two."
            problems.add(message, fix, code="order-crosses-groups", group=hierarchy.labels[node])
    problems.refuse("groups whose values the order separates")
    back = np.append(old, np.arange(n, len(hierarchy.labels)))
    reordered = replace(
        hierarchy,
        labels=tuple(hierarchy.labels[node] for node in back.tolist()),
        parents=hierarchy.parents[back],
        first=first,
        last=last,
        levels=number[hierarchy.levels][:, old],
        spans=hierarchy.spans[back],
    )
    return BuiltHierarchy(reordered, new[built.codes])
