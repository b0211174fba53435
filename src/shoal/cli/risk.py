"""`shoal risk`: what an attacker could do with a table as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import Json, PolicyOption, read_location
from shoal.cli.run import echo_json, echo_lines, load_policy, progress_bar


def risk(
    data: Annotated[
        Any, typer.Argument(parser=read_location, metavar="DATA", help="Table to examine: data or a release.")
    ],
    policy: PolicyOption,
    max_columns: Annotated[
        int, typer.Option(min=1, help="Examine every subset of up to this many quasi-identifiers.")
    ] = 3,
    threshold: Annotated[
        float, typer.Option(help="Count the records whose risk is higher; 0.2 means classes below 5.")
    ] = 0.2,
    population: Annotated[
        Path | None, typer.Option(help="Table of the population that the data was sampled from.")
    ] = None,
    sampling_fraction: Annotated[float | None, typer.Option(help="Share of the population that was sampled.")] = None,
    as_json: Json = False,
) -> None:
    """Measure the risk of a table as it is: who is unique, by which columns, and what attackers can expect."""
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
            progress=progress,
        )
    if as_json:
        echo_json(measured.to_dict())
    else:
        echo_lines(risk_lines(measured))
