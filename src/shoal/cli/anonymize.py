"""`shoal anonymize`: the release of a table, with its evidence and report."""

from pathlib import Path
from typing import Annotated, Any

from shoal.cli import options as given
from shoal.cli.options import option, with_table
from shoal.cli.run import echo_result, load_policy, progress_bar


def anonymize(
    policy: given.PolicyFile,
    *,
    data: given.Data = None,
    table: given.Table = None,
    out: Annotated[
        Any,
        given.location_option(
            "Release to write, instead of the policy's output: a file, or postgresql://host/database#table.",
            "--out",
            metavar="RELEASE",
        ),
    ] = None,
    out_table: Annotated[str | None, option("Database table to write the release to.")] = None,
    evidence: Annotated[
        Path | None, option("Evidence file of a release in a database (default: next to the policy).")
    ] = None,
    algorithm: given.Algorithm = None,
    recoding: Annotated[
        bool, option("Also write the recoding, which shoal apply uses for new records.", "--recoding")
    ] = False,
    registry: given.Registry = None,
    as_of: given.AsOf = None,
    replaces: Annotated[
        list[str] | None, option("Entry of the registry that this release replaces. Repeatable.")
    ] = None,
    fail_on: given.FailOn = None,
    memory: Annotated[str | None, option("Memory limit, such as 2GB; records are streamed to stay within it.")] = None,
    force: given.Force = False,
    as_json: given.Json = False,
) -> None:
    """Anonymize a table, verify the release, and write it with its evidence and report."""
    from shoal.pipeline import publish
    from shoal.present.terminal import composition_lines, decision_lines, release_lines

    data = with_table(data, table)
    with progress_bar() as progress:
        published = publish(
            load_policy(policy, data, algorithm),
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
    release = published.release
    facts = release.facts
    lines = [*decision_lines(facts.verdict), *release_lines(facts), *composition_lines(facts)]
    echo_result(release.evidence, lines, as_json=as_json, paths=published.paths)
