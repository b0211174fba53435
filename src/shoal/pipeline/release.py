"""What `anonymize` gives back: the released table, its evidence, and how to write them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.attacks.released_classes import rows_of_release
from shoal.encode.result import Result
from shoal.errors import InputError
from shoal.evidence.evidence import Evidence, sealed
from shoal.formatting import number, pluralize
from shoal.io import FrameKind, from_arrow
from shoal.io.sink import FileSink, ReleaseData
from shoal.io.spark.sink import SparkData, SparkSink
from shoal.io.staging import writing
from shoal.pipeline.registry_options import RegistryOptions
from shoal.pipeline.run import Clock, CompletedRun, Job, commit, finish
from shoal.pipeline.verify import verify
from shoal.pipeline.why.explain import Why, explain
from shoal.pipeline.why.find import Matches
from shoal.policy import Policy
from shoal.present.report.page import write_report
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has been verified."""

    policy: Policy
    facts: Evidence
    """What was asked, what holds, what was lost, as typed facts."""
    result: Result = field(repr=False)
    """What it was made from; never part of what is written."""
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
        with writing(target):
            target.write_text(write_report(self.facts), encoding="utf-8")
        return target

    def write(
        self, path: str | Path, *, force: bool = False, as_of: str | datetime.date | None = None
    ) -> Mapping[str, Any]:
        """Write release, evidence and report together, verified as written; returns their paths.

        Where it was made with a registry it becomes an entry of it, of the day ``as_of`` or of today. A release of
        Spark goes to a folder, or to ``spark:FORMAT:…``.
        """
        registry = RegistryOptions.none()
        if self.registry is not None:
            registry = RegistryOptions.of(self.policy, registry=self.registry, as_of=as_of)
        if isinstance(self.held, SparkData):
            with SparkSink(self.policy, path, force=force) as cluster:
                return finish(Job(self.policy, registry), self.result, self.held.reading, cluster, clock=Clock()).paths
        with FileSink(Path(path), recoding=self.policy.recoding, force=force) as sink:
            written = sink.write_table(self.table)
            verify(written.release, self.policy).raise_if_failed()
            evidence = sealed(self.facts, release_sha256=written.sha256)
            return commit(sink, self.policy, evidence, registry, lambda: rows_of_release(self.table, self.policy))[1]

    def why(
        self, record: int | None = None, *, where: Mapping[str, Any] | None = None, in_class: int | None = None
    ) -> Why | Matches:
        """Why a record or a class was generalized so far, and what blocks less; ``print`` it to read it in words.

        Name one of: ``record``, its number in the data counted from 1; ``where``, values of its quasi-identifiers;
        ``in_class``, the number of a class counted from 1 in the order of the release.
        """
        problem = self.result.record_problem
        if problem is None:
            raise InputError(
                "the records of this release were not held, so it cannot say why.", code="records-not-held"
            )
        name = self.policy.algorithm.name
        return explain(problem, self.recoding, name, record=record, where=where, in_class=in_class)


@dataclass(frozen=True, eq=False)
class Published:
    """A release that is written."""

    release: Release
    paths: Mapping[str, Any]
    """Where release, evidence and report are, and its recoding and its entry in a registry where there are any."""
