"""What a search found for a table, before anybody has checked it: the one result that every sink takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.resolve import Resolved
from shoal.hierarchies.hierarchy import ROOT_LABEL
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.bounds.lower_bound import LowerBound
from shoal.search.problem import Problem
from shoal.table.canonical_text import canonical_text, order_of_cells
from shoal.table.classes import ClassStats, Histogram
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import combine_codes
from shoal.table.recoding import Recoding


def release_columns(policy: Policy, names: list[str]) -> list[str]:
    """The columns that are released, in the order of the data."""
    return [name for name in names if name in policy.columns and policy.columns[name].role != "identifier"]


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """The distinct rows of a released table in its order, and how many records have each."""

    table: pa.Table
    counts: NDArray[np.int64]

    def records(self) -> pa.Table:
        """The released table, a row per record."""
        if (self.counts == 1).all():
            return self.table
        return self.table.take(pa.array(np.repeat(np.arange(len(self.counts)), self.counts)))


def released_rows(policy: Policy, rows: DistinctRows, resolved: Resolved, recoding: Recoding) -> ReleasedRows:
    """The released table: generalized quasi-identifiers, sensitive columns as published, the rest as it is.

    Distinct rows that show the same are one; suppressed records kept as ``*`` are one as well.
    """
    kept = np.flatnonzero(recoding.row_class >= 0)
    parts, widths = [recoding.row_class[kept]], [max(recoding.n_classes, 1)]
    for name in release_columns(policy, list(rows.columns)):
        if policy.columns[name].role != "quasi":
            secret = resolved.sensitive.get(name)
            raw = secret is None or not _rewritten(policy, name)
            parts.append(rows.columns[name].codes[kept] if raw or secret is None else secret.codes[kept])
            widths.append(len(rows.columns[name].labels if raw or secret is None else secret.domain.values))
    _, first, place = np.unique(combine_codes(parts, widths)[0], return_index=True, return_inverse=True)
    counts = np.bincount(place, weights=rows.counts[kept], minlength=len(first)).astype(np.int64)
    star = policy.suppressed == "star" and recoding.suppressed > 0
    table = _released(policy, rows, resolved, recoding, kept[first], int(star))
    counts = np.append(counts, recoding.suppressed) if star else counts
    order = order_of_cells(table)
    return ReleasedRows(table.take(pa.array(order)), counts[order])


def _rewritten(policy: Policy, name: str) -> bool:
    """Whether a sensitive column is released in other words than the data has."""
    return policy.published(name) == "categories" or policy.columns[name].hierarchy is not None


def _released(
    policy: Policy, rows: DistinctRows, resolved: Resolved, recoding: Recoding, chosen: NDArray[np.int64], starred: int
) -> pa.Table:
    """What is released of some rows, and a number of rows of ``*`` after them."""
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name in release_columns(policy, list(rows.columns)):
        role = policy.columns[name].role
        if role == "quasi":
            column = recoding.quasi.index(name)
            labels = pa.array(recoding.hierarchies[column].labels, type=pa.string())
            cells = labels.take(pa.array(recoding.nodes[recoding.row_class[chosen], column]))
            columns[name] = _extended(cells, pa.array([ROOT_LABEL] * starred, type=pa.string()))
        else:
            shown = {name: rows.columns[name].of_type(chosen)}
            if role == "sensitive":
                shown = _published(name, policy, rows, resolved, chosen)
            columns |= {key: _extended(cells, pa.nulls(starred, cells.type)) for key, cells in shown.items()}
    return pa.table(columns)


def _published(
    name: str, policy: Policy, rows: DistinctRows, resolved: Resolved, chosen: NDArray[np.int64]
) -> dict[str, pa.Array]:
    """A sensitive column as the policy publishes it: its values, its categories, or both."""
    secret = resolved.sensitive[name]
    categories = pa.array(secret.domain.categories, type=pa.string())
    if policy.published(name) == "categories":
        return {name: categories.take(pa.array(secret.codes[chosen]))}
    if policy.columns[name].hierarchy is not None:  # its leaves are the values, in the hierarchy's own writing
        labels = pa.array(secret.domain.values, type=pa.string())
        values = {name: labels.take(pa.array(secret.codes[chosen]))}
    else:
        values = {name: rows.columns[name].of_type(chosen)}
    if secret.category_codes is not None:
        values[f"{name}_category"] = categories.take(pa.array(secret.category_codes[chosen]))
    return values


def _extended(cells: pa.Array, tail: pa.Array) -> pa.Array:
    return pa.concat_arrays([cells, tail]) if len(tail) else cells


def release_stats(resolved: Resolved, recoding: Recoding) -> ClassStats:
    """Class statistics of the release, counted afresh from its rows."""
    kept = recoding.row_class >= 0
    owner = recoding.row_class[kept].astype(np.int64)
    weights = None if recoding.weights is None else recoding.weights[kept]
    histograms = {}
    for name, secret in resolved.sensitive.items():
        width = len(secret.domain.values)
        histograms[name] = Histogram.of(owner, secret.codes[kept], recoding.n_classes, width, weights)
    domains = {name: secret.domain for name, secret in resolved.sensitive.items()}
    return ClassStats(recoding.sizes, histograms, domains)


def as_written(table: pa.Table, target: Path) -> pa.Table:
    """In a text file every value stands in its canonical text, so that the input's types leave no trace."""
    if target.suffix.lower() in {".parquet", ".pq"}:
        return table
    return pa.table({name: canonical_text(table.column(name)) for name in table.column_names})


