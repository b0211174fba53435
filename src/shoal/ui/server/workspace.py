"""The folder of a session: data, policy and runs. It outlives a crash, and nothing of it outlives the session's end."""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from shoal.errors import InputError

_UNSAFE = frozenset('<>:"/\\|?*')
_LONGEST, _LONGEST_SUFFIX = 200, 20
"""Bytes of a file name and of what follows its last point, at most; file systems take 255."""
_LOCK, _MADE = ".lock", b"made by shoal ui"
STATUS, WORK, OUT = "status.json", "work", "out"
"""In the folder of a run: what became of it, its files until they are complete, and its complete files."""
SAVED = "run.pickle"
"""What a run was made from and became, for the desk's answers about it. It never leaves the session's folder, which
only its owner may write."""


class Workspace:
    """A session's folder, readable by its owner only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.policy = folder / "policy.yaml"  # as it stands, perhaps with problems
        self.table_notes = folder / "table.json"  # what the page shows of the table
        self.incoming = folder / "incoming"  # where a file lies while it is uploaded and opened
        self.data = folder / "data"  # where the uploaded file lies, alone
        self.runs = folder / "runs"  # a folder for each run

    @classmethod
    def of(cls, root: Path, secret: str) -> Self:
        """The folder of the session that a secret opens; its name does not give the secret away."""
        return cls(root / f"session-{hashlib.sha256(secret.encode()).hexdigest()[:32]}")

    def create(self) -> None:
        """Make the folder and those in it; what is there already stays."""
        for folder in (self.folder, self.data, self.runs):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def table(self) -> Path:
        """The uploaded file. Raises `InputError` before there is one."""
        found = next((path for path in sorted(self.data.iterdir()) if not path.name.startswith(".")), None)
        if found is None:
            raise InputError("There is no table yet. Load one first.", code="no-table")
        return found

    def run(self, number: str) -> Path:
        """The folder of a run."""
        folder = self.runs / number
        if not _is_run_number(number) or not folder.is_dir():
            raise InputError(f"There is no run {number!r}.", code="unknown-run")
        return folder

    def run_folders(self) -> list[Path]:
        """The folders of all runs, the first first."""
        return sorted(path for path in self.runs.iterdir() if (path / STATUS).exists())

    @property
    def age(self) -> float:
        """Seconds since something came or went in the folder; 0 when it has just gone itself."""
        with contextlib.suppress(FileNotFoundError):
            return time.time() - self.folder.stat().st_mtime
        return 0.0

    def without_paths(self, value: Any) -> Any:
        """An answer without the folder in it: where a server keeps its files helps nobody who uses it."""
        if isinstance(value, dict):
            return {self.without_paths(key): self.without_paths(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.without_paths(each) for each in value]
        if not isinstance(value, str) or str(self.folder) not in value:
            return value
        runs = [path for path in self.runs.iterdir() if _is_run_number(path.name)] if self.runs.is_dir() else []
        for folder in (*runs, self.data, self.incoming, self.folder):
            for separator in ("/", "\\"):
                value = value.replace(f"{folder}{separator}", "")
        return value

    def delete(self) -> None:
        """Remove everything, also where something was just being written."""
        for _ in range(2):
            shutil.rmtree(self.folder, ignore_errors=True)
        if self.folder.exists():
            shutil.rmtree(self.folder)


def read_json(path: Path) -> dict[str, Any]:
    """A note on disk; empty where there is none."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return content


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a note, whole or not at all."""
    write_bytes(path, json.dumps(content, ensure_ascii=False).encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all, for its owner only."""
    aside = path.with_name(f".{secrets.token_hex(8)}")
    handle = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    aside.replace(path)


def _is_run_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 3 <= len(text) <= 6


def safe_name(text: str) -> str:
    """A file name from what a browser says, without any way out of the folder: only its last part, no odd signs."""
    last = unicodedata.normalize("NFC", text).replace("\\", "/").rpartition("/")[2]
    plain = "".join("_" if unicodedata.category(each) in {"Cc", "Cf", "Cs"} else each for each in last)
    name = "".join("_" if each in _UNSAFE else each for each in plain).strip(" .")
    if not name or name.startswith("-"):
        name = f"table{name}"
    if len(name.encode()) <= _LONGEST:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not stem or len(suffix.encode()) > _LONGEST_SUFFIX:
        stem, dot, suffix = name, "", ""
    room = _LONGEST - len(f"{dot}{suffix}".encode())
    return f"{stem.encode()[:room].decode(errors='ignore')}{dot}{suffix}"


@contextlib.contextmanager
def sole_user(root: Path) -> Iterator[bool]:
    """Whether this process alone holds a workspace; the lock goes with the process, however it ends.

    A folder that was made for it is removed at the end; one that was there before stays. The lock's file says which of
    the two it is, also after a crash.
    """
    there = root.exists()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(root / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    alone = _locked(handle) and os.path.samestat(os.fstat(handle), (root / _LOCK).stat())
    if not there:
        os.write(handle, _MADE)
    made = not there or os.read(handle, len(_MADE)) == _MADE
    try:
        yield alone
    finally:
        if alone and not left_behind(root):
            with contextlib.suppress(OSError):  # the folder stays where its owner keeps other things in it
                (root / _LOCK).unlink()
                if made:
                    root.rmdir()
        os.close(handle)


def _locked(handle: int) -> bool:
    """Lock an open file for this process; False where another one has it."""
    try:
        if os.name == "nt":
            import msvcrt  # noqa: PLC0415 - only there

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl  # noqa: PLC0415 - only there

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def left_behind(root: Path) -> list[Workspace]:
    """The sessions that have a folder, those of a server that was killed included."""
    return [Workspace(path) for path in sorted(root.glob("session-*")) if path.is_dir()]


def delete_all(root: Path) -> None:
    """Remove every session, and nothing else: the folder may be one that its owner keeps other things in."""
    for workspace in left_behind(root):
        workspace.delete()
