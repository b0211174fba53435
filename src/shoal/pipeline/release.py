"""`anonymize` and `publish`, and what they give back: the released table, its evidence, and how to write them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.attacks.released_classes import rows_of_release
from shoal.attacks.verdict.verdict import Verdict
from shoal.encode.pseudonyms import refuse_joining
from shoal.encode.result import Result
from shoal.errors import InputError
from shoal.evidence.evidence import Evidence
from shoal.evidence.judge import judged
from shoal.formatting import number, pluralize
from shoal.io import FrameKind, from_arrow
from shoal.io.linked_sink import LinkedSink
from shoal.io.linked_tables import LinkedTables, as_one_table
from shoal.io.memory import memory_limit, streams
from shoal.io.multiple_files import data_files
from shoal.io.postgres.sink import PostgresSink
from shoal.io.sink import (
    FileSink,
    MemorySink,
    ReleaseData,
    Sink,
    check_not_read_again,
    input_files,
    no_output,
    policy_files,
    refuse_recoding,
)
from shoal.io.source import HeldSource, Source, data_source
from shoal.io.spark.cluster import is_spark_frame
from shoal.io.spark.sink import SparkData, SparkMemorySink, SparkSink
from shoal.io.spark.source import SparkSource
from shoal.io.staging import write_private
from shoal.io.streaming import StreamSource
from shoal.pipeline.registry_options import RegistryOptions
from shoal.pipeline.run import Clock, CompletedRun, Job, as_policy, commit, finish, run, with_composition
from shoal.pipeline.verify import verify_result
from shoal.pipeline.why.explain import Why, explain
from shoal.pipeline.why.find import Matches
from shoal.policy import Policy
from shoal.policy.location import DatabaseTable, Location, parse_location
from shoal.present.report.page import write_report
from shoal.search.algorithm import Demand
from shoal.search.problem import Progress, no_progress
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has been verified."""

    policy: Policy
    facts: Evidence  # what was asked, what holds, what was lost, as typed facts
    result: Result = field(repr=False)  # what it was made from; never part of what is written
    held: ReleaseData | None = field(default=None, repr=False)
    """Where the released table is, if it is not held in memory."""
    kind: FrameKind = FrameKind.ARROW
    registry: Path | None = field(default=None, repr=False)
    """The registry that it was compared with, and that it becomes an entry of when it is written."""

    @staticmethod
    def of(done: CompletedRun, policy: Policy, registry: RegistryOptions) -> Release:
        """The release of a run."""
        folder = None if registry.registry is None else registry.registry.path
        return Release(policy, done.evidence, done.result, done.data, done.reading.kind, folder)

    def __repr__(self) -> str:
        """The counts in one line; the table itself is ``data``."""
        facts = self.facts
        return (
            f"<Release: {number(facts.released)} of {pluralize(facts.records, 'record')} in "
            f"{pluralize(facts.classes, 'class')}, {number(facts.suppressed)} suppressed, "
            f"loss {facts.measures['loss']:.4f}>"
        )

    @cached_property
    def evidence(self) -> dict[str, Any]:
        """The facts as plain data: the content of ``*.evidence.json``."""
        return self.facts.to_dict()

    @property
    def verdict(self) -> Verdict | None:
        """Whether to publish it, and why; ``decision`` is the answer in a word."""
        return self.facts.verdict

    @property
    def table(self) -> pa.Table:
        """The released table, as Arrow; one that is not in memory is read."""
        return self.result.table if self.held is None else self.held.records()

    @property
    def data(self) -> Any:
        """The released table in the kind that came in: pandas, polars, Arrow or Spark."""
        return self.held.frame() if isinstance(self.held, SparkData) else from_arrow(self.table, self.kind)

    @property
    def recoding(self) -> Recoding:
        """What becomes of each record, in the order of the data; of each distinct row where records are not held."""
        return self.result.record_recoding

    @property
    def search(self) -> Mapping[str, Any]:
        """Facts of the search, such as the minimal nodes."""
        return self.result.search

    def report(self, path: str | Path) -> Path:
        """Write the report page and return its path."""
        target = Path(path)
        write_private(target, write_report(self.facts))
        return target

    def write(
        self, path: str | Path, *, force: bool = False, as_of: str | datetime.date | None = None
    ) -> Mapping[str, Any]:
        """Write release, evidence and report together, verified as written; returns their paths.

        Where it was made with a registry it is compared with the releases that are in it now, and becomes an entry of
        the day ``as_of`` or of today. A release of Spark goes to a folder, or to ``spark:FORMAT:…``.
        """
        registry = RegistryOptions()
        if self.registry is not None:
            registry = RegistryOptions.of(self.policy, registry=self.registry, as_of=as_of)
        if isinstance(self.held, SparkData):
            with SparkSink(self.policy, path, force=force) as cluster:
                return finish(Job(self.policy, registry), self.result, self.held.reading, cluster, clock=Clock()).paths
        with FileSink(Path(path), recoding=self.policy.recoding, force=force) as sink:
            written = sink.write_table(self.table)
            verify_result(self.result, written).raise_if_failed()
            rows = cache(lambda: rows_of_release(self.table, self.policy, suppressed=self.result.recoding.suppressed))
            with registry.locked() as now:
                evidence = replace(self.facts, release_sha256=written.sha256)
                if now.registry is not None:  # others may have published since
                    new = Job(self.policy).new_release(self.result, rows)
                    evidence = with_composition(evidence, now.composition(new))
                evidence = judged(evidence, self.policy)
                return commit(sink, self.policy, evidence, now, rows, recoded=self.result.recoding)[1]

    def why(
        self, record: int | None = None, *, where: Mapping[str, Any] | None = None, in_class: int | None = None
    ) -> Why | Matches:
        """Why a record or a class was generalized so far, and what blocks less; ``print`` it to read it in words.

        Name one of: ``record``, its number in the data counted from 1; ``where``, values of its quasi-identifiers;
        ``in_class``, the number of a class counted from 1 in the order of the release.
        """
        problem = self.result.record_problem
        if problem is None:
            message = "the records of this release were not held, so it cannot say why."
            raise InputError(message, code="records-not-held")
        name = self.result.made_by.algorithm.name
        return explain(problem, self.recoding, name, record=record, where=where, in_class=in_class)


