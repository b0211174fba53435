"""What algorithms that cut classes share: kinds of records, classes of them, and how often secrets occur in groups.

Records with equal quasi-identifier codes and equal sensitive values are of one kind, and a class is so many records of
each kind. All classes of a round are cut in the same NumPy passes. Kinds are in ascending order of their
codes, so nothing here depends on the order of the rows.

A *secret* is a combination of the sensitive values that the models read and, where people are counted, of the person
as well: all that they see of a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import ancestors
from shoal.search.conceal import Marks
from shoal.search.local.blocks import Blocks, Classes, Codes, Indices, cell_costs, cell_metric
from shoal.search.local.ranged_columns import RangedColumn
from shoal.table.classes import ClassStats, Counts, Floats, Histogram, Mask
from shoal.table.encoded import combine_codes
from shoal.table.people import PeopleRows, people_stats
from shoal.table.recoding import SUPPRESSED

_DENSE = 1 << 18
"""Keys are counted in an array of their space up to this size, or up to eight times their number; sorted otherwise."""


_FEW_VALUES = 256
"""Of columns with no more values, what every pair of smallest and largest value costs is listed."""


@dataclass(frozen=True, eq=False)
class RecordKinds:
    """The kinds of records that can be released."""

    codes: Codes  # ``codes[j, kind]``: leaf code of quasi-identifier ``j``
    counts: Counts
    block: Indices
    secret: Indices
    secret_values: Mapping[str, Codes]  # value of each secret in each sensitive column that a model reads
    secret_person: Codes | None  # who each secret is of, where people are counted
    n_secrets: int
    row_kind: Indices  # kind of each row, or `SUPPRESSED`


@dataclass(frozen=True, eq=False)
class Tally:
    """How many records of each item, a kind or a secret, ``n`` groups have; by group, then item, none of them zero.

    Tallied by kind, groups are classes of records; tallied by secret, they are all that the models see of them.
    """

    group: Indices
    item: Indices
    count: Counts
    n: int

    @cached_property
    def starts(self) -> Indices:
        """Where the items of each group begin."""
        return np.searchsorted(self.group, np.arange(self.n))

    @cached_property
    def sizes(self) -> Counts:
        """Records in each group."""
        return summed(self.group, self.count, self.n)

    def of(self, groups: Mask) -> Tally:
        """The tally of some of the groups, numbered anew."""
        chosen = groups[self.group]
        number = np.cumsum(groups) - 1
        return Tally(number[self.group[chosen]], self.item[chosen], self.count[chosen], int(groups.sum()))


@dataclass(frozen=True, eq=False)
class RecordSpace:
    """The kinds of a problem, and which groups of them satisfy."""

    blocks: Blocks
    kinds: RecordKinds

    @property
    def hierarchies(self) -> Sequence[Hierarchy]:
        """The hierarchy of each quasi-identifier."""
        return self.blocks.problem.hierarchies

    def child(self, j: int, node: Codes, leaf: Codes) -> Codes:
        """The child of each inner node of quasi-identifier ``j`` that each leaf lies under."""
        tree = self.hierarchies[j]
        return tree.levels[tree.node_levels[node] - 1, leaf]

    @cached_property
    def ranks(self) -> list[Indices]:
        """The index of each node of each hierarchy among the children of its parent, in the order of their leaves."""
        found = []
        for tree in self.hierarchies:
            order = np.lexsort((tree.first, tree.parents))
            siblings, rank = tree.parents[order], np.empty(len(order), dtype=np.int64)
            rank[order] = np.arange(len(order)) - np.searchsorted(siblings, siblings)
            found.append(rank)
        return found

    @cached_property
    def kind_marks(self) -> Marks:
        """Where the search conceals: the mark of each kind's quasi-identifiers."""
        veto, codes = self.blocks.problem.concealing, self.kinds.codes
        assert veto is not None, "marks are made by the key"
        begins = np.append(True, (codes[:, 1:] != codes[:, :-1]).any(axis=0))  # kinds of a tuple stand side by side
        marks: Marks = veto.marks(codes[:, begins])[np.cumsum(begins) - 1]
        return marks

    def start(self) -> Tally:
        """One class per block: where every partition starts."""
        order = np.argsort(self.kinds.block, kind="stable")
        return Tally(self.kinds.block[order], order, self.kinds.counts[order], self.blocks.n_blocks)

    def tally(self, group: Indices, secret: Indices, count: Counts, n: int) -> Tally:
        """Count secrets by group; a pair of group and secret may come several times."""
        keys, sums = grouped(group * self.kinds.n_secrets + secret, count, n * self.kinds.n_secrets)
        return Tally(keys // self.kinds.n_secrets, keys % self.kinds.n_secrets, sums, n)

    def holds(self, tally: Tally) -> Mask:
        """Which groups satisfy every model that can be tested on a class alone; each group has a record."""
        return self.blocks.holds(self.stats(tally))

    def stats(self, tally: Tally) -> ClassStats:
        """What models see of some groups, each of which has a record."""
        problem, person = self.blocks.problem, self.kinds.secret_person
        if person is not None:
            of_item = {name: codes[tally.item] for name, codes in self.kinds.secret_values.items()}
            rows = PeopleRows(tally.group, person[tally.item], of_item)
            return people_stats(rows, tally.sizes, problem.domains, self.blocks.reference)
        histograms = {}
        for name in problem.sensitive_columns:
            width = len(problem.domains[name].values)
            values = self.kinds.secret_values[name][tally.item]
            keys, sums = grouped(tally.group * width + values, tally.count, tally.n * width)
            starts = np.searchsorted(keys, np.arange(tally.n + 1, dtype=np.int64) * width)
            histograms[name] = Histogram(starts.astype(np.int64), (keys % width).astype(np.int32), sums)
        return ClassStats(tally.sizes, histograms, problem.domains, self.blocks.reference)

    def ranges(self, classes: Tally) -> tuple[Codes, Codes, Codes]:
        """Smallest and largest leaf code of each class in each quasi-identifier, and their lowest common ancestor."""
        low, high, nodes = np.empty((3, classes.n, len(self.hierarchies)), dtype=np.int32)
        for j, hierarchy in enumerate(self.hierarchies):
            codes = self.kinds.codes[j, classes.item]
            low[:, j] = np.minimum.reduceat(codes, classes.starts)
            high[:, j] = np.maximum.reduceat(codes, classes.starts)
            nodes[:, j] = ancestors(hierarchy, low[:, j], high[:, j])
        return low, high, nodes

    @cached_property
    def _costs(self) -> list[Callable[[Codes, Codes], Floats]]:
        """By column: what a record costs in a class with these smallest and largest leaf codes."""
        problem, ranged = self.blocks.problem, self.blocks.ranged
        metric, found = cell_metric(problem), list[Callable[[Codes, Codes], Floats]]()
        for j, (tree, costs) in enumerate(zip(problem.hierarchies, cell_costs(problem), strict=True)):
            if j in ranged:
                found.append(partial(_range_costs, ranged[j], metric.weight(tree)))
            elif tree.n_leaves <= _FEW_VALUES:
                low, high = (each.ravel() for each in np.indices((tree.n_leaves, tree.n_leaves), dtype=np.int32))
                pairs = costs[ancestors(tree, np.minimum(low, high), np.maximum(low, high))]
                found.append(partial(_listed_costs, pairs, tree.n_leaves))
            else:
                found.append(partial(_node_costs, tree, costs))
        return found

    def record_costs(self, low: Codes, high: Codes) -> Floats:
        """What a record of each class costs by the measure that is lowered, given ``low[column, class]`` and ``high``.

        What is released as a range costs its NCP.
        """
        result = np.zeros(low.shape[1])
        for j, costs in enumerate(self._costs):
            result += costs(low[j], high[j])
        return result

    def row_classes(self, final: Sequence[Tally]) -> tuple[Blocks, Classes]:
        """The class of each row, once every class is final; rows of one kind go to its classes in their order.

        Rows that stand for several records and go to several classes are split: hence blocks of their own.
        """
        offsets = np.cumsum([0, *(each.n for each in final)])
        kind = np.concatenate([each.item for each in final])
        count = np.concatenate([each.count for each in final])
        owner = np.concatenate([each.group + offset for each, offset in zip(final, offsets, strict=False)])
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
        problem = self.blocks.problem
        split = replace(problem, table=problem.table.parted(entry[back], parts[back]))
        return replace(self.blocks, problem=split), classes[back].astype(np.int32)


def _range_costs(column: RangedColumn, weight: float, low: Codes, high: Codes) -> Floats:
    return weight * column.losses(low, high)


def _listed_costs(costs: Floats, width: int, low: Codes, high: Codes) -> Floats:
    return np.asarray(costs[low * width + high])


def _node_costs(tree: Hierarchy, costs: Floats, low: Codes, high: Codes) -> Floats:
    return np.asarray(costs[ancestors(tree, low, high)])


def summed(group: Indices, count: Counts, n: int) -> Counts:
    """The sum of the counts of each of ``n`` groups; exact, since counts are far below 2⁵³."""
    return np.bincount(group, weights=count, minlength=n).astype(np.int64)


def grouped(keys: Indices, count: Counts, space: int) -> tuple[Indices, Counts]:
    """The distinct keys in ascending order, each with the sum of its counts, all of them above zero."""
    if space <= max(_DENSE, 8 * len(keys)):
        sums = summed(keys, count, space)
        present = np.flatnonzero(sums)
        return present, sums[present]
    distinct, number = np.unique(keys, return_inverse=True)
    sums = summed(number, count, len(distinct))
    return distinct[sums > 0], sums[sums > 0]


def record_space(blocks: Blocks, also_distinguish: Sequence[str] = ()) -> RecordSpace:
    """The kinds of the records that can be released.

    Records that differ in one of the sensitive columns ``also_distinguish`` are of different kinds as well.
    """
    table, read = blocks.problem.table, blocks.problem.sensitive_columns
    rows = np.flatnonzero(blocks.row_block >= 0)

    def packed(names: Sequence[str], person: Codes | None = None) -> Indices:
        columns = [table.row_sensitive[name][rows] for name in names]
        widths = [len(blocks.problem.domains[name].values) for name in names]
        if person is not None:
            columns, widths = [*columns, person[rows]], [*widths, int(person.max(initial=0)) + 1]
        return combine_codes(columns, widths)[0]

    secret, first = np.zeros(len(rows), dtype=np.int64), np.zeros(1, dtype=np.int64)
    if read or table.person is not None:
        _, first, secret = np.unique(packed(read, table.person), return_index=True, return_inverse=True)
    columns, radices = [table.row_tuple[rows], secret.astype(np.int32)], [table.n_tuples, len(first)]
    if others := [name for name in sorted(also_distinguish) if name not in read]:
        distinct, other = np.unique(packed(others), return_inverse=True)
        columns, radices = [*columns, other.astype(np.int32)], [*radices, len(distinct)]
    keys, _ = combine_codes(columns, radices)
    _, sample, kind, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if table.weights is not None:
        counts = np.bincount(kind, weights=table.weights[rows], minlength=len(sample))
    row_kind = np.full(table.row_tuple.size, SUPPRESSED, dtype=np.int64)
    row_kind[rows] = kind
    kinds = RecordKinds(
        codes=np.ascontiguousarray(table.codes[:, table.row_tuple[rows[sample]]]),
        counts=counts.astype(np.int64),
        block=blocks.row_block[rows[sample]].astype(np.int64),
        secret=secret[sample],
        secret_values={name: table.row_sensitive[name][rows[first]] for name in read},
        secret_person=None if table.person is None else table.person[rows[first]],
        n_secrets=len(first),
        row_kind=row_kind,
    )
    return RecordSpace(blocks, kinds)
