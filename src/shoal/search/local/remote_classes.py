"""Classes of a partition that are cut further elsewhere, each set of them with no more than it needs to know.

What becomes of a class depends on its own records and on what is known of the whole table (hierarchies, models, how
often each sensitive value occurs): sets of classes can be cut apart from each other, and the result is the same.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from shoal.search.local.blocks import Blocks
from shoal.search.local.partition import Entries, Indices, RecordKinds, RecordSpace
from shoal.search.problem import no_progress
from shoal.table.encoded import EncodedTable


@dataclass(frozen=True, eq=False)
class ClassSet:
    """Some classes: their kinds, numbered anew, and their entries."""

    kinds: RecordKinds
    entries: Entries


def class_sets(space: RecordSpace, active: Entries, number: int) -> list[tuple[ClassSet, Indices]]:
    """The classes in so many sets of about the same number of entries, and the kinds of each set in the space."""
    lengths = np.diff(np.append(active.starts, len(active.kind)))
    loads = [(0, index) for index in range(min(number, active.n_classes))]
    owner = np.empty(active.n_classes, dtype=np.int64)
    for each in np.lexsort((np.arange(active.n_classes), -lengths)).tolist():
        load, index = heapq.heappop(loads)
        owner[each] = index
        heapq.heappush(loads, (load + int(lengths[each]), index))
    return [_block(space, active.of(owner == index)) for index in range(len(loads))]


def _block(space: RecordSpace, entries: Entries) -> tuple[ClassSet, Indices]:
    mine, kind = np.unique(entries.kind, return_inverse=True)
    kinds = space.kinds
    few = replace(
        kinds,
        codes=np.ascontiguousarray(kinds.codes[:, mine]),
        counts=kinds.counts[mine],
        block=kinds.block[mine],
        secret=kinds.secret[mine],
        row_kind=np.zeros(0, dtype=np.int64),
    )
    return ClassSet(few, replace(entries, kind=kind)), mine


def without_records(blocks: Blocks) -> Blocks:
    """What is known of the whole table, without its records: it is sent along with the work."""
    table = blocks.problem.table
    none = np.zeros(0, dtype=np.int32)
    empty = EncodedTable(
        quasi=table.quasi,
        codes=np.zeros((len(table.quasi), 0), dtype=np.int32),
        counts=np.zeros(0, dtype=np.int64),
        row_tuple=none,
        row_sensitive={},
        pairs={},
        weights=np.array([table.n_rows], dtype=np.int64),
    )
    bare = Blocks(replace(blocks.problem, table=empty, progress=no_progress), none, blocks.n_blocks)
    vars(bare)["reference"] = blocks.reference
    vars(bare)["ranged"] = blocks.ranged
    return bare
