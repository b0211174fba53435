"""What a search found for a table, and the released table that it gives: the one result that every sink takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.pseudonyms import pseudonyms
from shoal.encode.resolve import Resolved
from shoal.encode.sensitive import SensitiveColumn
from shoal.hierarchies.hierarchy import ROOT_LABEL
from shoal.policy import Policy
from shoal.search import people_index
from shoal.search.bounds.lower_bound import LowerBound
from shoal.search.problem import Problem
from shoal.table.canonical_text import canonical_text, order_of_cells
from shoal.table.classes import ClassStats
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import Codes, combine_codes, number_keys
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
    """The released table: generalized quasi-identifiers, sensitive columns as published, the rest as it is."""
    kept = np.flatnonzero(recoding.row_class >= 0)
    owner = recoding.row_class[kept]
    columns: dict[str, tuple[Codes, pa.Array]] = {}  # what each row shows: a code, and the values of the codes
    parts, widths = [owner], [max(recoding.n_classes, 1)]
    for name in release_columns(policy, list(rows.columns)):
        role, given = policy.columns[name].role, rows.columns[name]
        if role == "quasi":
            j = recoding.quasi.index(name)
            labels = pa.array(recoding.hierarchies[j].labels, type=pa.string())
            columns[name] = recoding.nodes[owner, j], labels
            continue
        shown: dict[str, tuple[Codes, pa.Array]] = {name: (given.codes, given.values)}
        if role == "pseudonym":
            shown = {name: pseudonyms(policy, rows)}
        if role == "sensitive":
            shown |= published_words(policy, name, resolved.sensitive[name])  # in its place, or beside it
        for column, (codes, values) in shown.items():
            columns[column] = codes[kept], values
            parts.append(codes[kept])
            widths.append(max(len(values), 1))
    first, row = number_keys(combine_codes(parts, widths)[0])
    counts = np.bincount(row, weights=rows.counts[kept], minlength=len(first)).astype(np.int64)
    released = {name: values.take(pa.array(codes[first])) for name, (codes, values) in columns.items()}
    if policy.suppressed == "star" and recoding.suppressed:
        counts = np.append(counts, recoding.suppressed)
        for name, cells in released.items():
            star = pa.array([ROOT_LABEL], pa.string()) if name in recoding.quasi else pa.nulls(1, cells.type)
            released[name] = pa.concat_arrays([cells, star])
    table = pa.table(released)
    order = order_of_cells(table)
    return ReleasedRows(table.take(pa.array(order)), counts[order])


def published_words(
    policy: Policy, name: str, secret: SensitiveColumn
) -> dict[str, tuple[NDArray[np.int32], pa.Array]]:
    """The columns that a sensitive column is published as in other words than the data has: codes and their texts."""
    columns, column = {}, policy.columns[name]
    if policy.published(name) == "categories" or column.hierarchy is not None or column.bins is not None:
        # categories instead of values, or the leaves of a hierarchy in its own writing; unknown values as they are
        columns[name] = (secret.codes, pa.array(secret.domain.values, type=pa.string()))
    if secret.category_codes is not None:
        texts = (*secret.domain.categories, None)  # an unknown value has none
        columns[f"{name}_category"] = (secret.category_codes, pa.array(texts, type=pa.string()))
    return columns


def release_stats(resolved: Resolved, recoding: Recoding) -> ClassStats:
    """Class statistics of the release, counted afresh from its rows."""
    table = replace(resolved.problem.table, weights=recoding.weights)
    domains = {name: secret.domain for name, secret in resolved.sensitive.items()}
    return people_index.release_stats(table, recoding.row_class, recoding.n_classes, domains, list(domains))


def as_written(table: pa.Table, target: Path) -> pa.Table:
    """In a text file every value stands in its canonical text, so that the input's types leave no trace."""
    if target.suffix.lower() in {".parquet", ".pq"}:
        return table
    return pa.table({name: canonical_text(table.column(name)) for name in table.column_names})


def with_chosen(policy: Policy, search: Mapping[str, Any]) -> Policy:
    """A policy with the algorithm that a search chose among several, as its facts tell."""
    return policy.changed(algorithm=search["chosen"]) if "chosen" in search else policy


def works_on_records(policy: Policy) -> bool:
    """Whether the algorithm moves single records, so that each needs a row of codes in memory."""
    return policy.search_algorithm.works_on_records or policy.algorithm.refine is not None


def splits_duplicates(policy: Policy) -> bool:
    """Whether records with equal quasi-identifiers may go to different classes; with the person's others they may."""
    if policy.pseudonym is not None:
        return True
    return policy.search_algorithm.splits_duplicates or works_on_records(policy)


def keeps_duplicates(policy: Policy) -> bool:
    """Whether records with equal quasi-identifiers go to one class, or do where a run demands it."""
    return not splits_duplicates(policy) or (policy.pseudonym is None and policy.search_algorithm.chooses)


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
    coarse_policy: Policy | None = None  # that of the search where the source made columns coarser

    @staticmethod
    def of(policy: Policy, rows: DistinctRows, resolved: Resolved, recoding: Recoding, **facts: Any) -> Result:
        """The result of a recoding whose rows may be single records, or distinct rows divided between classes."""
        if recoding.entry is None:
            return Result(policy, rows, resolved, recoding, **facts)
        of_record = row = None
        if recoding.weights is None:  # a row per record, equal records side by side
            recoding, row = recoding.folded()
        entry, counts = recoding.entry, recoding.weights
        assert entry is not None, "the rows are parts of distinct rows"
        assert counts is not None, "the rows stand for several records"
        if rows.of_record is not None:
            if row is None:  # the first records of a distinct row go to its first part
                parts = np.argsort(entry, kind="stable")
                row = np.repeat(parts, counts[parts])
            of_record = np.empty_like(rows.of_record)
            of_record[np.argsort(rows.of_record, kind="stable")] = row
        divided, taken = rows.take(entry, counts, of_record), resolved.take(entry, counts)
        return Result(policy, divided, taken, replace(recoding, entry=None), **facts)

    @property
    def made_by(self) -> Policy:
        """The policy of the search with the algorithm that found the result, where several were tried."""
        return with_chosen(self.search_policy, self.search)

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
