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
- An unknown value is none: it makes a record no more diverse, and is not counted towards p.
- Dispersed records go in canonical order, to the cluster of least ``IL(cl ∪ {X})`` as FindBestCluster has it: the loss
  of the whole cluster, not its growth.

Losses and diversities are compared over whole numbers, so that ties are ties. A class releases the lowest common
ancestor of its values (Def. 8), and each of its records loses, in each column, the height of the subtree under the
released value over the height of the hierarchy (Def. 10).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError, PolicyProblem, did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import ancestors
from shoal.models import Model
from shoal.models.comparison import exact
from shoal.search.evaluation import class_holds
from shoal.search.local.blocks import Blocks, Classes, Indices
from shoal.table.recoding import SUPPRESSED

Whole = NDArray[Any]  # whole numbers: int64, or Python's own where they could outgrow 64 bits
Nodes = NDArray[np.int32]

INT64_LIMIT = 2**62  # sums from here on are made in Python's own numbers


def faithful_clusters(blocks: Blocks, *, seed: int, weights: Mapping[str, float]) -> Classes:
    """The class of each row by GreedyCPKA, `SUPPRESSED` for those that are OUT.

    ``weights`` are those of the sensitive columns in the diversity (Def. 12); only their ratio matters, a column not
    named weighs nothing. Empty: inversely proportional to the number of distinct values, as the paper proposes.
    """
    table = blocks.problem.table
    names = sorted(table.row_sensitive)
    codes = np.array([table.row_sensitive[name] for name in names], dtype=np.int32).reshape(-1, table.n_rows)
    known = [blocks.problem.domains[name].known[each] for name, each in zip(names, codes, strict=True)]
    values = np.where(np.array(known, dtype=np.bool_).reshape(codes.shape), codes, -1)
    loss = InformationLoss.of(blocks.problem.hierarchies, table.n_rows)
    requirements = _Requirements(blocks, names)
    shares = _whole_weights(names, values, weights)
    random = Random(seed)  # noqa: S311 - a draw that must repeat, not a secret
    row_class = np.full(table.n_rows, SUPPRESSED, dtype=np.int32)
    done = found = 0
    person = [] if table.person is None else [table.person]
    order = np.lexsort([*person, *codes[::-1], table.row_tuple, blocks.row_block])  # tuples ascend by their codes
    starts = np.searchsorted(blocks.row_block[order], np.arange(blocks.n_blocks))
    for rows in np.split(order, starts)[1:]:
        block = _Block(requirements, loss, shares, rows, blocks.row_codes[rows].T, values[:, rows], done)
        for members in block.clusters(int(random.random() * len(rows))):
            row_class[rows[members]] = found
            found += 1
        done += len(rows)
    return row_class


def _whole_weights(names: Sequence[str], values: NDArray[np.int32], weights: Mapping[str, float]) -> Whole:
    """The weights of the sensitive columns times a common denominator."""
    problems, where = [], "algorithm.weights"
    for name in [name for name in weights if name not in names]:
        message, fix = "is not a sensitive column.", did_you_mean(name, names)
        problems.append(PolicyProblem(f"{where}.{name}", message, fix, code="not-a-sensitive-column"))
    for name, weight in weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            message = f"must be 0 or more, not {weight}."
            problems.append(PolicyProblem(f"{where}.{name}", message, code="weight-out-of-range"))
    if weights and not problems and not any(weights.values()):
        fix = "Give at least one sensitive column a weight above 0, or leave the weights out."
        problems.append(PolicyProblem(where, "every weight is 0.", fix, code="weights-all-zero"))
    if problems:
        raise PolicyError(problems)
    if weights:
        shares = [exact(weights.get(name, 0)) for name in names]
    else:
        shares = [Fraction(1, max(len(np.unique(column[column >= 0])), 1)) for column in values]
    common = math.lcm(*(share.denominator for share in shares))
    numbers = [int(share * common) for share in shares]
    return np.array(numbers, dtype=np.int64 if sum(numbers) < INT64_LIMIT else object)


