"""New records on disk: written aside, verified as written, then put in place with evidence, report and recoding."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shoal.attacks.scene_setup import rows_of_release
from shoal.encode.released_table import as_written
from shoal.errors import OutputError
from shoal.evidence import sealed, to_json
from shoal.io import Staged, check_table_suffix, sha256_of, write_table
from shoal.pipeline.apply.apply import Applied
from shoal.pipeline.apply.verify_applied import verified
from shoal.pipeline.recoding_file import PublishedFile, recoding_path, recoding_text
from shoal.pipeline.write import output_paths, write_text
from shoal.present.report.page import write_report
from shoal.verification import verify


def applied_paths(target: Path) -> dict[str, Path]:
    """The files of new records: release, evidence, report, and the recoding with which the next ones go on."""
    return {**output_paths(target), "recoding": recoding_path(target)}


def write_applied(applied: Applied, target: Path, *, union: bool = False, force: bool = False) -> Mapping[str, Path]:
    """Write the new records, or everything that the recoding has published, verified as it stands on disk."""
    check_table_suffix(target)
    base, policy = applied.base, applied.policy
    whole = union or applied.replaces
    if not whole and not base.files:
        raise OutputError("the release that the new records join is in no file. Write it first, or write the union.")
    table = applied.union if whole else applied.table
    paths = applied_paths(target)
    with Staged(list(paths.values()), inputs=applied.inputs, force=force) as stage:
        staged = stage.path(target)
        write_table(as_written(table, target), staged)
        if whole:
            verify(staged, policy).raise_if_failed()
        else:
            verified(applied.made, base, replaces=False, written=staged).raise_if_failed()
        digest = sha256_of(staged)
        evidence = sealed(applied.evidence, release_sha256=digest)
        published = [*(() if whole else base.files), PublishedFile(target, digest)]
        recoding = recoding_text(
            policy, paths["recoding"], levels=base.levels, heights=base.heights, published=published
        )
        write_text(stage, paths["evidence"], to_json(evidence))
        write_text(stage, paths["report"], write_report(evidence))
        write_text(stage, paths["recoding"], recoding)
        shown = table if applied.replaces else applied.table
        with applied.keeping.adding(policy, rows_of_release(shown, policy), target.stem, digest) as kept:
            stage.commit()
    return {**paths, **kept}
