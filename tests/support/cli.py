"""Running the command line inside the test process, and a picture of a folder to compare before and after."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import shoal.cli.main as command_line
from shoal.cli.main import app
from shoal.errors import PolicyError, ShoalError


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str
    error: str = ""
    """The code of the error that ended it, as ``--json`` shows it."""
    problems: tuple[str, ...] = ()
    """The codes of the problems of a policy."""


class Cli:
    """`shoal` as a person calls it, without the cost of a new process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capfd = capfd

    def __call__(self, *arguments: object) -> Ran:
        self._monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
        self._capfd.readouterr()
        errors: list[ShoalError] = []

        def recorded() -> None:
            try:
                app()
            except ShoalError as error:
                errors.append(error)
                raise

        self._monkeypatch.setattr(command_line, "app", recorded)
        try:
            command_line.main()
            code = 0
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else int(stopped.code is not None)
        out, err = self._capfd.readouterr()
        problems = tuple(each.code for error in errors if isinstance(error, PolicyError) for each in error.problems)
        return Ran(code, out, err, errors[0].code if errors else "", problems)


def snapshot(folder: Path) -> dict[str, str]:
    """Every file below a folder and the hash of its content."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }
