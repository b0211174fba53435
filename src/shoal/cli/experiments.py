"""Commands that try alternatives: lattice, compare, utility and reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.shared import (
    Data,
    Force,
    Json,
    PolicyFile,
    echo_json,
    echo_lines,
    echo_paths,
    load_policy,
    progress_bar,
    write_text,
)
from shoal.errors import InputError, InterruptedRunError, OutputError


def lattice(
    policy: PolicyFile,
    data: Data = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Also draw the lattice, as an SVG file.")] = None,
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


def compare(
    policy: PolicyFile,
    *,
    algorithms: Annotated[str, typer.Option("--algorithms", help="Algorithms, separated by commas.")],
    k: Annotated[str | None, typer.Option("--k", help="Values of k: 2,5,10 or 2..10 or 2..50..8.")] = None,
    p: Annotated[str | None, typer.Option("--p", help="Values of p, for every model that has it.")] = None,
    l: Annotated[str | None, typer.Option("--l", help="Values of l.")] = None,  # noqa: E741 - the parameter's name
    t: Annotated[str | None, typer.Option("--t", help="Values of t: 0.1..0.5..0.1.")] = None,
    alpha: Annotated[str | None, typer.Option("--alpha", help="Values of alpha.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Values of any parameter: MODEL.PARAMETER=1,2,3, or suppression=0,0.05. Repeatable."
        ),
    ] = None,
    metric: Annotated[str | None, typer.Option("--metric", help="Measure of loss, instead of the policy's.")] = None,
    risk_: Annotated[
        str, typer.Option("--risk", help="Risk to plot: average, highest, homogeneity or similarity.")
    ] = "average",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the comparison (default: next to the policy).")
    ] = None,
    data: Data = None,
    releases: Annotated[bool, typer.Option("--releases", help="Also write the release of every point.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Compute finished points again, and replace files that were edited.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare algorithms and parameters by risk and loss, in a table and a plot. An interrupted run can be resumed."""
    from shoal.formatting import pluralize
    from shoal.pipeline.compare import plan_comparison, run_comparison
    from shoal.pipeline.compare.axes import read_settings
    from shoal.present.comparison import comparison_lines, plan_line

    plan = plan_comparison(
        load_policy(policy, data),
        algorithms,
        data=data,
        short={"k": k, "p": p, "l": l, "t": t, "alpha": alpha},
        settings=read_settings(settings or []),
        metric=metric,
        risk=risk_,
        out=out,
        releases=releases,
        force=force,
    )
    said = plan_line(
        plan.algorithms,
        {axis.name: axis.values for axis in plan.axes},
        points=len(plan.points),
        finished=len(plan.finished),
        contradictory=sum(point.contradiction is not None for point in plan.points),
        releases=plan.releases,
        task=plan.policy.utility is not None,
    )
    typer.echo(said, err=True)  # on stderr, so that it never mixes with results
    try:
        with progress_bar() as progress:
            comparison = run_comparison(plan, progress=progress)
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"interrupted; {plan.done_by_now():,} of {pluralize(len(plan.points), 'point')} finished and saved in "
            f"{plan.folder.points}. Run the same command again to resume."
        ) from None
    if as_json:
        echo_json(comparison.to_dict(), plan.folder.outputs)
    else:
        echo_lines(comparison_lines(comparison.to_dict()))
        echo_paths(plan.folder.outputs)
    if not comparison.verified or any(point["status"] == "unverified" for point in comparison.points):
        raise typer.Exit(1)


def utility(
    policy: PolicyFile,
    data: Data = None,
    target: Annotated[
        str | None, typer.Option("--target", help="Column to predict, instead of the policy's utility.target.")
    ] = None,
    queries: Annotated[
        int | None, typer.Option("--queries", help="Number of random count queries, instead of utility.queries.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how useful the release is for a task: model scores and errors of count queries. Writes nothing."""
    from shoal.pipeline import anonymize
    from shoal.present.terminal import utility_lines

    chosen = load_policy(policy, data)
    task = chosen.utility.model_dump(exclude_unset=True) if chosen.utility is not None else {}
    options = {"target": target, "queries": queries}
    task |= {name: value for name, value in options.items() if value is not None}
    if not task:
        raise InputError(
            "No task to measure. Name a column to predict with --target, a number of random count queries with "
            "--queries, or set utility: in the policy.",
            code="no-task",
        )
    with progress_bar() as progress:
        release = anonymize(data, chosen.changed(utility=task, registry=None), progress=progress)
    if as_json:
        echo_json(release.evidence["utility"])
    else:
        echo_lines(utility_lines(release.evidence["utility"]))


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
