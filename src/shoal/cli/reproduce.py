"""`shoal reproduce`: the papers' worked tables and experiments, in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import Json
from shoal.cli.run import echo_json, echo_lines, progress_bar


def reproduce(
    paper: Annotated[str, typer.Argument(help="sun, man, mahesh, wang, campan or all.")] = "all",
    *,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder with adult.csv (default: SHOAL_DATA, then the cache).")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = Path("shoal-reproduction"),
    quick: Annotated[bool, typer.Option("--quick", help="Run the experiments on seeded samples.")] = False,
    download: Annotated[bool, typer.Option("--download", help="Download Adult from UCI if it is not found.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write to a folder that is not empty.")] = False,
    as_json: Json = False,
) -> None:
    """Reproduce the worked tables and experiments of the papers: CSV files, plots and a report."""
    from shoal.reproduce import reproduce as run
    from shoal.reproduce.run import summary_lines

    with progress_bar() as progress:
        result = run(paper, data=data, out=out, quick=quick, download=download, force=force, progress=progress)
    if as_json:
        echo_json(result.to_dict())
    else:
        echo_lines(summary_lines(result))
    if result.failures:
        raise typer.Exit(1)
