"""The command line: a thin face of the pipeline.

Exit codes: 0 done and verified; 1 the privacy asked for does not hold or cannot be reached; 2 bad input or usage;
130 interrupted, 143 and 129 ended by SIGTERM and SIGHUP in the same clean way. Results go to stdout, errors and
progress to stderr; with ``--json`` an error also goes to stdout, as JSON. Heavy libraries are imported inside the
commands, so that ``shoal --help`` answers at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from shoal.cli.places import read_place, refuse_passwords, with_table
from shoal.errors import DisclosureWarning, InterruptedRunError, ShoalError

app = typer.Typer(
    name="shoal",
    help="Turn a table about people into one that may be published, and prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON on stdout.")]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        help="Exit 1 when an attack that leaks exposes more: similarity>0 records, linkage>5%; repeatable.",
    ),
]
Data = Annotated[
    Any,
    typer.Option(
        "--data",
        parser=read_place,
        metavar="TABLE",
        help="Input table, instead of the policy's own: a file, or postgresql://host/database#table.",
    ),
]
Table = Annotated[
    str | None, typer.Option("--table", help="Table of the database that the data is in: patients, clinic.patients.")
]
Original = Annotated[
    Any,
    typer.Option(
        "--original",
        parser=read_place,
        metavar="TABLE",
        help="The original table: also checks truthfulness, boundaries and suppression.",
    ),
]
Registry = Annotated[
    Path | None, typer.Option("--registry", help="Folder that remembers releases; this one is held against them.")
]
AsOf = Annotated[
    str | None, typer.Option("--as-of", help="Day of the release in the registry, year-month-day; today when left out.")
]
FailBefore = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        help="Exit 1, writing nothing, when an attack that leaks exposes more: similarity>0; repeatable.",
    ),
]


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"shoal {version('shoal')}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Turn a table about people into one that may be published, and prove it."""


