"""Cells: the distinct combinations of some columns with how many records have each, counted batch by batch.

A release can show nothing of a record but its cell, so everything after reading works on cells with weights, and ten
million records are often a few hundred thousand cells. Values are told apart by their canonical text, whatever type the
column has. The cells and their codes do not depend on the order or the size of the batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CellColumn:
    """One column of the cells."""

    labels: tuple[str | None, ...]
    """The canonical texts that occur, sorted by code point, ``None`` (missing) last."""
    values: pa.Array
    """The value of each label, in the type of the data."""
    codes: Codes
    """The label of each cell, by its place."""

    def of_type(self, entries: NDArray[np.integer] | slice = slice(None)) -> pa.Array:
        """The values of some cells, in the type of the data."""
        return self.values.take(pa.array(self.codes[entries]))


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct combinations of the columns, each with how many records have it.

    Cells are in the order of their content: by the last column in the order of names, then the one before, and so on,
    as `shoal.io.order_of_content` puts records.
    """

    columns: Mapping[str, CellColumn]
    weights: Counts

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.weights)

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return int(self.weights.sum())

    def take(self, entries: NDArray[np.int64], weights: Counts) -> Cells:
        """Some cells, possibly parted: with other weights."""
        columns = {
            name: CellColumn(column.labels, column.values, column.codes[entries])
            for name, column in self.columns.items()
        }
        return Cells(columns, weights)

    def to_table(self) -> pa.Table:
        """The cells as a table, a row a cell, in the types of the data."""
        return pa.table({name: column.of_type() for name, column in self.columns.items()})

    def to_dictionaries(self) -> pa.Table:
        """The same with text as codes and a dictionary, which takes a few bytes a cell."""
        return pa.table(
            {
                name: pa.DictionaryArray.from_arrays(pa.array(column.codes), column.values)
                if pa.types.is_string(column.values.type)
                else column.of_type()
                for name, column in self.columns.items()
            }
        )
