"""`shoal apply`: new records recoded with a published recoding, and which of them cannot be released."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from shoal.cli.commands import interruptible, load_policy
from shoal.cli.progress import progress_bar
from shoal.cli.show_releases import show_applied, show_composition, show_records
from shoal.errors import InputError
from shoal.io import Place, check_outputs, check_table_suffix
from shoal.io.sink import output_paths
from shoal.pipeline.apply.apply import apply


@interruptible
def run_apply(
    recoding: Path,
    data: Place,
    *,
    policy: Path | None,
    out: Path | None,
    union: bool,
    replaces: bool,
    registry: Path | None,
    as_of: str | None,
    fail_on: Sequence[str],
    show: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Recode, verify, write where a file is named, and say what became of the records."""
    if show and as_json:
        raise InputError("--show is for the terminal: values of withheld records do not go into JSON.")
    if out is not None:
        check_table_suffix(out)
        inputs = [recoding, *([data] if isinstance(data, Path) else [])]
        check_outputs(list(output_paths(out, recoding=True).values()), inputs, force=force)
    with progress_bar() as progress:
        applied = apply(
            recoding,
            data,
            policy=None if policy is None else load_policy(policy),
            replaces=replaces,
            registry=registry,
            as_of=as_of,
            fail_on=fail_on,
            progress=progress,
        )
        paths = {} if out is None else applied.write(out, union=union, force=force)
    if as_json:
        evidence = json.loads(paths["evidence"].read_bytes()) if paths else applied.evidence
        typer.echo(json.dumps({**evidence, "paths": {name: str(path) for name, path in paths.items()}}))
        return
    show_applied(applied.evidence)
    show_composition(applied.evidence)
    if show:
        table = applied.original
        show_records(table.column_names, [list(row.values()) for row in table.to_pylist()], applied.reasons)
    for name, path in paths.items():
        typer.echo(f"  {name:<9} {path}")
    if out is None:
        typer.echo("Nothing was written: name a file with --out.")
