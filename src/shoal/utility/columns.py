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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.resolve import Resolved
from shoal.hierarchies import Hierarchy, Label
from shoal.hierarchies.labels import parse_decimal
from shoal.io import encode
from shoal.policy import Policy
from shoal.policy.spec import ColumnSpec
from shoal.table.recoding import Recoding

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EncodedRecords:
    """A table, encoded, and its recoding."""

    table: pa.Table
    resolved: Resolved
    recoding: Recoding


Anonymize = Callable[[pa.Table], EncodedRecords]
"""Anonymizes some of the records under the same policy."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The values that a released column may have."""

    name: str
    labels: tuple[Label, ...]
    """The values; ``None`` is the missing one."""
    kind: str
    """``numbers``, ``dates``, ``ordered`` or ``categories``."""
    numbers: Floats | None = None
    """Where each value lies on a line - the number itself, or its place in the order; NaN where it is missing."""
    hierarchy: Hierarchy | None = None
    """The tree above the values; None for a column that is not generalized."""

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """A column of some records."""

    domain: Domain
    first: Codes
    """The first value that each cell may be."""
    last: Codes
    """The last one, which may be the same."""

    def take(self, rows: Rows) -> ValueColumn:
        """The column of some of the records."""
        return ValueColumn(self.domain, self.first[rows], self.last[rows])


def original_columns(policy: Policy, table: pa.Table, resolved: Resolved) -> dict[str, ValueColumn]:
    """The released columns of the original records, in the order of the policy: every cell is one value."""
    columns = {}
    for name, spec in policy.columns.items():
        if spec.role == "identifier":
            continue
        domain, codes = _original(name, spec, table, resolved)
        columns[name] = ValueColumn(domain, codes, codes)
    return columns


def released_columns(
    originals: Mapping[str, ValueColumn], table: pa.Table, resolved: Resolved, recoding: Recoding
) -> dict[str, ValueColumn]:
    """The same columns as they are released, of the records that are; values are numbered as in ``originals``.

    ``table``, ``resolved`` and ``recoding`` may be of some of the records only. A label of theirs then covers all the
    values that it names, also those that only the other records have.
    """
    kept = np.flatnonzero(recoding.row_class >= 0)
    columns = {}
    for name, original in originals.items():
        domain = original.domain
        if name in resolved.quasi:
            place = recoding.quasi.index(name)
            ends = _ends(domain, recoding.hierarchies[place])
            nodes = recoding.nodes[recoding.row_class[kept], place]
            columns[name] = ValueColumn(domain, ends[0][nodes], ends[1][nodes])
            continue
        if name in resolved.sensitive:
            values, codes = resolved.sensitive[name].domain.values, resolved.sensitive[name].codes
        else:
            found, codes = encode(table.column(name))
            values = tuple(found)
        cells = _codes_of(domain, values)[codes[kept]]
        columns[name] = ValueColumn(domain, cells, cells)
    return columns


def _original(name: str, spec: ColumnSpec, table: pa.Table, resolved: Resolved) -> tuple[Domain, Codes]:
    kind = spec.hierarchy.kinds[0] if spec.hierarchy is not None else None
    if name in resolved.quasi:
        column = resolved.quasi[name]
        tree = column.hierarchy
        return _domain(name, tree.labels[: tree.n_leaves], kind, tree), column.codes.astype(np.int64)
    if name in resolved.sensitive:
        secret = resolved.sensitive[name]
        ordered = "order" if secret.domain.ordered and kind is None else kind
        return _domain(name, secret.domain.values, ordered, None), secret.codes.astype(np.int64)
    labels, codes = encode(table.column(name))
    return _domain(name, tuple(labels), None, None), codes.astype(np.int64)


def _domain(name: str, labels: tuple[Label, ...], kind: str | None, hierarchy: Hierarchy | None) -> Domain:
    """Numbers are numbers however they are grouped, except for codes that are masked."""
    parsed = [None if label is None else parse_decimal(label) for label in labels]
    present = [number for number, label in zip(parsed, labels, strict=True) if label is not None]
    if present and None not in present and kind not in {"mask", "dates"}:
        numbers = np.array([np.nan if number is None else float(number) for number in parsed])
        return Domain(name, labels, "numbers", numbers, hierarchy)
    if kind in {"dates", "order"}:
        places = np.array([np.nan if label is None else float(place) for place, label in enumerate(labels)])
        return Domain(name, labels, "dates" if kind == "dates" else "ordered", places, hierarchy)
    return Domain(name, labels, "categories", None, hierarchy)


def _codes_of(domain: Domain, values: Sequence[Label]) -> Codes:
    code = {label: place for place, label in enumerate(domain.labels)}
    return np.array([code[value] for value in values], dtype=np.int64)