@app.command()
def init(
    data: Annotated[
        Any,
        typer.Argument(
            parser=read_place,
            metavar="DATA",
            help="Table to draft a policy for: a file (CSV, Parquet, Excel, SPSS, SAS, Stata) or postgresql://…#table.",
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Where the policy goes (default: beside the data).")] = None,
    table: Table = None,
    separator: Annotated[str | None, typer.Option("--separator", help="Column separator of a CSV file.")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Text encoding of a CSV file.")] = None,
    sheet: Annotated[
        str | None, typer.Option("--sheet", help="Sheet of a workbook, by name or number (default: the first).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing policy file.")] = False,
) -> None:
    """Draft a commented policy for a table: roles, hierarchies, likely quasi-identifiers."""
    from shoal.cli.commands import run_init

    run_init(with_table(data, table), out, separator=separator, encoding=encoding, sheet=sheet, force=force)


@app.command()
def anonymize(
    policy: Annotated[Path, typer.Argument(help="Policy file.")],
    *,
    data: Data = None,
    table: Table = None,
    out: Annotated[
        Any,
        typer.Option(
            "--out",
            parser=read_place,
            metavar="RELEASE",
            help="Where the release goes, instead of the policy's own: a file, or postgresql://host/database#table.",
        ),
    ] = None,
    out_table: Annotated[
        str | None, typer.Option("--out-table", help="Table of the database that the release goes to.")
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option("--evidence", help="Evidence of a release in a database (default: beside the policy)."),
    ] = None,
    algorithm: Annotated[str | None, typer.Option("--algorithm", help="Algorithm, instead of the policy's.")] = None,
    recoding: Annotated[
        bool, typer.Option("--recoding", help="Write the recoding too, with which shoal apply recodes new records.")
    ] = False,
    registry: Registry = None,
    as_of: AsOf = None,
    replaces: Annotated[
        list[str] | None,
        typer.Option("--replaces", help="An entry of the registry that is withdrawn for this one; may be repeated."),
    ] = None,
    fail_on: FailBefore = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="The most that the run may take, such as 2GB; records are then streamed."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing outputs.")] = False,
    as_json: Json = False,
) -> None:
    """Anonymize, verify, and write release, evidence and report."""
    from shoal.cli.commands import run_anonymize

    run_anonymize(
        policy,
        data=with_table(data, table),
        out=with_table(out, out_table, "--out-table"),
        evidence=evidence,
        algorithm=algorithm,
        recoding=recoding,
        registry=registry,
        as_of=as_of,
        replaces=replaces or [],
        fail_on=fail_on or [],
        memory=memory,
        force=force,
        as_json=as_json,
    )


@app.command()
def apply(
    recoding: Annotated[Path, typer.Argument(help="Recoding file of a release, or the release itself.")],
    *,
    data: Annotated[Any, typer.Option("--data", parser=read_place, metavar="TABLE", help="New records.")],
    policy: Annotated[
        Path | None, typer.Option("--policy", help="Policy of the recoding, where it does not name it.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where the new records go; without it nothing is written.")
    ] = None,
    union: Annotated[
        bool, typer.Option("--union", help="Write everything published by the recoding, not the new records alone.")
    ] = False,
    replaces: Annotated[
        bool,
        typer.Option("--replaces", help="The earlier release is withdrawn: nobody can subtract it from the union."),
    ] = False,
    registry: Registry = None,
    as_of: AsOf = None,
    fail_on: FailBefore = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show the withheld records with their values, on the terminal only.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace existing outputs.")] = False,
    as_json: Json = False,
) -> None:
    """Recode new records with a published recoding without weakening it, and say which cannot be released."""
    from shoal.cli.apply import run_apply

    run_apply(
        recoding,
        data,
        policy=policy,
        out=out,
        union=union,
        replaces=replaces,
        registry=registry,
        as_of=as_of,
        fail_on=fail_on or [],
        show=show,
        force=force,
        as_json=as_json,
    )


@app.command()
def verify(
    release: Annotated[Path, typer.Argument(help="Release to check.")],
    policy: Annotated[Path, typer.Option("--policy", help="Policy that it must satisfy.")],
    original: Original = None,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="Its evidence, instead of the one beside the release.")
    ] = None,
    fail_on: FailOn = None,
    as_json: Json = False,
) -> None:
    """Check a written release with code of its own: the models, its evidence, with the original also truthfulness."""
    from shoal.cli.verify import run_verify

    run_verify(release, policy, original=original, evidence=evidence, fail_on=fail_on or [], as_json=as_json)


@app.command()
def lattice(
    policy: Annotated[Path, typer.Argument(help="Policy file.")],
    data: Data = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw the lattice to this file, too.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing drawing.")] = False,
    as_json: Json = False,
) -> None:
    """List all minimal full-domain nodes with their measures and what each leaves open to attack."""
    from shoal.cli.lattice import run_lattice

    run_lattice(policy, data, svg=svg, force=force, as_json=as_json)


@app.command()
def attack(
    release: Annotated[Path, typer.Argument(help="Release to attack.")],
    policy: Annotated[Path, typer.Option("--policy", help="Policy that it was made by.")],
    *,
    original: Annotated[
        Any,
        typer.Option(
            "--original",
            parser=read_place,
            metavar="TABLE",
            help="The original table, for attackers who know people in it.",
        ),
    ] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option("--earlier", help="An earlier release of the same people; may be repeated.")
    ] = None,
    earlier_policy: Annotated[
        list[Path] | None, typer.Option("--earlier-policy", help="Its policy, in the same order.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Samples are drawn from this seed.")] = 0,
    rule_out: Annotated[
        int, typer.Option("--rule-out", min=1, help="Values that an attacker with background knowledge rules out.")
    ] = 3,
    fail_on: FailOn = None,
    as_json: Json = False,
) -> None:
    """Attack a release as those would who want to know a secret, and say what they got and what it is worth."""
    from shoal.cli.attack import run_attack

    run_attack(
        release,
        policy,
        original=original,
        earlier=earlier or [],
        earlier_policies=earlier_policy or [],
        seed=seed,
        ruled_out=rule_out,
        fail_on=fail_on or [],
        as_json=as_json,
    )


