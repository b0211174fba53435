"""`shoal compare`: a grid of algorithms and parameters, as a table on the terminal and a page on disk."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import Data, Json, PolicyFile, option
from shoal.cli.run import echo_result, load_policy, progress_bar
from shoal.errors import InterruptedRunError


def compare(
    policy: PolicyFile,
    *,
    algorithms: Annotated[str, option("Algorithms, separated by commas.")],
    k: Annotated[str | None, option("Values of k: 2,5,10 or 2..10 or 2..50..8.")] = None,
    p: Annotated[str | None, option("Values of p, for every model that has it.")] = None,
    l: Annotated[str | None, option("Values of l.")] = None,  # noqa: E741 - the parameter's name
    t: Annotated[str | None, option("Values of t: 0.1..0.5..0.1.")] = None,
    alpha: Annotated[str | None, option("Values of alpha.")] = None,
    settings: Annotated[
        list[str] | None,
        option("Values of any parameter: MODEL.PARAMETER=1,2,3, or suppression=0,0.05. Repeatable.", "--set"),
    ] = None,
    metric: Annotated[str | None, option("Measure of loss, instead of the policy's.")] = None,
    risk_: Annotated[str, option("Risk to plot: average, highest, homogeneity or similarity.", "--risk")] = "average",
    out: Annotated[Path | None, option("Folder for the comparison (default: next to the policy).")] = None,
    data: Data = None,
    releases: Annotated[bool, option("Also write the release of every point.", "--releases")] = False,
    force: Annotated[
        bool, option("Compute finished points again, and replace files that were edited.", "--force")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare algorithms and parameters by risk and loss, in a table and a plot. An interrupted run can be resumed."""
    from shoal.formatting import pluralize
    from shoal.pipeline.compare.compare import plan_comparison, run_comparison
    from shoal.pipeline.compare.grid import read_settings
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
    typer.echo(plan_line(plan), err=True)  # on stderr, so that it never mixes with results
    try:
        with progress_bar() as progress:
            comparison = run_comparison(plan, progress=progress)
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"interrupted; {plan.done_by_now():,} of {pluralize(len(plan.points), 'point')} finished and saved in "
            f"{plan.folder.points}. Run the same command again to resume."
        ) from None
    facts = comparison.to_dict()
    echo_result(facts, comparison_lines(facts), as_json=as_json, paths=plan.folder.outputs)
    if not comparison.verified or any(point["status"] == "unverified" for point in comparison.points):
        raise typer.Exit(1)
