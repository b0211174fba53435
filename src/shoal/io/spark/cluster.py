"""The engine of a cluster: the few things that Shoal asks Apache Spark to do, and nothing of what they are for.

Only what Spark Connect offers is used, and no record is spread at random: a task run again must give the same.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import DataError, InputError, OutputError
from shoal.table.encoded import Counts

OnBatch = Callable[[pa.RecordBatch], pa.Table]

COUNT = "__records"  # the column of a counted frame that says how many records a row stands for
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?", re.ASCII)
_NAMED = re.compile(r"(?:Caused by: )?(?:[\w$]+\.)*(\w+(?:Error|Exception)): (.*)")
_WHOLE = {"tinyint", "smallint", "int", "bigint"}
_FLOATING = {"float", "double"}
_RECORDS, _BYTES = 500_000, 1 << 25  # a partition that is written from counts has no more of either
_PIECES = 16  # moved to each partition


def is_spark_frame(data: Any) -> bool:
    """Whether something is a DataFrame of Spark, classic or Connect; nothing of Spark is imported for the question."""
    kinds = type(data).__mro__
    return any(kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in kinds)


def session_of(settings: Mapping[str, str]) -> Any:
    """The session that is running, or a new one with these settings, beside those of `spark-submit`."""
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415  only for those who use it
    except ImportError:
        message = 'engine: spark needs PySpark 4 and Java 17 or newer: pip install "shoal[spark]".'
        fix = "Where the data fits on this machine, leave engine out of the policy."
        raise InputError(f"{message} {fix}", code="no-spark") from None
    builder = SparkSession.builder.appName(settings.get("spark.app.name", "shoal"))
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@contextmanager
def spark_errors(
    kind: type[DataError | OutputError] = DataError,
    what: str = "Spark could not do its part",
    code: str = "spark-failed",
) -> Iterator[None]:
    """Errors of Spark's as errors of Shoal's: among long traces, the last line that names an error."""
    try:
        yield
    except Exception as error:
        if not any(each.__module__.startswith(("pyspark.", "py4j.")) for each in type(error).__mro__):
            raise
        lines = [line.strip() for line in str(error).split("JVM stacktrace")[0].splitlines() if line.strip()]
        named = [_NAMED.sub(r"\2", line) for line in lines if _NAMED.match(line)]
        reason = (named[-1:] or lines or [type(error).__name__])[0]
        raise kind(f"{what}: {reason[:600]}", code=code) from error


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
        return cls(frame.toDF(*(f"c{index}" for index in range(len(names)))), names)

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
        return Named(chosen.toDF(*(f"c{index}" for index in range(len(names)))), tuple(names))

    def public(self) -> Any:
        """The frame with its own names."""
        return self.frame.toDF(*self.names)

    def arrow_types(self) -> dict[str, pa.DataType]:
        """Arrow's type of each column; nothing is computed."""
        return dict(zip(self.names, self.frame.limit(0).toArrow().schema.types, strict=True))

    def collect(self) -> pa.Table:
        """All rows on the driver."""
        return pa.table([in_utc(column) for column in self.frame.toArrow().columns], names=list(self.names))


def cleaned(table: Named, columns: Sequence[str], missing: Sequence[str]) -> Named:
    """Some columns, without NaN and without marks of missing values: the same cells that a file is read into."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    chosen = table.select(columns)
    numbers = [float(mark) for mark in missing if _NUMBER.fullmatch(mark)]
    cells = []
    for index, (_, kind) in enumerate(chosen.frame.dtypes):
        cell = chosen.frame[f"c{index}"]
        if kind in _FLOATING:
            cell = f.when(~f.isnan(cell), cell + f.lit(0.0).cast(kind))  # -0.0 and 0.0 are one value
        if kind == "string" and missing:
            cell = f.when(~cell.isin(list(missing)), cell)
        if kind in _WHOLE | _FLOATING and numbers:
            cell = f.when(~cell.cast("double").isin(numbers), cell)
        cells.append(cell.alias(f"c{index}"))
    return Named(chosen.frame.select(cells), chosen.names)


def in_utc(values: pa.Array | pa.ChunkedArray) -> Any:
    """Moments in universal time: the time zone of a session must decide nothing."""
    kind = values.type
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    return values.cast(pa.timestamp(kind.unit, "UTC")) if zoned else values


def mapped(table: Named, function: OnBatch, empty: pa.Table) -> Named:
    """A function of Arrow batches, pickled and run where the records lie; ``empty`` has its columns."""
    inside = [f"c{index}" for index in range(empty.num_columns)]
    kinds = _schema(empty.rename_columns(inside))
    names = list(table.names)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            named = pa.RecordBatch.from_arrays([in_utc(column) for column in batch.columns], names)
            for made in function(named).to_batches():
                yield pa.RecordBatch.from_arrays(made.columns, inside)

    return Named(table.frame.mapInArrow(run, kinds), tuple(empty.column_names))


def folded(frame: Any, function: Callable[[Iterable[pa.RecordBatch]], Iterable[Any]]) -> list[Any]:
    """What a function says of the batches of each partition, pickled and run where the records lie."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for answer in function(batches):
            yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(answer)], pa.binary())], ["content"])

    done = frame.mapInArrow(run, "content binary").toArrow()
    return [pickle.loads(each) for each in done.column("content").to_pylist()]  # noqa: S301 - our own workers' answers


