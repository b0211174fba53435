"""DataFrames in, the same kind of DataFrame out. The only file that knows pandas and polars, and only when handed one.

The index of a pandas DataFrame is never read: it is no column, and row labels must not reach a release.
"""

from collections.abc import Sequence
from datetime import date, datetime
from enum import Enum
from numbers import Number
from typing import Any

import pyarrow as pa

from shoal.errors import DataError
from shoal.io.columns import check_names, chosen, plain, without_unnamed_index

_WHERE = "The DataFrame"


class FrameKind(Enum):
    """What a table was handed over as, and is given back as."""

    ARROW = "arrow"
    PANDAS = "pandas"
    POLARS = "polars"


def is_frame(obj: object) -> bool:
    """Whether `to_arrow` accepts the object."""
    return _kind(obj) is not None


def frame_names(obj: Any) -> list[str]:
    """The names of a table's columns, converting none of them."""
    kind = _known_kind(obj)
    if kind is FrameKind.PANDAS:
        if obj.columns.nlevels > 1:
            message = f"{_WHERE} has column names of {obj.columns.nlevels} levels (a pandas MultiIndex)."
            fix = "Give every column one name, for example by joining the levels."
            raise DataError(f"{message} {fix}", code="column-name-levels")
        return check_names(list(obj.columns), _WHERE)
    if kind is FrameKind.POLARS:
        return check_names(obj.collect_schema().names(), _WHERE)
    schema = getattr(obj, "schema", None)  # a stream that can be read only once has one
    names = schema.names if isinstance(schema, pa.Schema) else _as_table(obj).column_names
    return without_unnamed_index(check_names(names, _WHERE))


def to_arrow(
    obj: Any, columns: Sequence[str] | None = None, *, missing: Sequence[str] = ()
) -> tuple[pa.Table, FrameKind]:
    """A table as Arrow and the kind that it came as; with ``columns``, only those, in that order."""
    kind = _known_kind(obj)
    given = _as_table(obj) if kind is FrameKind.ARROW else obj
    names = chosen(frame_names(given), columns, _WHERE)
    if kind is FrameKind.PANDAS:
        table = _from_pandas(given, names)
    elif kind is FrameKind.POLARS:
        table = given.lazy().select(names).collect().to_arrow()
    else:
        table = given.select(names)
    return plain(table, _WHERE, missing), kind


def from_arrow(table: pa.Table, kind: FrameKind) -> Any:
    """The table as the kind that the input came as."""
    if kind is FrameKind.PANDAS:
        return _to_pandas(table)
    if kind is FrameKind.POLARS:
        import polars  # noqa: PLC0415  only for those who use it

        return polars.from_arrow(table)
    return table


def _kind(obj: object) -> FrameKind | None:
    """By the classes' modules, so that neither library is imported to ask."""
    for base in type(obj).__mro__:
        package = base.__module__.partition(".")[0]
        if package in ("pandas", "polars") and base.__name__ in ("DataFrame", "LazyFrame", "Series"):
            return None if base.__name__ == "Series" else FrameKind(package)
    is_arrow = isinstance(obj, pa.Table | pa.RecordBatch) or hasattr(obj, "__arrow_c_stream__")
    return FrameKind.ARROW if is_arrow else None


def _known_kind(obj: object) -> FrameKind:
    kind = _kind(obj)
    if kind is None:
        message = "A table is expected: a pandas or polars DataFrame, a pyarrow Table, or the path of a file;"
        raise DataError(f"{message} {type(obj).__name__} is none of these.", code="not-a-table")
    return kind


def _as_table(obj: Any) -> pa.Table:
    try:
        return obj if isinstance(obj, pa.Table) else pa.table(obj)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"{type(obj).__name__} does not export a table: {error}.", code="not-a-table") from None


def _from_pandas(frame: Any, names: Sequence[str]) -> pa.Table:
    import pandas  # noqa: PLC0415  only for those who use it

    arrays = []
    for name in names:
        series = frame[name]
        if isinstance(series.dtype, pandas.SparseDtype):
            series = series.sparse.to_dense()
        values = series.cat.categories if isinstance(series.dtype, pandas.CategoricalDtype) else series
        if values.dtype == object and _one_type(values[values.notna()], name).startswith("datetime"):
            series = series.infer_objects()  # Arrow would cut objects to microseconds
        try:
            arrays.append(pa.array(series, from_pandas=True))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            message = f"{_WHERE}: column {name!r} of type {series.dtype} cannot be read: {str(error).rstrip('.')}."
            fix = "Turn it into one type, for example with astype(str)."
            raise DataError(f"{message} {fix}", code="column-type") from None
    return pa.Table.from_arrays(arrays, list(names))


def _one_type(values: Any, name: str) -> str:
    """What the values of an object column are; several types are refused.

    Arrow would guess by the first value, and a date before a datetime would cut the time off the latter.
    """
    known = (("text", str), ("number", Number), ("datetime", datetime), ("date", date))
    found = set()
    for kind in set(map(type, values)):
        label = next((label for label, base in known if issubclass(kind, base)), kind.__name__)
        found.add("bool" if kind.__name__ == "bool" else label)
    if "datetime" in found:
        zones = {value.tzinfo for value in values if isinstance(value, datetime)}
        found = (found - {"datetime"}) | {f"datetime in {zone}" if zone else "datetime" for zone in zones}
    if len(found) > 1:
        message = f"{_WHERE}: column {name!r} holds values of several types: {', '.join(sorted(found))}."
        raise DataError(f"{message} Turn them into one type, for example with astype(str).", code="column-type")
    return found.pop() if found else "nothing"


def _to_pandas(table: pa.Table) -> Any:
    import pandas  # noqa: PLC0415  only for those who use it

    whole = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    nullable = {pa.type_for_alias(name.lower()): pandas.api.types.pandas_dtype(name) for name in whole}
    nullable[pa.bool_()] = pandas.BooleanDtype()
    series = {}
    for name in table.column_names:
        column = table.column(name)  # integers with a null stay integers: 5 must not come back as 5.0
        series[name] = column.to_pandas(types_mapper=nullable.get if column.null_count else None)
    return pandas.DataFrame(series, index=pandas.RangeIndex(table.num_rows))
