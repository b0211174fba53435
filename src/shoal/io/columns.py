"""What every table inside Shoal has in common, whatever it was read from.

Names are unique and not empty; columns have no dictionaries (they list values of no row), NaN, nested or binary values.
"""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, did_you_mean
from shoal.formatting import listing
from shoal.table.canonical_text import decoded, has_text, is_text, own_digits

_EXACT = 2.0**53  # up to here every whole number is a double
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?", re.ASCII)
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


def check_names(names: Sequence[object], where: str) -> list[str]:
    """The names of all columns, or a `DataError` for names that are not text, empty or repeated."""
    for number, name in enumerate(names, start=1):
        if not isinstance(name, str):
            message = f"{where}: the name of column {number} is {name!r} ({type(name).__name__}), not text. "
            raise DataError(f"{message}Rename the columns so that every name is a string.", code="column-name-not-text")
        if not name.strip():
            message = f"{where}: column {number} of {len(names)} has no name. Give it one in the header."
            raise DataError(message, code="unnamed-column")
    texts = [str(name) for name in names]
    doubles = [f"{name!r} ({count} times)" for name, count in Counter(texts).items() if count > 1]
    if doubles:
        message = f"{where}: column names must be unique, but these repeat: {listing(doubles)}. Rename them."
        raise DataError(message, code="column-name-twice")
    return texts


def chosen(names: Sequence[str], columns: Sequence[str] | None, where: str) -> list[str]:
    """The columns to read: all of them, or those asked for in the order asked for."""
    if columns is None:
        return list(names)
    known = frozenset(names)
    for column in columns:
        if column not in known:
            message = f"{where} has no column {column!r}. {did_you_mean(column, names)}"
            raise DataError(message, code="unknown-column")
    return list(dict.fromkeys(columns))


def without_unnamed_index(names: Sequence[str]) -> list[str]:
    """The names without the columns in which pandas keeps an unnamed row index: row labels are never data."""
    return [name for name in names if not _UNNAMED_INDEX.fullmatch(name)]


def plain(table: pa.Table, where: str, missing: Sequence[str] = ()) -> pa.Table:
    """The table with plain columns and without metadata; texts in ``missing`` become null."""
    arrays = [_plain_column(table.column(name), name, where, missing) for name in table.column_names]
    return pa.Table.from_arrays(arrays, table.column_names) if arrays else table.replace_schema_metadata(None)


def without_fractions(numbers: pa.Array) -> pa.Array:
    """Integers where no number has a fraction and all are exact, as files that know only floats keep them."""
    whole = pc.equal(numbers, pc.trunc(numbers))
    exact = pc.less_equal(pc.abs(numbers), pa.scalar(_EXACT, numbers.type))
    return numbers.cast(pa.int64()) if pc.all(pc.and_(whole, exact)).as_py() is not False else numbers


def without_times(moments: pa.Array) -> pa.Array:
    """Days where no moment has a time of day."""
    days = moments.cast(pa.date32(), safe=False)
    return days if pc.all(pc.equal(days.cast(moments.type), moments)).as_py() is not False else moments


def duration_text(micros: pa.Array) -> pa.Array:
    """Durations, given in microseconds, with as many hours as they have: a day and two hours are 26:00:00."""

    def text(duration: int) -> str:
        seconds, fraction = divmod(abs(duration), 10**6)
        whole = f"{'-' if duration < 0 else ''}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        return f"{whole}.{fraction:06d}".rstrip("0") if fraction else whole

    return pa.array([None if duration is None else text(duration) for duration in micros.to_pylist()], pa.string())


def common_type(name: str, before: pa.DataType, now: pa.DataType) -> pa.DataType:
    """The type of a column in all parts of the data; one without any value takes that of the others."""
    if before == now or pa.types.is_null(now):
        return before
    if pa.types.is_null(before):
        return now
    message = f"column {name!r} has the type {before} in one part of the data and {now} in another. "
    raise DataError(f"{message}Give it one type in all files.", code="types-differ")


def _plain_column(column: pa.ChunkedArray, name: str, where: str, missing: Sequence[str]) -> pa.ChunkedArray:
    column = decoded(column)
    if not has_text(column.type):
        message = f"{where}: column {name!r} has the type {column.type}, which is not one value per cell."
        fix = "Turn it into text, numbers or dates, or leave the column out of the policy."
        raise DataError(f"{message} {fix}", code="column-type")
    if pa.types.is_float16(column.type):  # for which Arrow has few functions
        column = pa.chunked_array([_wider(chunk) for chunk in column.chunks], pa.float32())
    if pa.types.is_floating(column.type):
        nan = pc.is_nan(column)
        if pc.any(nan).as_py():
            column = pc.if_else(nan, pa.scalar(None, column.type), column)
        column = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 and 0.0 are one value and must have the same bits
    marks = _marked(column, missing)
    if marks is not None and pc.any(marks).as_py():
        column = pc.if_else(marks, pa.scalar(None, column.type), column)
    return column


def _marked(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray | None:
    """Which cells are marks of a missing value: texts, or numbers that a mark writes; None where none can be."""
    kind = column.type
    if missing and is_text(kind):
        return pc.is_in(column, value_set=pa.array(missing, kind))
    written = [Decimal(mark) for mark in missing if _NUMBER.fullmatch(mark)]
    if written and pa.types.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        whole = [int(mark) for mark in written if mark == mark.to_integral_value() and limits.min <= mark <= limits.max]
        return pc.is_in(column, value_set=pa.array(whole, kind))
    if written and pa.types.is_floating(kind):
        with np.errstate(over="ignore"):
            floats = np.array([float(mark) for mark in written]).astype(kind.to_pandas_dtype())
        # a mark is a float that has the same digits: none other must be taken for it
        digits = [Decimal(float(each)) if each.is_integer() else Decimal(str(each)) for each in floats]
        same = [float(each) for each, mark, own in zip(floats, written, digits, strict=True) if mark == own]
        return pc.is_in(column, value_set=pa.array(same, kind))
    return None


def _wider(halves: pa.Array) -> pa.Array:
    """Floats of 16 bits as those of 32 with the same digits."""
    distinct, indices = np.unique(halves.to_numpy(zero_copy_only=False), return_inverse=True)
    return pa.array(np.array([own_digits(each) for each in distinct], np.float32)[indices])
