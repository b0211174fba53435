"""Which classes of a release people fit, and which sensitive values those leave to them.

A person fits a class when in every quasi-identifier the person's value lies under the label of the class. The classes
are a trie, column after column; a person walks down all branches whose labels cover the value. In full-domain recodings
that is one branch per column, in local ones a few. Work grows with the branches walked, not with people times classes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.released_classes import Codes, Ints
from shoal.table.encoded import distinct_codes, spans

_PAIRS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class CodePairs:
    """For each code of one side of a column the codes of the other side that it goes with, one list after the other."""

    starts: Ints
    others: NDArray[Any]

    @staticmethod
    def of(pairs: tuple[Ints, Ints], width: int) -> CodePairs:
        """From pairs of codes; ``width`` is how many codes there are on the first side."""
        one, other = pairs
        order = np.lexsort((other, one))
        starts = np.searchsorted(one[order], np.arange(width + 1)).astype(np.int64)
        return CodePairs(starts, other[order].astype(np.int64))

    @staticmethod
    def of_set(pairs: Collection[tuple[int, int]], width: int) -> CodePairs:
        """From a set of pairs."""
        one, other = np.array(list(pairs), dtype=np.int64).reshape(-1, 2).T
        return CodePairs.of((one, other), width)

    @staticmethod
    def of_stretches(first: Codes, last: Codes, others: Ints, width: int) -> CodePairs:
        """From stretches of codes, both ends in them, that each go with one code of the other side."""
        lengths = (last - first + 1).astype(np.int64)
        return CodePairs.of((spans(first.astype(np.int64), lengths), np.repeat(others, lengths)), width)

    @cached_property
    def lengths(self) -> Ints:
        """How many codes go with each code."""
        return np.diff(self.starts)

    def lookup(self, codes: Ints) -> tuple[Ints, Ints]:
        """What goes with some codes, one list after the other, and how long each list is."""
        lengths = self.lengths[codes]
        return self.others[spans(self.starts[codes], lengths)], lengths

    def lists(self) -> list[list[int]]:
        """What goes with each code, as lists."""
        return [each.tolist() for each in np.split(self.others, self.starts[1:-1])]


def fitting_pairs(items: Codes, classes: Codes, covers: Sequence[CodePairs]) -> tuple[Ints, Ints]:
    """Pairs of an item and a class that go together in every column, ascending by item.

    ``items[j, i]`` and ``classes[j, c]`` are codes of the two sides of ``covers[j]``.
    """
    order = sorted(range(len(covers)), key=lambda j: float(covers[j].lengths[items[j]].mean()) if items.size else 0.0)
    n_classes = classes.shape[1]
    node, edges = np.zeros(n_classes, dtype=np.int64), []
    for j in order:  # the trie: by column its sorted keys ``node above x width + code``, and the width
        width = int(classes[j].max(initial=0)) + 1
        keys, node = np.unique(node * width + classes[j], return_inverse=True)
        edges.append((keys, width))
    ends = CodePairs.of((node, np.arange(n_classes)), int(node.max(initial=0)) + 1)  # classes at each last node
    found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    waiting = [np.arange(items.shape[1], dtype=np.int64)] if items.shape[1] and n_classes else []
    while waiting:
        some = waiting.pop()
        pairs = _walk(some, [items[j] for j in order], [covers[j] for j in order], edges)
        if pairs is None:
            waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
        else:
            found.append(pairs)
    item, leaf = (np.concatenate(each) for each in zip(*found, strict=True))
    cls, lengths = ends.lookup(leaf)
    return np.repeat(item, lengths), cls


def _walk(
    some: Ints, columns: Sequence[Codes], covers: Sequence[CodePairs], edges: Sequence[tuple[Ints, int]]
) -> tuple[Ints, Ints] | None:
    """Items with the last nodes they come to; None when that are too many at a time."""
    alone, item, node = len(some) == 1, some, np.zeros(len(some), dtype=np.int64)
    for codes, cover, (keys, width) in zip(columns, covers, edges, strict=True):
        own = codes[item].astype(np.int64)
        if int(cover.lengths[own].sum()) > _PAIRS_AT_A_TIME and not alone:
            return None
        other, lengths = cover.lookup(own)
        item, node = np.repeat(item, lengths), np.repeat(node, lengths)
        usable = other < width
        item, key = item[usable], node[usable] * width + other[usable]
        at = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
        hit = keys[at] == key
        item, node = item[hit], at[hit]
    return item, node


@dataclass(frozen=True, eq=False)
class View:
    """One release as some people see it."""

    people: Codes  # ``people[j, i]``: what person ``i`` has in quasi-identifier ``j``
    classes: Codes  # ``classes[j, c]``: what class ``c`` shows there
    covers: Sequence[CodePairs]  # for each quasi-identifier which of the two go together
    allowed: CodePairs  # the sensitive values that each class allows, in a numbering that all releases share

    def keys(self, some: Ints, width: int) -> Ints:
        """The distinct keys ``person x width + value`` that the release leaves to some people."""
        item, cls = fitting_pairs(self.people[:, some], self.classes, self.covers)
        return allowed_keys(item, cls, self.allowed, width)


def allowed_keys(item: Ints, cls: Ints, allowed: CodePairs, width: int) -> Ints:
    """The distinct keys ``item x width + value`` of what items may have by the classes that they go with."""
    values, lengths = allowed.lookup(cls)
    return distinct_codes(np.repeat(item, lengths) * width + values)
