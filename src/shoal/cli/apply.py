"""`shoal apply`: new records recoded with a published recoding, and which of them cannot be released."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options as given
from shoal.cli.options import location_option, option
from shoal.cli.run import echo_result, load_policy, progress_bar
from shoal.errors import InputError


def apply(
    recoding: Annotated[
        Path, typer.Argument(metavar="RECODING", help="Recoding file of a release, or the release itself.")
    ],
    *,
    data: Annotated[Any, location_option("The new records: a file, or postgresql://host/database#table.")],
    policy: Annotated[Path | None, option("Policy of the recoding, if it does not name one.")] = None,
    out: Annotated[Path | None, option("Release of the new records to write; without it nothing is written.")] = None,
    union: Annotated[
        bool, option("Write all records published with the recoding, not only the new ones.", "--union")
    ] = False,
    replaces: Annotated[
        bool, option("The earlier release is withdrawn, so nobody can subtract it from the union.", "--replaces")
    ] = False,
    registry: given.Registry = None,
    as_of: given.AsOf = None,
    fail_on: given.FailOn = None,
    show: Annotated[bool, option("Show withheld records with their values; on the terminal only.", "--show")] = False,
    force: given.Force = False,
    as_json: given.Json = False,
) -> None:
    """Recode new records with a published recoding, without weakening it; say which cannot be released."""
    from shoal.io import check_outputs, writer_of
    from shoal.io.sink import output_paths
    from shoal.pipeline.apply.apply import apply as apply_recoding
    from shoal.present.terminal import applied_lines, composition_lines, decision_lines, withheld_records

    if show and as_json:
        raise InputError(
            "--show cannot be combined with --json: values of withheld records are shown on the terminal only.",
            code="show-with-json",
        )
    if out is not None:
        writer_of(out)
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
    facts = json.loads(paths["evidence"].read_bytes()) if paths and as_json else applied.evidence
    found = [*decision_lines(applied.facts.verdict), *applied_lines(applied.evidence)]
    lines = [*found, *composition_lines(applied.facts)]
    if show:
        lines += withheld_records(applied.original, applied.reasons)
    if out is None:
        lines.append("Nothing was written. To write the release, name a file with --out.")
    echo_result(facts, lines, as_json=as_json, paths=paths)
