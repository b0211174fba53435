"""Recoding on Spark that takes its time and leaves marks, for tests that kill somebody meanwhile."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from shoal.io.spark import cluster as spark


def slow_down(folder: str) -> Callable[[], None]:
    """Make every batch take a second and a half and leave a mark in the folder; gives back how to undo it."""
    mapped = spark.mapped

    def slow_mapped(given: spark.Named, function: Callable[..., pa.Table], empty: pa.Table) -> spark.Named:
        marks, when = folder, (Path, uuid, time)  # closed over, so that workers need not know this file

        def slow(batch: pa.RecordBatch) -> pa.Table:
            path, unique, clock = when
            path(marks, unique.uuid4().hex).touch()
            clock.sleep(1.5)
            return function(batch)

        spread = spark.Named(given.frame.repartition(6, given.frame["c0"]), given.names)
        return mapped(spread, slow, empty)

    spark.mapped = slow_mapped

    def undo() -> None:
        spark.mapped = mapped

    return undo
