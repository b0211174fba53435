"""Release, evidence and report on disk: written aside, verified as written, then put in place together."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.algorithms.problem import Progress, no_progress
from shoal.errors import OutputError
from shoal.evidence import sealed, to_json
from shoal.io import Staged, canonical_text, check_table_suffix, write_table
from shoal.pipeline.attack_scene import rows_of_recoding, rows_of_release
from shoal.pipeline.evidence_of import make_evidence
from shoal.pipeline.keep import Keeping, with_composition
from shoal.pipeline.recoding_file import PublishedFile, heights_of, recoding_path, recoding_text
from shoal.pipeline.release import Origin, Release
from shoal.pipeline.run import (
    Clock,
    as_policy,
    attack_made,
    composed_with,
    data_source,
    make_release,
    measure_utility,
)
from shoal.policy import Policy
from shoal.report import write_report
from shoal.verification import verify


@dataclass(frozen=True, eq=False)
class Published:
    """A release on disk."""

    release: Release
    paths: Mapping[str, Path]
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
    data: str | Path | None = None,
    out: str | Path | None = None,
    force: bool = False,
    recoding: bool = False,
    registry: str | Path | None = None,
    as_of: str | datetime.date | None = None,
    replaces: Sequence[str] = (),
    fail_on: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Published:
    """Anonymize the policy's data and write the release: verified on the written file, or nothing is left on disk.

    ``recoding`` writes the recoding too, for `shoal.apply`. ``registry`` is a folder that remembers releases: this one
    is held against those in it, but for those it ``replaces``, and becomes an entry of the day ``as_of``. ``fail_on``
    has conditions such as ``similarity>0`` or ``composition>0``; an `ExposureError` says which is exceeded.
    """
    asked, clock = as_policy(policy), Clock()
    keeping = Keeping.of(asked, registry=registry, as_of=as_of, replaces=replaces, fail_on=fail_on)
    source = data_source(asked, data)
    target = _target(asked, out)
    paths = output_paths(target, recoding=recoding or asked.recoding)
    with Staged(list(paths.values()), inputs=input_files(asked, source.path), force=force) as stage:
        made = make_release(data, asked, clock, progress)
        staged = stage.path(target)
        progress("writing", 0.0)
        with clock.stage("write"):
            write_table(as_written(made.table, target), staged)
        progress("verifying", 0.0)
        with clock.stage("verify"):
            verification = verify(staged, asked, original=made.loaded.table)
            verification.raise_if_failed()
        attacks = attack_made(made, clock, progress)
        utility = measure_utility(made, clock, progress)
        digest = hashlib.sha256(staged.read_bytes()).hexdigest()
        composed = composed_with(keeping, made, clock, progress)
        evidence = with_composition(make_evidence(made, verification, clock, digest, utility, attacks), composed)
        keeping.refuse(evidence["attacks"])
        _write_about(stage, paths, asked, evidence)
        rows = rows_of_recoding(asked, made.loaded.table, made.resolved, made.recoding)
        with keeping.adding(asked, rows, target.stem, digest) as kept:
            stage.commit()
    origin = Origin(made.resolved.problem, made.loaded.order)
    release = Release(asked, made.table, made.recoding, evidence, made.loaded.kind, made.search, origin)
    return Published(release, {**paths, **kept})


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
        digest = hashlib.sha256(staged.read_bytes()).hexdigest()
        evidence = sealed(release.evidence, release_sha256=digest)
        _write_about(stage, paths, release.policy, evidence)
        with keeping.adding(
            release.policy, rows_of_release(release.table, release.policy), target.stem, digest
        ) as kept:
            stage.commit()
    return Published(release, {**paths, **kept})


def _write_about(stage: Staged, paths: Mapping[str, Path], policy: Policy, evidence: Mapping[str, Any]) -> None:
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


def _target(policy: Policy, out: str | Path | None) -> Path:
    if out is None and policy.output is None:
        raise OutputError("the policy names no output and none was given. Set output: in the policy or pass --out.")
    target = Path(out) if out is not None else policy.path(str(policy.output))
    check_table_suffix(target)
    return target


def input_files(policy: Policy, data: Path) -> list[Path]:
    """The files that a run reads, the data first; an output must never replace one."""
    return [data, *policy_files(policy)]


def policy_files(policy: Policy) -> list[Path]:
    """The file of a policy, and those of its hierarchies."""
    files = [Path(policy.source)] if Path(policy.source).is_file() else []
    for column in policy.columns.values():
        if column.hierarchy is not None and column.hierarchy.levels is not None:
            files.append(policy.path(column.hierarchy.levels.path))
        if column.hierarchy is not None and isinstance(column.hierarchy.tree, str):
            files.append(policy.path(column.hierarchy.tree))
    return files


def as_written(table: pa.Table, target: Path) -> pa.Table:
    """In a text file every value stands in its canonical text, so that the input's types leave no trace."""
    if target.suffix.lower() in {".parquet", ".pq"}:
        return table
    return pa.table({name: canonical_text(table.column(name)) for name in table.column_names})
