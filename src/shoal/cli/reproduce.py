"""`shoal reproduce`: the papers' worked tables and experiments, in a folder."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import Json, option
from shoal.cli.run import echo_result, progress_bar


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="sun, man, mahesh, wang, campan or all.")] = "all",
    *,
    data: Annotated[Path | None, option("Folder with adult.csv (default: SHOAL_DATA, then the cache).")] = None,
    out: Annotated[Path, option("Folder for the results.")] = Path("shoal-reproduction"),
    quick: Annotated[bool, option("Run the experiments on seeded samples.", "--quick")] = False,
    download: Annotated[bool, option("Download Adult from UCI if it is not found.", "--download")] = False,
    force: Annotated[bool, option("Write to a folder that is not empty.", "--force")] = False,
    as_json: Json = False,
) -> None:
    """Reproduce the worked tables and experiments of the papers: CSV files, plots and a report."""
    from shoal.reproduce import reproduce as run
    from shoal.reproduce.run import summary_lines

    with progress_bar() as progress:
        result = run(paper, data=data, out=out, quick=quick, download=download, force=force, progress=progress)
    echo_result(result.to_dict(), summary_lines(result), as_json=as_json)
    if result.failures:
        raise typer.Exit(1)
