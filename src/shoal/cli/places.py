"""Options that name a table: a file, or a table of a database. The readers are imported when one is given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError

_PASSWORD = re.compile(r"://[^/?#]*:[^/?#]*@|postgres[a-z0-9+.-]*://[^/?#]*:[^@]*@|[?&](ssl)?password=", re.IGNORECASE)
"""One between a user and a host, also with signs in it that should have been escaped, or as a parameter."""


def refuse_passwords(arguments: Sequence[str]) -> None:
    """Raise `InputError` where an address holds a password, whatever it stands for: no message may repeat it."""
    if any(_PASSWORD.search(each) for each in arguments):
        raise InputError(
            "an address holds a password, so it is refused. Give the password in the environment (PGPASSWORD, "
            "PGPASSFILE or PGSERVICE) or in ~/.pgpass instead: there it reaches no history, log or evidence."
        )


def read_place(text: str) -> Any:
    """The file or the table that was named; an address of Spark's as it stands."""
    if text.startswith("spark:"):
        return text
    from shoal.io.place import place  # noqa: PLC0415 - so that --help answers at once

    return place(text)


def with_table(given: Any, table: str | None, option: str = "--table") -> Any:
    """A place with the table that an option names; a file has none."""
    if table is None:
        return given
    if given is None or isinstance(given, Path):
        raise InputError(f"{option} names a table of a database, and no postgresql:// address is given with it.")
    return given.named(table)
