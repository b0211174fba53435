"""Options that several commands share, and how a table is named on the command line."""

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
    from shoal.policy.location import parse_location

    return parse_location(text)


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


def option(text: str, *names: str, **rules: Any) -> Any:
    """An option with its help text."""
    return typer.Option(*names, help=text, **rules)


def location_option(text: str, name: str = "--data", metavar: str = "TABLE") -> Any:
    """An option that names a file or a database table."""
    return option(text, name, parser=read_location, metavar=metavar)


PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="Policy file.")]
PolicyOption = Annotated[Path, option("Policy of the table.", "--policy")]
Json = Annotated[bool, option("Print machine-readable JSON to stdout.", "--json")]
Force = Annotated[bool, option("Replace existing files.", "--force")]
Algorithm = Annotated[str | None, option("Algorithm to use instead of the policy's.", "--algorithm")]
Data = Annotated[
    Any, location_option("Input table, instead of the policy's: a file, or postgresql://host/database#table.")
]
Table = Annotated[str | None, option("Table in the database: patients, or clinic.patients.", "--table")]
Original = Annotated[
    Any, location_option("Original table; allows checks and attacks that compare the release with it.", "--original")
]
Registry = Annotated[
    Path | None, option("Folder that keeps track of releases; this one is checked against earlier ones.", "--registry")
]
AsOf = Annotated[str | None, option("Release date in the registry, as YYYY-MM-DD (default: today).", "--as-of")]
FailOn = Annotated[
    list[str] | None,
    option(
        "Exit with code 1 if an attack exposes more than this (similarity>0, linkage>5%), or if the verdict is not to "
        "publish (verdict; verdict>publish also fails on caveats). Repeatable.",
        "--fail-on",
    ),
]
