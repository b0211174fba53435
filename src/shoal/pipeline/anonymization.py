"""`anonymize` and `publish`: the path from a table to a verified release, in memory or written."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.io.memory import memory_limit, streams
from shoal.io.postgres.sink import PostgresSink
from shoal.io.sink import (
    FileSink,
    MemorySink,
    Sink,
    check_not_read_again,
    file_target,
    input_files,
    no_output,
    refuse_recoding,
)
from shoal.io.source import HeldSource, Source, data_source
from shoal.io.spark.cluster import is_spark_frame
from shoal.io.spark.sink import SparkMemorySink, SparkSink
from shoal.io.spark.source import SparkSource
from shoal.io.streaming import StreamSource
from shoal.pipeline.registry_options import RegistryOptions
from shoal.pipeline.release import Published, Release
from shoal.pipeline.run import Job, as_policy, run
from shoal.policy import Policy
from shoal.policy.location import DatabaseTable, Place, place
from shoal.search.problem import Progress, no_progress


def anonymize(
    data: Any = None,
    policy: Policy | str | Path | Mapping[str, Any] | None = None,
    *,
    registry: str | Path | None = None,
    progress: Progress = no_progress,
) -> Release:
    """Turn a table into one that may be published.

    ``data`` is a path (CSV, Parquet, Excel, SPSS, SAS, Stata), ``postgresql://host/database#table``, a pandas, polars
    or Spark DataFrame, or an Arrow table; None takes the policy's own ``data``. The release is checked by the
    independent verifier before it is returned. With a ``registry`` (or that of the policy) it is compared with the
    releases in it, and `Release.write` adds it to them.

    Raises `PolicyError` or `DataError` for input that is wrong, `InfeasibleError` when no release satisfies the policy.
    """
    asked = as_policy(policy, "anonymize()")
    options = RegistryOptions.of(asked, registry=registry)
    source: Source = HeldSource(data)
    sink: Sink = MemorySink()
    if asked.engine.name == "spark" or is_spark_frame(data):
        source, sink = SparkSource(data), SparkMemorySink()
    return Release.of(run(Job(asked, options), source, sink, progress=progress), asked, options)


def publish(
    policy: Policy | str | Path,
    *,
    data: str | Place | None = None,
    out: str | Place | None = None,
    evidence: str | Path | None = None,
    force: bool = False,
    recoding: bool = False,
    registry: str | Path | None = None,
    as_of: str | datetime.date | None = None,
    replaces: Sequence[str] = (),
    fail_on: Sequence[str] = (),
    memory: str | int | None = None,
    progress: Progress = no_progress,
) -> Published:
    """Anonymize the policy's data and write the release: verified as written, or nothing is left.

    ``recoding`` writes the recoding too, for `shoal.apply`. ``registry`` is a folder that remembers releases: this one
    is compared with those in it, but for those it ``replaces``, and becomes an entry of the day ``as_of``. ``fail_on``
    has conditions such as ``similarity>0`` or ``composition>0``; an `ExposureError` says which is exceeded.

    ``data`` and ``out`` are files, or tables of a database (``postgresql://host/database#table``); evidence and report
    of a table go beside the policy, or to ``evidence``.

    ``memory`` is the most that the run may take, in bytes or as ``"2GB"``: records are then streamed, as they are from
    large or several files anyway, and what would not fit is refused before the search. The release is the same.
    """
    asked, limit = as_policy(policy), memory_limit(memory)
    options = RegistryOptions.of(asked, registry=registry, as_of=as_of, replaces=replaces, fail_on=fail_on)
    source, sink = _ends(asked, data, out, evidence, limit, recoding=recoding, force=force)
    done = run(Job(asked, options), source, sink, progress=progress)
    return Published(Release.of(done, asked, options), done.paths)


def _ends(
    policy: Policy,
    data: str | Place | None,
    out: str | Place | None,
    evidence: str | Path | None,
    limit: int | None,
    *,
    recoding: bool,
    force: bool,
) -> tuple[Source, Sink]:
    """Where the table comes from, and where its release goes; `InputError` for what does not fit together."""
    if policy.engine.name == "spark":
        if limit is not None:
            raise InputError(
                "--memory is for this machine. On Spark, engine.cells says what the driver may hold.",
                code="memory-on-spark",
            )
        refuse_recoding(policy, recoding)
        target = str(out) if isinstance(out, DatabaseTable) else out
        return SparkSource(data), SparkSink(policy, target, evidence=evidence, force=force)
    given = data_source(policy, data)
    source: Source = StreamSource(given, limit) if streams(policy, given, limit) else HeldSource(data)
    if out is None and policy.output is None:
        raise no_output()
    table = place(out if out is not None else str(policy.output))
    if isinstance(table, DatabaseTable):
        refuse_recoding(policy, recoding)
        return source, PostgresSink(policy, table, given, evidence=evidence, force=force)
    if evidence is not None:
        raise InputError(
            "--evidence is for a release in a database; beside a file it takes the file's name.",
            code="evidence-beside-file",
        )
    path, inputs = file_target(policy, None if out is None else str(out)), input_files(policy, given.path)
    sink = FileSink(path, recoding=recoding or policy.recoding, inputs=inputs, force=force)
    check_not_read_again(path, given.path, inputs)
    return source, sink
