"""Canonical text: the one way in which a value is written, whatever type the table keeps it in.

The age 39 is the same value as an int64, as a float64 (pandas had a missing age elsewhere), as text and as a category.
Classes, hierarchies and releases must not differ for it, so everything inside works on this text.
"""

import math
from collections.abc import Iterable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # counts of a unit in a second


def is_text(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's text types."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def has_text(kind: pa.DataType) -> bool:
    """Whether values of the type have a canonical text."""
    names = ("integer", "floating", "boolean", "decimal", "date", "time", "timestamp", "null")
    return is_text(kind) or any(getattr(pa.types, f"is_{name}")(kind) for name in names)


def own_digits(number: np.floating) -> float:
    """A narrow float as the double of its shortest digits (0.1, not 0.10000000149011612); 2**30 stays what it is."""
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
    """The same array with one dictionary for all its chunks; unifying hashes it all, and is mostly not needed."""
    dictionaries = set()
    for dictionary in (chunk.dictionary for chunk in encoded.chunks):
        addresses = [None if buffer is None else buffer.address for buffer in dictionary.buffers()]
        dictionaries.add((dictionary.offset, len(dictionary), *addresses))
    return encoded if len(dictionaries) <= 1 else encoded.unify_dictionaries()


def canonical_text(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The canonical text of every value, as an array of strings; null and NaN are null.

    Integers and integral floats have no decimal point (``39.0`` is ``39``, ``-0.0`` is ``0``); other floats have the
    shortest digits that identify them; decimals likewise (``1.50`` is ``1.5``). Booleans are ``true`` and ``false``.
    Dates and times are ISO 8601; a midnight without time zone is a date; a time zone is written as its offset.
    """
    _, texts, codes = texts_and_codes(array)
    if len(codes) == 0:
        return pa.array([], pa.string())
    mask = codes < 0
    return texts.take(pa.array(codes, mask=mask if mask.any() else None))


def encode(array: pa.Array | pa.ChunkedArray) -> tuple[list[str | None], NDArray[np.int32]]:
    """The distinct canonical texts, sorted by code point with ``None`` (missing) last, and the code of every row."""
    labels, _, codes = encode_values(array)
    return list(labels), codes


def encode_values(array: pa.Array | pa.ChunkedArray) -> tuple[tuple[str | None, ...], pa.Array, NDArray[np.int32]]:
    """The texts that `encode` gives, a value of each in the type of the array, and the code of every row."""
    values, texts, order, rows = _ranked(array)
    labels: list[str | None] = texts.to_pylist()
    typed = values.take(order)
    if len(rows) and rows.max() == len(labels):
        return (*labels, None), pa.concat_arrays([typed, pa.nulls(1, values.type)]), rows
    return tuple(labels), typed, rows


def _ranked(array: pa.Array | pa.ChunkedArray) -> tuple[pa.Array, pa.Array, pa.Array, NDArray[np.int32]]:
    """The distinct values, their texts in order, an index of a value of each, and that of each row (last: missing)."""
    values, texts, codes = texts_and_codes(array)
    folded = texts.dictionary_encode()
    of_value = _indices(folded)
    order = pc.array_sort_indices(folded.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank[-1] = len(order)
    first = np.empty(len(order) + 1, dtype=np.int64)
    first[of_value[::-1]] = np.arange(len(of_value) - 1, -1, -1)  # of equal texts the first value
    of_raw = np.append(rank[of_value], rank[-1])
    chosen = pa.array(first[order])
    return values, folded.dictionary.take(pa.array(order)), chosen, of_raw[codes].astype(np.int32, copy=False)


def texts_and_codes(
    array: pa.Array | pa.ChunkedArray, *, dictionary: bool = False
) -> tuple[pa.Array, pa.Array, NDArray[np.int32]]:
    """The distinct raw values, the canonical text of each, and for each row its index among them (-1: missing).

    With ``dictionary``, one of texts that the array brings along is taken as it is: it may list values of no row.
    """
    column = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    is_coded = pa.types.is_dictionary(column.type) and column.num_chunks == 1
    if not (dictionary and is_coded and pa.types.is_string(column.type.value_type)):
        column = decoded(column)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_null(kind):
        return pa.array([], kind), pa.array([], pa.string()), np.full(len(column), -1, dtype=np.int32)
    if not has_text(kind):
        message = f"Values of the type {kind} have no canonical text. Turn them into text, numbers or dates."
        raise DataError(message, code="unreadable-type")
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        column = column.cast(pa.decimal128(kind.precision, kind.scale))
    encoded = column if pa.types.is_dictionary(column.type) else one_dictionary(column.dictionary_encode())
    if not encoded.num_chunks:
        return pa.array([], kind), pa.array([], pa.string()), np.zeros(0, dtype=np.int32)
    codes = np.concatenate([_indices(chunk) for chunk in encoded.chunks])
    values = encoded.chunk(0).dictionary
    return values.cast(kind), _texts(values), codes


def _indices(encoded: pa.DictionaryArray) -> NDArray[np.int32]:
    return np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int32)


def _texts(values: pa.Array) -> pa.Array:
    """Canonical texts of distinct values, none of which is null."""
    kind = values.type
    if is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return values.cast(pa.string())
    if pa.types.is_floating(kind):
        numbers = values.to_numpy(zero_copy_only=False)
        doubles = numbers.tolist() if numbers.dtype == np.float64 else map(own_digits, numbers)
        return _strings(map(_float_text, doubles))
    if pa.types.is_decimal(kind):
        return _strings(decimal_text(value) for value in values.to_pylist())
    if pa.types.is_date(kind):
        days = values.cast(pa.date32()).cast(pa.int32()).to_numpy().astype("datetime64[D]")
        return _strings(np.datetime_as_string(days).tolist())
    if pa.types.is_time(kind):
        counts = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_numpy().astype(np.int64)
        return _strings(text.partition("T")[2] for text in _moments(counts, kind.unit))
    return _timestamp_texts(values)


def _strings(texts: Iterable[str | None]) -> pa.Array:
    return pa.array(list(texts), pa.string())


def _float_text(value: float) -> str | None:
    if math.isnan(value):
        return None
    return str(int(value)) if value.is_integer() else repr(value)


def decimal_text(value: Decimal) -> str:
    """The text of the float with the same digits, where there is one, so that both types agree."""
    if value == value.to_integral_value():
        return str(int(value))
    double = repr(float(value))
    return double if Decimal(double) == value else format(value, "f").rstrip("0")


def _moments(counts: NDArray[np.int64], unit: str) -> list[str]:
    """ISO texts of counts of a unit since 1970, with the fraction of a second where it is not zero."""
    per_second = _PER_SECOND[unit]
    seconds, fractions = np.divmod(counts, per_second)
    texts: list[str] = np.datetime_as_string(seconds.astype("datetime64[s]")).tolist()
    width = len(str(per_second)) - 1
    pairs = zip(texts, fractions.tolist(), strict=True)
    return [f"{text}.{fraction:0{width}d}".rstrip("0") if fraction else text for text, fraction in pairs]


def _timestamp_texts(values: pa.Array) -> pa.Array:
    kind = values.type
    if kind.tz is None:
        texts = _moments(values.cast(pa.int64()).to_numpy(), kind.unit)
        return _strings(text.removesuffix("T00:00:00") for text in texts)
    try:
        local = pc.local_timestamp(values).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid as error:
        message = f"The time zone {kind.tz!r} is not known on this computer: {error}."
        raise DataError(message, code="unknown-time-zone") from None
    offsets = (local - values.cast(pa.int64()).to_numpy()) // _PER_SECOND[kind.unit]
    texts = _moments(local, kind.unit)
    return _strings(text + _offset(offset) for text, offset in zip(texts, offsets.tolist(), strict=True))


def _offset(seconds: int) -> str:
    sign = "-" if seconds < 0 else "+"
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{text}:{rest:02d}" if rest else text


def in_order_of_content(table: pa.Table) -> pa.Table:
    """The rows sorted by what stands in them, so that their order in the input decides nothing."""
    return table.take(pa.array(order_of_content(table)))


def order_of_content(table: pa.Table) -> NDArray[np.int64]:
    """The rows in the order of what stands in them: for each position, which row of the table goes there."""
    return order_of_cells(table.select(sorted(table.column_names, reverse=True)))


def in_order_of_cells(table: pa.Table) -> pa.Table:
    """The rows in the order of a release: by the texts of their cells from left to right, missing ones last."""
    return table.take(pa.array(order_of_cells(table))) if table.num_columns else table


def order_of_cells(table: pa.Table) -> NDArray[np.int64]:
    """The rows in the order of a release: for each position, which row of the table goes there."""
    keys = [_ranked(column)[3] for column in table.columns]
    return np.lexsort(keys[::-1]) if keys else np.arange(table.num_rows)
