"""Counting where the records are: distinct rows, brought to the driver as codes instead of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.io.spark.cluster import COUNT, Named, in_utc
from shoal.table.canonical_text import encode_values
from shoal.table.distinct_rows import DistinctColumn, DistinctRows

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountedFrame:
    """The distinct combinations of some columns, each with how many records have it."""

    frame: Any
    """The columns c0, c1, … and `COUNT`."""
    names: tuple[str, ...]

    def total(self) -> tuple[int, int]:
        """How many combinations there are, and of how many records."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        row = self.frame.agg(f.count(f.lit(1)).alias("rows"), f.sum(COUNT).alias("records")).toArrow().to_pylist()[0]
        return int(row["rows"]), int(row["records"] or 0)


def grouped(given: Named, names: Sequence[str]) -> CountedFrame:
    """Count the records by some columns: one shuffle, of the distinct rows and not of the records."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    chosen = given.select(names)
    return CountedFrame(chosen.frame.groupBy(chosen.frame.columns).agg(f.count(f.lit(1)).alias(COUNT)), tuple(names))


def distinct_values(counted: CountedFrame) -> dict[str, pa.Array]:
    """The distinct values of each column, null last where there is one, in one pass over the distinct rows."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    cells = [counted.frame[f"c{place}"] for place in range(len(counted.names))]
    sets = [f.collect_set(cell).alias(f"v{place}") for place, cell in enumerate(cells)]
    nulls = [f.max(cell.isNull()).alias(f"n{place}") for place, cell in enumerate(cells)]
    table = counted.frame.agg(*sets, *nulls).toArrow()
    found = {}
    for place, name in enumerate(counted.names):
        values = in_utc(table.column(f"v{place}").combine_chunks().flatten())
        null = pa.nulls(1 if table.column(f"n{place}")[0].as_py() else 0, values.type)
        found[name] = pa.concat_arrays([values, null])
    return found


@dataclass(frozen=True, eq=False)
class Codebook:
    """The code of each value of a column: of its canonical text, or of what it was made into. Values may share one."""

    values: pa.Array
    """Distinct values; null among them where the column has missing values."""
    codes: Codes
    """The code of each of them."""
    labels: tuple[str | None, ...]
    """The text of each code."""
    typed: pa.Array
    """A value of each code, in the type of the data."""

    @staticmethod
    def of(values: pa.Array) -> Codebook:
        """The codes of a column's distinct values by their canonical text."""
        labels, typed, codes = encode_values(values)
        return Codebook(values, codes, labels, typed)

    def encode(self, column: pa.Array) -> pa.Array:
        """The code of each cell."""
        places = pc.index_in(in_utc(column).cast(self.values.type), value_set=self.values)
        if places.null_count:
            raise DataError(
                "the data changed while it was read: a value has appeared that was not there before.",
                code="data-changed",
            )
        return pa.array(self.codes[places.to_numpy()])


def coded(counted: CountedFrame, books: Mapping[str, Codebook]) -> Any:
    """The distinct rows of a counted frame by the codes of their values, which take less room than texts."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    by = [f"c{place}" for place in range(len(books))]
    kinds = ", ".join([*(f"{name} int" for name in by), f"{COUNT} bigint"])

    def encode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            codes = [book.encode(batch.column(place)) for place, book in enumerate(books.values())]
            yield pa.RecordBatch.from_arrays([*codes, batch.column(len(by)).cast(pa.int64())], [*by, COUNT])

    frame = counted.frame.mapInArrow(encode, kinds)
    shared = any(len(book.labels) < len(book.values) for book in books.values())
    return frame.groupBy(by).agg(f.sum(COUNT).alias(COUNT)) if shared else frame


def collect_rows(frame: Any, books: Mapping[str, Codebook]) -> DistinctRows:
    """The distinct rows of a frame of codes on the driver, in the order of their content."""
    table = frame.toArrow()
    columns = {
        name: DistinctColumn(book.labels, book.typed, table.column(place).to_numpy().astype(np.int32))
        for place, (name, book) in enumerate(books.items())
    }
    return DistinctRows(columns, table.column(COUNT).to_numpy().astype(np.int64)).in_order()
