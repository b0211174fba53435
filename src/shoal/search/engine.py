"""The engine of one machine: regroups distinct tuples with compiled kernels and rolls up from finer nodes.

A node's classes are unions of the classes of any finer node, so a check starts from the smallest known grouping below
it instead of from all tuples.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.boundaries import Ladder
from shoal.search.kernels import plain
from shoal.search.kernels.load import load_kernels
from shoal.search.people_index import ClassPeople, PeopleIndex
from shoal.table.classes import ClassStats, Histogram, SensitiveDomain
from shoal.table.encoded import EncodedTable, combine_codes
from shoal.table.linked import Links

ITEMS_BEFORE_LOADING = 8_000_000
"""Items grouped with NumPy, three to five times slower, before compiled kernels are loaded: half a second, 100 MB."""
_DENSE_LIMIT = 1 << 21  # largest key space that is grouped through a lookup table (8 MB) instead of a hash table
_KEY_LIMIT = 2**62
_CACHED_ITEMS = 16_000_000
"""Items (classes, and what they were grouped from) kept over all cached groupings, at least four times the tuples: at
4 to 12 bytes an item this bounds the memory that rolling up may take."""
_CACHED_GROUPINGS = 1024  # groupings kept: finding the best one to start from must cost less than it saves
DROPPED = -1  # instead of a level: the quasi-identifier is left out, as in Incognito's subsets


@dataclass(eq=False)
class Grouping:
    """The classes of distinct tuples at a lattice node; tuple ``representatives[g]`` stands for class ``g``."""

    representatives: NDArray[np.int32]
    sizes: NDArray[np.int64]
    find_tuple_class: Callable[[], NDArray[np.int32]]
    links: Links | None = None  # where records are linked: the linked class of each class

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @cached_property
    def tuple_class(self) -> NDArray[np.int32]:
        """Class of each tuple; worked out when first asked for, since most checks need sizes only."""
        return self.find_tuple_class()


class RemoteWorkers(Protocol):
    """Does the same work on several sets of classes, each perhaps on another machine."""

    @property
    def blocks(self) -> int:
        """How many sets of classes are worth making."""

    @property
    def least(self) -> int:
        """How many kinds of records there must be for it to be worthwhile."""

    def __call__(self, work: Callable[[Any], Any], sets: Sequence[Any], /) -> list[Any]:
        """The answers in the order of the sets. All can be pickled; work done twice gives the same answer."""


class LocalEngine:
    """Groups the distinct tuples of one encoded table at any node of its lattice."""

    def __init__(
        self,
        table: EncodedTable,
        ladders: Sequence[Ladder],
        domains: Mapping[str, SensitiveDomain],
        *,
        kernels: ModuleType | None = None,
        remote: RemoteWorkers | None = None,
    ) -> None:
        self.remote = remote  # who may work on sets of classes that do not concern each other; None: this process
        self._table = table
        self._domains = domains
        self._kernels = kernels if kernels is not None else plain
        self._items_before_loading = ITEMS_BEFORE_LOADING if kernels is None else None
        self._maps, self._offsets, self._radices = dense_maps(ladders)
        self._all = np.arange(table.n_tuples, dtype=np.int32)
        self._lookup = np.full(0, -1, dtype=np.int32)
        self._cache: list[Grouping] = []
        self._cached_nodes = np.zeros((0, len(ladders)), dtype=np.int64)
        self._cached_items: list[int] = []
        self.checks = 0  # groupings made so far

    def classes(self, node: Sequence[int]) -> Grouping:
        """The classes at a node: a level for each quasi-identifier, or `DROPPED`."""
        self.checks += 1
        wanted = np.asarray(node, dtype=np.int64)
        below = (wanted == DROPPED) | ((self._cached_nodes <= wanted) & (self._cached_nodes != DROPPED))
        usable = (self._cache[i] for i in np.flatnonzero(below.all(axis=1)))  # the node can be rolled up from these
        source = min(usable, key=lambda grouping: grouping.n_classes, default=None)
        items, weights = (self._all, self._table.counts) if source is None else (source.representatives, source.sizes)
        self._load_when_it_pays(len(items))
        ids, representatives, sizes = self._group(wanted, items, weights)
        links = self._table.links if source is None else source.links
        if links is not None:
            of_item, first, links = links.regrouped(ids.astype(np.int64))
            ids, representatives = of_item.astype(np.int32), items[first]
            sizes = np.bincount(of_item, weights=weights, minlength=len(first)).astype(np.int64)

        def tuple_class() -> NDArray[np.int32]:
            composed: NDArray[np.int32] = ids if source is None else ids[source.tuple_class]
            return composed

        grouping = Grouping(representatives, sizes, tuple_class, links)
        if grouping.n_classes * 2 <= len(items) or source is None:
            self._remember(wanted, grouping, len(items) + grouping.n_classes)
        return grouping

    def stats(self, grouping: Grouping, columns: Sequence[str]) -> ClassStats:
        """The class statistics of a grouping, with histograms of the sensitive columns asked for."""
        if self._table.person is not None:
            self._load_when_it_pays((2 + 8 * len(columns)) * len(self._table.person))
            people = ClassPeople(self._people, grouping.tuple_class, self._kernels)
            linked = None if grouping.links is None else grouping.links.linked
            return people.stats(grouping.sizes, self._domains, columns, linked)
        histograms = {}
        for column in columns:
            pairs = self._table.pairs_to_count(column)
            self._load_when_it_pays(4 * len(pairs.tuples))  # a histogram costs NumPy as much as so many items
            parts = self._kernels.histogram(
                grouping.tuple_class, pairs.tuples, pairs.values, pairs.counts, grouping.n_classes
            )
            histograms[column] = Histogram(*parts)
        return ClassStats(grouping.sizes, histograms, self._domains)

    @cached_property
    def _people(self) -> PeopleIndex:
        return PeopleIndex(self._table, self._table.row_tuple)

    def _load_when_it_pays(self, items: int) -> None:
        """Change to compiled kernels once a search has shown to be long; the results are the same."""
        if self._items_before_loading is not None:
            self._items_before_loading -= items
            if self._items_before_loading < 0:
                self._kernels = load_kernels()
                self._items_before_loading = None

    def _group(
        self, node: NDArray[np.int64], items: NDArray[np.int32], weights: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        columns = [j for j, level in enumerate(node) if level != DROPPED and self._radices[j][level] > 1]
        offsets = [self._offsets[j][node[j]] for j in columns]
        radices = [self._radices[j][node[j]] for j in columns]
        space, codes = math.prod(radices), self._table.codes
        if space > _KEY_LIMIT:
            mapped = [self._maps[offset + codes[j][items]] for j, offset in zip(columns, offsets, strict=True)]
            keys, space = combine_codes(mapped, radices)
        else:
            strides = np.ones(len(columns), dtype=np.int64)
            for c in range(len(columns) - 2, -1, -1):
                strides[c] = strides[c + 1] * radices[c + 1]
            chosen, begins = np.array(columns, dtype=np.int64), np.array(offsets, dtype=np.int64)
            keys = self._kernels.keys_of(codes, items, chosen, begins, strides, self._maps)
        if space <= _DENSE_LIMIT:
            if len(self._lookup) < space:
                self._lookup = np.full(space, -1, dtype=np.int32)
            grouped = self._kernels.group_dense(keys, items, weights, self._lookup)
        else:
            slots = np.full(1 << max(4, (2 * len(items) - 1).bit_length()), -1, dtype=np.int32)
            grouped = self._kernels.group_hashed(keys, items, weights, slots)
        ids, representatives, sizes = grouped
        return ids, representatives, sizes

    def _remember(self, node: NDArray[np.int64], grouping: Grouping, items: int) -> None:
        self._cache.append(grouping)
        self._cached_items.append(items)
        self._cached_nodes = np.vstack([self._cached_nodes, node])
        most = max(_CACHED_ITEMS, 4 * self._table.n_tuples)
        while len(self._cache) > 1 and (sum(self._cached_items) > most or len(self._cache) > _CACHED_GROUPINGS):
            del self._cache[0], self._cached_items[0]
            self._cached_nodes = self._cached_nodes[1:]


def dense_maps(ladders: Sequence[Ladder]) -> tuple[NDArray[np.int32], list[list[int]], list[list[int]]]:
    """For every column and level, the map from leaf code to a dense node number; all maps in one array."""
    maps = [[np.unique(row, return_inverse=True)[1].astype(np.int32) for row in ladder.nodes] for ladder in ladders]
    ends = accumulate((len(each) for levels in maps for each in levels), initial=0)
    offsets = [[next(ends) for _ in levels] for levels in maps]
    radices = [[int(each.max(initial=-1)) + 1 for each in levels] for levels in maps]
    every = [np.zeros(0, dtype=np.int32), *(each for levels in maps for each in levels)]
    return np.concatenate(every), offsets, radices
