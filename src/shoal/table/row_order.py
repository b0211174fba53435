"""The rows of a table in an order that only their content decides."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.table.canonical_text import ranks


def in_order_of_content(table: pa.Table) -> pa.Table:
    """The rows sorted by what stands in them, so that their order in the input decides nothing."""
    return table.take(pa.array(order_of_content(table)))


def order_of_content(table: pa.Table) -> NDArray[np.int64]:
    """The rows in the order of what stands in them: for each place, which row of the table goes there."""
    keys = [ranks(table.column(name)) for name in sorted(table.column_names)]
    return np.lexsort(keys) if keys else np.arange(table.num_rows)


def in_order_of_cells(table: pa.Table) -> pa.Table:
    """The rows in the order of a release: by the canonical text of their cells from left to right, missing ones last.

    Texts are compared by code point, so that a file of text and a table of numbers have the same order.
    """
    return table.take(pa.array(order_of_cells(table))) if table.num_columns else table


def order_of_cells(table: pa.Table) -> NDArray[np.int64]:
    """The rows in the order of a release: for each place, which row of the table goes there."""
    keys = [ranks(column) for column in table.columns]
    return np.lexsort(keys[::-1]) if keys else np.arange(table.num_rows)
