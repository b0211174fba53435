"""`shoal compare`: a grid of algorithms and parameters, as a table on the terminal and a page on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import Data, Json, PolicyFile
from shoal.cli.run import echo_json, echo_lines, echo_paths, load_policy, progress_bar
from shoal.errors import InterruptedRunError


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
