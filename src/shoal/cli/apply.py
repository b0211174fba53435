"""`shoal apply`: new records recoded with a published recoding, and which of them cannot be released."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import AsOf, FailOn, Force, Json, NewRecords, Registry
from shoal.cli.run import echo_json, echo_lines, echo_paths, load_policy, progress_bar
from shoal.errors import InputError


def apply(
    recoding: Annotated[Path, typer.Argument(help="Recoding file of a release, or the release itself.")],
    *,
    data: NewRecords,
    policy: Annotated[
        Path | None, typer.Option("--policy", help="Policy of the recoding, if it does not name one.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Release of the new records to write; without it nothing is written.")
    ] = None,
    union: Annotated[
        bool, typer.Option("--union", help="Write all records published with the recoding, not only the new ones.")
    ] = False,
    replaces: Annotated[
        bool,
        typer.Option("--replaces", help="The earlier release is withdrawn, so nobody can subtract it from the union."),
    ] = False,
    registry: Registry = None,
    as_of: AsOf = None,
    fail_on: FailOn = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show withheld records with their values; on the terminal only.")
    ] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Recode new records with a published recoding, without weakening it; say which cannot be released."""
    from shoal.io import check_outputs, check_table_suffix
    from shoal.io.sink import output_paths
    from shoal.pipeline.apply.apply import apply as apply_recoding
    from shoal.present.terminal import applied_lines, composition_lines, withheld_records

    if show and as_json:
        raise InputError(
            "--show cannot be combined with --json: values of withheld records are shown on the terminal only.",
            code="show-with-json",
        )
    if out is not None:
        check_table_suffix(out)
        inputs = [recoding, *([data] if isinstance(data, Path) else [])]
        check_outputs(list(output_paths(out, recoding=True).values()), inputs, force=force)
    with progress_bar() as progress:
        applied = apply_recoding(
            recoding,
            data,
            policy=None if policy is None else load_policy(policy),
            replaces=replaces,
            registry=registry,
            as_of=as_of,
            fail_on=fail_on or [],
            progress=progress,
        )
        paths = {} if out is None else applied.write(out, union=union, force=force)
    if as_json:
        echo_json(json.loads(paths["evidence"].read_bytes()) if paths else applied.evidence, paths)
        return
    echo_lines([*applied_lines(applied.evidence), *composition_lines(applied.facts)])
    if show:
        echo_lines(withheld_records(applied.original, applied.reasons))
    echo_paths(paths)
    if out is None:
        typer.echo("Nothing was written. To write the release, name a file with --out.")
