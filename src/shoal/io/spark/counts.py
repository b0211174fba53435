"""Counting where the records lie: distinct combinations, brought to the driver as packed codes instead of texts."""

from __future__ import annotations

import math
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
_KEY = "__key"
_KEY_LIMIT = 2**62


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
    """The code of each value of a column; two values may have one code."""

    values: pa.Array
    """Distinct values; null among them where the column has missing values."""
    codes: Codes
    """The code of each of them."""
    size: int
    """How many codes there are."""

    def encode(self, column: pa.Array) -> Counts:
        """The code of each cell."""
        places = pc.index_in(in_utc(column).cast(self.values.type), value_set=self.values)
        if places.null_count:
            raise DataError(
                "the data changed while it was read: a value has appeared that was not there before.",
                code="data-changed",
            )
        found: Counts = self.codes[places.to_numpy()].astype(np.int64)
        return found

    @property
    def merges(self) -> bool:
        """Whether different values share a code."""
        return len(np.unique(self.codes)) < len(self.codes)


def packed(counted: CountedFrame, books: Mapping[str, Codebook]) -> Any:
    """The distinct rows of a counted frame by the codes of their values, packed into as few numbers as possible."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    keys, names = _keys_of(books), counted.names
    by = [f"{_KEY}{place}" for place in range(len(keys))]
    columns = ", ".join(f"{name} bigint" for name in [*by, COUNT])

    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _packed_batch(batch, names, books, keys)

    frame = counted.frame.mapInArrow(pack, columns)
    if any(book.merges for book in books.values()):
        frame = frame.groupBy(by).agg(f.sum(COUNT).alias(COUNT))
    return frame


def unpacked(frame: Any, books: Mapping[str, Codebook]) -> tuple[dict[str, Codes], Counts]:
    """The codes of each column of a packed frame, and the counts, on the driver."""
    table = frame.toArrow()
    codes: dict[str, Codes] = {}
    for place, names in enumerate(_keys_of(books)):
        key = table.column(f"{_KEY}{place}").to_numpy()
        for name in reversed(names):
            key, code = np.divmod(key, books[name].size)
            codes[name] = code.astype(np.int32)
    counts = table.column(COUNT).to_numpy().astype(np.int64)
    return {name: codes[name] for name in books}, counts


def _keys_of(books: Mapping[str, Codebook]) -> list[list[str]]:
    """The columns that go into each key: a key that outgrew 64 bits would merge rows silently."""
    keys: list[list[str]] = [[]]
    for name, book in books.items():
        if math.prod(books[each].size for each in keys[-1]) * book.size > _KEY_LIMIT:
            keys.append([])
        keys[-1].append(name)
    return keys


def _packed_batch(
    batch: pa.RecordBatch, names: Sequence[str], books: Mapping[str, Codebook], keys: list[list[str]]
) -> pa.RecordBatch:
    arrays = []
    for together in keys:
        key = np.zeros(batch.num_rows, dtype=np.int64)
        for name in together:
            key = key * books[name].size + books[name].encode(batch.column(names.index(name)))
        arrays.append(pa.array(key))
    arrays.append(batch.column(len(names)).cast(pa.int64()))
    return pa.RecordBatch.from_arrays(arrays, [*(f"{_KEY}{place}" for place in range(len(keys))), COUNT])


def codebook(values: pa.Array) -> tuple[Codebook, tuple[str | None, ...], pa.Array]:
    """The codes of a column's distinct values by their canonical text, the texts, and a value of each."""
    labels, typed, codes = encode_values(values)
    return Codebook(values, codes, max(len(labels), 1)), labels, typed


def collect_rows(counted: CountedFrame) -> DistinctRows:
    """The distinct rows of a counted frame on the driver, in the order of their content."""
    read = {name: codebook(values) for name, values in distinct_values(counted).items()}
    books = {name: book for name, (book, _, _) in read.items()}
    codes, counts = unpacked(packed(counted, books), books)
    columns = {name: DistinctColumn(labels, typed, codes[name]) for name, (_, labels, typed) in read.items()}
    return DistinctRows(columns, counts).in_order()
