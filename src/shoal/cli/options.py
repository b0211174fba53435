"""Options that several commands share, and how a table is named on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import InputError

_SUSPICIOUS = re.compile(r"://|postgres|pass", re.IGNORECASE)
"""Only arguments like these are checked for passwords, so that all others are answered without loading the check."""


def read_location(text: str) -> Any:
    """The file or database table that an argument names; a Spark address stays text."""
    if text.startswith("spark:"):
        return text
    from shoal.policy.location import place

    return place(text)


def with_table(location: Any, table: str | None, option: str = "--table") -> Any:
    """A database location with the table that an option names."""
    if table is None:
        return location
    if location is None or isinstance(location, Path):
        raise InputError(
            f"{option} names a table in a database. Give the address of the database as well: postgresql://host/name.",
            code="table-without-database",
        )
    return location.named(table)


def refuse_passwords(arguments: Sequence[str]) -> None:
    """Raise `InputError` if an address contains a password, before any message could repeat it."""
    checked = [each for each in arguments if _SUSPICIOUS.search(each)]
    if not checked:
        return
    from shoal.policy.location import holds_password

    if any(holds_password(each) for each in checked):
        raise InputError(
            "Addresses must not contain passwords. Set PGPASSWORD, PGPASSFILE or PGSERVICE in the environment, or use "
            "~/.pgpass: a password given there appears in no shell history, log or evidence.",
            code="password-in-address",
        )


def _location(text: str, name: str = "--data") -> Any:
    return typer.Option(name, parser=read_location, metavar="TABLE", help=text)


PolicyFile = Annotated[Path, typer.Argument(help="Policy file.")]
PolicyOption = Annotated[Path, typer.Option("--policy", help="Policy of the table.")]
Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON to stdout.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Algorithm = Annotated[str | None, typer.Option("--algorithm", help="Algorithm to use instead of the policy's.")]
Data = Annotated[Any, _location("Input table, instead of the policy's: a file, or postgresql://host/database#table.")]
NewRecords = Annotated[Any, _location("The new records: a file, or postgresql://host/database#table.")]
Table = Annotated[str | None, typer.Option("--table", help="Table in the database: patients, or clinic.patients.")]
Original = Annotated[
    Any, _location("Original table; allows checks and attacks that compare the release with it.", "--original")
]
Registry = Annotated[
    Path | None,
    typer.Option("--registry", help="Folder that records releases; this release is checked against earlier ones."),
]
AsOf = Annotated[
    str | None, typer.Option("--as-of", help="Release date in the registry, as YYYY-MM-DD (default: today).")
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on", help="Exit with code 1 if an attack exposes more than this: similarity>0, linkage>5%. Repeatable."
    ),
]
