"""Households and weights of records in a cluster: summed up and grouped where the records are."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from shoal.encode.recoder import RowFinder
from shoal.encode.result import Result
from shoal.encode.survey import Floats, Members, Survey, SurveyCheck, SurveyParts, Weights
from shoal.io.spark.cluster import Named, folded, mapped, spark_errors
from shoal.io.survey import survey_records, whole_households
from shoal.table.distinct_rows import DistinctRows

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class ClusterParts:
    """Records in a cluster by what they are part of."""

    weights: Floats | None
    frame: Any  # part and household of each record; None where the policy names no households

    def fold(self, function: Callable[[Members], _T]) -> list[_T] | None:
        """The households of each partition, after the records of each are brought together."""
        if self.frame is None:
            return None

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[_T]:
            return map(function, whole_households(batches))

        with spark_errors():
            return folded(self.frame.repartition("household").sortWithinPartitions("household"), run)


@dataclass(frozen=True, eq=False)
class ClusterSurvey(Survey):
    """A survey in a cluster."""

    columns: Mapping[str, str]
    frame: Named  # the columns that were counted and those of the survey
    rows: DistinctRows  # the distinct rows that the driver holds
    source: str  # of the policy

    def check(self) -> None:
        """Raise `PolicyError` with every problem of their values."""
        columns, names = dict(self.columns), list(dict.fromkeys(self.columns.values()))

        def look(batches: Iterable[pa.RecordBatch]) -> Iterator[SurveyCheck]:
            found = SurveyCheck(columns)
            for batch in batches:
                found.add(batch.rename_columns(names))
            yield found

        whole = SurveyCheck(self.columns)
        with spark_errors():
            for each in folded(self.frame.select(names).frame, look):
                whole.add_check(each)
        whole.raise_problems(self.source)

    @contextmanager
    def parts(self, result: Result) -> Iterator[SurveyParts]:
        """The records by the row of a result that each is part of."""
        finder, columns = RowFinder.of(self.rows, result), dict(self.columns)
        look = partial(survey_records, finder=finder, columns=columns)
        types = self.frame.arrow_types()
        empty = look(pa.RecordBatch.from_arrays([pa.array([], kind) for kind in types.values()], list(types)))
        with spark_errors():
            found = mapped(self.frame, look, empty).public()
            records = (found if finder.parts is None else _parted(found, finder)).withColumnRenamed("row", "part")
            records.persist()
            try:
                weights = _weights(records, result.rows.n_rows) if "weight" in columns else None
                yield ClusterParts(weights, records.select("household", "part") if "household" in columns else None)
            finally:
                records.unpersist()


def _weights(records: Any, count: int) -> Floats:
    """The sum of the weights of each part."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    summed = records.groupBy("part").agg(f.sum("whole").alias("whole"), f.sum("fraction").alias("fraction")).toArrow()
    found = Weights.none(count)
    part, whole, fraction = (summed.column(name).to_numpy() for name in ("part", "whole", "fraction"))
    found.add(part, Weights(whole, fraction))
    return found.numbers()


def _parted(records: Any, finder: RowFinder) -> Any:
    """The same records with the row of the result that each is part of, in the order that settles it."""
    from pyspark.sql import Window  # noqa: PLC0415
    from pyspark.sql import functions as f  # noqa: PLC0415

    names = list(records.columns)
    within = Window.partitionBy("row").orderBy(names[1:])
    ranked = records.withColumn("rank", f.row_number().over(within).cast("bigint") - 1)
    kinds = ", ".join(f"{name} {'string' if name == 'household' else 'bigint'}" for name in names)

    def part(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            row, rank = batch.column("row").to_numpy(), batch.column("rank").to_numpy()
            found = pa.array(finder.part_at(finder.starts[row] + rank).astype(np.int64))
            yield pa.RecordBatch.from_arrays([found, *(batch.column(name) for name in names[1:])], names)

    return ranked.mapInArrow(part, kinds)