@app.command()
def risk(
    data: Annotated[
        Any, typer.Argument(parser=read_place, metavar="DATA", help="Table to look at: data or a release.")
    ],
    policy: Annotated[Path, typer.Option("--policy", help="Policy that says what the columns are.")],
    max_columns: Annotated[
        int, typer.Option("--max-columns", min=1, help="Look at every subset of at most so many quasi-identifiers.")
    ] = 3,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Count records of a higher risk: 0.2 asks for classes of 5.")
    ] = 0.2,
    population: Annotated[
        Path | None, typer.Option("--population", help="Table of the population that the data was drawn from.")
    ] = None,
    sampling_fraction: Annotated[
        float | None, typer.Option("--sampling-fraction", help="Share of the population that the data is.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say how open a table is as it stands: who is unique, by which columns, and what attackers may hope."""
    from shoal.cli.risk import run_risk

    run_risk(
        data,
        policy,
        max_columns=max_columns,
        threshold=threshold,
        population=population,
        sampling_fraction=sampling_fraction,
        as_json=as_json,
    )


@app.command()
def why(
    policy: Annotated[Path, typer.Argument(help="Policy file.")],
    data: Data = None,
    row: Annotated[int | None, typer.Option("--row", help="A record by its number in the data, from 1.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="A record by a quasi-identifier, column=value; may be given several times."),
    ] = None,
    in_class: Annotated[
        int | None, typer.Option("--class", help="A class by its number in the order of the release, from 1.")
    ] = None,
    algorithm: Annotated[str | None, typer.Option("--algorithm", help="Algorithm, instead of the policy's.")] = None,
    as_json: Json = False,
) -> None:
    """Say why a record or a class was generalized so far and what blocks less. Writes nothing."""
    from shoal.cli.why import run_why

    run_why(policy, data=data, row=row, where=where or [], in_class=in_class, algorithm=algorithm, as_json=as_json)


@app.command()
def compare(
    policy: Annotated[Path, typer.Argument(help="Policy file.")],
    *,
    algorithms: Annotated[str, typer.Option("--algorithms", help="Algorithms, separated by commas.")],
    k: Annotated[str | None, typer.Option("--k", help="Values of k: 2,5,10 or 2..10 or 2..50..8.")] = None,
    p: Annotated[str | None, typer.Option("--p", help="Values of p, for every model that has one.")] = None,
    l: Annotated[str | None, typer.Option("--l", help="Values of l.")] = None,  # noqa: E741 - the parameter's name
    t: Annotated[str | None, typer.Option("--t", help="Values of t: 0.1..0.5..0.1.")] = None,
    alpha: Annotated[str | None, typer.Option("--alpha", help="Values of alpha.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any number of a model: recursive-cl-diversity.c=1,2,3, or suppression=0,0.05."),
    ] = None,
    metric: Annotated[str | None, typer.Option("--metric", help="Measure of loss, instead of the policy's.")] = None,
    risk_: Annotated[
        str, typer.Option("--risk", help="Risk of the plot: average, highest, homogeneity or similarity.")
    ] = "average",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the comparison (default: beside the policy).")
    ] = None,
    data: Data = None,
    releases: Annotated[bool, typer.Option("--releases", help="Write the release of every point too.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Compute finished points again, and replace files that were edited.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare algorithms and parameters: risk against loss, one table and one plot. Run again, it goes on."""
    from shoal.cli.compare import run_compare

    run_compare(
        policy,
        algorithms=algorithms,
        data=data,
        short={"k": k, "p": p, "l": l, "t": t, "alpha": alpha},
        settings=settings or [],
        metric=metric,
        risk=risk_,
        out=out,
        releases=releases,
        force=force,
        as_json=as_json,
    )


@app.command()
def utility(
    policy: Annotated[Path, typer.Argument(help="Policy file.")],
    data: Data = None,
    target: Annotated[
        str | None, typer.Option("--target", help="Column to predict, instead of the policy's utility.target.")
    ] = None,
    queries: Annotated[
        int | None, typer.Option("--queries", help="So many random count queries, instead of utility.queries.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure what the release is worth for a task: scores of models, errors of count queries. Writes nothing."""
    from shoal.cli.utility import run_utility

    run_utility(policy, data=data, target=target, queries=queries, as_json=as_json)


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="sun, man, mahesh, wang, campan or all.")] = "all",
    *,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder with adult.csv (default: SHOAL_DATA, then the cache).")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder of the reproduction.")] = Path("shoal-reproduction"),
    quick: Annotated[bool, typer.Option("--quick", help="Run the experiments on seeded samples.")] = False,
    download: Annotated[bool, typer.Option("--download", help="Fetch Adult from UCI where it is nowhere.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write to a folder that is not empty.")] = False,
    as_json: Json = False,
) -> None:
    """Reproduce the worked tables and experiments of the papers: CSV, plots, and a paragraph on each."""
    from shoal.cli.reproduce import run_reproduce

    run_reproduce(paper, data=data, out=out, quick=quick, download=download, force=force, as_json=as_json)


@app.command()
def ui(
    *,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; another than this machine's own needs a secret.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="Further name of the page, such as that of a proxy; may be repeated."),
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option("--password-file", help="File with the password that lets in on a server.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="File with the token of the address, instead of a random one.")
    ] = None,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", help="Folder for sessions; what a killed server left is found again.")
    ] = None,
    max_upload: Annotated[str, typer.Option("--max-upload", help="Largest file that is taken.")] = "2GB",
    max_rows: Annotated[int, typer.Option("--max-rows", min=1, help="Most records that are taken.")] = 5_000_000,
    idle: Annotated[
        float, typer.Option("--idle", min=0.01, help="Minutes after which an unused session is deleted.")
    ] = 240.0,
    certificate: Annotated[Path | None, typer.Option("--certificate", help="TLS certificate, PEM.")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="Key of the certificate, PEM.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Open the web page on which a table becomes a release, on this machine or for a server's users."""
    from shoal.cli.ui import run_ui

    run_ui(
        host=host,
        port=port,
        names=name or [],
        password_file=password_file,
        token_file=token_file,
        workspace=workspace,
        max_upload=max_upload,
        max_rows=max_rows,
        idle_minutes=idle,
        certificate=certificate,
        key=key,
        browser=browser,
    )


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the files of the demo.")] = Path("shoal-demo"),
    force: Annotated[bool, typer.Option("--force", help="Replace files of the demo that were edited.")] = False,
    as_json: Json = False,
) -> None:
    """Run the main job on bundled hospital data and show what came out."""
    from shoal.cli.commands import run_demo

    run_demo(out, force=force, as_json=as_json)


@app.command()
def schema(
    evidence: Annotated[
        bool, typer.Option("--evidence", help="That of the evidence, instead of the policy's.")
    ] = False,
) -> None:
    """Print the JSON Schema of the policy file, for editors, or of the evidence."""
    from shoal.cli.commands import run_schema

    run_schema(evidence=evidence)


def main() -> None:
    """Entry point: users' mistakes end in one clear paragraph on stderr, never in a traceback."""
    ended: list[int] = []
    try:
        try:
            with warnings.catch_warnings(), _ending_cleanly(ended):
                warnings.simplefilter("always", DisclosureWarning)
                warnings.showwarning = _show_warning  # type: ignore[assignment]  # reads the first argument only
                refuse_passwords(sys.argv[1:])
                app()
        except ShoalError as error:
            code = 128 + ended[0] if ended and isinstance(error, InterruptedRunError) else error.exit_code
            sys.stderr.write(f"shoal: {error}\n")
            if "--json" in sys.argv[1:]:
                typer.echo(json.dumps({**error.to_dict(), "exit_code": code}))
            raise SystemExit(code) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except OSError as error:
        what = "standard output cannot be written" if error.filename is None else str(error.filename)
        sys.stderr.write(f"shoal: {what}: {error.strerror or error}.\n")
        _forget_output()
        raise SystemExit(2) from None


@contextlib.contextmanager
def _ending_cleanly(ended: list[int]) -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does, so that nothing of a run stays on disk; ``ended`` has which came.

    One that is ignored stays so: ``nohup`` means it. Who waits for Ctrl-C in a manner of its own is asked.
    """

    def end(number: int, frame: FrameType | None) -> None:
        ended.append(number)
        of_interrupt = signal.getsignal(signal.SIGINT)
        if callable(of_interrupt):
            of_interrupt(number, frame)
        else:
            raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    try:
        yield
    except SystemExit as stopped:  # the end of a command that does not wait for Ctrl-C itself
        interrupted = ended and stopped.code == InterruptedRunError.exit_code
        raise SystemExit(128 + ended[0] if interrupted else stopped.code) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show_warning(message: Warning | str, *_: object) -> None:
    """A warning as a sentence, without the line of code that it came from."""
    sys.stderr.write(f"shoal: warning: {message}\n")


def _forget_output() -> None:
    """Let what is still to be written go nowhere: the interpreter would try again as it ends, and fail again."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
