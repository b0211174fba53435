"""Commands from a table to its release: init, schema, anonymize, apply and demo."""

from __future__ import annotations

import json
import shlex
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.shared import (
    Algorithm,
    AsOf,
    Data,
    FailOn,
    Force,
    Json,
    NewRecords,
    PolicyFile,
    Registry,
    Table,
    echo_json,
    echo_lines,
    echo_paths,
    load_policy,
    progress_bar,
    read_location,
    with_table,
    write_text,
)
from shoal.errors import DataError, InputError, OutputError
from shoal.formatting import listing, pluralize

_SUFFIXES = (".yaml", ".yml")


def init(
    data: Annotated[
        Any,
        typer.Argument(
            parser=read_location,
            metavar="DATA",
            help="Table to draft a policy for: a CSV, Parquet, Excel, SPSS, SAS or Stata file, or postgresql://…#table.",
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Policy file to write (default: next to the data).")] = None,
    table: Table = None,
    separator: Annotated[str | None, typer.Option("--separator", help="Column separator of a CSV file.")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Text encoding of a CSV file.")] = None,
    sheet: Annotated[
        str | None, typer.Option("--sheet", help="Sheet of a workbook, by name or number (default: the first).")
    ] = None,
    force: Force = False,
) -> None:
    """Draft a policy for a table, with comments: roles, hierarchies and likely quasi-identifiers."""
    from shoal.draft import draft_name, draft_policy
    from shoal.io import Staged

    data = with_table(data, table)
    if isinstance(data, Path) and data.is_dir():
        raise DataError(f"{data} is a folder, not a file. Name a file in it.", code="folder")
    folder = data.parent if isinstance(data, Path) else Path()
    target = out if out is not None else folder / f"{draft_name(data)}.yaml"
    if target.suffix.lower() not in _SUFFIXES:
        raise OutputError(f"Policy files end in {' or '.join(_SUFFIXES)}; {target} does not.", code="policy-suffix")
    with Staged([target], inputs=[data] if isinstance(data, Path) else [], force=force) as stage:
        text = draft_policy(data, separator=separator, encoding=encoding, sheet=sheet, folder=target.parent)
        write_text(stage.path(target), target, text)
        stage.commit()
    command = f"shoal anonymize {shlex.quote(str(target))}"
    typer.echo(f"Wrote {target}. Review every column in it, then run: {command}")


def schema(
    evidence: Annotated[bool, typer.Option("--evidence", help="The schema of evidence files, instead.")] = False,
) -> None:
    """Print the JSON Schema of policy files, for editors, or of evidence files."""
    from shoal.evidence.evidence import evidence_schema
    from shoal.policy import Policy

    typer.echo(json.dumps(evidence_schema() if evidence else Policy.model_json_schema(), indent=2))


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
    facts = published.release.evidence
    if as_json:
        echo_json(facts, published.paths)
        return
    echo_lines([*release_lines(facts), *composition_lines(facts)])
    echo_paths(published.paths)


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
    echo_lines([*applied_lines(applied.evidence), *composition_lines(applied.evidence)])
    if show:
        echo_lines(withheld_records(applied.original, applied.reasons))
    echo_paths(paths)
    if out is None:
        typer.echo("Nothing was written. To write the release, name a file with --out.")


_FILES = ("hospital.csv", "hospital.yaml")


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the files of the demo.")] = Path("shoal-demo"),
    force: Annotated[bool, typer.Option("--force", help="Replace files of the demo that were edited.")] = False,
    as_json: Json = False,
) -> None:
    """Anonymize bundled hospital data and show the result."""
    from shoal.pipeline import publish
    from shoal.policy import Policy
    from shoal.present.terminal import release_lines, sample_lines

    _copy_files(out, force=force)
    published = publish(Policy.load(out / "hospital.yaml"), force=True)
    release = published.release
    if as_json:
        echo_json(release.evidence, published.paths)
        return
    records = pluralize(release.evidence["records"], "hospital record")
    typer.echo(f"{records} from {out / 'hospital.csv'}, anonymized with {out / 'hospital.yaml'}.\n")
    echo_lines([*sample_lines(release.table), "", *release_lines(release.evidence)])
    echo_paths(published.paths)


def _copy_files(out: Path, *, force: bool) -> None:
    """Put the demo's data and policy into a folder; files that were edited are not replaced unless forced."""
    bundled = {out / name: (resources.files("shoal.data") / name).read_bytes() for name in _FILES}
    try:
        out.mkdir(parents=True, exist_ok=True)
        edited = [path for path, content in bundled.items() if path.exists() and path.read_bytes() != content]
        if edited and not force:
            raise OutputError(
                f"{listing(edited)} would be overwritten, although edited since the last demo. "
                "Choose another folder with --out, or replace the files with --force.",
                code="edited",
            )
        for path, content in bundled.items():
            path.write_bytes(content)
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror or error}.", code="not-writable") from None
