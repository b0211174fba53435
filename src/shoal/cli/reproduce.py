"""``shoal reproduce``: the papers' worked tables and experiments, in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from shoal.cli.commands import interruptible
from shoal.cli.progress import progress_bar
from shoal.cli.show import aligned, counted
from shoal.reproduce import Reproduction, reproduce
from shoal.reproduce.section import VERDICTS


@interruptible
def run_reproduce(
    paper: str, *, data: Path | None, out: Path, quick: bool, download: bool, force: bool, as_json: bool
) -> None:
    """Reproduce and write; exit 1 when a statement does not come out."""
    with progress_bar() as progress:
        made = reproduce(paper, data=data, out=out, quick=quick, download=download, force=force, progress=progress)
    if as_json:
        typer.echo(json.dumps(made.to_dict()))
    else:
        show_reproduction(made)
    if made.failures:
        raise typer.Exit(1)


def show_reproduction(made: Reproduction) -> None:
    """One line a section, what failed, and where the report lies."""
    rows = [["paper", "what", "equal", "slips", "silent", "failed"]]
    for section in made.sections:
        verdicts = [each.verdict for each in section.statements]
        counts = [verdicts.count(name) for name in VERDICTS]
        rows.append([section.paper, section.title, *(str(count) if verdicts else "-" for count in counts)])
    for line in aligned(rows, str.ljust):
        typer.echo(line.rstrip())
    for each in made.failures:
        typer.echo(f"NOT REPRODUCED: {each.about}: {each.expected or each.paper} expected, {each.found} computed.")
    records = f" on {made.facts.records:,} records of Adult" if made.facts.records is not None else ""
    quick = " (quick: on seeded samples)" if made.facts.quick and records else ""
    typer.echo(f"\n{counted(len(made.sections), 'section', 'sections')}{records}{quick} in {made.facts.seconds:.0f} s.")
    typer.echo(f"  report {made.paths[0]}, with {counted(len(made.paths) - 1, 'file', 'files')} beside it")
