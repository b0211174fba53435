"""Release, evidence and report on disk: written aside, verified as written, then put in place together."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.algorithms.problem import Progress, no_progress
from shoal.errors import OutputError
from shoal.evidence import to_json
from shoal.io import Staged, canonical_text, check_table_suffix, write_table
from shoal.pipeline.release import Release
from shoal.pipeline.run import Clock, as_policy, data_source, make_evidence, make_release
from shoal.policy import Policy
from shoal.report import write_report
from shoal.verification import verify


@dataclass(frozen=True, eq=False)
class Published:
    """A release on disk."""

    release: Release
    paths: Mapping[str, Path]
    """Where release, evidence and report lie."""


def output_paths(release: Path) -> dict[str, Path]:
    """The three files of a release."""
    return {
        "release": release,
        "evidence": release.with_name(f"{release.stem}.evidence.json"),
        "report": release.with_name(f"{release.stem}.report.html"),
    }


def publish(
    policy: Policy | str | Path,
    *,
    data: str | Path | None = None,
    out: str | Path | None = None,
    force: bool = False,
    progress: Progress = no_progress,
) -> Published:
    """Anonymize the policy's data and write the release: verified on the written file, or nothing is left on disk."""
    asked, clock = as_policy(policy), Clock()
    source = data_source(asked, data)
    target = _target(asked, out)
    paths = output_paths(target)
    with Staged(list(paths.values()), inputs=_inputs(asked, source.path), force=force) as stage:
        made = make_release(data, asked, clock, progress)
        staged = stage.path(target)
        progress("writing", 0.0)
        with clock.stage("write"):
            write_table(_as_written(made.table, target), staged)
        progress("verifying", 0.0)
        with clock.stage("verify"):
            verification = verify(staged, asked, original=made.loaded.table)
            verification.raise_if_failed()
        evidence = make_evidence(made, verification, clock, hashlib.sha256(staged.read_bytes()).hexdigest())
        _write_text(stage, paths["evidence"], to_json(evidence))
        _write_text(stage, paths["report"], write_report(evidence))
        stage.commit()
    release = Release(asked, made.table, made.recoding, evidence, made.loaded.kind, made.search)
    return Published(release, paths)


def write_release(release: Release, target: Path, *, force: bool = False) -> Published:
    """Write a release made in Python, verified again as it stands on disk."""
    check_table_suffix(target)
    paths = output_paths(target)
    with Staged(list(paths.values()), force=force) as stage:
        staged = stage.path(target)
        write_table(_as_written(release.table, target), staged)
        verify(staged, release.policy).raise_if_failed()
        evidence: dict[str, Any] = {
            **release.evidence,
            "release_sha256": hashlib.sha256(staged.read_bytes()).hexdigest(),
        }
        _write_text(stage, paths["evidence"], to_json(evidence))
        _write_text(stage, paths["report"], write_report(evidence))
        stage.commit()
    return Published(release, paths)


def _write_text(stage: Staged, target: Path, text: str) -> None:
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


def _inputs(policy: Policy, data: Path) -> list[Path]:
    """Files that an output must never replace."""
    files = [data]
    if Path(policy.source).is_file():
        files.append(Path(policy.source))
    for column in policy.columns.values():
        if column.hierarchy is not None and column.hierarchy.levels is not None:
            files.append(policy.path(column.hierarchy.levels.path))
        if column.hierarchy is not None and isinstance(column.hierarchy.tree, str):
            files.append(policy.path(column.hierarchy.tree))
    return files


def _as_written(table: pa.Table, target: Path) -> pa.Table:
    """In a text file every value stands in its canonical text, so that the input's types leave no trace."""
    if target.suffix.lower() in {".parquet", ".pq"}:
        return table
    return pa.table({name: canonical_text(table.column(name)) for name in table.column_names})
