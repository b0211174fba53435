"""`shoal lattice`: the minimal nodes as a table, and the lattice as a drawing."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from shoal.cli.commands import interruptible, load_policy
from shoal.cli.progress import progress_bar
from shoal.cli.show import show_lattice
from shoal.errors import OutputError
from shoal.io import Staged
from shoal.io.source import TableSource, load_table
from shoal.pipeline.forecast import lattice_picture
from shoal.pipeline.lattice import list_minimal_nodes
from shoal.present.plots.lattice_plot import lattice_svg


@interruptible
def run_lattice(policy_path: Path, data: Path | None, *, svg: Path | None, force: bool, as_json: bool) -> None:
    """List all minimal nodes; with ``svg`` draw the lattice too."""
    policy = load_policy(policy_path, data)
    if svg is None:
        with progress_bar() as progress:
            listing = list_minimal_nodes(policy, data, progress=progress)
    else:
        if svg.suffix.lower() != ".svg":
            raise OutputError(f"{svg} is no name for a drawing, which ends in .svg.")
        inputs = [policy_path, *([data] if data is not None else [])]
        with Staged([svg], inputs=inputs, force=force) as stage, progress_bar() as progress:
            listing = list_minimal_nodes(policy, data, progress=progress)
            loaded: TableSource = load_table(data, policy)
            drawing = lattice_svg(lattice_picture(loaded, policy, progress), standalone=True)
            _write(stage.path(svg), svg, drawing)
            stage.commit()
    if as_json:
        typer.echo(json.dumps({**listing, **({} if svg is None else {"svg": str(svg)})}))
        return
    show_lattice(listing)
    if svg is not None:
        typer.echo(f"\nDrawn: {svg}")


def _write(hidden: Path, target: Path, text: str) -> None:
    try:
        hidden.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}.") from None
