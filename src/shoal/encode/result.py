"""What a search found for a table, before anybody has checked it: the one result that every sink takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.released_table import ReleasedRows, released_rows
from shoal.encode.resolve import Resolved
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.bounds.lower_bound import LowerBound
from shoal.search.problem import Problem
from shoal.table.distinct_rows import DistinctRows
from shoal.table.recoding import Recoding


def works_on_records(policy: Policy) -> bool:
    """Whether the algorithm moves single records, so that each needs a row of codes in memory."""
    return ALGORITHMS[policy.algorithm.name].works_on_records or policy.algorithm.refine is not None


def splits_duplicates(policy: Policy) -> bool:
    """Whether records with equal quasi-identifiers may go to different classes."""
    return ALGORITHMS[policy.algorithm.name].splits_duplicates or works_on_records(policy)


@dataclass(frozen=True, eq=False)
class Result:
    """What becomes of each distinct row."""

    policy: Policy
    """The policy that the release answers to."""
    rows: DistinctRows
    """The distinct rows; those whose records go to several classes are divided."""
    resolved: Resolved
    recoding: Recoding
    """A row for each distinct row."""
    search: Mapping[str, Any] = field(default_factory=dict)
    """Facts of the search."""
    bound: LowerBound | None = None
    """How little any release could lose."""
    names: Sequence[str] = ()
    """All columns of the data, released or not."""
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
