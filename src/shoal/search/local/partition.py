"""What algorithms that cut classes share: kinds of records, classes of them, and how often secrets occur in groups.

Records with equal quasi-identifier codes and equal sensitive values are of one kind, and a class is made of entries: so
many records of a kind. All classes of a round are cut in the same NumPy passes. Kinds are in ascending order of their
codes, so nothing here depends on the order of the rows.

A *secret* is a combination of the sensitive values that the models read: all that they see of a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import ancestors
from shoal.search.local.blocks import Blocks, Classes
from shoal.table.classes import ClassStats, Counts, Floats, Histogram, Mask
from shoal.table.encoded import combine_codes
from shoal.table.recoding import SUPPRESSED

Indices = NDArray[np.int64]
Codes = NDArray[np.int32]

_DENSE = 1 << 18
"""Keys are counted in an array of their space up to this size, or up to eight times their number; sorted otherwise."""


@dataclass(frozen=True, eq=False)
class RecordKinds:
    """The kinds of records that can be released."""

    codes: Codes  # ``codes[j, kind]``: leaf code of quasi-identifier ``j``
    counts: Counts
    block: Indices
    secret: Indices
    secret_values: Mapping[str, Codes]  # value of each secret in each sensitive column that a model reads
    n_secrets: int
    row_kind: Indices  # kind of each row, or `SUPPRESSED`


@dataclass(frozen=True, eq=False)
class Entries:
    """Some classes: ``count`` records of ``kind`` are in class ``owner``; by class, then kind."""

    kind: Indices
    count: Counts
    owner: Indices
    n_classes: int

    @cached_property
    def starts(self) -> Indices:
        """First entry of each class."""
        return np.searchsorted(self.owner, np.arange(self.n_classes))

    @cached_property
    def sizes(self) -> Counts:
        """Records in each class."""
        return summed(self.owner, self.count, self.n_classes)

    def of(self, classes: Mask) -> Entries:
        """The entries of some of the classes, numbered anew."""
        chosen = classes[self.owner]
        number = np.cumsum(classes) - 1
        return Entries(self.kind[chosen], self.count[chosen], number[self.owner[chosen]], int(classes.sum()))


@dataclass(frozen=True, eq=False)
class SecretCounts:
    """How often each secret occurs in each of ``n`` groups of records; by group, then secret, none of them zero."""

    group: Indices
    secret: Indices
    count: Counts
    n: int

    @cached_property
    def sizes(self) -> Counts:
        """Records in each group."""
        return summed(self.group, self.count, self.n)

    def of(self, groups: Mask) -> SecretCounts:
        """The tally of some of the groups, numbered anew."""
        chosen = groups[self.group]
        number = np.cumsum(groups) - 1
        return SecretCounts(number[self.group[chosen]], self.secret[chosen], self.count[chosen], int(groups.sum()))


@dataclass(frozen=True, eq=False)
class RecordSpace:
    """The kinds of a problem, and which groups of them satisfy."""

    blocks: Blocks
    kinds: RecordKinds

    @property
    def hierarchies(self) -> Sequence[Hierarchy]:
        """The hierarchy of each quasi-identifier."""
        return self.blocks.problem.hierarchies

    @cached_property
    def trees(self) -> tuple[Branches, ...]:
        """The branches of each hierarchy."""
        return tuple(branches_of(hierarchy) for hierarchy in self.hierarchies)

    def start(self) -> Entries:
        """One class per block: where every partition starts."""
        order = np.argsort(self.kinds.block, kind="stable")
        return Entries(order, self.kinds.counts[order], self.kinds.block[order], self.blocks.n_blocks)

    def tally(self, group: Indices, secret: Indices, count: Counts, n: int) -> SecretCounts:
        """Count secrets by group; a pair of group and secret may come several times."""
        keys, sums = grouped(group * self.kinds.n_secrets + secret, count, n * self.kinds.n_secrets)
        return SecretCounts(keys // self.kinds.n_secrets, keys % self.kinds.n_secrets, sums, n)

    def holds(self, tally: SecretCounts) -> Mask:
        """Which groups satisfy every model that can be tested on a class alone; each group has a record."""
        problem = self.blocks.problem
        histograms = {}
        for name in problem.sensitive_columns:
            width = len(problem.domains[name].values)
            values = self.kinds.secret_values[name][tally.secret]
            keys, sums = grouped(tally.group * width + values, tally.count, tally.n * width)
            starts = np.searchsorted(keys, np.arange(tally.n + 1, dtype=np.int64) * width)
            histograms[name] = Histogram(starts.astype(np.int64), (keys % width).astype(np.int32), sums)
        return self.blocks.holds(ClassStats(tally.sizes, histograms, problem.domains, self.blocks.reference))

    def ranges(self, entries: Entries) -> tuple[Codes, Codes, Codes]:
        """Smallest and largest leaf code of each class in each quasi-identifier, and their lowest common ancestor."""
        low, high, nodes = np.empty((3, entries.n_classes, len(self.hierarchies)), dtype=np.int32)
        for j, hierarchy in enumerate(self.hierarchies):
            codes = self.kinds.codes[j, entries.kind]
            low[:, j] = np.minimum.reduceat(codes, entries.starts)
            high[:, j] = np.maximum.reduceat(codes, entries.starts)
            nodes[:, j] = ancestors(hierarchy, low[:, j], high[:, j])
        return low, high, nodes

    def losses(self, low: Codes, high: Codes, nodes: Codes) -> Floats:
        """NCP of what each class releases in each quasi-identifier, given their `ranges`."""
        result = np.stack([h.loss[nodes[:, j]] for j, h in enumerate(self.hierarchies)], axis=1)
        for j, column in self.blocks.ranged.items():
            result[:, j] = column.losses(low[:, j], high[:, j])
        return result

    def row_classes(self, final_classes: Sequence[Entries]) -> tuple[Blocks, Classes]:
        """The class of each row, once every class is final_classes; rows of one kind go to its classes in their order.

        Rows that stand for several records and go to several classes are split: hence blocks of their own.
        """
        offsets = np.cumsum([0, *(each.n_classes for each in final_classes)])
        kind = np.concatenate([each.kind for each in final_classes])
        count = np.concatenate([each.count for each in final_classes])
        owner = np.concatenate([each.owner + offset for each, offset in zip(final_classes, offsets, strict=False)])
        order = np.lexsort((owner, kind))
        row_kind, weights = self.kinds.row_kind, self.blocks.problem.table.weights
        kept = np.flatnonzero(row_kind >= 0)
        rows = kept[np.argsort(row_kind[kept], kind="stable")]
        owner, count = owner[order], count[order]
        if weights is None:
            result = np.full(len(row_kind), SUPPRESSED, dtype=np.int32)
            result[rows] = np.repeat(owner, count)
            return self.blocks, result
        ends = np.union1d(np.cumsum(weights[rows]), np.cumsum(count))
        row = rows[np.searchsorted(np.cumsum(weights[rows]), ends)]
        out = np.flatnonzero(row_kind < 0)
        entry = np.concatenate([row, out])
        parts = np.concatenate([np.diff(ends, prepend=0), weights[out]])
        classes = np.concatenate([owner[np.searchsorted(np.cumsum(count), ends)], np.full(len(out), SUPPRESSED)])
        back = np.argsort(entry, kind="stable")
        return self.blocks.with_split_rows(entry[back], parts[back]), classes[back].astype(np.int32)


@dataclass(frozen=True, eq=False)
class Branches:
    """The branches of a hierarchy: which child of a node a leaf lies under."""

    depth: NDArray[np.int64]  # steps from the root to each node
    at_depth: Codes
    """``at_depth[d, leaf]``: the node at depth ``d`` above the leaf, or the leaf itself where it is not as deep."""
    rank: NDArray[np.int64]  # index of each node among the children of its parent, in the order of their leaves

    @property
    def width(self) -> int:
        """How many children a node has at most."""
        return int(self.rank.max()) + 1

    def child(self, node: Codes, leaf: Codes) -> Codes:
        """The child of each inner node that each leaf lies under."""
        found: Codes = self.at_depth[self.depth[node] + 1, leaf]
        return found


def branches_of(hierarchy: Hierarchy) -> Branches:
    """Work out the branches of a hierarchy."""
    depth = np.zeros(len(hierarchy.labels), dtype=np.int64)
    above = hierarchy.parents.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, hierarchy.parents[above], -1)
    leaves = np.arange(hierarchy.n_leaves, dtype=np.int32)
    at_depth = np.repeat(leaves[None], int(depth.max()) + 1, axis=0)
    node = leaves.copy()
    while (node >= 0).any():
        alive = np.flatnonzero(node >= 0)
        at_depth[depth[node[alive]], alive] = node[alive]
        node[alive] = hierarchy.parents[node[alive]]
    order = np.lexsort((hierarchy.first, hierarchy.parents))
    siblings = hierarchy.parents[order]
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(siblings, siblings)
    return Branches(depth, at_depth, rank)


def summed(group: Indices, count: Counts, n: int) -> Counts:
    """The sum of the counts of each of ``n`` groups; exact, since counts are far below 2⁵³."""
    return np.bincount(group, weights=count, minlength=n).astype(np.int64)


def grouped(keys: Indices, count: Counts, space: int) -> tuple[Indices, Counts]:
    """The distinct keys in ascending order, each with the sum of its counts, all of them above zero."""
    if space <= max(_DENSE, 8 * len(keys)):
        sums = summed(keys, count, space)
        present = np.flatnonzero(sums)
        return present, sums[present]
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    return ranked[starts], np.add.reduceat(count[order], starts)


def record_space(blocks: Blocks, also_distinguish: Sequence[str] = ()) -> RecordSpace:
    """The kinds of the records that can be released.

    Records that differ in one of the sensitive columns ``also_distinguish`` are of different kinds as well.
    """
    table, read = blocks.problem.table, blocks.problem.sensitive_columns
    rows = np.flatnonzero(blocks.row_block >= 0)

    def packed(names: Sequence[str]) -> Indices:
        columns = [table.row_sensitive[name][rows] for name in names]
        return combine_codes(columns, [len(blocks.problem.domains[name].values) for name in names])[0]

    secret, first = np.zeros(len(rows), dtype=np.int64), np.zeros(1, dtype=np.int64)
    if read:
        _, first, secret = np.unique(packed(read), return_index=True, return_inverse=True)
    columns, radices = [table.row_tuple[rows], secret.astype(np.int32)], [table.n_tuples, len(first)]
    if others := [name for name in sorted(also_distinguish) if name not in read]:
        distinct, other = np.unique(packed(others), return_inverse=True)
        columns, radices = [*columns, other.astype(np.int32)], [*radices, len(distinct)]
    keys, _ = combine_codes(columns, radices)
    _, sample, kind, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if table.weights is not None:
        counts = np.bincount(kind, weights=table.weights[rows], minlength=len(sample))
    row_kind = np.full(table.n_entries, SUPPRESSED, dtype=np.int64)
    row_kind[rows] = kind
    kinds = RecordKinds(
        codes=np.ascontiguousarray(table.codes[:, table.row_tuple[rows[sample]]]),
        counts=counts.astype(np.int64),
        block=blocks.row_block[rows[sample]].astype(np.int64),
        secret=secret[sample],
        secret_values={name: table.row_sensitive[name][rows[first]] for name in read},
        n_secrets=len(first),
        row_kind=row_kind,
    )
    return RecordSpace(blocks, kinds)
