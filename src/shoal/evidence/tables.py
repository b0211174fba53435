"""What the evidence says of each of several tables that were released together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoal.encode.result import Result
from shoal.facts import Facts
from shoal.metrics import METRICS, ReleaseSummary
from shoal.policy.tables_spec import TABLE


@dataclass(frozen=True, eq=False)
class TableFacts(Facts):
    """One of the tables."""

    records: int
    released: int
    classes: int
    """Combinations of labels, each told apart by what else its people have."""
    ncp: float
    """Over its own quasi-identifiers; 0 where it has none."""


def describe_tables(result: Result) -> Mapping[str, TableFacts] | None:
    """The tables of a release; None where there is one."""
    tables, recoding = result.policy.tables, result.recoding
    if tables is None:
        return None
    column, of = result.rows.columns[TABLE], recoding.quasi.index(TABLE)
    labels, found = recoding.hierarchies[of].labels, {}
    for name, spec in tables.items():
        own = np.array([labels[node] == name for node in recoding.nodes[:, of].tolist()], dtype=np.bool_)
        chosen = [index for index, quasi in enumerate(recoding.quasi) if quasi in spec.columns]
        here = np.array([label == name for label in column.labels], dtype=np.bool_)[column.codes]
        records = int(result.rows.counts[here].sum())
        hierarchies = tuple(recoding.hierarchies[index] for index in chosen)
        summary = ReleaseSummary(hierarchies, recoding.nodes[own][:, chosen], recoding.sizes[own], records)
        ncp = METRICS["ncp"].of(summary) if chosen else 0.0
        found[name] = TableFacts(records, summary.released, int(own.sum()), ncp)
    return found
