"""What a verification asks Spark for. It shares nothing with what made the release but Spark itself."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Text = Callable[[Any, str], Any]  # the canonical texts of a column, given its cells and its name
_N = "n"


def counted_rows(frame: Any) -> tuple[pa.Table, NDArray[np.int64]]:
    """The distinct rows of a frame and how often each occurs; moments in universal time."""
    names = list(frame.columns)
    plain = frame.toDF(*(f"r{index}" for index in range(len(names))))
    table = plain.groupBy(plain.columns).count().toArrow()
    columns = [_universal(column) for column in table.columns[:-1]]
    return pa.table(columns, names=names), table.columns[-1].to_numpy().astype(np.int64)


def _universal(column: Any) -> Any:
    kind = column.type
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    return column.cast(pa.timestamp(kind.unit, "UTC")) if zoned else column


def rows_not_in(released: Any, original: Any, text: Text) -> int:
    """How many rows of one frame are more than another has of them; both have the same columns, in the same order."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    names = list(released.columns)
    keys = [f"r{index}" for index in range(len(names))]
    left = _texts(released, names, keys, text).groupBy(keys).agg(f.count(f.lit(1)).alias("more"))
    right = _texts(original, names, keys, text).groupBy(keys).agg(f.count(f.lit(1)).alias("there"))
    right = right.toDF(*(f"o{index}" for index in range(len(names))), "there")
    same = [left[key].eqNullSafe(right[f"o{index}"]) for index, key in enumerate(keys)]
    lacking = left.join(right, same, "left").select(f.col("more") - f.coalesce(f.col("there"), f.lit(0)))
    lacking = lacking.toDF("lacking").where("lacking > 0")
    return int(lacking.agg(f.coalesce(f.sum("lacking"), f.lit(0)).alias(_N)).toArrow().column(_N)[0].as_py())


def _texts(frame: Any, names: Sequence[str], keys: Sequence[str], text: Text) -> Any:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [_text_of(text, column, name) for column, name in zip(batch.columns, names, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, list(keys))

    return frame.toDF(*keys).mapInArrow(run, ", ".join(f"{key} string" for key in keys))


def _text_of(text: Text, column: Any, name: str) -> pa.Array:
    made = text(_universal(pa.chunked_array([column])), name)
    made = made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made
    return made.cast(pa.string())


def rows_out_of_order(frame: Any, text: Text) -> int:
    """How many rows of a frame's files stand before one that sorts ahead of them, files in the order of their names."""
    names = list(frame.columns)
    located = frame.select("*", "_metadata.file_name", "_metadata.file_block_start")
    plain = located.toDF(*(f"r{index}" for index in range(len(names))), "file", "start")
    kinds = "file string, start bigint, batch bigint, first array<string>, last array<string>, wrong bigint"

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for index, batch in enumerate(batches):
            yield from _stretches(batch, index, names, text)

    found = plain.mapInArrow(run, kinds).toArrow().to_pylist()
    found.sort(key=lambda each: (each["file"], each["start"], each["batch"]))
    ends = [[[(cell is None, cell or "") for cell in each[end]] for end in ("first", "last")] for each in found]
    between = sum(last > first for (_, last), (first, _) in pairwise(ends))
    return int(sum(each["wrong"] for each in found) + between)


def _stretches(batch: pa.RecordBatch, index: int, names: Sequence[str], text: Text) -> Iterator[pa.RecordBatch]:
    """The rows of a batch, file by file: the first and the last of each file, and how many stand wrong."""
    if not batch.num_rows:
        return
    file, start = batch.column(len(names)).to_pylist(), batch.column(len(names) + 1).to_pylist()
    columns = [_text_of(text, batch.column(each), name) for each, name in enumerate(names)]
    later = _later(columns)
    new = [0, *(row for row in range(1, batch.num_rows) if (file[row], start[row]) != (file[row - 1], start[row - 1]))]
    for begin, end in pairwise([*new, batch.num_rows]):
        first, last = ([column[row].as_py() for column in columns] for row in (begin, end - 1))
        ends = {"first": pa.array([first], pa.list_(pa.string())), "last": pa.array([last], pa.list_(pa.string()))}
        where = {"file": [file[begin]], "start": [start[begin]], "batch": [index]}
        yield pa.RecordBatch.from_pydict({**where, **ends, "wrong": [int(later[begin : end - 1].sum())]})


def _later(columns: Sequence[pa.Array]) -> NDArray[np.bool_]:
    """Which rows sort behind the row after them."""
    rows = len(columns[0])
    later = np.zeros(max(rows - 1, 0), dtype=np.bool_)
    tied = ~later
    for column in columns:
        encoded = column.dictionary_encode()
        order = pc.array_sort_indices(encoded.dictionary).to_numpy()
        rank = np.empty(len(order) + 1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        rank[-1] = len(order)  # missing cells last
        codes = rank[encoded.indices.fill_null(-1).to_numpy()]
        later |= tied & (codes[:-1] > codes[1:])
        tied &= codes[:-1] == codes[1:]
    return later
