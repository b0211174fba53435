"""`shoal anonymize`: the release of a table, with its evidence and report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import (
    Algorithm,
    AsOf,
    Data,
    FailOn,
    Force,
    Json,
    PolicyFile,
    Registry,
    Table,
    read_location,
    with_table,
)
from shoal.cli.run import echo_json, echo_lines, echo_paths, load_policy, progress_bar


def anonymize(
    policy: PolicyFile,
    *,
    data: Data = None,
    table: Table = None,
    out: Annotated[
        Any,
        typer.Option(
            "--out",
            parser=read_location,
            metavar="RELEASE",
            help="Release to write, instead of the policy's output: a file, or postgresql://host/database#table.",
        ),
    ] = None,
    out_table: Annotated[
        str | None, typer.Option("--out-table", help="Database table to write the release to.")
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option("--evidence", help="Evidence file of a release in a database (default: next to the policy)."),
    ] = None,
    algorithm: Algorithm = None,
    recoding: Annotated[
        bool, typer.Option("--recoding", help="Also write the recoding, which shoal apply uses for new records.")
    ] = False,
    registry: Registry = None,
    as_of: AsOf = None,
    replaces: Annotated[
        list[str] | None,
        typer.Option("--replaces", help="Entry of the registry that this release replaces. Repeatable."),
    ] = None,
    fail_on: FailOn = None,
    memory: Annotated[
        str | None, typer.Option("--memory", help="Memory limit, such as 2GB; records are streamed to stay within it.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Anonymize a table, verify the release, and write it with its evidence and report."""
    from shoal.pipeline import publish
    from shoal.present.terminal import composition_lines, release_lines

    data = with_table(data, table)
    chosen = load_policy(policy, data, algorithm)
    with progress_bar() as progress:
        published = publish(
            chosen,
            data=data,
            out=with_table(out, out_table, "--out-table"),
            evidence=evidence,
            recoding=recoding,
            registry=registry,
            as_of=as_of,
            replaces=replaces or [],
            fail_on=fail_on or [],
            memory=memory,
            force=force,
            progress=progress,
        )
    facts = published.release.facts
    if as_json:
        echo_json(published.release.evidence, published.paths)
        return
    echo_lines([*release_lines(facts), *composition_lines(facts)])
    echo_paths(published.paths)
