"""The command line: a thin face of the pipeline.

Exit codes: 0 done and verified; 1 the privacy asked for does not hold or cannot be reached; 2 bad input or usage;
130 interrupted. Results go to stdout, errors and progress to stderr; with ``--json`` an error also goes to stdout, as
JSON. Heavy libraries are imported inside the commands, so that
``shoal --help`` answers at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from shoal.errors import DisclosureWarning, ShoalError

app = typer.Typer(
    name="shoal",
    help="Turn a table about people into one that may be published, and prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON on stdout.")]
Data = Annotated[Path | None, typer.Option("--data", help="Input table, instead of the policy's own.")]


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"shoal {version('shoal')}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Turn a table about people into one that may be published, and prove it."""


@app.command()
def init(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file to draft a policy for.")],
    out: Annotated[Path | None, typer.Option("--out", help="Where the policy goes (default: beside the data).")] = None,
    separator: Annotated[str | None, typer.Option("--separator", help="Column separator of a CSV file.")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Text encoding of a CSV file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing policy file.")] = False,
) -> None:
    """Draft a commented policy for a table: roles, hierarchies, likely quasi-identifiers."""
    from shoal.cli.commands import run_init  # noqa: PLC0415

    run_init(data, out, separator=separator, encoding=encoding, force=force)


@app.command()
def anonymize(
    policy: Annotated[Path, typer.Argument(help="Policy file.")],
    data: Data = None,
    out: Annotated[Path | None, typer.Option("--out", help="Release file, instead of the policy's own.")] = None,
    algorithm: Annotated[str | None, typer.Option("--algorithm", help="Algorithm, instead of the policy's.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing outputs.")] = False,
    as_json: Json = False,
) -> None:
    """Anonymize, verify, and write release, evidence and report."""
    from shoal.cli.commands import run_anonymize  # noqa: PLC0415

    run_anonymize(policy, data=data, out=out, algorithm=algorithm, force=force, as_json=as_json)


@app.command()
def verify(
    release: Annotated[Path, typer.Argument(help="Release to check.")],
    policy: Annotated[Path, typer.Option("--policy", help="Policy that it must satisfy.")],
    original: Annotated[
        Path | None,
        typer.Option("--original", help="The original table: also checks truthfulness, boundaries and suppression."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a written release with code of its own: the models, and with the original also truthfulness."""
    from shoal.cli.commands import run_verify  # noqa: PLC0415

    run_verify(release, policy, original, as_json=as_json)


@app.command()
def lattice(
    policy: Annotated[Path, typer.Argument(help="Policy file.")],
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List all minimal full-domain nodes with their measures and what each leaves open to attack."""
    from shoal.cli.commands import run_lattice  # noqa: PLC0415

    run_lattice(policy, data, as_json=as_json)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the files of the demo.")] = Path("shoal-demo"),
    force: Annotated[bool, typer.Option("--force", help="Replace files of the demo that were edited.")] = False,
    as_json: Json = False,
) -> None:
    """Run the main job on bundled hospital data and show what came out."""
    from shoal.cli.commands import run_demo  # noqa: PLC0415

    run_demo(out, force=force, as_json=as_json)


@app.command()
def schema() -> None:
    """Print the JSON Schema of the policy file, for editors."""
    from shoal.cli.commands import run_schema  # noqa: PLC0415

    run_schema()


def main() -> None:
    """Entry point: users' mistakes end in one clear paragraph on stderr, never in a traceback."""
    try:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", DisclosureWarning)
                warnings.showwarning = _show_warning  # type: ignore[assignment]  # reads the first argument only
                app()
        except ShoalError as error:
            sys.stderr.write(f"shoal: {error}\n")
            if "--json" in sys.argv[1:]:
                typer.echo(json.dumps(error.to_dict()))
            raise SystemExit(error.exit_code) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except OSError as error:
        what = "standard output cannot be written" if error.filename is None else str(error.filename)
        sys.stderr.write(f"shoal: {what}: {error.strerror or error}.\n")
        _forget_output()
        raise SystemExit(2) from None


def _show_warning(message: Warning | str, *_: object) -> None:
    """A warning as a sentence, without the line of code that it came from."""
    sys.stderr.write(f"shoal: warning: {message}\n")


def _forget_output() -> None:
    """Let what is still to be written go nowhere: the interpreter would try again as it ends, and fail again."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
