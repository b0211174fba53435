"""`apply`: new records recoded with a recoding that is already published, without weakening it.

The union of everything published by the recoding must satisfy the policy, and so must the new records alone, because
whoever has the earlier release can subtract it from the later one. Only when the owner says that the earlier release
is withdrawn (``replaces``) is the union all that counts. Records that cannot be released are withheld and counted by
reason.
"""

from __future__ import annotations

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
from shoal.attacks.released_classes import rows_of_release
from shoal.encode.resolve import Resolved, unknown_columns, used_columns
from shoal.encode.result import Result
from shoal.errors import OutputError, PolicyError, WithheldError
from shoal.evidence.evidence import Evidence, sealed
from shoal.formatting import number, pluralize
from shoal.io import FrameKind, from_arrow, in_order_of_cells
from shoal.io.sink import FileSink, MemorySink, WrittenRelease, policy_files
from shoal.io.source import Reading, TableSource, read_columns
from shoal.pipeline.apply.applied_evidence import Withheld, applied_evidence, row_reasons, withheld_reasons
from shoal.pipeline.apply.encode_new import NewRecords, encode_new
from shoal.pipeline.apply.fitting_classes import Fitting, fitting
from shoal.pipeline.apply.published import Base, read_base, together
from shoal.pipeline.registry_options import RegistryOptions
from shoal.pipeline.run import Clock, Job, commit, run
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.search.extension.extend import Extension, ExtensionResult
from shoal.search.extension.published_classes import PublishedClasses
from shoal.search.problem import Progress, no_progress
from shoal.table.classes import Histogram
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
    reasons: tuple[str | None, ...] = field(repr=False)
    """For each new record, in the order of the data, why it is withheld; None for one that is released."""
    registry: RegistryOptions = field(repr=False)
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

        Where the earlier release is withdrawn the union is written: it is what takes its place.
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
            evidence = sealed(self.facts, release_sha256=written.sha256)
            return commit(
                sink,
                self.policy,
                evidence,
                self.registry,
                lambda: rows_of_release(table if self.replaces else self.table, self.policy),
                published=() if whole else self.base.files,
                heights=self.base.heights,
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
    job = ApplyJob(base.policy, _replacing(options, base) if replaces else options, base=base, replaces=replaces)
    done = run(job, source, MemorySink(), clock=clock, progress=progress)
    inputs = [Path(each) for each in (recoding, data) if isinstance(each, (str, Path))]
    return Applied(
        policy=base.policy,
        table=done.result.table,
        original=source.table.select([name for name in source.names if name in source.table.column_names]),
        base=base,
        facts=done.evidence,
        withheld=job.joining.withheld,
        reasons=job.joining.reasons(done.reading),
        registry=job.registry,
        replaces=replaces,
        kind=source.kind,
        inputs=(*inputs, *policy_files(base.policy), *(file.path for file in base.files)),
    )


def _load(data: Any, base: Base) -> TableSource:
    """The new records, columns in the order of the release that they join; identifiers need not be there."""
    wanted = used_columns(base.policy)
    loaded, hint = read_columns(data, base.policy, wanted)
    lacking = unknown_columns({name: base.policy.columns[name] for name in wanted}, loaded.names, hint)
    if lacking:
        raise PolicyError(lacking, base.policy.source)
    ordered = [name for name in base.table.column_names if name in loaded.table.column_names]
    return replace(loaded, table=loaded.table.select(ordered))


def _replacing(options: RegistryOptions, base: Base) -> RegistryOptions:
    """Where the earlier release is withdrawn, its entries are replaced by that of the union."""
    if options.registry is None:
        return options
    known = [options.registry.of_release(file.sha256) for file in base.files]
    return replace(options, replaces=tuple(entry for entry in known if entry is not None))


@dataclass(frozen=True, eq=False)
class Joining:
    """New records beside the classes that they may join, and which of them do."""

    new: NewRecords
    fits: Fitting
    extension: Extension
    extended: ExtensionResult

    @cached_property
    def withheld(self) -> tuple[Withheld, ...]:
        """Every reason for which records are withheld."""
        return tuple(withheld_reasons(self.new, self.extension, self.extended))

    def reasons(self, reading: Reading) -> tuple[str | None, ...]:
        """Each record's reason in words, in the order of the data."""
        numbers = row_reasons(self.new, self.extended)
        words = dict(zip(np.unique(numbers[numbers >= 0]).tolist(), map(str, self.withheld), strict=True))
        found: list[str | None] = [None] * len(numbers)
        assert reading.rows.of_record is not None, "the records are held"
        order = np.argsort(reading.rows.of_record, kind="stable")
        for record, code in zip(order.tolist(), numbers.tolist(), strict=True):
            found[record] = words.get(code)
        return tuple(found)


@dataclass(eq=False, kw_only=True)
class ApplyJob(Job):
    """Records that join a published recoding: classes are found among those published instead of being searched."""

    base: Base
    replaces: bool
    joining: Joining = field(init=False)  # which records join which classes, once they are encoded

    def encode(self, reading: Reading) -> Resolved:
        """The new records in codes, and the classes that each may join."""
        new = encode_new(reading.rows, self.base)
        fits = fitting(new, self.base)
        extension = _extension(new, self.base, len(fits.nodes), alone=not self.replaces)
        self.joining = Joining(new, fits, extension, extension.extend(fits.candidates))
        return new.resolved

    def search(self, reading: Reading, resolved: Resolved, clock: Clock, progress: Progress) -> Result:
        """The recoding of the new records, classes in the order of their nodes; `WithheldError` where none fits."""
        progress("recoding", 0.0)
        with clock.stage("recode"):
            row_class, nodes = self.joining.extended.row_class, self.joining.fits.nodes
            if not (row_class >= 0).any():
                withheld = self.joining.withheld
                reasons = "; ".join(f"{number(each.records)}: {each}" for each in withheld)
                raise WithheldError(
                    f"none of the {pluralize(len(row_class), 'new record')} can be released without weakening what is "
                    f"published ({reasons}). Gather more records first, or make a new release with `shoal anonymize`.",
                    [each.to_dict() for each in withheld],
                )
            used = np.unique(row_class[row_class >= 0])
            order = np.lexsort(nodes[used].T[::-1])
            class_of = np.full(len(nodes) + 1, SUPPRESSED, dtype=np.int32)
            class_of[used[order]] = np.arange(len(used), dtype=np.int32)
            recoding = Recoding(
                tuple(resolved.quasi),
                self.joining.fits.hierarchies,
                class_of[row_class],
                nodes[used][order],
                self.base.levels,
                entry=self.joining.new.entry,
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

    def attack(self, result: Result, written: WrittenRelease, progress: Progress) -> AttackReport | None:  # noqa: ARG002
        """What attackers get out of what is published."""
        table = together([self.base.table, result.table]) if self.replaces else result.table
        rows = rows_of_release(table, self.policy)
        return attack_rows(self.policy, rows, seed=abs(self.policy.algorithm.seed), progress=progress)

    def measure(self, result: Result, reading: Reading, progress: Progress) -> dict[str, Any] | None:  # noqa: ARG002
        """A task is measured on whole releases only."""
        return None

    def new_release(self, result: Result) -> NewRelease:
        """What is new to readers: the union where that takes the place of the earlier release, else the records."""
        new = replace(super().new_release(result), policy=self.policy)
        if not self.replaces:
            return new
        rows = rows_of_release(together([self.base.table, result.table]), self.policy)
        return replace(new, shown=signature_of(self.policy, rows))

    def more_evidence(self, result: Result, reading: Reading, facts: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """What the records joined, what is true of everything together, and why records are withheld."""
        union, joining = together([self.base.table, result.table]), self.joining
        return applied_evidence(
            result, union, self.base, joining.extension, joining.extended, joining.withheld, replaces=self.replaces
        )


def _extension(new: NewRecords, base: Base, n_classes: int, *, alone: bool) -> Extension:
    """The published classes beside the new records."""
    problem, rows = new.records.problem, base.rows
    sizes = np.bincount(rows.owner, weights=rows.weights, minlength=n_classes).astype(np.int64)
    entries = {}
    for name in problem.sensitive_columns:
        values, codes = rows.sensitive[name]
        code_of = {value: code for code, value in enumerate(problem.domains[name].values)}
        numbers = np.array([code_of[value] for value in values], dtype=np.int32)
        held = Histogram.of(rows.owner, numbers[codes], n_classes, len(code_of), rows.weights)
        entries[name] = (held.class_of, held.values, held.counts)
    secrets = {name: problem.table.row_sensitive[name] for name in problem.sensitive_columns}
    return Extension(problem.models, problem.domains, PublishedClasses(sizes, entries), secrets, alone)


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
