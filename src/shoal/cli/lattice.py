"""`shoal lattice`: the minimal full-domain nodes as a table, and the lattice as a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import Data, Force, Json, PolicyFile
from shoal.cli.run import echo_json, echo_lines, load_policy, progress_bar, write_text
from shoal.errors import OutputError


def lattice(
    policy: PolicyFile,
    data: Data = None,
    svg: Annotated[Path | None, typer.Option(help="Also draw the lattice, as an SVG file.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """List all minimal full-domain nodes with their measures and the records that each leaves open to attack."""
    from shoal.io import Staged
    from shoal.io.source import load_table
    from shoal.pipeline.forecast import lattice_picture
    from shoal.pipeline.lattice import list_minimal_nodes
    from shoal.present.plots.lattice_plot import lattice_svg
    from shoal.present.terminal import lattice_lines

    chosen = load_policy(policy, data)
    if svg is None:
        with progress_bar() as progress:
            listing = list_minimal_nodes(chosen, data, progress=progress)
    else:
        if svg.suffix.lower() != ".svg":
            raise OutputError(f"Drawings end in .svg; {svg} does not.", code="drawing-suffix")
        with (
            Staged([svg], inputs=[policy, *([data] if data else [])], force=force) as stage,
            progress_bar() as progress,
        ):
            listing = list_minimal_nodes(chosen, data, progress=progress)
            picture = lattice_picture(load_table(data, chosen), chosen, progress)
            write_text(stage.path(svg), svg, lattice_svg(picture, standalone=True))
            stage.commit()
    if as_json:
        echo_json({**listing, **({} if svg is None else {"svg": str(svg)})})
        return
    echo_lines(lattice_lines(listing))
    if svg is not None:
        typer.echo(f"\nDrawing: {svg}")
