"""Where a table is: in a file, or in a table of a PostgreSQL database.

A table of a database is written ``postgresql://host/database#table``. Passwords never stand there: the client library
takes them from the environment (``PGPASSWORD``, ``PGPASSFILE``, ``PGSERVICE``) or from ``~/.pgpass``. What is wrong
with an address is told without repeating it, since it may hold one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from shoal.errors import DataError

_SCHEMES: Final = ("postgresql", "postgres")
_ADDRESS: Final = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_ALMOST: Final = re.compile(r"\s*(jdbc:\s*)?postgres[a-z0-9+.-]*\s*:", re.IGNORECASE)
"""What was meant as an address of a PostgreSQL database, well written or not."""
_PASSWORD: Final = re.compile(
    r"://[^/?#]*:[^/?#]*@|postgres[a-z0-9+.-]*[\s:/]+[^/?#]*:[^@]*@|(?:^|[?&;\s])(ssl)?password\s*=", re.IGNORECASE
)
"""One between a user and a host, also with signs in it that should have been escaped, or as a parameter."""
_PART: Final = r'("(?:[^"]|"")+"|[^".]+)'
_NAME: Final = re.compile(rf"{_PART}(?:\.{_PART})?")
_LONGEST: Final = 63  # bytes of a name that PostgreSQL keeps; it would cut a longer one off without a word
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.%]*\]|[^:\[\]]*)(:\d*)?")
_WHERE_PASSWORDS_GO: Final = (
    "Give the password in the environment (PGPASSWORD, PGPASSFILE or PGSERVICE) or in ~/.pgpass instead: there it "
    "reaches no history, log or evidence."
)
_HELD: Final = f"an address holds a password, so it is refused. {_WHERE_PASSWORDS_GO}"
_UNREADABLE: Final = (
    "the address of the database cannot be read. Write postgresql://host/database#table, without a password. "
    + _WHERE_PASSWORDS_GO
)


@dataclass(frozen=True)
class DatabaseTable:
    """A table of a PostgreSQL database, or a view."""

    url: str  # the address of the database, without password
    table: str = ""
    """Its name as it stands, ``patients`` or ``clinic.patients``; a part with a dot in double quotes."""
    snapshot: str = ""
    """The state of the database that is read, as the server exported it; empty: the one of the moment."""

    def __post_init__(self) -> None:
        _check_address(self.url)
        if self.table:
            _parts(self.table)

    @staticmethod
    def of(text: str) -> DatabaseTable:
        """Read ``postgresql://host/database#table``; the table may be left out, to be named beside it."""
        url, _, table = text.partition("#")
        if "@" in table:  # most likely a password with a # in it
            raise DataError(_UNREADABLE, code="unreadable-address")
        return DatabaseTable(url, table)

    def named(self, table: str | None) -> DatabaseTable:
        """The same database with the table that is named beside the address, if one is."""
        if table and self.table and table != self.table:
            raise DataError(
                f"{self} names a table, and {table!r} is named as well. Name it once.", code="table-named-twice"
            )
        return replace(self, table=table) if table else self

    @property
    def parts(self) -> tuple[str | None, str]:
        """The schema, where one is given, and the name of the table."""
        if not self.table:
            raise DataError(f"{self} names no table. Add its name: --table NAME, or {self}#NAME.", code="no-table")
        found = _parts(self.table)
        return (found[0] if len(found) == 2 else None), found[-1]

    @property
    def text(self) -> str:
        """The address with the table, as `of` reads it."""
        return f"{self.url}#{self.table}" if self.table else self.url

    def __str__(self) -> str:
        """How messages name it: host, database and table."""
        split = urlsplit(self.url)
        host = split.netloc.rpartition("@")[2]
        return f"postgresql://{host}{split.path}" + (f"#{self.table}" if self.table else "")


Location = Path | DatabaseTable


def parse_location(location: str | Path | DatabaseTable) -> Location:
    """The file or the table of a database that was named; `DataError` for addresses of other kinds."""
    if not isinstance(location, str):
        return location
    if location.startswith("spark:"):  # read elsewhere
        return Path(location)
    found = _ADDRESS.match(location)
    if found is not None and found.group(1).lower() not in _SCHEMES:
        raise DataError(
            f"an address that begins with {found.group(1)}:// cannot be read. Name a file, or a table of a PostgreSQL "
            "database: postgresql://host/database#table.",
            code="unknown-address",
        )
    if holds_password(location):
        raise DataError(_HELD, code="password-in-address")
    if found is None and _ALMOST.match(location):
        raise DataError(_UNREADABLE, code="unreadable-address")
    return DatabaseTable.of(location) if found is not None else Path(location)


def holds_password(text: str) -> bool:
    """Whether something that may be an address, well written or not, holds a password: no message may repeat it."""
    return any(_PASSWORD.search(each) for each in (text, unquote(text)))


def quoted(*names: str | None) -> str:
    """Names as SQL writes them, each in double quotes, joined by dots; none that is left out."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names if name is not None)


def _check_address(url: str) -> None:
    try:
        split = urlsplit(url)
    except ValueError:
        raise DataError(_UNREADABLE, code="unreadable-address") from None
    user, _, hosts = split.netloc.rpartition("@")
    if split.scheme.lower() not in _SCHEMES:
        raise DataError("the address of a database begins with postgresql://.", code="unreadable-address")
    if ":" in unquote(user) or "password=" in unquote(url).lower().replace(" ", ""):
        raise DataError(_HELD, code="password-in-address")
    if "@" in split.path or not all(_HOST.fullmatch(host) for host in hosts.split(",")):
        raise DataError(_UNREADABLE, code="unreadable-address")


def _parts(name: str) -> Sequence[str]:
    """The schema and the table of a name, or the table alone."""
    found = _NAME.fullmatch(name)
    if found is None or "\0" in name:
        raise DataError(
            f"{name!r} is not the name of a table: write table or schema.table, and put a part with a dot or a quote "
            'into double quotes, as in "my.schema".patients.',
            code="invalid-table-name",
        )
    given = [part for part in found.groups() if part is not None]
    parts = [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in given]
    for part in parts:
        if len(part.encode()) > _LONGEST:
            raise DataError(
                f"the name {part!r} is longer than the {_LONGEST} bytes that PostgreSQL keeps. Shorten it.",
                code="invalid-table-name",
            )
    return parts
