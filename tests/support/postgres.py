"""A PostgreSQL server of its own for tests: in a temporary folder, on a Unix socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_USERS = ("postgres", "nobody")
"""Whom a server runs as where the tests run as root, which PostgreSQL refuses to."""


def postgres_folder() -> Path:
    """Where the server's programs are; a test without them is skipped, but fails where everything must be tested."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else [folder for folder in _FOLDERS if (folder / "initdb").exists()]
    if not folders:
        if os.environ.get("CI"):
            pytest.fail("no PostgreSQL server (initdb) is installed, and CI is set")
        pytest.skip("no PostgreSQL server (initdb) is installed")
    return folders[0]


@dataclass
class Server:
    """A running server; `url` is its address."""

    programs: Path
    folder: Path

    @classmethod
    def start(cls) -> Self:
        """Make a cluster and start it. ``secret`` is a user who must give a password."""
        server = cls(postgres_folder(), Path(tempfile.mkdtemp(prefix="shoal-pg-")))
        if os.geteuid() == 0:
            owner = next(user for user in _USERS if _known(user))
            shutil.chown(server.folder, owner)
        server._program("initdb", "-D", server.data, "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C", "-N")
        (server.data / "pg_hba.conf").write_text("local all secret scram-sha-256\nlocal all all trust\n")
        server.begin()
        return server

    def begin(self) -> None:
        """Start the server."""
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c unix_socket_permissions=0777"
        self._program("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", options, "start")

    def kill(self) -> None:
        """End the server as a power cut would."""
        self._program("pg_ctl", "-D", self.data, "-w", "-m", "immediate", "stop")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def url(self) -> str:
        return self.url_of("owner")

    def url_of(self, user: str) -> str:
        return f"postgresql://{user}@/postgres?host={self.folder}"

    def stop(self) -> None:
        """Stop the server at once and take its folder away."""
        with suppress(subprocess.CalledProcessError):
            self._program("pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements as the owner, and give the rows of the last."""
        from adbc_driver_postgresql import dbapi

        rows: list[tuple[Any, ...]] = []
        with dbapi.connect(self.url, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
        return rows

    def tables(self) -> set[str]:
        """Every table that somebody made."""
        found = self.run(
            "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', "
            "'information_schema')"
        )
        return {name for (name,) in found}

    def _program(self, name: str, *arguments: object) -> None:
        command: Sequence[str] = [str(self.programs / name), *map(str, arguments)]
        if os.geteuid() == 0:
            owner = self.folder.owner()
            command = ["runuser", "-u", owner, "--", *command]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)


def _known(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
