"""Values as canonical text, and columns of text as codes. Written a second time here, so that a slip in the text that
the rest of Shoal uses shows as a release that does not match its original.
"""

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import DataError

Label = str | None  # a released or original value; ``None`` is the missing value
Chain = tuple[Label, ...]  # the labels of a value from level 0 to the root; empty if the hierarchy cannot hold it
ROOT = "*"
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
_LARGEST_CODE = 2**62


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as indices in the sorted list of its distinct texts; the missing value is last."""

    values: list[Label]
    codes: Codes


def scalar_text(value: Any) -> Label:
    """Canonical text: 39 and 39.0 are "39", true is "true", dates are ISO; null and NaN are missing."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, Decimal):
        return _decimal_text(value)
    if isinstance(value, datetime.date | datetime.time):
        return _without_zeros(value.isoformat())
    raise DataError(f"Values of the type {type(value).__name__} have no canonical text.", code="no-canonical-text")


def text_column(column: Any, name: str) -> Any:
    """An Arrow column as an Arrow column of canonical text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return text_column(column.cast(kind.value_type), name)
    if pa.types.is_string(kind):
        return column
    if pa.types.is_null(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    distinct, codes = values_and_codes(column)
    try:
        texts = [*_texts(distinct), None]
    except (DataError, ValueError, OverflowError, pa.ArrowException) as error:
        message = f"The column {name!r} of type {kind} cannot be read as text: {error}"
        raise DataError(message, code="no-canonical-text") from None
    return pa.chunked_array([pa.array(texts, pa.string()).take(pa.array(codes % len(texts)))])


def code(column: Any) -> Coded:
    """The codes of an Arrow column of text; they do not depend on the order of the rows."""
    distinct, codes = values_and_codes(column)
    texts: list[str] = distinct.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts) + 1, dtype=np.int64)
    rank[order] = np.arange(len(texts))
    rank[-1] = len(texts)
    values: list[Label] = [texts[index] for index in order]
    if bool((codes < 0).any()):
        values.append(None)
    return Coded(values, rank[codes])


def values_and_codes(column: Any) -> tuple[Any, Codes]:
    """Distinct values that are not null, and each row's index among them (-1: null)."""
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    encoded = chunked.dictionary_encode()
    if len({_addresses(chunk.dictionary) for chunk in encoded.chunks}) > 1:  # unifying hashes every dictionary again
        encoded = encoded.unify_dictionaries()
    if not encoded.num_chunks:
        return pa.array([], chunked.type), np.zeros(0, dtype=np.int64)
    parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    distinct, codes = encoded.chunk(0).dictionary, np.concatenate(parts).astype(np.int64)
    return _drop_unused(distinct, codes) if pa.types.is_dictionary(chunked.type) else (distinct, codes)


def packed(columns: Sequence[NDArray[np.integer[Any]]], widths: Sequence[int], rows: int) -> Codes:
    """One code for each row from those of its columns, the order of the rows' codes being that of the columns."""
    keys, size = np.zeros(rows, dtype=np.int64), 1
    for codes, width in zip(columns, widths, strict=True):
        if size * width > _LARGEST_CODE:
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        keys, size = keys * width + codes, size * width
    return keys


def distinct_codes(codes: Codes) -> Codes:
    """The different codes in ascending order; the array is used up. NumPy's own way is slow where most differ."""
    codes.sort()
    return codes[np.append(True, codes[1:] != codes[:-1])] if len(codes) else codes


def _drop_unused(listed: Any, codes: Codes) -> tuple[Any, Codes]:
    """A dictionary of texts as it came may list values that no row holds, one value twice, and the missing one."""
    index_of: dict[str, int] = {}
    used = set(np.flatnonzero(np.bincount(codes[codes >= 0])).tolist())
    number = [
        -1 if text is None or code not in used else index_of.setdefault(text, len(index_of))
        for code, text in enumerate(listed.to_pylist())
    ]
    return pa.array(list(index_of), listed.type), np.array([*number, -1], dtype=np.int64)[codes]


def _texts(values: Any) -> list[Label]:
    """Canonical texts of distinct Arrow values."""
    kind = values.type
    if pa.types.is_timestamp(kind):
        return _timestamp_texts(values)
    if pa.types.is_time(kind) and kind.unit == "ns":
        return _time_texts(values)
    if pa.types.is_floating(kind) and kind.bit_width < 64:  # 0.1 in 32 bits is 0.1, not 0.10000000149011612
        numbers = values.to_numpy(zero_copy_only=False)
        return [scalar_text(float(each if each == np.trunc(each) else str(each))) for each in numbers]
    return [scalar_text(value) for value in values.to_pylist()]


def _timestamp_texts(values: Any) -> list[Label]:
    """ISO texts; a midnight without zone is a date. Fractions are kept apart: Python's end at microseconds."""
    kind = values.type
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]
    seconds, fractions = np.divmod(values.cast(pa.int64()).to_numpy(), 10**digits)
    texts: list[Label] = []
    for moment, fraction in zip(pa.array(seconds).cast(pa.timestamp("s", kind.tz)).to_pylist(), fractions, strict=True):
        whole, offset = moment.isoformat()[:19], moment.isoformat()[19:]
        text = whole + (f".{int(fraction):0{digits}d}".rstrip("0") if fraction else "") + offset
        texts.append(text.removesuffix("T00:00:00"))
    return texts


def _time_texts(values: Any) -> list[Label]:
    """ISO texts of times of day in nanoseconds, three digits finer than Python's."""
    micros, finer = np.divmod(values.cast(pa.int64()).to_numpy(), 1000)
    texts: list[Label] = []
    for time, rest in zip(pa.array(micros).cast(pa.time64("us")).to_pylist(), finer.tolist(), strict=True):
        iso = time.isoformat("microseconds")
        texts.append(f"{iso}{rest:03d}".rstrip("0") if rest else _without_zeros(time.isoformat()))
    return texts


def _decimal_text(value: Decimal) -> str:
    """The text of the float with the same digits where there is one, so that both types agree."""
    if value == value.to_integral_value():
        return str(int(value))
    shortest = repr(float(value))
    return shortest if Decimal(shortest) == value else format(value, "f").rstrip("0")


def _without_zeros(iso: str) -> str:
    """Without the zeros at the end of a fraction of a second."""
    whole, point, fraction = iso.partition(".")
    digits = fraction[:6].rstrip("0")
    return f"{whole}{point}{digits}{fraction[6:]}" if point else iso


def same_memory(one: Any, other: Any) -> bool:
    """Whether two columns of codes with a dictionary are one and the same."""
    if one.type != other.type or not pa.types.is_dictionary(one.type):
        return False
    places = [
        [(_addresses(chunk.indices), _addresses(chunk.dictionary)) for chunk in column.chunks]
        for column in (one, other)
    ]
    return places[0] == places[1]


def _addresses(values: pa.Array) -> tuple[int | None, ...]:
    """Where the values lie in memory, to see that two arrays are one."""
    return values.offset, len(values), *(None if each is None else each.address for each in values.buffers())
