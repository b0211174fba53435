"""Slices of a table that are short both in rows and in bytes of text: a row may hold a year or a long letter.

The bounds follow from the rows alone, so slices may be the row groups of a release, which are a part of its bytes.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.table.canonical_text import is_text

Sizes = NDArray[np.int64]


def text_sizes(table: pa.Table | pa.RecordBatch) -> Sizes:
    """The bytes of all texts in each row; a text of a dictionary counts wherever it occurs."""
    sizes = np.zeros(table.num_rows, dtype=np.int64)
    for column in table.columns if table.num_rows else []:
        start = 0
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            if pa.types.is_dictionary(chunk.type):
                if len(chunk.dictionary) and is_text(chunk.type.value_type):
                    lengths = np.append(_lengths(chunk.dictionary), 0)  # index -1, of a missing value
                    sizes[start : start + len(chunk)] += lengths[chunk.indices.fill_null(-1).to_numpy()]
            elif is_text(chunk.type):
                sizes[start : start + len(chunk)] += _lengths(chunk)
            start += len(chunk)
    return sizes


def _lengths(texts: pa.Array) -> Sizes:
    plain = texts.cast(pa.large_string()) if pa.types.is_string_view(texts.type) else texts
    return np.asarray(pc.binary_length(plain).fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)


def slice_bounds(sizes: Sizes, *, rows: int, nbytes: int, counts: Sizes | None = None) -> Iterator[tuple[int, int]]:
    """First and end of each slice: as many rows as fit ``rows`` and ``nbytes``, but at least one."""
    repeats = np.ones(len(sizes), dtype=np.int64) if counts is None else counts
    last, filled = np.cumsum(repeats), np.cumsum(repeats * sizes)
    total = int(last[-1]) if len(last) else 0
    start = 0
    while start < total:
        row = int(np.searchsorted(last, start, side="right"))
        allowed = int(filled[row] - (last[row] - start) * sizes[row]) + nbytes
        full = int(np.searchsorted(filled, allowed, side="right"))
        end = total
        if full < len(filled):
            end = int(last[full] - -(-(filled[full] - allowed) // sizes[full]))
        end = max(min(end, start + rows, total), start + 1)
        yield start, end
        start = end


def repeated_rows(counts: Sizes, bounds: Iterable[tuple[int, int]]) -> Iterator[Sizes]:
    """The index of the row at each position when each is repeated as often as its count says, slice by slice."""
    ends = np.cumsum(counts)
    for start, stop in bounds:
        first, last = np.searchsorted(ends, start, side="right"), np.searchsorted(ends, stop)
        some = np.arange(first, last + 1)
        yield np.repeat(some, np.minimum(ends[some], stop) - np.maximum(ends[some] - counts[some], start))


def slices(table: pa.Table, *, rows: int, nbytes: int) -> Iterator[pa.Table]:
    """The table in slices, one after the other."""
    for start, end in slice_bounds(text_sizes(table), rows=rows, nbytes=nbytes):
        yield table.slice(start, end - start)
