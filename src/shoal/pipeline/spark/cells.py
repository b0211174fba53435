"""The cells of a table that lies in a cluster: counted there, brought to the driver as packed codes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from shoal.io import encode
from shoal.io.spark.counts import Codebook, Codes, Counted, Counts, distinct_values, packed, unpacked
from shoal.table.distinct_rows import CellColumn, Cells
from shoal.table.encoded import combine_codes

Labels = tuple[str | None, ...]


def codebook(values: pa.Array) -> tuple[Codebook, Labels, pa.Array]:
    """The codes of a column's distinct values by their canonical text, the texts, and a value of each."""
    labels, codes = encode(values)
    _, first = np.unique(codes, return_index=True)
    book = Codebook(values, codes, max(len(labels), 1))
    return book, tuple(labels), values.take(pa.array(first, pa.int64()))


def collect_cells(counted: Counted) -> Cells:
    """The cells of a counted frame, in the order of their content."""
    read = {name: codebook(values) for name, values in distinct_values(counted).items()}
    books = {name: book for name, (book, _, _) in read.items()}
    codes, weights = unpacked(packed(counted, books), books)
    columns = {name: CellColumn(labels, typed, codes[name]) for name, (_, labels, typed) in read.items()}
    return in_order(columns, weights)


def in_order(columns: Mapping[str, CellColumn], weights: Counts) -> Cells:
    """Cells in the order of their content, which a shuffle does not keep."""
    by = sorted(columns, reverse=True)
    codes: list[Codes] = [columns[name].codes for name in by]
    keys, _ = combine_codes(codes, [max(len(columns[name].labels), 1) for name in by])
    order = np.argsort(keys, kind="stable") if by else np.arange(len(weights))
    return Cells(columns, weights).take(order, weights[order])
