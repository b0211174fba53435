"""Campan's GreedyCPKA to the letter: every block split by GreedyPKClustering (2010, section 3).

A cluster starts at one of the records most diverse to the start of the cluster before, takes the most diverse records
of least information loss until it is p-sensitive, then those of least loss until it has k. Records that no longer make
a cluster go one by one where they cost least. O(n²), and the reference that faster clusterings are measured by.

Where the pseudocode leaves a choice:

- "One tuple from" is the first in the canonical order: by quasi-identifier codes in column order, then by the codes of
  the sensitive columns in the order of their names. Records equal in all of these are interchangeable.
- The first record of each block is drawn at random, one draw per block in block order: the one at index
  ``int(random() * size)`` in canonical order, from ``random.Random(seed)``. A run repeats, whatever the order of rows.
- A cluster of one record is 1-sensitive: with p = 1 the first phase adds nothing, and the rest is GreedyCKA. For p ≥ 2
  testing before the first record is added or after it (repeat … until) is the same.
- "p-sensitive" stands for every model that can be tested on a class, but k-anonymity. Where adding records up to k
  breaks one of them (a limit on a share), the first phase goes on; what dispersed records break is mended by merging
  the cluster with the one of its block that adds least loss, at the latest to the whole block, which satisfies.
- Dispersed records go in canonical order, to the cluster of least ``IL(cl ∪ {X})`` as FindBestCluster has it: the loss
  of the whole cluster, not its growth.

Losses and diversities are compared over whole numbers, so that ties are ties.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.models import Model
from shoal.models.comparison import exact
from shoal.search.local.blocks import Blocks, Classes, Rows
from shoal.search.local.information_loss import INT64_LIMIT, InformationLoss, Nodes, Whole
from shoal.table.recoding import SUPPRESSED


def faithful_clusters(blocks: Blocks, *, seed: int, weights: Mapping[str, float]) -> Classes:
    """The class of each row by GreedyCPKA, `SUPPRESSED` for those that are OUT.

    ``weights`` are those of the sensitive columns in the diversity (Def. 12); only their ratio matters, a column not
    named weighs nothing. Empty: inversely proportional to the number of distinct values, as the paper proposes.
    """
    table = blocks.problem.table
    names = sorted(table.row_sensitive)
    values = np.array([table.row_sensitive[name] for name in names], dtype=np.int32).reshape(-1, table.n_rows)
    loss = InformationLoss.of(blocks.problem.hierarchies, table.n_rows)
    requirements = _Requirements.of(blocks, names)
    shares = _whole_weights(names, values, weights)
    random = Random(seed)  # noqa: S311 - a draw that must repeat, not a secret
    row_class = np.full(table.n_rows, SUPPRESSED, dtype=np.int32)
    done = found = 0
    for rows in _blocks(blocks, values):
        block = _Block(requirements, loss, shares, rows, blocks.row_codes[rows].T, values[:, rows], done)
        for members in block.clusters(int(random.random() * len(rows))):
            row_class[rows[members]] = found
            found += 1
        done += len(rows)
    return row_class


def _blocks(blocks: Blocks, values: NDArray[np.int32]) -> list[Rows]:
    """The rows of each block in canonical order; tuples are numbered in ascending order of their codes."""
    order = np.lexsort([*values[::-1], blocks.problem.table.row_tuple, blocks.row_block])
    starts = np.searchsorted(blocks.row_block[order], np.arange(blocks.n_blocks))
    return np.split(order, starts)[1:]


def _whole_weights(names: Sequence[str], values: NDArray[np.int32], given: Mapping[str, float]) -> Whole:
    """The weights of the sensitive columns times a common denominator."""
    problems, where = [], "algorithm.weights"
    for name in [name for name in given if name not in names]:
        message, fix = "is not a sensitive column.", did_you_mean(name, names)
        problems.append(PolicyProblem(f"{where}.{name}", message, fix, code="not-a-sensitive-column"))
    for name, weight in given.items():
        if not (math.isfinite(weight) and weight >= 0):
            message = f"must be 0 or more, not {weight}."
            problems.append(PolicyProblem(f"{where}.{name}", message, code="weight-out-of-range"))
    if given and not problems and not any(given.values()):
        fix = "Give at least one sensitive column a weight above 0, or leave the weights out."
        problems.append(PolicyProblem(where, "every weight is 0.", fix, code="weights-all-zero"))
    if problems:
        raise PolicyError(problems)
    if given:
        shares = [exact(given.get(name, 0)) for name in names]
    else:
        shares = [Fraction(1, max(len(np.unique(column)), 1)) for column in values]
    common = math.lcm(*(share.denominator for share in shares))
    numbers = [int(share * common) for share in shares]
    return np.array(numbers, dtype=np.int64 if sum(numbers) < INT64_LIMIT else object)


@dataclass(frozen=True, eq=False)
class _Requirements:
    """What a cluster must satisfy: k records, p distinct values of each sensitive column, and the other models."""

    blocks: Blocks
    k: int
    distinct: tuple[int, ...]
    others: tuple[Model, ...]
    records: int  # how many there are to cluster

    @classmethod
    def of(cls, blocks: Blocks, names: Sequence[str]) -> _Requirements:
        k, distinct, others = 1, dict.fromkeys(names, 1), []
        for model in blocks.class_models:
            if not model.only_counts or model.least_categories:
                others.append(model)
                continue
            k = max(k, model.least_records)
            if model.column is not None:
                distinct[model.column] = max(distinct[model.column], model.least_values)
        return cls(blocks, k, tuple(distinct.values()), tuple(others), int(np.count_nonzero(blocks.row_block >= 0)))

    def others_hold(self, rows: Rows) -> bool:
        """Whether the models that are not a matter of counting hold in a class of some rows."""
        if not self.others:
            return True
        stats = self.blocks.stats(np.zeros(len(rows), dtype=np.int32), 1, rows)
        return all(bool(model.holds(stats.view(model.column))[0]) for model in self.others)


@dataclass(frozen=True, eq=False)
class _Block:
    """The records of one block in canonical order: everything below speaks of indices in it."""

    requirements: _Requirements
    loss: InformationLoss
    weights: Whole
    rows: Rows
    codes: NDArray[np.int32]  # ``codes[j, index]``: leaf code of quasi-identifier ``j``
    values: NDArray[np.int32]  # ``values[l, index]``: code of sensitive column ``l``
    before: int  # records of the blocks done before

    def clusters(self, drawn: int) -> list[list[int]]:
        """GreedyPKClustering, from the record that was drawn."""
        remaining, seed, members, nodes = _Remaining.of(self), drawn, list[list[int]](), list[Nodes]()
        while remaining.count:
            index = int(np.argmax(self._diversity(seed, remaining)))
            seed = int(remaining.indices[index])
            cluster = _Cluster(self, remaining)
            cluster.grow(index)
            done = self.before + len(self.rows) - remaining.count
            self.requirements.blocks.problem.progress("clustering", done / self.requirements.records)
            remaining = remaining.compacted()
            if len(cluster.members) >= self.requirements.k and cluster.sensitive():
                members.append(cluster.members)
                nodes.append(cluster.nodes)
            else:  # only the last cluster can be incomplete: it grew until nothing was left
                return _Partition(self, members, nodes).with_dispersed(cluster.members)
        return members

    def _diversity(self, record: int, remaining: _Remaining) -> Whole:
        """Def. 12 between a record and those remaining, times the common denominator of the weights."""
        total = np.zeros(len(remaining.indices), dtype=self.weights.dtype)
        for column, value, weight in zip(remaining.values, self.values[:, record], self.weights, strict=True):
            total += np.multiply(column != value, weight, dtype=total.dtype)
        total[remaining.clustered] = -1
        return total


@dataclass(eq=False)
class _Remaining:
    """The records of a block that are in no cluster yet; clustered ones stay here, marked, until they are many."""

    indices: Rows
    codes: Sequence[NDArray[np.intp]]
    values: Sequence[NDArray[np.int32]]
    clustered: NDArray[np.bool_]
    count: int  # how many are in no cluster

    @classmethod
    def of(cls, block: _Block) -> _Remaining:
        size = len(block.rows)
        codes = [column.astype(np.intp) for column in block.codes]
        return cls(np.arange(size), codes, list(block.values), np.zeros(size, dtype=np.bool_), size)

    def compacted(self) -> _Remaining:
        """The same records, without the clustered ones if they are more than a fifth."""
        if 5 * self.count > 4 * len(self.indices):
            return self
        kept = np.flatnonzero(~self.clustered)
        codes, values = [column[kept] for column in self.codes], [column[kept] for column in self.values]
        return _Remaining(self.indices[kept], codes, values, np.zeros(len(kept), dtype=np.bool_), len(kept))


class _Cluster:
    """One cluster while it grows, and what each of the records left would bring to it and cost it."""

    def __init__(self, block: _Block, remaining: _Remaining) -> None:
        self.members: list[int] = []
        self.nodes = np.full(len(block.codes), -1, dtype=np.int32)
        self._block, self._remaining = block, remaining
        self._seen: list[set[int]] = [set() for _ in block.values]
        self._diversity = np.full(len(remaining.indices), block.weights.sum(), dtype=block.weights.dtype)  # Def. 13
        self._diversity[remaining.clustered] = -1
        self._lost = block.loss.zeros(len(remaining.indices))
        self._lost[remaining.clustered] = block.loss.beyond
        self._tables: list[Whole] = [block.loss.zeros(tree.n_leaves) for tree in block.loss.hierarchies]

    def grow(self, seed: int) -> None:
        """Grow from a record until every model holds, or nothing is remaining."""
        self._add(seed)
        while True:
            while self._remaining.count and not self.sensitive():
                most_diverse = np.flatnonzero(self._diversity == self._diversity.max())
                self._add(int(most_diverse[np.argmin(self._lost[most_diverse])]))
            while self._remaining.count and len(self.members) < self._block.requirements.k:
                self._add(int(np.argmin(self._lost)))
            if not self._remaining.count or self.sensitive():
                return

    def sensitive(self) -> bool:
        """Whether every model but k-anonymity holds."""
        requirements = self._block.requirements
        counted = all(len(seen) >= p for seen, p in zip(self._seen, requirements.distinct, strict=True))
        return counted and requirements.others_hold(self._block.rows[self.members])

    def _add(self, index: int) -> None:
        """Add one of the remaining records; the cluster's size is the same for all, so losses per record compare."""
        loss = self._block.loss
        for j, tree in enumerate(loss.hierarchies):
            code = int(self._remaining.codes[j][index])
            node = code if self.nodes[j] < 0 else int(self.nodes[j])
            while not tree.covers(node, code):
                node = int(tree.parents[node])
            if node != self.nodes[j]:
                table = loss.joining(j, node)
                self._lost += np.take(table - self._tables[j], self._remaining.codes[j])
                self.nodes[j], self._tables[j] = node, table
        for seen, column, weight in zip(self._seen, self._remaining.values, self._block.weights, strict=True):
            value = int(column[index])
            if value not in seen:
                seen.add(value)
                self._diversity -= np.multiply(column == value, weight, dtype=self._diversity.dtype)
        self.members.append(int(self._remaining.indices[index]))
        self._remaining.clustered[index] = True
        self._remaining.count -= 1
        self._lost[index] += loss.beyond
        self._diversity[index] = -1


