"""`shoal why`: why a record or a class was generalized so far, and what blocks less."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path

import typer

from shoal.cli.commands import interruptible, load_policy, with_algorithm
from shoal.cli.progress import progress_bar
from shoal.errors import InputError
from shoal.pipeline.why.explain import why

_WIDTH = 110


@interruptible
def run_why(
    policy_path: Path,
    *,
    data: Path | None,
    row: int | None,
    where: Sequence[str],
    in_class: int | None,
    algorithm: str | None,
    as_json: bool,
) -> None:
    """Anonymize in memory and explain; nothing is written."""
    policy = load_policy(policy_path, data)
    policy = with_algorithm(policy, algorithm)
    values = wanted(where, policy.names("quasi"))
    if sum([row is not None, bool(values), in_class is not None]) != 1:
        raise InputError("name one record by --row, records by --where column=value, or one class by --class.")
    with progress_bar() as progress:
        found = why(policy, data, record=row, where=values, in_class=in_class, progress=progress)
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
        return
    for line in str(found).splitlines():
        typer.echo(_folded(line))


def wanted(where: Sequence[str], quasi: Sequence[str]) -> dict[str, str | None]:
    """The values that are asked for, from ``column=value``; nothing after the sign is the missing value."""
    values: dict[str, str | None] = {}
    for text in where:
        signs = [place for place, sign in enumerate(text) if sign == "="]
        if not signs:
            raise InputError(f"--where {text!r} has no =. Write it as column=value, for example --where age=34.")
        place = next((each for each in signs if text[:each] in quasi), signs[0])  # a name may have a = of its own
        if text[:place] in values:
            raise InputError(f"--where names the column {text[:place]!r} twice.")
        values[text[:place]] = text[place + 1 :] or None
    return values


def _folded(line: str) -> str:
    """A long line on several, under each other."""
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line, _WIDTH, subsequent_indent=indent + "  ") if line.strip() else line
