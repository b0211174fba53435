"""`shoal why`: why a record or a class is as general as it is."""

from collections.abc import Sequence
from typing import Annotated

from shoal.cli.options import Algorithm, Data, Json, PolicyFile, option
from shoal.cli.run import echo_result, load_policy, progress_bar
from shoal.errors import InputError


def why(
    policy: PolicyFile,
    data: Data = None,
    row: Annotated[int | None, option("Record to explain, by its number in the data, counted from 1.")] = None,
    where: Annotated[
        list[str] | None, option("Records to explain, by a quasi-identifier: column=value. Repeatable.")
    ] = None,
    in_class: Annotated[
        int | None, option("Class to explain, by its number in the order of the release, counted from 1.", "--class")
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
    lines = (folded(line, 110) for line in str(explanation).splitlines())
    echo_result(explanation.to_dict(), lines, as_json=as_json)


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
