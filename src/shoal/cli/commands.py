"""What each command does. Prints results; all work is the pipeline's."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import wraps
from importlib import resources
from pathlib import Path
from typing import Any, ParamSpec

import typer

from shoal.cli.progress import progress_bar
from shoal.cli.show import show_evidence, show_sample
from shoal.cli.show_releases import show_composition
from shoal.errors import DataError, InterruptedRunError, OutputError, PolicyError
from shoal.evidence import evidence_schema
from shoal.io import Place, Staged
from shoal.pipeline import publish
from shoal.pipeline.run import complete_problems, data_source
from shoal.policy import Policy
from shoal.search import shared_options

P = ParamSpec("P")
POLICY_SUFFIXES = (".yaml", ".yml")


def interruptible(command: Callable[P, None]) -> Callable[P, None]:
    """A command that says so when it is stopped by Ctrl-C; the pipeline has cleaned up by then."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            raise InterruptedRunError from None

    return run


def load_policy(path: Path, data: Place | None = None) -> Policy:
    """Read a policy; if it has problems, add those that its good parts have with the data, so that all are told."""
    try:
        return Policy.load(path)
    except PolicyError as error:
        raise complete_problems(error, path, data) from None


def with_algorithm(policy: Policy, name: str | None) -> Policy:
    """The policy with another algorithm, if one is named: it keeps the options that the other takes too."""
    if name is None or name == policy.algorithm.name:
        return policy
    given = policy.algorithm.model_dump(exclude_unset=True)
    kept = {key: value for key, value in given.items() if key in shared_options(name)}
    dropped = sorted(set(given) - set(kept) - {"name"})
    if dropped:
        typer.echo(f"shoal: {name} does not take the policy's {', '.join(dropped)}; left out.", err=True)
    return policy.changed(algorithm={**kept, "name": name})


@interruptible
def run_init(
    data: Place, out: Path | None, *, separator: str | None, encoding: str | None, sheet: str | None, force: bool
) -> None:
    """Draft a policy and write it; never over the data, and only under a name that says YAML."""
    from shoal.draft import draft_name, draft_policy

    if isinstance(data, Path) and data.is_dir():
        raise DataError(f"{data} is a folder, not a file. Name the file inside it.")
    folder = data.parent if isinstance(data, Path) else Path()
    target = out if out is not None else folder / f"{draft_name(data)}.yaml"
    if target.suffix.lower() not in POLICY_SUFFIXES:
        raise OutputError(f"{target} is no name for a policy, which ends in {' or '.join(POLICY_SUFFIXES)}.")
    with Staged([target], inputs=[data] if isinstance(data, Path) else [], force=force) as stage:
        text = draft_policy(data, separator=separator, encoding=encoding, sheet=sheet, folder=target.parent)
        try:
            stage.path(target).write_text(text, encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{target} cannot be written: {error.strerror or error}.") from None
        stage.commit()
    command = f"shoal anonymize {shlex.quote(str(target))}"
    typer.echo(f"Wrote {target}. Read it, decide on every column, then run: {command}")


@interruptible
def run_anonymize(
    policy_path: Path, *, data: Place | None, out: Place | None, algorithm: str | None, as_json: bool, **options: Any
) -> None:
    """Anonymize and write; ``options`` are those of `publish`."""
    policy = load_policy(policy_path, data)
    policy = with_algorithm(policy, algorithm)
    with progress_bar() as progress:
        published = publish(policy, data=data, out=out, progress=progress, **options)
    evidence = published.release.evidence
    if as_json:
        typer.echo(json.dumps({**evidence, "paths": {name: str(path) for name, path in published.paths.items()}}))
        return
    show_evidence(evidence)
    show_composition(evidence)
    for name, path in published.paths.items():
        typer.echo(f"  {name:<9} {path}")


@interruptible
def run_demo(out: Path, *, force: bool, as_json: bool) -> None:
    """The main job on the bundled hospital data, in a folder where nothing that was edited is lost."""
    bundled = {name: (resources.files("shoal.data") / name).read_bytes() for name in ("hospital.csv", "hospital.yaml")}
    try:
        out.mkdir(parents=True, exist_ok=True)
        edited = [
            str(out / name)
            for name, content in bundled.items()
            if (out / name).exists() and (out / name).read_bytes() != content
        ]
        if edited and not force:
            differ = "differs" if len(edited) == 1 else "differ"
            raise OutputError(
                f"{' and '.join(edited)} {differ} from the demo's own and would be overwritten. "
                "Name another folder with --out, or replace with --force."
            )
        for name, content in bundled.items():
            (out / name).write_bytes(content)
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
    show_sample(published.release.table)
    typer.echo("")
    show_evidence(evidence)
    for name, path in published.paths.items():
        typer.echo(f"  {name:<9} {path}")


@interruptible
def run_schema(*, evidence: bool) -> None:
    """Print the JSON Schema of the policy file, or of the evidence."""
    typer.echo(json.dumps(evidence_schema() if evidence else Policy.model_json_schema(), indent=2))
