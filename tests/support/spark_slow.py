"""Work on Spark that takes its time and leaves marks, for tests that kill somebody meanwhile."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.io.spark import cluster as spark


def slow_down(folder: str) -> Callable[[], None]:
    """Make everything that is recoded or read back take its time and leave a mark; gives back how to undo it."""
    mapped, files_read = spark.mapped, spark.files_read
    marks, when = folder, (Path, uuid, time)  # closed over, so that workers need not know this file

    def slow_mapped(given: spark.Named, function: Callable[..., pa.Table], empty: pa.Table) -> spark.Named:
        def slow(batch: pa.RecordBatch) -> pa.Table:
            path, unique, clock = when
            path(marks, unique.uuid4().hex).touch()
            clock.sleep(1.5)
            return function(batch)

        spread = spark.Named(given.frame.repartition(6, given.frame["c0"]), given.names)
        return mapped(spread, slow, empty)

    def slow_files_read(session: Any, path: str, function: Callable[[str, Any], Any]) -> list[Any]:
        def slow(name: str, content: Any) -> Any:
            path, unique, clock = when
            path(marks, unique.uuid4().hex).touch()
            clock.sleep(3)
            return function(name, content)

        return files_read(session, path, slow)

    spark.mapped, spark.files_read = slow_mapped, slow_files_read

    def undo() -> None:
        spark.mapped, spark.files_read = mapped, files_read

    return undo
