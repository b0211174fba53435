"""From a recoding to the table that is released.

What a release must never carry is left out here: the input's index and row order (rows are sorted by their released
content, so the input's order leaves no trace and equal inputs give equal bytes), identifiers, columns that the policy
does not name, dictionaries that list every original value, and metadata.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import ROOT_LABEL
from shoal.io import in_order_of_cells
from shoal.policy import Policy
from shoal.policy.resolve import Resolved
from shoal.table.classes import ClassStats, Histogram
from shoal.table.recoding import Recoding


def release_columns(policy: Policy, names: list[str]) -> list[str]:
    """The columns that are released, in the order of the data."""
    return [name for name in names if name in policy.columns and policy.columns[name].role != "identifier"]


def build_table(policy: Policy, table: pa.Table, resolved: Resolved, recoding: Recoding) -> pa.Table:
    """The released table: generalized quasi-identifiers, sensitive columns as published, the rest as it is."""
    names = release_columns(policy, table.column_names)
    rows = np.flatnonzero(recoding.row_class >= 0)
    starred = recoding.suppressed if policy.suppressed == "star" else 0
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name in names:
        role = policy.columns[name].role
        if role == "quasi":
            place = recoding.quasi.index(name)
            labels = pa.array(recoding.hierarchies[place].labels, type=pa.string())
            cells = labels.take(pa.array(recoding.nodes[recoding.row_class[rows], place]))
            columns[name] = _extended(cells, pa.array([ROOT_LABEL] * starred, type=pa.string()))
        elif role == "sensitive":
            columns |= {
                key: _extended(cells, pa.nulls(starred, cells.type))
                for key, cells in _published(name, policy, table, resolved, rows).items()
            }
        else:
            cells = table.column(name).take(pa.array(rows))
            columns[name] = _extended(cells, pa.nulls(starred, cells.type))
    return in_order_of_cells(pa.table(columns))


def _published(
    name: str, policy: Policy, table: pa.Table, resolved: Resolved, rows: NDArray[np.int64]
) -> dict[str, pa.Array | pa.ChunkedArray]:
    """A sensitive column as the policy publishes it: its values, its categories, or both."""
    secret = resolved.sensitive[name]
    categories = pa.array(secret.domain.categories, type=pa.string())
    if policy.published(name) == "categories":
        return {name: categories.take(pa.array(secret.codes[rows]))}
    if policy.columns[name].hierarchy is not None:  # its leaves are the values, in the hierarchy's own writing
        labels = pa.array(secret.domain.values, type=pa.string())
        values = {name: labels.take(pa.array(secret.codes[rows]))}
    else:
        values = {name: table.column(name).take(pa.array(rows))}
    if secret.category_codes is not None:
        values[f"{name}_category"] = categories.take(pa.array(secret.category_codes[rows]))
    return values


def _extended(cells: pa.Array | pa.ChunkedArray, tail: pa.Array) -> pa.ChunkedArray:
    chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
    return (
        pa.chunked_array([*chunks, tail], type=cells.type).combine_chunks()
        if len(tail)
        else pa.chunked_array(chunks, type=cells.type)
    )


def release_stats(resolved: Resolved, recoding: Recoding) -> ClassStats:
    """Class statistics of the release, counted afresh from its rows."""
    kept = recoding.row_class >= 0
    owner = recoding.row_class[kept].astype(np.int64)
    histograms = {}
    for name, secret in resolved.sensitive.items():
        width = len(secret.domain.values)
        histograms[name] = Histogram.of(owner, secret.codes[kept], recoding.n_classes, width)
    domains = {name: secret.domain for name, secret in resolved.sensitive.items()}
    return ClassStats(recoding.sizes, histograms, domains)
