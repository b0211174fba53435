"""`shoal lattice`: the minimal full-domain nodes as a table, and the lattice as a drawing."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from shoal.cli.options import Data, Force, Json, PolicyFile, option
from shoal.cli.run import echo_result, load_policy, progress_bar
from shoal.errors import OutputError


def lattice(
    policy: PolicyFile,
    data: Data = None,
    svg: Annotated[Path | None, option("Also draw the lattice, as an SVG file.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """List all minimal full-domain nodes with their measures and the records that each leaves open to attack."""
    from shoal.io import Staged
    from shoal.io.source import load_table
    from shoal.pipeline.lattice import lattice_picture, list_minimal_nodes
    from shoal.present.plots.lattice_plot import lattice_svg
    from shoal.present.terminal import lattice_lines

    chosen = load_policy(policy, data)
    if svg is not None and svg.suffix.lower() != ".svg":
        raise OutputError(f"Drawings end in .svg; {svg} does not.", code="drawing-suffix")
    with ExitStack() as stack:
        if svg is not None:  # it is known to be writable before the work begins
            stage = stack.enter_context(Staged([svg], inputs=[policy, *([data] if data else [])], force=force))
        progress = stack.enter_context(progress_bar())
        found = list_minimal_nodes(chosen, data, progress=progress)
        if svg is not None:
            picture = lattice_picture(load_table(data, chosen), chosen, progress)
            stage.write_text(svg, lattice_svg(picture, standalone=True))
            stage.commit()
    drawing = {} if svg is None else {"svg": str(svg)}
    lines = [*lattice_lines(found), *(f"\nDrawing: {path}" for path in drawing.values())]
    echo_result({**found, **drawing}, lines, as_json=as_json)