def _ends(domain: Domain, released: Hierarchy) -> tuple[Codes, Codes]:
    """The first and last value of the domain under each node of a hierarchy over some of its values.

    A label names the same node in both. A label that only the release has is a range between two of its values.
    """
    assert domain.hierarchy is not None, "only quasi-identifiers are generalized"
    whole, known = domain.hierarchy, domain.hierarchy.by_label
    code = {label: place for place, label in enumerate(domain.labels)}
    first, last = np.zeros((2, len(released.labels)), dtype=np.int64)
    for node, label in enumerate(released.labels):
        if label in known:
            first[node], last[node] = whole.first[known[label]], whole.last[known[label]]
        else:
            low, high = released.labels[released.first[node]], released.labels[released.last[node]]
            first[node], last[node] = code[low], code[high]
    return first, last


MOST_INDICATORS = 64
"""A column of more categories has an indicator a group of them, so that the width of the table stays in bounds."""


@dataclass(frozen=True, eq=False)
class Layout:
    """How one column becomes numbers."""

    domain: Domain
    group_of: NDArray[np.int64] | None
    """For categories, the indicator that each value counts for; None for numbers."""
    words: str
    """The same for a reader."""

    def cells(self, column: ValueColumn) -> Floats:
        """The numbers of each cell, one row a record."""
        size = np.int64(self.domain.size)
        distinct, inverse = np.unique(column.first * size + column.last, return_inverse=True)
        first, last = np.divmod(distinct, size)
        width = (last - first + 1)[:, None]
        table = self._values()
        sums = np.vstack([np.zeros(table.shape[1]), np.cumsum(table, axis=0)])
        means = (sums[last + 1] - sums[first]) / width
        means[first == last] = table[first[first == last]]  # free of the rounding of sums
        if self.group_of is None:
            means = self._of_present(means)
        taken: Floats = means[inverse]
        return taken

    def _values(self) -> Floats:
        """The numbers of each single value: indicators, or the number (0 where missing) and whether it is missing."""
        if self.group_of is not None:
            indicators = np.zeros((self.domain.size, int(self.group_of.max()) + 1))
            indicators[np.arange(self.domain.size), self.group_of] = 1.0
            return indicators
        numbers = self.domain.numbers
        assert numbers is not None, "a column without indicators is one of numbers"
        missing = np.isnan(numbers)
        return np.column_stack([np.where(missing, 0.0, numbers), missing.astype(np.float64)])

    def _of_present(self, means: Floats) -> Floats:
        """The mean of the values that are present; a cell that can only be missing gets the middle of all values."""
        numbers = self.domain.numbers
        assert numbers is not None, "a column without indicators is one of numbers"
        if not np.isnan(numbers).any():
            return means[:, :1]
        present = 1.0 - means[:, 1]
        middle = float(np.nanmean(numbers))
        known = np.where(present > 0, means[:, 0] / np.where(present > 0, present, 1.0), middle)
        return np.column_stack([known, means[:, 1]])


def layout_of(column: ValueColumn) -> Layout:
    """How a column becomes numbers; ``column`` has the original training records, whose commonest values count."""
    domain = column.domain
    if domain.numbers is not None:
        words = {"numbers": "a number", "dates": "its place in time", "ordered": "its place in the order"}[domain.kind]
        missing = " and whether it is missing" if np.isnan(domain.numbers).any() else ""
        return Layout(domain, None, words + missing)
    if domain.size <= MOST_INDICATORS:
        return Layout(domain, np.arange(domain.size), f"{domain.size} categories")
    return _by_level(domain) or _commonest(column)


def _by_level(domain: Domain) -> Layout | None:
    """The finest level of the hierarchy that has few enough groups; None where only the root has."""
    if domain.hierarchy is None:
        return None
    for level, nodes in enumerate(domain.hierarchy.levels):
        distinct, group_of = np.unique(nodes, return_inverse=True)
        if 1 < len(distinct) <= MOST_INDICATORS:
            words = f"{len(distinct)} groups of {domain.size} values (level {level} of the hierarchy)"
            return Layout(domain, group_of.astype(np.int64), words)
    return None


def _commonest(column: ValueColumn) -> Layout:
    """The commonest values of the original training records, and one indicator for all others."""
    domain = column.domain
    counts = np.bincount(column.first, minlength=domain.size)
    chosen = np.lexsort([np.arange(domain.size), -counts])[: MOST_INDICATORS - 1]
    group_of = np.full(domain.size, MOST_INDICATORS - 1, dtype=np.int64)
    group_of[chosen] = np.arange(len(chosen))
    return Layout(domain, group_of, f"the {len(chosen)} commonest of {domain.size} categories, and all others")


def matrix(layouts: Sequence[Layout], columns: Mapping[str, ValueColumn]) -> Floats:
    """The records as rows of numbers."""
    return np.hstack([layout.cells(columns[layout.domain.name]) for layout in layouts])
