"""`shoal init`: a first policy for a table."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import Force, Table, option, read_location, with_table
from shoal.errors import DataError, OutputError
from shoal.formatting import pluralize

_SUFFIXES = (".yaml", ".yml")


def init(
    data: Annotated[
        Any,
        typer.Argument(
            parser=read_location,
            metavar="DATA",
            help="Table to draft a policy for: a CSV, Parquet, Excel, SPSS, SAS or Stata file, or postgresql://…#table.",
        ),
    ],
    out: Annotated[Path | None, option("Policy file to write (default: next to the data).")] = None,
    table: Table = None,
    separator: Annotated[str | None, option("Column separator of a CSV file.")] = None,
    encoding: Annotated[str | None, option("Text encoding of a CSV file.")] = None,
    sheet: Annotated[str | None, option("Sheet of a workbook, by name or number (default: the first).")] = None,
    unpacked: Annotated[str | None, option("What a compressed file may unpack to, such as 8GB.")] = None,
    force: Force = False,
) -> None:
    """Draft a policy for a table, with comments: roles, hierarchies and likely quasi-identifiers."""
    from shoal.draft import draft_facts, draft_name, policy_text
    from shoal.io import Staged

    data = with_table(data, table)
    if isinstance(data, Path) and data.is_dir():
        raise DataError(f"{data} is a folder, not a file. Name a file in it.", code="folder")
    folder = data.parent if isinstance(data, Path) else Path()
    target = out if out is not None else folder / f"{draft_name(data)}.yaml"
    if target.suffix.lower() not in _SUFFIXES:
        raise OutputError(f"Policy files end in {' or '.join(_SUFFIXES)}; {target} does not.", code="policy-suffix")
    with Staged([target], inputs=[data] if isinstance(data, Path) else [], force=force) as stage:
        options = {"separator": separator, "encoding": encoding, "sheet": sheet, "unpacked": unpacked}
        facts = draft_facts(data, folder=target.parent, **options)
        stage.write_text(target, policy_text(facts))
        stage.commit()
    command = f"shoal anonymize {shlex.quote(str(target))}"
    typer.echo(f"Wrote {target}. Review every column in it, then run: {command}")
    if facts.left_out:
        columns = pluralize(facts.left_out, "column")
        typer.echo(f"{columns} that may single people out would not be released: {target} says how to release them.")
