"""`shoal utility`: how useful a release is for a task."""

from typing import Annotated

from shoal.cli.options import Data, Json, PolicyFile, option
from shoal.cli.run import echo_result, load_policy, progress_bar
from shoal.errors import InputError


def utility(
    policy: PolicyFile,
    data: Data = None,
    target: Annotated[str | None, option("Column to predict, instead of the policy's utility.target.")] = None,
    queries: Annotated[int | None, option("Number of random count queries, instead of utility.queries.")] = None,
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
        measured = anonymize(data, chosen.changed(utility=task, registry=None), progress=progress).evidence["utility"]
    echo_result(measured, utility_lines(measured), as_json=as_json)
