"""`shoal why`: why a record or a class is as general as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from shoal.cli.options import Algorithm, Data, Json, PolicyFile
from shoal.cli.run import echo_json, echo_lines, load_policy, progress_bar
from shoal.errors import InputError


def why(
    policy: PolicyFile,
    data: Data = None,
    row: Annotated[int | None, typer.Option("--row", help="Record, by its number in the data, from 1.")] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", help="Records, by a quasi-identifier: column=value. Repeatable.")
    ] = None,
    in_class: Annotated[
        int | None, typer.Option("--class", help="Class, by its number in the order of the release, from 1.")
    ] = None,
    algorithm: Algorithm = None,
    as_json: Json = False,
) -> None:
    """Explain why a record or a class is as general as it is, and what prevents more detail. Writes nothing."""
    from shoal.pipeline.why.explain import why as explain
    from shoal.present.terminal import folded

    chosen = load_policy(policy, data, algorithm)
    values = wanted_values(where or [], chosen.names("quasi"))
    if sum([row is not None, bool(values), in_class is not None]) != 1:
        raise InputError(
            "Choose one record with --row, records with --where column=value, or a class with --class.",
            code="why-selection",
        )
    with progress_bar() as progress:
        explanation = explain(chosen, data, record=row, where=values, in_class=in_class, progress=progress)
    if as_json:
        echo_json(explanation.to_dict())
    else:
        echo_lines(folded(line, 110) for line in str(explanation).splitlines())


def wanted_values(where: Sequence[str], quasi: Sequence[str]) -> dict[str, str | None]:
    """The values in ``column=value`` texts; an empty value is the missing one."""
    values: dict[str, str | None] = {}
    for text in where:
        signs = [index for index, sign in enumerate(text) if sign == "="]
        if not signs:
            raise InputError(
                f"--where {text!r} has no =. Write it as column=value, for example --where age=34.", code="where-form"
            )
        index = next((each for each in signs if text[:each] in quasi), signs[0])  # a column name may contain =
        if text[:index] in values:
            raise InputError(f"--where names the column {text[:index]!r} twice.", code="where-twice")
        values[text[:index]] = text[index + 1 :] or None
    return values
