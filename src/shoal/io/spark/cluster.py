"""The engine of a cluster: the few things that Shoal asks Apache Spark to do, and nothing of what they are for.

It counts distinct records, brings the counts to the driver as packed codes instead of texts, runs a function over Arrow
batches wherever the records lie, and reads and writes tables. Only what Spark Connect offers is used: no SparkContext,
no RDD, no broadcast variable. No record is ever spread by a random number: a task that is run again must give the same.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import DataError, InputError, OutputError

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
OnBatch = Callable[[pa.RecordBatch], pa.Table]

COUNT = "__records"  # the column of a counted frame that says how many records a row stands for
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?", re.ASCII)
_NAMED = re.compile(r"(?:Caused by: )?(?:[\w$]+\.)*(\w+(?:Error|Exception)): (.*)")
_WHOLE = {"tinyint", "smallint", "int", "bigint"}
_FLOATING = {"float", "double"}


def is_spark_frame(data: Any) -> bool:
    """Whether something is a DataFrame of Spark, classic or Connect; nothing of Spark is imported for the question."""
    kinds = type(data).__mro__
    return any(kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in kinds)


def session_of(settings: Mapping[str, str]) -> Any:
    """The session that is running, or a new one with these settings, beside those of `spark-submit`."""
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415  only for those who use it
    except ImportError:
        raise InputError(
            'engine: spark needs PySpark 4 and Java 17 or newer: pip install "shoal[spark]". '
            "Where the data fits on this machine, leave engine out of the policy.",
            code="no-spark",
        ) from None
    builder = SparkSession.builder.appName(settings.get("spark.app.name", "shoal"))
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def is_from_spark(error: BaseException) -> bool:
    """Whether an error is Spark's own."""
    return any(kind.__module__.startswith(("pyspark.", "py4j.")) for kind in type(error).__mro__)


def error_line(error: BaseException) -> str:
    """The line of a Spark error that says what was wrong, among long traces: the last that names an error."""
    lines = [line.strip() for line in str(error).split("JVM stacktrace")[0].splitlines() if line.strip()]
    named = [_NAMED.sub(r"\2", line) for line in lines if _NAMED.match(line)]
    return ((named[-1:] or lines or [type(error).__name__])[0])[:600]


@contextmanager
def spark_errors(kind: type[DataError] | type[OutputError] = DataError) -> Iterator[None]:
    """Errors of Spark's as errors of Shoal's: the line that says what was wrong, without traces."""
    try:
        yield
    except Exception as error:
        if not is_from_spark(error):
            raise
        raise kind(f"Spark could not do its part: {error_line(error)}", code="spark-failed") from error


@dataclass(frozen=True, eq=False)
class Named:
    """A frame whose columns have plain names inside (c0, c1, …), beside their own: Spark takes ``a.b`` for a field and
    ``Age`` and ``age`` for one column.
    """

    frame: Any
    names: tuple[str, ...]

    @classmethod
    def of(cls, frame: Any) -> Named:
        """A frame as it was handed over."""
        names = tuple(frame.columns)
        return cls(frame.toDF(*(f"c{place}" for place in range(len(names)))), names)

    @property
    def session(self) -> Any:
        """The session that the frame belongs to."""
        return self.frame.sparkSession

    def cell(self, name: str) -> Any:
        """A column by its own name."""
        return self.frame[f"c{self.names.index(name)}"]

    def select(self, names: Sequence[str]) -> Named:
        """Some of the columns."""
        chosen = self.frame.select([self.cell(name) for name in names])
        return Named(chosen.toDF(*(f"c{place}" for place in range(len(names)))), tuple(names))

    def public(self) -> Any:
        """The frame with its own names."""
        return self.frame.toDF(*self.names)

    def arrow_types(self) -> dict[str, pa.DataType]:
        """Arrow's type of each column; nothing is computed."""
        return dict(zip(self.names, self.frame.limit(0).toArrow().schema.types, strict=True))

    def collect(self) -> pa.Table:
        """All rows on the driver."""
        table = self.frame.toArrow()
        columns = [column if column.num_chunks == 0 else pa.chunked_array([in_utc(each) for each in column.chunks])
                   for column in table.columns]  # fmt: skip
        return pa.table(columns, names=list(self.names))