class _Requirements:
    """What a cluster must satisfy: k records (or people), p distinct values of each sensitive column, others."""

    def __init__(self, blocks: Blocks, names: Sequence[str]) -> None:
        self.blocks, self.k, self._others, distinct = blocks, 1, list[Model](), dict.fromkeys(names, 0)
        self.records = int(np.count_nonzero(blocks.row_block >= 0))  # how many there are to cluster
        for model in blocks.class_models:
            if not model.only_counts or model.least_categories:
                self._others.append(model)
                continue
            self.k = max(self.k, model.least_records)
            if model.column is not None:
                distinct[model.column] = max(distinct[model.column], model.least_values)
        self.distinct = tuple(distinct.values())
        self.person = blocks.problem.table.person

    def others_hold(self, rows: Indices) -> bool:
        """Whether the models that are not a matter of counting hold in a class of some rows."""
        if not self._others:
            return True
        stats = self.blocks.stats(np.zeros(len(rows), dtype=np.int32), 1, rows)
        return bool(class_holds(self._others, stats)[0])


@dataclass(frozen=True, eq=False)
class _Block:
    """The records of one block in canonical order: everything below speaks of indices in it."""

    requirements: _Requirements
    loss: InformationLoss
    weights: Whole
    rows: Indices
    codes: NDArray[np.int32]  # ``codes[j, index]``: leaf code of quasi-identifier ``j``
    values: NDArray[np.int32]  # ``values[l, index]``: code of sensitive column ``l``; -1 where it is unknown
    before: int  # records of the blocks done before

    def clusters(self, drawn: int) -> list[list[int]]:
        """GreedyPKClustering, from the record that was drawn."""
        codes, clustered = [column.astype(np.intp) for column in self.codes], np.zeros(len(self.rows), dtype=np.bool_)
        remaining = _Remaining(np.arange(len(self.rows)), codes, list(self.values), clustered, len(self.rows))
        seed, members, nodes = drawn, list[list[int]](), list[Nodes]()
        while remaining.count:
            index = int(np.argmax(self._diversity(seed, remaining)))
            seed = int(remaining.indices[index])
            cluster = _Cluster(self, remaining)
            cluster.grow(index)
            done = self.before + len(self.rows) - remaining.count
            self.requirements.blocks.problem.progress("clustering", done / self.requirements.records)
            remaining = remaining.compacted()
            if cluster.size >= self.requirements.k and cluster.sensitive():
                members.append(cluster.members)
                nodes.append(cluster.nodes)
            else:  # only the last cluster can be incomplete: it grew until nothing was left
                self._disperse(cluster.members, members, np.array(nodes, dtype=np.int32))
        return members

    def _disperse(self, records: Sequence[int], members: list[list[int]], nodes: Nodes) -> None:
        """DisperseCluster. Then merge each cluster that fails with the one that adds least loss, until all hold."""
        assert members, "a block that satisfies as a whole has at least one cluster that does"
        sizes, loss = np.array([len(each) for each in members], dtype=np.int64), self.loss
        for record in sorted(records):
            joined, lost = loss.joined(nodes, self.codes[:, record])
            best = int(np.argmin(lost * (sizes + 1)))
            members[best].append(record)
            sizes[best] += 1
            nodes[best] = joined[best]
        held = [self.requirements.others_hold(self.rows[each]) for each in members]
        while False in held:
            one = held.index(False)
            joined, lost = loss.joined(nodes, nodes[one])
            growth = lost * (sizes + sizes[one]) - loss.of_nodes(nodes) * sizes
            growth[one] = growth.max() + 1
            other = int(np.argmin(growth))
            kept, gone = sorted((one, other))
            nodes[kept] = joined[other]
            sizes[kept] += sizes[gone]
            members[kept] += members.pop(gone)
            nodes, sizes = np.delete(nodes, gone, axis=0), np.delete(sizes, gone)
            del held[gone]
            held[kept] = self.requirements.others_hold(self.rows[members[kept]])

    def _diversity(self, record: int, remaining: _Remaining) -> Whole:
        """Def. 12 between a record and those remaining, times the common denominator of the weights."""
        total = np.zeros(len(remaining.indices), dtype=self.weights.dtype)
        for column, value, weight in zip(remaining.values, self.values[:, record], self.weights, strict=True):
            total += np.multiply((column != value) & (column >= 0), weight, dtype=total.dtype)
        total[remaining.clustered] = -1
        return total