def works_on_records(policy: Policy) -> bool:
    """Whether the algorithm moves single records, so that each needs a row of codes in memory."""
    return ALGORITHMS[policy.algorithm.name].works_on_records or policy.algorithm.refine is not None


def splits_duplicates(policy: Policy) -> bool:
    """Whether records with equal quasi-identifiers may go to different classes."""
    return ALGORITHMS[policy.algorithm.name].splits_duplicates or works_on_records(policy)


@dataclass(frozen=True, eq=False)
class Result:
    """What becomes of each distinct row."""

    policy: Policy  # the policy that the release answers to
    rows: DistinctRows  # the distinct rows; those whose records go to several classes are divided
    resolved: Resolved
    recoding: Recoding  # a row for each distinct row
    search: Mapping[str, Any] = field(default_factory=dict)  # facts of the search
    bound: LowerBound | None = None  # how little any release could lose
    names: Sequence[str] = ()  # all columns of the data, released or not
    coarse_policy: Policy | None = None
    """The policy of the search where the source made columns coarser before it; else None."""

    @staticmethod
    def of(policy: Policy, rows: DistinctRows, resolved: Resolved, recoding: Recoding, **facts: Any) -> Result:
        """The result of a recoding whose rows may be single records, or distinct rows divided between classes."""
        if recoding.entry is None:
            return Result(policy, rows, resolved, recoding, **facts)
        of_record = None
        if recoding.weights is None:  # a row per record, equal records side by side
            recoding, row = recoding.folded()
            if rows.of_record is not None:
                of_record = np.empty_like(row)
                of_record[np.argsort(rows.of_record, kind="stable")] = row
        elif rows.of_record is not None:
            of_record = _divided(rows.of_record, recoding)
        entry, counts = _parts(recoding)
        divided, taken = rows.take(entry, counts, of_record), resolved.take(entry, counts)
        return Result(policy, divided, taken, replace(recoding, entry=None), **facts)

    @property
    def search_policy(self) -> Policy:
        """The policy that the codes of the rows answer to."""
        return self.coarse_policy or self.policy

    @cached_property
    def released(self) -> ReleasedRows:
        """The distinct rows of the release; without columns that are not among the rows."""
        return released_rows(self.search_policy, self.rows, self.resolved, self.recoding)

    @property
    def table(self) -> pa.Table:
        """The released table, a row per record."""
        return self.released.records()

    @cached_property
    def record_recoding(self) -> Recoding:
        """The recoding with a row per record, in the order of the data; of distinct rows where records are not held."""
        of_record = self.rows.of_record
        if of_record is None:
            return self.recoding
        return replace(self.recoding, row_class=self.recoding.row_class[of_record], weights=None)

    @property
    def record_problem(self) -> Problem | None:
        """The problem with a row per record, in the order of the data; None where records are not held."""
        return None if self.rows.of_record is None else self.resolved.of_records(self.rows).problem


def _divided(of_record: NDArray[np.int64], recoding: Recoding) -> NDArray[np.int64]:
    """The row of each record where distinct rows were divided: the first records go to the first part."""
    entry, counts = _parts(recoding)
    parts = np.argsort(entry, kind="stable")
    found = np.empty_like(of_record)
    found[np.argsort(of_record, kind="stable")] = np.repeat(parts, counts[parts])
    return found


def _parts(recoding: Recoding) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct row that each row of a recoding is of, and its records."""
    assert recoding.entry is not None, "the rows are parts of distinct rows"
    assert recoding.weights is not None, "the rows stand for several records"
    return recoding.entry, recoding.weights
