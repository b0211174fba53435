"""Class statistics and hierarchies from plain lists, for tests that start from the values of each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from shoal.hierarchies.hierarchy import ROOT_LABEL, Hierarchy, Label
from shoal.table.classes import ClassStats, ClassView, Histogram, SensitiveDomain
from shoal.table.numbers import Numbers

Member = TypeVar("Member")
Classes = Sequence[Sequence[Label]]
Tree = Mapping[str, "Tree"] | Sequence[Label]
"""Nested mappings down to lists of leaves; an empty list makes the key itself a leaf."""


def merged(drawn: Sequence[Sequence[Member]], one: int, other: int) -> list[list[Member]]:
    """The classes with two of them merged; the merged class stands first. The release keeps its totals."""
    rest = [list(each) for place, each in enumerate(drawn) if place not in (one, other)]
    return [[*drawn[one], *drawn[other]], *rest]


def common_ancestor(hierarchy: Hierarchy, leaves: Iterable[int]) -> int:
    """The lowest node that covers all the leaves."""
    codes = list(leaves)
    node = min(codes)
    while hierarchy.last[node] < max(codes):
        node = int(hierarchy.parents[node])
    return node


def domain_of(
    values: Iterable[Label],
    *,
    column: str = "condition",
    ordered: bool = False,
    categories: Mapping[str, Sequence[Label]] | None = None,
    tree: Tree | None = None,
    numbers: Mapping[Label, str] | None = None,
) -> SensitiveDomain:
    """A domain; with a tree, the values are its leaves in depth-first order whatever ``values`` says.

    With ``numbers`` each value stands for a number, so that models on numbers can be asked about the same classes.
    """
    hierarchy = None if tree is None else hierarchy_of(tree)
    places = tuple(values) if hierarchy is None else hierarchy.labels[: hierarchy.n_leaves]
    category_of = {value: place for place, block in enumerate((categories or {}).values()) for value in block}
    domain = SensitiveDomain(
        column=column,
        values=places,
        ordered=ordered,
        categories=tuple(categories or ()),
        category_of=np.array([category_of.get(value, -1) for value in places] if categories else [], dtype=np.int32),
        hierarchy=hierarchy,
    )
    if numbers is not None:
        vars(domain)["numbers"] = Numbers.of([numbers.get(value) for value in places])
    return domain


def with_unknown(domain: SensitiveDomain, unknown: frozenset[Label]) -> SensitiveDomain:
    """The domain when some values are unknown; those that stand for numbers still do."""
    known = [value not in unknown for value in domain.values]
    category_of = np.where(known, domain.category_of, -1).astype(np.int32) if domain.categories else domain.category_of
    other = replace(domain, unknown=unknown, category_of=category_of)
    numbers = domain.numbers
    if numbers is not None:
        rank = np.where(other.known, numbers.rank, -1)
        vars(other)["numbers"] = Numbers(numbers.scale, numbers.distinct, rank)
    return other


def histogram_of(classes: Classes, values: Sequence[Label]) -> Histogram:
    """The sparse histogram of the classes."""
    code = {value: place for place, value in enumerate(values)}
    counted = [sorted(Counter(code[value] for value in each).items()) for each in classes]
    entries = [entry for each in counted for entry in each]
    return Histogram(
        starts=np.cumsum([0, *map(len, counted)], dtype=np.int64),
        values=np.array([value for value, _ in entries], dtype=np.int32),
        counts=np.array([count for _, count in entries], dtype=np.int64),
    )


def stats_of(classes: Classes, domain: SensitiveDomain | None = None) -> ClassStats:
    """Statistics of classes given as lists of sensitive values; without a domain, that of the values that occur."""
    if domain is None:
        occurring = {value for each in classes for value in each}
        domain = domain_of(sorted(occurring, key=lambda value: (value is None, value or "")))
    sizes = np.array([len(each) for each in classes], dtype=np.int64)
    return ClassStats(sizes, {domain.column: histogram_of(classes, domain.values)}, {domain.column: domain})


def view_of(classes: Classes, domain: SensitiveDomain | None = None) -> ClassView:
    """What a model sees of classes given as lists of sensitive values."""
    stats = stats_of(classes, domain)
    return stats.view(next(iter(stats.domains)))


def hierarchy_of(tree: Tree) -> Hierarchy:
    """A hierarchy from nested mappings; leaves in depth-first order, inner nodes after them, the root last."""
    paths: list[tuple[Label, ...]] = []

    def walk(node: Tree, above: tuple[Label, ...]) -> None:
        if isinstance(node, Mapping):
            for label, below in node.items():
                walk(below, (*above, label)) if len(below) else paths.append((*above, label))
        else:
            paths.extend((*above, leaf) for leaf in node)

    walk(tree, (ROOT_LABEL,))
    height = max(len(path) for path in paths) - 1
    inner = [prefix for path in paths for prefix in (path[:depth] for depth in range(len(path) - 1, 0, -1))]
    order = [*paths, *sorted(dict.fromkeys(inner), key=len, reverse=True)]
    place = {path: node for node, path in enumerate(order)}
    under = [[leaf for leaf, path in enumerate(paths) if path[: len(node)] == node] for node in order]
    levels = [[place[path[: height - level + 1]] for path in paths] for level in range(height + 1)]
    return Hierarchy(
        labels=tuple(path[-1] for path in order),
        parents=np.array([place.get(path[:-1], -1) for path in order], dtype=np.int32),
        first=np.array([leaves[0] for leaves in under], dtype=np.int32),
        last=np.array([leaves[-1] for leaves in under], dtype=np.int32),
        levels=np.array(levels, dtype=np.int32),
        spans=np.array([len(leaves) for leaves in under], dtype=np.float64),
    )
