"""`apply`: new records recoded with a recoding that is already published, without weakening it.

The union of everything published by the recoding must satisfy the policy, and so must the new records alone, because
whoever has the earlier release can subtract it from the later one. Only when the owner says that the earlier release
is withdrawn (``replaces``) is the union all that counts. Records that cannot be released are withheld and counted by
reason.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.battery import AttackReport, attack_rows
from shoal.attacks.registry.people import NewRelease
from shoal.attacks.registry.signature import signature_of
from shoal.attacks.released_classes import Rows, histograms_in, released_scene, rows_of_release
from shoal.attacks.risk.survey import survey_risk_of_release
from shoal.encode.resolve import Resolved, unknown_columns, used_columns
from shoal.encode.result import Result
from shoal.encode.survey import survey_columns
from shoal.errors import OutputError, PolicyError, WithheldError
from shoal.evidence.describe import describe_exposure, describe_models, shown_recoding
from shoal.evidence.evidence import Evidence
from shoal.evidence.judge import judged
from shoal.evidence.people import describe_sizes
from shoal.formatting import number, pluralize
from shoal.io import FrameKind, from_arrow, in_order_of_cells
from shoal.io.sink import FileSink, MemorySink, WrittenRelease, policy_files
from shoal.io.source import Reading, TableSource, read_columns
from shoal.pipeline.apply.encode_new import NewRecords, encode_new
from shoal.pipeline.apply.fitting_classes import Fitting, fitting
from shoal.pipeline.apply.published import Base, read_base, together
from shoal.pipeline.apply.withheld import Withheld, joined_stats, withheld_reasons
from shoal.pipeline.registry_options import RegistryOptions
from shoal.pipeline.run import Clock, Job, RowsOnce, commit, run, with_composition
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.present.not_done import not_done_reasons
from shoal.present.terminal import none_released_text
from shoal.search.extension import Extension, ExtensionResult
from shoal.search.problem import Progress, no_progress
from shoal.table.classes import ClassStats, Mask
from shoal.table.encoded import distinct_codes
from shoal.table.recoding import SUPPRESSED, Recoding
from shoal.verification import Verification


@dataclass(frozen=True, eq=False)
class Applied:
    """New records that may be released, verified, and why others may not."""

    policy: Policy
    table: pa.Table  # the new records as released, as Arrow
    original: pa.Table = field(repr=False)
    """The new records as they came in: the columns that the policy names, in the order of the data."""
    base: Base = field(repr=False)
    facts: Evidence = field(repr=False)
    withheld: tuple[Withheld, ...]  # every reason for which records are withheld, with their number
    reasons: tuple[Withheld | None, ...] = field(repr=False)
    """For each new record, in the order of the data, why it is withheld; None for one that is released."""
    registry: RegistryOptions = field(repr=False)
    new: NewRelease | None = field(default=None, repr=False)
    """The new records as earlier releases are compared with them, where there is a registry."""
    replaces: bool = False
    kind: FrameKind = FrameKind.ARROW
    inputs: tuple[Path, ...] = field(default=(), repr=False)
    """The files that were read; an output must never replace one."""

    def __repr__(self) -> str:
        """The counts in one line."""
        facts = self.facts
        return (
            f"<Applied: {number(facts.released)} of {pluralize(facts.records, 'new record')} in "
            f"{pluralize(facts.classes, 'class')}, {number(facts.suppressed)} withheld>"
        )

    @cached_property
    def evidence(self) -> dict[str, Any]:
        """The facts as plain data: the content of ``*.evidence.json``."""
        return self.facts.to_dict()

    @property
    def data(self) -> Any:
        """The new records as released, in the kind that came in: pandas, polars or Arrow."""
        return from_arrow(self.table, self.kind)

    @property
    def union(self) -> pa.Table:
        """Everything published by the recoding, the new records included, sorted by its cells."""
        return in_order_of_cells(together([self.base.table, self.table]))

    def write(self, path: str | Path, *, union: bool = False, force: bool = False) -> Mapping[str, Path]:
        """Write the new records (or the union) with evidence, report and recoding, verified as written; their paths.

        Where the earlier release is withdrawn the union is written: it replaces that one.
        """
        whole = union or self.replaces
        if not whole and not self.base.files:
            message = "the release that the new records join is in no file. Write it first, or write the union."
            raise OutputError(message, code="base-not-written")
        table = self.union if whole else self.table
        with FileSink(Path(path), recoding=True, inputs=self.inputs, force=force) as sink:
            written = sink.write_table(table)
            if whole:
                verify(written.release, self.policy).raise_if_failed()
            else:
                verify_joined(self.base, self.table, written.release, self.original, replaces=False).raise_if_failed()
            with self.registry.locked() as now:
                evidence = replace(self.facts, release_sha256=written.sha256)
                if self.new is not None:  # others may have published since
                    evidence = with_composition(evidence, now.composition(self.new))
                evidence = judged(evidence, self.policy)
                now.refuse(evidence.attacks, evidence.verdict)
                return commit(
                    sink,
                    self.policy,
                    evidence,
                    now,
                    lambda: rows_of_release(table if self.replaces else self.table, self.policy),
                    published=() if whole else self.base.files,
                    recoded=self.base.scale,
                )[1]


def apply(
    recoding: Any,
    data: Any,
    *,
    policy: Policy | str | Path | None = None,
    replaces: bool = False,
    registry: str | Path | None = None,
    as_of: str | datetime.date | None = None,
    fail_on: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Applied:
    """Recode new records with a recoding that is already published.

    ``recoding`` is the path of a ``*.recoding.json``, the path of a release with its ``policy`` given and its evidence
    beside it, or a `Release`. ``data`` is a path, read as the policy's ``data`` says, or a table. With ``replaces`` the
    earlier release counts as withdrawn. ``registry``, ``as_of`` and ``fail_on`` are as for `publish`.

    Raises `WithheldError` when no record can be released, and `InputError` for input that is wrong.
    """
    clock = Clock()
    progress("reading", 0.0)
    with clock.stage("read"):
        base = read_base(recoding, policy)
        options = RegistryOptions.of(base.policy, registry=registry, as_of=as_of, fail_on=fail_on)
        source = _load(data, base)
    if replaces and options.registry is not None:  # the entry of the union replaces those of the earlier release
        known = [options.registry.of_release(file.sha256) for file in base.files]
        options = replace(options, replaces=tuple(entry for entry in known if entry is not None))
    job = ApplyJob(base.policy, options, base=base, replaces=replaces)
    done = run(job, source, MemorySink(), clock=clock, progress=progress)
    original = done.reading.table
    assert original is not None, "the records are held"
    inputs = [Path(each) for each in (recoding, data) if isinstance(each, (str, Path))]
    return Applied(
        policy=base.policy,
        table=done.result.table,
        original=original.select([name for name in source.names if name in original.column_names]),
        base=base,
        facts=done.evidence,
        withheld=tuple(reason for _, reason in job.reasons),
        reasons=job.reason_of_records(done.reading),
        registry=job.registry,
        new=None if options.registry is None else job.new_release(done.result, lambda: job.rows_of(done.result)),
        replaces=replaces,
        kind=source.kind,
        inputs=(*inputs, *policy_files(base.policy), *(file.path for file in base.files)),
    )


def _load(data: Any, base: Base) -> TableSource:
    """The new records, columns in the order of the release that they join; identifiers need not be there."""
    wanted, survey = used_columns(base.policy), survey_columns(base.policy).values()
    loaded, hint = read_columns(data, base.policy, [*wanted, *survey])
    lacking = unknown_columns({name: base.policy.columns[name] for name in wanted}, loaded.names, hint)
    if lacking:
        raise PolicyError(lacking, base.policy.source)
    named = dict.fromkeys([*base.table.column_names, *survey])
    ordered = [name for name in named if name in loaded.table.column_names]
    return replace(loaded, table=loaded.table.select(ordered))


@dataclass(eq=False, kw_only=True)
class ApplyJob(Job):
    """Records that join a published recoding: classes are found among those published instead of being searched."""

    base: Base
    replaces: bool
    new: NewRecords = field(init=False)
    fits: Fitting = field(init=False)  # the classes that each of them may join
    extension: Extension = field(init=False)
    extended: ExtensionResult = field(init=False)  # which of them do

    def encode(self, reading: Reading) -> Resolved:
        """The new records in codes, and the classes that each may join."""
        if reading.survey is not None:
            reading.survey.check()
        self.new = encode_new(reading.rows, self.base)
        self.fits = fitting(self.new, self.base)
        problem, rows, n_classes = self.new.records.problem, self.base.rows, len(self.fits.nodes)
        domains = {name: problem.domains[name] for name in problem.sensitive_columns}
        sizes = np.bincount(rows.owner, weights=rows.weights, minlength=n_classes).astype(np.int64)
        before = ClassStats(sizes, histograms_in(rows, domains, n_classes), problem.domains)
        secrets = {name: problem.table.row_sensitive[name] for name in domains}
        self.extension = Extension(problem.models, before, secrets, alone=not self.replaces)
        self.extended = self.extension.extend(self.fits.candidates)
        return self.new.resolved

    @cached_property
    def reasons(self) -> list[tuple[Mask, Withheld]]:
        """Every reason for which records are withheld, and which these are."""
        return list(withheld_reasons(self.new, self.extension, self.extended))

    def reason_of_records(self, reading: Reading) -> tuple[Withheld | None, ...]:
        """Each record's reason, in the order of the data; None for one that is released."""
        found: list[Withheld | None] = [None] * len(self.new.reason)
        assert reading.rows.of_record is not None, "the records are held"
        order = np.argsort(reading.rows.of_record, kind="stable")
        for rows, reason in self.reasons:
            for record in order[rows].tolist():
                found[record] = reason
        return tuple(found)

    def search(self, reading: Reading, resolved: Resolved, clock: Clock, progress: Progress) -> Result:
        """The recoding of the new records, classes in the order of their nodes; `WithheldError` where none fits."""
        progress("recoding", 0.0)
        with clock.stage("recode"):
            row_class, nodes = self.extended.row_class, self.fits.nodes
            if not (row_class >= 0).any():
                reasons = [reason for _, reason in self.reasons]
                raise WithheldError(none_released_text(len(row_class), reasons), reasons)
            used = distinct_codes(row_class[row_class >= 0])
            order = np.lexsort(nodes[used].T[::-1])
            class_of = np.full(len(nodes) + 1, SUPPRESSED, dtype=np.int32)
            class_of[used[order]] = np.arange(len(used), dtype=np.int32)
            recoding = Recoding(
                tuple(resolved.quasi),
                self.fits.hierarchies,
                class_of[row_class],
                nodes[used][order],
                self.base.levels_in(resolved.quasi, self.fits.hierarchies),
                entry=self.new.entry,
            )
            return Result.of(
                self.policy,
                reading.rows,
                resolved,
                recoding,
                search={"applied_to": [file.sha256 for file in self.base.files]},
                names=reading.names,
                coarse_policy=self.policy.changed(suppressed="drop"),  # what is withheld leaves no row
            )

    def verify(self, result: Result, reading: Reading, written: WrittenRelease) -> Verification:
        """The independent check of everything together, and of the new records."""
        return verify_joined(self.base, result.table, written.release, reading.table, replaces=self.replaces)

    def rows_of(self, result: Result) -> Rows:
        """What is new to readers: the union where that replaces the earlier release, else the records."""
        return self._union(result) if self.replaces else rows_of_release(result.table, self.policy)

    def _union(self, result: Result) -> Rows:
        return rows_of_release(together([self.base.table, result.table]), self.policy)

    @property
    def holds_rows(self) -> bool:
        """The evidence needs the released records again."""
        return True

    def attack(self, result: Result, released: Rows, progress: Progress) -> AttackReport:  # noqa: ARG002
        """What attackers get out of what is published."""
        seed = abs(self.policy.algorithm.seed)
        return attack_rows(self.policy, released, seed=seed, searched=False, progress=progress)

    def measure(self, result: Result, reading: Reading, progress: Progress) -> dict[str, Any] | None:  # noqa: ARG002
        """A task is measured on whole releases only."""
        return None

    def new_release(self, result: Result, rows: RowsOnce) -> NewRelease:
        """The release as earlier ones are compared with it."""
        shown = signature_of(self.policy, rows()) if self.replaces else None
        return replace(super().new_release(result, rows), policy=self.policy, shown=shown)

    def more_evidence(self, result: Result, reading: Reading, facts: Evidence, rows: RowsOnce) -> dict[str, Any]:  # noqa: ARG002
        """What the records joined, what is true of everything together, and why records are withheld.

        All other figures are those of the new records, except where the union is what is published.
        """
        union = rows() if self.replaces else self._union(result)
        sizes, row_class = self.extension.before.sizes, self.extended.row_class
        before = sizes[distinct_codes(row_class[row_class >= 0])]
        _, stats = joined_stats(self.extension, row_class, together=True)
        models = tuple(replace(each, weakest={}) for each in describe_models(result.resolved.problem.models, stats))
        applied = {
            "to": [file.sha256 for file in self.base.files],
            "replaces": self.replaces,
            "records_before": int(sizes.sum()),
            "classes_joined": int(np.count_nonzero(before)),
            "classes_added": int(np.count_nonzero(before == 0)),
            "together": {"records": int(union.weights.sum()), "classes": union.cells.shape[1], "models": models},
            "withheld": [reason for _, reason in self.reasons],
        }
        if not self.replaces:
            survey = None if reading.survey is None else survey_risk_of_release(reading.survey, result)
            return {"applied": applied, "survey": survey}
        exposure = describe_exposure(released_scene(union, self.policy).stats)
        class_sizes = describe_sizes(shown_recoding(union))
        added = {"applied": applied, "models": models, "class_sizes": class_sizes, "exposure": exposure}
        if survey_columns(self.policy):
            added["not_done"] = not_done_reasons(["survey-of-union"], ())
        return added


def verify_joined(
    base: Base, table: pa.Table, released: Any, original: pa.Table | None, *, replaces: bool
) -> Verification:
    """Check the union as a release, and the new records as they were ``released`` against their original.

    Unless the earlier release is withdrawn the new records must pass as a release of their own, too. How many records
    may be left out is not asked: what cannot be released is withheld, however much it is. The ends of ranges are values
    of published records, of which the new ones need not have any.
    """
    union = verify(in_order_of_cells(together([base.table, table])), base.policy)
    part = verify(released, base.policy, original=original)
    models = {model.name if model.column is None else f"{model.name}[{model.column}]" for model in base.policy.models()}
    passed_over = {"suppression", "range-ends"} | (models if replaces else set())
    checks = [replace(each, name=f"new: {each.name}") for each in part.checks if each.name not in passed_over]
    return Verification((*union.checks, *checks), union.records, union.classes, union.suppressed)
