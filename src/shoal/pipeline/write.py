"""Release, evidence and report on disk: written aside, verified as written, then put in place together."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.attacks.scene_setup import Rows, rows_of_recoding, rows_of_release
from shoal.encode.released_table import as_written
from shoal.errors import InputError, OutputError
from shoal.evidence import sealed, to_json
from shoal.io import (
    DatabaseTable,
    Kind,
    Place,
    Staged,
    check_table_suffix,
    place,
    sha256_of,
    write_table,
)
from shoal.io.multiple_files import data_files, is_many, would_be_read
from shoal.io.postgres.tables import held_still
from shoal.pipeline.database import Confirm, publish_table
from shoal.pipeline.make_evidence import make_evidence
from shoal.pipeline.memory import parse_memory, streams
from shoal.pipeline.recoding_file import PublishedFile, heights_of, recoding_path, recoding_text
from shoal.pipeline.registry_options import Keeping, with_composition
from shoal.pipeline.release import Origin, Release
from shoal.pipeline.run import (
    Clock,
    Unverified,
    as_policy,
    attack_made,
    composed_with,
    data_source,
    make_release,
    measure_utility,
)
from shoal.pipeline.stream import Streamed, make_streamed
from shoal.policy import Policy
from shoal.present.report.page import write_report
from shoal.search.problem import Progress, no_progress
from shoal.verification import verify


@dataclass(frozen=True, eq=False)
class Published:
    """A release on disk."""

    release: Release
    paths: Mapping[str, Any]
    """Where release, evidence and report lie, and its recoding and its entry in a registry where there are any."""


def output_paths(release: Path, *, recoding: bool = False) -> dict[str, Path]:
    """The files of a release."""
    return {
        "release": release,
        "evidence": release.with_name(f"{release.stem}.evidence.json"),
        "report": release.with_name(f"{release.stem}.report.html"),
        **({"recoding": recoding_path(release)} if recoding else {}),
    }


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
    confirm: Confirm | None = None,
) -> Published:
    """Anonymize the policy's data and write the release: verified on the written file, or nothing is left on disk.

    ``recoding`` writes the recoding too, for `shoal.apply`. ``registry`` is a folder that remembers releases: this one
    is held against those in it, but for those it ``replaces``, and becomes an entry of the day ``as_of``. ``fail_on``
    has conditions such as ``similarity>0`` or ``composition>0``; an `ExposureError` says which is exceeded.

    ``data`` and ``out`` are files, or tables of a database (``postgresql://host/database#table``); evidence and report
    of a table go beside the policy, or to ``evidence``. ``confirm`` is called when all files are in place; where it
    raises they are taken back.

    ``memory`` is the most that the run may take, in bytes or as ``"2GB"``: records are then streamed, as they are from
    large or several files anyway, and what would not fit is refused before the search. The release is the same.
    """
    asked, clock, limit = as_policy(policy), Clock(), parse_memory(memory)
    if asked.engine.name == "spark":
        from shoal.pipeline.spark.release import publish_spark  # noqa: PLC0415 - only for those who use it

        if memory is not None:
            raise InputError("--memory is for this machine. On Spark, engine.cells says what the driver may hold.")
        return publish_spark(
            asked, data=data, out=str(out) if isinstance(out, DatabaseTable) else out, evidence=evidence,
            force=force, recoding=recoding, registry=registry,
            as_of=as_of, replaces=replaces, fail_on=fail_on, progress=progress,
        )  # fmt: skip
    table = _table_of(asked, out)
    if table is not None:
        options: dict[str, Any] = {"registry": registry, "as_of": as_of, "replaces": replaces, "fail_on": fail_on}

        def publish_file(path: Path, final: Confirm) -> Published:
            return publish(asked, data=data, out=path, memory=memory, progress=progress, confirm=final, **options)

        source = data_source(asked, data)
        return publish_table(asked, source, table, publish_file, evidence=evidence, recoding=recoding, force=force)
    if evidence is not None:
        raise InputError("--evidence is for a release in a database; beside a file it takes the file's name.")
    keeping = Keeping.of(asked, registry=registry, as_of=as_of, replaces=replaces, fail_on=fail_on)
    source = data_source(asked, data)
    target = _target(asked, out)
    paths = output_paths(target, recoding=recoding or asked.recoding)
    inputs = input_files(asked, source.path)
    if target not in inputs and would_be_read(target, source.path):
        raise OutputError(f"{target} would be read as data with {source.path} the next time. Choose another folder.")
    with Staged(list(paths.values()), inputs=inputs, force=force) as stage:
        if streams(asked, source, limit):
            with held_still(source) as still:
                streamed = make_streamed(still, asked, limit=limit, clock=clock, progress=progress)
                written = _write_streamed(streamed, stage.path(target), keeping, clock, progress)
        else:
            written = _write_made(
                make_release(data, asked, clock, progress), stage.path(target), keeping, clock, progress
            )
        facts = written.release.evidence
        keeping.refuse(facts["attacks"])
        write_about(stage, paths, asked, facts)
        with keeping.adding(asked, written.rows, target.stem, facts["release_sha256"]) as kept:
            stage.commit(None if confirm is None else lambda: confirm(paths))
    held = target if isinstance(written.release.held, Path) else written.release.held
    return Published(replace(written.release, held=held), {**paths, **kept})


@dataclass(frozen=True, eq=False)
class _Written:
    """A release that is written aside and verified, and its records by class."""

    release: Release
    rows: Rows


def _write_made(made: Unverified, staged: Path, keeping: Keeping, clock: Clock, progress: Progress) -> _Written:
    """Write a release whose records are in memory."""
    progress("writing", 0.0)
    with clock.stage("write"):
        write_table(as_written(made.table, staged), staged)
    progress("verifying", 0.0)
    with clock.stage("verify"):
        verification = verify(staged, made.policy, original=made.loaded.table)
        verification.raise_if_failed()
    attacks = attack_made(made, clock, progress)
    utility = measure_utility(made, clock, progress)
    composed = composed_with(keeping, made.as_new, clock, progress)
    facts = make_evidence(made, verification, clock, sha256_of(staged), utility, attacks)
    evidence = with_composition(facts, composed)
    origin = Origin(made.resolved.problem, made.loaded.order)
    release = Release(made.policy, made.table, made.recoding, evidence, made.loaded.kind, made.search, origin)
    return _Written(release, rows_of_recoding(made.policy, made.loaded.table, made.resolved, made.recoding))


def _write_streamed(made: Streamed, staged: Path, keeping: Keeping, clock: Clock, progress: Progress) -> _Written:
    """Write a release from its counts."""
    found = made.searched
    progress("writing", 0.0)
    with clock.stage("write"):
        made.write(staged, progress)
    progress("verifying", 0.0)
    with clock.stage("verify"):
        verification = made.verified(staged)
        verification.raise_if_failed()
    with clock.stage("attack"):
        attacks = made.attacked(progress)
    composed = composed_with(keeping, found.as_new, clock, progress)
    digest, lacking = sha256_of(staged), made.not_done()
    facts = make_evidence(found, verification, clock, digest, attacks=attacks, not_done=lacking)
    evidence = with_composition(facts, composed)
    release = Release(found.policy, staged, found.recoding, evidence, Kind.ARROW, found.search)
    return _Written(release, rows_of_recoding(found.policy, found.cells, found.resolved, found.recoding))


def write_release(
    release: Release, target: Path, *, force: bool = False, as_of: str | datetime.date | None = None
) -> Published:
    """Write a release made in Python, verified again as it stands on disk, and remember it where it was held against
    earlier ones.
    """
    check_table_suffix(target)
    keeping = Keeping.of(release.policy, registry=release.registry, as_of=as_of) if release.registry else Keeping.none()
    paths = output_paths(target, recoding=release.policy.recoding)
    with Staged(list(paths.values()), force=force) as stage:
        staged = stage.path(target)
        write_table(as_written(release.table, target), staged)
        verify(staged, release.policy).raise_if_failed()
        digest = sha256_of(staged)
        evidence = sealed(release.evidence, release_sha256=digest)
        write_about(stage, paths, release.policy, evidence)
        with keeping.adding(
            release.policy, rows_of_release(release.table, release.policy), target.stem, digest
        ) as kept:
            stage.commit()
    return Published(release, {**paths, **kept})


def write_about(stage: Staged, paths: Mapping[str, Path], policy: Policy, evidence: Mapping[str, Any]) -> None:
    """What stands beside a release: evidence, report and, where it is asked for, the recoding."""
    write_text(stage, paths["evidence"], to_json(evidence))
    write_text(stage, paths["report"], write_report(evidence))
    if "recoding" in paths:
        file = PublishedFile(paths["release"], evidence["release_sha256"])
        levels, heights = evidence["levels"], heights_of(evidence)
        text = recoding_text(policy, paths["recoding"], levels=levels, heights=heights, published=[file])
        write_text(stage, paths["recoding"], text)


def write_text(stage: Staged, target: Path, text: str) -> None:
    """Write one of the outputs of a stage."""
    try:
        stage.path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}.") from None


def _table_of(policy: Policy, out: str | Place | None) -> DatabaseTable | None:
    """The table of a database that a release goes to; None where it goes to a file."""
    given = out if out is not None else policy.output
    found = place(given) if given is not None else None
    return found if isinstance(found, DatabaseTable) else None


def _target(policy: Policy, out: str | Place | None) -> Path:
    if out is None and policy.output is None:
        raise OutputError("the policy names no output and none was given. Set output: in the policy or pass --out.")
    target = Path(str(out)) if out is not None else policy.path(str(policy.output))
    check_table_suffix(target)
    return target


def input_files(policy: Policy, data: Path) -> list[Path]:
    """The files that a run reads, the data first; an output must never replace one."""
    return [*(data_files(data) if is_many(data) else [data]), *policy_files(policy)]


def policy_files(policy: Policy) -> list[Path]:
    """The file of a policy, and those of its hierarchies."""
    files = [Path(policy.source)] if Path(policy.source).is_file() else []
    for column in policy.columns.values():
        if column.hierarchy is not None and column.hierarchy.levels is not None:
            files.append(policy.path(column.hierarchy.levels.path))
        if column.hierarchy is not None and isinstance(column.hierarchy.tree, str):
            files.append(policy.path(column.hierarchy.tree))
    return files
