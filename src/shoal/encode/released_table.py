"""From a recoding to the table that is released.

What a release must never carry is left out here: the input's index and row order (rows are sorted by their released
content, so the input's order leaves no trace and equal inputs give equal bytes), identifiers, columns that the policy
does not name, dictionaries that list every original value, and metadata.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.resolve import Resolved
from shoal.hierarchies.hierarchy import ROOT_LABEL
from shoal.policy import Policy
from shoal.table.canonical_text import canonical_text
from shoal.table.classes import ClassStats, Histogram
from shoal.table.distinct_rows import Cells
from shoal.table.encoded import combine_codes
from shoal.table.recoding import Recoding
from shoal.table.row_order import in_order_of_cells, order_of_cells


def release_columns(policy: Policy, names: list[str]) -> list[str]:
    """The columns that are released, in the order of the data."""
    return [name for name in names if name in policy.columns and policy.columns[name].role != "identifier"]


def build_table(policy: Policy, table: pa.Table, resolved: Resolved, recoding: Recoding) -> pa.Table:
    """The released table: generalized quasi-identifiers, sensitive columns as published, the rest as it is."""
    rows = np.flatnonzero(recoding.row_class >= 0)
    starred = recoding.suppressed if policy.suppressed == "star" else 0
    return in_order_of_cells(_released(policy, table, resolved, recoding, rows, starred))


def released_counts(
    policy: Policy, cells: Cells, resolved: Resolved, recoding: Recoding
) -> tuple[pa.Table, NDArray[np.int64]]:
    """The distinct rows of the released table in its order, and how often each stands there.

    Cells that show the same are one row; suppressed records kept as ``*`` are one row as well.
    """
    rows = np.flatnonzero(recoding.row_class >= 0)
    weights = cells.weights[rows]
    parts, widths = [recoding.row_class[rows]], [max(recoding.n_classes, 1)]
    for name in release_columns(policy, list(cells.columns)):
        if policy.columns[name].role != "quasi":
            secret = resolved.sensitive.get(name)
            raw = secret is None or not _rewritten(policy, name)
            parts.append(cells.columns[name].codes[rows] if raw or secret is None else secret.codes[rows])
            widths.append(len(cells.columns[name].labels if raw or secret is None else secret.domain.values))
    _, first, place = np.unique(combine_codes(parts, widths)[0], return_index=True, return_inverse=True)
    counts = np.bincount(place, weights=weights, minlength=len(first)).astype(np.int64)
    star = policy.suppressed == "star" and recoding.suppressed > 0
    table = _released(policy, cells, resolved, recoding, rows[first], int(star))
    counts = np.append(counts, recoding.suppressed) if star else counts
    order = order_of_cells(table)
    return table.take(pa.array(order)), counts[order]


def _rewritten(policy: Policy, name: str) -> bool:
    """Whether a sensitive column is released in other words than the data has."""
    return policy.published(name) == "categories" or policy.columns[name].hierarchy is not None


def _column(table: pa.Table | Cells, name: str, rows: NDArray[np.int64]) -> pa.Array | pa.ChunkedArray:
    """A column as it is, of some rows."""
    return table.columns[name].of_type(rows) if isinstance(table, Cells) else table.column(name).take(pa.array(rows))


def _released(
    policy: Policy,
    table: pa.Table | Cells,
    resolved: Resolved,
    recoding: Recoding,
    rows: NDArray[np.int64],
    starred: int,
) -> pa.Table:
    """What is released of some rows, and so many rows of ``*`` after them."""
    names = release_columns(policy, list(table.columns) if isinstance(table, Cells) else table.column_names)
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
            cells = _column(table, name, rows)
            columns[name] = _extended(cells, pa.nulls(starred, cells.type))
    return pa.table(columns)


def _published(
    name: str, policy: Policy, table: pa.Table | Cells, resolved: Resolved, rows: NDArray[np.int64]
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
        values = {name: _column(table, name, rows)}
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
