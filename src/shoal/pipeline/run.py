"""The one sequence of stages, from a source to a sink: read, encode, search, recode, write, verify, attack, measure,
evidence, commit.

Files, DataFrames, streams, databases and clusters differ in their `Source` and `Sink`; a new release and records that
join a published one differ in their `Job`. `anonymize`, `publish`, `apply`, `compare` and the page call `run`.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.attacks.attackers.composition import NAME as COMPOSITION
from shoal.attacks.attackers.composition import Composition
from shoal.attacks.battery import AttackReport, attack_rows
from shoal.attacks.registry.people import NewRelease
from shoal.attacks.released_classes import Rows, rows_of_recoding
from shoal.attacks.risk.survey import survey_risk_of_release
from shoal.draft.several_records import person_candidates, several_records
from shoal.encode.pseudonyms import key_problems
from shoal.encode.relative_dates import table_as_read
from shoal.encode.resolve import Resolved, resolve, resolve_again
from shoal.encode.result import Result, with_chosen, works_on_records
from shoal.errors import DataError, InfeasibleError, PolicyError, PolicyProblem
from shoal.evidence.describe import make_evidence, measure
from shoal.evidence.evidence import Evidence, SensitiveFacts, Warnings, to_json
from shoal.evidence.formulas import formula_cells
from shoal.evidence.judge import judged
from shoal.evidence.machine import return_free_memory
from shoal.evidence.tables import describe_tables
from shoal.io.sink import ReleaseData, Sink, WrittenRelease
from shoal.io.source import HeldSource, Reading, Source, TableSource
from shoal.metrics import ReleaseSummary
from shoal.pipeline.certificate import proven_bound
from shoal.pipeline.recoding_file import PublishedFile, RecodingLevels, recoding_text, released_labels
from shoal.pipeline.registry_options import RegistryOptions
from shoal.pipeline.verify import verify_written
from shoal.policy import Policy
from shoal.present.diagnosis import diagnosis_text
from shoal.present.not_done import not_done_reasons
from shoal.present.report.page import write_report
from shoal.search.algorithm import Demand
from shoal.search.engine import LocalEngine
from shoal.search.problem import Progress, no_progress
from shoal.table.recoding import Recoding
from shoal.utility.task import check_task, measure_task
from shoal.verification import Verification

RowsOnce = Callable[[], Rows]
"""The released records by class, worked out when they are first needed."""


@dataclass
class Clock:
    """Seconds by stage."""

    stages: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage; what it no longer needs goes back to the system."""
        start = time.perf_counter()
        try:
            yield
        finally:
            return_free_memory()
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - start


