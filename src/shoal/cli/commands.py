"""What each command does. Prints results; all work is the pipeline's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import resources
from pathlib import Path
from typing import Any, ParamSpec

import typer

from shoal.cli.progress import progress_bar
from shoal.errors import InterruptedRunError, OutputError, PolicyError
from shoal.pipeline import publish
from shoal.pipeline.lattice import list_minimal_nodes
from shoal.pipeline.run import complete_problems, data_source
from shoal.policy import Policy
from shoal.verification import verify

P = ParamSpec("P")


def interruptible(command: Callable[P, None]) -> Callable[P, None]:
    """A command that says so when it is stopped by Ctrl-C; the pipeline has cleaned up by then."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            raise InterruptedRunError from None

    return run


def load_policy(path: Path, data: Path | None = None) -> Policy:
    """Read a policy; if it has problems, add those that its good parts have with the data, so that all are told."""
    try:
        return Policy.load(path)
    except PolicyError as error:
        raise complete_problems(error, path, data) from None


@interruptible
def run_init(data: Path, out: Path | None, *, separator: str | None, encoding: str | None, force: bool) -> None:
    """Draft a policy and write it."""
    from shoal.draft import draft_policy  # noqa: PLC0415 - only init needs it

    target = out if out is not None else data.with_name(f"{data.name.split('.')[0]}.yaml")
    if target.exists() and not force:
        raise OutputError(f"{target} exists already. Name another file with --out, or replace it with --force.")
    text = draft_policy(data, separator=separator, encoding=encoding, folder=target.parent)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}.") from None
    typer.echo(f"Wrote {target}. Read it, decide on every column, then run: shoal anonymize {target}")


@interruptible
def run_anonymize(
    policy_path: Path, *, data: Path | None, out: Path | None, algorithm: str | None, force: bool, as_json: bool
) -> None:
    """Anonymize and write."""
    policy = load_policy(policy_path, data)
    if algorithm is not None:
        policy = policy.changed(algorithm={"name": algorithm})
    with progress_bar() as progress:
        published = publish(policy, data=data, out=out, force=force, progress=progress)
    evidence = published.release.evidence
    if as_json:
        typer.echo(json.dumps({**evidence, "paths": {name: str(path) for name, path in published.paths.items()}}))
        return
    _print_evidence(evidence)
    for name, path in published.paths.items():
        typer.echo(f"  {name:<9} {path}")


@interruptible
def run_verify(release: Path, policy_path: Path, original: Path | None, *, as_json: bool) -> None:
    """Verify a release; exit 1 when a check fails."""
    policy = load_policy(policy_path)
    verification = verify(release, policy, original)
    if as_json:
        typer.echo(json.dumps(verification.to_dict()))
    else:
        for check in verification.checks:
            typer.echo(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.message}")
        verdict = "holds" if verification.passed else "does NOT hold"
        typer.echo(
            f"{release}: the policy {verdict} ({verification.records} records in {verification.classes} classes)."
        )
    if not verification.passed:
        raise typer.Exit(1)


@interruptible
def run_lattice(policy_path: Path, data: Path | None, *, as_json: bool) -> None:
    """List all minimal nodes."""
    policy = load_policy(policy_path, data)
    with progress_bar() as progress:
        listing = list_minimal_nodes(policy, data, progress=progress)
    if as_json:
        typer.echo(json.dumps(listing))
        return
    nodes = listing["minimal_nodes"]
    typer.echo(
        f"{len(nodes)} minimal nodes of {listing['nodes']} ({listing['checked']} checked), "
        f"best {listing['metric']} first"
    )
    header = [*listing["quasi"], "loss", "ncp", "precision", "classes", "suppressed", "open to homogeneity, similarity"]
    rows = [_lattice_row(node, listing["quasi"]) for node in nodes]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        typer.echo("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def _lattice_row(node: Mapping[str, Any], quasi: list[str]) -> list[str]:
    measures = node["measures"]
    exposed = [
        f"{column} {found.get('homogeneity', {}).get('records', 0)}, {found.get('similarity', {}).get('records', '-')}"
        for column, found in node["exposure"].items()
    ]
    return [
        *(str(node["levels"][name]) for name in quasi),
        *(f"{measures[name]:.4f}" for name in ("loss", "ncp", "precision")),
        str(node["classes"]),
        str(node["suppressed"]),
        "; ".join(exposed) or "-",
    ]


@interruptible
def run_demo(out: Path, *, as_json: bool) -> None:
    """The main job on the bundled hospital data."""
    bundled = resources.files("shoal.data")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in ("hospital.csv", "hospital.yaml"):
            with resources.as_file(bundled / name) as source:
                shutil.copyfile(source, out / name)
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror or error}.") from None
    policy = Policy.load(out / "hospital.yaml")
    published = publish(policy, force=True)
    evidence = published.release.evidence
    if as_json:
        typer.echo(json.dumps({**evidence, "paths": {name: str(path) for name, path in published.paths.items()}}))
        return
    typer.echo(
        f"{evidence['records']} hospital records from {data_source(policy).path}, "
        f"anonymized by {out / 'hospital.yaml'}.\n"
    )
    _print_sample(published.release.table)
    typer.echo("")
    _print_evidence(evidence)
    for name, path in published.paths.items():
        typer.echo(f"  {name:<9} {path}")


def _print_sample(table: Any, rows: int = 8) -> None:
    """A few released rows, spread over the table."""
    step = max(table.num_rows // rows, 1)
    sample = [
        [("" if cell is None else str(cell)) for cell in row.values()] for row in table.to_pylist()[::step][:rows]
    ]
    header = table.column_names
    widths = [max(len(row[i]) for row in [header, *sample]) for i in range(len(header))]
    for row in [header, *sample]:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _print_evidence(evidence: Mapping[str, Any]) -> None:
    """The result in a few lines."""
    typer.echo(
        f"Verified: {evidence['released']} of {evidence['records']} records released in {evidence['classes']} classes, "
        f"{evidence['suppressed']} suppressed ({evidence['seconds']:.2f} s)."
    )
    for model in evidence["models"]:
        on = f" on {model['sensitive']}" if model["sensitive"] else ""
        asked = ", ".join(f"{name} {value}" for name, value in model["asked"].items())
        reached = ", ".join(f"{name} {value:.6g}" for name, value in model["reached"].items())
        typer.echo(f"  {model['model']}{on}: asked {asked}; reached {reached}")
    if evidence["levels"]:
        heights = {name: column.get("height") for name, column in evidence["columns"].items()}
        raised = ", ".join(f"{name} {level}/{heights[name]}" for name, level in evidence["levels"].items())
        typer.echo(f"  levels raised: {raised}")
    measures = evidence["measures"]
    typer.echo(f"  loss {measures['loss']:.4f}, ncp {measures['ncp']:.4f}, precision {measures['precision']:.4f}")
    if evidence["not_released"]:
        typer.echo(f"  not released: {', '.join(evidence['not_released'])}")


@interruptible
def run_schema() -> None:
    """Print the JSON Schema of the policy file."""
    typer.echo(json.dumps(Policy.model_json_schema(), indent=2))
