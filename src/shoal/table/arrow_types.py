"""Which Arrow types hold single values, and the same values without dictionaries or views."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def is_text(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's text types."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def has_text(kind: pa.DataType) -> bool:
    """Whether values of the type have a canonical text."""
    types = pa.types
    tests = (
        types.is_integer,
        types.is_floating,
        types.is_boolean,
        types.is_decimal,
        types.is_date,
        types.is_time,
        types.is_timestamp,
        types.is_null,
    )
    return is_text(kind) or any(test(kind) for test in tests)


def own_digits(number: np.floating) -> float:
    """A narrow float as the double of its value where it is whole, else of its shortest digits: 0.1 in 32 bits is 0.1,
    not 0.10000000149011612, but 2**30 is not 1073741800.
    """
    return float(number) if number.is_integer() else float(str(number))


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without dictionary, run-end or view encoding: the same values, each in its own cell."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        chunks = [_flat(chunk.dictionary).take(chunk.indices) for chunk in column.chunks]
        column = pa.chunked_array(chunks, type=None if chunks else kind.value_type)
    elif pa.types.is_run_end_encoded(kind):
        column = pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], type=kind.value_type)
    return _flat(column)


def _flat(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Text without views, for which Arrow has few functions."""
    return values.cast(pa.string()) if pa.types.is_string_view(values.type) else values


def one_dictionary(encoded: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same array with one dictionary for all its chunks. Encoding a chunked array mostly gives it that already, and
    unifying hashes the whole dictionary once a chunk.
    """
    places = set()
    for dictionary in (chunk.dictionary for chunk in encoded.chunks):
        addresses = [None if buffer is None else buffer.address for buffer in dictionary.buffers()]
        places.add((dictionary.offset, len(dictionary), *addresses))
    return encoded if len(places) <= 1 else encoded.unify_dictionaries()