def files_read(session: Any, folder: str, function: Callable[[str, Any], Any]) -> list[Any]:
    """What a function says of the name and the bytes of each file in a folder, in the order of the names; it is pickled
    and run where the files are read. A file must fit in the memory of a task.
    """
    files = session.read.format("binaryFile").option("pathGlobFilter", "[!._]*").load(folder).select("path", "content")

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, Any]]:
        for path, content in (cells for batch in batches for cells in zip(*batch.columns, strict=True)):
            name = path.as_py().rpartition("/")[2]
            yield name, function(name, content.as_buffer())

    return [answer for _, answer in sorted(folded(files, read), key=itemgetter(0))]


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
        if pa.types.is_list(field.type):
            return t.ArrayType(kind(field.type.value_field))
        if pa.types.is_struct(field.type):
            return t.StructType([t.StructField(each.name, kind(each)) for each in field.type])
        message = f"column {field.name!r} has the type {field.type}, which Spark has no type for."
        raise DataError(message, code="unreadable-type")

    return t.StructType([t.StructField(field.name, kind(field)) for field in table.schema])


def in_order(table: Named, keys: Sequence[str], columns: Sequence[str]) -> Named:
    """The rows sorted over all partitions by texts, by code point and missing ones last; then only some columns."""
    ordered = table.frame.orderBy([table.cell(name).asc_nulls_last() for name in keys])
    return Named(ordered, table.names).select(columns)


def unfolded(session: Any, table: pa.Table, counts: Counts) -> Named:
    """The records of distinct rows on the driver: each row as often as its count says, in order over all partitions.

    Only distinct rows are moved, in pieces that stand for equally many records, and each partition gets its share of
    the pieces by their number; each row is repeated where it ends up.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    inside = [f"c{index}" for index in range(table.num_columns)]
    rows = table.rename_columns(inside)
    per_partition = _records_per_partition(rows)
    pieces = in_pieces(rows, counts, max(per_partition // _PIECES, 1))
    partitions = max(-(-int(counts.sum()) // per_partition), 1)
    frame = session.createDataFrame(pieces, _schema(pieces))
    frame = frame.repartitionByRange(partitions, "piece").sortWithinPartitions("piece")
    single = frame.select(f.explode("rows").alias("row")).select("row.*")
    repeated = single.withColumn(COUNT, f.explode(f.sequence(f.lit(1).cast("bigint"), single[COUNT])))
    return Named(repeated.select(inside), tuple(table.column_names))


def _records_per_partition(rows: pa.Table) -> int:
    """How many records a partition gets: fewer where they are long, so that one task holds a file in memory."""
    length = int(rows.nbytes) // max(int(rows.num_rows), 1)
    return min(_RECORDS, max(_BYTES // max(length, 1), 1))


def in_pieces(rows: pa.Table, counts: Counts, size: int) -> pa.Table:
    """Distinct rows with their counts as lists, each of so many records, but for the last: what a row has too many of
    goes to the next list.
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.union1d(ends, np.arange(size, total, size))
    starts = np.append(0, cuts)[:-1].astype(np.int64)
    parts = rows.take(pa.array(np.searchsorted(ends, starts, side="right"))).combine_chunks()
    cells = [column.combine_chunks() for column in parts.append_column(COUNT, pa.array(cuts - starts)).columns]
    piece, first = np.unique(starts // size, return_index=True)
    structs = pa.StructArray.from_arrays(cells, names=[*rows.column_names, COUNT])
    lists = pa.ListArray.from_arrays(pa.array(np.append(first, len(starts)), pa.int32()), structs)
    return pa.table({"piece": pa.array(piece, pa.int64()), "rows": lists})


@dataclass(frozen=True, eq=False)
class SparkWorkers:
    """Sets of classes worked on by the cluster, one per task: `shoal.search.engine.RemoteWorkers`."""

    session: Any
    blocks: int
    least: int

    def __call__(self, work: Callable[[Any], Any], blocks: Sequence[Any]) -> list[Any]:
        """Do the work on each block where there is room for it."""
        kinds, content = "block bigint, content binary", pa.array([pickle.dumps(each) for each in blocks], pa.binary())
        sent = pa.table({"block": list(range(len(blocks))), "content": content})

        def run(group: pa.Table) -> pa.Table:
            answer = [pickle.dumps(work(pickle.loads(each.as_py()))) for each in group.column("content")]  # noqa: S301
            return group.set_column(1, "content", pa.array(answer, pa.binary()))

        done = self.session.createDataFrame(sent, kinds).groupBy("block").applyInArrow(run, kinds).toArrow()
        answers = dict(zip(done.column("block").to_pylist(), done.column("content").to_pylist(), strict=True))
        return [pickle.loads(answers[index]) for index in range(len(blocks))]  # noqa: S301 - our own workers' answers
