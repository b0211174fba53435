"""`shoal risk`: what an attacker could do with a table as it is."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import Json, PolicyOption, option, read_location
from shoal.cli.run import echo_result, load_policy, progress_bar


def risk(
    data: Annotated[
        Any, typer.Argument(parser=read_location, metavar="DATA", help="Table to examine: data or a release.")
    ],
    *,
    policy: PolicyOption,
    max_columns: Annotated[int, option("Examine every subset of up to this many quasi-identifiers.", min=1)] = 3,
    threshold: Annotated[
        float, option("Count the records whose risk is higher; 0.2 means classes of fewer than 5 records.")
    ] = 0.2,
    population: Annotated[Path | None, option("Table of the population that the data was sampled from.")] = None,
    sampling_fraction: Annotated[float | None, option("Share of the population that was sampled.")] = None,
    household: Annotated[str | None, option("Column that says who lives together, instead of the policy's.")] = None,
    weight: Annotated[str | None, option("Column of sampling weights, instead of the policy's.")] = None,
    as_json: Json = False,
) -> None:
    """Measure the risk of a table as it is: who is unique, on which columns, and how likely attacks are to succeed."""
    from shoal.pipeline.risk import risk as measure_risk
    from shoal.present.risk_text import risk_lines

    with progress_bar() as progress:
        measured = measure_risk(
            data,
            load_policy(policy, data),
            max_columns=max_columns,
            threshold=threshold,
            population=population,
            sampling_fraction=sampling_fraction,
            household=household,
            weight=weight,
            progress=progress,
        )
    echo_result(measured.to_dict(), risk_lines(measured), as_json=as_json)