def cleaned(given: Named, columns: Sequence[str], missing: Sequence[str]) -> Named:
    """Some columns, without NaN and without marks of missing values: the same cells that a file is read into."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    chosen = given.select(columns)
    numbers = [float(mark) for mark in missing if _NUMBER.fullmatch(mark)]
    cells = []
    for place, (_, kind) in enumerate(chosen.frame.dtypes):
        cell = chosen.frame[f"c{place}"]
        if kind in _FLOATING:
            cell = f.when(~f.isnan(cell), cell + f.lit(0.0).cast(kind))  # -0.0 and 0.0 are one value
        if kind == "string" and missing:
            cell = f.when(~cell.isin(list(missing)), cell)
        if kind in _WHOLE | _FLOATING and numbers:
            cell = f.when(~cell.cast("double").isin(numbers), cell)
        cells.append(cell.alias(f"c{place}"))
    return Named(chosen.frame.select(cells), chosen.names)


def in_utc(values: pa.Array) -> pa.Array:
    """Moments in universal time: the time zone of a session must decide nothing."""
    kind = values.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return values.cast(pa.timestamp(kind.unit, "UTC"))
    return values


def mapped(given: Named, function: OnBatch, empty: pa.Table) -> Named:
    """A function of Arrow batches run where the records lie; ``empty`` is a table of no rows with the columns it gives.

    The function is pickled: the workers need Shoal, too.
    """
    inside = [f"c{place}" for place in range(empty.num_columns)]
    kinds = _schema(empty.rename_columns(inside))
    names = list(given.names)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            given = pa.RecordBatch.from_arrays([in_utc(column) for column in batch.columns], names)
            for made in function(given).to_batches():
                yield pa.RecordBatch.from_arrays(made.columns, inside)

    return Named(given.frame.mapInArrow(run, kinds), tuple(empty.column_names))


def _schema(table: pa.Table) -> Any:
    """Spark's types of a table's columns; moments without a time zone stay without one."""
    from pyspark.sql import types as t  # noqa: PLC0415

    simple = {
        pa.string(): t.StringType, pa.large_string(): t.StringType, pa.bool_(): t.BooleanType, pa.int8(): t.ByteType,
        pa.int16(): t.ShortType, pa.int32(): t.IntegerType, pa.int64(): t.LongType, pa.float32(): t.FloatType,
        pa.float64(): t.DoubleType, pa.date32(): t.DateType, pa.null(): t.NullType,
    }  # fmt: skip

    def kind(field: pa.Field) -> Any:
        if field.type in simple:
            return simple[field.type]()
        if pa.types.is_decimal(field.type):
            return t.DecimalType(field.type.precision, field.type.scale)
        if pa.types.is_timestamp(field.type):
            return t.TimestampNTZType() if field.type.tz is None else t.TimestampType()
        raise DataError(
            f"column {field.name!r} has the type {field.type}, which Spark has no type for.", code="unreadable-type"
        )

    return t.StructType([t.StructField(field.name, kind(field)) for field in table.schema])


def in_order(given: Named, keys: Sequence[str], columns: Sequence[str]) -> Named:
    """The rows sorted over all partitions by texts, by code point and missing ones last; then only some columns."""
    ordered = given.frame.orderBy([given.cell(name).asc_nulls_last() for name in keys])
    return Named(ordered, given.names).select(columns)


def unfolded(session: Any, table: pa.Table, counts: Counts) -> Named:
    """The records of distinct rows on the driver: each row as often as its count says."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    inside = [f"c{place}" for place in range(table.num_columns)]
    counted = table.rename_columns(inside).append_column(COUNT, pa.array(counts))
    frame = session.createDataFrame(counted, _schema(counted))
    repeated = frame.withColumn(COUNT, f.explode(f.sequence(f.lit(1).cast("bigint"), frame[COUNT])))
    return Named(repeated.select(inside), tuple(table.column_names))


@dataclass(frozen=True, eq=False)
class SparkWorkers:
    """Sets of classes worked on by the cluster, one per task: `shoal.search.engine.RemoteWorkers`."""

    session: Any
    blocks: int
    least: int

    def __call__(self, work: Callable[[Any], Any], blocks: Sequence[Any]) -> list[Any]:
        """Do the work on each block where there is room for it."""
        kinds = "place bigint, content binary"
        sent = pa.table({"place": list(range(len(blocks))), "content": pa.array([pickle.dumps(each) for each in blocks],
                                                                               pa.binary())})  # fmt: skip

        def run(group: pa.Table) -> pa.Table:
            answer = [pickle.dumps(work(pickle.loads(each.as_py()))) for each in group.column("content")]  # noqa: S301
            return group.set_column(1, "content", pa.array(answer, pa.binary()))

        done = self.session.createDataFrame(sent, kinds).groupBy("place").applyInArrow(run, kinds).toArrow()
        answers = dict(zip(done.column("place").to_pylist(), done.column("content").to_pylist(), strict=True))
        return [pickle.loads(answers[place]) for place in range(len(blocks))]  # noqa: S301 - our own workers' answers