class _Partition:
    """The finished clusters of a block, while the records of the last one are dispersed among them."""

    def __init__(self, block: _Block, members: list[list[int]], nodes: Sequence[Nodes]) -> None:
        assert members, "a block that satisfies as a whole has at least one cluster that does"
        self._block, self._members = block, members
        self._sizes = np.array([len(each) for each in members], dtype=np.int64)
        self._nodes = np.array(nodes, dtype=np.int32)

    def with_dispersed(self, records: Sequence[int]) -> list[list[int]]:
        """DisperseCluster, then mend what it broke."""
        for record in sorted(records):
            joined, lost = self._block.loss.joined(self._nodes, self._block.codes[:, record])
            best = int(np.argmin(lost * (self._sizes + 1)))
            self._members[best].append(record)
            self._sizes[best] += 1
            self._nodes[best] = joined[best]
        if self._block.requirements.others:
            self._mend()
        return self._members

    def _mend(self) -> None:
        """Merge each cluster that fails with the one that adds least loss, the first of such, until all hold."""
        held = [self._holds(index) for index in range(len(self._members))]
        while False in held:
            one = held.index(False)
            kept, gone = sorted((one, self._cheapest(one)))
            self._nodes[kept] = self._block.loss.joined(self._nodes[[kept]], self._nodes[gone])[0][0]
            self._sizes[kept] += self._sizes[gone]
            self._members[kept] += self._members.pop(gone)
            self._nodes, self._sizes = np.delete(self._nodes, gone, axis=0), np.delete(self._sizes, gone)
            del held[gone]
            held[kept] = self._holds(kept)

    def _holds(self, index: int) -> bool:
        return self._block.requirements.others_hold(self._block.rows[self._members[index]])

    def _cheapest(self, one: int) -> int:
        """The cluster whose union with one adds least to the information loss."""
        sizes, loss = self._sizes, self._block.loss
        _, lost = loss.joined(self._nodes, self._nodes[one])
        growth = lost * (sizes + sizes[one]) - loss.of_nodes(self._nodes) * sizes
        growth[one] = growth.max() + 1
        return int(np.argmin(growth))
