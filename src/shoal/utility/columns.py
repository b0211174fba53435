"""Released columns as stretches of values, and the numbers that a model reads from them.

The values of a column are numbered; a cell is the first and the last value that it may be. The cell of an original
record is one value; a generalized one is all values under its node, which in every hierarchy are neighbours.

A model reads the expectation over all values that a cell may be. A column of categories becomes one indicator per
value, and a generalized cell the share that each value has among those under it: 1/2 and 1/2 for America, which is USA
or Canada. A column of numbers (or dates, or values in an order) becomes one number, and a generalized cell the mean of
the values under it; where values are missing, a second number is the share of the missing one. So a generalized
training record and an ungeneralized test record lie in the same space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.encode.resolve import Resolved
from shoal.encode.result import Result
from shoal.hierarchies import Hierarchy, Label
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.hierarchies.ranges import RangedHierarchy, with_runs
from shoal.io import encode
from shoal.policy import Policy
from shoal.table.classes import Counts, Floats


@dataclass(frozen=True, eq=False)
class Domain:
    """The values that a released column may have."""

    name: str
    labels: tuple[Label, ...]  # the values; ``None`` is the missing one
    kind: str  # ``numbers``, ``dates``, ``ordered`` or ``categories``
    numbers: Floats | None = None  # where each value lies: the number, or its position in the order; NaN where missing
    hierarchy: Hierarchy | None = None  # the tree above the values; None for a column that is not generalized

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """A column of some records."""

    domain: Domain
    first: Counts  # the first value that each cell may be
    last: Counts  # the last one, which may be the same

    def take(self, rows: Counts) -> ValueColumn:
        """The column of some of the records."""
        return ValueColumn(self.domain, self.first[rows], self.last[rows])


def original_columns(policy: Policy, table: pa.Table, resolved: Resolved) -> dict[str, ValueColumn]:
    """The released columns of the original records, in the order of the policy: every cell is one value."""
    columns = {}
    for name, spec in policy.columns.items():
        if spec.role in {"identifier", "pseudonym"}:
            continue
        kind = spec.hierarchy.kinds[0] if spec.hierarchy is not None else None
        if name in resolved.quasi:
            tree, found = resolved.quasi[name].hierarchy, resolved.quasi[name].codes
            domain = _domain(name, tree.labels[: tree.n_leaves], kind, tree)
        elif name in resolved.sensitive:
            secret, found = resolved.sensitive[name].domain, resolved.sensitive[name].codes
            domain = _domain(name, secret.values, "order" if secret.ordered and kind is None else kind, None)
        else:
            labels, found = encode(table.column(name))
            domain = _domain(name, tuple(labels), None, None)
        codes = found.astype(np.int64)
        columns[name] = ValueColumn(domain, codes, codes)
    return columns


def released_columns(originals: Mapping[str, ValueColumn], table: pa.Table, result: Result) -> dict[str, ValueColumn]:
    """The same columns as they are released, of the records that are; values are numbered as in ``originals``.

    ``table`` and its ``result`` may be of some of the records only. A label of theirs then covers all the values that
    it names, also those that only the other records have.
    """
    resolved, recoding = result.resolved.of_records(result.rows), result.record_recoding
    kept = np.flatnonzero(recoding.row_class >= 0)
    columns = {}
    for name, original in originals.items():
        domain = original.domain
        if name in resolved.quasi:
            j = recoding.quasi.index(name)
            ends = _ends(domain, recoding.hierarchies[j])
            nodes = recoding.nodes[recoding.row_class[kept], j]
            columns[name] = ValueColumn(domain, ends[0][nodes], ends[1][nodes])
            continue
        if name in resolved.sensitive:
            values, codes = resolved.sensitive[name].domain.values, resolved.sensitive[name].codes
        else:
            found, codes = encode(table.column(name))
            values = tuple(found)
        code = {label: index for index, label in enumerate(domain.labels)}
        cells = np.array([code[value] for value in values], dtype=np.int64)[codes[kept]]
        columns[name] = ValueColumn(domain, cells, cells)
    return columns


def _domain(name: str, labels: tuple[Label, ...], kind: str | None, hierarchy: Hierarchy | None) -> Domain:
    """Numbers are numbers however they are grouped, except for codes that are masked."""
    parsed = [None if label is None else parse_decimal(label) for label in labels]
    present = [number for number, label in zip(parsed, labels, strict=True) if label is not None]
    if present and None not in present and kind not in {"mask", "dates"}:
        numbers = np.array([np.nan if number is None else float(number) for number in parsed])
        return Domain(name, labels, "numbers", numbers, hierarchy)
    if kind in {"dates", "order"}:
        positions = np.array([np.nan if label is None else float(position) for position, label in enumerate(labels)])
        return Domain(name, labels, "dates" if kind == "dates" else "ordered", positions, hierarchy)
    return Domain(name, labels, "categories", None, hierarchy)


def _ends(domain: Domain, released: Hierarchy) -> tuple[Counts, Counts]:
    """The first and last value of the domain under each node of a hierarchy over some of its values.

    A label names the same node in both. A label that only the release has is a range between two of its values, or a
    run of base intervals.
    """
    assert domain.hierarchy is not None, "only quasi-identifiers are generalized"
    whole, known = domain.hierarchy, domain.hierarchy.by_label
    code = {label: index for index, label in enumerate(domain.labels)}
    first, last = np.zeros((2, len(released.labels)), dtype=np.int64)
    if isinstance(released, RangedHierarchy) and released.base is not None:
        runs = {label: run for label in released.labels if (run := released.base.read(label or "")) is not None}
        whole, node_of = with_runs(whole, released.base, list(runs.values()), f"columns.{domain.name}.hierarchy")
        known = {**{label: node_of[run] for label, run in runs.items()}, **known}
    for node, label in enumerate(released.labels):
        if label in known:
            first[node], last[node] = whole.first[known[label]], whole.last[known[label]]
        else:
            low, high = released.labels[released.first[node]], released.labels[released.last[node]]
            first[node], last[node] = code[low], code[high]
    return first, last


MOST_INDICATORS = 64  # a column of more categories has an indicator per group of them, to keep the width in bounds


@dataclass(frozen=True, eq=False)
class Layout:
    """How one column becomes numbers."""

    domain: Domain
    values: Floats  # of each single value: indicators, or the number (0 where missing) and whether it is missing
    words: str  # the same for a reader

    def cells(self, column: ValueColumn) -> Floats:
        """The numbers of each cell, one row per record: means over the values that it may be.

        Of numbers it is the mean of those present; a cell that can only be missing gets the middle of all values.
        """
        size, numbers = np.int64(self.domain.size), self.domain.numbers
        distinct, inverse = np.unique(column.first * size + column.last, return_inverse=True)
        first, last = np.divmod(distinct, size)
        sums = np.vstack([np.zeros(self.values.shape[1]), np.cumsum(self.values, axis=0)])
        means = (sums[last + 1] - sums[first]) / (last - first + 1)[:, None]
        means[first == last] = self.values[first[first == last]]  # free of the rounding of sums
        if numbers is not None and np.isnan(numbers).any():
            present = 1.0 - means[:, 1]
            middle = float(np.nanmean(numbers))
            means[:, 0] = np.where(present > 0, means[:, 0] / np.where(present > 0, present, 1.0), middle)
        return np.asarray(means[inverse])


def layout_of(column: ValueColumn) -> Layout:
    """How a column becomes numbers; ``column`` has the original training records, whose commonest values count."""
    domain, size = column.domain, column.domain.size
    if domain.numbers is not None:
        words = {"numbers": "a number", "dates": "its place in time", "ordered": "its place in the order"}[domain.kind]
        missing = np.isnan(domain.numbers)
        if not missing.any():
            return Layout(domain, domain.numbers[:, None], words)
        values = np.column_stack([np.where(missing, 0.0, domain.numbers), missing])
        return Layout(domain, values, f"{words} and whether it is missing")
    if size <= MOST_INDICATORS:
        return Layout(domain, np.eye(size), f"{size} categories")
    for level, nodes in enumerate(domain.hierarchy.levels if domain.hierarchy is not None else ()):
        distinct, group_of = np.unique(nodes, return_inverse=True)
        if 1 < len(distinct) <= MOST_INDICATORS:  # the finest level that has few enough groups
            words = f"{len(distinct)} groups of {size} values (level {level} of the hierarchy)"
            return Layout(domain, np.eye(len(distinct))[group_of], words)
    counts = np.bincount(column.first, minlength=size)  # else one indicator for all but the commonest values
    chosen = np.lexsort([np.arange(size), -counts])[: MOST_INDICATORS - 1]
    group_of = np.full(size, MOST_INDICATORS - 1, dtype=np.int64)
    group_of[chosen] = np.arange(len(chosen))
    words = f"the {len(chosen)} commonest of {size} categories, and all others"
    return Layout(domain, np.eye(MOST_INDICATORS)[group_of], words)
