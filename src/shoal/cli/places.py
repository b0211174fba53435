"""Options that name a table: a file, or a table of a database. The readers are imported when one is given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError

_MAYBE = re.compile(r"://|postgres|pass", re.IGNORECASE)
"""What is worth a look: the rest answers without it."""


def refuse_passwords(arguments: Sequence[str]) -> None:
    """Raise `InputError` where an address holds a password, whatever it stands for: no message may repeat it."""
    asked = [each for each in arguments if _MAYBE.search(each)]
    if not asked:
        return
    from shoal.policy.location import holds_password

    if any(holds_password(each) for each in asked):
        raise InputError(
            "an address holds a password, so it is refused. Give the password in the environment (PGPASSWORD, "
            "PGPASSFILE or PGSERVICE) or in ~/.pgpass instead: there it reaches no history, log or evidence."
        )


def read_place(text: str) -> Any:
    """The file or the table that was named; an address of Spark's as it stands."""
    if text.startswith("spark:"):
        return text
    from shoal.policy.location import place

    return place(text)


def with_table(given: Any, table: str | None, option: str = "--table") -> Any:
    """A place with the table that an option names; a file has none."""
    if table is None:
        return given
    if given is None or isinstance(given, Path):
        raise InputError(f"{option} names a table of a database, and no postgresql:// address is given with it.")
    return given.named(table)