@dataclass(eq=False)
class Job:
    """A new release: what happens at each stage. Applying a published recoding replaces some of them."""

    policy: Policy
    registry: RegistryOptions = field(default_factory=RegistryOptions)
    demands: frozenset[Demand] = frozenset()  # of its recoding, beside those of the policy and the source

    def encode(self, reading: Reading) -> Resolved:
        """The distinct rows in codes; `PolicyError` with every problem between policy and data."""
        key = key_problems(self.policy)
        if reading.resolved is None:
            resolved = resolve(reading.coarse_policy or self.policy, reading.rows, key)
        elif key:
            raise PolicyError(key, self.policy.source)
        else:
            resolved = resolve_again(self.policy, reading.resolved)
        check_utility(self.policy, reading, resolved)
        if reading.survey is not None:
            reading.survey.check()
        return resolved

    def search(self, reading: Reading, resolved: Resolved, clock: Clock, progress: Progress) -> Result:
        """Find the recoding; `InfeasibleError` where no release satisfies the policy."""
        demands = resolved.problem.demands | reading.demands | self.demands
        problem = replace(resolved.problem, progress=progress, demands=demands)
        if works_on_records(self.policy):
            problem = replace(problem, table=problem.table.unfolded())
        with clock.stage("search"), explained():
            engine = LocalEngine(problem.table, problem.ladders, problem.domains, remote=reading.workers)
            outcome = self.policy.search_algorithm.run(problem, engine)
        with clock.stage("bound"):
            bound = proven_bound(self.policy, reading, problem, engine, outcome.search, outcome.solver)
        with clock.stage("recode"):
            return Result.of(
                self.policy,
                reading.rows,
                resolved,
                outcome.recoding,
                search=outcome.search,
                bound=bound,
                names=reading.names,
                coarse_policy=reading.coarse_policy,
            )

    def verify(self, result: Result, reading: Reading, written: WrittenRelease) -> Verification:
        """The independent check of what was written."""
        return verify_written(result, reading, written)

    def rows_of(self, result: Result) -> Rows:
        """The released records by class, for attackers and for the entry in a registry."""
        return rows_of_recoding(result.search_policy, result.rows, result.resolved, result.recoding)

    @property
    def holds_rows(self) -> bool:
        """Whether the released records by class are needed again after the attacks, and so held until the end."""
        return self.registry.registry is not None

    def attack(self, result: Result, released: Rows, progress: Progress) -> AttackReport:
        """What attackers get out of the release; nothing is encoded a second time."""
        inputs = result.made_by, released, result.rows, result.resolved, result.recoding
        return attack_rows(*inputs, seed=abs(result.policy.algorithm.seed), progress=progress)

    def measure(self, result: Result, reading: Reading, progress: Progress) -> dict[str, Any] | None:
        """What the release is worth for the task that its policy names; None without a task, or without records."""
        if self.policy.utility is None or reading.table is None:
            return None
        made_by = with_chosen(self.policy, result.search)  # parts of the records are recoded as all of them were
        without = made_by.as_read().changed(utility=None, household=None, weight=None)

        def anonymized(table: pa.Table) -> Result:
            """Some of the records, anonymized under the same policy."""
            return make_release(TableSource(table, reading.names), without)

        table = table_as_read(reading.table, reading.rows, self.policy)
        return measure_task(self.policy, table, result, anonymized, progress)

    def new_release(self, result: Result, rows: RowsOnce) -> NewRelease:  # noqa: ARG002 - applied records use them
        """The release as earlier ones are compared with it."""
        return NewRelease(result.search_policy, result.rows, result.resolved.problem, result.recoding)

    def more_evidence(self, result: Result, reading: Reading, facts: Evidence, rows: RowsOnce) -> dict[str, Any]:  # noqa: ARG002
        """What the evidence says beside what every evidence has: how an engine went about it, and survey risk."""
        added: dict[str, Any] = {} if reading.engine is None else {"engine": reading.engine}
        if reading.survey is not None and facts.released:
            added["survey"] = survey_risk_of_release(reading.survey, result)
        if result.policy.tables is not None:
            added["tables"] = describe_tables(result)
        full = reading.in_full(result.recoding)
        if full is not None:  # measured by the hierarchies as declared, though the search began higher
            violations = int(facts.measures["constraint_violations"])
            summary = ReleaseSummary(full.hierarchies, full.nodes, full.sizes, full.n_rows, violations)
            added |= {"measures": measure(summary), "levels": full.levels, "bound": None}
        return added


@dataclass(frozen=True, eq=False)
class CompletedRun:
    """A run that is done: the result, its evidence, and where everything is."""

    result: Result
    reading: Reading
    evidence: Evidence
    data: ReleaseData | None  # what holds the release; None: the result does
    paths: Mapping[str, Any]


def run(
    job: Job, source: Source, sink: Sink, *, clock: Clock | None = None, progress: Progress = no_progress
) -> CompletedRun:
    """Take a table from its source to its sink: verified there, with evidence, or nothing is left of it."""
    clock = clock or Clock()
    with sink, source.snapshot():
        result, reading = recode(job, source, clock, progress)
        warnings = warnings_about(source, job.policy)
        return finish(job, result, reading, sink, clock=clock, progress=progress, warnings=warnings)


def recode(job: Job, source: Source, clock: Clock, progress: Progress) -> tuple[Result, Reading]:
    """The stages before anything is written: read, encode, search, recode."""
    progress("reading", 0.0)
    with clock.stage("read"):
        reading = source.read(job.policy, progress)
    with clock.stage("encode"):
        resolved = job.encode(reading)
    return job.search(reading, resolved, clock, progress), reading


def warnings_about(source: Source, policy: Policy) -> Warnings:
    """What should be known of records whose person the policy does not name."""
    columns = person_candidates(policy)
    with contextlib.suppress(DataError):  # identifiers are not released, so cells that are no text stop nothing
        return several_records(columns, source.identifiers(policy, columns)) if columns else ()
    return ()