@dataclass(eq=False)
class _Remaining:
    """The records of a block that are in no cluster yet; clustered ones stay here, marked, until they are many."""

    indices: Indices
    codes: Sequence[NDArray[np.intp]]
    values: Sequence[NDArray[np.int32]]
    clustered: NDArray[np.bool_]
    count: int  # how many are in no cluster

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
        self._diversity = np.zeros(len(remaining.indices), dtype=block.weights.dtype)  # Def. 13
        for column, weight in zip(remaining.values, block.weights, strict=True):
            self._diversity += np.multiply(column >= 0, weight, dtype=self._diversity.dtype)
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
            while self._remaining.count and self.size < self._block.requirements.k:
                self._add(int(np.argmin(self._lost)))
            if not self._remaining.count or self.sensitive():
                return

    @property
    def size(self) -> int:
        """How many records it has, or people where people are counted."""
        person = self._block.requirements.person
        return len(self.members) if person is None else len(np.unique(person[self._block.rows[self.members]]))

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
            if value >= 0 and value not in seen:
                seen.add(value)
                self._diversity -= np.multiply(column == value, weight, dtype=self._diversity.dtype)
        self.members.append(int(self._remaining.indices[index]))
        self._remaining.clustered[index] = True
        self._remaining.count -= 1
        self._lost[index] += loss.beyond
        self._diversity[index] = -1


@dataclass(frozen=True, eq=False)
class InformationLoss:
    """The height of the subtree under each node over that of its tree, times a common denominator."""

    hierarchies: tuple[Hierarchy, ...]
    heights: tuple[Whole, ...]
    beyond: int  # more than any record can lose

    @classmethod
    def of(cls, hierarchies: tuple[Hierarchy, ...], records: int) -> InformationLoss:
        """The loss in these hierarchies, for a table of so many records."""
        tops = [max(int(tree.subtree_heights[tree.root]), 1) for tree in hierarchies]
        common = math.lcm(*tops)
        beyond = common * len(tops) + 1
        kind = np.int64 if 2 * beyond * (records + 1) < INT64_LIMIT else object
        pairs = zip(hierarchies, tops, strict=True)
        return cls(
            hierarchies, tuple(tree.subtree_heights.astype(kind) * (common // top) for tree, top in pairs), beyond
        )

    def zeros(self, length: int) -> Whole:
        """No loss yet, for each of some records, leaves or classes."""
        return np.zeros(length, dtype=self.heights[0].dtype if self.heights else np.int64)

    def joining(self, j: int, node: int) -> Whole:
        """What a class that releases a node would lose in a column if each leaf joined it."""
        tree, result = self.hierarchies[j], self.zeros(self.hierarchies[j].n_leaves)
        for above in reversed(tree.path(node)):
            result[tree.first[above] : tree.last[above] + 1] = self.heights[j][above]
        return result

    def joined(self, nodes: Nodes, one: Nodes) -> tuple[Nodes, Whole]:
        """The nodes of each class joined with one more, and what each of their records would lose."""
        result, lost = np.empty_like(nodes), self.zeros(len(nodes))
        for j, tree in enumerate(self.hierarchies):
            first = np.minimum(tree.first[nodes[:, j]], tree.first[one[j]])
            result[:, j] = ancestors(tree, first, np.maximum(tree.last[nodes[:, j]], tree.last[one[j]]))
            lost += self.heights[j][result[:, j]]
        return result, lost

    def of_nodes(self, nodes: Nodes) -> Whole:
        """What each record of each class loses."""
        lost = self.zeros(len(nodes))
        for j, heights in enumerate(self.heights):
            lost += heights[nodes[:, j]]
        return lost