@dataclass(frozen=True, eq=False)
class Published:
    """A release that is written."""

    release: Release
    paths: Mapping[str, Any]
    """Where release, evidence and report are, and its recoding and its entry in a registry where there are any."""


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
    if asked.tables is not None:
        message = "linked tables are written to a folder, one file each: use shoal.publish."
        raise InputError(message, code="linked-tables")
    options = RegistryOptions.of(asked, registry=registry)
    source: Source = HeldSource(data)
    sink: Sink = MemorySink()
    if asked.engine.name == "spark" or is_spark_frame(data):
        source, sink = SparkSource(data), SparkMemorySink()
    return Release.of(run(Job(asked, options), source, sink, progress=progress), asked, options)


def publish(
    policy: Policy | str | Path,
    *,
    data: str | Location | None = None,
    out: str | Location | None = None,
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
    large or several files anyway, and what would not fit is refused before the search. The release is the same, unless
    the algorithm is one that chooses among others and some of them do not fit.
    """
    asked, limit = as_policy(policy), memory_limit(memory)
    if recoding:
        refuse_joining(asked)
    options = RegistryOptions.of(asked, registry=registry, as_of=as_of, replaces=replaces, fail_on=fail_on)
    source, sink = _ends(asked, data, out, evidence, limit, recoding=recoding, force=force)
    asked = asked if asked.tables is None else as_one_table(asked)
    job = Job(asked, options, demands=frozenset({Demand.ONE_LEVEL}) if recoding else frozenset())
    done = run(job, source, sink, progress=progress)
    return Published(Release.of(done, asked, options), done.paths)


def _ends(
    policy: Policy,
    data: str | Location | None,
    out: str | Location | None,
    evidence: str | Path | None,
    limit: int | None,
    *,
    recoding: bool,
    force: bool,
) -> tuple[Source, Sink]:
    """Where the table comes from, and where its release goes; `InputError` for what does not fit together."""
    if policy.tables is not None:
        return _linked_ends(policy, data, out, evidence, limit, force=force)
    if policy.engine.name == "spark":
        if limit is not None:
            message = "--memory is for this machine. On Spark, engine.cells says what the driver may hold."
            raise InputError(message, code="memory-on-spark")
        refuse_recoding(policy, recoding)
        target = str(out) if isinstance(out, DatabaseTable) else out
        return SparkSource(data), SparkSink(policy, target, evidence=evidence, force=force)
    given = data_source(policy, data)
    source: Source = StreamSource(given, limit) if streams(policy, given, limit) else HeldSource(data)
    if out is None and policy.output is None:
        raise no_output()
    table = parse_location(out if out is not None else str(policy.output))
    if isinstance(table, DatabaseTable):
        refuse_recoding(policy, recoding)
        return source, PostgresSink(policy, table, given, evidence=evidence, force=force)
    if evidence is not None:
        message = "--evidence is for a release in a database; beside a file it takes the file's name."
        raise InputError(message, code="evidence-beside-file")
    path = policy.path(str(policy.output)) if out is None else Path(str(out))
    inputs = input_files(policy, given.path)
    sink = FileSink(path, recoding=recoding or policy.recoding, inputs=inputs, force=force)
    check_not_read_again(path, given.path, inputs)
    return source, sink


def _linked_ends(
    policy: Policy,
    data: str | Location | None,
    out: str | Location | None,
    evidence: str | Path | None,
    limit: int | None,
    *,
    force: bool,
) -> tuple[Source, Sink]:
    """The same for linked tables: they are held in memory, and go to a folder."""
    given = {"--data": data, "--evidence": evidence, "--memory": limit}
    if named := [name for name, value in given.items() if value is not None]:
        message = f"{named[0]} is for a single table, and the policy has several. Leave it out."
        raise InputError(message, code="linked-tables")
    if policy.engine.name == "spark":
        raise InputError("linked tables are not available on Spark. Leave engine out.", code="linked-tables")
    if out is None and policy.output is None:
        raise no_output()
    target = parse_location(out if out is not None else str(policy.output))
    if isinstance(target, DatabaseTable):
        raise InputError("linked tables go to a folder, not to a database.", code="linked-tables")
    folder = policy.path(str(policy.output)) if out is None else Path(str(out))
    sources = [policy.location(spec.data.path) for spec in (policy.tables or {}).values()]
    files = [file for path in sources if isinstance(path, Path) for file in data_files(path)]
    inputs = [*files, *policy_files(policy)]
    return LinkedTables(), LinkedSink(policy, folder, inputs=inputs, force=force)