def finish(
    job: Job,
    result: Result,
    reading: Reading,
    sink: Sink,
    *,
    clock: Clock,
    progress: Progress = no_progress,
    warnings: Warnings = (),
) -> CompletedRun:
    """The stages after the recoding: write, verify, attack, measure, evidence, commit."""
    progress("writing", 0.0)
    with clock.stage("write"):
        written = sink.write(result, reading, progress)
    progress("verifying", 0.0)
    with clock.stage("verify"):
        verification = job.verify(result, reading, written)
        verification.raise_if_failed()
    rows = cache(lambda: job.rows_of(result))
    with clock.stage("attack"):
        released = rows() if job.holds_rows else job.rows_of(result)
        attacks = job.attack(result, released, progress)
        warnings = (*warnings, *formula_cells(released, job.policy))
        del released
    utility = None
    if job.policy.utility is not None:
        with clock.stage("utility"):
            utility = job.measure(result, reading, progress)
    # what is only given back in memory becomes no entry, so nobody has to wait for it
    with job.registry.locked(progress) if sink.documents else nullcontext(job.registry) as registry:
        composed = None
        if registry.registry is not None:
            progress("comparing with earlier releases", 0.0)
            with clock.stage("compose"):
                composed = registry.composition(job.new_release(result, rows))
        not_done = not_done_reasons(reading.not_done, reading.uncounted)
        facts = make_evidence(result, verification, clock.stages, written.sha256, utility, attacks, not_done)
        added = job.more_evidence(result, reading, facts, rows) | _more_about(reading, facts, warnings)
        evidence = replace(facts, **added)
        if composed is not None:
            evidence = with_composition(evidence, composed)
        evidence = judged(evidence, result.policy)
        registry.refuse(evidence.attacks, evidence.verdict)
        if not sink.documents:
            return CompletedRun(result, reading, evidence, sink.commit({}), {})
        done = commit(sink, result.policy, evidence, registry, rows, recoded=result.recoding)
        return CompletedRun(result, reading, evidence, *done)


def _more_about(reading: Reading, facts: Evidence, warnings: Warnings) -> dict[str, Any]:
    """What reading showed: warnings, and spellings that were merged."""
    added: dict[str, Any] = {"warnings": (*(facts.warnings or ()), *warnings)} if warnings else {}
    if reading.merged_spellings:
        added["columns"] = dict(facts.columns) | {
            name: replace(column, spellings_merged=found.spellings, records_merged=found.records)
            for name, found in reading.merged_spellings.items()
            if isinstance(column := facts.columns[name], SensitiveFacts)
        }
    return added


def with_composition(evidence: Evidence, composed: Composition) -> Evidence:
    """Evidence that says what the release reveals beside earlier ones, among the attacks as well; not sealed."""
    others = [each for each in evidence.attacks if each.name != COMPOSITION]
    return replace(evidence, composition=composed, attacks=(*others, *composed.results))


def commit(
    sink: Sink,
    policy: Policy,
    evidence: Evidence,
    registry: RegistryOptions,
    rows: RowsOnce,
    *,
    recoded: Recoding | RecodingLevels,
    published: Sequence[PublishedFile] = (),
) -> tuple[ReleaseData | None, dict[str, Any]]:
    """Put a release in place with its documents and its entry in a registry, which is locked.

    ``recoded`` is the recoding of the release, or what is left of one that published the files ``published`` before.
    """
    texts = {"evidence": to_json(evidence), "report": write_report(evidence)}
    if "recoding" in sink.documents:
        files = [*published, PublishedFile(sink.location, evidence["release_sha256"])]
        if isinstance(recoded, Recoding):
            recoded = RecodingLevels.of_evidence(evidence).as_shown(policy, released_labels(recoded))
        texts["recoding"] = recoding_text(policy, sink.documents["recoding"], recoded, files)
    with registry.adding(policy, rows, sink.stem, evidence["release_sha256"], sink.hidden_files) as entry:
        data = sink.commit(texts)
    return data, {"release": sink.location, **sink.documents, **entry}


def check_utility(policy: Policy, reading: Reading, resolved: Resolved) -> None:
    """Raise what stands in the way of measuring the policy's task, before a long search."""
    if policy.utility is not None and reading.table is not None:
        check_task(policy, table_as_read(reading.table, reading.rows, policy), resolved.of_records(reading.rows))


def make_release(data: Any, policy: Policy, clock: Clock | None = None, progress: Progress = no_progress) -> Result:
    """Read, encode, search and recode a table in memory; nothing is verified or written.

    ``data`` is a source, or what `shoal.anonymize` takes.
    """
    source = data if isinstance(data, Source) else HeldSource(data)
    return recode(Job(policy), source, clock or Clock(), progress)[0]


def as_policy(policy: Policy | str | Path | Mapping[str, Any] | None, function: str = "this function") -> Policy:
    """A policy, from a policy, a path or a mapping; `PolicyError` for none."""
    if policy is None:
        fix = "Pass a Policy or the path of one."
        raise PolicyError([PolicyProblem("", f"{function} needs a policy.", fix, code="no-policy")])
    if isinstance(policy, Policy):
        return policy
    return Policy.load(policy) if isinstance(policy, (str, Path)) else Policy.model_validate(policy)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Give an `InfeasibleError` raised inside the text of its diagnosis."""
    try:
        yield
    except InfeasibleError as error:
        raise InfeasibleError(error.diagnosis, diagnosis_text(error.diagnosis)) from None
