"""Who fits what: which released classes each original record could be in.

A record fits a class when in every quasi-identifier its value lies under the label of the class. The classes are a
trie, column after column; a record walks down all branches whose labels cover its value. In full-domain recodings that
is one branch a column, in local ones a few. Work grows with the branches walked, not with records times classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.attacks.original import Original
from shoal.attacks.released_classes import Codes, Ints
from shoal.table.encoded import spans

_PAIRS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class CodePairs:
    """For each code of one side of a column the codes of the other side that it goes with, one list after the other."""

    starts: Ints
    others: Ints

    @staticmethod
    def of(pairs: tuple[Ints, Ints], width: int) -> CodePairs:
        """From pairs of codes; ``width`` is how many codes there are on the first side."""
        one, other = pairs
        order = np.lexsort((other, one))
        starts = np.searchsorted(one[order], np.arange(width + 1)).astype(np.int64)
        return CodePairs(starts, other[order].astype(np.int64))

    @staticmethod
    def of_stretches(first: Codes, last: Codes, others: Ints, width: int) -> CodePairs:
        """From stretches of codes, both ends in them, that each go with one code of the other side."""
        lengths = (last - first + 1).astype(np.int64)
        return CodePairs.of((spans(first.astype(np.int64), lengths), np.repeat(others, lengths)), width)

    @staticmethod
    def same(width: int) -> CodePairs:
        """A column in which each code goes with itself alone."""
        return CodePairs(np.arange(width + 1, dtype=np.int64), np.arange(width, dtype=np.int64))

    @cached_property
    def lengths(self) -> Ints:
        """How many codes go with each code."""
        return np.diff(self.starts)

    def indices(self, codes: Ints) -> tuple[Ints, Ints]:
        """The indices in ``others`` of the lists of some codes, one after the other, and how long each list is."""
        lengths = self.lengths[codes]
        return spans(self.starts[codes], lengths), lengths


def label_pairs(original: Original) -> list[CodePairs]:
    """For each quasi-identifier the labels that each leaf of the original lies under."""
    covers = []
    for hierarchy, nodes in zip(original.hierarchies, original.nodes, strict=True):
        known = np.flatnonzero(nodes >= 0)
        first, last = hierarchy.first[nodes[known]], hierarchy.last[nodes[known]]
        covers.append(CodePairs.of_stretches(first, last, known, hierarchy.n_leaves))
    return covers


def fitting_pairs(items: Codes, classes: Codes, covers: Sequence[CodePairs]) -> tuple[Ints, Ints]:
    """Pairs of an item and a class that go together in every column, ascending by item.

    ``items[j, i]`` and ``classes[j, c]`` are codes of the two sides of ``covers[j]``.
    """
    order = sorted(range(len(covers)), key=lambda j: float(covers[j].lengths[items[j]].mean()) if items.size else 0.0)
    edges, ends = _trie([classes[j] for j in order], classes.shape[1])
    found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    waiting = [np.arange(items.shape[1], dtype=np.int64)] if items.shape[1] and classes.shape[1] else []
    while waiting:
        some = waiting.pop()
        pairs = _walk(some, [items[j] for j in order], [covers[j] for j in order], edges)
        if pairs is None:
            waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
        else:
            found.append(pairs)
    item, leaf = (np.concatenate(each) for each in zip(*found, strict=True))
    index, lengths = ends.indices(leaf)
    return np.repeat(item, lengths), ends.others[index]


def _trie(columns: Sequence[Codes], n_classes: int) -> tuple[list[tuple[Ints, int]], CodePairs]:
    """The trie of the classes, by column its sorted keys ``node above x width + code`` and the width, and the classes
    at each of its last nodes."""
    node = np.zeros(n_classes, dtype=np.int64)
    edges = []
    for codes in columns:
        width = int(codes.max(initial=0)) + 1
        keys, node = np.unique(node * width + codes, return_inverse=True)
        edges.append((keys, width))
    return edges, CodePairs.of((node, np.arange(n_classes)), int(node.max(initial=0)) + 1)


def _walk(
    some: Ints, columns: Sequence[Codes], covers: Sequence[CodePairs], edges: Sequence[tuple[Ints, int]]
) -> tuple[Ints, Ints] | None:
    """Items with the last nodes they come to; None when that are too many at a time."""
    alone, item, node = len(some) == 1, some, np.zeros(len(some), dtype=np.int64)
    for codes, cover, (keys, width) in zip(columns, covers, edges, strict=True):
        own = codes[item].astype(np.int64)
        if int(cover.lengths[own].sum()) > _PAIRS_AT_A_TIME and not alone:
            return None
        index, lengths = cover.indices(own)
        other = cover.others[index]
        item, node = np.repeat(item, lengths), np.repeat(node, lengths)
        usable = other < width
        item, key = item[usable], node[usable] * width + other[usable]
        at = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
        hit = keys[at] == key
        item, node = item[hit], at[hit]
    return item, node
